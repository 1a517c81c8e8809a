"""The `write pattern` step with a model: query-to-pattern alignment (SimGRAG section 4.1, Tables 16 and 17).

The model's reply is a typed value of strings; a pattern is built from it or refused. Nothing in it is
believed: what it calls known has still to be found in the graph.

SimGRAG's pattern says what things are connected; comparing, counting, choosing and leaving out it leaves to
the model that reads three subgraphs. Here the reply may say what to do as operations over the nodes, and code
does it over all matches (`plan_query.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, cast

from msgspec import Meta

from clew.claims.verify import Stated
from clew.errors import InputError, PatternError
from clew.foundation.forms import read_json
from clew.graph.match.patterns import MOST_PATTERN_EDGES, PATTERN_ADVICE, check_pattern, unknown_type
from clew.llm.managed import LONGEST_NAME_READ, Prompt, Talk, as_data, data_line, filled, run_sync
from clew.llm.reply import ShapeError, build
from clew.llm.types import ask
from clew.reading.answer import DraftAnswer
from clew.text.normalise import normalise
from clew.types import EdgeCondition, MatchResult, Pattern, PatternEdge, PatternNode, Reason

# SimGRAG's prompts (Tables 16 to 19), filled with worked examples and delimited data.
#
# Whatever comes from a user or a graph is data: it stands between marks that it cannot write itself, in JSON
# where it is a triple, and without control characters.

DECOMPOSITIONS = "decompositions"
"""What a file of examples may hold for KG-RAG (`methods/kg_rag/decompose.py`)."""
ExampleKind = Literal["question", "claim"]
ShownTriples = tuple[tuple[str, str, str], ...]
ShownGraph = Annotated[ShownTriples, Meta(min_length=1)]
"""The triples of an example, at least one."""

MOST_SHOTS = 64
EXAMPLES_ADVICE = (
    'Write {"questions": [{"query": "…", "divided": ["…"], "triples": [["…", "…", "…"]],'
    ' "evidence": [[["…", "…", "…"]]], "reason": "…", "answers": ["…"]}],'
    ' "claims": [… with "verdict": "True", "False" or "Unknown" …]}'
)


@dataclass(frozen=True, slots=True)
class Shot:
    """A worked example: a question or claim, its triples and segments, evidence graphs, and what they say."""

    query: str
    triples: ShownGraph
    divided: tuple[str, ...] = ()
    evidence: tuple[ShownGraph, ...] = ()
    reason: str = ""
    answers: tuple[str, ...] = ()
    verdict: Literal["", "True", "False", "Unknown"] = ""


@dataclass(frozen=True, slots=True)
class Shots:
    """Demonstration examples for questions and for claims."""

    questions: Annotated[tuple[Shot, ...], Meta(max_length=MOST_SHOTS)] = ()
    claims: Annotated[tuple[Shot, ...], Meta(max_length=MOST_SHOTS)] = ()

    def of(self, task: ExampleKind, count: int) -> tuple[Shot, ...]:
        """The first `count` of a task."""
        return (self.questions if task == "question" else self.claims)[:count]


@cache
def template(name: str) -> str:
    """The text of a prompt file."""
    return (files("clew.methods.simgrag") / "prompts" / f"{name}.txt").read_text("utf-8")


@cache
def default_shots() -> Shots:
    """The examples that come with Clew: twelve questions and twelve claims on an invented coast."""
    text = files("clew.methods.simgrag").joinpath("prompts", "examples.json").read_text("utf-8")
    return shots_from(json.loads(text), "examples")


def read_shots(path: Path) -> Shots:
    """Read a user's examples for one graph; Clew's own of a task that it leaves out. Raises InputError."""
    return shots_from(read_json(path, EXAMPLES_ADVICE), str(path))


def shots_from(value: object, where: str) -> Shots:
    """Read examples from JSON; InputError says which is wrong."""
    if not isinstance(value, dict) or not value.keys() <= {"questions", "claims", DECOMPOSITIONS}:
        raise InputError(f"{where}: not an object with 'questions' and 'claims'. {EXAMPLES_ADVICE}")
    fields = cast("dict[str, object]", value)
    try:
        shots = build(Shots, fields)
    except ShapeError as error:
        raise InputError(f"{where}: {error}. {EXAMPLES_ADVICE}") from error
    for at, shot in enumerate(shots.claims):
        if not shot.verdict:
            raise InputError(f"{where}: claims[{at}] has no verdict. {EXAMPLES_ADVICE}")
    missing = [task for task in ("questions", "claims") if task not in fields]
    return replace(shots, **{task: getattr(default_shots(), task) for task in missing})


def as_name(text: str) -> str:
    """Make a name of the graph safe, and not too long."""
    return data_line(text, LONGEST_NAME_READ)


def verbalise(graphs: Sequence[ShownTriples]) -> str:
    """Write subgraphs as the paper does (section 4.4), each as a numbered list of triples, in JSON."""
    names = ([[as_name(part) for part in triple] for triple in graph] for graph in graphs)
    texts = (json.dumps(triples, ensure_ascii=False) for triples in names)
    lines = [f'"graph [{number}]": {triples}' for number, triples in enumerate(texts, 1)]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def pattern_prompt(task: ExampleKind, query: str, shots: Sequence[Shot], hints: str = "") -> Prompt:
    """The query-to-pattern prompt (Tables 16 and 17)."""
    texts = [
        f'"{as_data(shot.query)}"\n'
        + json.dumps({"divided": shot.divided, "triples": shot.triples}, ensure_ascii=False)
        for shot in shots
    ]
    plan = ', "answer": "UNKNOWN … 1", "operations": […]' if hints else ""
    reply = f'{{"divided": ["segment 1", …], "triples": [["head", "relation", "tail"], …]{plan}}}'
    return _filled("pattern", task, texts, query, HINTS=hints, REPLY=reply)


OPEN = 'If they say nothing of it, it is "Unknown".'
CLOSED = (
    "The evidence is the nearest in a graph that records all there is. What it says nothing of is not so:\n"
    '   a claim of it is "False", a claim that denies it is "True".'
)
"""What silence of the evidence means for a claim."""


def read_prompt(
    task: ExampleKind,
    query: str,
    graphs: Sequence[ShownTriples],
    shots: Sequence[Shot],
    *,
    closed_world: bool = False,
) -> Prompt:
    """The reading prompt (Tables 18 and 19); in a closed world what the evidence lacks is not so."""
    shots = [shot for shot in shots if not (closed_world and shot.verdict == "Unknown")]
    said = "answers" if task == "question" else "verdict"
    texts = [
        f'"{as_data(shot.query)}"\nevidence: {verbalise(shot.evidence)}\n'
        + json.dumps({"reason": shot.reason, said: getattr(shot, said)}, ensure_ascii=False)
        for shot in shots
    ]
    values = {"EVIDENCE": verbalise(graphs), "SILENCE": CLOSED if closed_world else OPEN}
    return _filled("read", task, texts, query, **values)


def _filled(step: str, task: ExampleKind, shots: Sequence[str], query: str, **parts: str) -> Prompt:
    name, numbered = f"{step}_{task}", enumerate(shots, 1)
    text, examples = template(name), "\n".join(f"{n}. {task}: {shot}" for n, shot in numbered) or "(none)"
    version = hashlib.sha256(f"{text}\n{examples}".encode()).hexdigest()[:12]
    values = {"EXAMPLES": examples, "QUERY": as_data(query), **parts}
    return Prompt(f"simgrag/{name}", "", filled(text, values), version)


Op = Literal[
    "keep", "without", "only", "or", "max", "min", "most", "fewest",
    "list", "count", "sum", "average", "difference", "exists",
]  # fmt: skip
_OF_TRIPLES = ("without", "only", "or")
Test = Literal[">", "<", ">=", "<=", "=", "!=", ""]
MOST_OPERATIONS = 8
GRAPH = """
This graph records the following, and nothing else:
<graph>
{}
</graph>
"""
"""A prompt's lines on a graph."""


@dataclass(frozen=True)
class PatternReply:
    """The reply that the model is asked for."""

    divided: list[str] = field(metadata={"description": "one segment of the text for each triple"})
    triples: list[tuple[str, str, str]] = field(metadata={"description": "[head, relation, tail]"})


@dataclass(frozen=True)
class Operation:
    """One operation, as the model writes it."""

    op: Op
    node: str = ""
    test: Test = ""
    than: str | float | list[str] = ""
    less: str = ""
    first: int = 1
    nth: int = 0
    by: str = ""
    triples: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])


@dataclass(frozen=True)
class PlanReply(PatternReply):
    """The reply to a question that the model is asked for, where it sees what the graph records."""

    answer: str = field(default="", metadata={"description": "the unknown that is asked for"})
    operations: list[Operation] = field(default_factory=list[Operation])


@dataclass(frozen=True)
class ClaimReply(PlanReply):
    """The same of a claim; its operations may be denied."""

    denied: bool = False


@dataclass(frozen=True, slots=True)
class PatternPlan:
    """A pattern that may be unconnected, or have no known node, and what to do with its matches.

    `answer` is the place of the node asked for, -1 for none; `operation_patterns` are by the operation's
    place, and their nodes with the same names are the same; `denied`: a claim says that all is not so.
    """

    pattern: Pattern
    answer: int
    operations: tuple[Operation, ...]
    operation_patterns: dict[int, Pattern] = field(default_factory=dict[int, Pattern])
    denied: bool = False

    def place(self, name: str) -> int:
        """The place of a node by its name; -1 if there is none."""
        norm = normalise(name)
        return next((i for i, node in enumerate(self.pattern.nodes) if normalise(node.name) == norm), -1)

    def on_edge(self, name: str) -> tuple[int, int] | None:
        """The edge, and the place among what it has to say, of an unknown property; None for others."""
        said = ((edge, at, c) for edge, e in enumerate(self.pattern.edges) for at, c in enumerate(e.where))
        return next(((edge, at) for edge, at, c in said if normalise(c.value) == normalise(name)), None)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why the best matches do not fit, as an abstention would say it; `names` are not in the graph."""

    reason: Reason
    detail: str
    names: tuple[str, ...] = ()


FINDS_NOTHING = Misfit("no_relation", "the model finds nothing of the kind in what the graph records")


@dataclass(frozen=True, slots=True)
class Found:
    """What a model wrote, and what came of it in the graph.

    Either `pattern` or the `problem`; `plan` is of a pattern with operations, or that cannot be searched:
    `executed` is what it comes to, `stated` what it says of a claim. `misfit` says why nothing fits.
    """

    version: str = ""
    reply: str = ""
    segments: tuple[str, ...] = ()
    pattern: Pattern | None = None
    problem: str = ""
    plan: PatternPlan | None = None
    result: MatchResult = field(default_factory=lambda: MatchResult(()))
    misfit: Misfit | None = None
    executed: DraftAnswer | None = None
    stated: tuple[Stated, ...] = ()


def write_pattern(
    talk: Talk,
    task: ExampleKind,
    query: str,
    shots: Sequence[Shot],
    hints: str = "",
    *,
    operations: bool = False,
) -> Found:
    """Ask a model for a pattern, which may have `operations`; the reply is repaired once. Raises LlmError."""
    prompt = pattern_prompt(task, query, shots, hints)
    request = ask(prompt.user, temperature=0.0)
    form = (PlanReply if task == "question" else ClaimReply) if operations else PatternReply
    typed = run_sync(talk.complete_as(request, form))
    reply = typed.value
    written = Found(prompt.version, typed.replies[-1].text, tuple(s.strip() for s in reply.divided))
    try:
        if isinstance(reply, PlanReply):
            return _plan_pattern(written, reply)
        return replace(written, pattern=pattern_of(reply.triples))
    except PatternError as error:
        misfit = Misfit("empty_result", f"the model wrote no pattern to search for ({error})")
        return replace(written, problem=str(error), misfit=misfit)


def _plan_pattern(written: Found, reply: PlanReply) -> Found:
    """The pattern of a reply, in the paper's form if it has no operations. Raises PatternError."""
    if not reply.triples and not reply.answer:
        return replace(written, misfit=FINDS_NOTHING)
    all_unknown = reply.answer and all(unknown_type(end)[0] for h, _, t in reply.triples for end in (h, t))
    is_plain = reply.triples and not reply.operations and not isinstance(reply, ClaimReply)
    is_plain = is_plain and not any("[@" in relation for _, relation, _ in reply.triples)
    if is_plain and not all_unknown:
        pattern = pattern_of(reply.triples)
        places = {normalise(node.name): i for i, node in enumerate(pattern.nodes)}
        return replace(written, pattern=replace(pattern, answer=places.get(normalise(reply.answer))))
    plan = plan_of(reply)
    return replace(written, pattern=plan.pattern, plan=plan)


def pattern_of(triples: Sequence[Sequence[str]]) -> Pattern:
    """A pattern of a model's triples: equal names are one node, equal triples one edge. PatternError."""
    pattern = loose_pattern(triples)
    if not pattern.edges:
        needed = f"field 'triples' must be a list of at least one triple: {PATTERN_ADVICE}"
        raise PatternError(f"the model's pattern: {needed}")
    if any(edge.where for edge in pattern.edges):
        raise PatternError("the model's pattern: properties of edges are no part of the paper's patterns")
    check_pattern(pattern, "the model's pattern")
    return pattern


def plan_of(reply: PlanReply) -> PatternPlan:
    """Read a reply. Raises PatternError for a name that is none, or one that no triple has."""
    pattern = loose_pattern(reply.triples, reply.answer)
    if len(reply.operations) > MOST_OPERATIONS:
        raise PatternError(f"the model's operations: at most {MOST_OPERATIONS} are carried out")
    operation_patterns = {
        at: loose_pattern(op.triples) for at, op in enumerate(reply.operations) if op.op in _OF_TRIPLES
    }
    plan = PatternPlan(pattern, -1, tuple(reply.operations), operation_patterns)
    answer = plan.place(reply.answer) if reply.answer else -1
    if answer < 0 and (asked := plan.on_edge(reply.answer)) is not None:
        edge = pattern.edges[asked[0]]
        answer = edge.head if pattern.nodes[edge.tail].known else edge.tail
        if not isinstance(reply, ClaimReply):
            plan = replace(plan, operations=(*plan.operations, Operation("list", reply.answer)))
    problem = "is in none of its triples"
    if reply.answer and answer < 0:
        raise PatternError(f"the model's pattern: the answer {data_line(reply.answer)!r} {problem}")
    for op in reply.operations:
        names = () if op.op in (*_OF_TRIPLES, "exists") else (counted_name(op.node) or op.node, op.by)
        for name in names[: 1 + bool(op.by)]:
            if plan.place(name) < 0 and plan.on_edge(name) is None:
                raise PatternError(f"the model's operation {op.op}: {data_line(name)!r} {problem}")
    return replace(plan, answer=answer, denied=isinstance(reply, ClaimReply) and reply.denied)


def counted_name(node: str) -> str:
    """The name behind *count of*; empty for another."""
    head, _, name = node.strip().partition(" of ")
    return name.strip() if head.strip().casefold() == "count" else ""


def loose_pattern(triples: Sequence[Sequence[str]], lone_node: str = "") -> Pattern:
    """Build a pattern that need not be connected; equal names are one node. Raises PatternError."""
    if len(triples) > MOST_PATTERN_EDGES:
        raise PatternError(
            f"the model's pattern has {len(triples)} triples: at most {MOST_PATTERN_EDGES} can be searched"
        )
    nodes: dict[str, PatternNode] = {}
    edges: dict[tuple[str, str, str], PatternEdge] = {}

    def place(name: str) -> int:
        unknown, kind = unknown_type(name)
        nodes.setdefault(normalise(name) or name, PatternNode(name, known=not unknown, type=kind))
        return list(nodes).index(normalise(name) or name)

    for head, relation, tail in ([clean_name(part) for part in triple] for triple in triples):
        relation, where = _split_conditions(relation)
        key = normalise(head) or head, normalise(relation), normalise(tail) or tail
        if key[0] != key[2]:
            edge = PatternEdge(place(head), None if unknown_type(relation)[0] else relation, place(tail))
            edge = edges.get(key, edge)
            edges[key] = replace(edge, where=(*edge.where, *where))
    said = [normalise(c.value) for e in edges.values() for c in e.where if unknown_type(c.value)[0]]
    if len(said) > len({*said} - nodes.keys()):
        raise PatternError("the model's pattern: an unknown in [@…] is one property of one edge alone")
    if not triples and lone_node:
        place(clean_name(lone_node))
    return Pattern(tuple(nodes.values()), tuple(edges.values()))


_CONDITION = re.compile(r'\s*\[@\s*"?([^]"=<>!:]+?)"?\s*(!=|<=|>=|[=<>:])\s*"?([^]"]+?)"?\s*\]')


def _split_conditions(relation: str) -> tuple[str, tuple[EdgeCondition, ...]]:
    """Cut *delivered to [@kg > 20]* into the relation and what its edge has to say. Raises PatternError."""
    where = _CONDITION.findall(relation)
    name = clean_name(_CONDITION.sub("", relation))
    if "[@" in name:
        raise PatternError(f"the model's pattern: {data_line(relation)!r} does not say what [@…] is")
    return name, tuple(EdgeCondition(key, sign.replace(":", "="), value) for key, sign, value in where)


def clean_name(text: str) -> str:
    """A name without the quotes that literals are written in. Raises PatternError for one that is none."""
    text = " ".join(text.split())
    if not text or len(text) > 300:
        raise PatternError(f"the model's pattern: a name of {len(text):,} characters is no name")
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].strip() or text
    return text


def answer_nodes(pattern: Pattern) -> tuple[int, ...]:
    """The nodes that an answer may be: those that are not known."""
    return tuple(i for i, node in enumerate(pattern.nodes) if not node.known)
