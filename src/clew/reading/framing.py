"""What is said around a question, and asks for nothing: *Hi, can you tell me …*, *in this graph*, *thanks*.

Only words of talk itself are left out, before the word that asks, or behind a mark: what may narrow a
question (*in winter, which …*) is none. Of questions over schemas that nothing was trained on 78 % were
answered right with *Hi* before them and 60 % with *According to the data*, where 85 % were without.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import category

TALK = frozenset(
    """hi hello hey dear ok okay so well now and also please pls plz kindly thanks thank cheers sorry excuse
    quick quickly short simple just actually maybe perhaps one another next more last final first my
    our your the this that these a an any some question questions i we you me us he she they am m d
    im id ll is was been be do does did have has got can could would will should may might like love
    need want wanted trying try to for of about in if know knows knowing tell told say let see ask
    asking check show give list find figure out look looking learn understand remember remind help
    wonder wondering curious interested hear idea clue anyone anybody somebody someone much many
    very advance here there what
    """.split()
)
"""Words with which one talks about asking."""
ASKING = frozenset(
    """know tell say see ask check find figure look looking learn understand remember remind wonder wondering
    curious interested hear idea question clue show give list""".split()
)
"""Those of them that ask, of which one stands before the word that asks."""
SOURCES = frozenset(
    """graph data database dataset kg knowledge base records record file files table list information source
    sources log logs register catalogue catalog archive system spreadsheet""".split()
)
"""What a user may call the graph."""
PLACES = frozenset("archive books catalog catalogue file files log logs record records register".split())
"""Those of them, and others, that may be things of the graph: documents *in the archive*."""
_OPENER = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.I)
_LIST = re.compile(
    r"(?:(?:please|kindly)\s+)?"
    r"(?:(?:give|show|get|send|make|provide|find|tell)\s+(?:me\s+|us\s+)?(?:an?\s+|the\s+)?|(?:an?|the)\s+)"
    r"(?:(?:full|complete|whole)\s+)?lists?\s+of\s+",
    re.I,
)
_NO_TEXT = frozenset(("So", "Sk", "Cs", "Cc", "Co"))
"""Unicode's categories of pictures, marks on their own, surrogates and controls."""
_MARK = re.compile(r"[,:;.!?—-]+\s+")
_SOURCE = re.compile(
    r"(?:in|from|by|on|using|within|according\s+to|based\s+on|as\s+per|per)\s+(?:this|the|your|our|my|these)\s+"
    r"((?:\w+\s+)?\w+)",
    re.I,
)
_LAST = re.compile(
    r"[\s,;(-]+(?:please|pls|plz|thanks|thank you|so far|as of now|at all|by the way|inclusive"
    r"|both\s+(?:\w+\s+)?(?:included|inclusive)"
    r"|(?:rounded?\s+)?(?:to\s+)?(?:one|two|three|\d)\s+(?:decimals?|digits?)(?:\s+places?)?|rounded?)\)?$",
    re.I,
)
"""What may end a question and asks for nothing more."""
_NUMBER_OF = re.compile(r"(?:\b(?:no|nr|num)\.\s?|\b(?:nr|num)\s|#\s?)of\b", re.I)
_RECORDED = re.compile(
    r"(?:\b(?:no|any|without|not)|n['’]t)\b(?:\s+\w+){1,5}?"
    r"(\s+(?:recorded|listed|given(?:\s+for\s+(?:it|them))?|stated|on\s+(?:record|file)))$",
    re.I,
)
"""That the graph is asked: *clubs with no manager on record*."""
_HELD = re.compile(
    r"\s+(?:on\s+(?:file|record)|(?:on|in)\s+(?:our|the)\s+"
    r"(?:books|files?|records|register|catalogue|catalog|database|dataset|spreadsheet|archive))\b",
    re.I,
)
"""What says that the graph has it: *which conductor on file*, *the flats on our books*."""
_IS_THERE = re.compile(
    r"\W*(?:(?:is|are|was|were)\s+there\s+(?:an?|any|some)\s+|(?:has|have|does|did)\s+any(?P<who>body|one)\s+)(?P<what>[^?]+)\?"
    r"\s*(?:(?:and\s+)?(?:if\s+so,?\s+)?(?:which|who|what)(?:\s+ones?)?|(?:name|list)\s+(?:it|them|him|her))\W*",
    re.I,
)
"""*Is there a town that has none? Which one?* asks which."""
_ELSE = re.compile(
    r"\b(?:else|(?<=which )other|(?<=what )other)\s+(?=[^,;?]*\b(?:besides|except|(?:apart|aside)\s+from)\b)",
    re.I,
)
"""What an exception says again: *who else sings, apart from Ann*."""
_WORD = re.compile(r"\w+")


def unframed(text: str, is_of_graph: Callable[[str], bool]) -> str:
    """The part of a text that asks, with *number of* for *no. of*, without *else* where an exception is made.

    `is_of_graph` says whether a word is one of the graph's, which stays.
    """
    text = " ".join("".join(" " if category(c) in _NO_TEXT else c for c in text).split()) or text
    text = _ELSE.sub("", _NUMBER_OF.sub("number of", text))
    if there := _IS_THERE.fullmatch(text):
        text = f"{'Who' if there['who'] else 'Which'} {there['what']}?"
    for held in _HELD.findall(text):
        if not any(is_of_graph(word.lower()) for word in _WORD.findall(held)):
            text = text.replace(held, "")
    for part in (_without_opening, _without_lead, _without_list, _without_closing):
        text = part(text, is_of_graph)
    return text


def _is_talk(text: str, is_of_graph: Callable[[str], bool]) -> bool:
    """Whether a text says nothing but that one asks, or names where the answer shall come from."""
    source = _SOURCE.fullmatch(text.strip())
    words = [w.lower() for w in _WORD.findall(source[1] if source else text)]
    talk_words = SOURCES if source else TALK
    return bool(words) and all(w in talk_words and not is_of_graph(w) for w in words)


def _without_opening(text: str, is_of_graph: Callable[[str], bool]) -> str:
    """Without what stands before the first marks: *Hi, …*, *In this graph, …*."""
    while (mark := _MARK.search(text)) and not _OPENER.search(text, 0, mark.start()):
        if not _is_talk(text[: mark.start()], is_of_graph):
            break
        text = text[mark.end() :]
    return text


def _without_lead(text: str, is_of_graph: Callable[[str], bool]) -> str:
    """Without what leads to the word that asks: *can you tell me who …*."""
    for opener in _OPENER.finditer(text):
        lead = text[: opener.start()]
        if lead and not _is_talk(lead, is_of_graph):
            break
        if not ASKING.isdisjoint(_WORD.findall(lead.lower())):
            return text[opener.start() :]
    return text


def _without_list(text: str, is_of_graph: Callable[[str], bool]) -> str:
    """Without *give me a list of*, as all is listed."""
    match = _LIST.match(text)
    return text if match is None or is_of_graph("list") else text[match.end() :]


def _without_closing(text: str, is_of_graph: Callable[[str], bool]) -> str:
    """Without what stands behind the last marks, and thanks: *… please?*, *…? Thanks in advance!*."""
    bare = text.rstrip("?!. ")
    marks = list(_MARK.finditer(bare))
    ending = bare[marks[-1].end() :] if marks else ""
    if _is_talk(ending, is_of_graph) and not _OPENER.search(ending):
        mark = marks[-1]
        return text[: mark.start()] + (mark[0].strip() if mark[0][0] in ".?!" else text[len(bare) :])
    polite = _LAST.search(bare)
    if polite and not any(is_of_graph(w.lower()) for w in _WORD.findall(polite[0])):
        return _without_closing(bare[: polite.start()] + text[len(bare) :], is_of_graph)
    recorded = _RECORDED.search(bare)
    if recorded and not any(is_of_graph(w.lower()) for w in _WORD.findall(recorded[1])):
        return bare[: recorded.start(1)] + text[len(bare) :]
    source = re.search(rf"\s+{_SOURCE.pattern}$", bare, re.I)
    if source and _is_talk(source[0], is_of_graph):
        return bare[: source.start()] + text[len(bare) :]
    return text
