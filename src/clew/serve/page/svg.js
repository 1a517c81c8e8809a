// A drawing of Cytoscape as an SVG: what is drawn, where it is drawn, in its colours.

import { shown } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const LINE = 1.2;

function tag(name, attributes, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === "number" ? value.toFixed(1) : value);
  made.append(...children);
  return made;
}

/** The SVG as a text. */
export function svgOf(drawing, paper) {
  const { x1, y1, w, h } = drawing.elements().boundingBox({ includeOverlays: false });
  const box = [x1 - 12, y1 - 12, w + 24, h + 24].map(Math.round);
  const nodes = drawing.nodes().sort((a, b) => Number(b.isParent()) - Number(a.isParent()));
  const svg = tag(
    "svg",
    { xmlns: SPACE, viewBox: box.join(" "), width: box[2], height: box[3], "font-family": "system-ui, sans-serif" },
    tag("rect", { x: box[0], y: box[1], width: box[2], height: box[3], fill: paper }),
    ...nodes.map(nodeMark),
    ...drawing.edges().map((edge) => edgeMark(edge, paper)),
  );
  return new XMLSerializer().serializeToString(svg);
}

function words(text, { x, y }, element, paper = null) {
  const size = Number.parseFloat(element.style("font-size"));
  const lines = text.split("\n").map((line, at, all) => {
    const place = y + (at - (all.length - 1) / 2) * size * LINE;
    return tag("tspan", { x, y: place + size * 0.35 }, shown(line));
  });
  const halo = paper === null ? {} : { stroke: paper, "stroke-width": 4, "paint-order": "stroke" };
  return tag("text", { "text-anchor": "middle", "font-size": size, "font-weight": element.style("font-weight"), fill: element.style("color"), ...halo }, ...lines);
}

function nodeMark(node) {
  const { x1, y1, w, h } = node.boundingBox({ includeLabels: false, includeOverlays: false, includeEdges: false });
  const border = Number.parseFloat(node.style("border-width"));
  const middle = { x: x1 + w / 2, y: y1 + h / 2 };
  const below = node.isParent() ? { x: middle.x, y: y1 + h + 9 } : middle;
  return tag(
    "g",
    {},
    tag("rect", {
      x: x1 + border / 2, y: y1 + border / 2, width: w - border, height: h - border, rx: 8, fill: node.style("background-color"),
      "fill-opacity": node.style("background-opacity"), stroke: node.style("border-color"), "stroke-width": border,
    }),
    words(node.style("label"), below, node),
  );
}

function edgeMark(edge, paper) {
  const [start, end] = [edge.sourceEndpoint(), edge.targetEndpoint()];
  const corners = edge.segmentPoints() ?? [];
  const curves = edge.controlPoints() ?? [];
  const points = [start, ...corners, end];
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  // Each control point curves as far as half-way to the next.
  const half = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const curved = curves.map((point, index) => `Q ${at(point)} ${at(index + 1 < curves.length ? half(point, curves[index + 1]) : end)}`);
  const path = curves.length ? `M ${at(start)} ${curved.join(" ")}` : `M ${points.map(at).join(" L ")}`;
  const line = edge.style("line-color");
  const dashes = edge.style("line-style") === "dashed" ? { "stroke-dasharray": "6 3" } : {};
  const before = curves.at(-1) ?? points.at(-2);
  const turn = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
  const labels = [
    [edge.style("label"), { x: edge.midpoint().x + Number.parseFloat(edge.style("text-margin-x")), y: edge.midpoint().y }],
    [edge.style("target-label"), along(points.toReversed(), Number.parseFloat(edge.style("target-text-offset")))],
    [edge.style("source-label"), along(points, Number.parseFloat(edge.style("source-text-offset")))],
  ];
  return tag(
    "g",
    {},
    tag("path", { d: path, fill: "none", stroke: line, "stroke-width": Number.parseFloat(edge.style("width")), ...dashes }),
    tag("path", { d: "M 0 0 L -9 -4.5 L -9 4.5 Z", fill: line, transform: `translate(${at(end)}) rotate(${turn.toFixed(1)})` }),
    ...labels.filter(([text]) => text).map(([text, place]) => words(text, place, edge, paper)),
  );
}

/** The place on a way of points that is so far from its first. */
function along([first, ...rest], far) {
  let [from, left] = [first, far];
  for (const to of rest) {
    const long = Math.hypot(to.x - from.x, to.y - from.y);
    if (long >= left && long > 0) return { x: from.x + ((to.x - from.x) * left) / long, y: from.y + ((to.y - from.y) * left) / long };
    left -= long;
    from = to;
  }
  return from;
}
