"""The `write pattern` step without a model: a reading becomes a pattern (SimGRAG section 4.1)."""

from __future__ import annotations

from clew.graph.graph import Graph
from clew.reading.rules.reading import Reading
from clew.types import Pattern, PatternEdge, PatternNode


def write_pattern(graph: Graph, reading: Reading) -> Pattern:
    """The pattern of a reading: its anchors are fixed entities, its relations fixed relations.

    The node at which the trunk (or the branches, if there is none) arrives is the answer.
    """
    writer = _Writer(graph)
    meeting = -1
    for anchor, branch in zip(reading.anchors, reading.branches, strict=True):
        node = writer.known(anchor.entity)
        for at, step in enumerate(branch):
            joins = at == len(branch) - 1 and meeting >= 0
            node = writer.walk(node, step, meeting if joins else None)
        meeting = node
    for step in reading.trunk:
        meeting = writer.walk(meeting, step, None)
    if reading.type is not None:
        writer.declare(meeting, graph.types.names[reading.type])
    return writer.pattern(meeting)


def write_question(graph: Graph, reading: Reading, target: int) -> Pattern:
    """The pattern of a yes/no question: the path of a reading that has to end at the entity `target`."""
    writer = _Writer(graph)
    node = writer.known(reading.anchors[0].entity)
    end = writer.known(target)
    for at, step in enumerate(reading.branches[0]):
        node = writer.walk(node, step, end if at == len(reading.branches[0]) - 1 else None)
    return writer.pattern(None)


class _Writer:
    """Collects nodes and edges."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: list[PatternNode] = []
        self._edges: list[PatternEdge] = []
        self._unknown = 0

    def known(self, entity: int) -> int:
        """Add a fixed node."""
        self._nodes.append(PatternNode(self._graph.entities[entity], known=True, entity=entity))
        return len(self._nodes) - 1

    def walk(self, node: int, step: int, to: int | None) -> int:
        """Add the edge of a step from `node` to the node `to`, or to a new unknown one; returns that node."""
        if to is None:
            self._unknown += 1
            self._nodes.append(PatternNode(f"UNKNOWN {self._unknown}", known=False))
            to = len(self._nodes) - 1
        relation = step // 2
        head, tail = (node, to) if step % 2 == 0 else (to, node)
        self._edges.append(PatternEdge(head, self._graph.relations[relation], tail, fixed=relation))
        return to

    def declare(self, node: int, type: str) -> None:
        """Give an unknown node a type."""
        number = self._nodes[node].name.split()[-1]
        self._nodes[node] = PatternNode(f"UNKNOWN {type} {number}", known=False, type=type)

    def pattern(self, answer: int | None) -> Pattern:
        """What was collected."""
        return Pattern(tuple(self._nodes), tuple(self._edges), answer)
