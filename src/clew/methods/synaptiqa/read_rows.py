"""Rows of a query as answers with their triples, and read by a model (SynaptiQA, III.C)."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from clew.graph.graph import Graph, ValueKind, triple_text
from clew.graph.schema import BOOLEANS
from clew.llm.managed import Talk, as_data, data_line, prompt_named, query_text
from clew.llm.reply import build, declines, is_none, read_value, stated_answer
from clew.llm.types import ReplyInvalid, Request
from clew.methods.evidence import NUMBER
from clew.methods.ground import ASKED_YES_NO
from clew.methods.question import Judge, asked_of, misfit_of_label, misfit_of_value
from clew.stores.cypher.uses import Origin
from clew.stores.store import Naming, StoredEdge, StoredNode, StoredPath, node_key, node_name
from clew.text.normalise import normalise
from clew.types import Rows, TripleText

# Rows of a query as answers: values, with the triples of the paths that their row matched.

MOST_TRIPLES = 1_000
"""Triples that one answer cites at most."""

TYPE = "type"
"""Relation of the triple that a label stands for, where nothing else proves an answer."""


@dataclass(frozen=True, slots=True)
class ProvedTriple:
    """A triple, with its id in the index where there is one."""

    triple: TripleText
    id: int | None = None


@dataclass(frozen=True)
class StoredTriples:
    """Triples of a property graph, by what its nodes are called (`namings` by label)."""

    namings: Mapping[str, Naming] = field(default_factory=dict[str, Naming])

    def name(self, node: StoredNode) -> str:
        """Return what a node is called, with its key where others may be called so too."""
        naming = self._naming(node)
        label = node_name(node.labels, node.properties, node.id, naming)
        key = node_key(node.labels, node.properties, node.id, naming)
        return label if naming.unique or label == key else f"{label} ({key})"

    def label(self, node: StoredNode) -> str:
        """Return what people call a node."""
        return node_name(node.labels, node.properties, node.id, self._naming(node))

    def _naming(self, node: StoredNode) -> Naming:
        """As the nodes of its first label whose names tell them apart, else of its first."""
        namings = [self.namings[label] for label in node.labels if label in self.namings]
        return next((naming for naming in namings if naming.unique), namings[0] if namings else Naming())

    def of_edge(self, edge: StoredEdge, head: StoredNode, tail: StoredNode) -> ProvedTriple:
        """Return (name of the head, type, name of the tail)."""
        return ProvedTriple(TripleText(self.name(head), edge.type, self.name(tail)))

    def of_property(self, node: StoredNode, key: str) -> tuple[ProvedTriple, ...]:
        """Return (name of the node, property, value)."""
        value = node.properties[key]
        text = str(value).lower() if isinstance(value, bool) else value_text(value, self)
        return (ProvedTriple(TripleText(self.name(node), key, text)),) if text != self.label(node) else ()


@dataclass(frozen=True)
class IndexTriples:
    """Nodes and edges of the embedded store carry the ids of the graph."""

    graph: Graph

    def name(self, node: StoredNode) -> str:
        """Return the entity."""
        return self.graph.entities[int(node.id)]

    def label(self, node: StoredNode) -> str:
        """Return the label of the entity."""
        return self.graph.labels[int(node.id)]

    def of_edge(self, edge: StoredEdge, head: StoredNode, tail: StoredNode) -> ProvedTriple:
        """Return the triple of an edge."""
        return ProvedTriple(triple_text(self.graph, int(edge.id)), int(edge.id))

    def of_property(self, node: StoredNode, key: str) -> tuple[ProvedTriple, ...]:
        """Return the triples from a node to literals by the relation that the property stands for."""
        graph, head = self.graph, int(node.id)
        start, stop = graph.out.span(head)
        return tuple(
            ProvedTriple(triple_text(graph, triple), triple)
            for triple in range(start, stop)
            if self._is_value(int(graph.out.neighbour[triple]))
            and graph.labels[int(graph.out.neighbour[triple])] != graph.labels[head]
            and graph.relations[int(graph.out.relation[triple])] in (key, key.removesuffix("_"))
        )

    def _is_value(self, node: int) -> bool:
        """Whether a node is a literal, or a number, date or boolean where the source does not tell."""
        values = self.graph.values
        typed = bool(values.datatype[node] >= 0 or values.kind[node] != ValueKind.NONE)
        return typed or self.graph.labels[node].lower() in BOOLEANS


RowTriples = StoredTriples | IndexTriples
"""Looks up the triples behind the values that a store returns."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a row: as the source names it, as people read it; `written`: the query says it itself."""

    entity: str
    label: str
    written: bool = False


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row: its values (None for null), and the triples of its match, `whole` if not cut at MOST_TRIPLES."""

    cells: tuple[Cell | None, ...]
    triples: tuple[ProvedTriple, ...]
    whole: bool = True

    @property
    def labels(self) -> list[str | None]:
        """The values as people read them."""
        return [None if cell is None else cell.label for cell in self.cells]


def read_row(
    values: Sequence[object],
    evidence: Sequence[object],
    properties: Sequence[str],
    triples: RowTriples,
    origins: Sequence[Origin],
) -> ReadRow:
    """Read a row; `evidence` are its columns of paths, `origins` say what each value comes of."""
    proofs: dict[TripleText, ProvedTriple] = {}
    label_triples: dict[TripleText, ProvedTriple] = {}
    names_by_label: dict[str, set[str]] = {}
    for path in paths_in([*evidence, *values]):
        for proved in _proofs(path, properties, triples):
            proofs.setdefault(proved.triple, proved)
        for node in path.nodes:
            names_by_label.setdefault(triples.label(node), set()).add(triples.name(node))
            for label in node.labels:
                triple = TripleText(triples.name(node), TYPE, label)
                label_triples.setdefault(triple, ProvedTriple(triple))
        if len(proofs) >= MOST_TRIPLES:
            break
    row_triples = tuple((proofs or label_triples).values())
    known = (*proofs, *label_triples)
    texts = {text for t in known for text in (t.head, t.relation, t.tail, *t.by_id)} | names_by_label.keys()
    read = partial(_cell, triples=triples, names_by_label=names_by_label, texts=texts)
    cells = tuple(read(value, origin) for value, origin in zip(values, origins, strict=True))
    return ReadRow(cells, row_triples[:MOST_TRIPLES], len(row_triples) < MOST_TRIPLES)


def paths_in(value: object) -> Iterator[StoredPath]:
    """Yield the paths in a value of a row, however deep in lists."""
    if isinstance(value, StoredPath):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from paths_in(item)  # pyright: ignore[reportUnknownArgumentType]


def _proofs(path: StoredPath, properties: Sequence[str], triples: RowTriples) -> Iterator[ProvedTriple]:
    for at, edge in enumerate(path.edges):
        left, right = path.nodes[at], path.nodes[at + 1]
        backwards = edge.head == right.id and edge.tail == left.id
        yield triples.of_edge(edge, *((right, left) if backwards else (left, right)))
    for node in path.nodes:
        for key in properties:
            if node.properties.get(key) is not None:
                yield from triples.of_property(node, key)


def _cell(
    value: object,
    origin: Origin,
    triples: RowTriples,
    names_by_label: Mapping[str, set[str]],
    texts: Container[str],
) -> Cell | None:
    """Read a value; a text that is what people call one node of the row is that node."""
    if value is None:
        return None
    if isinstance(value, StoredNode):
        return Cell(triples.name(value), triples.label(value))
    text = value_text(value, triples)
    entities = names_by_label.get(text, set()) if isinstance(value, str) else set[str]()
    is_written = origin == "statement" or (origin == "graph and text" and _says_other(value, texts))
    return Cell(next(iter(entities)) if len(entities) == 1 else text, text, is_written)


def _says_other(value: object, texts: Container[str]) -> bool:
    """Whether a value is a text that stands in none of `texts`; *yes* may be what a condition comes to."""
    if isinstance(value, (list, tuple)):
        return any(_says_other(item, texts) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return isinstance(value, str) and value not in texts and value.lower() not in (*BOOLEANS, *ASKED_YES_NO)


def value_text(value: object, triples: RowTriples) -> str:
    """Return the text of a value: a path with its arrows, whole numbers without a fraction."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, StoredNode):
        return triples.label(value)
    if isinstance(value, StoredEdge):
        return value.type
    if isinstance(value, StoredPath):
        return _path_text(value, triples)
    if isinstance(value, (list, tuple)):
        return ", ".join(value_text(item, triples) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


def _path_text(path: StoredPath, triples: RowTriples) -> str:
    text = triples.label(path.nodes[0]) if path.nodes else ""
    for at, edge in enumerate(path.edges):
        proved = triples.of_edge(edge, path.nodes[at], path.nodes[at + 1])
        backwards = edge.head == path.nodes[at + 1].id and edge.tail == path.nodes[at].id
        backwards = backwards or proved.triple.by_id[0] != triples.name(path.nodes[at])
        arrow = f" ←{edge.type}─ " if backwards else f" ─{edge.type}→ "
        text += arrow + triples.label(path.nodes[at + 1])
    return text


def is_void(rows: Sequence[ReadRow]) -> bool:
    """Whether rows hold nothing, or only nulls. A count of 0 and false are something."""
    return not any(cell is not None for row in rows for cell in row.cells)


def is_absence(rows: Sequence[ReadRow]) -> bool:
    """Whether all that rows say is that something is not there: 0 or false, with no triple behind it."""
    labels = {cell.label for row in rows for cell in row.cells if cell is not None}
    return bool(labels) and labels <= {"0", "no"} and not any(row.triples for row in rows)


# The `read` step of SynaptiQA with a model (section III.C): rows and question → text and answers.
#
# The model names values of the rows, or a column of which all values are answers. What it names is looked up
# in the rows; the rest is dropped.

_SAMPLING = Request(temperature=0.0, max_tokens=1024)
REPAIR = (
    'This cannot be read. Write the JSON object alone: {"text": "…", "answers": ["…"]}, as you were asked.'
)


@dataclass(frozen=True)
class RowsReply:
    """What a reply says: the column of which all values are answers, or `answers`; and its text.

    Or `columns`: of things, and of what is said of each.
    """

    column: str = ""
    text: str = ""
    answers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnReply:
    """The reply that the model is asked for where the graph holds nothing."""

    answer: str
    confidence: float


ProvedValues = dict[str, tuple[Cell, list[ReadRow]]]
"""Values by what the source calls them, each with the rows that prove it."""


def read_rows(
    talk: Talk,
    question: str,
    query: str,
    columns: Sequence[str],
    rows: Sequence[ReadRow],
    judge: Judge | None = None,
    aggregated: Collection[str] = (),
) -> tuple[str, ProvedValues, Rows | None]:
    """Ask a model which values answer a question; `judge` decides yes and no. Raises LlmError.

    `aggregated` are columns of numbers that the query makes of groups. Returns the model's text, and the
    values of the rows that are answers, with the rows that prove each; of pairs the things and their rows.
    """
    rows_text = _rows_text(columns, rows)
    prompt = prompt_named("clew.methods.synaptiqa", "read")
    values = {"QUESTION": as_data(question), "QUERY": query_text(query), "ROWS": rows_text}
    text = talk.ask(prompt, _SAMPLING, stop=(), **values)
    reply = _reply_of(text)
    reply = reply or _reply_of(talk.ask_again(prompt, _SAMPLING, text, REPAIR, values)) or RowsReply("")
    values = _values_in_rows(reply, columns, rows, question, judge)
    names, paired = _paired(reply, columns, rows, values, aggregated)
    if not names:
        return reply.text.strip(), values, None
    places, things = [columns.index(name) for name in names], ProvedValues()
    for row in paired:
        if (thing := row.cells[places[0]]) is not None and not thing.written:
            things.setdefault(thing.entity, (thing, []))[1].append(row)
    cells = tuple(tuple(row.labels[at] or "" for at in places) for row in paired)
    text = " · ".join(f"{thing}: {', '.join(others)}" for thing, *others in cells)
    return text, things, Rows(tuple(names), cells)


def _paired(
    reply: RowsReply,
    columns: Sequence[str],
    rows: Sequence[ReadRow],
    values: ProvedValues,
    aggregated: Collection[str],
) -> tuple[list[str], Sequence[ReadRow]]:
    """The columns and rows of an answer of pairs: as the reply names them, or numbers of several groups."""
    named = [name for name in reply.columns if name in columns]
    if len(named) > 1:
        return named, rows
    proving = {id(row): cell for cell, of_cell in values.values() for row in of_cell}
    rows = [row for row in rows if id(row) in proving]
    cells = ((at, row) for row in rows for at in zip(columns, row.cells, strict=False))
    made = {name for (name, cell), row in cells if cell == proving[id(row)]}
    things = [name for name in columns if name not in aggregated]
    is_paired = len(rows) > 1 and things and made and made <= set(aggregated)
    return ([*things, *sorted(made)], rows) if is_paired else ([], ())


def _reply_of(text: str) -> RowsReply | None:
    """What a reply states: a column, or answers; None where it is in no form that states them."""
    with suppress(ReplyInvalid):
        reply = read_value(text, lambda value: build(RowsReply, value))
        if reply.column or reply.columns:
            return replace(reply, answers=())
    stated = stated_answer(text)
    if stated.form in ("", "bare"):
        return None
    is_refusal = len(stated.items) == 1 and is_none(stated.items[0])
    return RowsReply("", stated.text, () if is_refusal else stated.items)


def ask_model_answer(talk: Talk, question: str) -> OwnReply:
    """A model's own answer with a confidence in [0, 1], 0 for prose; empty without one. Raises LlmError."""
    text = talk.ask(prompt_named("clew.methods.synaptiqa", "own"), _SAMPLING, QUESTION=as_data(question))
    try:
        reply = read_value(text, lambda value: build(OwnReply, value))
    except ReplyInvalid:
        return OwnReply("" if declines(text) else text.strip(), 0.0)
    confidence = reply.confidence if reply.confidence == reply.confidence else 0.0
    answer = "" if declines(reply.answer) else reply.answer.strip()
    return OwnReply(answer, min(max(confidence, 0.0), 1.0))


def _rows_text(columns: Sequence[str], rows: Sequence[ReadRow]) -> str:
    lines = [data_line(json.dumps(list(columns), ensure_ascii=False))]
    room = 12_000
    for row in rows[:60]:
        line = query_text(json.dumps(row.labels, ensure_ascii=False))
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    hidden_count = len(rows) - len(lines) + 1
    return "\n".join([*lines, *([f"({hidden_count:,} more rows)"] if hidden_count else [])])


def _values_in_rows(
    reply: RowsReply, columns: Sequence[str], rows: Sequence[ReadRow], question: str, judge: Judge | None
) -> ProvedValues:
    """Look the model's answers up in the rows; what is not what is asked for is none."""
    values: ProvedValues = {}
    folded_answers = {_folded(answer) for answer in reply.answers}
    # A unit may stand behind a number: *170 minutes*.
    numbers = {_folded(n[0]) for answer in reply.answers if len(n := NUMBER.findall(answer)) == 1}
    column = list(columns).index(reply.column) if reply.column in columns else -1
    for row in rows:
        for at, cell in enumerate(row.cells):
            if cell is None or cell.written or (column >= 0 and at != column):
                continue
            names = {_folded(cell.label), _folded(cell.entity)}
            is_number = NUMBER.fullmatch(cell.label) is not None
            is_named = at == column or names & folded_answers or (is_number and names & numbers)
            if is_named and _fits(question, cell, row):
                values.setdefault(cell.entity, (cell, []))[1].append(row)
    return values if values or column >= 0 else _value(folded_answers, rows, question, judge)


def _fits(question: str, cell: Cell, row: ReadRow) -> bool:
    """Whether a value may be what is asked for: no number is a person or a place, unless it has triples."""
    label = cell.label.casefold()
    if label in ASKED_YES_NO:
        return not misfit_of_value(question, label)
    is_value = NUMBER.fullmatch(label) is not None and all(t.triple.head != cell.entity for t in row.triples)
    return not misfit_of_label(asked_of(question), label, is_value=is_value)


def _value(
    folded_answers: set[str], rows: Sequence[ReadRow], question: str, judge: Judge | None
) -> ProvedValues:
    """Yes or no by a query graph of the question (without a reader, by whether rows say so); their number.

    Rows that the query itself says count for nothing.
    """
    rows = [row for row in rows if not all(cell is None or cell.written for cell in row.cells)]
    value = next(iter(folded_answers)) if len(folded_answers) == 1 and rows else ""
    if value in ASKED_YES_NO and not misfit_of_value(question, value):
        named = frozenset(t.id for row in rows for t in row.triples if t.id is not None)
        is_so = value == ("no" if is_absence(rows) or is_void(rows) else "yes")
        if is_so if judge is None else not isinstance(judge.decides(question, value, named), str):
            return {value: (Cell(value, value), list(rows))}
    counted = value in {str(len(rows)), str(len({row.cells[:1] for row in rows}))}
    may_count = asked_of(question) in ("a number", "")
    return {value: (Cell(value, value), list(rows))} if counted and may_count else {}


def _folded(text: str) -> str:
    try:
        return f"{float(text.replace(',', '')):.10g}"
    except ValueError:
        return normalise(text) or text
