"""Answers from retrieved walks, with and without a model; every one is proved by triples of the walks."""

import pytest

from clew.engine import Clew
from clew.index.corpus import CorpusSettings
from clew.llm.testing import ScriptedModel
from clew.methods.settings import WalkRetrieveSettings
from clew.opening.graph_view import index_sources

FILMS = {
    "Memento": ("Christopher Nolan", "2000", "Guy Pearce"),
    "Inception": ("Christopher Nolan", "2010", "Leonardo DiCaprio"),
    "Heat": ("Michael Mann", "1995", "Al Pacino"),
    "Insomnia": ("Christopher Nolan", "2002", "Al Pacino"),
}


@pytest.fixture(scope="module", params=["bfs", "random", None])
def films_of_each_corpus(request, tmp_path_factory):
    yield from opened_films(tmp_path_factory, request.param and CorpusSettings(request.param))


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    yield from opened_films(tmp_path_factory, None)


def opened_films(tmp_path_factory, corpus):
    folder = tmp_path_factory.mktemp("films")
    source = folder / "films.tsv"
    lines = [
        f"{film}\t{relation}\t{value}\n"
        for film, values in FILMS.items()
        for relation, value in zip(("directed_by", "release_year", "starred_actors"), values, strict=True)
    ]
    source.write_text("".join(lines))
    index_sources([source], folder / "films.clew", corpus=corpus)
    with Clew.open(folder / "films.clew") as opened:
        yield opened


def ask(films, question, **options):
    return films.ask(question, method="walk-retrieve", **options)


def test_the_walks_that_were_read_are_told_with_cosines_and_triples(films_of_each_corpus):
    films = films_of_each_corpus
    model = ScriptedModel(["It was directed by him.\nFacts: 1\nAnswer: Michael Mann"])
    answer = ask(films, "Who directed Heat?", model=model, settings=WalkRetrieveSettings(2))
    [told] = [step.detail for step in answer.steps if step.name == "retrieve"]
    assert told["k"] == 2
    walks = told["walks"]
    assert len({walk["node"] for walk in walks}) == 2
    assert [walk["score"] for walk in walks] == sorted((walk["score"] for walk in walks), reverse=True)
    shown = model.requests[0].messages[1].text
    for walk in walks:
        assert walk["walk"] in shown
        assert walk["triples"]
        assert walk["node"] in {end for head, _, tail in walk["triples"] for end in (head, tail)}


@pytest.mark.parametrize(
    ("reply", "complete"),
    [("Answer: Memento; Inception; Insomnia", True), ("Answer: Memento", False)],
)
def test_a_model_that_names_all_ends_of_a_path_is_complete(films, reply, complete):
    question = "Which films were directed by Christopher Nolan?"
    answer = ask(films, question, model=ScriptedModel([f"So it is.\nFacts: 1\n{reply}"]))
    assert (answer.abstained, answer.complete) == (None, complete)


TRIPLES = [
    ("Ann", "plays for", "Reds"), ("Bea", "plays for", "Reds"), ("Cid", "plays for", "Blues"),
    ("Ann", "born in", "Oslo"), ("Bea", "born in", "Rome"), ("Cid", "born in", "Oslo"), ("Ann", "goals", "7"),
    ("Bea", "goals", "12"), ("Cid", "goals", "3"), ("Reds", "rival of", "Blues"),
    ("Blues", "rival of", "Reds"),
]  # fmt: skip


@pytest.fixture(scope="module")
def clubs():
    with Clew.from_triples(TRIPLES, types={"Reds": ["club"], "Blues": ["club"]}) as opened:
        yield opened


def test_an_answer_from_a_whole_relation_is_cited(clubs):
    reply = "Bea has 12.\nFacts: 1\nAnswer: Bea"
    model = ScriptedModel(lambda _: reply)
    answer = clubs.ask("Who has the most goals?", method="walk-retrieve", model=model)
    assert [a.label for a in answer.answers] == ["Bea"]
    assert [t.as_json() for t in answer.citations[0].triples] == [["Bea", "goals", "12"]]


def test_all_of_a_type_is_an_answer(clubs):
    model = ScriptedModel(lambda _: "They are listed.\nFacts: 1\nAnswer: all of 1")
    answer = clubs.ask("Which clubs are there?", method="walk-retrieve", model=model)
    assert sorted(a.label for a in answer.answers) == ["Blues", "Reds"]
    assert all(c.triples for c in answer.citations)


def test_a_number_for_each_is_counted_by_code(films):
    said = "Facts: 1\nAnswer: Christopher Nolan: 3; Michael Mann: 1"
    model = ScriptedModel([f"Three and one.\n{said}"])
    answer = ask(films, "number of films directed by each director", model=model)
    assert answer.text == "Christopher Nolan: 3 · Michael Mann: 1"
    assert [len(citation.triples) for citation in answer.citations] == [3, 1]


def test_what_a_named_thing_has_is_one_line_and_no_path_goes_on_from_its_values():
    triples = [("Ann", "goals", "7"), ("Bea", "assists", "7"), ("Cid", "goals", "7"), ("Ann", "town", "Oslo")]
    with Clew.from_triples([*triples, ("Ann", "trained by", "Dee"), ("Dee", "town", "Rome")]) as people:
        model = ScriptedModel(["Facts: none\nAnswer: none"])
        people.ask("Who is Ann?", method="walk-retrieve", model=model)
        shown = model.requests[0].messages[1].text
        assert "] Ann : goals 7; town Oslo; trained by Dee\n" in shown
        assert "Ann ─trained by→ · ─town→ : Rome" in shown
        assert "Ann ─goals→ · ←goals─ : Cid" in shown
        assert "←assists─" not in shown


def test_a_list_of_numbers_of_which_one_is_not_proved_is_no_answer(films):
    said = "Facts: 1\nAnswer: Christopher Nolan: 3; Michael Mann: 4"
    model = ScriptedModel([f"Three and four.\n{said}"])
    answer = ask(films, "number of films directed by each director", model=model)
    assert answer.abstained is not None
    assert "Michael Mann: 4" in answer.abstained.detail
