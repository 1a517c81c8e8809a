"""Exact matching of patterns: the k nearest matches, or all that tie with the best (SimGRAG, 4 and 5).

`kernels/layers.py` cuts the graph down to what can take part, `kernels/search.py` finds the least cost of
every part, and enumerates. This goes in rounds of a rising cap on the cost, with the
candidates and relations that a match within the cap can have; a round is the last when it gives as many
matches as are asked for, so that the result is that of unlimited candidates. Distances are rounded to
multiples of 1e-9, so that ties do not depend on the order of a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Timer
from typing import Literal, cast

import numpy as np

from clew.errors import PatternError, UsageError
from clew.foundation.arrays import AnyArray
from clew.foundation.system import check
from clew.graph.graph import Graph
from clew.graph.kernels import GraphColumns, Kernel, graph_columns
from clew.graph.match.distances import Distances
from clew.graph.match.kernels import columns as c
from clew.graph.match.patterns import TIE, check_pattern
from clew.graph.match.query import ALL, QueryCosts, read_only
from clew.types import Match, MatchResult, Pattern

Distinct = Literal["nodes", "triples"]
_DISTINCT = {"nodes": c.NODES, "triples": c.TRIPLES}


class _GraphArrays:
    """A graph's arrays as the kernels take them (read-only, contiguous), and their scratch."""

    def __init__(self, graph: Graph) -> None:
        self.nodes, self.relations = graph.nodes, len(graph.relations)
        dtypes = (np.int64, np.int64, np.int32, np.int32) * 2
        self.columns = GraphColumns(*map(read_only, graph_columns(graph), dtypes))
        self.scratch: list[tuple[AnyArray, AnyArray]] = []
        """Of searches that have ended."""

    def take_scratch(self) -> tuple[AnyArray, AnyArray]:
        """Marks and bits that no other thread is using."""
        with suppress(IndexError):
            return self.scratch.pop()
        return np.zeros(self.nodes + 1, np.int64), np.zeros(self.nodes // 8 + 1, np.uint8)


def match(
    graph: Graph,
    pattern: Pattern,
    distances: Distances,
    *,
    k: int | None = 3,
    all_tied: bool = False,
    project: int | None = None,
    distinct: Distinct = "nodes",
    undirected: bool = True,
    expansions: int = 1 << 62,
    milliseconds: float | None = None,
) -> MatchResult:
    """Find the first `k` matches (None: all) in order of (gsd, direction misses, node ids, triple ids).

    `all_tied` instead gives every match whose GSD is within 1e-6 of the best and which has as many direction
    misses. `project` keeps, for every entity that node `project` of the pattern takes, its first match only.
    `distinct` "nodes": no two nodes take one entity (parallel edges different triples); "triples": no two
    edges take one triple. Not `undirected`: edges run as in the pattern. It stops early
    after so many `expansions` (edges and choices looked at) or `milliseconds` of the search, without those of
    compiling it, once, and of looking up candidates. Raises `PatternError` for a pattern that cannot be
    searched.
    """
    check()
    check_pattern(pattern)
    if k is not None and k < 1:
        raise UsageError(f"k is {k}: it must be at least 1")
    if project is not None and not 0 <= project < len(pattern.nodes):
        raise PatternError(
            f"pattern: field 'project' is node {project}: the pattern has {len(pattern.nodes)} nodes"
        )
    arrays = graph.made.get(_GraphArrays) or graph.made.setdefault(_GraphArrays, _GraphArrays(graph))
    measures = k is not None and not all_tied
    query = QueryCosts(arrays.nodes, arrays.relations, pattern, distances, measures=measures)
    if query.hopeless:
        return MatchResult(())
    options = [0] * c.OPTIONS
    options[c.DISTINCT], options[c.UNDIRECTED] = _DISTINCT[distinct], int(undirected)
    options[c.COUNT], options[c.TIED] = k or 0, int(all_tied)
    options[c.PROJECT] = -1 if project is None else project
    options[c.SLACK], options[c.UNIFORM] = 0 if query.uniform else round(TIE * c.UNIT), int(query.uniform)
    options[c.EXPANSIONS], options[c.CAP] = expansions, c.INFINITE - 1
    stop = np.zeros(1, np.uint8)
    if milliseconds is None:
        return _search(arrays, query, options, stop)
    from clew.graph.match.kernels.search import search

    if not cast(Kernel, search).signatures:  # compiled, or loaded, by a search that does not begin
        query.narrow(query.runs(0)[0][0])
        _run(arrays, query, options, np.ones(1, np.uint8))
    timer = Timer(milliseconds / 1000, stop.fill, (1,))  # the kernels look at the byte that it sets
    timer.daemon = True
    timer.start()
    try:
        return _search(arrays, query, options, stop)
    finally:
        timer.cancel()


def _search(arrays: _GraphArrays, query: QueryCosts, options: list[int], stop: AnyArray) -> MatchResult:
    """Search in rounds of a rising cap on the cost, until no match above it can be among those asked for."""
    most_matches, tied = options[c.COUNT], options[c.TIED]
    slack, earlier = ALL, None
    if (most_matches or tied) and not query.uniform:
        slack = 0
        query.reach_nearest()
    options[c.AHEAD] = int(slack < ALL)
    while True:
        outcome = _round(arrays, query, options, slack, stop, earlier)
        if outcome.status == c.STOPPED:
            bound = max(query.least, min(outcome.bound, options[c.CAP] + 1))
            if earlier is not None:
                bound = max(bound, earlier.cap + 1)
                outcome = outcome.with_rows(earlier.rows, most_matches, options[c.PROJECT])
            return _result(outcome, query, bound)
        needed = outcome.last(most_matches)
        if tied and len(outcome.rows):
            needed = int(outcome.rows[0, 0]) + ((options[c.SLACK] + 1) << c.MISS_BITS)
        enough = needed is not None and needed <= query.cap(slack)
        nearest = min(slack + outcome.cut, outcome.left_out)
        if enough or nearest >= c.INFINITE:
            return _result(outcome, query, None)
        options[c.EXPANSIONS] -= outcome.work
        options[c.AHEAD] = int(needed is None)
        wider = query.wider(slack, nearest, None if needed is None else needed - query.least)
        if wider is None:
            return _result(outcome, query, query.least + nearest)
        slack, earlier = wider, outcome


def _round(
    arrays: _GraphArrays,
    query: QueryCosts,
    options: list[int],
    slack: int,
    stop: AnyArray,
    earlier: _SearchOutcome | None,
) -> _SearchOutcome:
    """Find the matches within `slack`, in as many runs as that takes; those of rounds before are `earlier`.

    When as many are known as are wanted, the cap falls to the cost of the last of them.
    """
    most_matches, tied, project = options[c.COUNT], options[c.TIED], options[c.PROJECT]
    options[c.CAP] = query.cap(slack)
    outcome = earlier if earlier is not None and most_matches and not tied else None
    expansions, work, cut = options[c.EXPANSIONS], 0, c.INFINITE
    runs, left_out = query.runs(slack)
    for run in runs:
        last = None if outcome is None or tied else outcome.last(most_matches)
        if last is not None:
            options[c.CAP] = min(options[c.CAP], last)
        query.narrow(run)
        options[c.BASE] = query.base
        if query.base > options[c.CAP]:
            continue
        run_outcome = _run(arrays, query, options, stop)
        options[c.EXPANSIONS] -= run_outcome.work
        work, cut = work + run_outcome.work, min(cut, run_outcome.cut)
        known = run_outcome if outcome is None else outcome.with_rows(run_outcome.rows, most_matches, project)
        outcome = replace(run_outcome, rows=known.rows)
        if run_outcome.status == c.STOPPED:
            # What the runs after it would find is not known.
            outcome = replace(outcome, bound=run_outcome.bound if len(runs) == 1 else -1)
            break
    options[c.EXPANSIONS] = expansions
    return replace(cast(_SearchOutcome, outcome), work=work, cut=cut, cap=options[c.CAP], left_out=left_out)


@dataclass(frozen=True, slots=True)
class _SearchOutcome:
    """What one call of the kernel found: `rows` [c, 1 + n + m] of cost, nodes and triples, in order.

    Or those of a round, outside of whose runs a match needs a slack of `left_out` at least.
    """

    status: int
    bound: int
    cut: int
    work: int
    cap: int
    rows: AnyArray
    left_out: int = c.INFINITE

    def with_rows(self, rows: AnyArray, most_matches: int, project: int) -> _SearchOutcome:
        """Add the matches of another run, each once; for every entity of node `project` the first only."""
        if not len(rows):
            return self
        if not len(self.rows):
            return replace(self, rows=rows)
        all_rows = np.concatenate([self.rows, rows])
        all_rows = all_rows[np.lexsort(all_rows.T[::-1])]
        is_new = np.append(True, (all_rows[1:] != all_rows[:-1]).any(axis=1))
        if project >= 0:
            is_new = np.zeros(len(all_rows), np.bool_)
            is_new[np.unique(all_rows[:, 1 + project], return_index=True)[1]] = True
        all_rows = all_rows[is_new]
        return replace(self, rows=all_rows[:most_matches] if most_matches else all_rows)

    def last(self, most_matches: int) -> int | None:
        """Give the cost of the last match if there are as many as are wanted."""
        is_full = most_matches and len(self.rows) >= most_matches
        return int(self.rows[most_matches - 1, 0]) if is_full else None


def _run(arrays: _GraphArrays, query: QueryCosts, options: Sequence[int], stop: AnyArray) -> _SearchOutcome:
    from clew.graph.match.kernels.search import search

    marks, bits = arrays.take_scratch()
    settings = np.array(options, np.int64)
    arguments = (arrays.columns, query.columns(settings), marks, bits, stop)
    status, bound, cut, work, rows, order = search(*arguments)
    if status == c.RETRY:
        settings[c.EAGER] = 1
        status, bound, cut, work, rows, order = search(*arguments)
    arrays.scratch.append((marks, bits))
    count = order[-1]
    rows = rows[:count]
    rows = rows[np.lexsort(rows.T[::-1]) if options[c.COUNT] == 0 or options[c.TIED] else order[:count]]
    return _SearchOutcome(status, bound, cut, work, options[c.CAP], rows)


def _result(outcome: _SearchOutcome, query: QueryCosts, bound: int | None) -> MatchResult:
    """Make the result; `bound` is None if the search is complete."""
    n = len(query.nodes)
    matches = tuple(
        Match(
            round((row[0] >> c.MISS_BITS) / c.UNIT, 9),
            row[0] & c.MISS_MASK,
            tuple(row[1 : n + 1]),
            tuple(row[n + 1 :]),
        )
        for row in outcome.rows.tolist()
    )
    least = float("inf") if bound is None or bound >= c.INFINITE else (bound >> c.MISS_BITS) / c.UNIT
    return MatchResult(matches, bound is None, least)
