"""The normal form and the tokens agree with their contract and with each other."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.normalise import POSSESSIVE, normalise, tokens

TEXTS = st.text(
    st.one_of(
        st.sampled_from("abSs'’ʼ -_.1️❤🎬é́½ŉ™\u200d\u200b\u00adक्ि東שß\x00"), st.characters(codec="utf-8")
    ),
    max_size=14,
)


def has_words(text):
    return any(c.isalnum() and c not in "ʼʹ" for c in text)


@pytest.mark.parametrize(
    ("text", "norm"),
    [
        ("O'Brien", "obrien"), ("King’s", "kings"), ("Christopher_Nolan", "christopher nolan"),
        ("  Amélie -- (2001)\t", "amelie 2001"), ("STRASSE", "strasse"), ("Straße", "strasse"),
        ("İstanbul", "istanbul"), ("rock 'n' roll", "rock n roll"), ("the 90's", "the 90 s"),
        ("co\u00adoperate", "cooperate"), ("zero\u200bwidth", "zero width"), ("\u200fשלום", "שלום"),
        ("a\x00b\x1bc", "a b c"), ("東京・大阪", "東京 大阪"), (" !!! ", "!!!"), ("❤️", "❤️"),
        ("I ❤️ NY", "i ny"),
        ("", ""), ("   ", ""),
    ],
)  # fmt: skip
def test_normal_form(text, norm):
    assert normalise(text) == norm


@settings(max_examples=100)
@given(TEXTS)
def test_normal_form_is_idempotent_and_holds_only_words(text):
    norm = normalise(text)
    assert normalise(norm) == norm
    if has_words(norm):
        assert norm == " ".join(norm.split())
        assert all(c == " " or c.isalnum() or unicodedata.category(c) in ("Mn", "Mc") for c in norm)
    else:
        assert norm == text.strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nolan's films", ["Nolan", "'s", "films"]), ("Nolan 's films", ["Nolan", "'s", "films"]),
        ("NOLAN’S films", ["NOLAN", "’S", "films"]), ("O'Brien's don't", ["O'Brien", "'s", "don't"]),
        ("who_directed 12_Monkeys?", ["who", "directed", "12", "Monkeys"]),
        ("the 90's", ["the", "90", "'s"]), ("s and S", ["s", "and", "S"]), ("5'9", ["5", "9"]),
        ("hi 🎬🎬 x❤️y", ["hi", "🎬🎬", "x", "❤️", "y"]), ("東京は", ["東京は"]),
        ("שלום, עולם", ["שלום", "עולם"]),
        ("a\x00b", ["a", "b"]), ("?!", []), ("", []),
    ],
)  # fmt: skip
def test_tokens(text, words):
    assert [t.text for t in tokens(text)] == words


def test_a_possessive_has_its_own_norm():
    assert [t.norm for t in tokens("Nolan’s S films 's")] == ["nolan", POSSESSIVE, "s", "films", POSSESSIVE]


@settings(max_examples=100)
@given(TEXTS)
def test_tokens_stand_in_the_text_and_hold_all_its_words(text):
    found = tokens(text)
    assert [text[t.start : t.stop] for t in found] == [t.text for t in found]
    assert all(a.stop <= b.start for a, b in pairwise(found))
    assert all(t.norm == (POSSESSIVE if t.norm == POSSESSIVE else normalise(t.text)) for t in found)
    joined = "".join(normalise(t.text) for t in found if has_words(normalise(t.text)))
    whole = normalise(text)
    assert joined.replace(" ", "") == (whole.replace(" ", "") if has_words(whole) else "")
