"""Knowledge-enhanced answer generation (Walk&Retrieve section 2.2, Fig. 2b): context and question → answer.

One call, and one more where the reply is not in the form that states its answer (`llm/reply.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.index.corpus.nearest import NearWalk
from clew.llm.evidence_names import IsName
from clew.llm.grounded_reply import Fact, Given, GroundedReply, ask_and_ground
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named
from clew.methods.fact_lines import other_names
from clew.methods.walk_retrieve.read_walks import LONGEST_SENTENCE, triples_of
from clew.methods.walk_retrieve.topic_paths import PathLine, fact_of
from clew.methods.walk_retrieve.whole_lists import WholeList

GREEDY = Sampling(temperature=0.0)


@dataclass(frozen=True, eq=False)
class Context:
    """What is read: lines of paths, of types and of whole relations, then the sentences of walks.

    `called` are the question's entities by its names.
    """

    graph: Graph
    paths: Sequence[PathLine]
    lists: Sequence[WholeList]
    walks: Sequence[NearWalk]
    sentences: Sequence[str]
    called: Mapping[str, tuple[int, ...]]
    is_name: IsName | None = None

    def lines(self) -> str:
        """The numbered lines; a sentence that is there already is not repeated."""
        told = [line.text for line in (*self.paths, *self.lists)]
        told += [data_line(sentence, LONGEST_SENTENCE) for sentence, _ in self._said()]
        return "\n".join(f"[{number}] {line}" for number, line in enumerate(told, 1)) or "(none)"

    def given(self) -> Given:
        """What the lines hold. Proofs begin at the question's entities, or where walks do without any."""
        facts = [fact_of(self.graph, line) for line in self.paths]
        facts += [line.fact for line in self.lists]
        facts += [Fact(_triples(self.graph, walk)) for _, walk in self._said()]
        topics = dict.fromkeys(entity for found in self.called.values() for entity in found)
        known: dict[int, tuple[int, ...]] = {entity: () for entity in topics}
        return Given(self.graph, tuple(facts), known, frozenset(topics), self.is_name)

    def _said(self) -> list[tuple[str, NearWalk]]:
        first: dict[str, NearWalk] = {}
        for sentence, walk in zip(self.sentences, self.walks, strict=True):
            first.setdefault(sentence, walk)
        return list(first.items())


def generate(talk: Talk, question: str, context: Context) -> GroundedReply:
    """Ask a model what the context answers, and ground it. Raises LlmError."""
    values = {
        "QUESTION": as_data(question),
        "CONTEXT": context.lines(),
        "NAMES": other_names(context.graph, context.called),
    }
    prompt = prompt_named("clew.methods.walk_retrieve", "read")
    return ask_and_ground(talk, prompt, GREEDY, context.given(), values)


def _triples(graph: Graph, walk: NearWalk) -> tuple[int, ...]:
    return tuple(dict.fromkeys(graph.find_triple(*triple) for triple in triples_of(walk)))
