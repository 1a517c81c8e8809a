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


@given(st.text(max_size=20))
@settings(max_examples=200)
def test_any_text_is_looked_up_without_an_error(text):
    assert LEXICON.lemmas(text)
    assert LEXICON.similarity(text, text) == 1.0
    assert abs(sum(LEXICON.classes(text).values()) - 1) < 1e-9 or not LEXICON.classes(text)
    LEXICON.agent(text)


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
