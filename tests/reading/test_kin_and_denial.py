"""Kinship is not the nearest relation, and what denies is not its positive."""

from __future__ import annotations

import pytest

from clew import Clew

FAMILY = """Tom|parent of|Bob
Pam|parent of|Bob
Tom|parent of|Liz
Bob|parent of|Ann
Bob|parent of|Pat
Pat|parent of|Jim
Pam|gender|female
Tom|gender|male
Bob|gender|male
Liz|gender|female
Pat|gender|female
Ann|gender|female
Jim|gender|male"""
COUPLES = """Ann|spouse|Bob
Cid|spouse|Dee
Eve|father|Bob
Bob|father|Max
Eve|mother|Ann
Cid|mother|Ann"""
DISLIKES = "Ann|dislikes|Bob\nBob|dislikes|Cid\nAnn|works for|Nord\nCid|works for|Nord\nBob|works for|Sud"
LIKES = DISLIKES.replace("dislikes", "likes")
GENES = "Gene G|does_not_cause|Disease Q\nGene H|does_not_cause|Disease R\nGene A|regulates|Gene H"
LAMPS = """Lamp A|not_compatible_with|Base 1
Lamp B|not_compatible_with|Base 2
Lamp A|made_by|Nord
Lamp B|made_by|Sud"""
GRAPHS = {
    "family": FAMILY,
    "couples": COUPLES,
    "dislikes": DISLIKES,
    "likes": LIKES,
    "genes": GENES,
    "lamps": LAMPS,
}


@pytest.fixture(scope="module")
def graphs() -> dict[str, Clew]:
    lines = {name: [tuple(line.split("|")) for line in text.splitlines()] for name, text in GRAPHS.items()}
    return {name: Clew.from_triples(triples) for name, triples in lines.items()}


@pytest.mark.parametrize(
    ("graph", "question", "answers"),
    [
        ("family", "Who is the mother of Bob?", {"Pam"}),
        ("family", "Who are the daughters of Bob?", {"Ann", "Pat"}),
        ("family", "Who are the parents of Bob?", {"Tom", "Pam"}),
        ("family", "Who are the mum and dad of Bob?", {"Tom", "Pam"}),
        ("family", "How many daughters does Bob have?", {"2"}),
        ("family", "Is Pam the mother of Bob?", {"yes"}),
        ("couples", "Who is the spouse of Ann?", {"Bob"}),
        ("couples", "Who is Eve's mom?", {"Ann"}),
        ("couples", "Who is the father of the father of Eve?", {"Max"}),
        ("dislikes", "Who dislikes Bob?", {"Ann"}),
        ("likes", "Who likes Bob?", {"Ann"}),
    ],
)
def test_what_is_named_so_is_answered(graphs, graph, question, answers):
    assert {a.label for a in graphs[graph].ask(question).answers} == answers


@pytest.mark.parametrize(
    ("graph", "question"),
    [
        ("family", "Who is the sister of Liz?"),
        ("family", "Who is the aunt of Jim?"),
        ("family", "Who is the grandfather of Ann?"),
        ("family", "Is Tom the mother of Bob?"),
        ("couples", "Who is the wife of Bob?"),
        ("couples", "Who is Eve's grandfather?"),
        ("couples", "Who are the parents of Eve?"),
        ("dislikes", "Who likes Bob?"),
        ("dislikes", "Does Ann like Bob?"),
        ("likes", "Who dislikes Bob?"),
        ("likes", "Does Ann dislike Bob?"),
        ("genes", "Which gene causes Disease Q?"),
        ("genes", "What does Gene G cause?"),
        ("genes", "Does Gene G cause Disease Q?"),
        ("lamps", "Which lamp is compatible with Base 1?"),
        ("lamps", "Which lamp is not incompatible with Base 1?"),
    ],
)
def test_what_is_not_named_so_is_left_open(graphs, graph, question):
    answer = graphs[graph].ask(question)
    assert not answer.answers, answer.reading
