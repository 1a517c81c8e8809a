"""Runs of words of a question that may be a name, and the words in them: by how they are written alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clew.reading.english import FUNCTION
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon
from clew.text.normalise import POSSESSIVE, Token

LONGEST_MISSPELT = 6
"""Words of a misspelt name."""
HONORIFICS = frozenset(
    "mr mrs ms miss dr doctor prof professor sir lady lord dame captain president king queen saint st".split()
)
"""Words before a name that its label may lack."""
NUMERAL = re.compile(r"[0-9][0-9.,]*(?:e[0-9]+)?")
"""A word that is a number, however large, and so no misspelt name."""
_LETTERS_DIGITS = re.compile(r"([^\W\d_]+)[-./ ]?(\d+\w*)")
WITH_SYMBOLS = re.compile(r"[^\W_]+[+#*-]+(?![^\W_])")
"""What only its symbols tell from another name, or from a word: *A+*, *C#*."""
_CODE = re.compile(r"[^\W\d_]+[-./ ]?\d+\w*|\d+[-./]?[^\W\d_]+", re.I)


@dataclass(frozen=True, eq=False)
class WordKinds:
    """Tells words of names from others; `typing` are words of the graph's relations and types."""

    lexicon: Lexicon
    typing: frozenset[str]

    def is_common(self, token: Token) -> bool:
        """Whether a word is one of English, or has digits behind it as *REF* has."""
        return self.lexicon.known(token.norm) or token.text.isupper() or token.norm in HONORIFICS

    def is_of_name(self, token: Token) -> bool:
        """Whether a word is written like one of a name."""
        if token.norm in FUNCTION or token.norm == POSSESSIVE or token.norm in HONORIFICS:
            return False
        return token.text[:1].isupper() or token.norm.isdigit() or not self.lexicon.known(token.norm)

    def types(self, token: Token) -> bool:
        """Whether a word is one of the graph's relations or types, in the singular or the plural."""
        return token.norm in self.typing or singular(token.norm) in self.typing

    def name_like(self, token: Token, at: int) -> bool:
        """Whether a word, by its place in the question, may be the first or the last of a name."""
        if token.norm in FUNCTION or self.types(token):
            return False
        if any(c.isdigit() for c in token.norm):
            return not token.norm.isdigit() or at > 0
        return token.text[:1].isupper() or not self.lexicon.known(token.norm)


def written_like_names(question: str, tokens: Sequence[Token], kinds: WordKinds) -> list[tuple[int, int]]:
    """Runs of up to five words of which the outer ones are written like names, unknown, or codes."""
    name_like = [kinds.name_like(token, at) for at, token in enumerate(tokens)]
    for at in range(1, len(tokens)):
        if tokens[at - 1].stop + 1 >= tokens[at].start and is_code(
            question[tokens[at - 1].start : tokens[at].stop]
        ):
            name_like[at - 1] = name_like[at] = True
    runs: list[tuple[int, int]] = []
    for start in range(len(tokens)):
        for stop in range(start + 1, min(start + 5, len(tokens)) + 1):
            if not name_like[start] or not name_like[stop - 1]:
                continue
            inside = tokens[start + 1 : stop - 1]
            if any(
                t.norm not in FUNCTION and not n for t, n in zip(inside, name_like[start + 1 :], strict=False)
            ):
                break
            size = sum(len(t.norm) for t in tokens[start:stop])
            text = question[tokens[start].start : tokens[stop - 1].stop]
            least = (2 if text.isupper() else 3) if stop - start == 1 else 2 if is_code(text) else 4
            if size >= least:
                runs.append((start, stop))
    return runs


def like_names(tokens: Sequence[Token], odd: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Words [first, last) of which the outer ones are `odd` in a question, as words of a name are."""
    for first in range(len(tokens)):
        if not odd[first] and tokens[first].norm not in ("the", "a", "an"):
            continue
        for last in range(min(first + LONGEST_MISSPELT, len(tokens)), first, -1):
            # *Ashbrun 5*: a number behind what is misspelt is of the name.
            end = last - 1 if NUMERAL.fullmatch(tokens[last - 1].norm) and last - first > 1 else last
            if odd[end - 1]:
                yield first, last


def around(content: Sequence[bool], unknown: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Words [first, last) around one that is no word, where nothing is written like a name."""
    for at in range(len(unknown)):
        for length in range(2, LONGEST_MISSPELT + 1) if unknown[at] else ():
            for first in range(max(0, at - length + 1), at + 1):
                last = first + length
                if last <= len(content) and content[first] and content[last - 1]:
                    yield first, last


def is_joined(question: str, token: Token, span: tuple[int, int]) -> bool:
    """Whether nothing but a blank or a hyphen is between a word and a span."""
    start, stop = min(token.stop, span[1]), max(token.start, span[0])
    return question[start:stop] in (" ", "-", "")


def digits(text: str) -> str:
    """The digits of a text."""
    return "".join(c for c in text if c.isdigit())


def may_be_said_by(tokens: Sequence[Token], used: Sequence[Token], names: Sequence[tuple[int, int]]) -> bool:
    """Whether a name may be said by some words of a text: no other of the spans `names` stands between them.

    And each number of it stands right behind another of its words: *block 3*, no *3 blocks*.
    """
    between = [(a, b) for a, b in names if used[0].start < a and b < used[-1].stop]
    return all(any(t.start < b and a < t.stop for t in used) for a, b in between) and all(
        not token.norm.isdigit() or any(t is before for t in used)
        for before, token in pairwise(tokens)
        if any(token is t for t in used)
    )


def joined(text: str) -> tuple[str, ...]:
    """A text of letters and digits joined in each usual way; none of another text."""
    parts = _LETTERS_DIGITS.fullmatch(text)
    return tuple(f"{parts[1]}{between}{parts[2]}" for between in ("", " ", "-")) if parts else ()


def is_code(text: str) -> bool:
    """Whether letters and digits are written together, as in HP-40 or M 12."""
    return bool(_CODE.fullmatch(text)) and (" " not in text or text[0].isupper())


def may_be_name(words: Sequence[Token], *, at_start: bool = False) -> bool:
    """Whether words may be a name: not function words alone, unless they are written as a name is."""
    if not any(c.isalnum() for t in words for c in t.norm):
        return True
    if all(t.norm in FUNCTION for t in words):
        written = [t.text[:1].isupper() for t in words]
        return all(written) and len(words) > 1 and not at_start
    return True
