// Small helpers that every part uses. Text enters the page as text only, never as markup.
const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function make(tag, parent, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined && text !== null) node.textContent = text;
  if (className) node.className = className;
  if (parent) parent.append(node);
  return node;
}

function draw(tag, parent, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

const short = (text, most = 40) => (text.length <= most ? text : text.slice(0, most - 1) + "…");
const number = (value, places = 2) => (value === null ? "–" : value.toFixed(places));
const count = (value) => value.toLocaleString("en-US");
const countObjects = (value) => `${count(value)} object${value === 1 ? "" : "s"}`;

// -- colours ---------------------------------------------------------------------------------

// Those of the plots, in the same order; GREY is for objects without a class.
const GREY = "#9a9a9a";
const colour = (cluster) => (cluster < 0 ? GREY : data.colours[cluster % data.colours.length]);

const isDark = () => getComputedStyle(root).colorScheme === "dark";
const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();

const RAMPS = {
  light: [[246, 248, 252], [171, 205, 232], [66, 133, 196], [16, 70, 140], [8, 29, 74]],
  dark: [[24, 30, 40], [28, 62, 110], [45, 116, 181], [120, 184, 236], [240, 248, 255]],
};
function ramp() {
  const stops = RAMPS[isDark() ? "dark" : "light"];
  const table = new Uint8Array(256 * 3);
  for (let level = 0; level < 256; level++) {
    const at = (level / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    for (let part = 0; part < 3; part++) {
      table[level * 3 + part] = stops[low][part] + (at - low) * (stops[low + 1][part] - stops[low][part]);
    }
  }
  return table;
}
const shade = (table, level) => `rgb(${table[level * 3]} ${table[level * 3 + 1]} ${table[level * 3 + 2]})`;

// -- tooltips -----------------------------------------------------------------------------------

const tip = document.getElementById("tip");
function showTip(event, lines) {
  tip.replaceChildren();
  for (const line of lines) make("div", tip).append(make("bdi", null, short(line, 160)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const above = event.clientY + 18 + box.height > innerHeight;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${Math.max(8, above ? event.clientY - box.height - 12 : event.clientY + 18)}px`;
}
const hideTip = () => { tip.hidden = true; };
addEventListener("scroll", hideTip, { passive: true });
addEventListener("pointerdown", hideTip, { capture: true });  // before the touched element shows its own
const onLeave = (event) => { if (event.pointerType === "mouse") hideTip(); };  // touch always leaves

function hover(node, lines) {
  node.addEventListener("pointermove", (event) => showTip(event, lines()));
  node.addEventListener("pointerdown", (event) => showTip(event, lines()));
  node.addEventListener("pointerleave", onLeave);
}

// -- names -------------------------------------------------------------------------------------

function objectName(place) {
  const ids = data.objects.id;
  return ids ? ids[place] || "(no name)" : `row ${count(data.objects.row[place])}`;
}
function objectLines(place) {
  const objects = data.objects;
  const lines = [objectName(place), `cluster ${objects.cluster[place]}, confidence ${number(objects.confidence[place])}`];
  if (objects.next[place] >= 0) lines.push(`next: cluster ${objects.next[place]}`);
  if (data.truth) lines.push(`class: ${className(data.truth.of[place])}`);
  return lines;
}
const className = (code) => (code < 0 ? "(none)" : data.truth.name[code] || "(empty)");

function bytes(text) {
  const raw = atob(text);
  const levels = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) levels[at] = raw.charCodeAt(at);
  return levels;
}

// -- drawing again when the width or the colours change ------------------------------------------

const drawings = [];
function drawn(node, paint) {
  let width = 0;
  drawings.push(() => paint(node.clientWidth));
  new ResizeObserver(() => {
    if (node.clientWidth !== width) { width = node.clientWidth; paint(width); }
  }).observe(node);
}
const drawAll = () => drawings.forEach((paint) => paint());

function canvas(parent, width, height, node = make("canvas", parent)) {
  const dense = Math.min(devicePixelRatio || 1, 3);
  node.width = Math.round(width * dense);
  node.height = Math.round(height * dense);
  node.style.height = `${height}px`;
  const pen = node.getContext("2d");
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  return [node, pen];
}

function choice(parent, names, picked) {
  const buttons = names.map((name, place) => {
    const button = make("button", parent, name);
    button.type = "button";
    button.setAttribute("aria-pressed", place === 0);
    button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", other === button));
      picked(place);
    });
    return button;
  });
  return buttons;
}
