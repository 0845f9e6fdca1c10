// The other pictures: clusters, maps, the tree, curves over k.
const MOST_BARS = 60;

function clusterPlot(holder) {
  const clusters = data.clusters, n = clusters.size.length;
  const order = [...Array(n).keys()].sort((a, b) => clusters.size[b] - clusters.size[a] || a - b).slice(0, MOST_BARS);
  if (n > MOST_BARS) make("p", holder, `The ${MOST_BARS} largest of ${count(n)} clusters; the table has all.`, "small");
  const area = make("div", holder);
  const largest = Math.max(...clusters.size);
  drawn(area, (width) => {
    area.replaceChildren();
    const row = order.length > 24 ? 20 : 28, top = 26, gap = 18;
    const left = width < 420 ? 34 : 86, bars = (width - left - 2 * gap) * 0.45, boxes = width - left - bars - 2 * gap - 8;
    const at = left + bars + 2 * gap;
    const svg = draw("svg", area, { height: top + row * order.length + 8, role: "img", "aria-label": "Size and confidence of each cluster" });
    draw("text", svg, { x: left, y: 14, class: "soft" }, "objects");
    draw("text", svg, { x: at, y: 14, class: "soft" }, "confidence, 0 to 1");
    for (const tick of [0, 0.5, 1]) draw("line", svg, { x1: at + tick * boxes, x2: at + tick * boxes, y1: top - 4, y2: top + row * order.length, stroke: ink("--line") });
    order.forEach((cluster, place) => {
      const y = top + row * place, middle = y + row / 2;
      const line = draw("g", svg);
      draw("rect", line, { x: 0, y, width, height: row, fill: "transparent" });
      draw("text", line, { x: left - 10, y: middle + 4, "text-anchor": "end" }, width < 420 ? `${cluster}` : `cluster ${cluster}`);
      const length = Math.max(2, (clusters.size[cluster] / largest) * (bars - 44));
      draw("rect", line, { x: left, y: y + 4, width: length, height: row - 8, rx: 3, fill: colour(cluster) });
      draw("text", line, { x: left + length + 5, y: middle + 4, class: "soft" }, count(clusters.size[cluster]));
      const [low, q1, q2, q3, high] = clusters.quantiles[cluster].map((value) => at + value * boxes);
      draw("line", line, { x1: low, x2: high, y1: middle, y2: middle, stroke: ink("--soft") });
      draw("rect", line, { x: q1, y: middle - row / 4, width: Math.max(2, q3 - q1), height: row / 2, rx: 2, fill: colour(cluster), "fill-opacity": 0.75 });
      draw("line", line, { x1: q2, x2: q2, y1: middle - row / 3, y2: middle + row / 3, stroke: ink("--ink"), "stroke-width": 2 });
      hover(line, () => [
        `cluster ${cluster}: ${countObjects(clusters.size[cluster])}`,
        `confidence ${number(clusters.confidence[cluster])} on average, half of them between ${number(clusters.quantiles[cluster][1])} and ${number(clusters.quantiles[cluster][3])}`,
        `together in ${Math.round(100 * clusters.consensus[cluster])} % of the clusterings`,
        ...(clusters.weak[cluster] ? [`weak: ${clusters.weak[cluster]}`] : []),
      ]);
    });
  });
}

function heatmapPlot(holder) {
  const heat = data.heatmap, n = heat.of.length;
  const kinds = heat.kinds.map((kind) => ({ title: kind.title, values: bytes(kind.values) }));
  let kind = 0;
  matrix(holder, {
    rows: n, columns: n, square: true, kinds, pick: (place) => { kind = place; },
    levels: () => kinds[kind].values,
    label: "Similarity of objects, in the order of their clusters",
    low: "0 never together", high: "1 always",
    rowGroup: (row) => data.objects.cluster[heat.of[row]],
    rowName: (row) => objectName(heat.of[row]),
    tip: (row, column) => [
      `${short(objectName(heat.of[row]), 60)} (cluster ${data.objects.cluster[heat.of[row]]})`,
      `${short(objectName(heat.of[column]), 60)} (cluster ${data.objects.cluster[heat.of[column]]})`,
      `${kinds[kind].title.toLowerCase()}: ${number(kinds[kind].values[row * n + column] / 255)}`,
    ],
  });
}

function memberPlot(holder) {
  const members = data.members, n = members.shown.length, values = bytes(members.pairs);
  if (n < members.name.length) make("p", holder, `${n} of ${count(members.name.length)} clusterings; the table has all.`, "small");
  if (members.compared < members.name.length) make("p", holder, `Agreement with the others is the mean over ${members.compared} of them.`, "small");
  const name = (place) => members.name[members.shown[place]];
  matrix(holder, {
    rows: n, columns: n, square: true, levels: () => values, columnsNamed: true,
    label: "Agreement of every two clusterings",
    low: "0 nothing in common", high: "1 equal",
    rowName: name, columnName: name,
    tip: (row, column) => [
      short(name(row), 60), short(name(column), 60),
      `agreement (NMI): ${number(values[row * n + column] / 255)}`,
      `with the consensus: ${number(members.agreement[members.shown[row]])} and ${number(members.agreement[members.shown[column]])}`,
    ],
  });
}

function truthPlot(holder) {
  const truth = data.truth, rows = truth.counts.length, columns = truth.shown.length;
  if (columns < truth.name.length) make("p", holder, `The ${columns} largest of ${count(truth.name.length)} classes.`, "small");
  const totals = truth.counts.map((row) => row.reduce((sum, value) => sum + value, 0));
  const levels = new Uint8Array(rows * columns);
  truth.counts.forEach((row, r) => row.forEach((value, c) => { levels[r * columns + c] = Math.round((255 * value) / Math.max(1, totals[r])); }));
  matrix(holder, {
    rows, columns, square: false, levels: () => levels, columnsNamed: true,
    label: "Share of each cluster's objects in each true class",
    low: "0 none of the cluster", high: "1 all of it",
    rowName: (row) => `cluster ${row}`, columnName: (column) => className(truth.shown[column]),
    tip: (row, column) => [
      `cluster ${row}, class ${short(className(truth.shown[column]), 60)}`,
      `${countObjects(truth.counts[row][column])}, ${Math.round((100 * truth.counts[row][column]) / Math.max(1, totals[row]))} % of the cluster`,
    ],
  });
}

function mapPlot(holder) {
  let map = data.maps[0], by = "cluster", only = null;
  const bar = make("div", holder, null, "bar");
  if (data.maps.length > 1) choice(bar, data.maps.map((one) => one.title), (place) => { map = data.maps[place]; paint(area.clientWidth); });
  const label = make("label", bar, "Colour by ", "push");
  const select = make("select", label);
  for (const what of ["cluster", "confidence", ...(data.truth ? ["true class"] : [])]) make("option", select, what).value = what;
  const area = make("div", holder), node = make("canvas", area), note = make("p", holder, null, "small"), keys = make("div", holder, null, "keys");
  node.setAttribute("role", "img");
  const group = (place) => (by === "true class" ? data.truth.of[place] : data.objects.cluster[place]);
  const called = (value) => (by === "true class" ? className(value) : `cluster ${value}`);

  function key() {
    keys.replaceChildren();
    if (by === "confidence") return;
    for (const value of [...new Set(map.of.map(group))].sort((a, b) => a - b).slice(0, 100)) {
      const button = make("button", keys);
      button.type = "button";
      make("i", button).style.background = colour(value);
      make("span", button).append(make("bdi", null, short(called(value), 30)));
      button.setAttribute("aria-pressed", only === value);
      button.addEventListener("click", () => { only = only === value ? null : value; key(); paint(area.clientWidth); });
    }
  }
  select.addEventListener("change", () => { by = select.value; only = null; key(); paint(area.clientWidth); });

  let spots = [];
  function paint(width) {
    if (!width) return;
    const wide = Math.max(...map.x), high = Math.max(...map.y), edge = 14;
    const height = Math.max(180, Math.min(map.of.length < 60 ? 320 : 520, width * 0.72, wide ? (width * Math.max(high, 0.3)) / wide : 520));
    const scale = Math.min((width - 2 * edge) / (wide || 1), (height - 2 * edge) / (high || 1));
    const left = (width - scale * wide) / 2, top = (height - scale * high) / 2;
    const [, pen] = canvas(area, width, height, node);
    pen.clearRect(0, 0, width, height);
    const table = ramp(), radius = map.of.length > 700 ? 2.6 : map.of.length > 60 ? 3.6 : 6;
    spots = map.of.map((place, at) => [left + map.x[at] * scale, height - top - map.y[at] * scale, place]);
    for (const [x, y, place] of spots) {
      const sure = data.objects.confidence[place];
      const faded = only !== null && group(place) !== only;
      pen.globalAlpha = faded ? 0.08 : by === "confidence" ? 0.9 : 0.35 + 0.6 * sure;
      pen.fillStyle = by === "confidence" ? shade(table, Math.round(70 + 185 * sure)) : colour(group(place));
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    const part = map.of.length < data.objects.n ? `${count(map.of.length)} of ${count(data.objects.n)} objects. ` : "";
    note.textContent = `${part}${map.note} ${by === "confidence" ? "Strong colour is high confidence." : "Faint points have low confidence."}`;
    node.setAttribute("aria-label", `Objects as points. ${map.note}`);
  }
  const find = (event) => {
    const frame = node.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    let best = 18 * 18, found = null;
    for (const spot of spots) {
      const far = (spot[0] - x) ** 2 + (spot[1] - y) ** 2;
      if (far < best) { best = far; found = spot; }
    }
    if (found) showTip(event, objectLines(found[2])); else hideTip();
  };
  node.addEventListener("pointermove", find);
  node.addEventListener("pointerdown", find);
  node.addEventListener("pointerleave", onLeave);
  drawn(area, paint);
  key();
}

function treePlot(holder) {
  const tree = data.tree, n = tree.size.length, area = make("div", holder);
  if (tree.cut === null) make("p", holder, "No single height separates the clusters: branches that were too small joined the most similar cluster. The colours show the clusters.", "small");
  drawn(area, (width) => {
    area.replaceChildren();
    const height = 300, left = 40, bottom = 34, step = (width - left - 8) / n;
    const heights = tree.merges.map((merge) => merge[2]);
    const top = Math.max(tree.cut || 0, ...heights), low = Math.min(...heights);
    const isFlat = low > 0.4 * top && low < 0.999 * top;  // all merges would be squeezed into the top
    const base = isFlat ? low - 0.35 * (top - low) : 0;
    const highest = top + 0.04 * (top - base) || 1;
    const y = (value) => 10 + (height - bottom - 10) * (1 - Math.max(0, value - base) / (highest - base));
    const svg = draw("svg", area, { height, role: "img", "aria-label": "Tree of merges with the cut" });
    for (let tick = 0; tick <= 4; tick++) {
      const value = base + ((highest - base) * tick) / 4;
      draw("line", svg, { x1: left, x2: width, y1: y(value), y2: y(value), stroke: ink("--line") });
      draw("text", svg, { x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft" }, number(value, highest - base < 0.2 ? 3 : 2));
    }
    const nodes = tree.size.map((size, place) => ({ x: left + (place + 0.5) * step, h: 0, size, cluster: tree.cluster[place] }));
    for (const [a, b, h] of tree.merges) {
      const one = nodes[a], other = nodes[b];
      const cluster = one.cluster === other.cluster ? one.cluster : null;
      const path = draw("path", svg, {
        d: `M${one.x} ${y(one.h)}V${y(h)}H${other.x}V${y(other.h)}`, fill: "none",
        stroke: cluster === null ? ink("--soft") : colour(cluster), "stroke-width": 2,
      });
      nodes.push({ x: (one.x + other.x) / 2, h, size: one.size + other.size, cluster });
      hover(path, () => [`${count(one.size)} and ${count(other.size)} objects merge at distance ${number(h, 3)}`]);
    }
    if (tree.cut !== null) draw("line", svg, { x1: left, x2: width, y1: y(tree.cut), y2: y(tree.cut), stroke: ink("--mark"), "stroke-width": 1.5, "stroke-dasharray": "6 4" });
    nodes.slice(0, n).forEach((leaf) => {
      const dot = draw("circle", svg, { cx: leaf.x, cy: y(base) + 9, r: Math.max(2.5, Math.min(6, step / 2.4)), fill: colour(leaf.cluster) });
      if (step > 26) draw("text", svg, { x: leaf.x, y: y(base) + 28, "text-anchor": "middle", class: "soft" }, count(leaf.size));
      hover(dot, () => [`cluster ${leaf.cluster}`, `a branch of ${countObjects(leaf.size)}`]);
    });
  });
}

function kPlot(holder) {
  const k = data.k, grid = make("div", holder, null, "pair");
  for (const curve of k.curves) {
    const cell = make("div", grid);
    make("h3", cell, curve.title);
    const area = make("div", cell);
    drawn(area, (width) => {
      area.replaceChildren();
      const height = 170, left = 40, right = 8, bottom = 24, top = 8;
      const values = curve.values.filter((value) => value !== null);
      const low = Math.min(...values), high = Math.max(...values), range = high - low || 1;
      const first = k.ks[0], last = k.ks[k.ks.length - 1];
      const x = (at) => left + ((width - left - right) * (at - first)) / (last - first || 1);
      const y = (value) => top + (height - bottom - top) * (1 - (value - low) / range);
      const svg = draw("svg", area, { height, role: "img", "aria-label": `${curve.title} by number of clusters` });
      for (const value of high > low ? [low, high] : [low]) {
        draw("line", svg, { x1: left, x2: width - right, y1: y(value), y2: y(value), stroke: ink("--line") });
        draw("text", svg, { x: left - 5, y: y(value) + 4, "text-anchor": "end", class: "soft" }, number(value));
      }
      if (k.used >= first && k.used <= last) draw("line", svg, { x1: x(k.used), x2: x(k.used), y1: top, y2: height - bottom, stroke: ink("--mark"), "stroke-dasharray": "5 4" });
      const every = Math.max(1, Math.ceil(k.ks.length / (width / 34)));
      k.ks.forEach((at, place) => { if (place % every === 0) draw("text", svg, { x: x(at), y: height - 6, "text-anchor": "middle", class: "soft" }, String(at)); });
      const points = k.ks.map((at, place) => [at, curve.values[place]]).filter((point) => point[1] !== null);
      draw("polyline", svg, { points: points.map(([at, value]) => `${x(at)},${y(value)}`).join(" "), fill: "none", stroke: ink("--accent"), "stroke-width": 2 });
      for (const [at, value] of points) {
        const best = at === curve.best;
        const dot = draw("circle", svg, { cx: x(at), cy: y(value), r: best ? 5.5 : 3, fill: best ? ink("--mark") : ink("--accent") });
        hover(dot, () => [`k = ${at}: ${number(value, 3)}`, ...(best ? ["this criterion's choice"] : [])]);
      }
    });
  }
}
