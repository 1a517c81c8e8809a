"""Mentions: names of a question with the nodes that they may stand for."""

import pytest
from small_graph import SmallGraph

from clew.reading import mentions
from clew.reading.mentions import MOST_MENTIONS

SMALL = SmallGraph(
    """
    Queen (band) | genre | rock
    Queen (band) | member | Freddie Mercury
    Hydraulic Press HP-40 | operator | Jan Kowal
    Hydraulic Press HP-20 | operator | Anna Nowak
    The Who | genre | rock
    The Who | member | Pete Townshend
    1984 | written_by | George Orwell
    1984 | published | 1949-06-08
    Straße 9 | city | Zürich
    Jan Kowal | works_with | Anna Nowak
    Blue Note Records | city | Warsaw
    bay7 | next_to | bay8
    CV-150 | serviced_by | Anna Nowak
    has | genre | rock
    the | genre | rock
    """,
    {"Band": ["Queen (band)", "The Who"]},
    {"Freddie Mercury": ["Farrokh Bulsara"]},
)


def found(question: str, given=()) -> dict[str, list[str]]:
    """The labels that each mention with candidates may stand for."""
    labels = SMALL.graph.labels
    return {
        m.text: [labels[c.node] for c in m.candidates]
        for m in SMALL.mentions(question, given)
        if m.candidates
    }


def how(question: str) -> set[int]:
    return {c.how for m in SMALL.mentions(question) for c in m.candidates}


@pytest.mark.parametrize(
    ("question", "span", "label", "kind"),
    [
        ("Is Jan Kowal an operator?", "Jan Kowal", "Jan Kowal", mentions.EXACT),
        ("who is farrokh bulsara", "farrokh bulsara", "Freddie Mercury", mentions.ALIAS),
        ("where is Zurich", "Zurich", "Zürich", mentions.NORMAL),
        ("what is at strasse 9", "strasse 9", "Straße 9", mentions.NORMAL),
        ("the rocks that bands play", "rocks", "rock", mentions.PLURAL),
        ("Who plays in Queen?", "Queen", "Queen (band)", mentions.PARTIAL),
        ("who works with Kowal", "Kowal", "Jan Kowal", mentions.PARTIAL),
        ("who runs HP-40", "HP-40", "Hydraulic Press HP-40", mentions.PARTIAL),
        ("who runs HP40", "HP40", "Hydraulic Press HP-40", mentions.PARTIAL),
        ("what is next to bay 7", "bay 7", "bay7", mentions.NORMAL),
        ("who services CV150", "CV150", "CV-150", mentions.NORMAL),
        ("the records of blue notes", "records of blue notes", "Blue Note Records", mentions.WORDS),
        ("what was made in Warszaw", "Warszaw", "Warsaw", mentions.TYPO),
        ("what did Gorge Orwel write", "Gorge Orwel", "George Orwell", mentions.TYPO),
    ],
)
def test_a_name_is_found(question, span, label, kind) -> None:
    assert label in found(question)[span]
    assert kind in how(question)


def test_a_code_is_not_that_of_another() -> None:
    assert found("who runs HP-40") == {"HP-40": ["Hydraulic Press HP-40"]}


@pytest.mark.parametrize(
    "question", ["what has it?", "the and of", "who is has", "give me a thing", "Has it?", ""]
)
def test_function_words_are_never_names_alone(question) -> None:
    assert found(question) == {}


def test_function_words_are_a_name_where_they_are_written_as_one() -> None:
    assert found("members of The Who") == {"The Who": ["The Who"]}
    assert found("the members of the who") == {}


def test_words_of_the_schema_are_no_misspelt_names() -> None:
    assert found("which genres and operators") == {}


def test_a_name_that_is_a_number_is_both() -> None:
    (mention,) = SMALL.mentions("who wrote 1984?")
    assert [SMALL.graph.labels[c.node] for c in mention.candidates] == ["1984"]
    assert [v.date for v in mention.values] == [False, True]


def test_a_number_alone_has_no_candidates() -> None:
    (mention,) = SMALL.mentions("more than 12 people")
    assert (mention.text, mention.candidates, mention.strong) == ("12", (), False)


def test_some_digits_of_a_number_are_no_name() -> None:
    numbers = SmallGraph("Ann | rank | 5\nBob | rank | 2\nAnn | prize | 2500")
    assert [m.text for m in numbers.mentions("prizes above 2.5 million")] == ["2.5 million"]
    assert [m.text for m in numbers.mentions("whose prize is 2,500")] == ["2,500"]
    assert [numbers.graph.labels[c.node] for c in numbers.mentions("ranked 5")[0].candidates] == ["5"]
    assert "5" in [m.text for m in numbers.mentions("who has more than 2.5 million and 5", ["5"])]


def test_given_names_are_mentions_though_the_question_does_not_say_them() -> None:
    assert found("where was it made", ["Freddie Mercury"]) == {"": ["Freddie Mercury"]}


def test_given_names_are_found_where_they_stand() -> None:
    (mention,) = SMALL.mentions("is anna nowak here", ["Anna Nowak"])
    assert (mention.start, mention.stop) == (3, 13)
    assert mention.candidates[0].how == mentions.GIVEN


def test_mentions_are_in_their_order_and_not_too_many() -> None:
    many = SMALL.mentions("Queen and Zurich and Jan Kowal and Anna Nowak " * 40)
    assert len(many) == MOST_MENTIONS
    assert [m.start for m in many] == sorted(m.start for m in many)


def test_a_span_is_the_text_at_its_place() -> None:
    question = "Did Anna Nowak work with Kowal on HP-20 after 3 May 1999?"
    spans = SMALL.mentions(question)
    assert [question[m.start : m.stop] for m in spans] == [m.text for m in spans]
    assert {"Anna Nowak", "Kowal", "HP-20", "3 May 1999"} <= {m.text for m in spans}


def test_spans_overlap_where_they_share_a_character() -> None:
    one, other = mentions.Mention(0, 5, ""), mentions.Mention(5, 9, "")
    assert not one.overlaps(other)
    assert one.overlaps(mentions.Mention(4, 6, ""))


def test_a_word_whose_form_begins_otherwise_is_found() -> None:
    gaul = SmallGraph("The Dying Gaul | city | Rome")
    assert gaul.finder.by_word is not None
    assert [gaul.graph.labels[n] for n in gaul.finder.by_word.with_word("dies")] == ["The Dying Gaul"]


def test_a_name_is_found_by_the_stems_of_its_words_in_any_order() -> None:
    films = SmallGraph(
        "The Wandering Queens | year | 1990\nA queen | year | 1991\nQueenly queens | year | 1992"
    )
    assert films.finder.by_word is not None
    found = films.finder.by_word.named_by(["queen", "of", "wanderings"])
    assert [(films.graph.labels[n], share, places) for n, share, places in found] == [
        ("The Wandering Queens", 1.0, [0, 2])
    ]


PLACES = SmallGraph(
    """
    Kenya | capital | Nairobi
    Mount Kenya | height | 5199
    South Korea | capital | Seoul
    Korea | part_of | Asia
    The Hunger | year | 1983
    Hunger | year | 2008
    """
)


def in_places(question: str, given=()) -> dict[str, set[str]]:
    labels = PLACES.graph.labels
    return {
        m.text: {labels[c.node] for c in m.candidates}
        for m in PLACES.mentions(question, given)
        if m.candidates
    }


def test_what_has_the_very_name_is_no_part_of_another() -> None:
    assert in_places("What is the capital of Kenya?") == {"Kenya": {"Kenya"}}
    assert in_places("How high is Mount Kenya?") == {"Mount Kenya": {"Mount Kenya"}}


def test_a_name_inside_of_a_longer_one_is_not_meant() -> None:
    assert in_places("What is the capital of South Korea?") == {"South Korea": {"South Korea"}}
    assert in_places("When was The Hunger made?") == {"The Hunger": {"The Hunger"}}


def test_a_name_inside_of_a_longer_one_is_found_where_it_may_be_meant() -> None:
    assert in_places("when was the Hunger made?")["Hunger"] == {"Hunger"}
    assert in_places("What is the capital of South Korea?", ["Korea"])["Korea"] == {"Korea"}


def test_two_capitals_are_a_part_of_a_name() -> None:
    route = SmallGraph("ZK Route | length | 12\nAshby Route | length | 9")
    assert [m.text for m in route.mentions("what was behind the fault on the ZK line") if m.candidates] == [
        "ZK"
    ]
    assert not any(m.candidates for m in route.mentions("what was behind the fault on the zk line"))


def test_a_plural_in_small_letters_is_no_part_of_several_names() -> None:
    hotels = SmallGraph("Quay Street Hotel | pool | yes\nHarbour View Hotel | pool | no\nP1 | of | INC-2")
    assert not any(m.candidates for m in hotels.mentions("hotels without a bar"))
    assert [m.text for m in hotels.mentions("the P1s of the hotels") if m.candidates] == ["P1s"]


def test_a_number_of_a_name_stands_behind_its_word() -> None:
    small = SmallGraph("Block 3 | above | Block 4")
    assert {c.node for m in small.mentions("what is on block 3") for c in m.candidates} == {
        small.ids["Block 3"]
    }
    assert [m.text for m in small.mentions("which block is wider than 3") if m.candidates] == ["block"]


OTHERS = SmallGraph(
    """
    Mount Orrin | elevation | 812
    Hartley's Deli | stocks | Brie
    Court Theatre | seats | 300
    REF-20977 | owner | Ann Lee
    Dr Kofi Mensah | boss | Ann Lee
    """
)


@pytest.mark.parametrize(
    "question",
    [
        "How high is Mount Verity?",
        "what does The Mousehole Deli stock",
        "how many seats in the Orangery Theatre",
        "who owns REF-31550",
    ],
)
def test_a_common_word_of_another_name_is_no_name(question: str) -> None:
    assert not [m for m in OTHERS.mentions(question) if m.candidates]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How high is the Mount?", "Mount Orrin"),
        ("who is Professor Mensah's boss", "Dr Kofi Mensah"),
        ("How many seats has the Theatre?", "Court Theatre"),
    ],
)
def test_a_part_of_a_name_is_one(question: str, label: str) -> None:
    (mention,) = [m for m in OTHERS.mentions(question) if m.candidates]
    assert OTHERS.graph.labels[mention.candidates[0].node] == label


def test_words_around_another_name_say_no_name():
    graph = SmallGraph(
        """
        Sofia Conti | occupation | film actor
        Rain | director | Sofia Conti
        """
    )
    texts = {m.text for m in graph.mentions("Which actors have been in Sofia Conti's films?")}
    assert "Sofia Conti" in texts
    assert not any(text.startswith("actors") and text.endswith("films") for text in texts)
    assert "actors in films" in {m.text for m in graph.mentions("Which actors in films are there?")}
