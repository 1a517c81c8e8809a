"""The lexicon: base forms, classes, agents, similarity."""

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import FormatError
from clew.text.lexicon import LEXICON_FILE, Lexicon

LEXICON = Lexicon.load()


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("films", "film"), ("children", "child"), ("wrote", "write"), ("written", "write"), ("born", "bear"),
        ("cities", "city"), ("directed", "direct"), ("starring", "star"), ("Women", "woman"),
        ("older", "old"), ("cause of death", "cause of death"), ("xyzzy", "xyzzy"), ("", ""),
    ],
)  # fmt: skip
def test_the_most_frequent_base_form_comes_first(word, base):
    assert LEXICON.lemmas(word)[0] == base


LIKE = {
    "forms of one lemma": ("wrote written, languages language, Zzz zzz", 1.0, 1.0),
    "derived": ("directed director, acted actor, died death, teach teacher, located location", 0.8, 0.99),
    "synonyms": ("film movie, kid child, kind sort, occupation job, author write", 0.75, 0.89),
    "direct hypernyms": ("mother parent, wife spouse, brother sibling", 0.45, 0.65),
    "a topic alone": (
        "jersey number, directed written, year film, city country, director writer, actor film, who person",
        0.0, 0.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pairs", "least", "most"), LIKE.values(), ids=LIKE)
def test_words_are_as_near_as_what_they_share(pairs, least, most):
    for pair in pairs.split(", "):
        assert least <= LEXICON.similarity(*pair.split()) <= most, pair


@given(st.text(max_size=20))
@settings(max_examples=80)
def test_any_text_is_looked_up_without_an_error(text):
    assert LEXICON.lemmas(text)
    assert LEXICON.similarity(text, text) == 1.0
    assert abs(sum(LEXICON.classes(text).values()) - 1) < 1e-9 or not LEXICON.classes(text)
    LEXICON.agent(text)


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


def test_many_threads_load_the_lexicon():
    """Headers of NumPy's files go through the parser of Python, which two threads of 3.11 may not share."""
    loaded: list[bool] = []
    threads = [
        threading.Thread(target=lambda: loaded.append(Lexicon.load().known("film"))) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [True] * 12
