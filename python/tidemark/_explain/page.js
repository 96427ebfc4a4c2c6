"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const COLOURS = ["#4e79a7", "#f0a352", "#6aa56e", "#c86b6d", "#8d7bb5", "#5fa8a3", "#b98c66",
  "#c98bb0", "#7f9bb8", "#a3a05a", "#d58f5c", "#6d8f5e", "#9aa3ad"];
const SVG = "http://www.w3.org/2000/svg";
const make = (name, attributes, text) => {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
};
const bytes = count => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = Math.abs(count), at = 0;
  while (size >= 1024 && at < 4) { size /= 1024; at += 1; }
  const text = at === 0 ? String(Math.round(size)) : size >= 100 ? size.toFixed(0)
    : size.toPrecision(3);
  return (count < 0 ? "−" : "") + text + " " + units[at];
};
const seconds = nanoseconds => {
  const s = nanoseconds / 1e9;
  return s >= 1 ? s.toFixed(2) + " s" : (s * 1e3).toFixed(1) + " ms";
};

// --- the timeline --------------------------------------------------------------------------------
const chart = document.getElementById("chart");
const now = document.getElementById("now");
const W = 1120, H = 320, LEFT = 74, BOTTOM = 34;
const times = data.timeline.times;
const end = Math.max(data.duration, times.length ? times[times.length - 1] : 1, 1);
const x = time => LEFT + (W - LEFT - 6) * time / end;
let series = [], tops = [], cursor = -1;

function stack() {
  const by = document.querySelector("input[name=by]:checked").value;
  series = data.timeline[by].filter(s => s[1].some(v => v > 0));
  const idle = data.timeline.idle;
  if (by === "by_place" && idle.some(v => v > 0)) series = [...series];
  tops = times.map(() => 0);
  for (const s of series) s[1].forEach((v, i) => { tops[i] += v; });
}

function draw() {
  stack();
  chart.replaceChildren();
  const highest = Math.max(1, ...tops, data.peak);
  const y = v => 8 + (H - BOTTOM - 8) * (1 - v / highest);
  for (let i = 0; i <= 4; i++) {
    const v = highest * i / 4;
    chart.append(make("line", {class: "axis", x1: LEFT, x2: W, y1: y(v), y2: y(v)}),
      make("text", {x: LEFT - 8, y: y(v) + 4, "text-anchor": "end"}, bytes(v)),
      make("text", {x: x(end * i / 4), y: H - 4, "text-anchor": i ? "end" : "start"},
        seconds(end * i / 4)));
  }
  const below = times.map(() => 0);
  series.forEach((s, number) => {
    let top = "", bottom = "";
    s[1].forEach((v, i) => {
      const at = x(times[i]).toFixed(1);
      bottom = ` ${at},${y(below[i]).toFixed(1)}` + bottom;
      below[i] += v;
      top += ` ${at},${y(below[i]).toFixed(1)}`;
    });
    chart.append(make("polygon", {points: top + bottom, fill: COLOURS[number % COLOURS.length]}));
  });
  const every = Math.max(1, Math.ceil(data.steps.times.length / 200));
  data.steps.times.forEach((t, i) => {
    if (i % every === 0) {
      chart.append(make("line", {class: "step", x1: x(t), x2: x(t), y1: H - BOTTOM + 2,
        y2: H - BOTTOM + 9}));
    }
  });
  chart.append(make("line", {class: "peak", x1: x(data.peak_time), x2: x(data.peak_time), y1: 4,
    y2: H - BOTTOM}));
  chart.append(make("line", {class: "cursor", id: "cursor", x1: -9, x2: -9, y1: 4, y2: H - BOTTOM}));
  const legend = document.getElementById("legend");
  legend.replaceChildren(...series.map((s, number) => {
    const item = document.createElement("li"), box = document.createElement("i");
    box.style.background = COLOURS[number % COLOURS.length];
    item.append(box, s[0]);
    return item;
  }));
}

function show(at) {
  if (!times.length) return;
  cursor = Math.max(0, Math.min(times.length - 1, at));
  const line = document.getElementById("cursor");
  line.setAttribute("x1", x(times[cursor]));
  line.setAttribute("x2", x(times[cursor]));
  const parts = series.map(s => [s[0], s[1][cursor]]).filter(p => p[1] > 0)
    .sort((a, b) => b[1] - a[1]).slice(0, 3).map(p => `${bytes(p[1])} ${p[0]}`);
  now.textContent = `${seconds(times[cursor])}: ${bytes(tops[cursor])}` +
    (parts.length ? ` (${parts.join("; ")})` : "");
}
function nearest(time) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}
chart.addEventListener("pointermove", e => {
  const box = chart.getBoundingClientRect();
  show(nearest(((e.clientX - box.left) / box.width * W - LEFT) / (W - LEFT - 6) * end));
});
chart.addEventListener("keydown", e => {
  const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20}[e.key];
  if (by) show(cursor + by);
  else if (e.key === "Home") show(0);
  else if (e.key === "End") show(times.length - 1);
  else if (e.key === "p") show(nearest(data.peak_time));
  else return;
  e.preventDefault();
});
for (const choice of document.querySelectorAll("input[name=by]")) {
  choice.addEventListener("change", () => { draw(); if (cursor >= 0) show(cursor); });
}
draw();

// --- tables that sort and filter -----------------------------------------------------------------
function fill(table, rows, kinds) {
  const body = table.tBodies[0];
  const most = Math.max(1, ...rows.map(r => typeof r[0] === "number" ? r[0] : 0));
  const cells = rows.map(row => {
    const line = document.createElement("tr");
    row.forEach((value, i) => {
      const cell = document.createElement("td");
      if (kinds[i] === "bytes") {
        cell.className = "number";
        cell.textContent = bytes(value);
        if (i === 0) {
          const bar = document.createElement("span");
          bar.className = "bar";
          bar.style.width = (100 * value / most).toFixed(1) + "%";
          cell.append(bar);
        }
      } else if (kinds[i] === "number") {
        cell.className = "number";
        cell.textContent = value.toLocaleString("en");
      } else if (kinds[i] === "time") {
        cell.className = "number";
        cell.textContent = seconds(value);
      } else {
        cell.textContent = value;
      }
      line.append(cell);
    });
    line.text = row.join(" ").toLowerCase();
    line.row = row;
    return line;
  });
  body.replaceChildren(...cells);
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    head.replaceChildren(button);
    if (kinds[column] !== "text") head.classList.add("number");
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      cells.sort((a, b) => {
        const p = a.row[column], q = b.row[column];
        const order = typeof p === "number" ? p - q : String(p).localeCompare(String(q));
        return up ? order : -order;
      });
      body.replaceChildren(...cells);
    });
  });
  const filter = document.querySelector(`input[data-for=${table.id}]`);
  if (filter) {
    const count = document.querySelector(`[data-count=${table.id}]`);
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const line of cells) {
        line.hidden = !words.every(w => line.text.includes(w));
        shown += !line.hidden;
      }
      count.textContent = `${shown} of ${cells.length} rows`;
    };
    filter.addEventListener("input", apply);
    apply();
  }
}
for (const [id, table] of Object.entries(data.tables)) {
  const element = document.getElementById(id);
  if (element) fill(element, table.rows, table.kinds);
}
document.documentElement.dataset.ready = "yes";
// How long it took to open, from the click to the whole page laid out, in milliseconds.
addEventListener("load", () => {
  const height = document.body.offsetHeight;
  document.documentElement.dataset.opened = height > 0 ? performance.now().toFixed(1) : "never";
});
