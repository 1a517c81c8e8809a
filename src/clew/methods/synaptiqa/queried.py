"""What `synaptiqa` and `kg-query` ask: a Cypher store, with the names, values and triples of its graph.

Cypher has nulls first in a descending order, so that the newest book would be one without a date. `ORDER BY
b.bought DESC LIMIT 1` asks for the last that is known. Where what has no value takes a place among the rows
that are kept, the query is run with such rows behind the others (`with_nulls_last`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from clew.errors import InputError, ParseError
from clew.foundation.forms import json_lines
from clew.graph.graph import Graph
from clew.llm.managed import query_text
from clew.methods.schema_view import MEASURING, NAMED, SchemaLine, left_out_names, lines_that_fit
from clew.methods.synaptiqa.names import Corrected, NameCheck, NamesOf, NameSpace, StoredValues, words_of
from clew.methods.synaptiqa.read_rows import (
    MOST_TRIPLES,
    TYPE,
    IndexTriples,
    ReadRow,
    StoredTriples,
    is_void,
    read_row,
)
from clew.stores.cypher.direction import Correction, correct_directions, require_legal
from clew.stores.cypher.guard import (
    AGGREGATES,
    aggregates,
    guard,
    is_evidence,
    sample_of_evidence,
    subquery_evidence,
    with_evidence,
)
from clew.stores.cypher.tree import (
    Call,
    Expression,
    Projection,
    PropertyAccess,
    Statement,
    Variable,
    quote_name,
)
from clew.stores.cypher.uses import Origin, origins_of, uses_of
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
        self._spaces = tuple(NameSpace(each, embedder, lexicon) for each in names)

    def of_labels(self, names: Collection[str], question: str, tokens: int) -> str:
        """All that some labels have: a second look. Empty where none of the names is a label."""
        wanted = {words_of(name.strip("` :")).casefold() for name in names}
        labels = [label for label in self.schema.labels if words_of(label).casefold() in wanted]
        return self.slice(labels, question, tokens, {})[0] if labels else ""

    def slice(
        self, labels: Collection[str], question: str, tokens: int, ranks: Mapping[str, float]
    ) -> tuple[str, int]:
        """Labels with what a question may need, likeliest by `ranks` first; and how many are left out."""
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
        if rest:
            shown += ["Not shown:", *(f"{owner}: {text}" if owner else text for owner, text in rest.items())]
        return "\n".join(map(query_text, shown)), fits.count(False)

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
            naming, kinds = naming_property(names), schema.kinds.get(label, {})
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
        properties = f" {{{', '.join(_property_text(name, kinds) for name in names)}}}" if names else ""
        head, tail = f"(:{quote_name(hop.head)})", f"(:{quote_name(hop.tail)})"
        text = self.texts.get(hop.type)
        naming = naming_property(self.schema.label_properties.get(hop.tail, ()))
        told = f"  {naming}: {text}" if text and naming else ""
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

    `sampled`: some triples are left out; `sent` is the query as the database got it.
    """

    columns: tuple[str, ...]
    rows: tuple[ReadRow, ...]
    complete: bool
    sampled: bool
    sent: str


class QueriedGraph:
    """One graph in a Cypher store."""

    def __init__(
        self,
        store: CypherStore,
        embedder: Embedder,
        graph: Graph | None = None,
        names_of: NamesOf | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """Read the schema of a store; `names_of` gives further names of things. Raises StoreError.

        `graph` is that of an embedded store, `texts` say what relations without a typed end lead to.
        """
        self.store, self.schema, lexicon = store, store.schema(), Lexicon.load()
        values = StoredValues(store, embedder, lexicon, names_of)
        self.check = NameCheck(self.schema, values, embedder, lexicon)
        self.slicer = SchemaSlicer(self.schema, embedder, lexicon, texts)
        self.triples = StoredTriples(self.schema.namings) if graph is None else IndexTriples(graph)

    def directions(self, statement: Statement) -> Corrected:
        """Correct directions by the schema, then by the graph. Raises StoreError, QueryError."""
        directions = correct_directions(statement, self.schema)
        hops = [hop for search in directions.missing_hops for hop in self.store.find_hops(search)]
        if hops:
            directions = correct_directions(statement, self.schema.with_hops(hops))
        require_legal(directions)
        return Corrected.by(statement, directions.edits, directions.corrections)

    def run(self, statement: Statement) -> QueryResult:
        """Run a statement and read its rows with what they rest on. Raises QueryError, StoreError."""
        try:
            results = [self.store.run(text) for text in with_evidence(statement)]
        except (QueryError, StoreTimeout):
            # The paths may be too many; if the query itself is at fault, it says so again.
            return self._run_sampled(statement)
        branches = zip(results, origins_of(statement), strict=True)
        rows = [row for result, origins in branches for row in self._read_rows(result, statement, origins)]
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
            proofs = [row for text in texts for row in self._read_rows(self.store.run(text), statement, {})]
        except (QueryError, StoreTimeout):
            return replace(row, whole=False)
        subquery_triples = dict.fromkeys(t for proof in proofs for t in proof.triples)
        if not subquery_triples:
            return row
        row_triples = [t for t in row.triples if t.triple.relation != TYPE]
        return replace(row, triples=tuple(dict.fromkeys((*row_triples, *subquery_triples)))[:MOST_TRIPLES])

    def _run_sampled(self, statement: Statement) -> QueryResult:
        result = self.store.run(statement.text)
        of_branches = origins_of(statement)
        # Without the paths of a row, nothing tells which of the texts of such a column are the query's own.
        are_own = {name: "statement" in {o.get(name) for o in of_branches} for name in of_branches[0]}
        origins: dict[str, Origin] = {n: "statement" if own else "graph" for n, own in are_own.items()}
        rows = self._read_rows(result, statement, origins)
        texts = sample_of_evidence(statement, ROWS_SAMPLED)
        proofs = [row for text in texts for row in self._read_rows(self.store.run(text), statement, {})]
        proved = tuple(_prove_rows(rows, proofs))
        return QueryResult(result.columns, proved, result.complete, True, result.sent.text)

    def _read_rows(
        self, stored_rows: Rows, statement: Statement, origins: Mapping[str, Origin]
    ) -> list[ReadRow]:
        """Read rows; a column that is not among `origins` is the graph's."""
        uses = uses_of(statement).names
        properties = list(dict.fromkeys(use.text for use in uses if use.kind == "property"))
        are_paths = [is_evidence(name) for name in stored_rows.columns]
        values_of = [name for name in stored_rows.columns if not is_evidence(name)]
        of_values: list[Origin] = [origins.get(name, "graph") for name in values_of]
        rows: list[ReadRow] = []
        for row in stored_rows.rows:
            values = [value for value, is_path in zip(row, are_paths, strict=True) if not is_path]
            paths = [value for value, is_path in zip(row, are_paths, strict=True) if is_path]
            rows.append(read_row(values, paths, properties, self.triples, of_values))
        return rows


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


def with_nulls_last(
    graph: QueriedGraph, statement: Statement, result: QueryResult
) -> tuple[Corrected, QueryResult]:
    """Run again with nulls last what keeps rows of a descending order; it stays if rows are the same."""
    ordered = _ordered(statement)
    try:
        ordered_result = graph.run(ordered.statement) if ordered.corrections else result
    except (QueryError, StoreTimeout):
        ordered_result = result
    if [row.cells for row in ordered_result.rows] == [row.cells for row in result.rows]:
        return Corrected(statement), result
    return ordered, ordered_result


def _ordered(statement: Statement) -> Corrected:
    edits: dict[int, str] = {}
    corrections: list[Correction] = []
    for part in statement.query.walk():
        if isinstance(part, Projection) and (part.limit is not None or part.keyword == "WITH"):
            for key in _descending_keys(statement, part):
                text = statement.source(key)
                edits[key.start] = f"{text} IS NULL, {statement.tokens[key.start].text}"
                before, after = f"ORDER BY {text} DESC", f"ORDER BY {text} IS NULL, {text} DESC"
                corrections.append(Correction("rule", before, after, NULLS_LAST))
    return Corrected.by(statement, edits, corrections)


def aggregated_columns(statement: Statement, columns: Sequence[str]) -> list[str]:
    """The columns whose values are made of groups of rows: *count(DISTINCT t)*, also by way of a WITH."""
    projections = [part for part in statement.query.walk() if isinstance(part, Projection)]
    items = [item for projection in projections for item in projection.items]
    made = {item.alias.text for item in items if item.alias is not None and aggregates(item.expression)}
    last = [i.expression for i in (projections[-1].items if projections else ())]
    are_made = (aggregates(e) or (isinstance(e, Variable) and e.name.text in made) for e in last)
    return [name for name, is_made in zip(columns, are_made, strict=False) if is_made]


def _descending_keys(statement: Statement, projection: Projection) -> Iterator[Expression]:
    """Keys that a projection is ordered by from the greatest on, and that may be null: no count or sum."""
    expression_by_alias = {
        item.alias.text: item.expression for item in projection.items if item.alias is not None
    }
    for key in projection.order:
        next_token = statement.tokens[key.stop].text if key.stop < len(statement.tokens) else ""
        expression = expression_by_alias.get(key.name.text, key) if isinstance(key, Variable) else key
        parts = list(expression.walk())
        calls = {part.name.lower() for part in parts if isinstance(part, Call)}
        of_values = any(isinstance(part, (PropertyAccess, Variable)) for part in parts)
        may_be_null = of_values and not calls & (AGGREGATES - {"avg", "max", "min"} | {"coalesce"})
        if next_token.upper() in ("DESC", "DESCENDING") and may_be_null:
            yield key


# Few-shots are the solved questions most similar to a question (section III.A).


@dataclass(frozen=True, slots=True)
class Solved:
    """A question with the query that answers it."""

    question: str
    query: str


def read_solved(path: Path) -> tuple[Solved, ...]:
    """Read lines `{"question", "query"}`. Raises InputError, ParseError, QueryError."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}). Give another file") from error
    advice, solved = 'Write {"question": "…", "query": "MATCH …"}', list[Solved]()
    for number, fields in json_lines(lines, str(path), advice):
        question, query = fields.get("question"), fields.get("query")
        if not isinstance(question, str) or not isinstance(query, str):
            raise ParseError(str(path), number, "no solved question", advice)
        guard(query)
        solved.append(Solved(question, query))
    return tuple(solved)


def most_similar(
    solved: Sequence[Solved], question: str, count: int, embedder: Embedder
) -> tuple[Solved, ...]:
    """Return the `count` solved questions most similar to a question, the best nearest to it: as the last."""
    if not solved or count < 1:
        return ()
    vectors = embedder.embed([entry.question for entry in solved])
    scores = vectors @ embedder.embed([question])[0]
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(solved[at] for at in reversed(best.tolist()))
