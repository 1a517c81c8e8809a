"""The lexicon: base forms, classes, agents, similarity."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import FormatError
from clew.text.lexicon import CLASSES, LEAST_SIMILARITY, LEXICON_FILE, Lexicon

LEXICON = Lexicon.load()
WORDS = st.sampled_from(
    ["wrote", "author", "film", "movies", "director", "directed", "child", "kids", "spouse", "wife",
    "city", "of", "the", "bear", "born", "screenwriter", "zzz", "O'Brien", "1994",
    "genre", "kind", "cause", "work", "old", "age"]
)  # fmt: skip


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("films", "film"),
        ("children", "child"),
        ("wrote", "write"),
        ("written", "write"),
        ("born", "bear"),
        ("cities", "city"),
        ("directed", "direct"),
        ("starring", "star"),
        ("Women", "woman"),
        ("older", "old"),
        ("cause of death", "cause of death"),
        ("xyzzy", "xyzzy"),
        ("", ""),
    ],
)
def test_the_most_frequent_base_form_comes_first(word, base):
    assert LEXICON.lemmas(word)[0] == base


def test_all_readings_of_an_ambiguous_form_are_given():
    assert set(LEXICON.lemmas("left")) == {"leave", "left"}
    assert set(LEXICON.lemmas("bases")) >= {"base", "basis"}


def test_an_agent_noun_is_no_comparative():
    assert "found" not in LEXICON.lemmas("founder")


@pytest.mark.parametrize("pair", [("wrote", "written"), ("languages", "language"), ("Zzz", "zzz")])
def test_forms_of_one_lemma_are_the_same(pair):
    assert LEXICON.similarity(*pair) == 1.0


@pytest.mark.parametrize(
    "pair",
    [
        ("directed", "director"),
        ("acted", "actor"),
        ("died", "death"),
        ("teach", "teacher"),
        ("located", "location"),
    ],
)
def test_derived_words_are_near(pair):
    assert 0.8 <= LEXICON.similarity(*pair) < 1.0


@pytest.mark.parametrize(
    "pair",
    [("film", "movie"), ("kid", "child"), ("kind", "sort"), ("occupation", "job"), ("author", "write")],
)
def test_synonyms_of_main_senses_are_near(pair):
    assert 0.75 <= LEXICON.similarity(*pair) < 0.9


@pytest.mark.parametrize("pair", [("mother", "parent"), ("wife", "spouse"), ("brother", "sibling")])
def test_direct_hypernyms_are_half_as_near(pair):
    assert 0.45 <= LEXICON.similarity(*pair) <= 0.65


@pytest.mark.parametrize(
    "pair",
    [
        ("jersey", "number"),
        ("directed", "written"),
        ("year", "film"),
        ("city", "country"),
        ("director", "writer"),
        ("actor", "film"),
        ("who", "person"),
    ],
)
def test_words_that_only_share_a_topic_are_far(pair):
    assert LEXICON.similarity(*pair) == 0.0


@given(WORDS, WORDS)
@settings(max_examples=60)
def test_similarity_is_symmetric_and_bounded(a, b):
    score = LEXICON.similarity(a, b)
    assert score == LEXICON.similarity(b, a)
    assert score == 0.0 or LEAST_SIMILARITY <= score <= 1.0
    assert LEXICON.similarity(a, a.upper()) == 1.0


def test_every_lemma_is_found():
    for index in range(0, len(LEXICON._first) - 1, 37):
        assert LEXICON._find(LEXICON._names[index]) == index


@given(st.text(max_size=20))
@settings(max_examples=200)
def test_any_text_is_looked_up_without_an_error(text):
    assert LEXICON.lemmas(text)
    assert LEXICON.similarity(text, text) == 1.0
    assert abs(sum(LEXICON.classes(text).values()) - 1) < 1e-9 or not LEXICON.classes(text)
    LEXICON.agent(text)


@given(WORDS)
@settings(max_examples=30)
def test_related_words_are_as_near_as_similarity_says(word):
    near = LEXICON._related_lemmas(word)
    for other in sorted(near, key=near.__getitem__, reverse=True)[:20]:
        assert LEXICON.similarity(word, LEXICON._names[other]) >= near[other]


@pytest.mark.parametrize(
    ("word", "main"),
    [
        ("director", "person"),
        ("person", "person"),
        ("cities", "location"),
        ("year", "time"),
        ("river", "object"),
        ("company", "group"),
        ("language", "communication"),
    ],
)
def test_the_main_class_of_a_noun(word, main):
    classes = LEXICON.classes(word)
    assert max(classes, key=lambda name: classes[name]) == main
    assert set(classes) <= set(CLASSES)


def test_words_that_are_no_nouns_have_no_class():
    assert not LEXICON.classes("wrote")
    assert not LEXICON.classes("who")


@pytest.mark.parametrize(
    ("word", "agent"),
    [
        ("directed", "director"),
        ("write", "writer"),
        ("acted", "actor"),
        ("music", "musician"),
        ("compose", "composer"),
    ],
)
def test_the_person_who_does_it(word, agent):
    assert LEXICON.agent(word)[0] == agent


def test_closed_compounds_are_near_their_parts():
    assert LEXICON.similarity("birthplace", "birth") >= 0.5
    assert LEXICON.similarity("scriptwriter", "written") >= 0.5


def test_a_word_is_compared_by_what_is_near_the_other_alone():
    LEXICON._related_lemmas.cache_clear()
    assert LEXICON.nearness("movie", "film") >= 0.75
    assert LEXICON.nearness("birthplace", "birth") >= 0.5
    assert LEXICON.nearness("movie", "carburettor") == 0.0
    assert LEXICON._related_lemmas.cache_info().currsize == len(("film", "birth", "carburettor"))


def test_the_table_is_small():
    assert LEXICON_FILE.stat().st_size < 1_250_000


def test_a_missing_or_damaged_table_is_a_format_error(tmp_path: Path):
    with pytest.raises(FormatError, match="Install clew again"):
        Lexicon.load(tmp_path / "none.npz")
    damaged = tmp_path / "lexicon.npz"
    damaged.write_bytes(LEXICON_FILE.read_bytes()[:50_000])
    with pytest.raises(FormatError, match="Install clew again"):
        Lexicon.load(damaged)
    (tmp_path / "empty.npz").write_bytes(b"")
    with pytest.raises(FormatError, match="Install clew again"):
        Lexicon.load(tmp_path / "empty.npz")


@pytest.fixture
def hasty():
    """Threads that take turns as often as can be."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_stems_are_the_same_in_many_threads(hasty):
    starts, ends = ("direct", "compos", "act", "writ", "generat"), ("ing", "ed", "ional", "ations", "er")
    words = [start + end for start in starts for end in ends] * 40
    expected = {word: LEXICON.stem(word) for word in words}
    with ThreadPoolExecutor(8) as pool:
        # Past the cache of stems, which would hide it.
        found = list(pool.map(Lexicon.load().stem.__wrapped__, words))
    assert found == [expected[word] for word in words]


def test_a_word_has_meaning_if_something_is_near_it() -> None:
    assert LEXICON.has_meaning("film")
    assert LEXICON.has_meaning("films")
    assert not LEXICON.has_meaning("xqzzt")
    assert not LEXICON.has_meaning("48213")


def test_kin_of_a_word_is_what_means_the_same():
    kin = LEXICON.kin("poison")
    assert kin["poison"] == 1.0
    assert kin["poisonous"] > 0.85
    assert "substance" not in kin
    assert LEXICON.kin("qqqzz") == {"qqqzz": 1.0}
