"""What `synaptiqa` and `kg-query` ask: a Cypher store, with the names, values and triples of its graph.

Cypher has nulls first in a descending order, so that the newest book would be one without a date. `ORDER BY
b.bought DESC LIMIT 1` asks for the last that is known. Where what has no value takes a place among the rows
that are kept, the query is run with such rows behind the others (`with_nulls_last`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.graph.graph import Graph
from clew.methods.synaptiqa.check_names import NameCheck
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
from clew.methods.synaptiqa.schema_slice import SchemaSlicer
from clew.methods.synaptiqa.values import NamesOf, StoredValues
from clew.stores.cypher.direction import Correction, Directions, correct_directions
from clew.stores.cypher.guard import (
    AGGREGATES,
    is_evidence,
    sample_of_evidence,
    subquery_evidence,
    with_evidence,
)
from clew.stores.cypher.parser import parse
from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tree import Call, Expression, Projection, PropertyAccess, Statement, Variable, render
from clew.stores.cypher.uses import uses_of
from clew.stores.errors import QueryError, StoreTimeout
from clew.stores.ladybug import LadybugStore
from clew.stores.store import CypherStore, Rows
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon

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
    ) -> QueriedGraph:
        """Read the schema of a store; `names_of` gives further names of things. Raises StoreError."""
        schema, lexicon = store.schema(), Lexicon.load()
        values = StoredValues(store, embedder, lexicon, names_of)
        check = NameCheck(schema, values, embedder, lexicon)
        slicer = SchemaSlicer(schema, embedder, lexicon)
        return cls(store, schema, check, slicer, triples or StoredTriples(schema.namings))

    @classmethod
    def of_index(
        cls, graph: Graph, embedder: Embedder, store: CypherStore, names_of: NamesOf | None = None
    ) -> QueriedGraph:
        """Use the embedded store that was made of a graph."""
        return cls.of_store(store, embedder, IndexTriples(graph), names_of)

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
