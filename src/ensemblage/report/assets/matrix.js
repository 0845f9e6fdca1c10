// A matrix as a picture: hover names the cell; wheel with Ctrl, pinch, buttons and keys zoom, dragging moves.
function matrix(holder, spec) {
  const view = { x: 0, y: 0, zoom: 1 };
  const most = Math.max(spec.rows, spec.columns) > 24 ? Math.min(spec.rows, spec.columns) / 4 : 1;
  const bar = make("div", holder, null, "bar");
  if (spec.kinds && spec.kinds.length > 1) choice(bar, spec.kinds.map((kind) => kind.title), (place) => { spec.pick(place); refresh(); });
  if (most > 1) {
    const zoom = make("span", bar, null, "bar push");
    for (const [sign, what, factor] of [["+", "Zoom in", 1.6], ["−", "Zoom out", 1 / 1.6], ["All", "Show all", 0]]) {
      const button = make("button", zoom, sign);
      button.type = "button";
      button.setAttribute("aria-label", what);
      button.addEventListener("click", () => { zoomAt(0.5, 0.5, factor); });
    }
  }
  const area = make("div", holder);
  const node = make("canvas", area);
  node.tabIndex = 0;
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", spec.label);
  const scale = make("div", holder, null, "scale");
  make("span", scale, spec.low || "0");
  const strip = make("canvas", scale);
  make("span", scale, spec.high || "1");

  const picture = document.createElement("canvas");
  let box = null;

  function colourPicture() {
    const table = ramp(), levels = spec.levels(), pen = picture.getContext("2d");
    picture.width = spec.columns;
    picture.height = spec.rows;
    const image = pen.createImageData(spec.columns, spec.rows);
    for (let at = 0; at < levels.length; at++) {
      for (let part = 0; part < 3; part++) image.data[at * 4 + part] = table[levels[at] * 3 + part];
      image.data[at * 4 + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    const [, line] = canvas(scale, 144, 11, strip);
    for (let x = 0; x < 144; x++) { line.fillStyle = shade(table, Math.round((x / 143) * 255)); line.fillRect(x, 0, 1, 11); }
  }

  function paint(width) {
    if (!width) return;
    const grouped = spec.rowGroup ? 12 : 0;
    const shownRows = spec.rows / view.zoom, shownColumns = spec.columns / view.zoom;
    const sy = view.y * spec.rows, sx = view.x * spec.columns;
    const right = grouped && width > 480 ? 84 : 0;
    const side = Math.min(width - right, 680);
    const tall = spec.square ? null : Math.max(40, Math.min(spec.rows * 26, 680));
    const named = (tall || side - 100) / shownRows >= 13;
    const left = grouped + (named ? widest(spec.rowName, sy, shownRows, spec.rows, Math.min(130, width * 0.3)) : 0);
    const w = Math.min(side - left, spec.columns * 56);
    const columnsNamed = spec.columnsNamed && w / shownColumns >= 13;
    const top = grouped + (columnsNamed ? widest(spec.columnName, sx, shownColumns, spec.columns, 84) : 0);
    const h = tall || w;
    const [, pen] = canvas(area, width, top + h + 1, node);
    box = { left, top, w, h };
    pen.clearRect(0, 0, width, top + h + 1);
    pen.imageSmoothingEnabled = w < shownColumns;
    pen.drawImage(picture, sx, sy, shownColumns, shownRows, left, top, w, h);
    pen.font = FONT;
    if (grouped) strips(pen, sx, sy, w / shownColumns, h / shownRows, right);
    pen.fillStyle = ink("--soft");
    if (named) {
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      eachShown(sy, shownRows, spec.rows, (row) => {
        const y = top + (row + 0.5 - sy) * (h / shownRows);
        if (y > top && y < top + h) fitted(pen, spec.rowName(row), left - grouped - 6, y, left - grouped - 8);
      });
    }
    if (columnsNamed) {
      pen.textAlign = "left";
      eachShown(sx, shownColumns, spec.columns, (column) => {
        const x = left + (column + 0.5 - sx) * (w / shownColumns);
        if (x < left || x > left + w) return;
        pen.save();
        pen.translate(x, top - grouped - 4);
        pen.rotate(-Math.PI / 2);
        fitted(pen, spec.columnName(column), 0, 0, 76);
        pen.restore();
      });
    }
    node.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
    node.style.cursor = view.zoom > 1 ? "grab" : "crosshair";
  }

  function strips(pen, sx, sy, cellW, cellH, right) {
    pen.fillStyle = ink("--soft");
    pen.textBaseline = "middle";
    for (const [start, end, group] of right ? runs(spec.rows, spec.rowGroup) : []) {
      const y = Math.max(box.top, box.top + (start - sy) * cellH), y2 = Math.min(box.top + box.h, box.top + (end - sy) * cellH);
      if (y2 - y >= 12) pen.fillText(`cluster ${group}`, box.left + box.w + 8, (y + y2) / 2);
    }
    pen.save();
    pen.beginPath();
    pen.rect(box.left - 12, box.top - 12, box.w + 12, box.h + 12);
    pen.clip();
    const groups = [...runs(spec.rows, spec.rowGroup)];
    const line = Math.min(0.9, Math.max(0.15, (box.h * view.zoom) / groups.length / 60));  // many lines: faint ones
    for (const [start, end, group] of groups) {
      pen.globalAlpha = 1;
      pen.fillStyle = colour(group);
      const y = Math.max(box.top, box.top + (start - sy) * cellH), y2 = Math.min(box.top + box.h, box.top + (end - sy) * cellH);
      if (y2 > y) pen.fillRect(box.left - 11, y, 8, y2 - y);
      const x = Math.max(box.left, box.left + (start - sx) * cellW), x2 = Math.min(box.left + box.w, box.left + (end - sx) * cellW);
      if (x2 > x) pen.fillRect(x, box.top - 11, x2 - x, 8);
      pen.globalAlpha = line;
      pen.fillStyle = ink("--mark");
      if (end < spec.rows && y2 < box.top + box.h && y2 > box.top) pen.fillRect(box.left, y2 - 0.5, box.w, 1);
      if (end < spec.rows && x2 < box.left + box.w && x2 > box.left) pen.fillRect(x2 - 0.5, box.top, 1, box.h);
    }
    pen.restore();
  }

  const refresh = () => { colourPicture(); paint(area.clientWidth); };
  drawings.push(colourPicture);
  colourPicture();
  drawn(area, paint);

  // -- panning ---------------------------------------------------------------------------------

  const within = (value, low, high) => Math.min(Math.max(value, low), high);
  function settle() {
    view.x = within(view.x, 0, 1 - 1 / view.zoom);
    view.y = within(view.y, 0, 1 - 1 / view.zoom);
    paint(area.clientWidth);
  }
  function zoomAt(u, v, factor) {
    const zoom = factor ? within(view.zoom * factor, 1, most) : 1;
    view.x += u * (1 / view.zoom - 1 / zoom);
    view.y += v * (1 / view.zoom - 1 / zoom);
    view.zoom = zoom;
    node.dataset.zoom = zoom.toFixed(2);
    settle();
  }
  function place(event) {
    const frame = node.getBoundingClientRect();
    return [(event.clientX - frame.left - box.left) / box.w, (event.clientY - frame.top - box.top) / box.h];
  }
  const fingers = new Map();
  let apart = 0;
  node.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event); tell(event); });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    node.addEventListener(end, (event) => { fingers.delete(event.pointerId); apart = 0; if (end !== "pointerup") onLeave(event); });
  }
  node.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before || (fingers.size === 1 && view.zoom === 1)) { tell(event); return; }
    fingers.set(event.pointerId, event);
    hideTip();
    if (fingers.size === 2) {
      const [one, other] = [...fingers.values()];
      const now = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      const [u, v] = place({ clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 });
      if (apart) zoomAt(within(u, 0, 1), within(v, 0, 1), now / apart);
      apart = now;
      return;
    }
    view.x -= (event.clientX - before.clientX) / box.w / view.zoom;
    view.y -= (event.clientY - before.clientY) / box.h / view.zoom;
    settle();
  });
  node.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return;  // a plain wheel scrolls the page
    event.preventDefault();
    const [u, v] = place(event);
    zoomAt(within(u, 0, 1), within(v, 0, 1), Math.exp(-event.deltaY / 200));
  }, { passive: false });
  node.addEventListener("dblclick", (event) => zoomAt(...place(event), 2));
  node.addEventListener("keydown", (event) => {
    const step = 0.15 / view.zoom;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key === "+" || event.key === "=") zoomAt(0.5, 0.5, 1.6);
    else if (event.key === "-") zoomAt(0.5, 0.5, 1 / 1.6);
    else if (event.key === "0" || event.key === "Escape") zoomAt(0.5, 0.5, 0);
    else if (moves[event.key] && view.zoom > 1) { event.preventDefault(); view.x += moves[event.key][0]; view.y += moves[event.key][1]; settle(); }
  });
  function tell(event) {
    const [u, v] = place(event);
    if (u < 0 || v < 0 || u >= 1 || v >= 1) { hideTip(); return; }
    const column = Math.floor((view.x + u / view.zoom) * spec.columns);
    const row = Math.floor((view.y + v / view.zoom) * spec.rows);
    showTip(event, spec.tip(row, column));
  }
}

function* runs(n, group) {
  for (let start = 0, at = 1; at <= n; at++) {
    if (at === n || group(at) !== group(start)) { yield [start, at, group(start)]; start = at; }
  }
}
function eachShown(start, many, n, each) {
  for (let at = Math.floor(start); at < Math.min(n, Math.ceil(start + many)); at++) each(at);
}
const FONT = "11px system-ui, sans-serif";
const ruler = document.createElement("canvas").getContext("2d");
function widest(name, start, many, n, most) {
  let width = 0;
  ruler.font = FONT;
  eachShown(start, many, n, (at) => { width = Math.max(width, ruler.measureText(short(name(at), 24)).width); });
  return Math.min(most, width + 12);
}
function fitted(pen, text, x, y, width) {
  let name = short(text, 24);
  while (name.length > 2 && pen.measureText(name).width > width) name = `${name.slice(0, -2)}…`;
  pen.fillText(name, x, y);
}
