"""Direction correction: turn the hops that the schema forbids as they are written, and only those.

A hop is forbidden if no labels that its ends may have are connected in its direction. Ends without labels get
theirs from the other hops that must hold with it. Where the schema allows a hop in neither direction the
query is reported, as every answer to it would be empty. The idea is that of the corrector that SynaptiQA
(section III.B) uses; the rules here are our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from clew.stores.cypher.hops import HopGroup, PatternHop, find_groups
from clew.stores.cypher.labels import Pairs, admits_label, admits_type, has_several_labels, hop_pairs, joint
from clew.stores.cypher.schema import GraphSchema, HopSearch, SchemaHop
from clew.stores.cypher.tree import LabelExpression, Statement
from clew.stores.errors import IllegalHop

MOST_TURNS = 3
"""So many hops that are legal one by one are turned together, at most, to make a whole pattern legal."""
MOST_LABELS_SHOWN = 4

Domains = dict[int, frozenset[str]]
"""Node number → labels of the schema that it may have."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a statement: `kind`, the text `before` and `after`, and why."""

    kind: str
    before: str
    after: str
    reason: str


@dataclass(slots=True)
class Directions:
    """New texts for tokens, what was changed, and the hops that are legal in no direction, with reasons.

    `missing_hops` are those that the schema does not have, and that would leave an edge as it is, or make it
    legal.
    """

    edits: dict[int, str] = field(default_factory=dict[int, str])
    corrections: list[Correction] = field(default_factory=list[Correction])
    illegal: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    missing_hops: list[HopSearch] = field(default_factory=list[HopSearch])


@dataclass(frozen=True, slots=True)
class _Edge:
    """A hop with the label pairs that the schema allows it, from left to right and from right to left."""

    hop: PatternHop
    rightwards: Pairs
    leftwards: Pairs

    def pairs(self, *, turned: bool) -> Pairs:
        """(left label, right label) pairs, as written or `turned`."""
        direction = self.hop.edge.direction
        if direction == "both":
            return self.rightwards | self.leftwards
        return self.rightwards if (direction == "right") != turned else self.leftwards


def correct_directions(statement: Statement, schema: GraphSchema) -> Directions:
    """Find the hops to turn, and those that are legal in no direction."""
    result = Directions()
    domains_by_group: dict[int, Domains] = {}
    for group in find_groups(statement.query):
        outer_domains = domains_by_group[id(group.parent)] if group.parent is not None else {}
        domains_by_group[id(group)] = _Solver(statement, schema, group, outer_domains).solve(result)
    return result


def require_legal(directions: Directions) -> None:
    """Raise IllegalHop if a hop is legal in no direction."""
    if directions.illegal:
        lines = "; ".join(f"{hop}: {reason}" for hop, reason in directions.illegal)
        raise IllegalHop(f"Illegal hop {lines}", tuple(hop for hop, _ in directions.illegal))


class _Solver:
    """Decides the directions of one group's hops, with the domains of the variables around it."""

    def __init__(
        self, statement: Statement, schema: GraphSchema, group: HopGroup, outer_domains: Domains
    ) -> None:
        self.statement, self.schema, self.group = statement, schema, group
        self._labels = frozenset(schema.labels)
        joint_labels = {node: joint(expressions) for node, expressions in group.labels.items()}
        self._several_label_nodes = {
            node for node, expression in joint_labels.items() if has_several_labels(expression)
        }
        self._domains = dict(outer_domains)
        for node, expression in joint_labels.items():
            self._domains[node] = self._admitted_labels(expression, outer_domains.get(node))
        self._edges: list[_Edge] = []
        for hop in group.hops:
            types, undirected = group.types.get(hop.edge.start, ()), hop.edge.direction == "both"
            pairs = hop_pairs(schema, types, hop.edge.length, undirected=undirected)
            self._edges.append(_Edge(hop, pairs, frozenset((tail, head) for head, tail in pairs)))

    def _admitted_labels(
        self, expression: LabelExpression | None, outer_labels: frozenset[str] | None
    ) -> frozenset[str]:
        labels = self._labels
        if expression is not None:
            labels = frozenset(label for label in labels if admits_label(expression, label))
        # A label that is added further in does not contradict one from further out: a node may have both.
        return labels if outer_labels is None or not labels & outer_labels else labels & outer_labels

    def solve(self, result: Directions) -> Domains:
        """Note the hops to turn and the illegal ones in `result`; return the domains that follow."""
        turned: set[int] = set()
        legal = True
        for position, edge in enumerate(self._edges):
            if self._possible(edge, turned=False):
                continue
            turnable = self._possible(edge, turned=True)
            result.missing_hops += self._searches(edge, turned=not turnable)
            legal = legal and turnable
            if turnable:
                turned.add(position)
            else:
                result.illegal.append((self.statement.source(edge.hop.hop_syntax), self._explain(edge)))
        domains = self._narrow_domains(turned) if legal else None
        if legal and domains is None:
            further_turns, domains = self._turn_further_hops(turned)
            turned |= further_turns
        for position in sorted(turned):
            self._turn(self._edges[position], result)
        return self._domains if domains is None else self._domains | domains

    def _searches(self, edge: _Edge, *, turned: bool) -> list[HopSearch]:
        """What to look for in the graph to know that a hop is there as written, or also `turned`.

        Nothing of a path of several edges.
        """
        relationship = edge.hop.edge
        ends = [self._domain(node) for node in (edge.hop.left, edge.hop.right)]
        type_expressions = self.group.types.get(relationship.start, [])
        types = tuple(
            t
            for t in self.schema.types
            if type_expressions and all(admits_type(expression, t) for expression in type_expressions)
        )
        if relationship.length is not None or not all(ends) or (type_expressions and not types):
            return []
        left, right = (() if labels == self._labels else tuple(sorted(labels)) for labels in ends)
        searches = {"right": HopSearch(left, types, right), "left": HopSearch(right, types, left)}
        return [
            search for way, search in searches.items() if turned or relationship.direction in (way, "both")
        ]

    def _domain(self, node: int) -> frozenset[str]:
        return self._domains.get(node, self._labels)

    def _possible(self, edge: _Edge, *, turned: bool) -> bool:
        left, right = self._domain(edge.hop.left), self._domain(edge.hop.right)
        return any(a in left and b in right for a, b in edge.pairs(turned=turned))

    def _turn_further_hops(self, forced_turns: set[int]) -> tuple[set[int], Domains | None]:
        """Find the fewest further hops to turn so that all hops can hold together; of equals, the last ones.

        If no `MOST_TURNS` hops do, all stay as they are: the schema may not tell all labels of a node.
        """
        free_hops = [
            i
            for i, edge in enumerate(self._edges)
            if i not in forced_turns and edge.hop.edge.direction != "both"
        ]
        for count in range(1, min(MOST_TURNS, len(free_hops)) + 1):
            for chosen in combinations(reversed(free_hops), count):
                domains = self._narrow_domains(forced_turns | set(chosen))
                if domains is not None:
                    return set(chosen), domains
        return set(), None

    def _narrow_domains(self, turned: set[int]) -> Domains | None:
        """Domains from which every label has a partner in every hop; None if one is empty.

        A node that is asked for several labels takes part in each hop by itself.
        """
        arcs = list(self._arcs(turned))
        domains = {node: self._domain(origin) for left, right, _ in arcs for node, origin in (left, right)}
        changed = True
        while changed:
            changed = False
            for (left, _), (right, _), pairs in arcs:
                possible_pairs = [(a, b) for a, b in pairs if a in domains[left] and b in domains[right]]
                for node, possible_labels in (
                    (left, {a for a, _ in possible_pairs}),
                    (right, {b for _, b in possible_pairs}),
                ):
                    if len(possible_labels) < len(domains[node]):
                        domains[node] = frozenset(possible_labels)
                        changed = True
            if not all(domains.values()):
                return None
        return {node: labels for node, labels in domains.items() if node >= 0}

    def _arcs(self, turned: set[int]) -> Iterator[tuple[tuple[int, int], tuple[int, int], Pairs]]:
        """(node, node whose domain it has) at both ends, and the pairs; copies of nodes are negative."""
        copies = 0
        for position, edge in enumerate(self._edges):
            ends: list[tuple[int, int]] = []
            for node in (edge.hop.left, edge.hop.right):
                copies += 1
                ends.append((-copies if node in self._several_label_nodes else node, node))
            yield ends[0], ends[1], edge.pairs(turned=position in turned)

    def _turn(self, edge: _Edge, result: Directions) -> None:
        relationship = edge.hop.edge
        if relationship.direction == "right":
            edits = {relationship.left[0]: "<-", relationship.right[1]: ""}
        else:
            edits = {relationship.left[0]: "", relationship.right[0]: "->"}
        result.edits.update(edits)
        hop_syntax = edge.hop.hop_syntax
        tokens = self.statement.tokens[hop_syntax.start : hop_syntax.stop]
        texts = [edits.get(hop_syntax.start + i, token.text) for i, token in enumerate(tokens)]
        after = "".join((t.space if i else "") + texts[i] for i, t in enumerate(tokens))
        reason = f"the schema has {self._name_allowed_hops(edge)}"
        result.corrections.append(
            Correction("direction", self.statement.source(edge.hop.hop_syntax), after, reason)
        )

    def _name_allowed_hops(self, edge: _Edge) -> str:
        """Name the hops of the schema that are of the edge's types, those at its ends first."""
        hops = self._of_its_types(edge)
        end_labels = self._domain(edge.hop.left) | self._domain(edge.hop.right)
        hops.sort(key=lambda h: -((h.head in end_labels) + (h.tail in end_labels)))
        hops = [h for h in hops if h.head in end_labels and h.tail in end_labels] or hops
        hop_texts = ", ".join(map(str, hops[:MOST_LABELS_SHOWN]))
        return hop_texts + (", …" if len(hops) > MOST_LABELS_SHOWN else "")

    def _of_its_types(self, edge: _Edge) -> list[SchemaHop]:
        types = self.group.types.get(edge.hop.edge.start, [])
        return [hop for hop in self.schema.hops if all(admits_type(t, hop.type) for t in types)]

    def _explain(self, edge: _Edge) -> str:
        for node in (edge.hop.left, edge.hop.right):
            expression = joint(self.group.labels.get(node, []))
            if expression is not None and not self._domain(node):
                return f"the schema has no label {', '.join(name.text for name in expression.names)}"
        if not self._of_its_types(edge):
            types = self.group.types.get(edge.hop.edge.start, [])
            return f"the schema has no relation {', '.join(n.text for t in types for n in t.names)}"
        return f"the schema allows it in neither direction, only {self._name_allowed_hops(edge)}"
