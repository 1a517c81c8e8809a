"""Of which things the largest is asked for, where no type and no word says it: of all that have the value.

*Who earns the most?* is asked of everything with a salary, and not of everything that works in a department.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.foundation.arrays import Float32
from clew.reading.asked_type import SPELT
from clew.reading.candidates import Option
from clew.reading.likeness import Likeness
from clew.reading.query import Compared, Extreme, OfType, Part, Query, key_of
from clew.reading.which_way import LEAST_SCORE


def take_own_domains(likeness: Likeness, options: Sequence[Option], scores: Float32) -> None:
    """Give the score of what ranks things of an end that nothing says to what ranks all that have the value.

    `scores` float32 [n + 1], that of none last, are changed.
    """
    said = likeness.exact_relations.max(axis=0, initial=0.0) >= SPELT
    own = {i: part for i, o in enumerate(options) if (part := _of_own_domain(o.query.part, said))}
    places = {key_of(option.query): i for i, option in enumerate(options)} if own else {}
    for i, part in own.items():
        to = places.get(key_of(Query(options[i].query.ask, part)))
        if to is not None:
            scores[to] = np.logaddexp(scores[to], scores[i])
            scores[i] = LEAST_SCORE


def _of_own_domain(part: Part, said: np.ndarray) -> Part | None:
    """The same of all that have the value, where the things are told by another end that nothing says."""
    match part:
        case Extreme(OfType(-1, end), steps) | Compared(OfType(-1, end), steps) if (
            end != steps[0] and not said[end // 2]
        ):
            return replace(part, source=OfType(-1, steps[0]))
        case _:
            return None
