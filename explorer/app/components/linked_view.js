
// One plotly figure with a subplot a view: brushing one view marks the same items in all, without a rerun.
const decode = (buffer) => {            // [u32 length][JSON][columns, each padded to 8 bytes]
  const view = new DataView(buffer), length = view.getUint32(0, true);
  const kinds = {f4: Float32Array, u2: Uint16Array};
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))), columns = {};
  let at = Math.ceil((4 + length) / 8) * 8;
  for (const c of head.columns) {
    columns[c.name] = new kinds[c.dtype](buffer, at, c.n);
    at = Math.ceil((at + columns[c.name].byteLength) / 8) * 8;
  }
  return [head, columns];
};
const toBits = (index, n) => {
  const bytes = new Uint8Array((n + 7) >> 3);
  for (const i of index) bytes[i >> 3] |= 1 << (i & 7);
  let text = '';
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(text);
};
const fromBits = (bits, n) => {
  const text = atob(bits), index = [];
  for (let i = 0; i < n; i++) if (text.charCodeAt(i >> 3) >> (i & 7) & 1) index.push(i);
  return index;
};
const axisName = (letter, k) => letter + 'axis' + (k ? k + 1 : '');
const axisRef = (letter, k) => letter + (k ? k + 1 : '');

const layoutOf = (state, width) => {
  const {head, theme} = state, n = head.views.length;
  const columns = width < 560 ? 1 : (n <= 3 && width >= 300 * n ? n : 2), rows = Math.ceil(n / columns);
  const height = rows * head.height, gapX = 18 / width, titleY = 44 / height, gapY = 22 / height;
  const layout = {
    width, height, margin: {l: 6, r: 6, t: 2, b: 2, pad: 0}, showlegend: false, dragmode: state.mode, hovermode: 'closest',
    hoverdistance: 12, font: {color: theme.ink, family: theme.font, size: 12}, paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)', annotations: [], selections: [],
    newselection: {line: {color: theme.ink, width: 1.5, dash: 'dot'}}};
  head.views.forEach((v, k) => {
    const column = k % columns, row = Math.floor(k / columns);
    const x0 = column / columns + (column ? gapX / 2 : 0), x1 = (column + 1) / columns - (column < columns - 1 ? gapX / 2 : 0);
    const top = 1 - row / rows - titleY, bottom = 1 - (row + 1) / rows + gapY;
    const axis = {showgrid: false, zeroline: false, showticklabels: false, ticks: '', showline: true, mirror: true,
                  linecolor: theme.line, title: {font: {size: 11}, standoff: 2}};
    layout[axisName('x', k)] = {...axis, domain: [x0, x1], anchor: axisRef('y', k), title: {...axis.title, text: v.x}};
    layout[axisName('y', k)] = {...axis, domain: [bottom, top], anchor: axisRef('x', k), scaleanchor: axisRef('x', k), constrain: 'range'};
    layout.annotations.push({x: x0, y: top, xref: 'paper', yref: 'paper', xanchor: 'left', yanchor: 'bottom', showarrow: false,
                             align: 'left', text: v.title, font: {size: 13}, yshift: 2});
  });
  return layout;
};

const discrete = (palette) => palette.flatMap((c, i) => [[i / palette.length, c], [(i + 1) / palette.length, c]]);
const tracesOf = (state) => {
  const {head, columns} = state, c = head.color, size = head.n > 50000 ? 2 : head.n > 8000 ? 3 : head.n > 2000 ? 4.5 : 7;
  const marker = {size, opacity: 0.85};
  if (c.kind === 'category') Object.assign(marker, {color: columns.color, colorscale: discrete(c.palette), cmin: -0.5, cmax: c.palette.length - 0.5});
  else if (c.kind === 'number') Object.assign(marker, {color: columns.color, colorscale: c.scale, cmin: c.low, cmax: c.high});
  else marker.color = c.palette[0];
  return head.views.map((v, k) => ({
    type: 'scattergl', mode: 'markers', x: columns['x' + k], y: columns['y' + k], xaxis: axisRef('x', k), yaxis: axisRef('y', k),
    hoverinfo: 'none', marker, selected: {marker: {opacity: 1}}, unselected: {marker: {opacity: 0.1}},
    selectedpoints: state.index ?? undefined}));
};

const colourOf = (state) => {            // the colour of item i, for the preview
  const c = state.head.color, values = state.columns.color;
  if (c.kind === 'category') return (i) => c.palette[values[i]];
  if (c.kind !== 'number') return () => c.palette[0];
  return (i) => c.scale[Math.max(0, Math.min(c.scale.length - 1, Math.round((values[i] - c.low) / (c.high - c.low) * (c.scale.length - 1)) || 0))][1];
};
const preview = (state) => {             // the same points on a plain canvas, at once, until plotly.js has come
  const {head, columns, stage} = state, width = stage.clientWidth, layout = layoutOf(state, width), colour = colourOf(state);
  const canvas = make('canvas', 'lv-preview', stage), pen = canvas.getContext('2d'), ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, {width: width * ratio, height: layout.height * ratio});
  Object.assign(canvas.style, {width: width + 'px', height: layout.height + 'px'});
  state.graph.style.minHeight = layout.height + 'px';
  pen.scale(ratio, ratio);
  head.views.forEach((v, k) => {
    const [x0, x1] = layout[axisName('x', k)].domain.map((d) => d * width), [y1, y0] = layout[axisName('y', k)].domain.map((d) => (1 - d) * layout.height);
    const x = columns['x' + k], y = columns['y' + k];
    let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity;
    for (let i = 0; i < head.n; i++) { left = Math.min(left, x[i]); right = Math.max(right, x[i]); low = Math.min(low, y[i]); high = Math.max(high, y[i]); }
    const scale = 0.9 * Math.min((x1 - x0) / (right - left || 1), (y1 - y0) / (high - low || 1)), radius = head.n > 8000 ? 1 : 3;
    for (let i = 0; i < head.n; i++) {
      pen.fillStyle = colour(i);
      pen.beginPath();
      pen.arc((x0 + x1) / 2 + (x[i] - (left + right) / 2) * scale, (y0 + y1) / 2 - (y[i] - (low + high) / 2) * scale, radius, 0, 7);
      pen.fill();
    }
    pen.fillStyle = state.theme.ink;
    pen.font = '13px ' + state.theme.font;
    pen.fillText(v.plain, x0, y0 - 6);
  });
  state.root.dataset.preview = head.n;
  window.__explorerPreview = performance.now();      // for tests
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));   // let the browser paint it
};

const make = (tag, className, parent, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;       // never innerHTML: labels are the user's text
  parent?.append(element);
  return element;
};

const drawLegend = (state) => {
  const {head, root} = state, c = head.color, box = state.legend;
  box.replaceChildren();
  if (c.name) make('span', 'lv-legend-title', box, c.name);
  if (c.kind === 'category') c.names.forEach((name, i) => {
    const item = make('button', 'lv-key', box);
    item.type = 'button'; item.title = 'Select all items of ' + name;
    make('span', 'lv-swatch', item).style.background = c.palette[i];
    make('span', '', item, name);
    item.onclick = () => { const found = []; state.columns.color.forEach((v, j) => v === i && found.push(j)); state.emit(found, -1); };
  });
  if (c.kind === 'number') {
    make('span', '', box, c.lowText);
    const bar = make('span', 'lv-bar', box);
    bar.style.background = 'linear-gradient(to right,' + c.scale.map(([at, colour]) => `${colour} ${at * 100}%`).join(',') + ')';
    make('span', '', box, c.highText);
  }
  root.dataset.color = c.name ?? '';
};

const place = (state) => {              // the plots' outlines follow the axes that plotly drew
  const full = state.graph._fullLayout;
  state.plots.forEach((div, k) => {
    const x = full[axisName('x', k)], y = full[axisName('y', k)];
    Object.assign(div.style, {left: x._offset + 'px', top: y._offset + 'px', width: x._length + 'px', height: y._length + 'px'});
  });
};

const showHover = (state, point, event) => {
  const {head, items, tip, graph} = state, i = point.pointIndex, item = items.rows[i];
  tip.replaceChildren();
  if (state.spriteUrl) {
    const s = items.sprite, picture = make('div', 'lv-picture', tip), scale = s.show / s.tile;
    Object.assign(picture.style, {width: s.show + 'px', height: s.show + 'px', backgroundImage: `url(${state.spriteUrl})`,
      backgroundSize: s.columns * s.show + 'px auto', imageRendering: s.pixelated ? 'pixelated' : 'auto',
      backgroundPosition: `-${(i % s.columns) * s.tile * scale}px -${Math.floor(i / s.columns) * s.tile * scale}px`});
  }
  const words = make('div', '', tip);
  make('div', 'lv-label', words, item[0]);
  items.fields.forEach((name, f) => { if (item[f + 1] !== '') make('div', 'lv-field', words, name + ': ' + item[f + 1]); });
  tip.style.display = 'flex';
  const box = graph.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const left = x + 16 + tip.offsetWidth > box.width ? x - tip.offsetWidth - 12 : x + 16;
  tip.style.left = Math.max(0, left) + 'px';
  tip.style.top = Math.max(0, Math.min(y + 10, box.height - tip.offsetHeight)) + 'px';
  state.rings.forEach((ring, k) => {
    const xa = graph._fullLayout[axisName('x', k)], ya = graph._fullLayout[axisName('y', k)];
    const px = xa.l2p(state.columns['x' + k][i]), py = ya.l2p(state.columns['y' + k][i]);
    const inside = px >= 0 && px <= xa._length && py >= 0 && py <= ya._length;
    Object.assign(ring.style, {display: inside ? 'block' : 'none', left: xa._offset + px - 8 + 'px', top: ya._offset + py - 8 + 'px'});
  });
};
const hideHover = (state) => { state.tip.style.display = 'none'; state.rings.forEach((r) => { r.style.display = 'none'; }); };

const mark = async (Plotly, state, index) => {     // one selection, every view, then say that all are drawn
  state.index = index;
  state.busy = true;
  try {
    const each = state.head.views.map(() => index);
    await Plotly.update(state.graph, {selectedpoints: each}, {selections: []}, state.head.views.map((_, k) => k));
  } finally { state.busy = false; }
  state.root.dataset.selected = index ? index.length : 0;
  state.root.dataset.sequence = ++state.sequence;
  state.count.textContent = index ? `${index.length.toLocaleString()} of ${state.head.n.toLocaleString()} items selected`
    : `${state.head.n.toLocaleString()} items; draw around some to see them everywhere`;
  state.clear.disabled = !index;
};

const build = (root) => {
  root.replaceChildren();
  const state = {root, mode: 'lasso', index: null, sequence: 0, generation: 0, plots: [], rings: []};
  const bar = make('div', 'lv-bar-row', root), modes = make('div', 'lv-modes', bar);
  state.buttons = [['lasso', 'Lasso'], ['select', 'Box'], ['pan', 'Pan']].map(([mode, text]) => {
    const button = make('button', 'lv-button', modes, text);
    button.type = 'button'; button.dataset.mode = mode;
    button.onclick = () => { state.mode = mode; state.sync(); window.Plotly?.relayout(state.graph, {dragmode: mode}); };
    return button;
  });
  state.sync = () => state.buttons.forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.mode === state.mode)));
  state.sync();
  state.home = make('button', 'lv-button', modes, 'Reset zoom'); state.home.type = 'button';
  state.clear = make('button', 'lv-button', modes, 'Clear selection'); state.clear.type = 'button'; state.clear.disabled = true;
  state.count = make('span', 'lv-count', bar);
  state.legend = make('div', 'lv-legend', root);
  state.stage = make('div', 'lv-stage', root);
  state.graph = make('div', 'lv-graph', state.stage);
  state.overlay = make('div', 'lv-overlay', state.stage);
  state.tip = make('div', 'lv-tip', state.stage);
  return state;
};

export default function ({data, parentElement, setStateValue}) {
  const root = parentElement.querySelector('.linked-view');
  const state = (root.__state ??= build(root));
  state.send = setStateValue;                       // called on every rerun: keep the newest closure
  state.theme = themeOf(root);
  const applyPush = () => {
    if (!data.push || data.push.id === state.push || !state.ready) return;
    state.push = data.push.id;
    mark(window.Plotly, state, data.push.bits ? fromBits(data.push.bits, state.head.n) : null);
  };
  const signature = [data.points, data.items, data.sprite].join('|');
  if (state.signature === signature) {
    if (state.ready && state.inkDrawn !== state.theme.ink) {
      state.inkDrawn = state.theme.ink;
      window.Plotly.relayout(state.graph, layoutOf(state, state.stage.clientWidth));
    }
    applyPush();
    return;
  }
  state.signature = signature;
  const generation = ++state.generation, fetchBlob = async (key) => {
    const answer = await fetch(`${data.base}/x/blob/${key}`);
    if (!answer.ok) throw new Error('missing');
    return answer.arrayBuffer();
  };
  (async () => {
    const [head, columns] = decode(await fetchBlob(data.points));
    if (!state.ready) await preview({...state, head, columns});   // plotly.js takes seconds to load on a slow machine
    const [Plotly, items, sprite] = await Promise.all([
      loadPlotly(data.base + '/x/plotly.min.js'), fetchBlob(data.items), data.sprite ? fetchBlob(data.sprite) : null]);
    if (generation !== state.generation) return;    // a newer payload overtook this one
    if (state.head && state.head.dataset !== head.dataset) state.index = null;
    Object.assign(state, {head, columns, items: JSON.parse(new TextDecoder().decode(items))});
    if (state.spriteUrl) URL.revokeObjectURL(state.spriteUrl);
    state.spriteUrl = sprite ? URL.createObjectURL(new Blob([sprite], {type: 'image/png'})) : null;
    state.emit = (index, view) => mark(Plotly, state, index).then(() => {
      // A cleared selection is said, too: silence means that nobody has touched this view yet.
      state.send('selection', {bits: index ? toBits(index, head.n) : null, n: index?.length ?? 0, view, dataset: head.dataset});
    });
    state.home.onclick = () => Plotly.relayout(state.graph, Object.fromEntries(head.views.flatMap((_, k) =>
      [[axisName('x', k) + '.autorange', true], [axisName('y', k) + '.autorange', true]])));
    state.clear.onclick = () => state.emit(null, -1);
    state.overlay.replaceChildren();
    state.plots = head.views.map(() => { const d = make('div', 'lv-plot', state.overlay); d.dataset.testid = 'linked-plot'; return d; });
    state.rings = head.views.map(() => make('div', 'lv-ring', state.overlay));
    drawLegend(state);
    // Twice the pixels each way cost four times the drawing: only for few points, where the edges of circles show.
    state.config ??= {displayModeBar: false, scrollZoom: true, doubleClick: false, plotGlPixelRatio: head.n > 4000 ? 1 : 2};
    await Plotly.react(state.graph, tracesOf(state), layoutOf(state, state.stage.clientWidth), state.config);
    root.querySelector('.lv-preview')?.remove();
    if (generation !== state.generation) return;
    if (!state.listening) {
      state.listening = true;
      state.graph.on('plotly_selected', (e) => { if (!state.busy && e?.points) state.emit([...new Set(e.points.map((p) => p.pointIndex))], e.points[0]?.curveNumber ?? -1); });
      state.graph.on('plotly_doubleclick', () => { if (!state.busy && state.index) state.emit(null, -1); });
      state.graph.on('plotly_hover', (e) => showHover(state, e.points[0], e.event));
      state.graph.on('plotly_unhover', () => hideHover(state));
      state.graph.on('plotly_afterplot', () => place(state));
      root.addEventListener('keydown', (e) => { if (e.key === 'Escape' && state.index) state.emit(null, -1); });
      state.observer = new ResizeObserver(() => {
        const width = state.stage.clientWidth;
        if (width && Math.abs(width - state.graph._fullLayout.width) > 2) window.Plotly.relayout(state.graph, layoutOf(state, width));
      });
      state.observer.observe(state.stage);
    }
    place(state);
    state.inkDrawn = state.theme.ink;
    state.ready = true;
    root.dataset.items = head.n;
    root.dataset.views = head.views.length;
    await mark(Plotly, state, state.index);
    applyPush();
  })().catch((error) => {
    state.signature = null;
    if (error.message === 'missing') state.send('missing', signature);
    else state.count.textContent = 'The plot could not be drawn: ' + error.message;
  });
  return () => { state.observer?.disconnect(); if (window.Plotly) window.Plotly.purge(state.graph); root.__state = undefined; };
}
