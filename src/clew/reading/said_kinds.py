"""Names that a question says the kind of: *the genre Drama*, *the Drama genre*.

Where the kind is the name of a relation (*has genre*), and what is read as the name never stands at an end of
it, another thing of that name was found: one that is a tag, where the genre was removed from the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from clew.query.tree import Anchor, Both, Query, Walk
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.asked_type import SPELT
from clew.reading.mentions import Mention
from clew.reading.reader import Reading
from clew.text.lexicon import Lexicon
from clew.types import Abstention

_THE = re.compile(r"\b(?:the|an?|any|some)\s+[\"'“‘]?$", re.I)
_BEFORE_KIND = re.compile(r"\b(?:of|in|with|have|has|had|having)[\s_]+$", re.I)
_NAMING = re.compile(r"(?: called| named|:)? ?[\"'“‘]?", re.I)
_BEHIND = re.compile(
    r"[\"'”’]?\s*(?:$|[?.!,;:)]|(?:and|or|of|in|by|from|with|for|on|at|to|that|which|who|whose|where)\b)",
    re.I,
)


def of_another_kind(vocabulary: Vocabulary, reading: Reading, query: Query) -> Abstention | None:
    """Why not to answer, where a name is read as what is not of the kind that the question says.

    A relation that some word says is taken as it is: *born in the city Oslo* needs no `city` that is Oslo.
    """
    for anchor, step in _steps_at_names(query):
        mention = reading.mentions[anchor.mention]
        for word in kinds_of(reading, mention):
            relations = _relations_said(reading, word)
            if not relations or step // 2 in relations or _is_said(reading, mention, step // 2):
                continue
            if not _touches(vocabulary, anchor.node, relations) and not _is_type(reading, word):
                kind, label = reading.likeness.words[word][2], vocabulary.graph.labels[anchor.node]
                return Abstention("no_entity", f'it has no {kind} like "{mention.text}"', (label,))
    return None


def _steps_at_names(query: Query) -> Iterator[tuple[Anchor, int]]:
    """The entities that stand for names, each with the step that begins or ends at it."""
    for part in query.contents.parts:
        match part:
            case Walk(Anchor(_, mention) as anchor, step) if mention >= 0:
                yield anchor, step
            case Both(Walk(_, step), Anchor(_, mention) as anchor) if mention >= 0:
                yield anchor, step
            case _:
                pass


def kinds_of(reading: Reading, mention: Mention) -> list[int]:
    """The words beside a name that say what it is, by their place among the content words."""
    text = reading.question
    places: list[int] = []
    for place, (start, stop, word) in enumerate(reading.likeness.words):
        if stop <= mention.start and _NAMING.fullmatch(text, stop, mention.start):
            is_kind = _is_noun(text[:start], word) and _BEHIND.match(text, mention.stop)
        elif mention.stop <= start and not text[mention.stop : start].strip("\"'”’ "):
            is_kind = _THE.search(text[: mention.start]) and _BEHIND.match(text, stop)
            is_kind = is_kind and not Lexicon.load().mostly_verb(word)
        else:
            continue
        if is_kind:
            places.append(place)
    return places


def _is_noun(before: str, word: str) -> bool:
    """Whether a word is a noun behind some text: *the play*, *of genre*, *has genre*, not *has owned*."""
    if _THE.search(before):
        return True
    return bool(_BEFORE_KIND.search(before)) and not Lexicon.load().verb(word)


def _relations_said(reading: Reading, word: int) -> set[int]:
    """The relations that a word says by its spelling."""
    return set(np.flatnonzero(reading.likeness.exact_relations[word] >= SPELT).tolist())


def _is_said(reading: Reading, mention: Mention, relation: int) -> bool:
    """Whether a word outside of a name says a relation."""
    like = reading.likeness
    outside = [not (mention.start < stop and start < mention.stop) for start, stop, _ in like.words]
    return float(like.relations[outside, relation].max(initial=0.0)) >= UNEXPLAINED


def _touches(vocabulary: Vocabulary, node: int, relations: set[int]) -> bool:
    """Whether an entity stands at either end of one of some relations."""
    graph = vocabulary.graph
    spans = ((side, *side.span(node)) for side in (graph.out, graph.into))
    return any(bool(np.isin(side.relation[start:stop], list(relations)).any()) for side, start, stop in spans)


def _is_type(reading: Reading, word: int) -> bool:
    """Whether a word is also the name of a declared type, which a reading is ranked by."""
    return bool(reading.likeness.exact_types[word].max(initial=0.0) >= SPELT)
