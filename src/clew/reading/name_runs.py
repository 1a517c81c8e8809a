"""Runs of words of a question that may be a name, and the words in them: by how they are written alone."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import numpy as np

from clew.foundation.arrays import Int32
from clew.index.names import NamesIndex
from clew.query.execute import distinct
from clew.reading.english import FUNCTION
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon
from clew.text.normalise import POSSESSIVE, Token, words_of

FEW = 3
"""A word is a name for the nodes that have it in theirs where these are so few."""
MOST_WORDS, MOST_STEMS = 12, 8
"""Words of a name, and stems of these but function words, that is found by them in any order."""
MOST_OF_STEM, LEAST_SHARE = 3000, 0.6
"""A word of more names names none of them; of a name at least this share of its words is said."""
_ODD = re.compile(r".y?(?:ing|ed|'s)")
"""The words, as *dying*, whose stem, *die*, may not begin with their first two letters."""


class NameWords:
    """Names, of labels and aliases, by the stems of their words.

    Kept as arrays: the words of each name, and the names that have each word. Words are cut to stems when one
    that begins like them is asked for.
    """

    def __init__(self, index: NamesIndex, lexicon: Lexicon) -> None:
        """Index the words of all names of at least two words and at most twelve."""
        graph, self._lexicon = index.graph, lexicon
        number: dict[str, int] = {}
        nodes, words, starts = array("i"), array("i"), array("q", [0])
        aliases = zip(graph.aliases.entity.tolist(), graph.aliases.names, strict=True)
        for node, name in chain(enumerate(graph.labels), aliases):
            norms = words_of(name)
            content = dict.fromkeys(n for n in norms if n not in FUNCTION)
            if len(content) > 1 and len(norms) <= MOST_WORDS:
                nodes.append(node)
                words.extend(number.setdefault(n, len(number)) for n in content)
                starts.append(len(words))
        self._node = np.array(nodes, np.int32)
        self._starts, self._words = np.array(starts, np.int64), np.array(words, np.int32)
        order = np.argsort(self._words, kind="stable")
        self._names = np.repeat(np.arange(len(nodes), dtype=np.int32), np.diff(self._starts))[order]
        self._name_starts = np.searchsorted(self._words[order], np.arange(len(number) + 1))
        self._word = tuple(number)
        self._alike: dict[str, list[int]] = {}
        for word, id in number.items():
            self._alike.setdefault(self._beginning(word), []).append(id)
        self._by_stem: dict[str, dict[str, list[int]]] = {}

    def _beginning(self, word: str) -> str:
        """The first two letters of the stem of a word."""
        return (self._lexicon.stem(word) if _ODD.match(word) else word)[:2]

    def _names_with_stem(self, stem: str) -> Int32:
        """The names with a word of a stem, ascending."""
        stems = self._by_stem.get(stem[:2])
        if stems is None:
            stems = dict[str, list[int]]()
            for id in self._alike.get(stem[:2], ()):
                stems.setdefault(self._lexicon.stem(self._word[id]), []).append(id)
            self._by_stem[stem[:2]] = stems
        places = [slice(self._name_starts[id], self._name_starts[id + 1]) for id in stems.get(stem, ())]
        return distinct(np.concatenate([self._names[place] for place in places])) if places else _NONE

    def _stems(self, name: int) -> frozenset[str]:
        """The stems of a name's words, two to eight; none of another name."""
        words = self._words[self._starts[name] : self._starts[name + 1]].tolist()
        stems = frozenset(self._lexicon.stem(self._word[id]) for id in words)
        return stems if 1 < len(stems) <= MOST_STEMS else frozenset()

    def named_by(self, words: Sequence[str]) -> list[tuple[int, float, list[int]]]:
        """Nodes whose words are among `words`: node, share of its words, their places; best first."""
        places: dict[str, int] = {}
        for i, word in enumerate(words):
            places.setdefault(self._lexicon.stem(word), i)
        having = [names for names in map(self._names_with_stem, places) if len(names) <= MOST_OF_STEM]
        matches: list[tuple[int, float, list[int]]] = []
        for name, count in _counts(having):
            stems = self._stems(name)
            if stems and count >= LEAST_SHARE * len(stems):
                share = count / len(stems)
                used = sorted(places[s] for s in stems if s in places)
                matches.append((int(self._node[name]), share * share, used))
        matches.sort(key=lambda f: (-f[1], -len(f[2]), f[0]))
        return matches[:8]

    def with_word(self, word: str) -> list[int]:
        """The nodes of whose names a word is part, where these are few."""
        names = (
            name for name in self._names_with_stem(self._lexicon.stem(word)).tolist() if self._stems(name)
        )
        nodes = sorted({int(self._node[name]) for name in islice(names, 4 * FEW)})
        return nodes if len(nodes) <= FEW else []


_NONE = np.empty(0, np.int32)


def _counts(having: Sequence[Int32]) -> list[tuple[int, int]]:
    """What is in at least two of some arrays, each of which has it once, and in how many."""
    if len(having) < 2:
        return []
    together = np.sort(np.concatenate(having))
    first = np.flatnonzero(np.append(True, together[1:] != together[:-1])) if len(together) else _NONE
    counts = np.diff(np.append(first, len(together)))
    return [(int(together[at]), int(count)) for at, count in zip(first, counts, strict=True) if count > 1]


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


_CLAUSE = frozenset("he she it they we you i who which that when where while because before after".split())
"""Words that begin a clause, or are who does something in one."""


def may_be_said_by(tokens: Sequence[Token], used: Sequence[Token], names: Sequence[tuple[int, int]]) -> bool:
    """Whether a name may be said by some words of a text: no other of the spans `names` stands between them.

    And each number of it stands right behind another of its words: *block 3*, no *3 blocks*; no clause begins
    between them: *Leeds before he came to Sheffield* is no *Leeds v Sheffield*.
    """
    inside = (t for t in tokens if used[0].start < t.start < used[-1].start and t not in used)
    if any(t.norm in _CLAUSE for t in inside):
        return False
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
        written = [t.text[:1].isupper() and t.text != "I" for t in words]
        return all(written) and not at_start
    return True
