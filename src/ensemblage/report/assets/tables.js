// Tables that sort by a click on a heading, filter, show more, and go to a CSV file.
const PAGE = 15;

function table(holder, name, columns, n, options = {}) {
  let order = [...Array(n).keys()];
  let shown = PAGE, sorted = null, descending = false, wanted = "";

  const bar = make("div", holder, null, "bar");
  const caption = make("span", bar, null, "small");
  if (n > PAGE) {
    const search = make("input", bar);
    search.type = "search";
    search.placeholder = "Find in this table";
    search.setAttribute("aria-label", `Find in the table of ${name}`);
    search.addEventListener("input", () => { wanted = search.value.toLowerCase(); shown = PAGE; fill(); });
  }
  const save = make("button", bar, "Download CSV", "push");
  save.type = "button";
  save.addEventListener("click", () => download(`${name}.csv`, toCsv(columns, n)));

  const grid = make("table", make("div", holder, null, "wide"));
  grid.id = `table-${name}`;
  const head = make("tr", make("thead", grid));
  columns.forEach((column) => {
    const cell = make("th", head, null, column.text ? "text" : "");
    cell.scope = "col";
    const button = make("button", cell, column.title);
    button.type = "button";
    button.addEventListener("click", () => sort(column, cell, sorted === column ? !descending : !column.text));
  });
  const body = make("tbody", grid);
  const more = make("button", make("div", holder, null, "bar"), "Show more");
  more.type = "button";
  more.style.marginTop = ".6rem";
  more.addEventListener("click", () => { shown += 100; fill(); });

  function sort(column, cell, down) {
    sorted = column;
    descending = down;
    for (const other of head.children) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    order.sort((a, b) => (down ? -1 : 1) * compare(column.value(a), column.value(b)) || a - b);
    fill();
  }
  function fill() {
    const found = wanted ? order.filter((row) => columns.some((column) => String(column.value(row) ?? "").toLowerCase().includes(wanted))) : order;
    body.replaceChildren();
    for (const row of found.slice(0, shown)) {
      const line = make("tr", body, null, options.marked && options.marked(row) ? "marked" : "");
      for (const column of columns) cellOf(make("td", line, null, column.text ? "text" : ""), column, row);
    }
    more.hidden = shown >= found.length;
    caption.textContent = `${count(Math.min(shown, found.length))} of ${count(found.length)} row${found.length === 1 ? "" : "s"}`;
  }
  fill();
  const first = columns.findIndex((column) => column.title === options.sortedBy);
  if (first >= 0) sort(columns[first], head.children[first], false);
}

function cellOf(cell, column, row) {
  const text = column.show ? column.show(row) : String(column.value(row) ?? "–");
  if (column.dot) make("span", cell, null, "dot").style.background = colour(column.dot(row));
  if (text.length <= 60) { cell.append(make("bdi", null, text)); return; }
  const whole = make("details", cell);  // long names: the beginning, and all of it on demand
  make("bdi", make("summary", whole), short(text, 40));
  make("bdi", whole, text);
}

const textOrder = new Intl.Collator("en", { numeric: true });
function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : textOrder.compare(a, b);
}

// A cell that begins like a formula is one to a spreadsheet, unless a quote stands before it.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value !== "number" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function toCsv(columns, n) {
  const lines = [columns.map((column) => csvCell(column.title)).join(",")];
  for (let row = 0; row < n; row++) lines.push(columns.map((column) => csvCell(column.value(row))).join(","));
  return lines.join("\r\n") + "\r\n";
}
function download(name, text) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
