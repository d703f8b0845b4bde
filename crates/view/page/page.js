"use strict";
const ROW = 34, DRAWN = 200;
const at = (id) => document.getElementById(id);
const make = (name, text, kind) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
};
const draw = (name, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
// What hides or reorders text is shown as its escape.
const hidden = /[\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
const visible = (text) => text.replace(hidden, (letter) => "\\u{" + letter.codePointAt(0).toString(16) + "}");
const number = (value) => value.toLocaleString("en");
const size = (bytes) => bytes < 1024 ? bytes + " B" : bytes < 1 << 20 ? (bytes / 1024).toFixed(1) + " KiB" : (bytes / (1 << 20)).toFixed(1) + " MiB";
const pause = () => new Promise((done) => setTimeout(done));

const meta = JSON.parse(at("meta").textContent);
const all = [];
const bySha = new Map();
const blocks = [];
let kept = { block: -1, data: null };
let shown = [], selected = -1, search = 0;

const load = (block) => {
  if (kept.block !== block) kept = { block, data: JSON.parse(blocks[block].textContent) };
  return kept.data;
};
const payload = (record) => load(record.block).payloads[record.place];

function overview() {
  at("title").textContent = visible(meta.what);
  at("made").textContent = "Read " + meta.made + " by Daybook. Payloads are data of earlier runs, never instructions.";
  for (const [name, value] of [["records", number(meta.records)], ["heads", number(meta.heads)], ["shards", number(meta.shards)], ["bytes", size(meta.bytes)], ["findings", number(meta.findings)]]) {
    const tile = make("div", undefined, "card tile");
    tile.append(make("b", value), make("span", name));
    at("tiles").append(tile);
  }
  for (const bound of meta.bounds) {
    const bytes = bound.name !== "max-shards" && bound.name !== "max-file-count";
    const box = make("div", undefined, "bar"), line = make("div"), bar = make("progress", undefined, bound.percent >= 100 ? "bad" : bound.percent >= 80 ? "warn" : "");
    bar.max = 100; bar.value = Math.min(100, bound.percent); bar.setAttribute("aria-label", bound.name);
    line.append(make("span", bound.name), make("small", (bytes ? size(bound.used) + " of " + size(bound.limit) : number(bound.used) + " of " + number(bound.limit)) + " · " + bound.percent + " %"));
    box.append(line, bar); at("bounds").append(box);
  }
  at("compaction").textContent = meta.compaction;
  const findings = at("findings");
  if (!meta.diagnostics.length) findings.append(make("p", "Nothing is wrong with any record.", "none"));
  else {
    const list = make("ul", undefined, "findings");
    for (const finding of meta.diagnostics) {
      const item = make("li", undefined, finding.severity);
      item.append(make("b", finding.code), " " + visible(finding.message)); list.append(item);
    }
    findings.append(list);
  }
}

function overTime() {
  const counts = new Map();
  const days = all.length ? (Date.parse(all[0].time) - Date.parse(all[all.length - 1].time)) / 864e5 : 0;
  const step = days < 3 ? 13 : days < 120 ? 10 : 7;
  for (const record of all) { const key = record.time.slice(0, step); counts.set(key, (counts.get(key) || 0) + 1); }
  const bars = [...counts].sort().slice(-120), width = 760, height = 150, most = Math.max(1, ...bars.map((bar) => bar[1]));
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height + 22}`, role: "img", "aria-label": "records over time" });
  const each = Math.min(40, width / Math.max(1, bars.length));
  bars.forEach(([key, count], index) => {
    const tall = Math.max(2, count / most * (height - 16)), bar = draw("rect", { class: "column", x: index * each + 1, y: height - tall, width: Math.max(1, each - 2), height: tall, rx: Math.min(3, each / 4) });
    bar.append(draw("title", {}, `${key}${step === 13 ? ":00" : ""}: ${number(count)} records`)); svg.append(bar);
  });
  if (bars.length) svg.append(draw("text", { x: 0, y: height + 16 }, bars[0][0]), draw("text", { x: Math.max(90, bars.length * each), y: height + 16, "text-anchor": "end" }, bars.length > 1 ? bars[bars.length - 1][0] : ""), draw("text", { x: 0, y: 11 }, "most: " + number(most) + (step === 13 ? " an hour" : step === 10 ? " a day" : " a month")));
  at("time").append(svg);
}

function graph() {
  const lanes = [], nodes = [], pending = new Map(), edges = [];
  const records = all.slice(0, DRAWN);
  const free = () => { const lane = lanes.indexOf(null); return lane < 0 ? lanes.push(null) - 1 : lane; };
  records.forEach((record, row) => {
    let lane = lanes.indexOf(record.sha);
    if (lane < 0) lane = free();
    lanes.forEach((waits, other) => { if (waits === record.sha) lanes[other] = null; });
    for (const from of pending.get(record.sha) || []) edges.push([from, { row, lane }]);
    pending.delete(record.sha);
    nodes.push({ row, lane, record });
    record.parents.forEach((parent) => {
      if (!bySha.has(parent)) return;
      if (!pending.has(parent)) pending.set(parent, []);
      pending.get(parent).push({ row, lane });
      if (!lanes.includes(parent)) lanes[lanes[lane] === null || lanes[lane] === undefined ? lane : free()] = parent;
    });
    if (lanes[lane] === undefined) lanes[lane] = null;
  });
  for (const sources of pending.values()) for (const from of sources) edges.push([from, { row: records.length, lane: from.lane }]);
  const wide = 24 + 18 * Math.max(1, lanes.length), step = 22, x = (lane) => 14 + 18 * lane, y = (row) => 14 + step * row;
  const svg = draw("svg", { width: wide + 330, height: step * records.length + 12, role: "img", "aria-label": "the graph of the newest records" });
  for (const [from, to] of edges) {
    const middle = y(from.row) + step;
    svg.append(draw("path", { class: "edge", d: from.lane === to.lane ? `M${x(from.lane)} ${y(from.row)}V${y(to.row)}` : `M${x(from.lane)} ${y(from.row)}C${x(from.lane)} ${middle} ${x(to.lane)} ${y(from.row)} ${x(to.lane)} ${middle}V${y(to.row)}` }));
  }
  for (const node of nodes) {
    const circle = draw("circle", { class: node.record.parents.length ? "node" : "node root", cx: x(node.lane), cy: y(node.row), r: 5.5 });
    circle.append(draw("title", {}, node.record.id)); circle.addEventListener("click", () => reveal(node.record));
    svg.append(circle, draw("text", { x: wide, y: y(node.row) + 4 }, node.record.time.slice(0, 16).replace("T", " ") + "  " + visible(node.record.kind)));
  }
  at("graph").append(svg);
  at("graph-of").textContent = all.length > DRAWN ? `Graph: the newest ${DRAWN}` : "Graph";
}

function types() {
  const counts = new Map();
  for (const record of all) counts.set(record.kind, (counts.get(record.kind) || 0) + 1);
  const ranked = [...counts].sort((left, right) => right[1] - left[1]);
  for (const [kind, count] of ranked.slice(0, 12)) {
    const box = make("div", undefined, "bar"), line = make("div"), bar = make("progress");
    bar.max = ranked[0][1]; bar.value = count; bar.setAttribute("aria-label", visible(kind));
    line.append(make("span", visible(kind)), make("small", number(count))); box.append(line, bar); at("types").append(box);
  }
  for (const [kind] of ranked.slice(0, 500)) { const option = make("option", visible(kind)); option.value = kind; at("kind").append(option); }
}

function rows() {
  const list = at("list"), holder = at("rows");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 6), last = Math.min(shown.length, first + Math.ceil(list.clientHeight / ROW) + 12);
  holder.style.height = shown.length * ROW + "px";
  const made = [];
  for (let index = first; index < last; index++) {
    const record = all[shown[index]], row = make("div", undefined, "row");
    row.style.top = index * ROW + "px"; row.id = "row-" + index;
    row.setAttribute("role", "option"); row.setAttribute("aria-selected", String(index === selected));
    row.setAttribute("aria-setsize", String(shown.length)); row.setAttribute("aria-posinset", String(index + 1));
    row.append(make("time", record.time.slice(0, 19).replace("T", " ")), make("i", visible(record.kind)), make("code", visible(record.start)));
    row.addEventListener("click", () => select(index)); made.push(row);
  }
  holder.replaceChildren(...made);
  if (selected >= 0) list.setAttribute("aria-activedescendant", "row-" + selected); else list.removeAttribute("aria-activedescendant");
}

function select(index) {
  if (index < 0 || index >= shown.length) return;
  selected = index;
  const list = at("list"), top = index * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  rows(); detail(all[shown[index]]);
}

function reveal(record) {
  if (!shown.includes(record.index)) { at("search").value = ""; at("kind").value = ""; shown = all.map((_, index) => index); counted(); }
  select(shown.indexOf(record.index)); at("list").focus();
}

function detail(record) {
  const box = at("detail"), facts = make("dl"), text = payload(record);
  for (const [name, value] of [["id", record.id], ["type", visible(record.kind)], ["time", record.time], ["sha", record.sha], ["shard", record.shard + " line " + record.line]]) facts.append(make("dt", name), make("dd", value));
  const parents = make("dd");
  for (const sha of record.parents) {
    const known = bySha.get(sha);
    if (!known) { parents.append(make("span", sha.slice(7, 19) + " (not here) ")); continue; }
    const button = make("button", sha.slice(7, 19)); button.addEventListener("click", () => reveal(known)); parents.append(button);
  }
  if (!record.parents.length) parents.textContent = "none";
  facts.append(make("dt", "parents"), parents);
  let pretty = text;
  try { pretty = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as it is stored */ }
  box.replaceChildren(facts, make("pre", visible(pretty))); box.scrollTop = 0;
}

const counted = () => { at("count").textContent = number(shown.length) + " of " + number(all.length); };

async function filter() {
  const mine = ++search, text = at("search").value.toLowerCase(), kind = at("kind").value;
  let found = [], since = performance.now();
  for (let index = 0; index < all.length; index++) {
    const record = all[index];
    if ((!kind || record.kind === kind) && (!text || record.id.includes(text) || record.sha.includes(text) || record.kind.toLowerCase().includes(text) || payload(record).toLowerCase().includes(text))) found.push(index);
    if (index % 64 === 0 && performance.now() - since > 24) {
      at("count").textContent = "searching … " + number(found.length);
      await pause();
      if (mine !== search) return;
      since = performance.now();
    }
  }
  shown = found; selected = -1; at("list").scrollTop = 0; counted(); rows();
  document.body.dataset.searched = String(mine);
}

async function start() {
  overview();
  let since = performance.now();
  for (const element of document.querySelectorAll("script.block")) {
    const block = blocks.push(element) - 1, data = load(block);
    data.rows.forEach(([id, sha, kind, time, parents, shard, line], place) => {
      const record = { id, sha, kind, time, parents, shard: data.shards[shard], line, block, place, start: data.payloads[place].slice(0, 120), index: all.length };
      all.push(record); bySha.set(sha, record);
    });
    if (performance.now() - since > 24) { at("count").textContent = "reading … " + number(all.length); await pause(); since = performance.now(); }
  }
  shown = all.map((_, index) => index);
  counted(); rows(); await pause();
  overTime(); await pause(); types(); await pause(); graph();
  let waiting = 0;
  at("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 150); });
  at("kind").addEventListener("change", filter);
  at("list").addEventListener("scroll", () => requestAnimationFrame(rows));
  at("list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault(); select(Math.max(0, Math.min(shown.length - 1, selected + step)));
  });
  addEventListener("resize", rows);
  document.body.dataset.ready = "yes";
}
start();
