"""Two values between which a question asks for others: *between 2 and 5*, *from 3 to 5*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from clew.query.tree import Sign
from clew.reading.mentions import Mention

_TO_VALUE = r"\s*(?:the\s+)?(?:(?:start|beginning|end|close)\s+of\s+(?:the\s+)?)?[$£€]?"
"""*(between) the start of 2010 (and) the end of 2013*: both years count."""
_BETWEEN, _FROM = (re.compile(rf"\b{word}{_TO_VALUE}$", re.I) for word in ("between", "from"))
_AND = re.compile(rf"[^,;?]{{0,12}}\s*(?:and|to|[-–]){_TO_VALUE}", re.I)
_TO = re.compile(rf"[^,;?]{{0,12}}\s*(?:to|until|till|through|[-–]){_TO_VALUE}", re.I)


def bounds_between(question: str, mentions: Sequence[Mention]) -> dict[int, Sign]:
    """The comparisons that *between* and *from … to* make with two values, by their mentions."""
    bounds: dict[int, Sign] = {}
    valued = sorted((m.start, m.stop, i) for i, m in enumerate(mentions) if m.values)
    for (start, stop, i), (after, _, j) in pairwise(valued):
        between, before = question[stop : max(stop, after)], question[:start]
        ranged = (_BETWEEN, _AND), (_FROM, _TO)
        if any(first.search(before) and then.fullmatch(between) for first, then in ranged):
            bounds |= {i: ">=", j: "<="}
    return bounds
