"""Candidates: the query graphs that a question may mean, of what the graph has around its mentions.

First sets are enumerated: paths from a mention (`paths.py`), joins of two or three of them and all of a type
(`joins.py`); then the operations that words of the question may ask for are put around the sets that its
words name best (`operations.py`). What is left out for the budget is what the words name least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.graph.steps import opposite, relation_of
from clew.query.tree import Anchor, Query
from clew.query.vocabulary import Vocabulary
from clew.reading import english
from clew.reading.comparisons import sign_beside
from clew.reading.joins import (
    absent_sets,
    family_of,
    flagged_sets,
    joined_sets,
    sets_without,
    typed_sets,
    whole_types,
    with_flags,
)
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.reading.operations import Proposal, operations, yes_or_no
from clew.reading.paths import Base, CandidatePaths, Exploration, by_worth

QUOTA = {
    "one": 70, "two": 80, "three": 56, "path": 10, "pair": 40, "join": 56, "either": 36, "type": 16,
    "walked": 36, "filter": 64, "filter of all": 40, "extreme": 80, "extreme of all": 56, "onward": 80,
    "onward of all": 84, "aggregate": 36, "aggregate of all": 16, "less": 40, "much less": 50, "count": 110,
    "yes": 50, "absent": 14,
}  # fmt: skip
"""How many candidates of each family are ranked, those that the words name best."""


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate with what was seen of its answers: how many, -1 where that is not known yet."""

    query: Query
    worth: float
    size: int = -1


def enumerate_candidates(
    vocabulary: Vocabulary, question: str, mentions: Sequence[Mention], likeness: Likeness
) -> list[Option]:
    """All candidates of a question, family by family, those that its words name best first."""
    name_mentions = _without_compared_values(vocabulary, question, mentions)
    exploration = Exploration(vocabulary, question, name_mentions, likeness)
    paths = exploration.paths()
    joined = by_worth(list(joined_sets(exploration, paths)))
    bases = _sets(exploration, paths, [b for b in joined if len(b.members)])
    proposals = [*map(_list_proposal, (b for b in bases if not isinstance(b.part, Anchor)))]
    proposals += [_absent_proposal(exploration, base) for base in absent_sets(exploration, paths)]
    proposals += operations(exploration, bases)
    if english.YES_NO.search(question):
        proposals += yes_or_no(exploration, paths, joined)
    return _best_of_each(proposals)


def _without_compared_values(
    vocabulary: Vocabulary, question: str, mentions: Sequence[Mention]
) -> list[Mention]:
    """The mentions, without nodes that are values where words compare: *more than 3* is no name."""
    kinds = vocabulary.graph.values.kind
    name_mentions: list[Mention] = []
    for mention in mentions:
        if mention.values and sign_beside(question, mention) is not None:
            candidates = tuple(c for c in mention.candidates if not kinds[c.node])
            mention = replace(mention, candidates=candidates)
        name_mentions.append(mention)
    return name_mentions


def _sets(exploration: Exploration, paths: CandidatePaths, joined: Sequence[Base]) -> list[Base]:
    """The sets that a question may be about, those that its words name best first."""
    bases = [base for group in paths.values() for base in group]
    types = by_worth(list(whole_types(exploration)))
    walked = by_worth([base for type_set in types[:12] for base in exploration.grown(type_set)])
    walked += [base for before in walked[:20] for base in exploration.grown(before)]
    flags = list(flagged_sets(exploration))
    bases += [*joined, *types, *walked, *flags, *with_flags(exploration, flags, bases)]
    bases += list(typed_sets(exploration, bases))
    bases += list(sets_without(exploration, paths, bases))
    return by_worth(bases)


def _list_proposal(base: Base) -> Proposal:
    """The members of a set."""
    size = len(base.members) if base.complete else -1
    return Proposal(family_of(base.part), Query("list", base.part), base.worth, size)


def _absent_proposal(exploration: Exploration, base: Base) -> Proposal:
    """A set that is empty here, with the size that it has elsewhere: it may be meant like any other."""
    relation, node_count = relation_of(base.steps[0]), exploration.schema.nodes[opposite(base.end)]
    size = max(1, round(int(exploration.schema.triples[relation]) / max(1, int(node_count))))
    return Proposal("absent", Query("list", base.part), base.worth, size)


def _best_of_each(proposals: Sequence[Proposal]) -> list[Option]:
    """The best candidates of each family, each once, with its best worth."""
    families: dict[str, list[Proposal]] = {}
    for proposal in proposals:
        families.setdefault(proposal.family, []).append(proposal)
    options: dict[Query, Option] = {}
    for family, group in families.items():
        best_options: dict[Query, Option] = {}
        for proposal in sorted(group, key=lambda p: -p.worth):
            if proposal.query not in best_options:
                best_options[proposal.query] = Option(proposal.query, proposal.worth, proposal.size)
                if len(best_options) == QUOTA[family]:
                    break
        options |= best_options
    return list(options.values())
