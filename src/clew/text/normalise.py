"""Texts of users: cleaned, counted, in one normal form, and as words with their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from clew.errors import UsageError

# Texts of users without control characters; what is too long to be a question is refused.

MOST_QUESTION_WORDS = 300
LONGEST_TEXT = 10_000
"""A longer question is not a question; the second limit is for text without spaces."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Sequences that drive a terminal: they are whole, or their letters would be words of a question."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """Turn control characters and sequences into spaces, and bytes that were no text into a mark."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", _TERMINAL.sub(" ", text))).strip()


def clean_question(question: str, what: str = "question") -> str:
    """Clean a question (or a claim: `what`); UsageError if nothing is left or it is longer than one."""
    _refuse_non_text(question, what)
    cleaned = clean(question)
    if not cleaned:
        command = "ask" if what == "question" else "verify"
        example_text = (
            "Who directed Memento?" if what == "question" else "Christopher Nolan directed Memento."
        )
        raise UsageError(f'The {what} is empty. Write one, as in: clew {command} films.tsv "{example_text}"')
    words = len(cleaned.split())
    if words > MOST_QUESTION_WORDS:
        raise UsageError(
            f"The {what} has {words:,} words; at most {MOST_QUESTION_WORDS} are read. Give a shorter one"
        )
    if len(cleaned) > LONGEST_TEXT:
        raise UsageError(
            f"The {what} has {len(cleaned):,} characters; at most {LONGEST_TEXT:,} are read. Shorten it"
        )
    return cleaned


def clean_query(query: str) -> str:
    """Check that a query is a text; UsageError if it is none or is empty."""
    _refuse_non_text(query, "query")
    if not query.strip():
        raise UsageError("The query is empty. Write one, as in: SELECT ?head { ?head ?relation ?tail }")
    return query


def _refuse_non_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise UsageError(f"The {what} is {type(value).__name__}, not a text. Give a str")


# A count with its noun, and a size in bytes, for people.


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Write a count with its noun: `1 triple`, `2 triples`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def byte_size(count: int) -> str:
    """Write a number of bytes: `12 bytes`, `1.5 kB`, `2.0 MB`."""
    if count < 1000:
        return f"{count} bytes"
    for unit, scale in (("kB", 1e3), ("MB", 1e6)):
        if count < 999.95 * scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count / 1e9:,.1f} GB"


# One normal form of names and questions, and the words of a question with their places in it.
#
# Both rest on one table from characters to what they become, so a span of words and the normal form of the
# text under it always agree. The normal form is NFKD without combining marks, case folded; every run of
# characters that are neither letters nor digits is one space, and the ends are stripped. Apostrophes between
# letters vanish (`O'Brien` is `obrien`), as do invisible format characters; a zero-width space separates. A
# text without letters and digits is its own normal form, stripped.

POSSESSIVE = "'s"
"""The `norm` of a possessive ending, which is a token of its own."""

_APOSTROPHES = frozenset("'’‘ʼ`´′＇ʹ")
_ZERO_WIDTH_SPACE = "\u200b"
_LETTER = r"[^\W\d_]"
_INNER_APOSTROPHE = re.compile(rf"(?<={_LETTER})'(?={_LETTER})")
_IS_LETTER = re.compile(_LETTER)
# Over a string of character classes: l letter, d other word character, x vanishes, e symbol, ' apostrophe.
_TOKEN = re.compile(r"[ld][ldx]*(?:(?<=[lx])'x*(?=l)[ldx]+)*|e[ex]*")
_POSSESSIVE_END = re.compile(r"(?<=[ldx])'lx*$")
_APOSTROPHE_BEFORE = re.compile(r"'x*$")
_PLAIN_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text: as written, its normal form, and its place [start, stop) in characters."""

    text: str
    norm: str
    start: int
    stop: int


class _Table(dict[int, str]):
    """Code point → what a function makes of its character, found once."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, point: int) -> str:
        text = self[point] = self._function(chr(point))
        return text


def _fold(character: str) -> str:
    """What a character becomes: letters and digits, nothing, an apostrophe, or a space."""
    folded, last = character, ""
    while folded != last:
        last = folded
        folded = "".join(_fold_once(c) for c in last)
    return folded


def _fold_once(character: str) -> str:
    """Compatibility form, caseless, without marks; applied until nothing changes."""
    if character in _APOSTROPHES:
        return "'"
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(_keep(c) for c in text)


def _keep(character: str) -> str:
    if character.isalnum():
        return character
    if character in _APOSTROPHES:
        return "'"
    category = unicodedata.category(character)
    name = unicodedata.name(character, "")
    if category == "Me" or unicodedata.combining(character) or "VARIATION SELECTOR" in name:
        return ""
    if category in ("Mn", "Mc"):  # vowel signs of Indic and Thai scripts belong to the word
        return character
    return "" if category == "Cf" and character != _ZERO_WIDTH_SPACE else " "


def _classify(character: str) -> str:
    """The class of a character for the token pattern, one character each."""
    folded = _FOLDING[ord(character)]
    if not folded:
        return "x"
    if folded == "'":
        return "'"
    if not folded.replace("'", " ").strip():
        return "e" if unicodedata.category(character) in ("So", "Sk") and ord(character) > 127 else " "
    return "l" if _IS_LETTER.match(folded[0]) and _IS_LETTER.match(folded[-1]) else "d"


_FOLDING = _Table(_fold)
_CLASSES = _Table(_classify)


def normalise(text: str) -> str:
    """Give the normal form (see above): no case, accents or punctuation, single spaces. Idempotent."""
    folded = text.translate(_FOLDING)
    if "'" in folded:
        folded = _INNER_APOSTROPHE.sub("", folded).replace("'", " ")
    return " ".join(folded.split()) or text.strip()


def tokens(text: str) -> list[Token]:
    """Split `text` into its words; a possessive `'s` and a run of symbols (emoji) are tokens too."""
    classes = text.translate(_CLASSES)
    words: list[Token] = []
    for match in _TOKEN.finditer(classes):
        start, stop = match.span()
        apostrophe = _APOSTROPHE_BEFORE.search(classes, words[-1].stop if words else 0, start)
        if apostrophe and _is_s(text, classes, start, stop):
            words.append(Token(text[apostrophe.start() : stop], POSSESSIVE, apostrophe.start(), stop))
            continue
        ending = _POSSESSIVE_END.search(classes, start, stop)
        if ending and _is_s(text, classes, ending.start() + 1, stop):
            words.append(_token(text, start, ending.start()))
            words.append(Token(text[ending.start() : stop], POSSESSIVE, ending.start(), stop))
        else:
            words.append(_token(text, start, stop))
    return words


def words_of(text: str) -> list[str]:
    """The normal forms of the tokens of `text`; of plain English far sooner than by `tokens`."""
    if text.isascii() and "'" not in text and "`" not in text:
        return _PLAIN_WORD.findall(text.lower())
    return [token.norm for token in tokens(text)]


def _token(text: str, start: int, stop: int) -> Token:
    word = text[start:stop]
    return Token(word, normalise(word), start, stop)


def _is_s(text: str, classes: str, start: int, stop: int) -> bool:
    """Whether the word is the letter s alone (with marks that vanish, at most)."""
    return classes[start:stop].rstrip("x") == "l" and text[start] in "sS"
