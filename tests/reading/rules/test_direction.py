"""Which way the grammar around a mention walks a relation."""

import pytest

from clew import Clew
from clew.reading.rules.direction import forward_part, part_of_mention, preferred_step
from clew.text.lexicon import Lexicon


@pytest.mark.parametrize(
    ("relation", "part"),
    [
        ("founded_by", "patient"),
        ("subsidiary_of", "owned"),
        ("influenced", "agent"),
        ("headquarters", "owner"),
        ("birth_place", "owner"),
    ],
)
def test_a_relation_says_what_its_heads_are(firms, relation, part):
    assert forward_part(firms.table.vocabulary, firms.relation(relation)) == part


@pytest.mark.parametrize(
    ("text", "name", "part"),
    [
        ("Who was influenced by Jo May?", "Jo May", "agent"),
        ("Who did Jo May influence?", "Jo May", "agent"),
        ("Who influenced Jo May?", "Jo May", "patient"),
        ("By whom was Jo May influenced?", "Jo May", "patient"),
    ],
)
def test_who_acts(firms, text, name, part):
    _, comparison = firms.compare(text)
    assert part_of_mention(comparison, firms.span(text, name), firms.relation("influenced")) == part


@pytest.mark.parametrize(
    ("text", "forward"),
    [
        ("Who was influenced by Jo May?", True),
        ("Who did Jo May influence?", True),
        ("Who influenced Jo May?", False),
    ],
)
def test_the_step_follows_the_grammar(firms, text, forward):
    _, comparison = firms.compare(text)
    found = preferred_step(comparison, firms.span(text, "Jo May"), firms.relation("influenced"))
    assert found == firms.step("influenced", forward)


def test_whose_noun_it_is(firms):
    text = "What are the headquarters of Acme?"
    _, comparison = firms.compare(text)
    relation = firms.relation("headquarters")
    assert part_of_mention(comparison, firms.span(text, "Acme"), relation) == "owner"
    assert preferred_step(comparison, firms.span(text, "Acme"), relation) == 2 * relation


def test_a_relation_that_no_word_names_has_no_direction(firms):
    text = "Who influenced Jo May?"
    _, comparison = firms.compare(text)
    assert preferred_step(comparison, firms.span(text, "Jo May"), firms.relation("headquarters")) is None


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who does Bob know?", ["Cy"]),
        ("Whom does Bob know?", ["Cy"]),
        ("Who knows Bob?", ["Ada", "Dee"]),
        ("Who does Ada know?", ["Bob"]),
    ],
)
def test_a_verb_that_could_be_a_noun_is_walked_as_it_is_asked(tmp_path, question, answers):
    rows = [
        "Ada knows Bob",
        "Bob knows Cy",
        "Cy knows Ada",
        "Dee knows Bob",
        "Bob works_for Acme",
        "Cy works_for Initech",
    ]
    graph = tmp_path / "people.tsv"
    graph.write_text("".join("\t".join(row.split()) + "\n" for row in rows), "utf-8")
    with Clew.open(graph, cache_dir=tmp_path / "cache") as people:
        assert [a.entity for a in people.ask(question).answers] == answers


def test_a_name_that_is_a_plural_is_no_verb():
    lexicon = Lexicon.load()
    assert lexicon.mostly_verb("knows")
    assert not any(map(lexicon.mostly_verb, ("awards", "actors", "parents", "borders", "causes")))
