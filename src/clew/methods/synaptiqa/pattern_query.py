"""`synaptiqa` without a model: the question's pattern becomes a Cypher query, whose rows are the answer.

The query is written from the pattern of the question, so that names, values and
directions are those of the graph by construction; it still goes through the guard. Rows hold the triples that
matched, which are the citations. Questions that count, compare, sort or ask for yes or no are answered
by the built-in reader, and the steps say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from clew.grounding import answer_entity, cite
from clew.index.store.directory import Index
from clew.methods.built_in import built_in_reader
from clew.reading.answer import text_of
from clew.stores.cypher.tokens import quote_name
from clew.stores.ladybug import LadybugStore
from clew.stores.store import Rows
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, Pattern, Step


class PatternQuery:
    """Answers questions by Cypher queries on the embedded store."""

    name = "synaptiqa"

    def __init__(self, index: Index, embedder: Embedder, store: LadybugStore) -> None:
        """Use an index and the embedded store that was made of it."""
        self._graph, self._store = index.graph, store
        self._built_in = built_in_reader(index, embedder)
        # Relations some of whose tails are literals, which the store has as properties of nodes.
        out = index.graph.out
        literal = index.graph.values.datatype[out.neighbour[:]] >= 0
        self._value_relations: frozenset[int] = frozenset(np.unique(out.relation[literal]).tolist())

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known."""
        draft = replace(self._built_in.answer(question, id=id, entities=entities), method=self.name)
        if draft.abstained is not None and draft.abstained.reason != "empty_result":
            return _with_note(draft, "the question has no pattern to be sure of, so there is no query")
        if draft.pattern is None or draft.pattern.answer is None:
            return _with_note(draft, "the question is answered by an operator, without a query")
        query = self._write_query(draft.pattern, draft.pattern.answer)
        if query is None:
            return _with_note(draft, "the pattern has no form as a query on the embedded store")
        began = perf_counter()
        rows = self._store.run(query)
        timings = {**draft.timings_ms, "query": round((perf_counter() - began) * 1000, 3)}
        count, complete = len(rows.rows), rows.complete
        detail = {"query": query, "sent": rows.sent.text, "rows": count, "complete": complete}
        steps = (*draft.steps, Step("query", detail))
        return replace(self._answer_from_rows(draft, rows), query=query, timings_ms=timings, steps=steps)

    def _write_query(self, pattern: Pattern, answer: int) -> str | None:
        """Write a pattern as Cypher for the embedded store; None for a pattern that has no such form.

        Rows are the answer node's id and then the id of every edge's triple. Where the pattern turns, no
        triple is used twice: the edges share a MATCH; else each has its own.
        """
        fixed = [edge.fixed for edge in pattern.edges]
        if not fixed or any(relation is None or relation in self._value_relations for relation in fixed):
            return None
        if any(not node.known and node.type is not None for node in pattern.nodes):
            return None  # a node of several types is in the table of the first
        nodes: list[str] = []
        for at, node in enumerate(pattern.nodes):
            label = None if node.entity is None else self._store.label_of(node.entity)
            if node.known and label is None:
                return None  # a literal, which is no node there
            label_part = f":{quote_name(label)} {{clew_id: {node.entity}}}" if label is not None else ""
            nodes.append(f"(n{at}{label_part})")
        hops = [
            f"{nodes[e.head]}-[r{at}:{quote_name(self._graph.relations[e.fixed])}]->{nodes[e.tail]}"
            for at, e in enumerate(pattern.edges)
            if e.fixed is not None
        ]
        match = "MATCH " + ", ".join(hops) if _turns(pattern) else " ".join(f"MATCH {hop}" for hop in hops)
        triples = "".join(f", r{at}.clew_triple AS r{at}" for at in range(len(hops)))
        return f"{match} RETURN n{answer}.clew_id AS answer{triples}"

    def _answer_from_rows(self, draft: Answer, rows: Rows) -> Answer:
        """Read answers and citations off the rows, by ids: the first row of each entity proves it."""
        proofs: dict[int, tuple[int, ...]] = {}
        for entity, *triples in sorted([int(str(value)) for value in row] for row in rows.rows):
            proofs.setdefault(entity, tuple(triples))
        if not proofs:
            abstention = draft.abstained or Abstention("empty_result", "the query has no rows")
            return replace(draft, answers=(), citations=(), text="", abstained=abstention)
        graph = self._graph
        answers = tuple(answer_entity(graph, e) for e in proofs)
        citations = tuple(cite(graph, e, t) for e, t in proofs.items())
        draft = replace(draft, answers=answers, citations=citations, text=text_of(answers))
        return replace(draft, abstained=None, complete=rows.complete)


def _turns(pattern: Pattern) -> bool:
    """Whether a path of the pattern goes back through the relation of the edge before, by another triple."""
    edges = pattern.edges
    return any(
        a.fixed == b.fixed and (a.head == b.head or a.tail == b.tail)
        for i, a in enumerate(edges)
        for b in edges[i + 1 :]
    )


def _with_note(answer: Answer, note: str) -> Answer:
    return replace(answer, steps=(*answer.steps, Step("query", {"note": note})))
