"""A name that the graph lacks: what is like it is no answer, whatever the model makes of it."""

import json

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel

FILMS = {
    "Memento": ("Thriller", "Christopher Nolan", "English", "dramatic"),
    "Insomnia": ("Crime", "Christopher Nolan", "English", "drama"),
    "Beowulf": ("Action", "Robert Zemeckis", "Old English", "drama"),
    "Heat": ("Crime", "Michael Mann", "French", "heist"),
}
RELATIONS = ("has_genre", "directed_by", "in_language", "has_tags")


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lacking")
    lines = [
        f"{film}\t{r}\t{tail}\n"
        for film, tails in FILMS.items()
        for r, tail in zip(RELATIONS, tails, strict=True)
    ]
    (folder / "films.tsv").write_text("".join(lines))
    with Clew.open(folder / "films.tsv", cache_dir=folder / "cache") as clew:
        yield clew


@pytest.mark.parametrize(
    "triples",
    [
        [["UNKNOWN film 1", "has genre", "Drama"]],
        [["UNKNOWN film 1", "has genre", "Drama"], ["UNKNOWN film 1", "directed by", "Christopher Nolan"]],
        [["UNKNOWN film 1", "in language", "German"]],
        [["UNKNOWN film 1", "in language", "German"], ["UNKNOWN film 1", "directed by", "Michael Mann"]],
    ],
)
def test_a_pattern_with_a_name_that_is_not_there_has_no_answer(films, triples):
    pattern = json.dumps({"divided": ["x"], "triples": triples})
    reading = json.dumps({"reason": "near enough", "answers": list(FILMS)})
    model = ScriptedModel(lambda request: pattern if "triples" in request.messages[-1].text else reading)
    answer = films.ask("Which films are these?", method="simgrag", model=model)
    assert answer.answers == ()
    assert answer.abstained is not None


def test_the_same_pattern_with_a_name_that_is_there_has_one(films):
    pattern = json.dumps({"divided": ["x"], "triples": [["UNKNOWN film 1", "has genre", "Thriller"]]})
    reading = json.dumps({"reason": "it says so", "answers": ["Memento"]})
    replies = iter((pattern, reading))
    answer = films.ask(
        "Which?", method="simgrag", model=ScriptedModel(lambda request: next(replies, reading))
    )
    assert [a.label for a in answer.answers] == ["Memento"]
