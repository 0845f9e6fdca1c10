// Puts the page together.
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  drawAll();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

const PLOTS = { clusters: clusterPlot, heatmap: heatmapPlot, map: mapPlot, tree: treePlot, truth: truthPlot, members: memberPlot, k: kPlot };
for (const holder of document.querySelectorAll("[data-plot]")) PLOTS[holder.dataset.plot](holder);

const figure = (title, values, places = 3) => ({ title, value: (row) => values[row], show: (row) => number(values[row], places) });
const whole = (title, values) => ({ title, value: (row) => values[row], show: (row) => count(values[row]) });
const words = (title, value) => ({ title, text: true, value });

const TABLES = {
  clusters(holder) {
    const clusters = data.clusters;
    table(holder, "clusters", [
      { title: "cluster", value: (row) => row, dot: (row) => row },
      whole("objects", clusters.size),
      figure("confidence", clusters.confidence),
      figure("consensus", clusters.consensus),
      figure("best split", clusters.split),
      { title: "nearest", value: (row) => (clusters.nearest[row] < 0 ? null : clusters.nearest[row]) },
      figure("similarity to it", clusters.nearestSimilarity),
      words("weak because", (row) => clusters.weak[row]),
    ], clusters.size.length, { marked: (row) => clusters.weak[row] !== "" });
  },
  members(holder) {
    const members = data.members;
    table(holder, "clusterings", [
      words("clustering", (row) => members.name[row]),
      whole("clusters", members.clusters),
      figure("with the consensus", members.agreement),
      figure("with the others", members.others),
      { title: "turnout", value: (row) => members.turnout[row], show: (row) => `${Math.round(100 * members.turnout[row])} %` },
      words("check because", (row) => members.reason[row]),
    ], members.name.length, { marked: (row) => members.reason[row] !== "" });
  },
  k(holder) {
    const k = data.k;
    table(holder, "number-of-clusters", [
      { title: "k", value: (row) => k.ks[row] },
      ...k.curves.map((curve) => figure(curve.title, curve.values, 4)),
    ], k.ks.length, { marked: (row) => k.ks[row] === k.best });
  },
  objects(holder) {
    const objects = data.objects;
    table(holder, "objects", [
      ...(objects.row ? [{ title: "row", value: (row) => objects.row[row] }] : []),
      ...(objects.id ? [words("object", (row) => objects.id[row])] : []),
      { title: "cluster", value: (row) => objects.cluster[row], dot: (row) => objects.cluster[row] },
      figure("confidence", objects.confidence),
      ...(data.clusters.size.length > 1 ? [{ title: "next cluster", value: (row) => (objects.next[row] < 0 ? null : objects.next[row]) }] : []),
      ...(objects.seeds ? [{ title: "same with other seeds", value: (row) => objects.seeds[row], show: (row) => `${Math.round(100 * objects.seeds[row])} %` }] : []),
      ...(data.truth ? [words("true class", (row) => (data.truth.of[row] < 0 ? null : data.truth.name[data.truth.of[row]]))] : []),
    ], objects.cluster.length, { sortedBy: "confidence" });
  },
};
for (const holder of document.querySelectorAll("[data-table]")) TABLES[holder.dataset.table](holder);
root.dataset.ready = "yes";
