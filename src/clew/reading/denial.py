"""Words that deny: *not*, *except*, *without*; and relations whose names do: `does_not_cause`, `dislikes`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.graph.steps import relation_of
from clew.query.tree import Anchor, Compared, Counted, Either, Query, Without, steps_of
from clew.query.vocabulary import Vocabulary
from clew.reading.english import FUNCTION
from clew.reading.mentions import Mention
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon

_DENIAL = re.compile(
    r"(?<!\()\b(?:not|never|without|non|neither|none|lacks?|lacking|cannot"
    r"|(?:fail|refuse|decline)(?:s|d|ed)?\s+to|unable\s+to"
    r"|no(?=\s+[a-z])|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would)n['’]?t)\b"
    r"(?!\s+(?:\w{2,}er\s+than|only|more|less|fewer|before|after|over|under|above|below|exceed\w*|until|even"
    r"|just|necessarily|one|matter))",
    re.I,
)
"""Words that leave something out; what a bracket leaves out tells names apart: *HP-40 (not the B)*."""
_EXCEPTION = re.compile(
    r"(?<!\()\b(?:except|excluding|(?:other|rather)\s+than|(?:apart|aside)\s+from|besides)\b", re.I
)
"""Words that do nothing else, as *not* may: *which drugs can you not give her* (`allergic to`)."""
_TO_NAME = re.compile(r"(?:\s+(?:for|from|by|in|of|at|the|those))*[\s\"'“‘]+", re.I)
_DENYING = frozenset("not no non without never none lack lacks lacking un".split())
DENYING_PREFIX = re.compile(r"(?:un|in|im|ir|il|dis|non|mis|anti)(?=[a-z]{3})")


def denies(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question leaves something out, by a word that stands in no name."""
    return any(_outside_names(_DENIAL, question, mentions))


def excepts(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question makes an exception, by words that stand in no name."""
    return any(_outside_names(_EXCEPTION, question, mentions))


def excepted(question: str, mentions: Sequence[Mention]) -> frozenset[int]:
    """The mentions that stand right behind words that make an exception: *apart from Ann*."""
    ends = [stop for _, stop in _outside_names(_EXCEPTION, question, mentions)]
    return frozenset(
        i
        for i, m in enumerate(mentions)
        if m.candidates
        and any(stop <= m.start and _TO_NAME.fullmatch(question, stop, m.start) for stop in ends)
    )


def denial_spans(question: str, mentions: Sequence[Mention]) -> Iterator[tuple[int, int]]:
    """The words, outside of names, with which a question leaves something out: characters [start, stop)."""
    for pattern in (_DENIAL, _EXCEPTION):
        yield from _outside_names(pattern, question, mentions)


def _outside_names(
    pattern: re.Pattern[str], question: str, mentions: Sequence[Mention]
) -> Iterator[tuple[int, int]]:
    names = [m for m in mentions if m.candidates]
    for match in pattern.finditer(question):
        if not any(m.start <= match.start() < m.stop for m in names):
            yield match.span()


def denials(vocabulary: Vocabulary, query: Query) -> int:
    """How often a query leaves something out, or is of what a label denies; *neither … nor* is twice."""
    relations = [relation_of(step) for step in steps_of(query)]
    labels = [vocabulary.relations[relation] for relation in relations]
    number = sum(
        relation in vocabulary.denies or has_denying_word(label) or bool(denied_words(label))
        for relation, label in zip(relations, labels, strict=True)
    )
    for part in query.contents.parts:
        match part:
            case Without(_, Either()):
                number += 2
            case Without() | Counted(_, _, _, 0, _) | Compared(_, _, "!=", _):
                number += 1
            case Anchor(node, _) if vocabulary.truths.get(node) is False:
                number += 1
            case _:
                pass
    return number


def denied_words(label: str) -> frozenset[str]:
    """What a label denies, in the singular: *cause* of *does not cause*, *like* of *dislikes*."""
    words = label.split()
    if has_denying_word(label):
        return frozenset(singular(w) for w in words if w not in _DENYING and w not in FUNCTION)
    stems = [(word, word[match.end() :]) for word in words if (match := DENYING_PREFIX.match(word))]
    return frozenset(singular(stem) for word, stem in stems if _is_opposite(word, stem))


def has_denying_word(label: str) -> bool:
    """Whether a label denies by a word of its own: *not*, *without*."""
    return not _DENYING.isdisjoint(label.split())


def _is_opposite(word: str, stem: str) -> bool:
    """Whether a word is another with a prefix that denies it, both of one part of speech."""
    lexicon = Lexicon.load()
    return lexicon.known(stem) and lexicon.known(word) and lexicon.verb(word) == lexicon.verb(stem)
