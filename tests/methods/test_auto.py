"""The built-in method on two small graphs: exact answers, abstentions and their proof."""

import json
from pathlib import Path

import pytest

from clew.engine import Clew

DATA = Path(__file__).resolve().parents[1] / "data" / "dev"


def entities(answer):
    return {a.entity for a in answer.answers}


def walk(graph, start, *steps):
    """Names reached from a name by (relation, forward?) steps."""
    names = list(graph.entities)
    triples = [tuple(graph.triple(t)) for t in range(graph.triples)]
    front = {start}
    for relation, forward in steps:
        chosen = [(names[h], names[t]) for h, r, t in triples if graph.relations[r] == relation]
        front = {b if forward else a for a, b in chosen if (a if forward else b) in front}
    return front


NOLAN = "Christopher Nolan"
BY_NOLAN = (("directed_by", False),)


@pytest.mark.parametrize(
    ("question", "start", "steps"),
    [
        ("Who directed Memento?", "Memento", [("directed_by", True)]),
        ("Which films did Christopher Nolan direct?", NOLAN, BY_NOLAN),
        ("Who starred in films directed by Christopher Nolan?", NOLAN, [*BY_NOLAN, ("starring", True)]),
        (
            "In which languages are films directed by Christopher Nolan?",
            NOLAN,
            [*BY_NOLAN, ("language", True)],
        ),
    ],
)
def test_paths_are_answered_with_all_that_they_reach(films_auto, question, start, steps):
    assert entities(films_auto.answer(question)) == walk(films_auto.index.graph, start, *steps)


def test_three_hops(films_auto):
    there = walk(films_auto.index.graph, "Memento", ("written_by", True), ("written_by", False)) - {"Memento"}
    wanted = set().union(*(walk(films_auto.index.graph, film, ("genre", True)) for film in there))
    answer = films_auto.answer("Which genres do films written by the writer of Memento have?")
    assert wanted <= entities(answer)
    assert len(answer.citations[0].triples) == 3


def test_what_is_shared_is_not_the_thing_itself(films_auto):
    wanted = walk(films_auto.index.graph, NOLAN, *BY_NOLAN) - {"Memento"}
    assert entities(films_auto.answer("Which films share a director with Memento?")) == wanted


def test_two_names_have_to_meet(films_auto):
    wanted = walk(films_auto.index.graph, NOLAN, *BY_NOLAN) & walk(
        films_auto.index.graph, "Michael Caine", ("starring", False)
    )
    question = "Which films were directed by Christopher Nolan and star Michael Caine?"
    assert entities(films_auto.answer(question)) == wanted


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Did Christopher Nolan direct Memento?", "yes"),
        ("Did Christopher Nolan direct Heat?", "no"),
        ("Is Al Pacino in Insomnia?", "yes"),
    ],
)
def test_yes_and_no(films_auto, question, said):
    answer = films_auto.answer(question)
    assert answer.text == said
    assert answer.citations


def test_no_cites_what_is_recorded_instead(countries):
    answer = countries.answer("Does the Nile flow through Kenya?")
    assert (answer.text, {c.triples[0].head for c in answer.citations}) == ("no", {"Nile"})


def test_a_count_cites_all_that_is_counted(films_auto):
    wanted = len(walk(films_auto.index.graph, NOLAN, *BY_NOLAN))
    answer = films_auto.answer("How many films did Christopher Nolan direct?")
    assert (answer.text, len(answer.citations)) == (str(wanted), wanted)


def test_a_number_that_is_recorded_is_no_count(countries):
    assert countries.answer("How many people live in France?").text == "67800000"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which is the longest river?", {"Nile"}),
        ("Which country has the largest population?", {"Brazil"}),
        ("What is the longest river that flows through Germany?", {"Danube"}),
        ("Which rivers are longer than 2000 km?", {"Danube", "Nile", "Amazon"}),
        ("How many countries are in Europe?", {"7"}),
        ("What is the capital of the country where Mount Kenya is located?", {"Nairobi"}),
    ],
)
def test_superlatives_ranges_and_counts_of_countries(countries, question, wanted):
    assert entities(countries.answer(question)) == wanted


def test_a_superlative_among_the_films_of_a_name(films_auto):
    answer = films_auto.answer("What is the longest film directed by Christopher Nolan?")
    assert [t.relation for t in answer.citations[0].triples] == ["directed_by", "runtime_minutes"]
    assert entities(answer) == {"Oppenheimer"}


def test_a_range_proves_the_value_too(films_auto):
    answer = films_auto.answer("Which films did Christopher Nolan direct after 2010?")
    assert entities(answer) < walk(films_auto.index.graph, NOLAN, *BY_NOLAN)
    assert all(c.triples[-1].relation == "release_year" for c in answer.citations)
    assert all(int(c.triples[-1].tail) > 2010 for c in answer.citations)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Who directed The Wizard of Oz?", "no_entity"),
        ("What is it?", "no_entity"),
        ("Did Christopher Nolan direct Memento before Inception?", "unplaced"),
        ("Who was married to Al Pacino?", "empty_result"),
    ],
)
def test_abstention_says_why(films_auto, question, reason):
    answer = films_auto.answer(question)
    assert answer.abstained is not None
    assert (answer.abstained.reason, answer.answers, answer.text) == (reason, (), "")
    assert answer.abstained.detail


def test_readings_that_tie_in_what_no_word_names_leave_what_they_share(open_auto):
    answer = open_auto(DATA / "companies.tsv").answer("Where is Tesla headquartered?")
    assert entities(answer) == {"Austin"}


SHOP = """
Oat Bread	PART_OF	Bakery Goods
Rye Bread	PART_OF	Bakery Goods
Goat Cheese	PART_OF	Dairy Goods
Oat Bread	productID	1
Rye Bread	productID	2
Goat Cheese	productID	3
Oat Bread	unitPrice	3.5
Rye Bread	unitPrice	4.25
Goat Cheese	unitPrice	9
Oat Bread	unitsInStock	7
Rye Bread	unitsInStock	3
Goat Cheese	unitsInStock	1
Bakery Goods	categoryID	1
Dairy Goods	categoryID	2
Mill & Sons	SUPPLIES	Oat Bread
Mill & Sons	SUPPLIES	Rye Bread
Hill Farm	SUPPLIES	Goat Cheese
Mill & Sons	city	Leeds
Hill Farm	city	York
Corner Cafe	city	Leeds
Mill & Sons	contactTitle	Owner
Hill Farm	contactTitle	Clerk
Corner Cafe	contactTitle	Owner
"""
SHOP_TYPES = """
Oat Bread	Product
Rye Bread	Product
Goat Cheese	Product
Bakery Goods	Category
Dairy Goods	Category
Mill & Sons	Supplier
Hill Farm	Supplier
Corner Cafe	Customer
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.tsv").write_text(SHOP.lstrip())
    (folder / "shop.types.tsv").write_text(SHOP_TYPES.lstrip())
    with Clew.open(folder / "shop.tsv", cache_dir=folder) as clew:
        yield clew


def test_so_many_as_are_wanted_and_of_how_many(shop):
    answer = shop.ask("Show the first 2 products that Mill & Sons supplies.")
    assert answer.text == "Oat Bread · Rye Bread"
    answer = shop.ask("Which two have the contact title Owner?")
    assert answer.text in ("Mill & Sons · Corner Cafe", "Corner Cafe · Mill & Sons")


TOWNS = (("springfield_ohio", "Ohioland"), ("springfield_maine", "Maineland"))


def test_twins_that_are_written_alike_are_told_by_their_ids(open_auto, tmp_path):
    path = tmp_path / "towns.nt"
    label, within = "<http://www.w3.org/2000/01/rdf-schema#label>", "<http://x.example/country>"
    towns = [(f"<http://x.example/{town}>", f"<http://x.example/{land}>") for town, land in TOWNS]
    path.write_text("".join(f'{t} {label} "Springfield" .\n{t} {within} {land} .\n' for t, land in towns))
    answer = open_auto(path).answer("Which country is Springfield in?")
    assert answer.abstained.reason == "ambiguous_entity"
    assert set(answer.abstained.candidates) == {
        f"Springfield ({town.replace('_', ' ')})" for town, _ in TOWNS
    }


def test_given_entities_are_what_the_question_is_about(films_auto):
    answer = films_auto.answer("Who directed it?", entities=["Memento"])
    assert entities(answer) == {NOLAN}


def test_a_given_entity_has_to_exist(films_auto):
    answer = films_auto.answer("Who directed it?", entities=["Nobody At All"])
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_entity"


def test_misspelt_names_are_mended(films_auto):
    assert entities(films_auto.answer("Who directed Mementoo?")) == {NOLAN}


@pytest.mark.parametrize("question", ["", "?", "🎬", "DROP TABLE x; --", "word " * 300])
def test_odd_questions_abstain(films_auto, question):
    assert films_auto.answer(question).abstained is not None


def test_the_same_question_has_the_same_answer(films_auto):
    question = "Who starred in films directed by Christopher Nolan?"
    one, two = films_auto.answer(question), films_auto.answer(question)
    assert (one.answers, one.citations, one.steps) == (two.answers, two.citations, two.steps)


def test_stages_are_timed_and_the_id_comes_back(films_auto):
    answer = films_auto.answer("Who directed Memento?", id="7")
    assert answer.id == "7"
    assert {"link", "enumerate", "rank", "total"} <= answer.timings_ms.keys()


def read_set(name):
    lines = (DATA / f"{name}_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@pytest.mark.parametrize("name", ["countries", "companies"])
def test_development_questions_are_answered_or_left_alone(open_auto, name):
    auto, right, rows = open_auto(DATA / f"{name}.tsv"), 0, read_set(name)
    for row in rows:
        answer = auto.answer(row["question"])
        if "gold" in row:
            right += entities(answer) == set(row["gold"])
        else:
            right += answer.abstained is not None and answer.abstained.reason in (
                row["reason"],
                *row.get("also", ()),
            )
        prove(auto.index.graph, answer)
    assert right / len(rows) >= 0.8


def prove(graph, answer):
    """Every citation is triples of the graph that hang together and hold the answer; every answer has one."""
    for citation in answer.citations:
        named = [(t.head, t.relation, t.tail) for t in citation.triples]
        for triple, names in zip(citation.triple_ids, named, strict=True):
            head, relation, tail = graph.triple(triple)
            assert names == (graph.entities[head], graph.relations[relation], graph.entities[tail])
        reached = {named[0][0], named[0][2]}
        for _ in named:
            reached |= {n for h, _, t in named if {h, t} & reached for n in (h, t)}
        assert all(h in reached for h, _, _ in named)
        whole = citation.answer in ("yes", "no") or citation.answer.isdigit()
        assert whole or citation.answer in reached
        known = {n.name for n in answer.pattern.nodes if n.known} if answer.pattern else set()
        assert answer.text == "no" or not known or known & reached
    if "counted by the declared types" not in answer.notes:
        assert {a.entity for a in answer.answers} == {c.answer for c in answer.citations}


def test_every_answer_about_films_is_proved(films_auto):
    for row in read_set("films")[::4]:
        prove(films_auto.index.graph, films_auto.answer(row["question"]))
