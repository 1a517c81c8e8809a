"""What the steps of KG-RAG hand to one another: a plan of sub-questions, and the links of the chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clew.graph.graph import Graph, ValueKind
from clew.graph.named import triple_text
from clew.llm.grounded_reply import GroundedReply
from clew.llm.read_evidence import Proofs
from clew.types import Abstention, Pattern, PatternEdge, SubAnswer


@dataclass(frozen=True, slots=True)
class Hop:
    """An edge as it is walked, from `start` to `end`, `forward` if head first; `type` is that of its end."""

    start: int
    end: int
    relation: int
    forward: bool
    type: str | None = None


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A sub-question; the built-in forms know which edge of the pattern it asks for."""

    text: str
    hop: Hop | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart, or why that cannot be done.

    `counts`: it is asked how many fit the pattern; `cut`: sub-questions were left out.
    """

    reasoning: str = ""
    questions: tuple[SubQuestion, ...] = ()
    notes: tuple[str, ...] = ()
    pattern: Pattern | None = None
    counts: bool = False
    abstained: Abstention | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A sub-question with its answer: `proofs` of its entities, `triples` that were given, best first.

    `value` is yes, no or a number where that is the answer; `rests_on` are triples that the model names for
    it.
    """

    question: SubQuestion
    reformulated: str
    text: str = ""
    proofs: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    triples: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    complete: bool = True
    value: str = ""
    rests_on: tuple[int, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the triples hold an answer."""
        return self.reply.answered

    @property
    def reply(self) -> GroundedReply:
        """The answer alone."""
        return GroundedReply(self.text, self.proofs, self.value, self.rests_on)

    def as_sub_answer(self, graph: Graph) -> SubAnswer:
        """By names, for people."""
        answers = tuple(answer.label for answer in self.reply.answers(graph))
        evidence, citations = tuple(triple_text(graph, t) for t in self.triples), self.reply.citations(graph)
        return SubAnswer(
            self.question.text, self.reformulated, self.text, answers, evidence, citations, self.notes
        )


@dataclass(frozen=True, slots=True)
class OwnedValue:
    """A value of a sub-answer with its owner: *party 6* has *4*, by a triple."""

    head: int
    triple: int
    value: int


def owned_values(graph: Graph, link: Link) -> tuple[OwnedValue, ...]:
    """The values of a sub-answer with their owners, if several things have them; else empty."""
    values = graph.values
    if not all(values.datatype[e] >= 0 or values.kind[e] != ValueKind.NONE for e in link.proofs):
        return ()
    owned: list[OwnedValue] = []
    for triple in dict.fromkeys([*(p[-1] for p in link.proofs.values() if p), *link.rests_on]):
        head, _, tail = graph.triple(triple)
        if tail in link.proofs:
            owned.append(OwnedValue(head, triple, tail))
    return tuple(owned) if len({item.head for item in owned}) > 1 else ()


def adds_nothing(link: Link, earlier: Sequence[Link]) -> bool:
    """Whether a sub-answer says once more what one before it says; one that leaves some out narrows it."""
    triples = {t for e in earlier for proof in e.proofs.values() for t in proof}
    repeats = any(link.proofs.keys() == e.proofs.keys() for e in earlier)
    return repeats and all(triples.issuperset(p) for p in link.proofs.values())


def hops_of(pattern: Pattern) -> tuple[Hop, ...]:
    """The edges of a pattern in an order in which each starts where something is known already."""
    order = {i: 0 for i, node in enumerate(pattern.nodes) if node.known}
    remaining_edges = list(pattern.edges)
    hops: list[Hop] = []
    while remaining_edges:
        edge = next((e for e in remaining_edges if e.head in order or e.tail in order), None)
        if edge is None:
            raise ValueError("the pattern is not connected to a known node")
        remaining_edges.remove(edge)
        hop = _hop(edge, order)
        hop = replace(hop, type=pattern.nodes[hop.end].type)
        order.setdefault(hop.end, len(hops) + 1)
        hops.append(hop)
    return tuple(hops)


def _hop(edge: PatternEdge, order: Mapping[int, int]) -> Hop:
    if edge.fixed is None:
        raise ValueError("the relation of an edge is not fixed")
    if edge.head in order and edge.tail in order:
        # From a given node (0) if there is one, else from the one that was reached last.
        from_known = order[edge.head] == 0 or order[edge.tail] == 0
        head_is_later = order[edge.head] > order[edge.tail]
        forward = order[edge.head] == 0 if from_known else head_is_later
    else:
        forward = edge.head in order
    start, end = (edge.head, edge.tail) if forward else (edge.tail, edge.head)
    return Hop(start, end, edge.fixed, forward)


def given_proofs(pattern: Pattern) -> dict[int, Proofs]:
    """Proofs before the first hop: the given entities, by node, with nothing to prove."""
    return {i: {n.entity: ()} for i, n in enumerate(pattern.nodes) if n.known and n.entity is not None}


def follow(graph: Graph, hop: Hop, proofs_by_node: Mapping[int, Proofs], triples: Sequence[int]) -> Proofs:
    """Walk a hop from proved nodes through `triples`: entities at its end with their proofs, in their order.

    No path takes a triple twice (*films that share a director with X* are not X). Where the end is known
    already, only what is known there is kept; where it is of a type, only what is of that type.
    """
    starts, ends = proofs_by_node[hop.start], proofs_by_node.get(hop.end)
    names = list(graph.types.names)
    type_mask = graph.types.having(names.index(hop.type)) if hop.type in names else None
    proofs: dict[int, tuple[int, ...]] = {}
    for triple in triples:
        head, relation, tail = graph.triple(triple)
        near, far = (head, tail) if hop.forward else (tail, head)
        if relation != hop.relation or near not in starts or triple in starts[near]:
            continue
        if type_mask is not None and not type_mask[far]:
            continue
        if ends is None:
            proofs.setdefault(far, (*starts[near], triple))
        elif far in ends:
            proofs.setdefault(far, (*ends[far], *starts[near], triple))
    return proofs


def used_of(graph: Graph, hop: Hop, starts: Proofs, triples: Sequence[int]) -> int:
    """How many of `triples` are of a hop from `starts`."""
    ends = (graph.triple(triple) for triple in triples)
    return sum(
        relation == hop.relation and (head if hop.forward else tail) in starts
        for head, relation, tail in ends
    )


def edges_of(graph: Graph, hop: Hop, starts: Proofs) -> int:
    """How many triples the whole graph has for a hop from `starts`."""
    side = graph.out if hop.forward else graph.into
    spans = (side.relation_span(node, hop.relation) for node in starts)
    return sum(high - low for low, high in spans)
