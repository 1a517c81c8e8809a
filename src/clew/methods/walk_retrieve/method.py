"""`walk-retrieve`: Walk&Retrieve (Böckling, Paulheim, Iana: workshop at SIGIR 2025).

Steps of the paper and where they are:
  2.1 graph traversal   `graph.walks`, `graph.kernels.choices` (eq. 1), `graph.kernels.walks` (eq. 2)
  2.1 verbalisation     `text.verbalise` (templates)
  2.1 indexing          `index.corpus`, `index.walk_vectors`
  2.2 retrieval         `index.nearest` (eq. 3)
  2.2 generation        `steps.read_walks` (built in), `steps.read_walks_llm` (Fig. 2b, one call)

Defaults: depth 4, n_w = 60 (section 3, *implementation details*), k = 3 nodes and k = 3 walks of each
(footnote 4).

Deviations:
  - walks follow edges both ways (so that what is only ever a tail has walks too); `--directed` does not.
  - at most 60 breadth-first walks a root (`--max-walks`): a tree of depth 4 has thousands.
  - a walk's vector is that of its sentence and its outline together, a node's that of its name and its walks;
    of sentences alone, the unknown names in them would hide the relations (`benchmarks/RESULTS.md`).
    `--plain-vectors` are of sentences alone. Either way a node's is the sum of its walks' vectors, each as
    often as it was made, in the place of one of all its sentences in a row, which no embedder takes whole.
  - questions and walks are compared by the embedder of the index; the paper encodes both with its chat model.
  - the built-in form has the question's pattern and retrieves with it: entities that the pattern names are
    the first of the k nodes, and walks are compared with the pattern said as a walk. The form with a model is
    eq. 3 and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from clew.errors import UsageError
from clew.grounding import ground
from clew.index.corpus.nearest import NearWalk, WalkIndex
from clew.index.store.directory import Index
from clew.index.vectors.vectors import Float32
from clew.llm.errors import BudgetReached
from clew.llm.types import ChatModel
from clew.methods.walk_retrieve.read_walks import WalkEvidence, match_in_walks, path_to_answer, triples_of
from clew.methods.walk_retrieve.read_walks_llm import WalkReading, proof_of, read_walks
from clew.reading.rules.auto import auto_of
from clew.text.embedder import Embedder, unit_rows
from clew.types import Abstention, Answer, AnswerEntity, Citation, Match, Pattern, Step

MOST_K = 100


@dataclass(frozen=True, slots=True)
class WalkRetrieveSettings:
    """`k` nodes and `k` walks of each (section 3); raises UsageError if it is out of range."""

    k: int = 3

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MOST_K:
            raise UsageError(f"--k is {self.k}; give a number from 1 to {MOST_K}")


@dataclass(frozen=True, slots=True)
class _Query:
    """What walks are compared with.

    A vector for nodes, one for walks, and one for the walks of some roots.
    """

    nodes: Float32
    walks: Float32
    of_root: dict[int, Float32]
    first: tuple[int, ...]


class WalkRetrieve:
    """Answers from the walks nearest to a question; with a model, or by the built-in reader."""

    name = "walk-retrieve"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: WalkRetrieveSettings | None = None,
    ) -> None:
        self.graph, self.embedder, self.model = index.graph, embedder, model
        self.names, self.k = index.names, (settings or WalkRetrieveSettings()).k
        self.walks = WalkIndex(index, embedder)
        self._writer = auto_of(index, embedder) if model is None else None

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer from retrieved walks, or abstain; `entities` are names that the question is about, if known.

        Raises LlmError if a model fails, but a reached budget is an abstention.
        """
        if self._writer is None and self.model is not None:
            return self._generate(self.model, question, id, entities)
        began = perf_counter()
        if self._writer is None:
            raise ValueError("there is neither a model nor a built-in form")
        written = self._writer.answer(question, id=id, entities=entities)
        timings = {"write pattern": (perf_counter() - began) * 1000}
        answer = replace(
            written, method=self.name, answers=(), citations=(), text="", complete=False, timings_ms=timings
        )
        if written.pattern is not None and _is_matchable(written.pattern):
            answer = self._answer(answer, written, written.pattern, timings)
        elif written.abstained is None:
            detail = "walks do not tell this of a whole graph; ask with --method auto"
            answer = replace(answer, abstained=Abstention("not_in_evidence", detail))
        timings["total"] = (perf_counter() - began) * 1000
        return replace(answer, timings_ms={stage: round(ms, 3) for stage, ms in timings.items()})

    def _answer(self, answer: Answer, written: Answer, pattern: Pattern, timings: dict[str, float]) -> Answer:
        since = perf_counter()
        walks = self.retrieve(self._query(answer.question, pattern))
        timings["retrieve"] = (perf_counter() - since) * 1000
        since = perf_counter()
        matches = match_in_walks(pattern, WalkEvidence.of(self.graph, walks))
        drafted = self._read(written, pattern, matches)
        timings["read"] = (perf_counter() - since) * 1000
        steps = (*written.steps, self.retrieve_step(walks))
        return replace(answer, **drafted, steps=steps)

    def _query(self, question: str, pattern: Pattern) -> _Query:
        """Say the pattern as a walk from each entity that it names."""
        anchors = [(at, node.entity) for at, node in enumerate(pattern.nodes) if node.entity is not None]
        texts = [self.walks.maker.templates.outline(e, path_to_answer(pattern, at)) for at, e in anchors]
        vectors = self.embedder.embed([question, *texts])
        by_root = {entity: vectors[1 + i] for i, (_, entity) in enumerate(anchors)}
        return _Query(
            unit_rows(vectors[:2].sum(axis=0, keepdims=True))[0], vectors[1], by_root, tuple(by_root)
        )

    def retrieve(self, query: _Query) -> list[NearWalk]:
        """Eq. 3: k nodes, and k of each one's own walks, best walks first."""
        found: list[NearWalk] = []
        for node in self.walks.nearest_nodes(query.nodes, self.k, first=query.first):
            found += self.walks.nearest_walks(node, query.of_root.get(node, query.walks), self.k)
        return sorted(found, key=lambda walk: -walk.score)

    def _read(self, written: Answer, pattern: Pattern, matches: Sequence[Match]) -> dict[str, object]:
        """Pick the answers that the matches prove.

        Yes needs one match, no and numbers need more than walks.
        """
        if not matches:
            detail = "the walks that were retrieved hold nothing that fits the question"
            return {"abstained": written.abstained or Abstention("not_in_evidence", detail)}
        if pattern.answer is None:
            proof = ground(self.graph, [matches[0].nodes[0]], matches, 0)[1]
            yes = AnswerEntity("yes", "yes", 1.0)
            return {
                "answers": (yes,),
                "text": "yes",
                "abstained": None,
                "citations": (replace(proof[0], answer="yes"),),
            }
        node = pattern.answer
        if written.answers and written.answers[0].entity.isdigit() and len(written.answers) == 1:
            entities = {self.graph.entities[m.nodes[node]] for m in matches}
            if written.answers[0].entity not in entities:
                detail = "walks do not hold all that is to be counted; ask with --method auto"
                return {"abstained": Abstention("not_in_evidence", detail)}
        draft = [m.nodes[node] for m in matches]
        answers, citations, left = ground(self.graph, draft, matches, node)
        return _result(answers, citations, left)

    def _generate(self, model: ChatModel, question: str, id: str | None, entities: Sequence[str]) -> Answer:
        """Section 2.2 with a model: eq. 3, then one call; entities that the user names come first."""
        from clew.llm.managed import ManagedModel
        from clew.llm.run import run_sync

        model = model.for_question(id) if isinstance(model, ManagedModel) else model
        began = perf_counter()
        first = [hit.entity for name in entities for hit in self.names.exact(name)[:1]]
        vector = self.embedder.embed([question])[0]
        walks = self.retrieve(_Query(vector, vector, {}, tuple(first)))
        timings = {"retrieve": (perf_counter() - began) * 1000}
        since = perf_counter()
        sentences = [self._say(walk) for walk in walks]
        answer = Answer(question, method=self.name, model=model.name, complete=False, id=id)
        try:
            read = run_sync(read_walks(model, self.graph, question, walks, sentences))
        except BudgetReached as error:
            return replace(answer, abstained=Abstention("budget", str(error)))
        timings |= {"read": (perf_counter() - since) * 1000, "total": (perf_counter() - began) * 1000}
        told = Step("read", {"reply": read.text, "prompt": read.version, "nodes": len(read.nodes)})
        return replace(
            answer,
            **self._grounded(read, walks),
            usage=read.reply.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in timings.items()},
            steps=(self.retrieve_step(walks), told),
        )

    def _grounded(self, read: WalkReading, walks: Sequence[NearWalk]) -> dict[str, object]:
        """Keep what the model named of the walks, each with the triples that lead to it."""
        if not read.knows:
            detail = "the model does not find the answer in the walks that were retrieved"
            return {"abstained": Abstention("not_in_evidence", detail)}
        proofs = {node: proof_of(self.graph, node, walks) for node in read.nodes}
        matches = [Match(0.0, 0, (node,), proof) for node, proof in proofs.items() if proof]
        answers, citations, left = ground(self.graph, read.nodes, matches, 0)
        if not answers:
            left = Abstention("not_in_evidence", "the model names nothing of the walks that were retrieved")
        return _result(answers, citations, left)

    def _say(self, walk: NearWalk) -> str:
        """Say a walk as a model has said it when it was indexed, else by the templates."""
        return walk.said or self.walks.maker.templates.sentence(walk.root, walk.steps, walk.nodes)

    def retrieve_step(self, walks: Sequence[NearWalk]) -> Step:
        """Tell what was retrieved, for `--explain`."""
        names, relations = self.graph.entities, self.graph.relations
        rows = [
            {
                "node": names[walk.root],
                "walk": self._say(walk),
                "score": round(walk.score, 3),
                "triples": [[names[h], relations[r], names[t]] for h, r, t in triples_of(walk)],
            }
            for walk in walks
        ]
        return Step("retrieve", {"corpus": self.walks.settings.kind, "k": self.k, "walks": rows})


def _is_matchable(pattern: Pattern) -> bool:
    """Whether the pattern names an entity, and its relations are those of the graph."""
    named = any(node.entity is not None for node in pattern.nodes)
    return named and all(edge.fixed is not None for edge in pattern.edges)


def _result(
    answers: tuple[AnswerEntity, ...], citations: tuple[Citation, ...], left: Abstention | None
) -> dict[str, object]:
    text = " · ".join(answer.label for answer in answers)
    return {"answers": answers, "citations": citations, "text": text, "abstained": left}
