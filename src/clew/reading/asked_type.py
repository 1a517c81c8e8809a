"""The declared type that a question asks for by its name: *which suppliers …*, *how many drugs …*."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.reading.mentions import Mention
from clew.reading.vocabulary import Likeness

_ASKED_TYPE = re.compile(r"\b(?:which|what|how many|whose)\s+((?:[\w-]+\s*){1,3})", re.I)
SPELT = 0.79
"""Least likeness by spelling of a word and a type that it names."""
OTHER, UNKNOWN = 0.1, 0.3
"""What is left of the probability of a reading that answers with another type, or with no declared one."""


def asked_type(question: str, mentions: Sequence[Mention], likeness: Likeness) -> int:
    """The type whose name follows the word that asks, the last one of a run of such names; -1 for none."""
    match = _ASKED_TYPE.search(question)
    if match is None or not likeness.types.shape[1]:
        return -1
    start, stop = match.span(1)
    found = -1
    for word, (a, b, _) in enumerate(likeness.words):
        if a < start or b > stop:
            continue
        if any(m.strong and m.start <= a and b <= m.stop for m in mentions):
            break
        type_ = int(likeness.exact_types[word].argmax())
        if likeness.exact_types[word, type_] >= SPELT:
            found = type_
        elif found >= 0:
            break
    return found
