"""Whether a model's text says that it has no answer, whatever names stand in it.

*The facts do not mention a composer; they only say that Christopher Nolan directed it* names an entity of the
evidence and answers nothing: section 4.4.3 of KG-RAG and appendix E of SimGRAG show such replies. The words
are English; in another language only names decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST_LOOKED_AT = 20_000
"""Characters of a text that are looked through."""

_NOT = r"(?:\s+not|n['’]t|not)"
_HOW = r"(?:\s+(?:explicitly|directly|actually|specifically|clearly|seem\s+to|appear\s+to))?"
_SOURCE = (
    r"(?:context|facts?|evidences?|triples?|(?:sub)?graphs?|information|statements?|data|rows?|results?|texts?"
    r"|passages?|sources?|documents?|(?:sub-?)?answers?|none|nothing)"
)
_TELLS = (
    r"(?:mention|say|state|contain|provide|include|specify|specif|hold|tell|answer|give|indicate|list|name|show"
    r"|reveal|record|support|cover|have|describe|identify|address|connect)(?:s|ies)?"
)
_FINDS = (
    r"(?:know|answer|determine|find|tell|say|help|assist|identify|provide|infer|comply|fulfil|see|give|deduce"
    r"|confirm|conclude|establish|look)"
)
_DECLINES = re.compile(
    "|".join(
        (
            rf"\bI(?:\s+(?:do|can|could|am|was|will)|['’]m){_NOT}{_HOW}(?:\s+able\s+to|\s+sure)?\s+{_FINDS}\b",
            r"\b(?:I\s+am|I['’]m)\s+(?:not\s+sure|unable|sorry|afraid)\b",
            rf"\b(?:we|one|it){_HOW}\s+(?:can|could|do){_NOT}\s+(?:be\s+)?{_FINDS}",
            rf"\b(?:can|could){_NOT}\s+be\s+(?:answered|determined|inferred|found|identified|established|deduced)\b",
            rf"\b(?:unable|impossible|not\s+possible)\s+to\s+{_FINDS}\b",
            rf"\b{_SOURCE}\b[^.!?;\n]{{0,80}}?\b(?:do|does|did){_NOT}{_HOW}\s+{_TELLS}\b",
            rf"\b(?:none|nothing)\s+(?:of|in|from)\s+(?:the|these|this|those|my|your)\b[^.!?;\n]{{0,40}}?\b{_SOURCE}\b",
            r"\b(?:there\s+(?:is|are|was|were)|has|have|had|with|contains?|provides?|gives?|holds?|offers?|finds?|see|found)"
            r"\s+(?:no|not\s+any|not\s+enough|insufficient)\s+(?:\w+\s+){0,2}"
            r"(?:information|evidence|mention|record|data|answer|facts?|triples?|connection|indication|details?|reference)\b",
            r"\b(?:not\s+enough|insufficient)\s+(?:information|evidence|data|context|facts|details)\b",
            r"\b(?:is|are|was|were)(?:\s+not|n['’]t)\s+(?:explicitly\s+|directly\s+)?"
            r"(?:mentioned|stated|specified|provided|given|known|available|included|listed|named|recorded|answered)\b",
            r"\A\W*(?:no\s+(?:answer|information|evidence)|unknown|not\s+(?:known|mentioned|found|available|applicable)|n/a|none)\W*\Z",
            r"\A\W*as\s+an?\s+(?:AI|(?:large\s+)?language\s+model)\b",
        )
    ),
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\banswers?\s*(?:is|are|:)(?!\s*not\b)\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?]\s+|\n+")
_MARK = "\x00"


def declines(text: str, names: Iterable[str] | None = None) -> bool:
    """Whether a text says that it has no answer, before it names any of `names`; at once, if they are None.

    `names` are what it may answer with. Where it ends in *the answer is …*, only what follows counts.
    """
    masked_text = _masked(text[:LONGEST_LOOKED_AT], names or ())
    starts = [match.end() for match in _ANSWER.finditer(masked_text)]
    if starts and masked_text[starts[-1] :].strip():
        masked_text = masked_text[starts[-1] :]
    match = _DECLINES.search(masked_text)
    if match is None:
        return False
    before = masked_text[
        : max((end.end() for end in _SENTENCE.finditer(masked_text, 0, match.start())), default=0)
    ]
    return not before.strip() if names is None else _MARK not in before


def _masked(text: str, names: Iterable[str]) -> str:
    """A text with a mark for each name: a film may be called *I Don't Know*."""
    plain = sorted({" ".join(n.split()) for n in names if n.strip()}, key=lambda name: (-len(name), name))
    if not plain:
        return text.replace(_MARK, " ")
    words = (r"\W+".join(map(re.escape, re.findall(r"\w+", name))) or re.escape(name) for name in plain)
    pattern = rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"
    return re.sub(pattern, _MARK, text.replace(_MARK, " "), flags=re.IGNORECASE)
