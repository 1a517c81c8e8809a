"""SimGRAG's prompts (Tables 16 to 19), filled with worked examples and delimited data.

Whatever comes from a user or a graph is data: it stands between marks that it cannot write itself, in JSON
where it is a triple, and without control characters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, cast

from msgspec import Meta

from clew.errors import InputError
from clew.foundation.forms import read_json
from clew.llm.prompting import Prompt, as_data, data_line, filled
from clew.llm.reply import ShapeError, build

DECOMPOSITIONS = "decompositions"
"""What a file of examples may hold for KG-RAG (`methods/kg_rag/decompose.py`)."""
ExampleKind = Literal["question", "claim"]
ShownTriples = tuple[tuple[str, str, str], ...]
ShownGraph = Annotated[ShownTriples, Meta(min_length=1)]
"""The triples of an example, at least one."""

LONGEST_NAME_IN_EXAMPLE = 200
"""Characters of a name of the graph that a prompt shows."""
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
    without_verdict = [at for at, shot in enumerate(shots.claims) if not shot.verdict]
    if without_verdict:
        raise InputError(f"{where}: claims[{without_verdict[0]}] has no verdict. {EXAMPLES_ADVICE}")
    defaults = {
        task: getattr(default_shots(), task) for task in ("questions", "claims") if task not in fields
    }
    return replace(shots, **defaults)


def as_name(text: str) -> str:
    """Make a name of the graph safe, and not too long."""
    return data_line(text, LONGEST_NAME_IN_EXAMPLE)


def verbalise(graphs: Sequence[ShownTriples]) -> str:
    """Write subgraphs as the paper does (section 4.4), each as a numbered list of triples, in JSON."""
    names = ([[as_name(part) for part in triple] for triple in graph] for graph in graphs)
    texts = (json.dumps(triples, ensure_ascii=False) for triples in names)
    lines = [f'"graph [{number}]": {triples}' for number, triples in enumerate(texts, 1)]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def pattern_prompt(task: ExampleKind, query: str, shots: Sequence[Shot], hints: str = "") -> Prompt:
    """The query-to-pattern prompt (Tables 16 and 17)."""
    replies = ({"divided": shot.divided, "triples": shot.triples} for shot in shots)
    examples = "\n".join(
        f'{number}. {task}: "{as_data(shot.query)}"\n{json.dumps(reply, ensure_ascii=False)}'
        for number, (shot, reply) in enumerate(zip(shots, replies, strict=True), 1)
    )
    return _filled(f"pattern_{task}", examples or "(none)", query, HINTS=hints)


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
    names: str = "",
) -> Prompt:
    """The reading prompt (Tables 18 and 19); in a closed world what the evidence lacks is not so.

    `names` is a line of what the query calls otherwise than the evidence does, or empty.
    """
    shots = [shot for shot in shots if not (closed_world and shot.verdict == "Unknown")]
    examples = "\n".join(
        f'{number}. {task}: "{as_data(shot.query)}"\n'
        f"evidence: {verbalise(shot.evidence)}\n{_read_reply(shot, task)}"
        for number, shot in enumerate(shots, 1)
    )
    silence = CLOSED if closed_world else OPEN
    return _filled(
        f"read_{task}", examples or "(none)", query, EVIDENCE=verbalise(graphs), SILENCE=silence, NAMES=names
    )


def _read_reply(shot: Shot, task: ExampleKind) -> str:
    reply: dict[str, object] = {"answers": shot.answers} if task == "question" else {"verdict": shot.verdict}
    return json.dumps({"reason": shot.reason} | reply, ensure_ascii=False)


def _filled(name: str, examples: str, query: str, **parts: str) -> Prompt:
    text = template(name)
    version = hashlib.sha256(f"{text}\n{examples}".encode()).hexdigest()[:12]
    values = {"EXAMPLES": examples, "QUERY": as_data(query), **parts}
    return Prompt(f"simgrag/{name}", "", filled(text, values), version)
