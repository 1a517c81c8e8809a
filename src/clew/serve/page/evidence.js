// Evidence as a graph: the triples of citations, drawn by Cytoscape.js, in columns away from what was asked about.

import cytoscape from "./vendor/cytoscape.esm.min.mjs";
import { get, of } from "./api.js";
import { count, el, exploreAddress, fill, name, nodeLabel, relationLabel, say, shown, tripleLine } from "./dom.js";

const COLUMN = 230;
const NARROW_COLUMN = 170;
const ROW = 62;
/** Nodes that can be drawn with names that can be read, in a wide frame and in a narrow one. */
const MOST_NODES = 20;
const MOST_NARROW = 10;
const MOST_TYPES = 30;
const TALLEST = 10;
const STAGGER = 170;
const AROUND = 8;
const LONGEST_LABEL = 34;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function short(text) {
  const safe = shown(text);
  return safe.length > LONGEST_LABEL ? `${safe.slice(0, LONGEST_LABEL - 1)}…` : safe;
}

function looks() {
  const ink = colour("--ink");
  return [
    {
      selector: "node",
      style: {
        label: "data(label)",
        color: ink,
        "font-size": 13,
        "font-family": "system-ui, sans-serif",
        "text-valign": "bottom",
        "text-margin-y": 4,
        "text-wrap": "wrap",
        "text-max-width": 150,
        "text-background-color": colour("--card"),
        "text-background-opacity": 0.85,
        "text-background-padding": 2,
        width: 18,
        height: 18,
        "background-color": colour("--node"),
        "border-width": 2,
        "border-color": colour("--node-edge"),
      },
    },
    { selector: "node.asked", style: { shape: "round-rectangle", "background-color": colour("--asked"), width: 24, height: 24 } },
    { selector: "node.answer", style: { "background-color": colour("--answer"), width: 24, height: 24 } },
    { selector: "node.type", style: { shape: "round-rectangle", width: 26, height: 26, "background-color": colour("--asked") } },
    {
      selector: "edge",
      style: {
        label: "data(label)",
        color: colour("--quiet"),
        "font-size": 11,
        "text-rotation": "autorotate",
        "text-background-color": colour("--card"),
        "text-background-opacity": 0.9,
        "text-background-padding": 2,
        width: 1.6,
        "line-color": colour("--line"),
        "target-arrow-color": colour("--line"),
        "target-arrow-shape": "triangle",
        "curve-style": "bezier",
      },
    },
    {
      selector: ".chosen",
      style: { "line-color": colour("--accent"), "target-arrow-color": colour("--accent"), "border-color": colour("--accent"), width: 3 },
    },
    { selector: "node.chosen", style: { width: 28, height: 28 } },
    { selector: ".faded", style: { opacity: 0.25 } },
    { selector: ".refuted", style: { "line-color": colour("--refuted"), "target-arrow-color": colour("--refuted") } },
    { selector: ".supported", style: { "line-color": colour("--supported"), "target-arrow-color": colour("--supported") } },
  ];
}

const edgeId = ([head, relation, tail]) => JSON.stringify([head, relation, tail]);

/** Which triples are drawn: those of whole citations, until there are too many nodes. */
function chosenTriples(groups, most) {
  const triples = new Map();
  const nodes = new Set();
  let drawn = 0;
  for (const group of groups) {
    const more = new Set(group.triples.flatMap(([head, , tail]) => [head, tail]));
    if (nodes.size && new Set([...nodes, ...more]).size > most) break;
    for (const triple of group.triples) triples.set(edgeId(triple), { triple, mark: group.mark, label: group.label });
    for (const node of more) nodes.add(node);
    drawn += 1;
  }
  return { triples: [...triples.values()], nodes: [...nodes], drawn };
}

/** Columns by the distance from what was asked about, rows in order of the neighbours before them. */
function places(nodes, triples, asked, narrow, width, height) {
  const near = new Map(nodes.map((node) => [node, new Set()]));
  for (const { triple: [head, , tail] } of triples) {
    near.get(head).add(tail);
    near.get(tail).add(head);
  }
  const column = new Map();
  let ring = nodes.filter((node) => asked.has(node));
  if (!ring.length && nodes.length) ring = [nodes.reduce((a, b) => (near.get(b).size > near.get(a).size ? b : a))];
  for (let far = 0; ring.length; far += 1) {
    for (const node of ring) column.set(node, far);
    ring = [...new Set(ring.flatMap((node) => [...near.get(node)]))].filter((node) => !column.has(node));
    if (!ring.length) {
      const rest = nodes.find((node) => !column.has(node));
      if (rest !== undefined) ring = [rest];
    }
  }
  const columns = [];
  for (const node of nodes) (columns[column.get(node)] ??= []).push(node);
  const row = new Map();
  const position = {};
  const kept = columns.filter(Boolean);
  // A narrow frame has columns below each other, as long as these are short.
  const below = narrow && Math.max(...kept.map((group) => group.length)) <= 3;
  // As wide as the frame is, for the height that the longest column takes.
  const tallest = (Math.min(TALLEST, Math.max(...kept.map((group) => group.length))) - 1) * ROW;
  const depth = (group) => (below ? 1 : Math.ceil(group.length / TALLEST));
  const gaps = Math.max(1, kept.length - 1);
  const staggered = kept.reduce((sum, group) => sum + (depth(group) - 1) * STAGGER, 0);
  const across = Math.max(narrow ? NARROW_COLUMN : COLUMN, (((tallest + ROW) * width) / height - staggered) / gaps - COLUMN / 2);
  let left = 0;
  kept.forEach((group, far) => {
    // A column that is too long to be read is several, each a little lower than the one before.
    const deep = depth(group);
    const mean = (node) => {
      const before = [...near.get(node)].filter((other) => row.has(other)).map((other) => row.get(other));
      return before.length ? before.reduce((a, b) => a + b, 0) / before.length : 0;
    };
    const ordered = group.map((node, index) => [mean(node), index, node]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const step = below ? 120 : ROW / deep;
    ordered.forEach(([, , node], index) => {
      const along = (index - (ordered.length - 1) / 2) * step;
      row.set(node, along);
      position[node] = below ? { x: along, y: far * 110 } : { x: left + (index % deep) * STAGGER, y: along };
    });
    left += across + (deep - 1) * STAGGER;
  });
  return position;
}

/** All nodes on an ellipse around one, in a shape like the frame's. */
function circle(nodes, middle, aspect) {
  const others = nodes.filter((node) => node !== middle);
  const radius = Math.max(150, others.length * 17);
  const position = { [middle]: { x: 0, y: 0 } };
  others.forEach((node, index) => {
    const angle = ((index + 0.5) / others.length) * 2 * Math.PI;
    position[node] = { x: radius * Math.max(1, aspect) * Math.cos(angle), y: radius * Math.sin(angle) };
  });
  return position;
}

/**
 * Draw groups of triples (`{triples, answer, mark}`) in a frame with buttons; `asked` are names in the question,
 * `ask(name)` is called to ask about a node. Returns `{frame, choose(triples)}`.
 */
export function evidenceGraph(groups, { graph, asked = new Set(), answers = new Set(), ask, label = "Evidence", schema = false, around = null }) {
  const narrow = matchMedia("(max-width: 700px)").matches;
  const most = schema ? MOST_TYPES : narrow ? MOST_NARROW : MOST_NODES;
  let { triples, nodes, drawn } = chosenTriples(groups, most);
  const canvas = el("div", { class: "canvas", role: "img", "aria-label": `${label}: ${triples.length} triples, listed beside` });
  const told = el("div", { class: "told" }, el("span", { class: "quiet" }, "Hover an edge or click a node."));
  const note = drawn < groups.length ? `${count(drawn)} of ${count(groups.length)} are drawn.` : "";
  let drawing = null;

  const frame = el(
    "section",
    { class: "evidence card", "aria-label": label },
    canvas,
    told,
    el(
      "div",
      { class: "buttons" },
      el("button", { type: "button", onclick: () => drawing?.fit(undefined, 24) }, "Fit"),
      el("button", { type: "button", onclick: () => save("png") }, "PNG"),
      el("button", { type: "button", onclick: () => save("svg") }, "SVG"),
      el("span", { class: "quiet" }, note),
    ),
  );

  function start() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const place = around ? circle(nodes, around, width / height) : places(nodes, triples, asked, narrow, width, height);
    drawing = cytoscape({
      container: canvas,
      elements: [
        ...nodes.map((node) => nodeElement(node, place[node])),
        ...triples.map(({ triple, mark, label }) => edgeElement(triple, mark, label)),
      ],
      style: looks(),
      layout: schema
        ? { name: "circle", padding: 30, spacingFactor: 1.3 }
        : { name: "preset", fit: true, padding: 30 },
      minZoom: 0.1,
      maxZoom: 2.5,
    });
    if (drawing.zoom() > 1.2) {
      drawing.zoom(1.2);
      drawing.center();
    }
    drawing.on("mouseover tap", "edge", (event) => tell(event.target.data("triple")));
    if (!schema) drawing.on("tap", "node", (event) => open(event.target));
    frame.dataset.drawn = "yes";
    performance.mark("clew-drawn");
  }

  function nodeElement(node, position) {
    const marks = [schema && "type", asked.has(node) && "asked", answers.has(node) && "answer"].filter(Boolean).join(" ");
    return { data: { id: node, label: short(nodeLabel(node)) }, position, classes: marks };
  }

  function edgeElement(triple, mark, label) {
    const [head, relation, tail] = triple;
    return { data: { id: edgeId(triple), source: head, target: tail, label: label ?? relationLabel(relation), triple }, classes: mark ?? "" };
  }

  /** Draw anew, with the group of some triples that are not drawn before the others. */
  function drawFirst(wanted) {
    const group = groups.find((one) => one.triples === wanted);
    if (!group || wanted.every((triple) => drawing.getElementById(edgeId(triple)).nonempty())) return;
    ({ triples, nodes, drawn } = chosenTriples([group, ...groups.filter((one) => one !== group)], most));
    drawing.destroy();
    start();
  }

  function tell(triple) {
    fill(told, tripleLine(triple));
  }

  async function open(node) {
    const id = node.id();
    fill(
      told,
      name(nodeLabel(id)),
      " ",
      ask ? el("button", { type: "button", onclick: () => ask(id) }, "Ask about it") : null,
      el("a", { class: "button", href: exploreAddress(graph, id) }, "Explore"),
    );
    let around;
    try {
      around = await get(of(graph, "entities", id), { limit: 3 });
    } catch (problem) {
      fill(told, problem.message);
      return;
    }
    const fresh = around.groups
      .flatMap((group) =>
        group.nodes.map(({ entity }) =>
          group.direction === "out" ? [around.entity, group.relation, entity] : [entity, group.relation, around.entity],
        ),
      )
      .filter((triple) => drawing.getElementById(edgeId(triple)).empty())
      .slice(0, AROUND);
    const at = node.position();
    fresh.forEach((triple, index) => {
      const other = triple[0] === around.entity ? triple[2] : triple[0];
      if (drawing.getElementById(other).empty()) {
        const angle = ((index + 0.5) / fresh.length) * 2 * Math.PI;
        drawing.add(nodeElement(other, { x: at.x + 150 * Math.cos(angle), y: at.y + 110 * Math.sin(angle) }));
      }
      drawing.add(edgeElement(triple));
    });
    told.append(el("span", { class: "quiet" }, ` ${count(around.triples)} triples; ${fresh.length} more are drawn`));
    say(`${around.label}: ${around.triples} triples`);
  }

  function save(kind) {
    const blob = kind === "png" ? drawing.png({ output: "blob", full: true, scale: 2, bg: colour("--card") }) : asSvg(drawing);
    const link = el("a", { href: URL.createObjectURL(blob), download: `evidence.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    say(`Evidence saved as ${kind}`);
  }

  // Drawn in the frame after the text, which is there at once.
  requestAnimationFrame(() => {
    if (frame.isConnected && nodes.length) start();
  });
  const redraw = () => drawing?.style(looks());
  document.addEventListener("clew-theme", redraw);

  return {
    frame,
    /** Put the triples of a group in front, the others back. */
    choose(wanted) {
      if (!drawing) return;
      drawFirst(wanted);
      const ids = new Set(wanted.map(edgeId));
      const edges = drawing.edges().filter((edge) => ids.has(edge.id()));
      drawing.elements().removeClass("chosen").addClass("faded");
      const lit = edges.length ? edges.union(edges.connectedNodes()) : drawing.elements();
      lit.removeClass("faded");
      if (edges.length) lit.addClass("chosen");
    },
    close() {
      document.removeEventListener("clew-theme", redraw);
      drawing?.destroy();
      drawing = null;
    },
  };
}

const escaped = (text) =>
  String(text).replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);

/** The drawing as SVG: names are escaped, so that the file holds no markup of the graph. */
function asSvg(drawing) {
  const box = drawing.elements().boundingBox();
  const edges = drawing.edges().map((edge) => {
    const a = edge.sourceEndpoint();
    const b = edge.targetEndpoint();
    const stroke = edge.style("line-color");
    return (
      `<line x1="${a.x}" y1="${a.y}" x2="${b.x}" y2="${b.y}" stroke="${stroke}" stroke-width="1.6" marker-end="url(#arrow)"/>` +
      `<text x="${(a.x + b.x) / 2}" y="${(a.y + b.y) / 2 - 4}" class="edge">${escaped(edge.data("label"))}</text>`
    );
  });
  const nodes = drawing.nodes().map((node) => {
    const { x, y } = node.position();
    const fill = node.style("background-color");
    return (
      `<circle cx="${x}" cy="${y}" r="${node.width() / 2}" fill="${fill}" stroke="${node.style("border-color")}"/>` +
      `<text x="${x}" y="${y + node.height() / 2 + 15}">${escaped(node.data("label"))}</text>`
    );
  });
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.x1 - 20} ${box.y1 - 20} ${box.w + 40} ${box.h + 40}">` +
    `<style>text{font:13px system-ui,sans-serif;text-anchor:middle;fill:${colour("--ink")}}.edge{font-size:11px;fill:${colour("--quiet")}}</style>` +
    `<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="${colour("--line")}"/></marker></defs>` +
    `<rect x="${box.x1 - 20}" y="${box.y1 - 20}" width="${box.w + 40}" height="${box.h + 40}" fill="${colour("--card")}"/>` +
    `${edges.join("")}${nodes.join("")}</svg>`;
  return new Blob([text], { type: "image/svg+xml" });
}
