"""Readings that go a long way round: *universities in Germany* are those that stand there, by no graduate.

Where a question says nothing but a type and names, the shortest chain from the one to the others is meant,
and of chains as long the one that leads from each answer to one thing, as a place or a maker is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clew.foundation.arrays import Float32
from clew.reading.asked_type import SPELT
from clew.reading.candidates import Option
from clew.reading.english import COUNT
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.reading.query import Anchor, Both, OfType, Part, Walk
from clew.reading.vocabulary import Vocabulary

_PLACED = frozenset("located situated found lies lie lying based stands stand standing sits there".split())
DETOUR = 0.05
"""What is left of the odds of a chain beside one that is shorter, or leads to one thing where it does not."""
ONE_EACH = 1.1
"""Up to so many things at the mean a step leads to one."""


def against_detours(
    vocabulary: Vocabulary,
    mentions: Sequence[Mention],
    likeness: Likeness,
    options: Sequence[Option],
    asked: int,
) -> Float32:
    """The logarithm of what is left of the odds of each candidate, float32 [n]; `asked` is a type, or -1."""
    told = np.zeros(len(options), np.float32)
    if asked < 0 or not _is_bare(mentions, likeness, asked):
        return told
    costs = {i: cost for i, o in enumerate(options) if (cost := _cost(vocabulary, o, asked)) is not None}
    least = {mention: min(c for m, c in costs.values() if m == mention) for mention, _ in costs.values()}
    for i, (mention, cost) in costs.items():
        told[i] = (cost > least[mention]) * math.log(DETOUR)
    return told


def _is_bare(mentions: Sequence[Mention], likeness: Likeness, asked: int) -> bool:
    """Whether all that a question says is a type, names, and words of being somewhere."""
    spans = [(m.start, m.stop) for m in mentions if m.strong and m.candidates]
    return all(
        word in _PLACED
        or COUNT.fullmatch(word) is not None
        or float(likeness.exact_types[place, asked]) >= SPELT
        or any(a < stop and start < b for a, b in spans)
        for place, (start, stop, word) in enumerate(likeness.words)
    )


def _cost(vocabulary: Vocabulary, option: Option, asked: int) -> tuple[int, int] | None:
    """The mention that a chain of things of a type begins at, and how far off it is; None of what is none."""
    part: Part = option.query.part
    typed = isinstance(part, Both) and part.right == OfType(asked)
    chain = part.left if isinstance(part, Both) and typed else part
    if option.query.ask not in ("list", "count") or not isinstance(chain, Walk) or option.size == 0:
        return None
    if not typed and vocabulary.end_types[chain.step ^ 1] != asked:
        return None
    cost, schema = 0, vocabulary.schema
    while isinstance(chain, Walk):
        each = int(schema.triples[chain.step // 2]) / max(1, int(schema.nodes[chain.step ^ 1]))
        cost, chain = cost + 1 + (each > ONE_EACH), chain.source
    return (chain.mention, cost) if isinstance(chain, Anchor) and chain.mention >= 0 else None
