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
