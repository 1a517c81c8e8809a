"""The `write pattern` step with a model.

SimGRAG's query-to-pattern alignment (section 4.1, Tables 16 and 17).

The model's reply is a typed value of strings; a pattern is built from it or refused. Nothing in it is
believed: what it calls known has still to be found in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.errors import PatternError
from clew.graph.match.patterns import pattern_from_json
from clew.llm.types import ChatModel, Reply, ask
from clew.methods.simgrag.examples import Prompt, Shot, Task, as_name, pattern_prompt
from clew.text.normalise import normalise
from clew.types import Pattern

LONGEST = 300
"""Characters of a name in a pattern; a longer one is no name."""


@dataclass(frozen=True)
class PatternReply:
    """What the model is asked for."""

    divided: list[str] = field(metadata={"description": "one segment of the text for each triple"})
    triples: list[tuple[str, str, str]] = field(metadata={"description": "[head, relation, tail]"})


@dataclass(frozen=True, slots=True)
class WrittenPattern:
    """A pattern, or why the reply is none (`problem`).

    `segments` of the text, one for each edge where they fit.
    """

    pattern: Pattern | None
    segments: tuple[str, ...]
    problem: str
    prompt: Prompt
    replies: tuple[Reply, ...]


async def write_pattern(
    model: ChatModel, task: Task, query: str, shots: Sequence[Shot], hints: str = ""
) -> WrittenPattern:
    """Ask a model for the pattern of a question or claim: one call, two if the reply has to be repaired.

    Raises:
        LlmError: the model cannot be asked, or its reply is of no use also after the repair.

    """
    prompt = pattern_prompt(task, query, shots, hints)
    typed = await model.complete_as(ask(prompt.text, temperature=0.0), PatternReply)
    segments = tuple(s.strip() for s in typed.value.divided)
    try:
        pattern = pattern_of(typed.value.triples)
    except PatternError as error:
        return WrittenPattern(None, segments, str(error), prompt, typed.replies)
    if len(segments) != len(pattern.edges):
        segments = ()
    return WrittenPattern(pattern, segments, "", prompt, typed.replies)


def pattern_of(triples: Sequence[Sequence[str]]) -> Pattern:
    """Build a pattern from a model's triples: equal names are one node, however they are written.

    Equal triples one edge.

    Raises: PatternError: empty, disconnected, all unknown, too large, or a name that is none.
    """
    written: dict[str, str] = {}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for triple in triples:
        head, relation, tail = (_name(part) for part in triple)
        head, tail = (written.setdefault(_same(name), name) for name in (head, tail))
        if head != tail:
            rows.setdefault((head, normalise(relation), tail), [head, relation, tail])
    return pattern_from_json({"triples": list(rows.values())}, "the model's pattern")


def _name(text: str) -> str:
    """A name without the quotes that literals are written in."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        raise PatternError(f"the model's pattern: a name of {len(text):,} characters is no name")
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].strip() or text
    return text


def _same(name: str) -> str:
    return normalise(name) or name


def hint_text(relations: Sequence[str], types: Sequence[str], problem: str = "") -> str:
    """What a prompt says of this graph.

    Some of its relations and types, as data, and what was wrong with a first try.
    """
    lines = [""]
    if problem:
        lines.append(f"A first try did not work: {as_name(problem)}.")
    if relations:
        lines.append("This graph has relations such as " + "; ".join(as_name(r) for r in relations) + ".")
    if types:
        lines.append("It has things such as " + "; ".join(as_name(t) for t in types) + ".")
    lines.append("Use these where one of them is what is meant.")
    return "\n".join(lines) + "\n" if relations or types or problem else ""


def answer_nodes(pattern: Pattern) -> tuple[int, ...]:
    """The nodes that an answer may be: those that are not known."""
    return tuple(i for i, node in enumerate(pattern.nodes) if not node.known)
