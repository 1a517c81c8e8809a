"""The entities that retrieval begins from: those that the user gives, or that the question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex
from clew.reading.rules.link import Linker, given_mentions, unknown_names
from clew.reading.rules.question import FUNCTION, Question, read_question
from clew.reading.rules.readings import Reader
from clew.types import Abstention, Mention

COMMON = 0.3
"""Words that cost more than this to take for a name are words (see `Reader.common`)."""


@dataclass(frozen=True, eq=False)
class FindTopicEntities:
    """Links the entities of a question for methods that retrieve around them, without reading it."""

    graph: Graph
    names: NamesIndex
    linker: Linker
    reader: Reader

    def __call__(self, text: str, entities: Sequence[str] = ()) -> tuple[int, ...]:
        """Entity ids, in the order of the question; several of one name where they are equally likely."""
        if entities:
            return _likeliest(given_mentions(self.names, text, entities))
        question = read_question(text)
        mentions = self._apart(question, self.linker.link(question))
        # Beside a name that the graph lacks, what is left of it is no mention (*Return* of *Xyzzy Return*).
        mentions = [m for m in mentions if not self._torn(question, m, mentions, known=False)]
        if not mentions:
            typos = self._apart(question, self.linker.link_typos(question, []))
            mentions = [m for m in typos if not self._torn(question, m, typos, known=True)][:1]
        return _likeliest(mentions)

    def missing(self, text: str, entities: Sequence[str], seeds: Sequence[int]) -> Abstention | None:
        """Why retrieval cannot begin: no seeds, or an entity that is given but not in the graph."""
        unknown = unknown_names(self.names, entities)
        if seeds and not unknown:
            return None
        names = unknown or [" ".join(w.text for w in read_question(text).words if w.capital)]
        near = [hit.entity for name in names if name for hit in self.names.fuzzy(name, 3)]
        told = " or ".join(f'"{name}"' for name in names if name)
        detail = f"it has no entity like {told}" if told else "it names no entity of this graph"
        return Abstention("no_entity", detail, tuple(self.graph.labels[e] for e in dict.fromkeys(near)))

    def _torn(
        self, question: Question, mention: Mention, mentions: Sequence[Mention], *, known: bool
    ) -> bool:
        """Whether a capitalised word outside all mentions is beside one, in no dictionary or also `known`."""
        words = question.words
        inside = [i for i, w in enumerate(words) if w.start < mention.stop and mention.start < w.stop]
        beside = [words[i] for i in (inside[0] - 1, inside[-1] + 1) if 0 <= i < len(words)] if inside else []
        return any(
            word.capital
            and word.norm not in FUNCTION
            and (known or not self.linker.lexicon.known(word.norm))
            and not any(m.start <= word.start < m.stop for m in mentions)
            for word in beside
        )

    def _apart(self, question: Question, mentions: Sequence[Mention]) -> list[Mention]:
        """Those that are names rather than words and do not overlap: the likeliest, then the longest."""
        cost = {m: self.reader.common(question, m) for m in mentions if m.candidates}
        ranked = sorted(
            (m for m in cost if cost[m] <= COMMON), key=lambda m: (cost[m] > 0, m.start - m.stop, m.start)
        )
        kept: list[Mention] = []
        for mention in ranked:
            if all(mention.stop <= k.start or k.stop <= mention.start for k in kept):
                kept.append(mention)
        # A common word is a name only if the question has no better one.
        firm = [m for m in kept if cost[m] <= 0]
        return sorted(firm or kept, key=lambda m: m.start)


def _likeliest(mentions: Sequence[Mention]) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys(c.entity for m in mentions for c in m.candidates if c.score == m.candidates[0].score)
    )
