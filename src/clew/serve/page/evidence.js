// Evidence as a graph, drawn by Cytoscape.js: layers away from what was asked about. Nodes that are joined to the same
// others in the same way stand in one box, so that names stay readable; a drawing is as high as it needs.

import cytoscape from "./vendor/cytoscape.esm.min.mjs";
import { get, of, post } from "./api.js";
import { CAPTION, HEIGHT, arrange, cells } from "./arrange.js";
import { browseAddress, count, el, factsOf, fill, name, nodeLabel, propertyText, relationLabel, saveFile, say, shown, tripleLine } from "./dom.js";
import { svgOf } from "./svg.js";

const MOST_NODES = 60;
const FONT = 13;
const EDGE_FONT = 12;
const LONGEST_NAME = 30;
/** Edges that are drawn with their properties beside them, a line each. */
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

/** What the way of an edge says of it. */
const way = (part) => (edge) => edge.data("way")[part];

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
    { selector: "edge.aside", style: { "loop-direction": "90deg", "loop-sweep": "-40deg", "control-point-step-size": "data(reach)", "text-margin-x": "data(beside)" } },
    { selector: "edge.way", style: { "curve-style": "straight", "source-endpoint": way("start"), "target-endpoint": way("end") } },
    { selector: "edge.turning", style: { "curve-style": "segments", "edge-distances": "endpoints", "segment-weights": way("weights"), "segment-distances": way("distances"), "segment-radii": 0 } },
    { selector: "edge.said-at-target", style: { "target-label": way("label"), "target-text-offset": way("offset") } },
    { selector: "edge.said-at-source", style: { "source-label": way("label"), "source-text-offset": way("offset") } },
    { selector: "edge.refuted", style: { "line-color": colour("--refuted"), "target-arrow-color": colour("--refuted"), "line-style": "dashed" } },
    { selector: "edge.supported", style: { "line-color": colour("--supported"), "target-arrow-color": colour("--supported"), "line-style": "solid" } },
    { selector: "edge.chosen", style: { "line-color": colour("--accent"), "target-arrow-color": colour("--accent"), width: 3 } },
    { selector: "node.chosen", style: { "background-opacity": 0.4 } },
    { selector: ".faded", style: { opacity: 0.7 } },
  ];
}

const keyOf = ({ ids }) => JSON.stringify(ids);
const endsOf = ({ ids: [head, , tail] }) => [head, tail];

/** The triples of whole groups, until there are too many nodes; one that is supported anywhere is never refuted. */
function chosenEdges(groups) {
  const edges = new Map();
  const nodes = new Set();
  let many = 0;
  for (const { facts, mark } of groups) {
    const more = facts.flatMap(endsOf).filter((node) => !nodes.has(node));
    if (nodes.size && nodes.size + new Set(more).size > MOST_NODES) break;
    for (const fact of facts) if (edges.get(keyOf(fact))?.mark !== "supported") edges.set(keyOf(fact), { fact, mark });
    for (const node of more) nodes.add(node);
    many += 1;
  }
  return { edges, many };
}

/** A way of points as Cytoscape takes it: its ends from the middles of the nodes, its corners from the line between the ends. */
function wayOf({ points, label, offset }, head, tail) {
  const [start, end] = [points[0], points.at(-1)];
  const [dx, dy] = [end.x - start.x, end.y - start.y];
  const long = Math.hypot(dx, dy);
  const corners = points.slice(1, -1).map(({ x, y }) => [x - start.x, y - start.y]);
  return {
    start: `${start.x - head.x}px ${start.y - head.y}px`,
    end: `${end.x - tail.x}px ${end.y - tail.y}px`,
    weights: corners.map(([x, y]) => (x * dx + y * dy) / long ** 2),
    distances: corners.map(([x, y]) => (y * dx - x * dy) / long),
    label,
    offset,
  };
}

/**
 * Draw groups of triples (`{facts, mark}`) in a frame with buttons; `asked` are names or ids that the question has,
 * `answers` ids; `ask(name)` is called to ask about a node. Without a `graph` nodes cannot be opened, and have no type.
 * Returns `{frame, choose(facts)}`.
 */
export function evidenceGraph(groups, { graph = null, asked = new Set(), answers = new Set(), ask = null, label = "Evidence" }) {
  let { edges, many } = chosenEdges(groups);
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
    el("div", { class: "buttons" }, undo, ["PNG", "SVG"].map((kind) => el("button", { type: "button", onclick: () => save(kind) }, kind)), note),
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

  let room = 0;
  function draw() {
    const { some, nodes } = visible();
    room = canvas.parentElement.clientWidth;
    const facts = some.map(({ fact }) => fact);
    const labelWidth = ({ label: text }) => widthOf(text, EDGE_FONT);
    const drawn = arrange({ nodes, facts, asked: new Set(nodes.filter(isAsked)), linesOf: (items) => linesOf(some, items), widthOf: nodeWidth, labelWidth, room });
    const { items, lines, place, sizes, width, height } = drawn;
    canvas.style.inlineSize = `${Math.max(width, room)}px`;
    canvas.style.blockSize = `${Math.max(180, height)}px`;
    drawing?.destroy();
    drawing = cytoscape({
      container: canvas,
      elements: [...items.flatMap((item, at) => itemElements(item, at, place[at], sizes[at])), ...lines.map((line) => lineElement(line, items, place))],
      style: looks(),
      layout: { name: "preset", fit: false },
      userZoomingEnabled: false,
      userPanningEnabled: false,
      boxSelectionEnabled: false,
    });
    // What is higher than the window does not stay in it while the table scrolls.
    frame.style.position = frame.offsetHeight > innerHeight ? "static" : "";
    drawing.pan({ x: Math.max(0, (canvas.clientWidth - width) / 2), y: 0 });
    drawing.on("tap", "edge", (event) => fill(told, event.target.data("facts").slice(0, 3).map((fact) => el("div", {}, tripleLine(fact, graph)))));
    if (graph !== null) drawing.on("tap", "node", (event) => event.target.isParent() || open(event.target.id()));
    frame.drawing = drawing;
    frame.dataset.drawn = "yes";
    light();
    drawList(nodes);
    note.textContent = many < groups.length ? `${count(many)} of ${count(groups.length)} are drawn; the table has all.` : "";
    undo.disabled = !before.length;
  }

  /** One line for the triples of one relation between two items. */
  function linesOf(some, items) {
    const itemOf = new Map(items.flatMap((item, at) => item.map((node) => [node, at])));
    const lines = new Map();
    for (const { fact, mark } of some) {
      const [head, tail] = endsOf(fact).map((end) => itemOf.get(end));
      const key = JSON.stringify([head, fact.ids[1], tail]);
      if (!lines.has(key)) lines.set(key, { head, relation: fact.ids[1], tail, facts: [], marks: new Set(), key });
      lines.get(key).facts.push(fact);
      lines.get(key).marks.add(mark);
    }
    const made = [...lines.values()];
    for (const line of made) {
      const [fact] = line.facts;
      const said = line.facts.length === 1 && made.length <= MOST_NOTED ? propertyText(fact.properties) : [];
      line.label = [relationLabel(fact.names[1]), ...said].map((text) => short(text, LONGEST_NAME)).join("\n");
    }
    return made;
  }

  const nodeText = (id) => short(nodeLabel(names.get(id)), LONGEST_NAME);
  const nodeWidth = (id) => widthOf(nodeText(id), FONT) + 20;

  function itemElements(item, at, place, size) {
    if (item.length === 1) return [nodeElement(item[0], place, size.width)];
    const box = `box ${at}`;
    const kinds = new Set(item.map(typeOf));
    const type = kinds.size === 1 ? nodeLabel([...kinds][0]) : "";
    const places = cells(place, size, item.length);
    const inside = item.map((node, index) => nodeElement(node, places[index], size.cell, box));
    return [{ data: { id: box, label: `${count(item.length)}${type ? ` × ${shown(type)}` : ""}`, width: 0, colour: colour("--border") }, classes: "box" }, ...inside];
  }

  function nodeElement(id, position, width, parent = undefined) {
    const marks = [isAsked(id) && "asked", answers.has(id) && "answer"].filter(Boolean).join(" ");
    return { data: { id, parent, label: nodeText(id), width, colour: colourOf(id) }, position, classes: marks };
  }

  function lineElement({ head, tail, facts, marks, key, label: text, side, reach, beside, way: points }, items, place) {
    const end = (at) => (items[at].length === 1 ? items[at][0] : `box ${at}`);
    // Cytoscape has the middle of a box in the middle of what is in it.
    const middle = (at) => ({ x: place[at].x, y: place[at].y - (items[at].length === 1 ? 0 : CAPTION / 2) });
    const way = points && wayOf(points, middle(head), middle(tail));
    const classes = [marks.has("supported") ? "supported" : marks.has("refuted") && "refuted", side && "within", reach && "aside", way && "way", way?.weights.length && "turning", way?.label && `said-at-${points.atTail ? "target" : "source"}`];
    return { data: { id: key, source: end(head), target: end(tail), label: text, facts, side, reach, beside, way }, classes: classes.filter(Boolean).join(" ") };
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
        return el("button", { type: "button", "aria-pressed": String(!hiddenTypes.has(type)), onclick: toggle }, swatch, type === "" ? "other" : name(nodeLabel(type)), el("small", {}, ` ${count(number)}`));
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

  /** Save the whole drawing, without the highlight. */
  function save(kind) {
    drawing.elements().removeClass("chosen faded");
    const blob = kind === "SVG" ? new Blob([svgOf(drawing, colour("--card"))], { type: "image/svg+xml" }) : drawing.png({ output: "blob", full: true, scale: 2, bg: colour("--card") });
    light();
    saveFile(blob, `evidence.${kind.toLowerCase()}`);
  }

  // Drawn in the frame after the text, which is there at once.
  requestAnimationFrame(() => {
    if (!frame.isConnected || !edges.size) return;
    draw();
    performance.mark("clew-drawn");
    learnTypes();
  });
  new ResizeObserver(() => drawing && Math.abs(canvas.parentElement.clientWidth - room) > 40 && draw()).observe(frame);
  const themed = () =>
    frame.isConnected ? drawing && draw() : document.removeEventListener("clew-theme", themed);
  document.addEventListener("clew-theme", themed);

  return {
    frame,
    /** Put the triples of a group in front, drawn first where they are not drawn yet. */
    choose(wanted) {
      chosen = wanted;
      if (wanted.some((fact) => !edges.has(keyOf(fact)))) {
        ({ edges, many } = chosenEdges([{ facts: wanted }, ...groups]));
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
