// Where evidence is drawn in a frame of a width: in layers side by side, or in rows below each other.

export const HEIGHT = 30;
/** Room within a box beside its nodes, and between them. */
const PADDING = 10;
const CELL_GAP = 8;
/** Room for what a box is called, below its nodes. */
export const CAPTION = 16;
const MARGIN = 24;
/** Room for what joins a node with itself, and for edges within a layer. */
const LOOP = 60;
const ASIDE = 60;
/** Room in which lines go from one height to another, between layers side by side. */
const SLANT = 60;
/** Nodes that are joined alike, from which on they are in a box. */
const LEAST_BOXED = 4;
/** Heights of rows: of a line from above, of what one more line of its label adds, and of a line that comes from a lane. */
const STRAIGHT = 46;
const NOTE = 18;
const HEADER = 24;
/** Room at the right of a lane, if there is enough. */
const LANE = 14;
/** Edges within a layer whose labels still keep clear of each other. */
const MOST_WITHIN = 2;

/** Nodes that are joined to the same others in the same way, as boxes; all others are items of one node. */
function itemsOf(nodes, facts, asked, least) {
  const joined = new Map(nodes.map((node) => [node, []]));
  for (const { ids: [head, relation, tail] } of facts) {
    joined.get(head).push(JSON.stringify(["out", relation, tail]));
    joined.get(tail).push(JSON.stringify(["in", relation, head]));
  }
  const alike = new Map();
  for (const node of nodes) {
    const key = asked.has(node) ? JSON.stringify([node]) : joined.get(node).sort().join(" ");
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(node);
  }
  return [...alike.values()].flatMap((group) => (group.length >= least ? [group] : group.map((node) => [node])));
}

/** Layers of items by their distance from those that are asked about, else from where edges begin, each in order of its neighbours before it. */
function layersOf(items, near, asked, tails) {
  const layer = new Map();
  const rest = () => items.map((_, at) => at).filter((at) => !layer.has(at));
  let ring = rest().filter((at) => items[at].some((node) => asked.has(node)));
  if (ring.length === items.length) ring = []; // it says nothing of where to begin
  while (layer.size < items.length) {
    if (!ring.length) ring = rest().filter((at) => !tails.has(at));
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

function sizesOf(items, widthOf, columnsOf) {
  return items.map((item) => {
    const cell = Math.max(...item.map(widthOf));
    if (item.length === 1) return { width: cell, height: HEIGHT, cell };
    const columns = columnsOf(item.length, cell);
    const rows = Math.ceil(item.length / columns);
    return { width: columns * (cell + CELL_GAP) - CELL_GAP + 2 * PADDING, height: rows * (HEIGHT + 6) + 22 + CAPTION, cell, columns, rows };
  });
}

/** The places of the nodes of a box whose middle is known. */
export function cells({ x, y }, { cell, columns, rows }, count) {
  return Array.from({ length: count }, (_, index) => ({
    x: x + ((index % columns) - (columns - 1) / 2) * (cell + CELL_GAP),
    y: y - CAPTION / 2 + (Math.floor(index / columns) - (rows - 1) / 2) * (HEIGHT + 6),
  }));
}

/**
 * Items with their places and sizes, and lines with their ways, in a frame of a width: the least high of the drawings that
 * fit into it. `linesOf(items, noted)` are the lines between items, `widthOf(node)` and `labelWidth(line)` are widths.
 */
export function arrange({ nodes, facts, asked, linesOf, widthOf, labelWidth, room }) {
  const drawings = [];
  const grouped = (least) => {
    const items = itemsOf(nodes, facts, asked, least);
    const near = items.map(() => new Set());
    const lines = linesOf(items);
    for (const { head, tail } of lines) {
      near[head].add(tail);
      near[tail].add(head);
    }
    const tails = new Set(lines.filter(({ head, tail }) => head !== tail).map(({ tail }) => tail));
    return { items, lines, near, layers: layersOf(items, near, asked, tails) };
  };
  const boxed = grouped(LEAST_BOXED);
  const plain = boxed.lines.map((line) => ({ ...line, label: line.label.split("\n")[0] }));
  for (const lines of [boxed.lines, plain]) {
    for (const most of [3, 2, 1]) {
      const sizes = sizesOf(boxed.items, widthOf, (count) => Math.min(most, Math.ceil(count / 9)));
      drawings.push(sideBySide({ ...boxed, lines, sizes, labelWidth }));
    }
    if (drawings.some(({ width }) => width <= room)) break;
  }
  const paired = grouped(2);
  const fitting = (count, cell, width) => Math.max(1, Math.min(count, Math.floor((width - 2 * PADDING) / (cell + CELL_GAP))));
  let lanes = 0;
  for (const isLast of [false, true]) {
    const inner = room - 2 * MARGIN - lanes;
    const sizes = sizesOf(paired.items, widthOf, (count, cell) => fitting(count, cell, inner));
    const rows = inRows({ ...paired, sizes, labelWidth, room });
    if (isLast || rows.width <= room) drawings.push(rows);
    lanes = rows.lanes;
  }
  const clear = drawings.filter(({ lines }) => lines.filter(({ side }) => side).length <= MOST_WITHIN);
  const fit = clear.filter(({ width }) => width <= room);
  if (!fit.length) return clear.at(-1);
  return fit.reduce((a, b) => (b.height < a.height ? b : a));
}

const linesOfLabel = ({ label }) => label.split("\n").length;

/**
 * Layers as columns, the nodes of each as wide as the widest. A line from layer to layer is slant, and level where it comes
 * to the layer of more items; there its label stands: so no line runs over a name, and no label over a line.
 */
function sideBySide({ items, lines, near, layers, sizes: given, labelWidth }) {
  const single = (at) => items[at].length === 1;
  const sizes = given.map((size) => ({ ...size }));
  for (const layer of layers) {
    const widest = Math.max(0, ...layer.filter(single).map((at) => sizes[at].width));
    for (const at of layer.filter(single)) sizes[at].width = widest;
  }
  const layerOf = new Map(layers.flatMap((layer, far) => layer.map((at) => [at, far])));
  const above = lines.some(({ head, tail }) => head === tail && items[head].length === 1) ? LOOP : MARGIN;
  const within = ({ head, tail }) => head !== tail && layerOf.get(head) === layerOf.get(tail);
  const next = lines.filter(({ head, tail }) => layerOf.get(head) !== layerOf.get(tail));
  const levelAt = ({ head, tail }) => {
    const [before, after] = layerOf.get(head) < layerOf.get(tail) ? [head, tail] : [tail, head];
    return layers[layerOf.get(before)].length > layers[layerOf.get(after)].length ? before : after;
  };
  const side = (line, at) => (layerOf.get(at) < layerOf.get(line.head === at ? line.tail : line.head) ? 1 : -1);
  const ports = new Map();
  for (const line of next) {
    const key = `${levelAt(line)} ${side(line, levelAt(line))}`;
    if (!ports.has(key)) ports.set(key, []);
    ports.get(key).push(line);
  }
  const noted = Math.max(1, ...lines.map(linesOfLabel));
  const pitch = NOTE * noted;
  const between = Math.max(18, Math.max(0, ...[...ports.values()].map((some) => some.length)) * pitch + 8 - HEIGHT);
  const level = Math.max(0, ...lines.map(labelWidth)) + 30;
  const across = level + SLANT;
  const heights = layers.map((layer) => layer.reduce((sum, at) => sum + sizes[at].height + between, -between));
  const height = Math.max(...heights, pitch);
  // The highest column stands as it is; in the others items stand by what they are joined with.
  const highest = heights.indexOf(Math.max(...heights));
  const heightOf = new Map();
  const settle = (layer) => {
    let free = above + (layer === layers[highest] ? (height - heights[highest]) / 2 : 0);
    for (const at of layer) {
      const half = sizes[at].height / 2;
      const known = [...near[at]].filter((other) => !layer.includes(other) && heightOf.has(other)).map((other) => heightOf.get(other));
      const wanted = known.length ? known.reduce((a, b) => a + b, 0) / known.length : 0;
      heightOf.set(at, Math.max(free + half, wanted));
      free = heightOf.get(at) + half + between;
    }
    let end = above + height;
    for (const at of layer.toReversed()) {
      const half = sizes[at].height / 2;
      heightOf.set(at, Math.min(heightOf.get(at), end - half));
      end = heightOf.get(at) - half - between;
    }
  };
  [...layers.slice(highest), ...layers.slice(0, highest).reverse()].forEach(settle);
  const place = [];
  let left = MARGIN;
  for (const layer of layers) {
    const widest = Math.max(...layer.map((at) => sizes[at].width));
    for (const at of layer) place[at] = { x: left + widest / 2, y: heightOf.get(at) };
    left += widest + across + (lines.some((line) => within(line) && layer.includes(line.head)) ? ASIDE : 0);
  }
  const middle = (at) => place[at].y - (single(at) ? 0 : CAPTION / 2);
  const drawn = lines.map((line) => {
    if (within(line)) {
      // It goes around what stands between its ends, to the right of them.
      const down = place[line.tail].y > place[line.head].y ? -1 : 1;
      return { ...line, side: down * (Math.max(sizes[line.head].width, sizes[line.tail].width) + ASIDE) };
    }
    if (!next.includes(line)) return line;
    const here = levelAt(line);
    const there = line.head === here ? line.tail : line.head;
    const to = side(line, here);
    const some = ports.get(`${here} ${to}`);
    const y = middle(here) + (some.indexOf(line) - (some.length - 1) / 2) * pitch;
    const x = place[here].x + (to * sizes[here].width) / 2;
    const points = [{ x, y }, { x: x + to * level, y }, { x: place[there].x - (to * sizes[there].width) / 2, y: middle(there) }];
    const atTail = here === line.tail;
    return { ...line, label: "", way: { points: atTail ? points.reverse() : points, label: line.label, atTail, offset: level / 2 } };
  });
  return { items, lines: drawn, place, sizes, width: left - across + MARGIN, height: height + above + MARGIN };
}

/** Items in an order in which each follows what it is joined with in the layer before. */
function ordered(layers, near) {
  const layerOf = new Map(layers.flatMap((layer, far) => layer.map((at) => [at, far])));
  const before = (at) => [...near[at]].filter((other) => layerOf.get(other) < layerOf.get(at));
  const order = new Set();
  const visit = (at) => {
    order.add(at);
    const next = [...near[at]].filter((other) => layerOf.get(other) > layerOf.get(at));
    for (const other of next.sort((a, b) => before(a).length - before(b).length || a - b)) {
      if (!order.has(other) && before(other).every((one) => order.has(one))) visit(other);
    }
  };
  for (const at of layers.flat()) if (!order.has(at)) visit(at);
  return [...order];
}

/**
 * Items below each other. A line to the next row goes straight down. All others leave an item at its left, go down a lane,
 * and come to the later item from above, where those of one relation share their label.
 */
function inRows({ items, lines, near, layers, sizes: given, labelWidth, room }) {
  const order = ordered(layers, near);
  const rowOf = new Map(order.map((at, row) => [at, row]));
  const loops = lines.filter(({ head, tail }) => head === tail);
  const sizes = given.map((size) => ({ ...size }));
  const entries = order.map(() => []);
  for (const line of lines.filter(({ head, tail }) => head !== tail)) {
    const down = rowOf.get(line.head) < rowOf.get(line.tail);
    entries[rowOf.get(down ? line.tail : line.head)].push({ line, down, from: down ? line.head : line.tail });
  }
  const straight = (row) => entries[row].length === 1 && rowOf.get(entries[row][0].from) === row - 1;
  const headersOf = (row) => [...Map.groupBy(entries[row], ({ line, down }) => `${down} ${line.relation}`).values()];
  const short = (line) => ({ ...line, label: line.label.split("\n")[0] });

  const lanes = new Map();
  order.forEach((_, row) => {
    if (straight(row)) return;
    for (const { line, down, from } of entries[row]) {
      const key = `${from} ${down} ${line.relation}`;
      if (!lanes.has(key)) lanes.set(key, { from, first: rowOf.get(from), last: row });
      lanes.get(key).last = row;
    }
  });
  const taken = [];
  for (const lane of [...lanes.values()].sort((a, b) => a.last - a.first - (b.last - b.first))) {
    lane.number = taken.findIndex((others) => others.every((other) => other.last < lane.first || lane.last < other.first));
    if (lane.number < 0) lane.number = taken.push([]) - 1;
    taken[lane.number].push(lane);
  }
  order.forEach((at, row) => {
    if (straight(row)) {
      // Its label stands in the middle of both, and keeps clear of the lanes beside it.
      const [{ line, from }] = entries[row];
      if (lanes.size) for (const end of [at, from]) sizes[end].width = Math.max(sizes[end].width, labelWidth(line));
      return;
    }
    const headers = headersOf(row);
    const needed = headers.length ? Math.max(...headers.map(([{ line }]) => labelWidth(short(line)))) + 40 + 16 * headers.length : 0;
    const size = sizes[at];
    size.cell = Math.max(size.cell, size.columns ? (needed - 2 * PADDING) / size.columns : needed);
    size.width = Math.max(size.width, needed);
  });
  const widest = Math.max(...sizes.map(({ width }) => width));
  // What joins an item with itself is drawn at its right.
  const end = Math.max(widest, ...loops.map((line) => sizes[line.head].width + LOOP + labelWidth(line)));
  const apart = taken.length ? Math.max(5, Math.min(LANE, (room - end - MARGIN - 6) / taken.length)) : 0;
  const left = MARGIN / 2 + taken.length * apart + (taken.length ? 6 : MARGIN / 2);
  const width = left + end + MARGIN / 2;

  const place = [];
  const ways = new Map();
  let top = MARGIN / 2;
  order.forEach((at, row) => {
    const size = sizes[at];
    const x = taken.length ? left + size.width / 2 : left + widest / 2;
    if (straight(row)) {
      const [{ line, down, from }] = entries[row];
      const middle = left + Math.min(size.width, sizes[from].width) / 2;
      const end = { x: taken.length ? middle : x, y: top + STRAIGHT + NOTE * (linesOfLabel(line) - 1) };
      const points = [{ x: end.x, y: top }, end];
      ways.set(line, { line, points: down ? points : points.reverse() });
      top = end.y;
    } else {
      const headers = headersOf(row);
      if (row) top += 14;
      const base = top + HEADER * headers.length;
      headers.forEach((entered, index) => {
        const labelled = short(entered[0].line);
        const y = top + HEADER * (index + 0.5);
        const enter = left + Math.max(...headers.map(([first]) => labelWidth(short(first.line)))) + 24 + 16 * (headers.length - 1 - index);
        entered.forEach(({ line, down, from }, nth) => {
          const lane = lanes.get(`${from} ${down} ${line.relation}`);
          const own = [...lanes.values()].filter((other) => other.from === from);
          const step = Math.min(7, (sizes[from].height - 8) / Math.max(1, own.length - 1));
          const start = place[from].y + (own.indexOf(lane) - (own.length - 1) / 2) * step;
          const x1 = left - 6 - (lane.number + 0.5) * apart;
          const points = [{ x: left, y: start }, { x: x1, y: start }, { x: x1, y }, { x: enter, y }, { x: enter, y: base }];
          const way = { line: { ...labelled, ...line, label: "" }, points: down ? points : points.reverse() };
          if (nth === 0) Object.assign(way, { label: labelled.label, atTail: down, offset: base - y + 20 + labelWidth(labelled) / 2 });
          ways.set(line, way);
        });
      });
      top = base;
    }
    place[at] = { x, y: top + size.height / 2 };
    top += size.height;
  });
  const drawn = lines.map((line) => (ways.has(line) ? { ...ways.get(line).line, way: ways.get(line) } : { ...line, reach: sizes[line.head].width / 2 + LOOP / 2, beside: labelWidth(line) / 2 }));
  return { items, lines: drawn, place, sizes, width, height: top + MARGIN, lanes: taken.length * LANE + 6 };
}
