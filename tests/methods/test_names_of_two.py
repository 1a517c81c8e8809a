"""A name of two things: neither is picked in silence."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.registry import make_method
from clew.types import Answer

GRAPH = """\
e:1\tdirected\tSunrise Road
e:1\tdirected\tBlue Lamp
e:1\tborn_in\tLyon
e:2\twrote\tThe Long Harvest
e:2\tborn_in\tOslo
e:3\tdirected\tQuiet Water
e:3\tborn_in\tOslo
Sunrise Road\tstarring\te:3
The Long Harvest\tstarring\te:3
Sunrise Road\thas_genre\tDrama
"""


@pytest.fixture(scope="module")
def directors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clew]:
    folder = tmp_path_factory.mktemp("directors")
    (folder / "graph.tsv").write_text(GRAPH)
    (folder / "aliases.tsv").write_text("e:1\tAnna Berg\ne:2\tAnna Berg\ne:3\tCarl Dahl\n")
    films = ("Sunrise Road", "Blue Lamp", "The Long Harvest", "Quiet Water")
    types = [*(f"e:{i}\tperson" for i in (1, 2, 3)), *(f"{film}\tfilm" for film in films)]
    (folder / "types.tsv").write_text("\n".join(types))
    beside: dict[str, Path] = {name: folder / f"{name}.tsv" for name in ("aliases", "types")}
    with Clew.open(folder / "graph.tsv", cache_dir=folder, **beside) as opened:
        yield opened


def ask(clew: Clew, question: str) -> Answer:
    return make_method("auto", clew.opened, clew.embedder, None).answer(question)


def test_what_both_may_be_asked_is_not_answered(directors: Clew):
    answer = ask(directors, "Where was Anna Berg born?")
    assert answer.abstained is not None
    assert (answer.abstained.reason, answer.abstained.candidates) == ("ambiguous_entity", ("e:1", "e:2"))


def test_what_one_alone_may_be_asked_is_answered_with_a_note(directors: Clew):
    answer = ask(directors, "What is the genre of the films directed by Anna Berg?")
    assert answer.text == "Drama"
    assert answer.notes == ('"Anna Berg" may also be e:2; this is of e:1',)


def test_a_name_of_one_thing_is_no_note(directors: Clew):
    answer = ask(directors, "Where was Carl Dahl born?")
    assert (answer.text, answer.notes) == ("Oslo", ())


FINAL = "Facts: 1\nAnswer: Lyon"
REPLIES = {
    "walk-retrieve": [FINAL],
    "kaping": [FINAL],
    "triple-rag": [FINAL],
    "vector-rag": [FINAL],
    "kg-rag": ["1. Where was Anna Berg born?", FINAL],
    "simgrag": [json.dumps({"divided": ["x"], "triples": [["Anna Berg", "born in", "UNKNOWN city 1"]]}),
     json.dumps({"reason": "x", "answers": ["Lyon"]})],
    "synaptiqa": ["MATCH (p:person {name: 'e:1'})-[:born_in]->(c) RETURN c.name AS city",
     json.dumps({"text": "", "answers": ["Lyon"]})],
}  # fmt: skip


def replied(clew: Clew, method: str, replies: list[str], question: str) -> Answer:
    if method == "synaptiqa":
        pytest.importorskip("ladybug")
    model = ScriptedModel([*replies, replies[-1]])
    return make_method(method, clew.opened, clew.embedder, model).answer(question)


@pytest.mark.parametrize("method", REPLIES)
def test_with_a_model_it_is_said_that_a_name_is_of_two(directors: Clew, method: str):
    answer = replied(directors, method, REPLIES[method], "Where was Anna Berg born?")
    assert [a.label for a in answer.answers] == ["Lyon"]
    assert any(note.startswith('"Anna Berg" is the name of 2 things; ') for note in answer.notes)


@pytest.mark.parametrize("method", REPLIES)
def test_with_a_model_a_name_of_one_is_no_note(directors: Clew, method: str):
    replies = [
        reply.replace("Anna Berg", "Carl Dahl").replace("e:1", "Carl Dahl").replace("Lyon", "Oslo")
        for reply in REPLIES[method]
    ]
    answer = replied(directors, method, replies, "Where was Carl Dahl born?")
    assert [a.label for a in answer.answers] == ["Oslo"]
    assert answer.notes == ()


def test_an_alias_in_a_query_is_the_name_that_the_store_has(directors: Clew):
    query = "MATCH (p:person {name: 'Carl Dahl'})-[:born_in]->(c) RETURN c.name AS city"
    replies = [query, json.dumps({"text": "", "answers": ["Oslo"]})]
    answer = replied(directors, "synaptiqa", replies, "Where was he born?")
    assert answer.query == query.replace("Carl Dahl", "e:3")
    assert answer.usage.calls == 2


def test_an_alias_of_two_is_for_the_model_to_choose(directors: Clew):
    query = "MATCH (p:person {name: 'Anna Berg'})-[:born_in]->(c) RETURN c.name AS city"
    replies = [query, '{"choices": [2]}', json.dumps({"text": "", "answers": ["Oslo"]})]
    answer = replied(directors, "synaptiqa", replies, "Where was Anna Berg born?")
    assert answer.query == query.replace("Anna Berg", "e:2")
    assert "the query says which are asked" in answer.notes[0]


TRIPLES = [
    ("Hydraulic Press HP-40", "lubricated_with", "Arctol 68"),
    ("Hydraulic Press HP-40B", "lubricated_with", "Arctol 46"),
    ("Ball Mill TB-5", "lubricated_with", "Arctol 100"),
    ("Ball Mill TB-5 Mk2", "lubricated_with", "Arctol 220"),
    ("North Hall Crane", "lubricated_with", "Grease 2"),
    ("North Hall Lift", "lubricated_with", "Grease 3"),
]


@pytest.fixture(scope="module")
def plant():
    with Clew.from_triples(TRIPLES) as opened:
        yield opened


@pytest.mark.parametrize("method", ["auto", "kg-rag", "walk-retrieve", "kaping"])
def test_every_method_takes_the_code_of_a_thing(plant, method):
    said = ["1. What is it lubricated with?"] if method == "kg-rag" else []
    model = None if method == "auto" else ScriptedModel([*said, "Facts: 1\nAnswer: Arctol 68"])
    answer = plant.ask("What is it lubricated with?", entities=["HP-40"], method=method, model=model)
    assert [a.label for a in answer.answers] == ["Arctol 68"]
    assert [t.head for t in answer.citations[0].triples] == ["Hydraulic Press HP-40"]


def test_a_part_of_no_name_is_no_entity(plant):
    answer = plant.ask("What is it lubricated with?", entities=["XY-9"])
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_entity"
    assert '"XY-9"' in answer.abstained.detail


FILMS = ("Sunrise Road", "Blue Lamp", "The Long Harvest", "Quiet Water", "Last Orchard", "Stone Bridge")


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clew]:
    """Films with genres, and tags that are written in small letters."""
    folder = tmp_path_factory.mktemp("films")
    dramas, comedies = FILMS[:4], FILMS[4:]
    triples = [
        *((film, "has_genre", "Drama") for film in dramas),
        *((film, "has_genre", "Comedy") for film in comedies),
        *((film, "has_tags", "drama") for film in dramas[1:3]),
        *((film, "has_tags", "bd-r") for film in comedies),
        *((film, "directed_by", "Anna Berg") for film in (FILMS[0], FILMS[4])),
        *((film, "in_city", "Oslo") for film in FILMS[:2]),
        ("Anna Berg", "born_in", "Lyon"),
        ("Carl Dahl", "born_in", "Lyon"),
    ]
    (folder / "films.tsv").write_text("\n".join("\t".join(triple) for triple in triples))
    removed: Path = folder / "removed.tsv"
    removed.write_text("\n".join(f"{film}\thas_genre\tDrama" for film in dramas))
    with Clew.index(folder / "films.tsv", folder / "films.clew") as opened:
        opened.update(remove=[removed])
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "Which films are of the genre Drama?",
        "which films have the genre Drama",
        "List films in the Drama genre.",
        'Which films have a genre called "Drama"?',
    ],
)
def test_what_is_said_to_be_of_a_relation_is_not_found_by_another(films: Clew, question: str):
    answer = make_method("auto", films.opened, films.embedder, None).answer(question)
    assert answer.abstained is not None
    assert not answer.answers


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which films are of the genre Comedy?", {"Last Orchard", "Stone Bridge"}),
        ("Which films are tagged drama?", {"Blue Lamp", "The Long Harvest"}),
        ("Who was born in the city Lyon?", {"Anna Berg", "Carl Dahl"}),
    ],
)
def test_what_is_of_the_kind_or_said_by_another_word_is_answered(
    films: Clew, question: str, expected: set[str]
):
    answer = make_method("auto", films.opened, films.embedder, None).answer(question)
    assert {a.label for a in answer.answers} == expected
