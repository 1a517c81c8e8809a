"""`walk-retrieve`: Walk&Retrieve (Böckling, Paulheim, Iana: workshop at SIGIR 2025).

Steps of the paper and where they are:
  2.1 graph traversal   `graph.walks`, `graph.kernels.choices` (eq. 1), `graph.kernels.walks` (eq. 2)
  2.1 verbalisation     `text.verbalise` (templates)
  2.1 indexing          `index.corpus`, `index.walk_vectors`
  2.2 retrieval         `index.nearest` (eq. 3)
  2.2 generation        `read_walks` (built in), `generate` (Fig. 2b, one call)

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
    the first of the k nodes, and walks are compared with the pattern said as a walk.
  - with a model too, entities that the question names are the first of the k nodes; and beside walks the
  model
    reads the relation paths of these that are most like the question, each with all that it ends at
    (`topic_paths`): three walks cannot hold a list. Where it names none, types and the relations most like it
    are read whole, if they are small (`whole_lists`). `paths=0` is the paper's letter: eq. 3 alone.
  - answers are read from a stated form alone (`llm/reply.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew.arrays import Float32
from clew.grounding import ground
from clew.index.corpus.nearest import NearWalk, WalkIndex
from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.grounded_reply import ASKED_YES_NO, GroundedReply
from clew.llm.prompting import Talk
from clew.llm.types import ChatModel
from clew.methods.built_in import built_in_reader
from clew.methods.relation_ranking import RelationRanking
from clew.methods.run import Run
from clew.methods.topic_entities import FindTopicEntities, shared_names, without_names
from clew.methods.walk_retrieve.generate import Context, generate
from clew.methods.walk_retrieve.read_walks import WalkEvidence, match_in_walks, path_to_answer, triples_of
from clew.methods.walk_retrieve.settings import WalkRetrieveSettings
from clew.methods.walk_retrieve.topic_paths import PathLine, best_paths, path_lines
from clew.methods.walk_retrieve.whole_lists import WholeList, whole_lists
from clew.text.embedder import Embedder, unit_rows
from clew.types import Abstention, Answer, AnswerEntity, Citation, Match, Pattern, Step


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
        self.names, self.settings = index.names, settings or WalkRetrieveSettings()
        self.walks = WalkIndex(index, embedder)
        self._writer = built_in_reader(index, embedder) if model is None else None
        self._find_topics = FindTopicEntities.of(index, embedder)
        self._ranking = RelationRanking(index.graph, embedder)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer from retrieved walks, or abstain; `entities` are names that the question is about, if known.

        Raises LlmError if a model fails, but a reached budget is an abstention.
        """
        if self._writer is None and self.model is not None:
            return self._generate(self.model, question, id, entities)
        if self._writer is None:
            raise ValueError("there is neither a model nor a built-in form")
        run = Run(self.name, id, None)
        with run.stage("write pattern"):
            written = self._writer.answer(question, id=id, entities=entities)
        run.steps += written.steps
        answer = replace(written, answers=(), citations=(), text="", complete=False, total=None)
        unclear = written.abstained is not None and written.abstained.reason == "ambiguous_entity"
        if not unclear and written.pattern is not None and _is_matchable(written.pattern):
            answer = self._answer(answer, written, written.pattern, run)
        elif written.abstained is None:
            detail = "walks do not tell this of a whole graph; ask with --method auto"
            answer = replace(answer, abstained=Abstention("not_in_evidence", detail))
        return run.finish(answer)

    def _answer(self, answer: Answer, written: Answer, pattern: Pattern, run: Run) -> Answer:
        with run.stage("retrieve"):
            walks = self.retrieve(self._query(answer.question, pattern))
        run.steps.append(self.retrieve_step(walks))
        with run.stage("read"):
            matches = match_in_walks(pattern, WalkEvidence.of(self.graph, walks))
            return replace(answer, **self._read(written, pattern, matches))

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
        """Eq. 3: k nodes, and some of each one's own walks, best walks first."""
        found: list[NearWalk] = []
        count = self.settings.walks or self.settings.k
        for node in self.walks.nearest_nodes(query.nodes, self.settings.k, first=query.first):
            found += self.walks.nearest_walks(node, query.of_root.get(node, query.walks), count)
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
                "complete": True,
            }
        node = pattern.answer
        if written.answers and written.answers[0].entity.isdigit() and len(written.answers) == 1:
            entities = {self.graph.entities[m.nodes[node]] for m in matches}
            if written.answers[0].entity not in entities:
                detail = "walks do not hold all that is to be counted; ask with --method auto"
                return {"abstained": Abstention("not_in_evidence", detail)}
        draft = [m.nodes[node] for m in matches]
        answers, citations, left = ground(self.graph, draft, matches, node)
        return _result(answers, citations, left) | {"complete": _are_all(answers, written)}

    def _generate(self, model: ChatModel, question: str, id: str | None, entities: Sequence[str]) -> Answer:
        """Section 2.2 with a model: what the question names, eq. 3, then one call."""
        talk = Talk.begin(model, id)
        run = Run(self.name, id, talk)
        answer = Answer(question, complete=False)
        with run.stage("retrieve"):
            called, unknown = self._topics(question, entities)
            if unknown is not None:
                return run.finish(replace(answer, abstained=unknown))
            topics = [entity for found in called.values() for entity in found]
            paths = self._paths(question, topics)
            lists = self._lists(question, topics)
            vector = self.embedder.embed([question])[0]
            walks = self.retrieve(_Query(vector, vector, {}, tuple(topics)))
        run.steps.append(self.retrieve_step(walks, (*paths, *lists)))
        context = Context(
            self.graph, paths, lists, walks, [self._say(walk) for walk in walks], called,
            lambda name: bool(self.names.exact(name)),
        )  # fmt: skip
        try:
            with run.stage("read"):
                reply = generate(talk, question, context)
        except BudgetReached as error:
            return run.finish(replace(answer, abstained=Abstention("budget", str(error))))
        return run.finish(
            replace(
                answer,
                answers=reply.answers(self.graph),
                citations=reply.citations(self.graph) if reply.answered else (),
                text=reply.text if reply.answered else "",
                abstained=reply.abstained,
                complete=_is_complete(reply, paths, lists),
                notes=(*reply.notes, *shared_names(called)),
            )
        )

    def _topics(
        self, question: str, entities: Sequence[str]
    ) -> tuple[Mapping[str, tuple[int, ...]], Abstention | None]:
        """The question's entities by what it calls them; why not where the user gives one that is unknown.

        By the paper's letter those alone that the user gives.
        """
        if not entities and not self.settings.paths:
            return {}, None
        called = self._find_topics.called(question, entities)
        found = tuple(entity for each in called.values() for entity in each)
        return called, self._find_topics.missing(question, entities, found) if entities else None

    def _paths(self, question: str, topics: Sequence[int]) -> list[PathLine]:
        """The best relation paths of the topics, said."""
        if not self.settings.paths or not topics:
            return []
        said = without_names(self.graph, question, topics)
        return path_lines(
            self.graph, best_paths(self.graph, self._ranking, said, topics, self.settings.paths)
        )

    def _lists(self, question: str, topics: Sequence[int]) -> list[WholeList]:
        """Whole types and relations, where there is no topic to begin at; none by the paper's letter."""
        if not self.settings.paths:
            return []
        return whole_lists(self.graph, self._ranking, question, topics)

    def _say(self, walk: NearWalk) -> str:
        """Say a walk as a model has said it when it was indexed, else by the templates."""
        return walk.said or self.walks.maker.templates.clauses(walk.root, walk.steps, walk.nodes)

    def retrieve_step(self, walks: Sequence[NearWalk], lines: Sequence[PathLine | WholeList] = ()) -> Step:
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
        detail: dict[str, object] = {"corpus": self.walks.settings.kind, "k": self.settings.k, "walks": rows}
        return Step("retrieve", detail | ({"paths": [line.text for line in lines]} if lines else {}))


def _is_complete(reply: GroundedReply, paths: Sequence[PathLine], lists: Sequence[WholeList]) -> bool:
    """Whether the answers are all ends of a path, or a value of lines that are whole; walks are samples."""
    if reply.cut:
        return False
    if reply.value:
        return reply.value in ASKED_YES_NO or (bool(paths or lists) and all(line.whole for line in paths))
    whole = [line.path.ends.tolist() for line in paths if line.path.complete]
    return bool(reply.proofs) and any(set(reply.proofs) == set(ends) for ends in whole)


def _are_all(answers: Sequence[AnswerEntity], written: Answer) -> bool:
    """Whether walks hold all that the whole graph answers to the question's pattern."""
    return written.complete and {a.entity for a in answers} >= {a.entity for a in written.answers} != set()


def _is_matchable(pattern: Pattern) -> bool:
    """Whether the pattern names an entity, and its relations are those of the graph."""
    named = any(node.entity is not None for node in pattern.nodes)
    return named and all(edge.fixed is not None for edge in pattern.edges)


def _result(
    answers: tuple[AnswerEntity, ...], citations: tuple[Citation, ...], left: Abstention | None
) -> dict[str, object]:
    text = " · ".join(answer.label for answer in answers)
    return {"answers": answers, "citations": citations, "text": text, "abstained": left}
