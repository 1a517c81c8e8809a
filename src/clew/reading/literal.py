"""What tells for a candidate that the question says word for word: by the labels of the graph themselves.

Who knows the graph asks with its words: *srv tenant of k8s-node-13*, *flats whose has_tenant is Ann Lee*.
Such questions are seldom among those that the ranker learned from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from clew.graph.steps import Step, is_backward, relation_of
from clew.query.tree import Anchor, OfType, Query, Walk, mentions_of
from clew.query.vocabulary import Vocabulary
from clew.reading.asked_for import is_kind
from clew.reading.english import ANYONE, FUNCTION, LIGHT
from clew.reading.likeness import Likeness, types_said
from clew.reading.mentions import Mention, spans_of
from clew.text.inflection import singular
from clew.text.normalise import tokens

LITERAL = 4.0
"""How much likelier a candidate is, as a logarithm, that says every word of the question by its labels, each
of which stands there: 3 and 5 were tried on made-up questions of such words, and nearly do the same."""
LONGEST_LABEL = 8

_IS, _WHOSE = re.compile(r"\s+(?:is|are|was|were)\s", re.I), re.compile(r"\bwhose\s+$", re.I)
_HAVING = re.compile(r"\b(?:has|have|had|with)\s+(?:the\s+|an?\s+)?$", re.I)
_OF, _OWN = re.compile(r"\s+of\s+(?:the\s+)?", re.I), re.compile(r"['’]s?\s+", re.I)


class Literal:
    """The labels that stand word for word in one question."""

    def __init__(
        self, vocabulary: Vocabulary, question: str, mentions: Sequence[Mention], likeness: Likeness
    ) -> None:
        self._vocabulary, self._mentions, self._likeness = vocabulary, mentions, likeness
        self._text, self._tokens = question, tokens(question)

    def for_(self, query: Query) -> float:
        """What tells for a query, as a logarithm."""
        return LITERAL * self._says_all(query)

    def _says_all(self, query: Query) -> bool:
        contents = query.contents
        name_spans = spans_of(self._mentions, mentions_of(query))
        label_spans: list[tuple[int, int]] = []
        relations = Counter(relation_of(step) for step in contents.steps)
        types = Counter(p.type for p in contents.parts if isinstance(p, OfType) and p.type >= 0)
        if not relations:
            return False
        for labels, counts in ((self._relations, relations), (self._types, types)):
            taken_spans = [*name_spans, *label_spans]  # a type is not said by the word that says a relation
            for label, times in counts.items():
                spans = [span for span in labels.get(label, ()) if not _meets(span, taken_spans)]
                if len(spans) < times:
                    return False
                label_spans += spans
        for type_ in types_said(self._vocabulary, query):
            label_spans += self._types.get(type_, ())
        taken_spans = [*name_spans, *label_spans]
        content_spans = (
            (start, stop)
            for row, (start, stop, word) in enumerate(self._likeness.words)
            if word not in FUNCTION
            and word not in LIGHT
            and word not in ANYONE
            and word != "whose"
            and not is_kind(self._likeness, self._text, row)
        )
        open_ = (m for m in self._mentions if m.strong or m.values)
        if not all(
            _meets(span, taken_spans) for span in (*content_spans, *((m.start, m.stop) for m in open_))
        ):
            return False
        return not any(
            isinstance(part, Walk)
            and isinstance(part.source, Anchor)
            and self._goes_wrong(part.source.mention, part.step)
            for part in contents.parts
        )

    def _goes_wrong(self, mention: int, step: Step) -> bool:
        """Whether the words around a label say that its relation is gone the other way from a name."""
        if mention < 0:
            return False
        name = self._mentions[mention]
        for start, stop in self._relations.get(relation_of(step), ()):
            if name.stop <= start:
                if _OWN.fullmatch(self._text[name.stop : start]):
                    return is_backward(step)
            elif stop <= name.start:
                before, between = self._text[:start], self._text[stop : name.start]
                if _OF.fullmatch(between):
                    return is_backward(step)
                if (_WHOSE.search(before) and _IS.match(between)) or (
                    _HAVING.search(before) and between.isspace()
                ):
                    return not is_backward(step)
        return False

    @cached_property
    def _relations(self) -> dict[int, list[tuple[int, int]]]:
        return self._label_places(self._vocabulary.relations_by_words)

    @cached_property
    def _types(self) -> dict[int, list[tuple[int, int]]]:
        return self._label_places(self._vocabulary.types_by_words)

    def _label_places(self, labels: dict[tuple[str, ...], list[int]]) -> dict[int, list[tuple[int, int]]]:
        """Each label that stands in the question, with its places."""
        places: dict[int, list[tuple[int, int]]] = {}
        norms = [token.norm for token in self._tokens]
        for first in range(len(norms)):
            for last in range(first + 1, min(len(norms), first + LONGEST_LABEL) + 1):
                words = (*norms[first : last - 1], singular(norms[last - 1]))
                for label in {*labels.get(words, ()), *labels.get(tuple(norms[first:last]), ())}:
                    places.setdefault(label, []).append(
                        (self._tokens[first].start, self._tokens[last - 1].stop)
                    )
        return places


def _meets(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < stop and start < span[1] for start, stop in spans)
