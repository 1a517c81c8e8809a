"""`walk-retrieve`: Walk&Retrieve (Böckling, Paulheim, Iana: workshop at SIGIR 2025).

Steps of the paper and where they are:
  2.1 graph traversal   `graph.walks`, `graph.kernels.choices` (eq. 1), `graph.kernels.walks` (eq. 2)
  2.1 verbalisation     `text.verbalise` (templates)
  2.1 indexing          `index.corpus`, `index.walk_vectors`
  2.2 retrieval         `index.nearest` (eq. 3)
  2.2 generation        `read_walks` (built in), `context_of` (Fig. 2b, one call)

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
    model reads the relation paths of these that are most like the question, each with all that it ends at
    (`lines`): three walks cannot hold a list. Where it names none, types and the relations most like it are
    read whole, if they are small. `paths=0` is the paper's letter: eq. 3 alone.
  - answers are read from a stated form alone, and a reply in no such form is asked for again, once
    (`llm/reply.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew.foundation.arrays import Float32
from clew.grounding import ground
from clew.index.corpus.nearest import NearWalk, WalkIndex
from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.grounded_reply import ASKED_YES_NO, GroundedReply, ask_and_ground
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named
from clew.llm.read_evidence import Fact, ReadEvidence
from clew.llm.types import ChatModel
from clew.methods.built_in import built_in_reader
from clew.methods.fact_lines import other_names
from clew.methods.relation_ranking import RelationRanking
from clew.methods.run import Run
from clew.methods.topic_entities import Called, FindTopicEntities, entities_of, shared_names, without_names
from clew.methods.walk_retrieve.lines import ContextLine, best_paths, path_lines, whole_lists
from clew.methods.walk_retrieve.read_walks import (
    LONGEST_SENTENCE,
    leads_of,
    match_in_walks,
    path_to_answer,
    triples_of,
)
from clew.methods.walk_retrieve.settings import WalkRetrieveSettings
from clew.reading.answer import DraftAnswer, drawn, text_of
from clew.text.embedder import Embedder, unit_rows
from clew.types import Abstention, Answer, AnswerEntity, Pattern, Step

GREEDY = Sampling(temperature=0.0)


@dataclass(frozen=True, slots=True)
class _Query:
    """What walks are compared with: a vector for nodes, one for walks, and one for those of some roots."""

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
        self.settings, self.walks = settings or WalkRetrieveSettings(), WalkIndex(index, embedder)
        self._reader = built_in_reader(index, embedder)
        self._find_topics = FindTopicEntities.of(index, embedder)
        self._ranking = RelationRanking(index.graph, embedder)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer from retrieved walks, or abstain; `entities` are names that it is about. Raises LlmError."""
        if self.model is not None:
            return self._generate(self.model, question, id, entities)
        run = Run(self.name, id, None)
        with run.stage("write pattern"):
            reader_answer = self._reader.answer(question, id=id, entities=entities)
        run.steps += reader_answer.steps
        answer = replace(reader_answer, answers=(), citations=(), text="", complete=False, total=None)
        is_ambiguous = (
            reader_answer.abstained is not None and reader_answer.abstained.reason == "ambiguous_entity"
        )
        pattern = reader_answer.pattern
        if not is_ambiguous and pattern is not None and _is_matchable(pattern):
            with run.stage("retrieve"):
                walks = self.retrieve(self._query(question, pattern))
            run.steps.append(self.retrieve_step(walks))
            with run.stage("read"):
                answer = replace(answer, **self._read(reader_answer, pattern, walks))
        elif reader_answer.abstained is None:
            detail = "walks do not tell this of a whole graph; ask with --method auto"
            answer = replace(answer, abstained=Abstention("not_in_evidence", detail))
        return run.finish(answer)

    def _query(self, question: str, pattern: Pattern) -> _Query:
        """Say the pattern as a walk from each entity that it names."""
        anchors = [(at, node.entity) for at, node in enumerate(pattern.nodes) if node.entity is not None]
        texts = [self.walks.maker.templates.outline(e, path_to_answer(pattern, at)) for at, e in anchors]
        vectors = self.embedder.embed([question, *texts])
        by_root = {entity: vectors[1 + i] for i, (_, entity) in enumerate(anchors)}
        both = unit_rows(vectors[:2].sum(axis=0, keepdims=True))[0]
        return _Query(both, vectors[1], by_root, tuple(by_root))

    def retrieve(self, query: _Query) -> list[NearWalk]:
        """Eq. 3: k nodes, and some of each one's own walks, best walks first."""
        walks: list[NearWalk] = []
        count = self.settings.walks or self.settings.k
        for node in self.walks.nearest_nodes(query.nodes, self.settings.k, first=query.first):
            walks += self.walks.nearest_walks(node, query.of_root.get(node, query.walks), count)
        return sorted(walks, key=lambda walk: -walk.score)

    def _read(self, reader_answer: Answer, pattern: Pattern, walks: Sequence[NearWalk]) -> dict[str, object]:
        """The fields of the answer that walks prove: yes by one match, no and numbers by more than walks."""
        matches = match_in_walks(pattern, leads_of(self.graph, walks))
        if not matches:
            detail = "the walks that were retrieved hold nothing that fits the question"
            return {"abstained": reader_answer.abstained or Abstention("not_in_evidence", detail)}
        node = pattern.answer
        if node is None:
            proof = ground(self.graph, [matches[0].nodes[0]], matches, 0)[1][0]
            return {
                "answers": (AnswerEntity("yes", "yes", 1.0),),
                "text": "yes",
                "abstained": None,
                "citations": (replace(proof, answer="yes"),),
                "complete": True,
            }
        graph_answers = {answer.entity for answer in reader_answer.answers}
        walk_answers = {self.graph.entities[match.nodes[node]] for match in matches}
        counts = len(reader_answer.answers) == 1 and reader_answer.answers[0].entity.isdigit()
        if counts and not graph_answers <= walk_answers:
            detail = "walks do not hold all that is to be counted; ask with --method auto"
            return {"abstained": Abstention("not_in_evidence", detail)}
        answers, citations, abstention = ground(self.graph, [m.nodes[node] for m in matches], matches, node)
        return {
            "answers": answers,
            "citations": citations,
            "text": text_of(answers),
            "abstained": abstention,
            # All that the whole graph answers to the pattern.
            "complete": reader_answer.complete and {a.entity for a in answers} >= graph_answers != set(),
        }

    def _generate(self, model: ChatModel, question: str, id: str | None, entities: Sequence[str]) -> Answer:
        """Section 2.2 with a model: what the question names, eq. 3, then one call."""
        talk = Talk.begin(model, id)
        run = Run(self.name, id, talk)
        answer, find = Answer(question, complete=False), self._find_topics
        with run.stage("retrieve"):
            # By the paper's letter the entities are those alone that the user gives.
            called = find.called(question, entities) if entities or self.settings.paths else {}
            topics = entities_of(called)
            abstention = find.missing(question, entities, topics) if entities else None
            if abstention is not None:
                return run.finish(replace(answer, abstained=abstention))
            lines = self._lines(question, topics)
            vector = self.embedder.embed([question])[0]
            walks = self.retrieve(_Query(vector, vector, {}, topics))
        run.steps.append(self.retrieve_step(walks, lines))
        sentences: dict[str, NearWalk] = {}
        for walk in walks:
            sentences.setdefault(self._say(walk), walk)
        try:
            with run.stage("read"):
                values, evidence = context_of(find, called, lines, sentences)
                prompt = prompt_named("clew.methods.walk_retrieve", "read")
                reply = ask_and_ground(
                    talk, prompt, GREEDY, evidence, values | {"QUESTION": as_data(question)}
                )
        except BudgetReached as error:
            return run.finish(replace(answer, abstained=Abstention("budget", str(error))))
        draft = DraftAnswer(
            reply.answers(self.graph), reply.citations(self.graph), reply.text, None, reply.abstained,
            _is_complete(reply, lines), (*reply.notes, *shared_names(called)),
        )  # fmt: skip
        if not reply.answered:
            draft = replace(draft, citations=(), text="")
        return run.finish(drawn(answer, draft, None))

    def _lines(self, question: str, topics: Sequence[int]) -> list[ContextLine]:
        """The best relation paths of the topics, or whole types and relations; none by the paper's letter."""
        graph, ranking, count = self.graph, self._ranking, self.settings.paths
        if not count:
            return []
        words = without_names(graph, question, topics)
        paths = path_lines(graph, best_paths(graph, ranking, words, topics, count))
        return [*paths, *whole_lists(graph, ranking, question, topics)]

    def _say(self, walk: NearWalk) -> str:
        """Say a walk as a model has said it when it was indexed, else by the templates."""
        return walk.sentence or self.walks.maker.templates.clauses(walk.root, walk.steps, walk.nodes)

    def retrieve_step(self, walks: Sequence[NearWalk], lines: Sequence[ContextLine] = ()) -> Step:
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


def _is_complete(reply: GroundedReply, lines: Sequence[ContextLine]) -> bool:
    """Whether the answers are all ends of a path, or a value of lines that are whole; walks are samples."""
    if reply.cut:
        return False
    if reply.value:
        return reply.value in ASKED_YES_NO or (bool(lines) and all(line.whole for line in lines))
    ends = (set(line.path.ends.tolist()) for line in lines if line.path is not None and line.path.complete)
    return bool(reply.proofs) and any(set(reply.proofs) == each for each in ends)


def _is_matchable(pattern: Pattern) -> bool:
    """Whether the pattern names an entity, and its relations are those of the graph."""
    names_entity = any(node.entity is not None for node in pattern.nodes)
    return names_entity and all(edge.fixed is not None for edge in pattern.edges)


def context_of(
    find: FindTopicEntities,
    called: Called,
    lines: Sequence[ContextLine],
    sentences: Mapping[str, NearWalk],
) -> tuple[dict[str, str], ReadEvidence]:
    """The values of the prompt and the evidence in them: `lines`, then `sentences` of walks."""
    graph, topics = find.graph, entities_of(called)
    texts = [line.text for line in lines] + [data_line(each, LONGEST_SENTENCE) for each in sentences]
    numbered_lines = "\n".join(f"[{number}] {line}" for number, line in enumerate(texts, 1)) or "(none)"
    walk_triples = (dict.fromkeys(graph.find_triple(*t) for t in triples_of(w)) for w in sentences.values())
    facts = [line.fact for line in lines] + [Fact(tuple(triples)) for triples in walk_triples]
    evidence = ReadEvidence(graph, tuple(facts), dict.fromkeys(topics, ()), frozenset(topics), find.is_name)
    return {"CONTEXT": numbered_lines, "NAMES": other_names(graph, called)}, evidence
