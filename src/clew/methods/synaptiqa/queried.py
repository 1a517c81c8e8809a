"""What `synaptiqa` and `kg-query` ask: a Cypher store, with the names, values and triples of its graph.

Cypher has nulls first in a descending order, so that the newest book would be one without a date. `ORDER BY
b.bought DESC LIMIT 1` asks for the last that is known. Where what has no value takes a place among the rows
that are kept, the query is run with such rows behind the others (`with_nulls_last`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.graph.graph import Graph
from clew.llm.managed import query_text
from clew.methods.schema_view import MEASURING, NAMED, SchemaLine, left_out_names, lines_that_fit
from clew.methods.synaptiqa.check_names import NameCheck
from clew.methods.synaptiqa.choose_name import NamesOf, NameSpace, StoredValues, words_of
from clew.methods.synaptiqa.read_rows import (
    MOST_TRIPLES,
    TYPE,
    IndexTriples,
    ReadRow,
    RowTriples,
    StoredTriples,
    is_void,
    read_row,
)
from clew.stores.cypher.direction import Correction, Directions, correct_directions
from clew.stores.cypher.guard import (
    AGGREGATES,
    is_evidence,
    sample_of_evidence,
    subquery_evidence,
    with_evidence,
)
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import (
    Call,
    Expression,
    Projection,
    PropertyAccess,
    Statement,
    Variable,
    quote_name,
    render,
)
from clew.stores.cypher.uses import uses_of
from clew.stores.errors import QueryError, StoreTimeout
from clew.stores.ladybug import LadybugStore
from clew.stores.store import CypherStore, GraphSchema, Rows, SchemaHop, naming_property
from clew.text.embedders import Embedder
from clew.text.lexicon import Lexicon

# The part of a schema that a prompt shows, in Cypher: what a question may need, in so many tokens.
#
# SynaptiQA (section III.A) puts the types of nodes and relations and potentially useful attributes of the
# graph into the prompt; too many of them make the model worse. What is left out is named (`schema_view.py`).

_TEXTS = ("text", "true", "list of text", "list of true")
"""What kinds of values begin with that are no numbers or dates."""
_RELATIONS = "relations of "
"""Before the label of the head, in the owner of a relation's line."""


@dataclass(frozen=True)
class SchemaSlice:
    """Lines for a prompt, and how many labels, relations and properties are not shown but named."""

    lines: tuple[str, ...]
    left_out: int

    def __str__(self) -> str:
        return "\n".join(self.lines)


class SchemaSlicer:
    """Ranks the names of a schema by their likeness to a question."""

    def __init__(
        self,
        schema: GraphSchema,
        embedder: Embedder,
        lexicon: Lexicon,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self.texts = texts or {}
        owned = (*schema.label_properties.values(), *schema.type_properties.values())
        properties = sorted({name for names in owned for name in names})
        self.schema = schema
        names = (schema.labels, schema.types, properties)
        self._spaces = tuple(NameSpace(tuple(each), embedder, lexicon) for each in names)

    def slice(self, question: str, tokens: int, ranks: Mapping[str, float] | None = None) -> SchemaSlice:
        """Show the labels with their properties and relations that a question may need.

        `ranks` of relations by name, where a graph's own view has them (`SchemaView.ranks`), come first.
        """
        return self._rendered(self.schema.labels, question, tokens, ranks or {})

    def of_labels(self, names: Collection[str], question: str, tokens: int) -> SchemaSlice | None:
        """All that some labels have: a second look. None where none of the names is a label."""
        wanted = {words_of(name.strip("` :")).casefold() for name in names}
        labels = [label for label in self.schema.labels if words_of(label).casefold() in wanted]
        return self._rendered(labels, question, tokens, {}) if labels else None

    def _rendered(
        self, labels: Collection[str], question: str, tokens: int, ranks: Mapping[str, float]
    ) -> SchemaSlice:
        lines, scores = self._lines(set(labels), question, ranks)
        fits = lines_that_fit(lines, scores, tokens)
        hidden = left_out_names(lines, scores, fits)
        properties: dict[str, list[str]] = {}
        hops: list[str] = []
        for line, fit in zip(lines, fits, strict=True):
            if fit and line.owner.startswith(_RELATIONS):
                hops.append(line.text)
            elif fit:
                properties.setdefault(line.owner, []).append(line.text)
        shown = ["Nodes:"]
        for label, texts in properties.items():
            named = ", ".join(text for text in texts if text)
            note = f"  ({hidden[label]})" if hidden.get(label) else ""
            shown.append(f"(:{quote_name(label)}{f' {{{named}}}' if named else ''}){note}")
        shown += ["Relations:", *(hops or ["(none)"])]
        rest = {owner: text for owner, text in hidden.items() if text and owner not in properties}
        shown += [
            "Not shown:",
            *(f"{owner}: {text}" if owner else text for owner, text in rest.items()),
        ] * bool(rest)
        return SchemaSlice(tuple(query_text(line) for line in shown), fits.count(False))

    def _lines(
        self, labels: set[str], question: str, ranks: Mapping[str, float]
    ) -> tuple[list[SchemaLine], list[float]]:
        """A line for each label, property and hop, and how likely the question needs it."""
        schema = self.schema
        near_labels, near_types, near_properties = (self._scores(space, question) for space in self._spaces)
        hops = [hop for hop in schema.hops if hop.type not in schema.valued and labels & {hop.head, hop.tail}]
        lines, scores = list[SchemaLine](), list[float]()
        for label in (each for each in schema.labels if each in labels):
            names = schema.label_properties.get(label, ())
            naming, kinds = naming_property(sorted(names)), schema.kinds.get(label, {})
            if not names:
                lines.append(SchemaLine(label, "", ""))
                scores.append(near_labels[label])
            for name in sorted(names, key=lambda name: (name != naming, -near_properties[name], name)):
                own = near_properties[name] + near_labels[label] / 2
                is_measure = name in kinds and not kinds[name].startswith(_TEXTS)
                tier = NAMED * (name == naming) or MEASURING * (is_measure and near_labels[label] > 0)
                lines.append(SchemaLine(label, name, _property_text(name, kinds)))
                scores.append(max(tier * near_labels[label] + own, ranks.get(name, 0.0)))
        for hop in hops:
            # A relation is wanted for its own name first, and for what stands at its ends.
            own = near_types[hop.type] + (near_labels[hop.head] + near_labels[hop.tail]) / 2
            lines.append(SchemaLine(_RELATIONS + hop.head, f"{hop.type} to {hop.tail}", self._edge(hop)))
            scores.append(max(own, ranks.get(hop.type, 0.0)))
        return lines, scores

    def _scores(self, space: NameSpace, question: str) -> dict[str, float]:
        """Score each name: the cosine with the question, or with the word of it that is most like it."""
        words = [word for word in question.split() if len(word) > 2]
        scores = np.maximum.reduce([space.meanings(question), *(space.scores(w) for w in words)])
        return dict(zip(space.names, map(float, scores), strict=True))

    def _edge(self, hop: SchemaHop) -> str:
        kinds = self.schema.type_kinds.get(hop.type, {})
        names = sorted(self.schema.type_properties.get(hop.type, ()))
        properties = ", ".join(_property_text(name, kinds) for name in names)
        properties = f" {{{properties}}}" if properties else ""
        head, tail = f"(:{quote_name(hop.head)})", f"(:{quote_name(hop.tail)})"
        text, keys = self.texts.get(hop.type), sorted(self.schema.label_properties.get(hop.tail, ()))
        told = f"  {naming_property(keys) or 'name'}: {text}" if text else ""
        return f"{head}-[:{quote_name(hop.type)}{properties}]->{tail}{told}"


def _property_text(name: str, kinds: Mapping[str, str]) -> str:
    """*pressure: number 260*."""
    return quote_name(name) + (f": {kinds[name]}" if name in kinds else "")


MOST_ROWS_READ = 200_000
"""Rows that are read; an entity has one row for every way to reach it."""
SECONDS = 30.0
NULLS_LAST = "what has no value is behind what has one"
ROWS_SAMPLED = 500
"""Paths that are read for a query whose paths are too many to be returned with its rows."""


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query with the triples behind each; `complete` is False where there are more rows.

    `sampled`: of the triples that matched, some are left out; `sent` is the query as the database got it.
    """

    columns: tuple[str, ...]
    rows: tuple[ReadRow, ...]
    complete: bool
    sampled: bool
    sent: str


@dataclass(frozen=True)
class QueriedGraph:
    """One graph in a Cypher store."""

    store: CypherStore
    schema: GraphSchema
    check: NameCheck
    slicer: SchemaSlicer
    triples: RowTriples

    @classmethod
    def of_store(
        cls,
        store: CypherStore,
        embedder: Embedder,
        triples: RowTriples | None = None,
        names_of: NamesOf | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> QueriedGraph:
        """Read the schema of a store. Raises StoreError.

        `names_of` gives further names of things, `texts` say what relations without a typed end lead to.
        """
        schema, lexicon = store.schema(), Lexicon.load()
        values = StoredValues(store, embedder, lexicon, names_of)
        check = NameCheck(schema, values, embedder, lexicon)
        slicer = SchemaSlicer(schema, embedder, lexicon, texts)
        return cls(store, schema, check, slicer, triples or StoredTriples(schema.namings))

    @classmethod
    def of_index(
        cls,
        graph: Graph,
        embedder: Embedder,
        store: CypherStore,
        names_of: NamesOf | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> QueriedGraph:
        """Use the embedded store that was made of a graph."""
        return cls.of_store(store, embedder, IndexTriples(graph), names_of, texts)

    def directions(self, statement: Statement) -> Directions:
        """Correct directions by the schema, and by the graph where that lacks a hop. Raises StoreError."""
        directions = correct_directions(statement, self.schema)
        hops = [hop for search in directions.missing_hops for hop in self.store.find_hops(search)]
        return correct_directions(statement, self.schema.with_hops(hops)) if hops else directions

    def run(self, statement: Statement) -> QueryResult:
        """Run a statement and read its rows with what they rest on. Raises QueryError, StoreError."""
        try:
            results = [self.store.run(text) for text in with_evidence(statement)]
        except (QueryError, StoreTimeout):
            # The paths may be too many; if the query itself is at fault, it says so again.
            return self._run_sampled(statement)
        rows = [row for result in results for row in self._read_rows(result, statement)]
        ends = [branch.clauses[-1] for branch in statement.query.branches]
        projections = [clause for clause in ends if isinstance(clause, Projection)]
        if not statement.query.union_all or (isinstance(ends[0], Projection) and ends[0].distinct):
            rows = _merge_rows(rows)
        if not any(clause.order for clause in projections):
            # A database gives rows in any order; the same question has the same prompt, and can be replayed.
            rows.sort(key=lambda row: [(c.label, c.entity) if c is not None else ("", "") for c in row.cells])
        if len(rows) == 1 and not is_void(rows):
            rows = [self._with_subqueries(statement, rows[0])]
        columns = tuple(name for name in results[0].columns if not is_evidence(name))
        sent = " UNION ".join(result.sent.text for result in results)
        complete, sampled = all(result.complete for result in results), not all(row.whole for row in rows)
        return QueryResult(columns, tuple(rows), complete, sampled, sent)

    def _with_subqueries(self, statement: Statement, row: ReadRow) -> ReadRow:
        """A row with the triples that its EXISTS and COUNT found; they are no paths of the query itself."""
        texts = subquery_evidence(statement, ROWS_SAMPLED)
        try:
            proofs = [proof for text in texts for proof in self._read_rows(self.store.run(text), statement)]
        except (QueryError, StoreTimeout):
            return replace(row, whole=False)
        subquery_triples = dict.fromkeys(t for proof in proofs for t in proof.triples)
        if not subquery_triples:
            return row
        row_triples = [t for t in row.triples if t.triple.relation != TYPE]
        return replace(row, triples=tuple(dict.fromkeys((*row_triples, *subquery_triples)))[:MOST_TRIPLES])

    def _run_sampled(self, statement: Statement) -> QueryResult:
        result = self.store.run(statement.text)
        rows = self._read_rows(result, statement)
        texts = sample_of_evidence(statement, ROWS_SAMPLED)
        proofs = [proof for text in texts for proof in self._read_rows(self.store.run(text), statement)]
        return QueryResult(
            result.columns, tuple(_prove_rows(rows, proofs)), result.complete, True, result.sent.text
        )

    def _read_rows(self, stored_rows: Rows, statement: Statement) -> list[ReadRow]:
        uses = uses_of(statement).names
        properties = list(dict.fromkeys(use.text for use in uses if use.kind == "property"))
        value_columns = [at for at, name in enumerate(stored_rows.columns) if not is_evidence(name)]
        path_columns = [at for at, name in enumerate(stored_rows.columns) if is_evidence(name)]
        return [
            read_row(
                [row[at] for at in value_columns], [row[at] for at in path_columns], properties, self.triples
            )
            for row in stored_rows.rows
        ]


def embedded_store(graph: Graph) -> LadybugStore:
    """Load a graph into the embedded store; MissingExtra without ladybug."""
    return LadybugStore.of_graph(graph, seconds=SECONDS, rows=MOST_ROWS_READ)


def _merge_rows(rows: Iterable[ReadRow]) -> list[ReadRow]:
    """Make one row of those with equal values, with the triples of all."""
    merged: dict[object, ReadRow] = {}
    for row in rows:
        earlier_row = merged.get(row.cells)
        if earlier_row is not None:
            triples = tuple(dict.fromkeys((*earlier_row.triples, *row.triples)))
            row = ReadRow(row.cells, triples, earlier_row.whole and row.whole)
        merged[row.cells] = row
    return list(merged.values())


def _prove_rows(rows: Sequence[ReadRow], proofs: Sequence[ReadRow]) -> list[ReadRow]:
    """Give each row the sampled triples that name one of its values; a single row gets them all."""
    triples = list(dict.fromkeys(t for proof in proofs for t in proof.triples))
    proved_rows: list[ReadRow] = []
    for row in rows:
        names = {cell.entity for cell in row.cells if cell is not None}
        row_triples = (t for t in triples if len(rows) == 1 or names & set(t.triple.by_id))
        proved_rows.append(ReadRow(row.cells, tuple(row_triples)))
    return proved_rows


@dataclass(frozen=True, slots=True)
class Ordered:
    """A statement with its result, and what was changed of it."""

    statement: Statement
    result: QueryResult
    corrections: tuple[Correction, ...] = ()


def with_nulls_last(
    statement: Statement, result: QueryResult, run: Callable[[Statement], QueryResult]
) -> Ordered:
    """Run again with nulls last what keeps rows of a descending order; it stays if rows are the same."""
    edits, corrections = _edits(statement)
    if not edits:
        return Ordered(statement, result)
    ordered = parse(render(statement.tokens, edits))
    try:
        ordered_result = run(ordered)
    except (QueryError, StoreTimeout):
        return Ordered(statement, result)
    if [row.cells for row in ordered_result.rows] == [row.cells for row in result.rows]:
        return Ordered(statement, result)
    return Ordered(ordered, ordered_result, corrections)


def _edits(statement: Statement) -> tuple[dict[int, str], tuple[Correction, ...]]:
    edits: dict[int, str] = {}
    corrections: list[Correction] = []
    for part in statement.query.walk():
        if isinstance(part, Projection) and (part.limit is not None or part.keyword == "WITH"):
            for key in _descending_keys(statement, part):
                text = statement.source(key)
                edits[key.start] = f"{text} IS NULL, {statement.tokens[key.start].text}"
                before, after = f"ORDER BY {text} DESC", f"ORDER BY {text} IS NULL, {text} DESC"
                corrections.append(Correction("rule", before, after, NULLS_LAST))
    return edits, tuple(corrections)


def _descending_keys(statement: Statement, projection: Projection) -> Iterator[Expression]:
    """Keys that a projection is ordered by from the greatest on, and that may be null: no count or sum."""
    expression_by_alias = {
        item.alias.text: item.expression for item in projection.items if item.alias is not None
    }
    for key in projection.order:
        next_token = statement.tokens[key.stop].text if key.stop < len(statement.tokens) else ""
        expression = expression_by_alias.get(key.name.text, key) if isinstance(key, Variable) else key
        if next_token.upper() in ("DESC", "DESCENDING") and _may_be_null(expression):
            yield key


def _may_be_null(expression: Expression) -> bool:
    parts = list(expression.walk())
    calls = {part.name.lower() for part in parts if isinstance(part, Call)}
    of_values = any(isinstance(part, (PropertyAccess, Variable)) for part in parts)
    return of_values and not calls & (AGGREGATES - {"avg", "max", "min"}) and "coalesce" not in calls
