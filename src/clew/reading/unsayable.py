"""What a question asks for that no query graph says, and a *not* that a reading may leave out.

*The second longest*, *how much longer*, *longer than the average*, *how many each*, *every*, *names that
begin with L*: what is read in their place is something simpler, and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.query.tree import Anchor, Compared, Counted, Extreme, Query, Without, steps_of
from clew.query.values import ORDINALS
from clew.query.vocabulary import Vocabulary
from clew.reading.mentions import Mention

_DENIAL = re.compile(
    r"(?<!\()\b(?:not|never|without|non|neither|none|lacks?|lacking|cannot"
    r"|no(?=\s+[a-z])|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would)n['’]?t)\b"
    r"(?!\s+(?:only|more|less|fewer|later|earlier|longer|before|after|over|under|above|below|exceed\w*|until|even"
    r"|just|necessarily|one|matter))",
    re.I,
)
"""Words that leave something out; what a bracket leaves out tells names apart: *HP-40 (not the B)*."""
_EXCEPTION = re.compile(
    r"(?<!\()\b(?:except|excluding|(?:other|rather)\s+than|(?:apart|aside)\s+from)\b", re.I
)
"""Words that do nothing else, as *not* may: *which drugs can you not give her* (`allergic to`)."""
_DENYING = frozenset("not no non without never none lack lacks lacking un".split())
_SPELLING = re.compile(
    r"\b(?:contain\w*|include\w*|ha(?:s|ve|ving)|with)\s+the\s+(?:sub-?strings?|strings?|words?|letters?|prefix\w*)\b"
    r"|\b(?:start\w*|begin\w*|end\w*)\s+(?:with|in)\s+(?:the\s+(?:letters?|words?|prefix)\b"
    r"|(?-i:['\"“‘]\w['\"”’]|[A-Z](?!\w)))",
    re.I,
)
"""How names are written, which no query graph asks for."""
_NTH = rf"(?:{'|'.join(ORDINALS[1:10])}|\d*(?:2nd|3rd|\dth))"
_MORE_THAN_QUERIES = re.compile(
    rf"\b{_NTH}[-\s]+(?:most|least|best|worst|\w{{2,}}est)\b"
    r"|\bhow\s+(?:much|many)\s+(?:\w{2,}er|more|less|fewer)\b[^?]*\bthan\b(?!\s*\d)"
    r"|\bhow\s+many\b[^?]*\b(?:do|does|did|has|have|in|for|by)\s+each\b"
    r"|^\W*(?:who|which|what)\b[^?]*\bevery\s+\w"
    r"|\bhow\s+(?:is|are|was|were)\b[^?]*\b(?:related|connected|linked)\b"
    r"|[<>≤≥]=?\W*$"
    r"|\b(?:what|which)\s+(?:percent(?:age)?|share|proportion|fraction|ratio)\s+of\b|\bwhat\s+%\s+of\b",
    re.I,
)
"""A rank that is not the first, a difference, a number for each of many, what holds of every one, how two are
connected, a share; a bound without a value."""
_FIRST_FEW = re.compile(
    r"\b(?:first|last)\s+(?:\d+|two|three|four|five|six|seven|eight|nine|ten|few|several)\s+[a-z]", re.I
)
"""Some of a list, of which no order is told."""


_THAN_AVERAGE = re.compile(
    r"\b(?:than|above|below|over|under|beyond|exceed\w*)\s+(?:\w+\s+)?(?P<mean>average|mean|typical)\b", re.I
)
"""A comparison with an average, unless a label of the graph is of one."""


def asks_more(vocabulary: Vocabulary, question: str, query: Query) -> bool:
    """Whether a question asks for more than its query, as than any."""
    if _SPELLING.search(question) or _MORE_THAN_QUERIES.search(question):
        return True
    mean = _THAN_AVERAGE.search(question)
    if mean is not None and not any(mean["mean"].lower() in label for label in _labels(vocabulary, query)):
        return True
    return bool(_FIRST_FEW.search(question)) and not any(isinstance(p, Extreme) for p in query.contents.parts)


def denies(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question leaves something out, by a word that stands in no name."""
    return _is_said(_DENIAL, question, mentions)


def excepts(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question makes an exception, by words that stand in no name."""
    return _is_said(_EXCEPTION, question, mentions)


def _is_said(pattern: re.Pattern[str], question: str, mentions: Sequence[Mention]) -> bool:
    names = [m for m in mentions if m.candidates]
    return any(
        not any(m.start <= match.start() < m.stop for m in names) for match in pattern.finditer(question)
    )


def is_denial(vocabulary: Vocabulary, query: Query) -> bool:
    """Whether a query leaves something out, or is of what a label denies."""
    for part in query.contents.parts:
        match part:
            case Without() | Counted(_, _, _, 0, _) | Compared(_, _, "!=", _):
                return True
            case Anchor(node, _) if vocabulary.truths.get(node) is False:
                return True
            case _:
                pass
    return any(not _DENYING.isdisjoint(label) for label in _labels(vocabulary, query))


def _labels(vocabulary: Vocabulary, query: Query) -> Iterator[list[str]]:
    """The words of the labels of the relations of a query."""
    return (vocabulary.relations[step // 2].split() for step in steps_of(query))
