"""The words of a graph, and how a question names them."""

import random

import numpy as np
import pytest
from small_graph import EMBEDDER, LEXICON, SmallGraph

from clew.query.vocabulary import DATE, LEAF, NUMBER, THING, words_of_label
from clew.reading.comparisons import signs_of
from clew.reading.likeness import WordMatcher, content_share
from clew.text.inflection import singular
from clew.text.lexicon import LEXICON_FILE, Lexicon

SMALL = SmallGraph(
    """
    Tide Clock | writtenBy | Ida Lorn
    Salt Road | writtenBy | Ida Lorn
    Tide Clock | page_count | 310
    Tide Clock | published | 1988-03-01
    Tide Clock | note | signed copy
    Ida Lorn | born_in | Bergen
    Bergen | country | Norway
    """,
    {"book.Book": ["Tide Clock", "Salt Road"], "Author": ["Ida Lorn"]},
)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("directed_by", "directed by"),
        ("inCountry", "in country"),
        ("film.film.directed_by", "film directed by"),
        ("people.person.place", "person place"),
        ("http://example.org/onto#hasPart", "has part"),
        ("http://example.org/onto/birthPlace/", "birth place"),
        ("HTTPServer", "http server"),
        ("is-part-of", "is part of"),
        ("Awards  won", "awards won"),
        ("#", "#"),
    ],
)
def test_a_label_is_said_in_words(label, words) -> None:
    assert words_of_label(label) == words


def test_the_ends_of_relations_are_things_or_values() -> None:
    heads, tails = SMALL.vocabulary.ends[::2], SMALL.vocabulary.ends[1::2]
    assert heads == (THING,) * 6
    assert tails == (THING, NUMBER, DATE, LEAF, THING, LEAF)


def test_ends_have_the_type_of_most_of_their_nodes() -> None:
    book, author = SMALL.types["book.Book"], SMALL.types["Author"]
    assert SMALL.vocabulary.end_types[:4] == (book, author, book, -1)


def test_the_words_of_a_graph_are_those_of_relations_and_types() -> None:
    assert {"written", "by", "page", "count", "book", "author"} <= SMALL.vocabulary.words
    assert "tide" not in SMALL.vocabulary.words


def test_a_word_of_a_label_is_like_it() -> None:
    likeness = SMALL.matcher.compare("How many pages has it?")
    assert [word for _, _, word in likeness.words] == ["pages"]
    row = likeness.exact_relations[0]
    assert row.argmax() == SMALL.step("page_count") // 2
    assert (likeness.relations >= likeness.exact_relations).all()
    assert likeness.relations.shape == (1, 6)
    assert likeness.types.shape == (1, 2)


def made_up(count: int) -> list[str]:
    """Words that are not English, some of which share a stem."""
    draw = random.Random(7)
    stems = ["".join(draw.choice("bcdfgklmoprtuvz") for _ in range(7)) for _ in range(count // 2)]
    return [stem + ending for stem in stems for ending in ("ing", "ed")]


def test_words_are_compared_with_all_of_a_graph_that_may_be_like_them() -> None:
    words = ["direct", "director", "dying", "writes", *made_up(200)]
    graph = SmallGraph("\n".join(f"a | {word} | b{i}" for i, word in enumerate(words)))
    for word in ("die", "directed", "writer", words[10], words[11].removesuffix("ed"), "stranger"):
        row = graph.matcher.compare(word).exact_relations[0]
        assert row == pytest.approx([LEXICON.similarity(singular(word), singular(w)) for w in words])


def test_what_is_near_a_word_is_not_looked_up_for_all_of_a_large_graph(monkeypatch) -> None:
    """100,000 different words took 41 s: meaning and stem of each were found for the first question."""
    graph = SmallGraph("\n".join(f"a | {word} | b{i}" for i, word in enumerate(made_up(4_000))))
    looked: list[str] = []
    look_up, stem = Lexicon._look_up, Lexicon._stem
    monkeypatch.setattr(Lexicon, "_look_up", lambda self, word: looked.append(word) or look_up(self, word))
    monkeypatch.setattr(Lexicon, "_stem", lambda self, word: looked.append(word) or stem(self, word))
    with np.load(LEXICON_FILE) as table:
        fresh = Lexicon(table)
    WordMatcher(graph.vocabulary, EMBEDDER, fresh).compare("brobing")
    assert 1 <= len(looked) < 200


def test_a_question_without_content_words_is_like_nothing() -> None:
    likeness = SMALL.matcher.compare("and of the?")
    assert likeness.words == ()
    assert likeness.relations.shape == (0, 6)


def test_words_inside_of_spans_do_not_count() -> None:
    likeness = SMALL.matcher.compare("pages of Tide Clock")
    assert content_share(likeness, [(9, 19)]).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "value", "first"),
    [
        ("more than 5 pages", "5", ">"),
        ("at least 5 pages", "5", ">="),
        ("5 or more pages", "5", ">="),
        ("fewer than 5 pages", "5", "<"),
        ("up to 5 pages", "5", "<="),
        ("exactly 5 pages", "5", "="),
    ],
)
def test_the_likeliest_comparison_comes_first(text, value, first) -> None:
    start = text.index(value)
    assert signs_of(text, start, start + len(value))[0] == first


def test_equal_is_always_possible() -> None:
    assert signs_of("5", 0, 1) == ("=",)


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("cities", "city"),
        ("boxes", "box"),
        ("churches", "church"),
        ("books", "book"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("movies", "movie"),
        ("women", "woman"),
        ("people", "person"),
        ("species", "species"),
        ("zorblaxes", "zorblax"),
        ("directed", "directed"),
        ("won", "won"),
    ],
)
def test_the_singular_of_a_word(plural, one) -> None:
    assert singular(plural) == one


def test_what_is_written_small_among_capitals_are_words():
    courses = SmallGraph(
        """
        Company Law | taught by | Ann Lee
        Roman Law | taught by | the Okonkwo family
        Company Law | assessed by | exam
        Roman Law | assessed by | essay
        """
    )
    words = [courses.vocabulary.are_words(courses.step(r) ^ 1) for r in ("taught by", "assessed by")]
    assert words == [False, True]
    small = SmallGraph("heat | by | mann\nran | by | kurosawa")
    assert not small.vocabulary.are_words(small.step("by") ^ 1)
