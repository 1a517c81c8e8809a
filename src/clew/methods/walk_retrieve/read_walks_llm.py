"""The `read` step over walks with a model.

Knowledge-enhanced answer generation (Walk&Retrieve section 2.2, Fig. 2b).

One call. What the model says counts as far as it names nodes of the retrieved walks; a reply that does not,
or that says so, is an abstention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.index.corpus.nearest import NearWalk
from clew.llm.extract import clean
from clew.llm.prompting import as_data, data_line, prompt_named
from clew.llm.refusals import declines
from clew.llm.types import ChatModel, Reply, Request
from clew.methods.walk_retrieve.read_walks import LONGEST_SENTENCE, triples_of
from clew.text.normalise import normalise

LONGEST_REPLY = 20_000


@dataclass(frozen=True, slots=True)
class WalkReading:
    """What a model read.

    Nodes of the walks that its text names, in the order of the text; none if it does not know.
    """

    text: str
    nodes: tuple[int, ...]
    knows: bool
    reply: Reply
    version: str


async def read_walks(
    model: ChatModel, graph: Graph, question: str, walks: Sequence[NearWalk], sentences: Sequence[str]
) -> WalkReading:
    """Ask a model what `sentences`, those of `walks`, answer. Raises LlmError."""
    prompt = prompt_named("clew.methods.walk_retrieve", "read")
    context = "\n".join(data_line(text, LONGEST_SENTENCE) for text in dict.fromkeys(sentences))
    asked = as_data(question)
    request = Request(prompt.messages(QUESTION=asked, CONTEXT=context), temperature=0.0)
    reply = await model.complete(request)
    text = clean(reply.text, request.messages, request.stop).strip()[:LONGEST_REPLY]
    named = named_nodes(graph, text, walks, question)
    if not text or declines(text, [graph.labels[node] for node in named]):
        return WalkReading(text, (), False, reply, prompt.version)
    return WalkReading(text, named, True, reply, prompt.version)


def named_nodes(graph: Graph, text: str, walks: Sequence[NearWalk], question: str) -> tuple[int, ...]:
    """Nodes of `walks` that a text names, in its order; longest names first, and none inside another.

    Nodes that the question names are left out, unless there is no other.
    """
    said, asked = f" {normalise(text)} ", f" {normalise(question)} "
    nodes = dict.fromkeys(node for walk in walks for node in (walk.root, *walk.nodes))
    names = {node: normalise(graph.labels[node]) for node in nodes}
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, int]] = []
    for node in sorted(nodes, key=lambda n: -len(names[n])):
        name = names[node]
        place = said.find(f" {name} ") if name else -1
        span = (place + 1, place + 1 + len(name))
        if place < 0 or any(a < span[1] and span[0] < b and (a, b) != span for a, b in taken):
            continue
        taken.append(span)
        found.append((place, node))
    ordered = [node for _, node in sorted(found)]
    others = [node for node in ordered if f" {names[node]} " not in asked]
    return tuple(others or ordered)


def proof_of(graph: Graph, node: int, walks: Sequence[NearWalk]) -> tuple[int, ...]:
    """Triple ids from the root of the first walk that holds `node` to it; its first triple for a root."""
    for walk in walks:
        if node in walk.nodes or (node == walk.root and walk.nodes):
            length = walk.nodes.index(node) + 1 if node in walk.nodes else 1
            return tuple(graph.find_triple(*triple) for triple in list(triples_of(walk))[:length])
    return ()
