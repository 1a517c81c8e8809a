"""The normal form and the tokens agree with their contract and with each other."""

import pytest

from clew.text.normalise import POSSESSIVE, normalise, tokens


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
