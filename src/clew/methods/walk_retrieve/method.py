"""`walk-retrieve`: Walk&Retrieve (Böckling, Paulheim, Iana: workshop at SIGIR 2025).

Steps of the paper and where they are:
  2.1 graph traversal   `graph.walks`, `graph.kernels.choices` (eq. 1), `graph.kernels.walks` (eq. 2)
  2.1 verbalisation     `text.verbalise` (templates)
  2.1 indexing          `index.corpus`, `index.walk_vectors`
  2.2 retrieval         `index.nearest` (eq. 3)
  2.2 generation        `methods/base.py` (Fig. 2b, one call)

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
  - entities that the question names are the first of the k nodes; and beside walks the model reads
    the relation paths of these that are most like the question, each with all that it ends at (`lines`):
    three walks cannot hold a list. Where it names none, types and the relations most like it are read whole,
    if they are small. `paths=0` is the paper's letter: eq. 3 alone.
  - answers are read from a stated form alone, and a reply in no such form is asked for again, once
    (`llm/reply.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.index.corpus import NearWalk, WalkIndex
from clew.index.store.directory import Index
from clew.llm.prompting import Sampling, Talk, data_line
from clew.llm.types import ChatModel
from clew.methods.base import GraphMethod, Retrieved, Run
from clew.methods.evidence import Fact
from clew.methods.ground import ASKED_YES_NO, GroundedReply
from clew.methods.relation_ranking import RelationRanking
from clew.methods.settings import WalkRetrieveSettings
from clew.methods.topic_entities import Called, entities_of, without_names
from clew.methods.walk_retrieve.lines import (
    LONGEST_SENTENCE,
    best_paths,
    path_lines,
    triples_of,
    whole_lists,
)
from clew.text.embedder import Embedder
from clew.types import Step


class WalkRetrieve(GraphMethod[WalkRetrieveSettings]):
    """Answers from the walks nearest to a question."""

    name, settings_class, needs_topics = "walk-retrieve", WalkRetrieveSettings, False
    prompt = ("clew.methods.walk_retrieve", "read")
    sampling = Sampling(temperature=0.0)

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: WalkRetrieveSettings | None = None,
    ) -> None:
        super().__init__(index, embedder, model=model, settings=settings)
        self.walks, self._ranking = WalkIndex(index, embedder), RelationRanking(index.graph, embedder)

    def link(self, question: str, entities: Sequence[str], talk: Talk) -> Called:
        """The entities of the question; by the paper's letter those alone that the user gives."""
        return super().link(question, entities, talk) if entities or self.settings.paths else {}

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The lines beside walks, then the sentences of walks (section 2.2)."""
        graph, topics = self.graph, entities_of(called)
        lines = []
        if count := self.settings.paths:
            words = without_names(graph, question, topics)
            lines = path_lines(graph, best_paths(graph, self._ranking, words, topics, count))
            lines += whole_lists(graph, self._ranking, question, topics, self.judge.steps(question).relations)
        sentences: dict[str, NearWalk] = {}
        walks = self.nearest_walks(question, topics)
        for walk in walks:
            sentences.setdefault(self._say(walk), walk)
        texts = [line.text for line in lines] + [data_line(each, LONGEST_SENTENCE) for each in sentences]
        triples = (dict.fromkeys(graph.find_triple(*t) for t in triples_of(w)) for w in sentences.values())
        facts = [line.fact for line in lines] + [Fact(tuple(each)) for each in triples]
        rows = [
            {
                "node": graph.entities[walk.root],
                "walk": self._say(walk),
                "score": round(walk.score, 3),
                "triples": [
                    [graph.entities[h], graph.relations[r], graph.entities[t]] for h, r, t in triples_of(walk)
                ],
            }
            for walk in walks
        ]
        detail: dict[str, object] = {"corpus": self.walks.settings.kind, "k": self.settings.k, "walks": rows}
        detail |= {"paths": [line.text for line in lines]} if lines else {}
        numbered = tuple(f"[{number}] {text}" for number, text in enumerate(texts, 1))
        return Retrieved(numbered, tuple(facts), Step("retrieve", detail))

    def nearest_walks(self, question: str, topics: Sequence[int]) -> list[NearWalk]:
        """Eq. 3: k nodes, the topics first, and some of each one's own walks; best walks first."""
        vector = self.embedder.embed([question])[0]
        count = self.settings.walks or self.settings.k
        nodes = self.walks.nearest_nodes(vector, self.settings.k, first=topics)
        walks = [walk for node in nodes for walk in self.walks.nearest_walks(node, vector, count)]
        return sorted(walks, key=lambda walk: -walk.score)

    def _say(self, walk: NearWalk) -> str:
        """Say a walk as a model has said it when it was indexed, else by the templates."""
        return walk.sentence or self.walks.maker.templates.clauses(walk.root, walk.steps, walk.nodes)

    def is_complete(self, reply: GroundedReply, retrieved: Retrieved) -> bool:
        """Whether the answers are all ends of a path, or come of lines that are whole; walks are samples."""
        lines = [fact for fact in retrieved.facts if fact.ends]
        if reply.value:
            return reply.value in ASKED_YES_NO or (bool(lines) and not any(fact.cut for fact in lines))
        return bool(reply.proofs) and any(
            fact.ends.keys() == reply.proofs.keys() for fact in lines if not fact.cut or fact.total
        )
