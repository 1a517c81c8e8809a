"""What a question says by itself."""

import math

import pytest

from clew.reading.rules.question import read_question, weigh, with_year


def norms(text):
    return [w.norm for w in read_question(text).words]


def word(text, norm):
    return next(w for w in read_question(text).words if w.norm == norm)


def test_words_keep_their_place():
    question = read_question("Who wrote  Heat?")
    assert [question.text[w.start : w.stop] for w in question.words] == ["Who", "wrote", "Heat"]


def test_function_words_are_free_and_names_cost_most():
    assert weigh("the", False) == 0.0
    assert 0.0 < weigh("kind", False) < weigh("director", False) < weigh("memento", True)


def test_capitals_inside_a_sentence_mark_names():
    assert [w.text for w in read_question("Which films did Al Pacino make?").words if w.capital] == [
        "Al",
        "Pacino",
    ]


def test_capitals_mark_nothing_where_every_word_has_one():
    assert not any(w.capital for w in read_question("Which Films Did Famous Actors Make Together").words)


def test_digits_are_names():
    assert word("films of 1999", "1999").capital


@pytest.mark.parametrize(
    ("text", "norm"),
    [
        ("What does she do for a living?", "profession"),
        ("Who is in charge of it?", "head"),
        ("the film came out", "released"),
    ],
)
def test_an_idiom_is_one_word(text, norm):
    assert text[word(text, norm).start : word(text, norm).stop].count(" ") >= 1


def test_what_somebody_does_is_a_profession():
    assert norms("What does her father do?")[-1] == "profession"
    assert norms("What did she do in Oslo?")[3] == "do"


def test_no_idiom_reaches_into_a_name():
    assert "head" not in norms("Who stars in Charge of the Light Brigade?")


def test_what_is_shortened():
    assert norms("what's the capital")[:2] == ["what", "is"]
    assert norms("japan's capital") == ["japan", "'s", "capital"]


def test_a_grandson_is_the_son_of_a_child():
    assert [(w.norm, w.doubled) for w in read_question("the grandson").words[1:]] == [
        ("son", False),
        ("son", True),
    ]


def test_only_the_first_question_word_asks():
    assert norms("films by a director who died") == ["films", "by", "a", "director", "who", "died"]
    assert norms("what films have actors who died").count("who") == 0


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Who directed it?", "person"),
        ("Where was she born?", "location"),
        ("When did it end?", "time"),
        ("Which year was it?", "time"),
    ],
)
def test_the_question_word_asks_for_a_class(text, wanted):
    classes = read_question(text).classes
    assert max(classes, key=classes.get) == wanted


def test_what_asks_for_no_class():
    assert not read_question("What is it?").classes


@pytest.mark.parametrize(
    ("text", "yes"),
    [("Did she write it?", True), ("Who did it?", False), ("Can you name one?", False), ("", False)],
)
def test_yes_no(text, yes):
    assert read_question(text).yes_no is yes


@pytest.mark.parametrize(
    ("text", "counts"), [("How many are there?", True), ("the number of films", True), ("How is it?", False)]
)
def test_count(text, counts):
    assert read_question(text).count is counts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the longest river", (1, "length|duration", 1)),
        ("X's latest film", (1, "date", 2)),
        ("the least populous country", (-1, "population", 2)),
        ("the most expensive car", (1, "price", 2)),
        ("films at first sight", None),
        ("a longest day", None),
    ],
)
def test_superlatives(text, found):
    assert read_question(text).superlative == found


def test_how_long_asks_for_the_length():
    assert "length|duration" in norms("How long is it?")


@pytest.mark.parametrize(
    ("text", "inside", "outside", "years"),
    [
        ("films after 2010", 2011, 2010, True),
        ("films since 2010", 2010, 2009, True),
        ("films from the 1980s", 1989, 1990, True),
        ("between 1990 and 2000", 2000, 2001, True),
        ("films over 120 minutes", 121, 120, False),
        ("no more than 3 of them", 3, 4, False),
        ("films from 2010 on", 2010, 2009, True),
    ],
)
def test_ranges(text, inside, outside, years):
    limits = read_question(text).limits
    assert (limits.hold(inside), limits.hold(outside), limits.years) == (True, False, years)


@pytest.mark.parametrize("text", ["films from 2010", "after the war", "between you and me", "1980 films"])
def test_what_is_no_range(text):
    assert read_question(text).limits is None


def test_an_open_range_has_no_end():
    limits = read_question("more than 5").limits
    assert (limits.low, limits.high) == (5, math.inf)


def test_words_that_ask_for_a_way_back():
    assert word("films that share a director", "share").share == 1.0
    assert word("who also wrote", "also").share == 0.6
    assert word("who wrote", "wrote").share == 0.0


@pytest.mark.parametrize("text", ["", "   ", "???", "\u0000", "🎬", "a" * 5000])
def test_anything_can_be_read(text):
    assert read_question(text).text == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Name the first 3 films of Ann Lee", 3),
        ("the top five oldest people", 5),
        ("Which 10 towns lie on the Rhine?", 10),
        ("films longer than 3 hours", None),
        ("Who was born in 1970?", None),
        ("at least 5 films", None),
        ("Who stars in 12 Monkeys?", None),
    ],
)
def test_how_many_are_wanted(text, number):
    wanted = read_question(text).wanted
    assert (None if wanted is None else wanted.number) == number


def test_the_question_for_all_of_them_keeps_its_superlative():
    question = read_question("List the top 3 oldest people").of_all()
    assert question.superlative is not None
    assert not any(w.capital for w in question.words)


@pytest.mark.parametrize("text", ["oldest record label?", "heaviest spacecraft sent to Mars?"])
def test_a_superlative_may_stand_first(text):
    assert read_question(text).superlative is not None


def test_of_top_and_another_superlative_the_other_measures():
    question = read_question("List the top 5 products with the lowest stock").of_all()
    assert question.words[question.superlative[2]].norm == "lowest"


def test_a_year_is_a_range_where_it_is_no_name():
    question = read_question("Which books were published in 2003?")
    limits = with_year(question, ()).limits
    assert (limits.low, limits.high, limits.years) == (2003, 2003, True)
    assert with_year(question, {question.words[-1].start}).limits is None


def test_a_title_before_a_name_need_not_be_a_part_of_it():
    assert word("Who married President Lincoln?", "president").weight < 0.5
    assert word("Who is the president of France?", "president").weight == 1.0
