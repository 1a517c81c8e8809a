"""The entities that retrieval begins from: those that the user gives, or that the question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.index.names.containing import nodes_containing
from clew.index.names.names import NamesIndex
from clew.methods.given_entities import CODE, shortest_named
from clew.reading.near_names import near_names, unknown_names
from clew.reading.rules.link import Linker, given_mentions
from clew.reading.rules.question import FUNCTION, Question, read_question
from clew.reading.rules.readings import Reader
from clew.types import Abstention, Candidate, Mention

COMMON = 0.3
"""Words that cost more than this to take for a name are words (see `Reader.common`)."""
MOST_OF_PART = 3
"""A word that is a part of more names than this means none of them."""
_WORD = re.compile(r"[^\W_]+(?:[-./'’][^\W_]+)*")


@dataclass(frozen=True, eq=False)
class FindTopicEntities:
    """Links the entities of a question for methods that retrieve around them, without reading it."""

    graph: Graph
    names: NamesIndex
    linker: Linker
    reader: Reader

    def __call__(self, text: str, entities: Sequence[str] = ()) -> tuple[int, ...]:
        """Entity ids, in the order of the question; several of one name where they are equally likely."""
        return tuple(dict.fromkeys(e for found in self.called(text, entities).values() for e in found))

    def called(self, text: str, entities: Sequence[str] = ()) -> dict[str, tuple[int, ...]]:
        """What the question calls them, in its order, each with the likeliest entities."""
        found: dict[str, tuple[int, ...]] = {}
        for mention in self._mentions(text, entities):
            best = [c.entity for c in mention.candidates if c.score == mention.candidates[0].score]
            found[mention.text] = tuple(dict.fromkeys((*found.get(mention.text, ()), *best)))
        return found

    def _mentions(self, text: str, entities: Sequence[str]) -> list[Mention]:
        if entities:
            return list(given_mentions(self.names, text, entities))
        question = read_question(text)
        mentions = self._apart(question, self.linker.link(question))
        # Beside a name that the graph lacks, what is left of it is no mention (*Return* of *Xyzzy Return*).
        mentions = [m for m in mentions if not self._torn(question, m, mentions, known=False)]
        if not mentions:
            typos = self._apart(question, self.linker.link_typos(question, []))
            mentions = [m for m in typos if not self._torn(question, m, typos, known=True)][:1]
        codes = self._codes(text, mentions)
        mentions = [m for m in mentions if not any(c.start <= m.start and m.stop <= c.stop for c in codes)]
        return sorted([*mentions, *codes], key=lambda m: m.start)

    def _codes(self, text: str, mentions: Sequence[Mention]) -> list[Mention]:
        """Words with a digit, and capitalised ones after the first, that are a part of few names: *HP-40*.

        A number that is the end of one (the 40) does not keep it from being one.
        """
        found: list[Mention] = []
        for word in _WORD.finditer(text):
            inside = any(
                m.start < word.end()
                and word.start() < m.stop
                and not (m.text.isdigit() and word.start() < m.start)
                for m in mentions
            )
            if inside or not (CODE.search(word[0]) or (word[0][0].isupper() and word.start())):
                continue
            part = self._part(word[0], word.start())
            if part is not None and len(part.candidates) <= MOST_OF_PART:
                found.append(part)
        return found

    def _part(self, name: str, start: int) -> Mention | None:
        """The entities of whose names a text is some whole words."""
        nodes = shortest_named(self.names, name, nodes_containing(self.names, name) or [])
        candidates = tuple(Candidate(node, 0.9, "part") for node in nodes)
        return Mention(start, start + len(name), name, candidates) if candidates else None

    def missing(self, text: str, entities: Sequence[str], seeds: Sequence[int]) -> Abstention | None:
        """Why retrieval cannot begin: no seeds, or an entity that is given but not in the graph."""
        unknown = unknown_names(self.names, entities)
        if seeds and not unknown:
            return None
        names = unknown or [" ".join(w.text for w in read_question(text).words if w.capital)]
        near = near_names(self.graph, self.names, [name for name in names if name])
        told = " or ".join(f'"{name}"' for name in names if name)
        detail = f"it has no entity like {told}" if told else "it names no entity of this graph"
        return Abstention("no_entity", detail, near)

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
