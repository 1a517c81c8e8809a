"""SimGRAG's prompts (Tables 16 to 19), filled with worked examples and delimited data.

Whatever comes from a user or a graph is data: it stands between marks that it cannot write itself, in JSON
where it is a triple, and without control characters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast

from clew.errors import InputError
from clew.llm.prompting import as_data, data_line, filled

DECOMPOSITIONS = "decompositions"
"""What a file of examples may hold for KG-RAG (`methods/kg_rag/demonstrations.py`)."""
Task = Literal["question", "claim"]
Triples = tuple[tuple[str, str, str], ...]

LONGEST_NAME = 200
"""Characters of a name of the graph that a prompt shows."""
MOST_SHOTS = 64
ADVICE = (
    'Write {"questions": [{"query": "…", "divided": ["…"], "triples": [["…", "…", "…"]],'
    ' "evidence": [[["…", "…", "…"]]], "reason": "…", "answers": ["…"]}],'
    ' "claims": [… with "verdict": "True", "False" or "Unknown" …]}'
)


@dataclass(frozen=True, slots=True)
class Shot:
    """A worked example: a question or claim, its segments and triples, evidence graphs, and what they say."""

    query: str
    divided: tuple[str, ...]
    triples: Triples
    evidence: tuple[Triples, ...]
    reason: str
    answers: tuple[str, ...]
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Shots:
    """Demonstration examples for questions and for claims."""

    questions: tuple[Shot, ...]
    claims: tuple[Shot, ...]

    def of(self, task: Task, count: int) -> tuple[Shot, ...]:
        """The first `count` of a task."""
        return (self.questions if task == "question" else self.claims)[:count]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A filled prompt, and the hash of its file and examples, without what was asked."""

    text: str
    version: str


@cache
def template(name: str) -> str:
    """The text of a prompt file."""
    return (files("clew.methods.simgrag") / "prompts" / f"{name}.txt").read_text("utf-8")


@cache
def default_shots() -> Shots:
    """The examples that come with Clew: twelve questions and twelve claims on an invented coast."""
    return shots_from(
        json.loads((files("clew.methods.simgrag") / "prompts" / "examples.json").read_text("utf-8")),
        "examples",
    )


def shots_from(value: object, where: str) -> Shots:
    """Read examples from JSON; InputError says which is wrong."""
    if not isinstance(value, dict) or not value.keys() <= {"questions", "claims", DECOMPOSITIONS}:
        raise InputError(f"{where}: not an object with 'questions' and 'claims'. {ADVICE}")
    fields = cast("dict[str, object]", value)
    read: dict[str, tuple[Shot, ...]] = {}
    for task, items in fields.items():
        if task == DECOMPOSITIONS:
            continue
        if not isinstance(items, list) or len(cast("list[object]", items)) > MOST_SHOTS:
            raise InputError(f"{where}: {task!r} is not a list of at most {MOST_SHOTS} examples. {ADVICE}")
        read[task] = tuple(
            _shot(item, f"{where}: {task}[{at}]", task == "claims")
            for at, item in enumerate(cast("list[object]", items))
        )
    if len(read) == 2:
        return Shots(read["questions"], read["claims"])
    own = default_shots()
    return Shots(read.get("questions", own.questions), read.get("claims", own.claims))


def _shot(item: object, where: str, is_claim: bool) -> Shot:
    fields: Mapping[str, Any] = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    verdict = fields.get("verdict", "")
    if is_claim and verdict not in ("True", "False", "Unknown"):
        raise InputError(f'{where}: \'verdict\' is not "True", "False" or "Unknown". {ADVICE}')
    query, reason = fields.get("query"), fields.get("reason", "")
    if not isinstance(query, str) or not isinstance(reason, str):
        raise InputError(f"{where}: 'query' is missing, or no string. {ADVICE}")
    graphs = fields.get("evidence", [])
    if not isinstance(graphs, list):
        raise InputError(f"{where}: 'evidence' is not a list of graphs. {ADVICE}")
    return Shot(
        query,
        _strings(fields.get("divided", []), f"{where}: 'divided'"),
        _triples(fields.get("triples"), f"{where}: 'triples'"),
        tuple(_triples(g, f"{where}: 'evidence'") for g in cast("list[object]", graphs)),
        reason,
        _strings(fields.get("answers", []), f"{where}: 'answers'"),
        verdict,
    )


def _strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(s, str) for s in cast("list[object]", value)):
        raise InputError(f"{where} is not a list of strings. {ADVICE}")
    return tuple(cast("list[str]", value))


def _triples(value: object, where: str) -> Triples:
    if not isinstance(value, list) or not value:
        raise InputError(f"{where} is not a list of triples. {ADVICE}")
    rows = [_strings(row, where) for row in cast("list[object]", value)]
    if any(len(row) != 3 for row in rows):
        raise InputError(f"{where}: a triple has three strings. {ADVICE}")
    return tuple((row[0], row[1], row[2]) for row in rows)


def as_name(text: str) -> str:
    """Make a name of the graph safe, and not too long."""
    return data_line(text, LONGEST_NAME)


def verbalise(graphs: Sequence[Triples]) -> str:
    """Write subgraphs as the paper does (section 4.4), each as a numbered list of triples, in JSON."""
    lines = [
        f'"graph [{number}]": '
        + json.dumps([[as_name(part) for part in triple] for triple in graph], ensure_ascii=False)
        for number, graph in enumerate(graphs, 1)
    ]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def pattern_prompt(task: Task, query: str, shots: Sequence[Shot], hints: str = "") -> Prompt:
    """The query-to-pattern prompt (Tables 16 and 17)."""
    examples = "\n".join(
        f'{number}. {task}: "{as_data(shot.query)}"\n{_pattern_reply(shot)}'
        for number, shot in enumerate(shots, 1)
    )
    return _filled(f"pattern_{task}", examples or "(none)", query, HINTS=hints)


def read_prompt(task: Task, query: str, graphs: Sequence[Triples], shots: Sequence[Shot]) -> Prompt:
    """The reading prompt (Tables 18 and 19)."""
    examples = "\n".join(
        f'{number}. {task}: "{as_data(shot.query)}"\n'
        f"evidence: {verbalise(shot.evidence)}\n{_read_reply(shot, task)}"
        for number, shot in enumerate(shots, 1)
    )
    return _filled(f"read_{task}", examples or "(none)", query, EVIDENCE=verbalise(graphs))


def _pattern_reply(shot: Shot) -> str:
    return json.dumps({"divided": shot.divided, "triples": shot.triples}, ensure_ascii=False)


def _read_reply(shot: Shot, task: Task) -> str:
    found: dict[str, object] = {"answers": shot.answers} if task == "question" else {"verdict": shot.verdict}
    return json.dumps({"reason": shot.reason} | found, ensure_ascii=False)


def _filled(name: str, examples: str, query: str, **parts: str) -> Prompt:
    text = template(name)
    version = hashlib.sha256(f"{text}\n{examples}".encode()).hexdigest()[:12]
    values = {"EXAMPLES": examples, "QUERY": as_data(query), **parts}
    return Prompt(filled(text, values), version)
