"""Which entities the known nodes of a pattern take in each run of a round.

What a match costs above the least that any can is its excess, the sum of those of its nodes and edges. The
entities of each open node (known, but by its text) are cut by their excess into tiers: *near* and *listed*
ones are in its list, *far* ones are not and are measured when they are met. Every match within a slack is
in one choice of a tier for each node; choices whose least excesses add up to more than the slack are left
out, and lists are so long that this leaves out all in which too many nodes are far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clew.graph.match.candidate_lists import ALL, USUAL_ROUNDS, CandidateList, Rounds
from clew.graph.match.kernels.columns import INFINITE
from clew.types import PatternNode

Prepare = Callable[[Sequence[PatternNode], int], None]

MOST_FAR_NODES = 3
"""Nodes that may be far at once."""
SIDE_BY_SIDE = 2
"""Lists that are asked for at once."""
FIRST_STEP, SLACK_STEP, LONG_STEP = 1.5, 1.1, 1.05
"""How many times the slack rises while at most one node is far, after that, and with a long list."""
LONG_CANDIDATES = 65_536
"""Candidates of a long list."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Entities whose excess is above `low` (-1: all) and at most `high`; none has less than `floor`."""

    low: int
    high: int
    floor: int
    far: bool = False


class Tiers:
    """The tiers of the open nodes, whose lists are `lists` by node.

    `seeded` says that a node of the pattern has a given entity: all the open ones may be far then. `prepare`
    is that of `Distances`.
    """

    def __init__(
        self,
        lists: Mapping[int, CandidateList],
        prepare: Prepare,
        *,
        seeded: bool,
        rounds: Rounds = USUAL_ROUNDS,
    ) -> None:
        self._lists, self._prepare, self._seeded, self._rounds = lists, prepare, seeded, rounds

    def runs(self, slack: int) -> tuple[list[dict[int, Tier]], int]:
        """(tiers of each run that all matches within `slack` need, the least excess of a match in none)."""
        chosen, left_out = list[dict[int, Tier]](), INFINITE
        for run in self._choices(self._tiers_within(slack), slack):
            excess = sum(tier.floor for tier in run.values())
            if excess > slack:
                left_out = min(left_out, excess)
            elif len(run) == len(self._lists):
                chosen.append(run)
        return chosen, min(left_out, INFINITE)

    def _choices(self, tiers: Mapping[int, Sequence[Tier]], slack: int) -> Iterator[dict[int, Tier]]:
        """Every choice for the first nodes that is within `slack`, whole ones and the first beyond it."""
        nodes = list(tiers)
        stack: list[dict[int, Tier]] = [{}]
        while stack:
            run = stack.pop()
            if run and (sum(t.floor for t in run.values()) > slack or len(run) == len(nodes)):
                yield run
                continue
            node = nodes[len(run)]
            stack += [run | {node: tier} for tier in reversed(tiers[node])]

    def _tiers_within(self, slack: int) -> dict[int, list[Tier]]:
        part = self._part(slack)
        tiers: dict[int, list[Tier]] = {}
        for node, candidates in self._lists.items():
            listed = min(candidates.reached, part) if slack < ALL else ALL
            is_cut = (
                len(self._lists) > 1 and slack < ALL and candidates.count(listed) > self._rounds.worth_a_cut
            )
            nearest_slack = listed // 2 if is_cut else listed
            tiers[node] = [Tier(-1, nearest_slack, 0)]
            beyond = candidates.next_after(nearest_slack)
            if nearest_slack < listed and beyond <= listed:
                tiers[node].append(Tier(nearest_slack, listed, beyond))
            tiers[node].append(Tier(listed, ALL, candidates.next_after(listed), far=True))
        return tiers

    def _part(self, slack: int) -> int:
        """How far lists are used, at least half of `slack`, so that too many far nodes are beyond it."""
        if self._seeded and len(self._lists) <= MOST_FAR_NODES:
            return slack // 2
        slack_left = slack
        reached = self._reached()
        for i, reach in enumerate(reached):
            part = -(-slack_left // (len(reached) - i))
            if part <= reach:
                return max(part, slack // 2)
            slack_left -= reach
        return slack

    def _reached(self) -> list[int]:
        """How far the shortest lists reach, as many as may not all be far."""
        return sorted(candidates.reached for candidates in self._lists.values())[: MOST_FAR_NODES + 1]

    @property
    def slack_at_hand(self) -> int:
        """The largest slack for which the lists at hand are long enough."""
        if (
            self._seeded
            and len(self._lists) <= MOST_FAR_NODES
            and all(n.has_asked for n in self._lists.values())
        ):
            return ALL
        return min(ALL, sum(self._reached()))

    def wider(self, slack: int, nearest: int, needed: int | None) -> int | None:
        """The slack of the next round: at least `nearest`, at most `needed`, if that is known.

        None if the lists cannot be made long enough for `nearest`.
        """
        while self.slack_at_hand < nearest:
            if not self._grow():
                return None
        aim = max(nearest, self._aim(slack))
        return min(aim if needed is None else min(max(nearest, needed), aim), self.slack_at_hand)

    def _aim(self, slack: int) -> int:
        """The slack after `slack`, if nothing else is known of where the matches are."""
        if len(self._lists) > 1 and any(
            len(candidates.ids) > LONG_CANDIDATES for candidates in self._lists.values()
        ):
            return round(LONG_STEP * slack)
        reached = sorted(
            candidates.reached for candidates in self._lists.values() if 0 < candidates.reached < ALL
        )
        easy = sum(reached[:2]) if reached else ALL  # within it, at most one node is far
        if slack >= easy:
            return round(SLACK_STEP * slack)
        return min(max(easy // 2, round(FIRST_STEP * slack)), easy)

    def _grow(self) -> bool:
        """Make the cheapest lists longer, side by side where the provider is asked; False if none can be."""
        growing = [n for n in self._lists.values() if n.reached < ALL and not n.ended]
        due = min((n.due for n in growing), default=0)
        growing = sorted((n for n in growing if n.due == due), key=lambda n: n.reached)[:SIDE_BY_SIDE]
        if due and len(growing) > 1:
            self._prepare([n.node for n in growing], due)
        for candidates in growing:
            candidates.grow()
        return bool(growing)
