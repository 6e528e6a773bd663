
// Shared by the components: plotly.js from this server, byte payloads, bitmaps of selected items.
const loadPlotly = (url) => (window.__explorerPlotly ??= new Promise((resolve, reject) => {
  const script = document.createElement('script');
  script.src = url;
  // A wrong path answers 200 with the page itself, so check the global and not only that it loaded.
  script.onload = () => window.Plotly?.version ? resolve(window.Plotly) : reject(new Error('plotly.js is not at ' + url));
  script.onerror = () => reject(new Error('plotly.js cannot be loaded from ' + url));
  document.head.append(script);
}));
const themeOf = (element) => {
  const css = getComputedStyle(element);
  const read = (name, fallback) => css.getPropertyValue(name).trim() || fallback;
  return {ink: read('--st-text-color', '#222'), line: read('--st-border-color', '#d6d6d8'),
          paper: read('--st-background-color', '#fff'), font: read('--st-font', 'sans-serif')};
};
