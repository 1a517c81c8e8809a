"""The `write pattern` step with a model: query-to-pattern alignment (SimGRAG section 4.1, Tables 16 and 17).

The model's reply is a typed value of strings; a pattern is built from it or refused. Nothing in it is
believed: what it calls known has still to be found in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew.errors import PatternError
from clew.graph.match.patterns import pattern_from_json, unknown_type
from clew.llm.prompting import Prompt, query_text
from clew.llm.types import ChatModel, Reply, ask
from clew.methods.simgrag.examples import ExampleKind, Shot, as_name, pattern_prompt, template
from clew.methods.simgrag.operations import PatternPlan, PlanReply, clean_name, plan_of
from clew.text.normalise import normalise
from clew.types import Pattern


@dataclass(frozen=True)
class PatternReply:
    """What the model is asked for."""

    divided: list[str] = field(metadata={"description": "one segment of the text for each triple"})
    triples: list[tuple[str, str, str]] = field(metadata={"description": "[head, relation, tail]"})


@dataclass(frozen=True, slots=True)
class WrittenPattern:
    """A pattern, or why the reply is none (`problem`).

    `segments` of the text, one for each edge where they fit. `plan` is there where the pattern has
    operations, or could not be searched without: with nothing known, or in parts. `nothing` says that the
    model finds nothing of the kind in what the graph records.
    """

    prompt: Prompt
    replies: tuple[Reply, ...]
    segments: tuple[str, ...]
    pattern: Pattern | None = None
    problem: str = ""
    plan: PatternPlan | None = None
    nothing: bool = False

    def fitted(self, pattern: Pattern, plan: PatternPlan | None = None) -> WrittenPattern:
        """The same with its pattern; without the segments where they are not one for each edge."""
        fits = len(self.segments) == len(pattern.edges)
        return replace(self, segments=self.segments if fits else (), pattern=pattern, plan=plan)


async def write_pattern(
    model: ChatModel,
    task: ExampleKind,
    query: str,
    shots: Sequence[Shot],
    hints: str = "",
    *,
    operations: bool = False,
) -> WrittenPattern:
    """Ask a model for a pattern, which may have `operations`: one call, two if its reply must be repaired.

    Raises LlmError: the model cannot be asked, or its reply is of no use also after the repair.
    """
    prompt = pattern_prompt(task, query, shots, hints)
    request = ask(prompt.user, temperature=0.0)
    typed = await model.complete_as(request, PlanReply if operations else PatternReply)
    reply = typed.value
    written = WrittenPattern(prompt, typed.replies, tuple(s.strip() for s in reply.divided))
    try:
        if isinstance(reply, PatternReply):
            return written.fitted(pattern_of(reply.triples))
        return _planned(written, reply)
    except PatternError as error:
        return replace(written, problem=str(error))


def _planned(written: WrittenPattern, reply: PlanReply) -> WrittenPattern:
    """The pattern of a reply, in the paper's form if it has no operations. Raises PatternError."""
    if not reply.triples and not reply.answer:
        return replace(written, nothing=True)
    listed = reply.answer and all(unknown_type(end)[0] for h, _, t in reply.triples for end in (h, t))
    if reply.triples and not reply.operations and not listed:
        pattern = pattern_of(reply.triples)
        places = {normalise(node.name): i for i, node in enumerate(pattern.nodes)}
        return written.fitted(replace(pattern, answer=places.get(normalise(reply.answer))))
    plan = plan_of(reply)
    return written.fitted(plan.pattern, plan)


def pattern_of(triples: Sequence[Sequence[str]]) -> Pattern:
    """Build a pattern from a model's triples: equal names are one node, equal triples one edge.

    Raises PatternError: empty, disconnected, all unknown, too large, or a name that is none.
    """
    written: dict[str, str] = {}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for triple in triples:
        head, relation, tail = (clean_name(part) for part in triple)
        head, tail = (written.setdefault(normalise(name) or name, name) for name in (head, tail))
        if head != tail:
            rows.setdefault((head, normalise(relation), tail), [head, relation, tail])
    return pattern_from_json({"triples": list(rows.values())}, "the model's pattern")


GRAPH = """
This graph records the following, and nothing else:
<graph>
{}
</graph>
"""
"""What a prompt says of a graph, in lines."""


def hint_text(schema: str, names: str = "", *, operations: bool = False) -> str:
    """What a prompt says of this graph: what it records, how to ask for it, other names of what is named."""
    if not schema:
        return ""
    return template("operations" if operations else "steps_of_graph") + GRAPH.format(schema) + names


def retry_text(hints: str, first: str, problem: str, near: Sequence[str]) -> str:
    """The same once more, with the first reply, what was wrong with it, and names that may be meant."""
    names = f" Names that are like it: {'; '.join(as_name(name) for name in near)}." if near else ""
    return f"{hints}\nA first try was {query_text(first)}\nIt did not work: {as_name(problem)}.{names}\n"


def answer_nodes(pattern: Pattern) -> tuple[int, ...]:
    """The nodes that an answer may be: those that are not known."""
    return tuple(i for i, node in enumerate(pattern.nodes) if not node.known)
