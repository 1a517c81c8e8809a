"""Triples become paths: each triple once, towards the answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.cli.answer_view import paths_of
from clew.types import TripleText


def draw(triples, answer):
    texts = [TripleText(*t.split()) for t in triples]
    return [path.plain.strip() for path in paths_of(texts, answer)]


@pytest.mark.parametrize(
    ("triples", "answer", "paths"),
    [
        (["A r B"], "B", ["A ─r→ B"]),
        (["A r B"], "A", ["B ←r─ A"]),
        (["A r B", "C r B"], "C", ["A ─r→ B ←r─ C"]),
        (["C r B", "A r B"], "C", ["A ─r→ B ←r─ C"]),
        (["A r X", "B s X"], "X", ["A ─r→ X", "B ─s→ X"]),
        (["X r A", "X s Y", "Y t B"], "X", ["A ←r─ X", "B ←t─ Y ←s─ X"]),
        (["A r Y", "B r Y", "Y s X"], "X", ["A ─r→ Y ─s→ X", "B ─r→ Y"]),
        (["A r B", "A s B"], "B", ["A ─r→ B", "A ─s→ B"]),
        (["A r A"], "A", ["A ─r→ A"]),
        (["A r B", "C s D"], "7", ["A ─r→ B", "C ─s→ D"]),
        (["A r B", "B r C", "C r A"], "C", ["A ←r─ C", "A ─r→ B ─r→ C"]),
        ([], "A", []),
    ],
)
def test_paths(triples, answer, paths):
    assert draw(triples, answer) == paths


node = st.sampled_from("ABCDX")


@settings(max_examples=200)
@given(st.lists(st.tuples(node, st.sampled_from("rs"), node), max_size=6), node)
def test_every_triple_is_drawn_once_in_its_direction(triples, answer):
    found = []
    for path in paths_of([TripleText(*t) for t in triples], answer):
        nodes, arrows = path.plain.split()[::2], path.plain.split()[1::2]
        for at, arrow, end in zip(nodes[:-1], arrows, nodes[1:], strict=True):
            found.append((at, arrow[1], end) if arrow.endswith("→") else (end, arrow[1], at))
    assert sorted(found) == sorted(triples)
