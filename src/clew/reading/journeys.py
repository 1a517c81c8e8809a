"""Where a journey begins and ends: *where does KX233 go* asks for no departure."""

from __future__ import annotations

import re

from clew.reading.query import Query, steps_of
from clew.reading.vocabulary import Vocabulary

_MOVING = (
    r"(?:go(?:es|ing|ne)?|fl(?:y|ies|ying|own)|sail\w*|head\w*|travel\w*|ship\w*|bound|deliver\w*|divert\w*)"
)
_TO = re.compile(
    rf"\b{_MOVING}\b[^?.,]*\b(?:to|into|for)\b|\bwhere\b[^?.,]*\b(?:go(?:es|ing)?|head(?:ing|ed)?)\b"
    r"|\barriv\w+|\bdestinations?\b|\bland(?:s|ed|ing)? (?:in|at)\b",
    re.I,
)
_FROM = re.compile(
    rf"\b(?:{_MOVING}|start\w*|came|come|comes|coming|set off)\b[^?.,]*\b(?:from|out of)\b"
    r"|\bdepart\w*|\bleav(?:e|es|ing)\b|\borigins?\b",
    re.I,
)
_ENDS = frozenset("arrival arrive arrives arriving destination discharge unloading to".split())
_BEGINNINGS = frozenset("departure depart departs departing origin load loading from start".split())


class Journeys:
    """What one question says of where journeys begin and end."""

    def __init__(self, vocabulary: Vocabulary, question: str) -> None:
        self._vocabulary = vocabulary
        self.to, self.out = bool(_TO.search(question)), bool(_FROM.search(question))

    def against(self, query: Query) -> bool:
        """Whether a query has the one end of a journey where the other one is said."""
        if self.to == self.out:
            return False
        labels = [set(self._vocabulary.relations[step // 2].split()) for step in steps_of(query)]
        ends, beginnings = any(w & _ENDS for w in labels), any(w & _BEGINNINGS for w in labels)
        return (beginnings and not ends) if self.to else (ends and not beginnings)
