"""SimGRAG with replies as a good model gives them.

Right and complete answers in every pattern class (appendix F).

The gold is computed from the triples by brute force. The model's words are not the graph's, its reading
sees k = 3 subgraphs, and what it takes from them is one place in those whose relations are the right ones.
"""

from collections import defaultdict
from pathlib import Path

import pytest
from film_scripts import answers_reply, good_model, pattern_reply

from clew.methods.simgrag.method import SimGRAG

QUESTIONS = Path(__file__).parents[2] / "data" / "methods" / "simgrag_questions.txt"
"""Class and question, then the model's triples, then what they are in the graph (?a is asked for)."""


def rows_of(text):
    """(question, the model's triples, the graph's) of each three lines."""
    lines = text.replace("U ", "UNKNOWN ").strip().splitlines()
    for first, pattern, truth in zip(*(lines[i::3] for i in range(3)), strict=True):
        read = ([tuple(t.split(", ")) for t in part.strip().split("; ")] for part in (pattern, truth))
        yield first.partition(": ")[2], *read


def solve(triples, truth):
    """Every value of ?a, by brute force; no two conditions are met by one triple."""
    by_relation = defaultdict(list)
    for triple in triples:
        by_relation[triple[1]].append(triple)
    rows = [({}, frozenset())]
    for head, relation, tail in truth:
        grown = []
        for row, used in rows:
            for triple in by_relation[relation]:
                bound = dict(row)
                for place, node in ((head, triple[0]), (tail, triple[2])):
                    value = bound.setdefault(place, node) if place.startswith("?") else place
                    if value != node:
                        break
                else:
                    if triple not in used:
                        grown.append((bound, used | {triple}))
        rows = grown
    return {row["?a"] for row, _ in rows}


def reader(truth):
    """A good reader: of the graphs whose relations and named things are right, what stands where ?a does."""
    at, end = next((i, t.index("?a")) for i, t in enumerate(truth) if "?a" in t)

    def fits(triple, wanted):
        return all(w.startswith("?") or w == part for part, w in zip(triple, wanted, strict=True))

    def read(graphs):
        right = [g for g in graphs if len(g) == len(truth) and all(map(fits, g, truth))]
        return answers_reply(*dict.fromkeys(g[at][end] for g in right))

    return read


@pytest.mark.parametrize(("question", "pattern", "truth"), [*rows_of(QUESTIONS.read_text("utf-8"))])
def test_answers_are_right_and_complete(films, triples, question, pattern, truth):
    gold = solve(triples, truth)
    assert gold, "a question without an answer tests nothing"
    model = good_model(pattern_reply(*pattern), reader(truth))
    answer = SimGRAG(films.opened, films.embedder, model=model).answer(question)
    assert {a.entity for a in answer.answers} == gold
    assert (answer.usage.calls, len(model.requests)) == (2, 2)
    assert {c.answer for c in answer.citations} == gold
    assert all(
        films.triple(t).as_json() == c.triples[i].as_json()
        for c in answer.citations
        for i, t in enumerate(c.triple_ids)
    )
