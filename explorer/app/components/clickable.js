
// A plotly figure that says where it was clicked. Streamlit reports no clicks on heat maps.
export default function ({data, parentElement, setTriggerValue}) {
  const root = parentElement.querySelector('.clickable-figure');
  const state = (root.__state ??= {});
  state.send = setTriggerValue;
  const theme = themeOf(root), signature = data.figure + theme.ink;
  if (state.signature === signature) return;
  state.signature = signature;
  (async () => {
    const [Plotly, answer] = await Promise.all([loadPlotly(data.base + '/x/plotly.min.js'), fetch(`${data.base}/x/blob/${data.figure}`)]);
    if (!answer.ok) throw new Error('its data are gone; reload the page');
    const figure = JSON.parse(new TextDecoder().decode(await answer.arrayBuffer()));
    figure.layout.font = {...figure.layout.font, color: theme.ink, family: theme.font};
    figure.layout.width = root.clientWidth || undefined;
    await Plotly.react(root, figure.data, figure.layout, {displaylogo: false, modeBarButtonsToRemove: ['lasso2d', 'select2d'],
      toImageButtonOptions: {format: 'svg', filename: data.name}});
    if (!state.listening) {
      state.listening = true;
      root.on('plotly_click', (e) => {
        const p = e.points[0], index = p.pointIndex ?? p.pointNumber;
        state.send('click', {row: Array.isArray(index) ? index[0] : null, column: Array.isArray(index) ? index[1] : null,
          point: Array.isArray(index) ? null : index, curve: p.curveNumber});
      });
      state.observer = new ResizeObserver(() => { if (root.clientWidth && Math.abs(root.clientWidth - root._fullLayout.width) > 2) Plotly.relayout(root, {width: root.clientWidth}); });
      state.observer.observe(root);
    }
    root.dataset.ready = data.figure;
  })().catch((error) => { state.signature = null; root.textContent = 'The figure could not be drawn: ' + error.message; });
  return () => { state.observer?.disconnect(); if (window.Plotly) window.Plotly.purge(root); root.__state = undefined; };
}
