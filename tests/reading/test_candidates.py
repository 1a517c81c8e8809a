"""Candidates: the query graph that a question means is among those that are enumerated."""

import pytest
from small_graph import SmallGraph

from clew.query.execute import Executor
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Query,
    Value,
    Walk,
    Without,
    key_of,
    parts_of,
)
from clew.query.vocabulary import DATE, NUMBER
from clew.reading.candidates import QUOTA
from clew.reading.paths import Exploration

LINES = """
Tide Clock | written_by | Ida Lorn
Tide Clock | pages | 310
Tide Clock | published | 1988-03-01
Tide Clock | publisher | Harbour Press
Salt Road | written_by | Ida Lorn
Salt Road | pages | 520
Salt Road | published | 1994-10-12
Salt Road | publisher | Nordlicht
Paper Moths | written_by | Max Bell
Paper Moths | pages | 310
Paper Moths | published | 2003-06-30
Paper Moths | publisher | Harbour Press
Ash Garden | written_by | Vera Tull
Ash Garden | pages | 150
Ash Garden | published | 2011-01-20
Ash Garden | publisher | Nordlicht
Ida Lorn | born_in | Bergen
Ida Lorn | award | Golden Quill
Max Bell | born_in | Leeds
Max Bell | award | Golden Quill
Vera Tull | born_in | Bergen
Bergen | country | Norway
Leeds | country | England
"""
BOOKS = ["Tide Clock", "Salt Road", "Paper Moths", "Ash Garden"]
TYPED = SmallGraph(
    LINES,
    {"Book": BOOKS, "Author": ["Ida Lorn", "Max Bell", "Vera Tull"], "City": ["Bergen", "Leeds"],
     "Publisher": ["Harbour Press", "Nordlicht"]},
)  # fmt: skip
PLAIN = SmallGraph(LINES)


def it(name: str) -> Anchor:
    return Anchor(TYPED.ids[name])


def along(source, *steps: str):
    for step in steps:
        source = Walk(source, TYPED.step(step))
    return source


BOOK, AUTHOR = OfType(TYPED.types["Book"]), OfType(TYPED.types["Author"])
PAGES, PUBLISHED = (TYPED.step("pages"),), (TYPED.step("published"),)
WROTE, AWARD = TYPED.step("^written_by"), TYPED.step("award")
BY_IDA = along(it("Ida Lorn"), "^written_by")
BY_PRESS = along(it("Harbour Press"), "^publisher")
OVER_300 = Value(300.0)
ASKED_WITHOUT_TYPES = [
    ("Who wrote Tide Clock?", Query("list", along(it("Tide Clock"), "written_by")), {"Ida Lorn"}),
    ("What did Ida Lorn write?", Query("list", BY_IDA), {"Tide Clock", "Salt Road"}),
    (
        "Where was the author of Salt Road born?",
        Query("list", along(it("Salt Road"), "written_by", "born_in")),
        {"Bergen"},
    ),
    (
        "In which country was the author of Salt Road born?",
        Query("list", along(it("Salt Road"), "written_by", "born_in", "country")),
        {"Norway"},
    ),
    (
        "What did Ida Lorn write that Harbour Press published?",
        Query("list", Both(BY_IDA, BY_PRESS)),
        {"Tide Clock"},
    ),
    (
        "What was written by Ida Lorn or Max Bell?",
        Query("list", Either(BY_IDA, along(it("Max Bell"), "^written_by"))),
        {"Tide Clock", "Salt Road", "Paper Moths"},
    ),
    (
        "Which was longer, Tide Clock or Salt Road, in pages?",
        Query("list", Extreme(Either(it("Tide Clock"), it("Salt Road")), PAGES, False, True)),
        {"Salt Road"},
    ),
    (
        "Did Ida Lorn write Tide Clock?",
        Query("yes", Both(BY_IDA, it("Tide Clock"))),
        {"Tide Clock"},
    ),
    (
        "Does Tide Clock have more than 300 pages?",
        Query("yes", Compared(it("Tide Clock"), PAGES, ">", OVER_300)),
        {"Tide Clock"},
    ),
    (
        "Does Salt Road have more pages than Tide Clock?",
        Query("yes", Compared(it("Salt Road"), PAGES, ">", along(it("Tide Clock"), "pages"))),
        {"Salt Road"},
    ),
    ("How many books did Ida Lorn write?", Query("count", BY_IDA), {"Tide Clock", "Salt Road"}),
    (
        "What is the total of the pages that Ida Lorn wrote?",
        Query("sum", along(BY_IDA, "pages")),
        {"310", "520"},
    ),
    (
        "What is the average length of the books of Ida Lorn in pages?",
        Query("average", along(BY_IDA, "pages")),
        {"310", "520"},
    ),
]
ASKED_WITH_TYPES = [
    ("List all books", Query("list", BOOK), set(BOOKS)),
    ("How many authors are there?", Query("count", AUTHOR), {"Ida Lorn", "Max Bell", "Vera Tull"}),
    ("Which authors have no award?", Query("list", Counted(AUTHOR, AWARD, "=", 0)), {"Vera Tull"}),
    (
        "Which books have more than 300 pages?",
        Query("list", Compared(BOOK, PAGES, ">", OVER_300)),
        {"Tide Clock", "Salt Road", "Paper Moths"},
    ),
    (
        "Which books were published before 3 May 1990?",
        Query("list", Compared(BOOK, PUBLISHED, "<", Value(726589.0, date=True))),
        {"Tide Clock"},
    ),
    (
        "Which books have more pages than Tide Clock?",
        Query("list", Compared(BOOK, PAGES, ">", along(it("Tide Clock"), "pages"))),
        {"Salt Road"},
    ),
    ("Which authors wrote at least 2 books?", Query("list", Counted(AUTHOR, WROTE, ">=", 2)), {"Ida Lorn"}),
    ("Which book has the most pages?", Query("list", Extreme(BOOK, PAGES, False, True)), {"Salt Road"}),
    (
        "Which author wrote the most books?",
        Query("list", Extreme(AUTHOR, (WROTE,), True, True)),
        {"Ida Lorn"},
    ),
    (
        "What are the 3 books with the fewest pages?",
        Query("list", Extreme(BOOK, PAGES, False, False, 3)),
        {"Ash Garden", "Tide Clock", "Paper Moths"},
    ),
    (
        "How many pages does the longest book have?",
        Query("list", along(Extreme(BOOK, PAGES, False, True), "pages")),
        {"520"},
    ),
    (
        "Which books were not written by Ida Lorn?",
        Query("list", Without(BOOK, BY_IDA)),
        {"Paper Moths", "Ash Garden"},
    ),
    (
        "books by authors born in Bergen with over 200 pages",
        Query("list", Compared(along(it("Bergen"), "^born_in", "^written_by"), PAGES, ">", Value(200.0))),
        {"Tide Clock", "Salt Road"},
    ),
    (
        "Who wrote the longest book?",
        Query("list", along(Extreme(BOOK, PAGES, False, True), "written_by")),
        {"Ida Lorn"},
    ),
]

CROWDED_OUT = [
    (
        "What did Ida Lorn write that was not published by Harbour Press?",
        Query("list", Without(BY_IDA, BY_PRESS)),
        {"Salt Road"},
    ),
    (
        "Who published books with over 400 pages?",
        Query("list", along(Compared(BOOK, PAGES, ">", Value(400.0)), "publisher")),
        {"Nordlicht"},
    ),
]


def check(small: SmallGraph, question: str, meant: Query, members: set[str]) -> None:
    labels = small.graph.labels
    found = Executor(small.graph).members(meant.part).tolist()
    assert {labels[n] for n in found} == members
    assert key_of(meant) in {key_of(option.query) for option in small.options(question)}


@pytest.mark.parametrize(("question", "meant", "members"), ASKED_WITHOUT_TYPES + ASKED_WITH_TYPES)
def test_what_is_meant_is_a_candidate(question, meant, members) -> None:
    check(TYPED, question, meant, members)


@pytest.mark.parametrize(("question", "meant", "members"), ASKED_WITHOUT_TYPES)
def test_what_is_meant_is_a_candidate_without_types(question, meant, members) -> None:
    check(PLAIN, question, meant, members)


@pytest.mark.parametrize(("question", "meant", "members"), CROWDED_OUT)
def test_what_is_meant_is_not_crowded_out(question, meant, members) -> None:
    check(TYPED, question, meant, members)


def test_without_types_the_ends_of_relations_are_ranked() -> None:
    meant = Query("list", Extreme(OfType(-1, PAGES[0]), PAGES, False, True))
    check(PLAIN, "What has the most pages?", meant, {"Salt Road"})


QUESTIONS = [question for question, _, _ in ASKED_WITHOUT_TYPES + ASKED_WITH_TYPES]


@pytest.mark.parametrize("small", [TYPED, PLAIN], ids=["typed", "plain"])
@pytest.mark.parametrize("question", [*QUESTIONS, "What else has as many pages as Tide Clock?"])
def test_nothing_goes_on_from_a_number_or_a_date_but_the_way_back(small, question) -> None:
    for option in small.options(question):
        for part in parts_of(option.query.part):
            if isinstance(part, Walk) and isinstance(part.source, Walk):
                before = part.source.step
                is_value = small.vocabulary.ends[before ^ 1] in (NUMBER, DATE)
                assert not is_value or part.step == before ^ 1


def test_what_shares_a_number_is_a_candidate() -> None:
    meant = Query("list", along(it("Tide Clock"), "pages", "^pages"))
    check(TYPED, "What else has as many pages as Tide Clock?", meant, {"Paper Moths"})


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_size_is_the_number_of_members(question) -> None:
    executor = Executor(TYPED.graph)
    sized = [option for option in TYPED.options(question) if option.size >= 0]
    assert sized
    assert [o.size for o in sized] == [len(executor.members(o.query.part)) for o in sized]


def test_a_candidate_is_there_once() -> None:
    queries = [option.query for option in TYPED.options("Did Ida Lorn write Tide Clock or Salt Road?")]
    assert len(set(queries)) == len(queries)


def test_no_operation_is_enumerated_that_no_word_asks_for() -> None:
    options = TYPED.options("Who wrote Tide Clock?")
    assert {o.query.ask for o in options} == {"list"}
    kinds = (Extreme, Compared, Counted, Without, Either)
    assert not any(isinstance(part, kinds) for o in options for part in parts_of(o.query.part))


def test_a_candidate_uses_each_mention_once() -> None:
    question = "Did Ida Lorn write Tide Clock?"
    mentions = TYPED.mentions(question)
    for option in TYPED.options(question):
        used = [p.mention for p in parts_of(option.query.part) if isinstance(p, Anchor)]
        assert len(set(used)) == len(used)
        assert all(mentions[i].candidates for i in used)


def test_a_question_without_words_is_about_types_and_what_these_lead_to() -> None:
    options = TYPED.options("?")
    assert OfType(TYPED.types["Book"]) in {option.query.part for option in options}
    assert all(isinstance(option.query.part, OfType | Walk) for option in options)


def test_a_hub_leaves_no_more_than_its_quota() -> None:
    lines = "\n".join(f"Hub | relation {i} | thing {i}" for i in range(200))
    hub = SmallGraph(lines)
    ones = [o for o in hub.options("what about Hub") if isinstance(o.query.part, Walk)]
    assert len([o for o in ones if isinstance(o.query.part.source, Anchor)]) == QUOTA["one"]


def test_the_only_type_of_a_graph_makes_alike_only_what_most_things_have():
    lines = "Heat | directed by | Mann\nRan | directed by | Kurosawa\nMann | born in | Chicago"
    small = SmallGraph(lines, {"node": ["Heat", "Ran", "Mann", "Kurosawa", "Chicago"]})
    question = "Mann directed which movies"
    around = Exploration(
        small.vocabulary, question, small.mentions(question), small.matcher.compare(question)
    )
    assert small.step("directed by") not in around.absent_steps(small.ids["Mann"])


HOMES = SmallGraph(
    """
    Oak Hall | area | Midtown
    Oak Hall | rent | 900
    Oak Hall | has_garden | yes
    Oak Hall | kind | flat
    Oak Hall | opens | 09:30
    Elm House | area | Midtown
    Elm House | rent | 1500
    Elm House | deposit | 900
    Elm House | has_garden | no
    Elm House | kind | villa
    Elm House | opens | 14:00
    Fir Court | area | Eastside
    Fir Court | rent | 1200
    Fir Court | deposit | 800
    Fir Court | has_garden | yes
    Fir Court | kind | flat
    Fir Court | opens | 10:00
    Hut 3 | area | Eastside
    Hut 3 | rent | 3
    """,
    {"Home": ["Oak Hall", "Elm House", "Fir Court", "Hut 3"]},
)


def homes(question: str) -> set[frozenset[str]]:
    """The sets of answers of all candidates of a question."""
    executor = Executor(HOMES.graph)
    queries = [o.query for o in HOMES.options(question) if o.query.ask == "list"]
    return {frozenset(HOMES.graph.labels[n] for n in executor.members(q.part)) for q in queries}


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("homes that open before 10am", {"Oak Hall"}),
        ("homes that open at 10am or earlier", {"Oak Hall", "Fir Court"}),
        ("homes whose deposit is at least the rent of Oak Hall", {"Elm House"}),
        ("homes whose rent is at most that of Fir Court", {"Oak Hall", "Fir Court", "Hut 3"}),
        ("homes in Midtown with a garden", {"Oak Hall"}),
    ],
)
def test_times_and_bounds_are_candidates(question, meant):
    assert frozenset(meant) in homes(question)


def test_nothing_goes_on_from_yes_or_no():
    garden = HOMES.step("has_garden")
    for option in HOMES.options("homes that have a garden like Oak Hall"):
        for part in parts_of(option.query.part):
            assert not (
                isinstance(part, Walk) and isinstance(part.source, Walk) and part.source.step == garden
            )


def test_numbers_are_counted_only_where_different_ones_are_asked_for():
    def counted(question):
        queries = [o.query for o in HOMES.options(question) if o.query.ask == "count"]
        return {q.part.step for q in queries if isinstance(q.part, Walk)}

    assert HOMES.step("rent") not in counted("how many rents do homes have")
    assert HOMES.step("rent") in counted("how many different rents do homes have")


def test_a_number_that_words_compare_with_is_no_name():
    for option in HOMES.options("homes with a rent of more than 3"):
        assert HOMES.ids["3"] not in {p.node for p in parts_of(option.query.part) if isinstance(p, Anchor)}


def test_a_plain_difference_is_not_crowded_out_by_longer_ones():
    books = TYPED.options("Which books of Harbour Press did Ida Lorn not write?")
    assert key_of(Query("list", Without(BY_PRESS, BY_IDA))) in {key_of(o.query) for o in books}


@pytest.mark.parametrize(
    ("question", "sign", "numbers"),
    [
        ("Which films are longer than an hour and a half?", ">", {90}),
        ("films between 1 and 2 hours long", ">=", {60, 120}),
        ("films over 100 minutes", ">", {100}),
        ("films between 2 hours and 70 minutes long", "<=", {70, 120}),
    ],
)
def test_a_number_is_compared_in_the_unit_of_the_relation(question, sign, numbers) -> None:
    films = SmallGraph("\n".join(f"Film {i} | running time minutes | {50 + 10 * i}" for i in range(9)))
    parts = [part for o in films.options(question) for part in parts_of(o.query.part)]
    compared = {p.value for p in parts if isinstance(p, Compared) and isinstance(p.value, Value)}
    assert numbers <= {value.number for value in compared}
    assert {value.unit for value in compared} == {""}
    assert sign in {p.sign for p in parts if isinstance(p, Compared)}


def test_the_ends_of_a_range_are_ordered_in_the_unit_of_the_relation() -> None:
    films = SmallGraph("\n".join(f"Film {i} | running time minutes | {50 + 10 * i}" for i in range(9)))
    ranges = {
        (part.source.value.number, part.value.number): -option.worth
        for option in sorted(
            films.options("films between 30 minutes and 2 hours long"), key=lambda o: o.worth
        )
        for part in parts_of(option.query.part)
        if isinstance(part, Compared) and isinstance(part.source, Compared)
        if (part.source.sign, part.sign) == (">=", "<=")
    }
    assert min(ranges, key=ranges.__getitem__) == (30, 120)
