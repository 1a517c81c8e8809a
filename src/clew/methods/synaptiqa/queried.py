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
from clew.stores.cypher.evidence import is_evidence, sample_of_evidence, subquery_evidence, with_evidence
from clew.stores.cypher.functions import AGGREGATES
from clew.stores.cypher.parser import parse
from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tokens import render
from clew.stores.cypher.tree import Call, Expression, Projection, PropertyAccess, Statement, Variable
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
        named: NamesOf | None = None,
    ) -> QueriedGraph:
        """Read the schema of a store; `named` gives the names of what is called so too. Raises StoreError."""
        schema, lexicon = store.schema(), Lexicon.load()
        values = StoredValues(store, embedder, lexicon, named)
        check = NameCheck(schema, values, embedder, lexicon)
        slicer = SchemaSlicer(schema, embedder, lexicon)
        return cls(store, schema, check, slicer, triples or StoredTriples(schema.namings))

    @classmethod
    def of_index(
        cls, graph: Graph, embedder: Embedder, store: CypherStore, named: NamesOf | None = None
    ) -> QueriedGraph:
        """Use the embedded store that was made of a graph."""
        return cls.of_store(store, embedder, IndexTriples(graph), named)

    def directions(self, statement: Statement) -> Directions:
        """Correct directions by the schema, and by the graph where that lacks a hop. Raises StoreError."""
        found = correct_directions(statement, self.schema)
        hops = [hop for search in found.lacking for hop in self.store.find_hops(search)]
        return correct_directions(statement, self.schema.with_hops(hops)) if hops else found

    def run(self, statement: Statement) -> QueryResult:
        """Run a statement and read its rows with what they rest on. Raises QueryError, StoreError."""
        try:
            found = [self.store.run(text) for text in with_evidence(statement)]
        except (QueryError, StoreTimeout):
            # The paths may be too many; if the query itself is at fault, it says so again.
            return self._sampled(statement)
        rows = [row for each in found for row in self._read(each, statement)]
        ends = [branch.clauses[-1] for branch in statement.query.branches]
        last = [clause for clause in ends if isinstance(clause, Projection)]
        if not statement.query.union_all or (isinstance(ends[0], Projection) and ends[0].distinct):
            rows = _merged(rows)
        if not any(clause.order for clause in last):
            # A database gives rows in any order; the same question has the same prompt, and can be replayed.
            rows.sort(key=lambda row: [(c.label, c.entity) if c is not None else ("", "") for c in row.cells])
        if len(rows) == 1 and not is_void(rows):
            rows = [self._with_subqueries(statement, rows[0])]
        columns = tuple(name for name in found[0].columns if not is_evidence(name))
        sent = " UNION ".join(each.sent.text for each in found)
        complete, sampled = all(each.complete for each in found), not all(row.whole for row in rows)
        return QueryResult(columns, tuple(rows), complete, sampled, sent)

    def _with_subqueries(self, statement: Statement, row: ReadRow) -> ReadRow:
        """A row with the triples that its EXISTS and COUNT found; they are no paths of the query itself."""
        texts = subquery_evidence(statement, ROWS_SAMPLED)
        try:
            proofs = [proof for text in texts for proof in self._read(self.store.run(text), statement)]
        except (QueryError, StoreTimeout):
            return replace(row, whole=False)
        proved = dict.fromkeys(t for proof in proofs for t in proof.triples)
        if not proved:
            return row
        own = [t for t in row.triples if t.triple.relation != TYPE]
        return replace(row, triples=tuple(dict.fromkeys((*own, *proved)))[:MOST_TRIPLES])

    def _sampled(self, statement: Statement) -> QueryResult:
        plain = self.store.run(statement.text)
        rows = self._read(plain, statement)
        texts = sample_of_evidence(statement, ROWS_SAMPLED)
        proofs = [proof for text in texts for proof in self._read(self.store.run(text), statement)]
        return QueryResult(plain.columns, tuple(_proved(rows, proofs)), plain.complete, True, plain.sent.text)

    def _read(self, found: Rows, statement: Statement) -> list[ReadRow]:
        uses = uses_of(statement).names
        properties = list(dict.fromkeys(use.text for use in uses if use.kind == "property"))
        shown = [at for at, name in enumerate(found.columns) if not is_evidence(name)]
        hidden = [at for at, name in enumerate(found.columns) if is_evidence(name)]
        return [
            read_row([row[at] for at in shown], [row[at] for at in hidden], properties, self.triples)
            for row in found.rows
        ]


def embedded_store(graph: Graph) -> LadybugStore:
    """Load a graph into the embedded store; MissingExtra without ladybug."""
    return LadybugStore.of_graph(graph, seconds=SECONDS, rows=MOST_ROWS_READ)


def _merged(rows: Iterable[ReadRow]) -> list[ReadRow]:
    """Make one row of those with equal values, with the triples of all."""
    merged: dict[object, ReadRow] = {}
    for row in rows:
        before = merged.get(row.cells)
        if before is not None:
            both = tuple(dict.fromkeys((*before.triples, *row.triples)))
            row = ReadRow(row.cells, both, before.whole and row.whole)
        merged[row.cells] = row
    return list(merged.values())


def _proved(rows: Sequence[ReadRow], proofs: Sequence[ReadRow]) -> list[ReadRow]:
    """Give each row the sampled triples that name one of its values; a single row gets them all."""
    triples = list(dict.fromkeys(t for proof in proofs for t in proof.triples))
    proved: list[ReadRow] = []
    for row in rows:
        names = {cell.entity for cell in row.cells if cell is not None}
        own = (t for t in triples if len(rows) == 1 or names & {t.triple.head, t.triple.tail})
        proved.append(ReadRow(row.cells, tuple(own)))
    return proved


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
    edits, made = _edits(statement)
    if not edits:
        return Ordered(statement, result)
    ordered = parse(render(statement.tokens, edits))
    try:
        other = run(ordered)
    except (QueryError, StoreTimeout):
        return Ordered(statement, result)
    if [row.cells for row in other.rows] == [row.cells for row in result.rows]:
        return Ordered(statement, result)
    return Ordered(ordered, other, made)


def _edits(statement: Statement) -> tuple[dict[int, str], tuple[Correction, ...]]:
    edits: dict[int, str] = {}
    made: list[Correction] = []
    for part in statement.query.walk():
        if isinstance(part, Projection) and (part.limit is not None or part.keyword == "WITH"):
            for key in _descending(statement, part):
                text = statement.source(key)
                edits[key.start] = f"{text} IS NULL, {statement.tokens[key.start].text}"
                before, after = f"ORDER BY {text} DESC", f"ORDER BY {text} IS NULL, {text} DESC"
                made.append(Correction("rule", before, after, NULLS_LAST))
    return edits, tuple(made)


def _descending(statement: Statement, projection: Projection) -> Iterator[Expression]:
    """What a projection is ordered by from the greatest on, and may be null: no count, no sum."""
    given = {item.alias.text: item.expression for item in projection.items if item.alias is not None}
    for key in projection.order:
        behind = statement.tokens[key.stop].text if key.stop < len(statement.tokens) else ""
        of = given.get(key.name.text, key) if isinstance(key, Variable) else key
        if behind.upper() in ("DESC", "DESCENDING") and _may_be_null(of):
            yield key


def _may_be_null(expression: Expression) -> bool:
    parts = list(expression.walk())
    calls = {part.name.lower() for part in parts if isinstance(part, Call)}
    of_values = any(isinstance(part, (PropertyAccess, Variable)) for part in parts)
    return of_values and not calls & (AGGREGATES - {"avg", "max", "min"}) and "coalesce" not in calls
