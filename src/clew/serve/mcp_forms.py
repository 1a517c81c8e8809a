"""What the tools of MCP return: keys of docs/json.md, as far as an agent needs them."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

TripleForm = list[str]
"""[head, relation, tail]: names; one that several share has its id beside it."""

Properties = list[dict[str, list[str]]]
"""Of each edge that the source has of a triple: {key: [value, …]}."""


class TriplesForm(TypedDict):
    """Triples, and where there is something to say, lists of the same length beside them.

    `ids` are what the source calls them, `properties` those of their edges; `inferred` ones no source states.
    """

    triples: list[TripleForm]
    ids: NotRequired[list[TripleForm]]
    properties: NotRequired[list[Properties]]
    inferred: NotRequired[list[bool]]


class FoundForm(TypedDict):
    """One answer: `entity` is its id; `score` is the confidence in how the question was read, in [0, 1].

    `shared` ones are called like others of the graph.
    """

    entity: str
    label: str
    score: float
    shared: NotRequired[bool]


class CitedForm(TriplesForm):
    """The triples that prove one answer."""

    answer: str
    label: str


class Abstained(TypedDict):
    """Why there is no answer, and names that may have been meant."""

    reason: str
    detail: str
    candidates: list[str]


class AlternativeForm(TypedDict):
    """Another way in which a question may be read, in words, and how sure the reader is of it, in [0, 1]."""

    reading: str
    score: float


class ThreadForm(TypedDict):
    """What a follow-up needs: the question as a whole, its query, and the ids of its answers."""

    question: str
    query: str | None
    answers: list[str]
    total: int


class AnswerForm(TypedDict):
    """An answer, or an abstention; `count` answers there are, of which the first are here.

    `reading` says how it was read; ask with the number of one of `alternatives`, from 1, for another.
    """

    question: str
    text: str
    answers: list[FoundForm]
    count: int
    abstained: Abstained | None
    citations: list[CitedForm]
    reading: str | None
    alternatives: list[AlternativeForm]
    grounded: bool
    complete: bool
    method: str
    notes: list[str]
    thread: ThreadForm | None


class ClaimPartForm(TriplesForm):
    """A part of a claim, and what the graph says of it."""

    text: str
    verdict: str


class Verified(TypedDict):
    """A verdict: supported, refuted or not_enough_info, of the claim and of its parts.

    `abstained` is why there is none, where that is not what the graph holds.
    """

    claim: str
    verdict: str
    abstained: Abstained | None
    parts: list[ClaimPartForm]


class Hit(TypedDict):
    """An entity that a text may mean; `triples` it is in."""

    entity: str
    label: str
    types: list[str]
    how: str
    triples: int


class Hits(TypedDict):
    """Entities, the best first."""

    entities: list[Hit]


class Node(TypedDict):
    """A neighbour, with the properties of the edge to it."""

    entity: str
    label: str
    properties: NotRequired[Properties]


class NeighboursForm(TypedDict):
    """The neighbours at one relation: `count` there are; `next` is the offset of the next page."""

    relation: str
    label: str
    direction: str
    count: int
    nodes: list[Node]
    next: int | None


class Around(TypedDict):
    """What is around an entity; `groups_left` relations are not shown."""

    entity: str
    label: str
    types: list[str]
    aliases: list[str]
    triples: int
    groups: list[NeighboursForm]
    groups_left: int


class RelationForm(TypedDict):
    """A relation: how often it is, an example, and what mostly stands at its ends.

    `properties` are those of its edges, each with its commonest values.
    """

    name: str
    label: str
    triples: int
    example: TripleForm
    properties: dict[str, list[str]]
    head_types: list[str]
    tail_types: list[str]


class SchemaForm(TypedDict):
    """What a graph holds; of `relation_count` relations the most frequent are here."""

    graph: str
    counts: dict[str, int]
    types: dict[str, int]
    relations: list[RelationForm]
    relation_count: int


class MatchedForm(TriplesForm):
    """A match of a pattern: nodes in the order in which the pattern names them."""

    gsd: float
    direction_misses: int
    nodes: list[str]
    node_ids: NotRequired[list[str]]


class Matches(TypedDict):
    """Matches in order of their graph semantic distance; not `complete` where the search was stopped."""

    matches: list[MatchedForm]
    complete: bool


class RowsForm(TypedDict):
    """Rows of a query; not `complete` where there are more."""

    columns: list[str]
    rows: list[list[Any]]
    complete: bool
