"""Questions that users give with their answers, and which candidates these make right.

A line has the whole `answers` of a question (an empty list: the graph cannot tell), or some that were
`accepted` or `rejected`. Names are those of the graph: labels, identifiers or aliases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from clew.index.names.names import NamesIndex
from clew.query.execute import MOST_EDGES, Executor, OverBudget
from clew.reading.candidates import Option

CLOSE = 0.005
"""Numbers that differ by less are the same."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A question with its answers; `answers` is None where only some were accepted or rejected."""

    line: int
    question: str
    answers: frozenset[str] | None = None
    accepted: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Usable:
    """What can be learned from, and the lines of what cannot, by the reason."""

    feedback: tuple[Feedback, ...]
    contradicting: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    """Lines with an answer that the graph does not have."""
    repeated: tuple[int, ...] = ()


def usable(feedback: Sequence[Feedback], names: NamesIndex) -> Usable:
    """Tell apart what can be learned from: each question once, none that contradicts, no unknown answers."""
    by_question: dict[str, list[Feedback]] = {}
    for item in feedback:
        by_question.setdefault(" ".join(item.question.casefold().split()), []).append(item)
    usable_feedback: list[Feedback] = []
    contradicting: list[int] = []
    unknown: list[int] = []
    repeated: list[int] = []
    for alike in by_question.values():
        merged = _merge(alike)
        if merged is None:
            contradicting += [item.line for item in alike]
        elif any(not _is_known(name, names) for name in (merged.answers or merged.accepted)):
            unknown += [item.line for item in alike]
        else:
            usable_feedback.append(merged)
            repeated += [item.line for item in alike[1:]]
    return Usable(
        tuple(usable_feedback), tuple(sorted(contradicting)), tuple(sorted(unknown)), tuple(repeated)
    )


def _merge(alike: Sequence[Feedback]) -> Feedback | None:
    """The answers of one question on all its lines, as one; None where they contradict each other."""
    wholes = {item.answers for item in alike if item.answers is not None}
    if len(wholes) > 1:
        return None
    all_answers = next(iter(wholes), None)
    accepted = frozenset[str]().union(*(item.accepted for item in alike))
    rejected = frozenset[str]().union(*(item.rejected for item in alike))
    right = accepted if all_answers is None else all_answers
    if right & rejected or (all_answers is not None and accepted - all_answers):
        return None
    return replace(alike[0], answers=all_answers, accepted=accepted, rejected=rejected)


def _is_known(name: str, names: NamesIndex) -> bool:
    return _number(name) is not None or name.casefold() in ("yes", "no") or bool(names.exact(name))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


@dataclass(eq=False)
class Judge:
    """Tells which candidates of a question are right, by what they answer."""

    executor: Executor
    names: NamesIndex
    _nodes: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])

    def right(self, feedback: Feedback, options: Sequence[Option]) -> NDArray[np.bool_]:
        """Which candidates are right, bool [n + 1]; the last says that none of them is."""
        is_right = np.array([*(self._is_right(feedback, option) for option in options), False])
        only_rejected = feedback.answers is None and not feedback.accepted
        is_right[-1] = only_rejected or not is_right.any()
        return is_right

    def _is_right(self, feedback: Feedback, option: Option) -> bool:
        if feedback.answers is not None and not self._may_fit(feedback.answers, option):
            return False
        self.executor.edges_left = MOST_EDGES
        try:
            if option.query.ask == "list":
                return self._members_right(feedback, set(self.executor.members(option.query.part).tolist()))
            if option.query.ask == "yes":
                reply: str | float | None = "yes" if len(self.executor.members(option.query.part)) else "no"
            else:
                reply = self.executor.number(option.query)
        except OverBudget:
            return False
        return reply is not None and _value_right(feedback, reply)

    def _may_fit(self, answers: frozenset[str], option: Option) -> bool:
        """Whether a candidate can have these answers and no others, from how many it is known to have."""
        if option.query.ask != "list" or option.size < 0:
            return bool(answers)
        nodes = [self._nodes_of(name) for name in answers]
        return len(set(nodes)) <= option.size <= len(frozenset[int]().union(*nodes))

    def _members_right(self, feedback: Feedback, members: set[int]) -> bool:
        if feedback.answers is None:
            right = all(self._nodes_of(name) & members for name in feedback.accepted)
            return bool(members) and right and not self._touches(feedback.rejected, members)
        nodes = [self._nodes_of(name) for name in feedback.answers]
        return members <= frozenset[int]().union(*nodes) and all(matches & members for matches in nodes)

    def _touches(self, names: Iterable[str], members: set[int]) -> bool:
        return any(self._nodes_of(name) & members for name in names)

    def _nodes_of(self, name: str) -> frozenset[int]:
        nodes = self._nodes.get(name)
        if nodes is None:
            hits = self.names.exact(name)
            exact = [h for h in hits if h.exact] or hits
            nodes = self._nodes[name] = frozenset(h.entity for h in exact)
        return nodes


def _value_right(feedback: Feedback, reply: str | float) -> bool:
    if feedback.answers is not None:
        return len(feedback.answers) == 1 and _matches(next(iter(feedback.answers)), reply)
    if any(_matches(name, reply) for name in feedback.rejected):
        return False
    return all(_matches(name, reply) for name in feedback.accepted)


def _matches(name: str, reply: str | float) -> bool:
    if isinstance(reply, str):
        return name.casefold() == reply
    number = _number(name)
    return number is not None and abs(number - reply) < CLOSE
