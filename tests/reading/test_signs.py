"""What the words of a question tell against a candidate."""

import math

import pytest
from small_graph import SmallGraph

from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Extreme,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    Without,
)
from clew.reading import english
from clew.reading.comparisons import sign_beside
from clew.reading.mentions import Mention
from clew.reading.odds import IGNORED, LEFT_OPEN, LOOSE, TURNED, UNSAID
from clew.reading.signs import ONCE_SAID, Signs

SMALL = SmallGraph(
    """
    Aspirin | approved | 1999
    Aspirin | made_by | Bell
    Lorazin | approved | 2004
    Lorazin | made_by | Tor
    """,
    {"Drug": ["Aspirin", "Lorazin"]},
)
DRUGS, APPROVED, MADE_BY = OfType(0), SMALL.step("approved"), SMALL.step("made_by")


@pytest.mark.parametrize(
    ("text", "value", "sign"),
    [
        ("approved after 2000?", "2000", ">"),
        ("approved before the year 2000", "2000", "<"),
        ("20 minutes or less", "20", "<="),
        ("no more than 5 tools", "5", "<="),
        ("at least 3 skills", "3", ">="),
        ("since 1990", "1990", ">="),
        ("over $300", "300", ">"),
        ("100 m and up", "100", ">="),
        ("approved in 1999", "1999", None),
        ("the under secretary of 1999", "1999", None),
        ("players taller than 190", "190", ">"),
        ("all other than 190", "190", None),
        ("180 cm or taller", "180", ">="),
        ("800 square feet or smaller", "800", "<="),
        ("on or before 2004", "2004", "<="),
        ("greater than or equal to 5", "5", ">="),
        ("less than or equal to 5", "5", "<="),
        ("rooms, price < 30", "30", "<"),
        ("price>=$30", "30", ">="),
        ("rooms ≠ 30", "30", "!="),
        ("boats built pre-1939", "1939", "<"),
        ("staff older than 40", "40", ">"),
        ("boats built post-1939", "1939", ">"),
        ("minerals softer than 3", "3", "<"),
        ("links of 1000 Mbps upwards", "1000", ">="),
        ("precisely 57 replies", "57", "="),
    ],
)
def test_the_words_beside_a_value(text, value, sign):
    assert sign_beside(text, mention_of(text, value, Value(float(value)))) == sign


def mention_of(text: str, value: str, *values: Value) -> Mention:
    start = text.index(value)
    return Mention(start, start + len(value), value, (), values, strong=False)


@pytest.mark.parametrize(("word", "sign"), [("older", "<"), ("younger", ">"), ("newer", ">")])
def test_what_is_older_than_a_year_is_before_it(word, sign):
    text = f"ships {word} than 2005"
    mention = mention_of(text, "2005", Value(2005.0), Value(732312.0, date=True, width=364.0))
    assert sign_beside(text, mention) == sign


def test_by_a_date_is_no_later():
    number, date = Value(2004.0), Value(12418.0, date=True, width=365.0)
    assert sign_beside("posted by 2004", mention_of("posted by 2004", "2004", number, date)) == "<="
    assert sign_beside("multiplied by 2004", mention_of("multiplied by 2004", "2004", number)) is None


@pytest.mark.parametrize(
    ("text", "is_rank"),
    [("top 3 films", True), ("the 3 longest films", True), ("3 films", False), ("before 3 testers", False)],
)
def test_how_many_of_a_rank(text, is_rank):
    start = text.index("3")
    assert english.is_rank(text, start, start + 1) == is_rank


def against(question: str, part: Part) -> float:
    mentions, likeness = SMALL.mentions(question), SMALL.matcher.compare(question)
    return Signs(SMALL.vocabulary, question, mentions, likeness).against(Query("list", part))


def compared(question: str, sign: str) -> Part:
    number = next(i for i, m in enumerate(SMALL.mentions(question)) if m.values)
    return Compared(DRUGS, (APPROVED,), sign, Value(2000.0, mention=number))


@pytest.mark.parametrize(
    ("question", "sign", "left"),
    [
        ("drugs approved after 2000", ">", 1),
        ("drugs approved after 2000", "=", IGNORED),
        ("drugs approved after 2000", "<", TURNED),
        ("drugs approved after 2000", ">=", LOOSE),
        ("drugs approved in 2000", ">", UNSAID),
        ("drugs approved in 2000", "=", 1),
        ("drugs, approved = 2000", "=", 1),
        ("drugs, approved = 2000", ">", IGNORED),
        ("drugs, approved != 2000", "=", IGNORED),
    ],
)
def test_a_sign_beside_the_words(question, sign, left):
    assert against(question, compared(question, sign)) == pytest.approx(math.log(left))


def test_a_comparison_with_another_thing_goes_the_way_of_its_word():
    question = "drugs approved later than Aspirin"
    value = Walk(Anchor(SMALL.ids["Aspirin"], 0), APPROVED)
    later = against(question, Compared(DRUGS, (APPROVED,), ">", value))
    assert later > against(question, Compared(DRUGS, (APPROVED,), "<", value))


def test_no_comparison_with_another_thing_where_no_word_compares():
    value = Walk(Anchor(SMALL.ids["Aspirin"], 0), APPROVED)
    same, later = Compared(DRUGS, (APPROVED,), "=", value), Compared(DRUGS, (APPROVED,), ">", value)
    question = "drugs approved in the same year as Aspirin"
    assert against(question, later) - against(question, same) == pytest.approx(math.log(IGNORED))


@pytest.mark.parametrize(
    ("question", "largest", "left"),
    [
        ("the oldest drug", False, 1),
        ("the oldest drug", True, TURNED),
        ("the latest drug", True, 1),
        ("the latest drug", False, TURNED),
        ("the longest drug", True, UNSAID),
        ("the longest-serving drug", False, 1),
        ("the longest-serving drug", True, TURNED),
        ("which drug has been here the longest", True, TURNED),
        ("drugs approved later than others", True, IGNORED),
    ],
)
def test_a_rank_by_a_year_goes_the_way_of_its_word(question, largest, left):
    made = Extreme(DRUGS, (APPROVED,), False, largest)
    assert against(question, made) == pytest.approx(math.log(left))


@pytest.mark.parametrize(
    ("question", "part", "left"),
    [
        ("drugs of Bell in 1999", Walk(Anchor(SMALL.ids["Bell"], 0), MADE_BY ^ 1), IGNORED),
        ("drugs of 1999", Walk(Anchor(SMALL.ids["1999"], 0), APPROVED ^ 1), 1),
        ("12 drugs of Bell", Walk(Anchor(SMALL.ids["Bell"], 1), MADE_BY ^ 1), 1),
    ],
)
def test_a_year_is_not_left_out(question, part, left):
    assert against(question, part) == pytest.approx(math.log(left))


MARINA = SmallGraph(
    """
    WO-1 | boat | Curlew
    WO-2 | boat | Old Tom
    Curlew | hull | steel
    Old Tom | hull | oak
    Curlew | berths | 4
    Old Tom | berths | 6
    """
)


def told_of_boats(question: str, part: Part) -> float:
    of = MARINA
    return Signs(of.vocabulary, question, of.mentions(question), of.matcher.compare(question)).against(
        Query("list", part)
    )


def test_which_boats_are_what_boat_leads_to():
    steel = Walk(Anchor(MARINA.ids["steel"], 0), MARINA.step("^hull"))
    jobs = Walk(steel, MARINA.step("^boat"))
    assert told_of_boats("which boats are steel", steel) == 0
    assert told_of_boats("which boats are steel", jobs) == pytest.approx(math.log(IGNORED))
    assert told_of_boats("what was done on steel ones", jobs) == 0


def test_a_number_beyond_all_of_a_relation_is_not_of_it():
    berths, boats = MARINA.step("berths"), OfType(-1, MARINA.step("hull"))
    question = "boats with more than 5000 berths"
    within = told_of_boats(
        question.replace("5000", "5"), Compared(boats, (berths,), ">", Value(5.0, mention=0))
    )
    beyond = told_of_boats(question, Compared(boats, (berths,), ">", Value(5000.0, mention=0)))
    assert beyond - within == pytest.approx(math.log(UNSAID))


FLAGGED = SmallGraph(
    "Heat | subtitles | no\nRan | subtitles | yes\nHeat | by | Ann\nRan | by | Bo\nAlien | by | Bo",
    {"Film": ["Heat", "Ran", "Alien"]},
)


def test_what_has_no_subtitles_is_what_says_no():
    question, subtitles = "films with no subtitles", FLAGGED.step("subtitles")
    of = Signs(
        FLAGGED.vocabulary, question, FLAGGED.mentions(question), FLAGGED.matcher.compare(question)
    ).against
    said = of(Query("list", Both(OfType(0), Walk(Anchor(FLAGGED.ids["no"]), subtitles ^ 1))))
    unrecorded = of(Query("list", Counted(OfType(0), subtitles, "=", 0)))
    assert unrecorded - said == pytest.approx(math.log(IGNORED))


def test_what_says_yes_or_no_is_not_counted():
    question = "how many films have subtitles"
    of = Signs(FLAGGED.vocabulary, question, FLAGGED.mentions(question), FLAGGED.matcher.compare(question))
    values = of.against(Query("count", Walk(OfType(0), FLAGGED.step("subtitles"))))
    films = of.against(
        Query("count", Both(OfType(0), Walk(Anchor(FLAGGED.ids["yes"]), FLAGGED.step("^subtitles"))))
    )
    assert values - films == pytest.approx(math.log(IGNORED))


AGED = SmallGraph(
    "Ann | age | 40\nAnn | team | Reds\nBob | age | 30\nBob | team | Blues", {"Player": ["Ann", "Bob"]}
)


def told_of_rank(question: str, largest: bool, *, counted: bool = False) -> float:
    mentions, likeness = AGED.mentions(question), AGED.matcher.compare(question)
    relation = "team" if counted else "age"
    part = Extreme(OfType(0), (AGED.step(relation),), counted, largest)
    return Signs(AGED.vocabulary, question, mentions, likeness).against(Query("list", part))


@pytest.mark.parametrize(
    ("question", "largest", "left"),
    [
        ("the oldest player", True, 1),
        ("the oldest player", False, TURNED),
        ("the youngest player", False, 1),
        ("the youngest player", True, TURNED),
    ],
)
def test_the_oldest_is_of_the_largest_age(question, largest, left):
    assert told_of_rank(question, largest) == pytest.approx(math.log(left))


TRAINS = SmallGraph(
    """
    Wanderer | top speed | 220
    Wanderer | minutes to Marlow | 31
    Wanderer | leaves at | 09:30
    Wanderer | built | 1998
    Wanderer | last service | 2021
    Comet | top speed | 300
    Comet | minutes to Marlow | 24
    Comet | leaves at | 07:10
    Comet | built | 2009
    Comet | last service | 2020
    """,
    {"Train": ["Wanderer", "Comet"]},
)


@pytest.mark.parametrize(
    ("question", "relation", "largest", "left"),
    [
        ("which is the fastest train", "top speed", True, 1),
        ("which is the fastest train", "top speed", False, TURNED),
        ("which is the fastest train", "minutes to Marlow", False, 1),
        ("which is the fastest train", "minutes to Marlow", True, TURNED),
        ("which is the slowest train", "top speed", False, 1),
        ("the train with the smallest top speed", "top speed", True, TURNED),
        ("the train with the smallest top speed", "top speed", False, 1),
        ("the highest of the smallest", "top speed", True, 1),
        ("the oldest train", "leaves at", False, IGNORED),
        ("the earliest train", "leaves at", False, 1),
        ("the oldest train", "built", False, 1),
        ("the oldest train", "last service", False, UNSAID),
        ("the newest train", "last service", True, UNSAID),
    ],
)
def test_the_fastest_has_most_speed_and_nothing_is_old_by_the_clock(question, relation, largest, left):
    mentions, likeness = TRAINS.mentions(question), TRAINS.matcher.compare(question)
    part = Extreme(OfType(0), (TRAINS.step(relation),), False, largest)
    told = Signs(TRAINS.vocabulary, question, mentions, likeness).against(Query("list", part))
    assert told == pytest.approx(math.log(left))


def test_the_most_common_is_counted():
    assert told_of_rank("the most common team of players", True, counted=True) == 0
    assert told_of_rank("the most common team of players", True) == pytest.approx(math.log(UNSAID))


def test_a_word_written_as_a_name_that_nothing_is_like_is_left_open():
    made = Walk(Anchor(SMALL.ids["Tor"], 0), MADE_BY ^ 1)
    assert against("Which drugs of Tor won the Zubrin?", made) == pytest.approx(math.log(LEFT_OPEN))
    assert against("Which drugs of Tor are there?", made) == 0
    assert against("Which Drugs of Tor are there?", made) == 0


BY_TOR = Walk(Anchor(SMALL.ids["Tor"], 0), MADE_BY ^ 1)


@pytest.mark.parametrize(
    ("question", "part", "left"),
    [
        ("Which drugs are not made by Tor?", BY_TOR, UNSAID),
        ("drugs that dont come from Tor", BY_TOR, UNSAID),
        ("Which drugs are not made by Tor?", Without(DRUGS, BY_TOR), 1),
        ("Which drugs have no approval?", Counted(DRUGS, APPROVED, "=", 0), 1),
        ("Which drugs does Tor (not the son) make?", BY_TOR, 1),
        ("Which drugs does Tor make, and not only now?", BY_TOR, 1),
    ],
)
def test_a_reading_without_the_not_of_a_question(question, part, left):
    assert against(question, part) == pytest.approx(math.log(left))


def test_a_denial_within_a_name_is_none():
    films = SmallGraph("Without Pity | made_by | Ann")
    question = "Who made Without Pity?"
    signs = Signs(films.vocabulary, question, films.mentions(question), films.matcher.compare(question))
    made = Walk(Anchor(films.ids["Without Pity"], 0), films.step("made_by"))
    assert signs.against(Query("list", made)) == 0


@pytest.mark.parametrize(
    ("question", "left"), [("Which inns have a pool?", IGNORED), ("is there a pool?", 1)]
)
def test_yes_or_no_is_not_what_a_list_is_asked_for(question, left):
    inns = SmallGraph("Swan | has_pool | true\nBear | has_pool | false", {"inn": ["Swan", "Bear"]})
    signs = Signs(inns.vocabulary, question, inns.mentions(question), inns.matcher.compare(question))
    listed = Query("list", Walk(Anchor(inns.ids["Swan"]), inns.step("has_pool")))
    assert signs.against(listed) == pytest.approx(math.log(left))


MADE = SmallGraph(
    """
    Oak Hall | architect | Ana Ruiz
    Oak Hall | has_garden | yes
    Oak Hall | rooms | 4
    Elm House | architect | Ana Ruiz
    Elm House | rooms | 9
    Elm House | colour | red
    Oak Hall | colour | red
    """,
    {"House": ["Oak Hall", "Elm House"], "Person": ["Ana Ruiz"]},
)


def told_of(question: str, query: Query) -> float:
    mentions, likeness = MADE.mentions(question), MADE.matcher.compare(question)
    return Signs(MADE.vocabulary, question, mentions, likeness).against(query)


def alike(relation: str, question: str) -> Query:
    step = MADE.step(relation)
    hall = MADE.ids["Oak Hall"]
    place = next(i for i, m in enumerate(MADE.mentions(question)) if hall in {c.node for c in m.candidates})
    return Query("list", Walk(Walk(Anchor(hall, place), step), step ^ 1))


@pytest.mark.parametrize(
    ("question", "relation", "left"),
    [
        ("houses of the same colour as Oak Hall", "colour", 1),
        ("the colour of Oak Hall", "colour", UNSAID),
        ("which houses are by the architect of Oak Hall", "architect", ONCE_SAID),
    ],
)
def test_what_is_like_another_needs_a_word_for_it(question, relation, left):
    assert told_of(question, alike(relation, question)) == pytest.approx(math.log(left))


def test_a_yes_that_cannot_be_is_not_asked_for():
    bands = SmallGraph(
        """
        Ann | member_of | Rovers
        Bob | member_of | Rovers
        """,
        {"person": ["Ann", "Bob"], "band": ["Rovers"]},
    )
    question = "Is Ann in a band with Bob?"
    mentions = bands.mentions(question)
    at = {m.text: i for i, m in enumerate(mentions)}
    signs = Signs(bands.vocabulary, question, mentions, bands.matcher.compare(question))
    ann, bob = (Anchor(bands.ids[name], at[name]) for name in ("Ann", "Bob"))
    member = Walk(ann, bands.step("member_of"))
    assert math.exp(signs.against(Query("yes", Both(member, bob)))) == pytest.approx(IGNORED)
    same = Walk(member, bands.step("^member_of"))
    assert math.exp(signs.against(Query("yes", Both(same, bob)))) > IGNORED
