"""Candidates of a question that is answered with yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from clew.query.tree import Anchor, Both, Query
from clew.reading import english
from clew.reading.operations import Proposal, filters_by_value, sets_compared_with_entity
from clew.reading.paths import Base, CandidatePaths, Exploration


def yes_or_no(exploration: Exploration, paths: CandidatePaths, joined: Sequence[Base]) -> Iterator[Proposal]:
    """Whether an entity is where a path from another leads, has a value, or stands above another."""
    ask_worth = 0.8 if english.YES_NO.match(exploration.question) else 0.1
    ends = {node: set(exploration.steps_at(np.array([node], np.int64))) for _, node in paths}
    for base in joined[:30]:
        yield Proposal("yes", Query("yes", base.part), base.worth + ask_worth - 0.2)
    for (i, node), group in paths.items():
        for j, other_node in paths:
            if i == j or node == other_node or exploration.overlap(i, j):
                continue
            link = next(c.score for c in exploration.mentions[j].candidates if c.node == other_node) - 1
            # What is unlike all that stands at the end of a path is of another kind: nobody asks that.
            fitting = [
                b
                for b in group[1:]
                if len(b.steps) <= 2 and exploration.may_stand_at(ends[other_node], b.end)
            ]
            for base in fitting[:15]:
                part = Both(base.part, Anchor(other_node, j))
                words_worth = float(np.maximum(base.coverage, exploration.covered(j)).sum()) - base.cost
                yield Proposal("yes", Query("yes", part), words_worth + link + ask_worth)
        for base in _whether_of_values(exploration, i, group[0]):
            yield Proposal("yes", Query("yes", base.part), base.worth + ask_worth)
        for base in group[1:12]:
            yield Proposal("yes", Query("yes", base.part), base.worth + ask_worth - 0.3)


def _whether_of_values(exploration: Exploration, mention: int, entity: Base) -> Iterator[Base]:
    """One entity, filtered by the values of the question and by those of other entities."""
    for i, value_mention in enumerate(exploration.mentions):
        for value in value_mention.values if i != mention else ():
            yield from filters_by_value(exploration, entity, i, value)
    yield from sets_compared_with_entity(exploration, [entity])
