"""Operations over the nodes of a pattern, that a model may ask for beside its triples, and how they are read.

SimGRAG's pattern says what things are connected; comparing, counting, choosing and leaving out it leaves to
the model that reads three subgraphs. Here the reply says what to do, and code does it over all matches
(`execute.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from clew.errors import PatternError
from clew.graph.match.patterns import MOST_PATTERN_EDGES, unknown_type
from clew.llm.prompting import data_line
from clew.text.normalise import normalise
from clew.types import Pattern, PatternEdge, PatternNode

Op = Literal["keep", "without", "or", "count", "max", "min", "most", "fewest", "sum", "average", "exists"]
Test = Literal[">", "<", ">=", "<=", "=", "!=", ""]
LONGEST_NAME_IN_PATTERN = 300
"""Characters of a name in a pattern; a longer one is no name."""
MOST_OPERATIONS = 8


@dataclass(frozen=True)
class Operation:
    """One operation, as the model writes it."""

    op: Op
    node: str = ""
    test: Test = ""
    than: str | float = ""
    first: int = 1
    triples: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])


@dataclass(frozen=True)
class PlanReply:
    """What the model is asked for of a question, where it sees what the graph records."""

    divided: list[str] = field(metadata={"description": "one segment of the text for each triple"})
    triples: list[tuple[str, str, str]] = field(metadata={"description": "[head, relation, tail]"})
    answer: str = field(default="", metadata={"description": "the unknown that is asked for"})
    operations: list[Operation] = field(default_factory=list[Operation])


@dataclass(frozen=True, slots=True)
class PatternPlan:
    """A pattern that may be unconnected, or have no known node, and what to do with its matches.

    `answer` is the place of the node asked for, -1 for none. `others` are the patterns of the operations
    `without` and `or`, by the place of the operation; their nodes with the same names are the same.
    """

    pattern: Pattern
    answer: int
    operations: tuple[Operation, ...]
    others: dict[int, Pattern] = field(default_factory=dict[int, Pattern])

    def place(self, name: str) -> int:
        """The place of a node by its name; -1 if there is none."""
        norm = normalise(name)
        return next((i for i, node in enumerate(self.pattern.nodes) if normalise(node.name) == norm), -1)


def plan_of(reply: PlanReply) -> PatternPlan:
    """Read a reply. Raises PatternError for a name that is none, or one that no triple has."""
    pattern = loose_pattern(reply.triples, reply.answer)
    if len(reply.operations) > MOST_OPERATIONS:
        raise PatternError(f"the model's operations: at most {MOST_OPERATIONS} are carried out")
    others = {
        at: loose_pattern(op.triples) for at, op in enumerate(reply.operations) if op.op in ("without", "or")
    }
    plan = PatternPlan(pattern, -1, tuple(reply.operations), others)
    answer = plan.place(reply.answer) if reply.answer else -1
    lacking = "is in none of its triples"
    if reply.answer and answer < 0:
        raise PatternError(f"the model's pattern: the answer {data_line(reply.answer)!r} {lacking}")
    for op in reply.operations:
        of_node = op.op not in ("without", "or", "exists")
        if of_node and plan.place(counted_name(op.node) or op.node) < 0:
            raise PatternError(f"the model's operation {op.op}: {data_line(op.node)!r} {lacking}")
    return replace(plan, answer=answer)


def counted_name(node: str) -> str:
    """The name behind *count of*; empty for another."""
    head, _, rest = node.strip().partition(" of ")
    return rest.strip() if head.strip().casefold() == "count" else ""


def loose_pattern(triples: Sequence[Sequence[str]], alone: str = "") -> Pattern:
    """Build a pattern that need not be connected; equal names are one node. Raises PatternError."""
    if len(triples) > MOST_PATTERN_EDGES:
        raise PatternError(
            f"the model's pattern has {len(triples)} triples: at most {MOST_PATTERN_EDGES} can be searched"
        )
    places: dict[str, int] = {}
    nodes: list[PatternNode] = []
    edges: list[PatternEdge] = []

    def place(text: str) -> int:
        name = clean_name(text)
        at = places.setdefault(normalise(name) or name, len(nodes))
        if at == len(nodes):
            unknown, kind = unknown_type(name)
            nodes.append(PatternNode(name, known=not unknown, type=kind))
        return at

    for head, relation, tail in triples:
        said = clean_name(relation)
        edge = PatternEdge(place(head), None if unknown_type(said)[0] else said, place(tail))
        if edge.head != edge.tail and edge not in edges:
            edges.append(edge)
    if not triples and alone:
        place(alone)
    return Pattern(tuple(nodes), tuple(edges))


def clean_name(text: str) -> str:
    """A name without the quotes that literals are written in. Raises PatternError for one that is none."""
    text = " ".join(text.split())
    if not text or len(text) > LONGEST_NAME_IN_PATTERN:
        raise PatternError(f"the model's pattern: a name of {len(text):,} characters is no name")
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].strip() or text
    return text
