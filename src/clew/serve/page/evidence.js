// Evidence as a graph, drawn by Cytoscape.js: layers away from what was asked about. Nodes that are joined to the same
// others in the same way stand in one box, so that names stay readable; a drawing is as large as it needs, and scrolls.

import cytoscape from "./vendor/cytoscape.esm.min.mjs";
import { get, of, post } from "./api.js";
import { browseAddress, count, el, factsOf, fill, name, nodeLabel, propertyText, relationLabel, say, shown, tripleLine } from "./dom.js";

const MOST_NODES = 60;
/** Nodes that are joined alike, from which on they are in a box. */
const LEAST_BOXED = 4;
const FONT = 13;
const EDGE_FONT = 12;
const HEIGHT = 30;
const MARGIN = 24;
/** Room for what joins a node with itself, and for edges within a layer. */
const LOOP = 60;
const ASIDE = 60;
const LONGEST_NAME = 30;
const LONGEST_NOTE = 28;
/** Edges that are drawn with their properties beside them. */
const MOST_NOTED = 8;
const EXPANDED = 12;
const COLOURS = ["#3f7fbf", "#c77b1b", "#3d9455", "#9b62b5", "#2a9d9d", "#a8893a", "#c4608f", "#6d7f8c"];

const colour = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, size) {
  pen.font = `600 ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
  return Math.max(...text.split("\n").map((line) => pen.measureText(line).width));
}

function short(text, most) {
  const safe = shown(text);
  return safe.length > most ? `${safe.slice(0, most - 1)}…` : safe;
}

function looks() {
  const ink = colour("--ink");
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  return [
    {
      selector: "node",
      style: {
        label: "data(label)", color: ink, "font-size": FONT, "font-family": font, "text-valign": "center", "text-halign": "center",
        shape: "round-rectangle", width: "data(width)", height: HEIGHT, "background-color": "data(colour)", "background-opacity": 0.16,
        "border-width": 1.5, "border-color": "data(colour)",
      },
    },
    { selector: "node.asked", style: { "border-width": 5, "border-style": "double" } },
    { selector: "node.answer", style: { "border-width": 3, "font-weight": 600 } },
    {
      selector: "node.box",
      style: { "text-valign": "bottom", "text-margin-y": 3, "background-color": colour("--paper"), "background-opacity": 0.7, "border-color": colour("--border"), "border-width": 1, "border-style": "solid", padding: 10, color: colour("--quiet"), "font-size": EDGE_FONT, "font-weight": 400 },
    },
    {
      selector: "edge",
      style: {
        label: "data(label)", color: ink, "font-size": EDGE_FONT, "font-family": font, "text-wrap": "wrap",
        "text-background-color": colour("--card"), "text-background-opacity": 0.95, "text-background-padding": 2,
        width: 1.6, "line-color": colour("--line"), "target-arrow-color": colour("--line"), "target-arrow-shape": "triangle", "curve-style": "bezier", "control-point-step-size": 56,
      },
    },
    { selector: "edge.within", style: { "curve-style": "unbundled-bezier", "control-point-distances": "data(side)", "control-point-weights": 0.5 } },
    { selector: "edge.refuted", style: { "line-color": colour("--refuted"), "target-arrow-color": colour("--refuted"), "line-style": "dashed" } },
    { selector: "edge.supported", style: { "line-color": colour("--supported"), "target-arrow-color": colour("--supported"), "line-style": "solid" } },
    { selector: "edge.chosen", style: { "line-color": colour("--accent"), "target-arrow-color": colour("--accent"), width: 3 } },
    { selector: "node.chosen", style: { "background-opacity": 0.4 } },
    { selector: ".faded", style: { opacity: 0.45 } },
  ];
}

const keyOf = ({ ids }) => JSON.stringify(ids);
const endsOf = ({ ids: [head, , tail] }) => [head, tail];

/** The triples of whole groups, until there are too many nodes; one that is supported anywhere is never refuted. */
function chosenEdges(groups) {
  const edges = new Map();
  const nodes = new Set();
  let drawn = 0;
  for (const { facts, mark } of groups) {
    const more = facts.flatMap(endsOf).filter((node) => !nodes.has(node));
    if (nodes.size && nodes.size + new Set(more).size > MOST_NODES) break;
    for (const fact of facts) if (edges.get(keyOf(fact))?.mark !== "supported") edges.set(keyOf(fact), { fact, mark });
    for (const node of more) nodes.add(node);
    drawn += 1;
  }
  return { edges, drawn };
}

/** Nodes that are joined to the same others in the same way, as boxes; all others are items of one node. */
function itemsOf(nodes, edges, asked) {
  const joined = new Map(nodes.map((node) => [node, []]));
  for (const { fact: { ids: [head, relation, tail] } } of edges) {
    joined.get(head).push(JSON.stringify(["out", relation, tail]));
    joined.get(tail).push(JSON.stringify(["in", relation, head]));
  }
  const alike = new Map();
  for (const node of nodes) {
    const key = asked.has(node) ? JSON.stringify([node]) : joined.get(node).sort().join(" ");
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(node);
  }
  return [...alike.values()].flatMap((group) => (group.length >= LEAST_BOXED ? [group] : group.map((node) => [node])));
}

/** Layers of items by their distance from those that are asked about, each in order of its neighbours before it. */
function layersOf(items, joins, asked) {
  const near = items.map(() => new Set());
  for (const [a, b] of joins) {
    near[a].add(b);
    near[b].add(a);
  }
  const layer = new Map();
  const rest = () => items.map((_, at) => at).filter((at) => !layer.has(at));
  let ring = rest().filter((at) => items[at].some((node) => asked.has(node)));
  while (layer.size < items.length) {
    if (!ring.length) ring = [rest().reduce((a, b) => (near[b].size > near[a].size ? b : a))];
    for (let far = 0; ring.length; far += 1) {
      for (const at of ring) layer.set(at, far);
      ring = [...new Set(ring.flatMap((at) => [...near[at]]))].filter((at) => !layer.has(at));
    }
  }
  const layers = [];
  for (const at of items.keys()) (layers[layer.get(at)] ??= []).push(at);
  const place = new Map();
  for (const one of layers) {
    const mean = (at) => {
      const before = [...near[at]].filter((other) => place.has(other)).map((other) => place.get(other));
      return before.length ? before.reduce((a, b) => a + b, 0) / before.length : 0;
    };
    const means = new Map(one.map((at) => [at, mean(at)]));
    one.sort((a, b) => means.get(a) - means.get(b) || a - b);
    one.forEach((at, index) => place.set(at, (index + 0.5) / one.length));
  }
  return layers;
}

/**
 * Sizes and places of items in a frame of a width: layers side by side where they fit, those of one item each else below
 * each other; null where only notes at the edges make it too wide.
 */
function arrange(items, layers, sizeOf, gaps, width) {
  const chain = layers.every((layer) => layer.length === 1);
  let wide = null;
  for (const columns of chain ? [3] : [3, 2, 1]) {
    wide = sideBySide(items, layers, sizeOf(items, columns), gaps);
    if (wide.width <= width) return wide;
  }
  if (chain) return below(items, layers, sizeOf(items, 3, width - 2 * MARGIN), width);
  return gaps.noted ? null : wide;
}

function sideBySide(items, layers, sizes, { across, between, above, aside }) {
  const heights = layers.map((layer) => layer.reduce((sum, at) => sum + sizes[at].height + between, -between));
  const height = Math.max(...heights);
  const place = [];
  let left = MARGIN;
  layers.forEach((layer, far) => {
    const widest = Math.max(...layer.map((at) => sizes[at].width));
    // A column that is less high than the others spreads, at most to half as far again.
    const step = layer.length > 1 ? Math.min(between * 2, (height - heights[far]) / (layer.length - 1)) : 0;
    let top = above + (height - heights[far] - step * (layer.length - 1)) / 2;
    for (const at of layer) {
      place[at] = { x: left + widest / 2, y: top + sizes[at].height / 2 };
      top += sizes[at].height + between + step;
    }
    left += widest + across + (aside(layer) ? ASIDE : 0);
  });
  return { place, sizes, width: left - across + MARGIN, height: height + above + MARGIN };
}

function below(items, layers, sizes, width) {
  const place = [];
  const widest = Math.max(width, ...sizes.map((size) => size.width + 2 * MARGIN));
  let top = MARGIN;
  for (const [at] of layers) {
    place[at] = { x: widest / 2, y: top + sizes[at].height / 2 };
    top += sizes[at].height + 76;
  }
  return { place, sizes, width: widest, height: top - 76 + MARGIN };
}

/**
 * Draw groups of triples (`{facts, of, mark}`) in a frame with buttons; `asked` are names or ids that the question has,
 * `answers` ids; `ask(name)` is called to ask about a node. Without a `graph` nodes cannot be opened, and have no type.
 * Returns `{frame, choose(facts)}`.
 */
export function evidenceGraph(groups, { graph = null, asked = new Set(), answers = new Set(), ask = null, label = "Evidence" }) {
  let { edges, drawn } = chosenEdges(groups);
  const hidden = new Set();
  const hiddenTypes = new Set();
  const names = new Map();
  const types = new Map();
  const typeOrder = [];
  const before = [];
  let chosen = [];
  let drawing = null;
  for (const { facts } of groups) facts.forEach(learnNames);

  const canvas = el("div", { class: "canvas", role: "img", "aria-label": `${label}: ${count(edges.size)} triples, listed beside` });
  const told = el("div", { class: "told", role: "status" }, el("span", { class: "quiet" }, graph === null ? "" : "Click a node or an edge."));
  const legend = el("div", { class: "legend buttons", role: "group", "aria-label": "Types" });
  const list = el("details", { class: "drawn-names" });
  const undo = el("button", { type: "button", disabled: true, onclick: () => back() }, "Undo");
  const note = el("span", { class: "quiet" });
  const frame = el(
    "section",
    { class: "evidence card", "aria-label": label },
    legend,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}, drawn` }, canvas),
    told,
    list,
    el("div", { class: "buttons" }, undo, el("button", { type: "button", onclick: save }, "PNG"), note),
  );

  function learnNames({ ids, names: [head, , tail] }) {
    names.set(ids[0], head);
    names.set(ids[2], tail);
  }

  const isAsked = (id) => asked.has(id) || asked.has(names.get(id));
  const typeOf = (id) => types.get(id) ?? "";

  function colourOf(id) {
    const type = typeOf(id);
    return type === "" ? colour("--line") : COLOURS[typeOrder.indexOf(type) % COLOURS.length];
  }

  function visible() {
    const isShown = (id) => !hidden.has(id) && !hiddenTypes.has(typeOf(id));
    const some = [...edges.values()].filter(({ fact }) => endsOf(fact).every(isShown));
    return { some, nodes: [...new Set(some.flatMap(({ fact }) => endsOf(fact)))] };
  }

  function draw() {
    const { some, nodes } = visible();
    const items = itemsOf(nodes, some, new Set(nodes.filter(isAsked)));
    const itemOf = new Map(items.flatMap((item, at) => item.map((node) => [node, at])));
    let lines = linesOf(some, itemOf);
    const layers = layersOf(items, lines.map((line) => [line.head, line.tail]), new Set(nodes.filter(isAsked)));
    const above = lines.some((line) => line.head === line.tail && items[line.head].length === 1) ? LOOP : MARGIN;
    const layerOf = new Map(layers.flatMap((layer, far) => layer.map((at) => [at, far])));
    for (const line of lines) line.within = line.head !== line.tail && layerOf.get(line.head) === layerOf.get(line.tail);
    const aside = (layer) => lines.some((line) => line.within && layer.includes(line.head));
    const room = canvas.parentElement.clientWidth;
    const gapsOf = (noted) => ({ across: Math.max(0, ...lines.map((line) => widthOf(line.label, EDGE_FONT))) + 54, between: noted ? 40 : 28, noted, above, aside });
    const noted = lines.some((line) => line.label.includes("\n"));
    let arranged = arrange(items, layers, sizesOf, gapsOf(noted), room);
    if (arranged === null) {
      lines = lines.map((line) => ({ ...line, label: line.label.split("\n")[0] }));
      arranged = arrange(items, layers, sizesOf, gapsOf(false), room);
    }
    const { place, sizes, width, height } = arranged;
    canvas.style.inlineSize = `${Math.max(width, room)}px`;
    canvas.style.blockSize = `${Math.max(180, height)}px`;
    drawing?.destroy();
    drawing = cytoscape({
      container: canvas,
      elements: [...items.flatMap((item, at) => itemElements(item, at, place[at], sizes[at])), ...lines.map((line) => lineElement(line, items, place, sizes))],
      style: looks(),
      layout: { name: "preset", fit: false },
      userZoomingEnabled: false,
      userPanningEnabled: false,
      boxSelectionEnabled: false,
    });
    drawing.pan({ x: Math.max(0, (canvas.clientWidth - width) / 2), y: Math.max(0, (canvas.clientHeight - height) / 2) });
    drawing.on("tap", "edge", (event) => fill(told, event.target.data("facts").slice(0, 3).map((fact) => el("div", {}, tripleLine(fact, graph)))));
    if (graph !== null) drawing.on("tap", "node", (event) => event.target.isParent() || open(event.target.id()));
    frame.drawing = drawing;
    frame.dataset.drawn = "yes";
    light();
    drawList(nodes);
    note.textContent = drawn < groups.length ? `${count(drawn)} of ${count(groups.length)} are drawn; the table has all.` : "";
    undo.disabled = !before.length;
  }

  /** One line for the triples of one relation between two items. */
  function linesOf(some, itemOf) {
    const lines = new Map();
    for (const { fact, mark } of some) {
      const [head, tail] = endsOf(fact).map((end) => itemOf.get(end));
      const key = JSON.stringify([head, fact.ids[1], tail]);
      if (!lines.has(key)) lines.set(key, { head, tail, facts: [], marks: new Set(), key });
      lines.get(key).facts.push(fact);
      lines.get(key).marks.add(mark);
    }
    const made = [...lines.values()];
    for (const line of made) {
      const [fact] = line.facts;
      const said = line.facts.length === 1 && made.length <= MOST_NOTED ? propertyText(fact.properties) : "";
      line.label = short(relationLabel(fact.names[1]), LONGEST_NAME) + (said ? `\n${short(said, LONGEST_NOTE)}` : "");
    }
    return made;
  }

  function sizesOf(items, most, within = Infinity) {
    return items.map((item) => {
      const cell = Math.max(...item.map((node) => nodeWidth(node)));
      if (item.length === 1) return { width: cell, height: HEIGHT };
      const fits = Math.max(1, Math.floor((within - 20) / (cell + 8)));
      const columns = Math.min(fits, most, Math.ceil(item.length / 9));
      const rows = Math.ceil(item.length / columns);
      return { width: columns * (cell + 8) + 12, height: rows * (HEIGHT + 6) + 38, cell, columns, rows };
    });
  }

  const nodeText = (id) => short(nodeLabel(names.get(id)), LONGEST_NAME);
  const nodeWidth = (id) => widthOf(nodeText(id), FONT) + 20;

  function itemElements(item, at, place, size) {
    if (item.length === 1) return [nodeElement(item[0], place, nodeWidth(item[0]))];
    const box = `box ${at}`;
    const kinds = new Set(item.map(typeOf));
    const type = kinds.size === 1 ? nodeLabel([...kinds][0]) : "";
    const { cell, columns, rows } = size;
    const cells = item.map((node, index) => {
      const x = place.x + ((index % columns) - (columns - 1) / 2) * (cell + 8);
      const y = place.y - 8 + (Math.floor(index / columns) - (rows - 1) / 2) * (HEIGHT + 6);
      return nodeElement(node, { x, y }, cell, box);
    });
    return [{ data: { id: box, label: `${count(item.length)}${type ? ` × ${shown(type)}` : ""}`, width: 0, colour: colour("--border") }, classes: "box" }, ...cells];
  }

  function nodeElement(id, position, width, parent = undefined) {
    const marks = [isAsked(id) && "asked", answers.has(id) && "answer"].filter(Boolean).join(" ");
    return { data: { id, parent, label: nodeText(id), width, colour: colourOf(id) }, position, classes: marks };
  }

  function lineElement({ head, tail, facts, marks, key, label: text, within }, items, place, sizes) {
    const end = (at) => (items[at].length === 1 ? items[at][0] : `box ${at}`);
    const mark = marks.has("supported") ? "supported" : marks.has("refuted") ? "refuted" : "";
    // An edge within a layer goes around what stands between its ends, to the right of them.
    const side = within ? (place[tail].y > place[head].y ? -1 : 1) * (Math.max(sizes[head].width, sizes[tail].width) + ASIDE) : 0;
    return { data: { id: key, source: end(head), target: end(tail), label: text, facts, side }, classes: within ? `${mark} within` : mark };
  }

  /** Put the chosen triples in front, the others back. */
  function light() {
    const wanted = new Set(chosen.map(keyOf));
    const ends = new Set(chosen.flatMap(endsOf));
    const lit = drawing.edges().filter((edge) => edge.data("facts").some((fact) => wanted.has(keyOf(fact))));
    drawing.elements().removeClass("chosen faded");
    if (!lit.length) return;
    const nodes = drawing.nodes().filter((node) => ends.has(node.id()));
    drawing.edges().not(lit).addClass("faded");
    drawing.nodes().filter((node) => !node.isParent()).not(nodes).addClass("faded");
    lit.union(nodes).addClass("chosen");
  }

  /** The names that are drawn, for the keyboard and for those who do not see the drawing. */
  function drawList(nodes) {
    const one = (id) => el("li", {}, graph === null ? name(nodeLabel(id)) : el("button", { type: "button", onclick: () => open(id) }, name(nodeLabel(names.get(id)))));
    fill(list, el("summary", {}, `${count(nodes.length)} names, as a list`), el("ul", { class: "chips" }, nodes.map(one)));
  }

  function drawLegend() {
    const counted = new Map();
    for (const id of visibleOrHidden()) counted.set(typeOf(id), (counted.get(typeOf(id)) ?? 0) + 1);
    if (counted.size < 2 && !hiddenTypes.size) return;
    fill(
      legend,
      [...counted].map(([type, number]) => {
        const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.background = type === "" ? colour("--line") : COLOURS[typeOrder.indexOf(type) % COLOURS.length];
        const toggle = () => {
          if (!hiddenTypes.delete(type)) hiddenTypes.add(type);
          drawLegend();
          draw();
        };
        return el("button", { type: "button", "aria-pressed": String(!hiddenTypes.has(type)), onclick: toggle }, swatch, type === "" ? "value" : name(nodeLabel(type)), el("small", {}, ` ${count(number)}`));
      }),
    );
  }

  const visibleOrHidden = () => new Set([...edges.values()].flatMap(({ fact }) => endsOf(fact)));

  async function learnTypes() {
    const ids = [...visibleOrHidden()].filter((id) => !types.has(id));
    if (graph === null || !ids.length) return;
    try {
      const { rows } = await post(of(graph, "table"), { entities: ids, columns: [], limit: ids.length });
      rows.forEach((row, at) => types.set(ids[at], row.types[0] ?? ""));
    } catch (problem) {
      fill(told, shown(problem.message));
    }
    for (const type of types.values()) if (type && !typeOrder.includes(type)) typeOrder.push(type);
    drawLegend();
    if (drawing) draw();
  }

  function remember() {
    before.push({ edges: new Map(edges), hidden: new Set(hidden) });
  }

  function back() {
    const last = before.pop();
    edges = last.edges;
    hidden.clear();
    for (const id of last.hidden) hidden.add(id);
    draw();
    drawLegend();
    say("Undone");
  }

  function open(id) {
    const type = typeOf(id);
    fill(
      told,
      name(nodeLabel(names.get(id)), { title: shown(id) }),
      type ? el("span", { class: "quiet" }, nodeLabel(type)) : null,
      el("button", { type: "button", onclick: () => expand(id) }, "Expand"),
      el("button", { type: "button", onclick: () => hide(id) }, "Hide"),
      ask ? el("button", { type: "button", onclick: () => ask(names.get(id)) }, "Ask about it") : null,
      el("a", { class: "button", href: browseAddress(graph, { entity: id }) }, "Browse"),
    );
    chosen = [...edges.values()].map(({ fact }) => fact).filter((fact) => endsOf(fact).includes(id));
    light();
  }

  function hide(id) {
    remember();
    hidden.add(id);
    fill(told, name(nodeLabel(names.get(id))), " is hidden");
    draw();
  }

  async function expand(id) {
    let around;
    try {
      around = await get(of(graph, "entities", id), { limit: 4 });
    } catch (problem) {
      fill(told, shown(problem.message));
      return;
    }
    const fresh = around.groups.flatMap((group) => group.nodes.map((node) => factOf(around, group, node))).filter((fact) => !edges.has(keyOf(fact))).slice(0, EXPANDED);
    remember();
    for (const fact of fresh) {
      learnNames(fact);
      edges.set(keyOf(fact), { fact });
      for (const end of endsOf(fact)) hidden.delete(end);
    }
    draw();
    fill(told, `${count(fresh.length)} more are drawn of ${count(around.triples)} triples at `, name(nodeLabel(around.label)));
    await learnTypes();
  }

  function save() {
    const blob = drawing.png({ output: "blob", full: true, scale: 2, bg: colour("--card") });
    const link = el("a", { href: URL.createObjectURL(blob), download: "evidence.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    say("Saved as PNG");
  }

  // Drawn in the frame after the text, which is there at once.
  requestAnimationFrame(() => {
    if (!frame.isConnected || !edges.size) return;
    draw();
    performance.mark("clew-drawn");
    learnTypes();
  });
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (drawing && width && Math.abs(contentRect.width - width) > 40) draw();
    width = contentRect.width;
  }).observe(frame);
  const themed = () =>
    frame.isConnected ? drawing && draw() : document.removeEventListener("clew-theme", themed);
  document.addEventListener("clew-theme", themed);

  return {
    frame,
    /** Put the triples of a group in front, drawn first where they are not drawn yet. */
    choose(wanted) {
      chosen = wanted;
      if (wanted.some((fact) => !edges.has(keyOf(fact)))) {
        ({ edges, drawn } = chosenEdges([{ facts: wanted }, ...groups]));
        if (drawing) {
          draw();
          learnTypes();
        }
      } else if (drawing) light();
    },
  };
}

/** A triple of what is around an entity. */
export function factOf(around, { relation, label, direction }, node) {
  const [here, there] = [[around.entity, around.label], [node.entity, node.label]];
  const [head, tail] = direction === "out" ? [here, there] : [there, here];
  const [fact] = factsOf({ triples: [[head[1], label, tail[1]]], ids: [[head[0], relation, tail[0]]], properties: [node.properties ?? []] });
  return fact;
}
