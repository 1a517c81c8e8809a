"""SimGRAG's answers, as a model read them in subgraphs (section 4.4), grounded in these and in their ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.graph.graph import Graph
from clew.graph.match.conditions import TIE
from clew.graph.match.distances import Distances
from clew.grounding import cite, ground
from clew.llm.evidence_names import EvidenceNames
from clew.methods.simgrag.find_subgraphs import find_tied
from clew.methods.simgrag.read import ReadAnswers
from clew.methods.simgrag.write_pattern import answer_nodes
from clew.reading.answer import DraftAnswer, text_of
from clew.reading.english import HOW_MANY, YES_NO
from clew.text.normalise import normalise
from clew.types import Abstention, AnswerEntity, Citation, Match, MatchResult, Pattern


@dataclass(frozen=True)
class Draft:
    """What a model read in the matches of a pattern that it saw.

    With `ties`, matches that it did not see are looked at too, where they tie with the best that it saw;
    without, nothing is counted.
    """

    graph: Graph
    distances: Distances
    question: str
    pattern: Pattern
    found: MatchResult
    read: ReadAnswers
    ties: bool = True

    def grounded(self) -> DraftAnswer:
        """The answers that the evidence proves."""
        if not self.read.answers:
            return self._abstain("the model finds no answer in the evidence")
        said = [normalise(a) for a in self.read.answers]
        node = self._node()
        # A number that stands in the evidence is an answer itself (*how much*); names are counted.
        numbers = all(answer.strip().isdigit() for answer in self.read.answers)
        unknown = answer_nodes(self.pattern)
        if HOW_MANY.search(self.question) and unknown and (node is None) == numbers:
            return self._counted(unknown[-1] if node is None else node)
        if node is not None:
            return self._entities(node)
        if len(said) == 1 and said[0] in ("yes", "no") and YES_NO.search(self.question):
            best = self.found.matches[0].triples
            cited = cite(self.graph, said[0], best)
            return self._answered((AnswerEntity(said[0], said[0], 1.0),), (cited,))
        return self._relations()

    def _node(self) -> int | None:
        """The node of the pattern that the model's answers are; None if they are none."""
        hits = ((len(self._named(node)), node) for node in answer_nodes(self.pattern))
        most, node = max(hits, default=(0, 0))
        return node if most else None

    def _named(self, node: int) -> list[int]:
        """Entities at a node that the model names, in its order."""
        entities = tuple(dict.fromkeys(m.nodes[node] for m in self.found.matches))
        names = EvidenceNames(self.graph, entities)
        linked = (each for said in self.read.answers for each in names.list_of(said))
        return list(dict.fromkeys(entity for each in linked for entity in each.entities))

    def _entities(self, node: int) -> DraftAnswer:
        named = self._named(node)
        matches: Sequence[Match] = self.found.matches
        complete = self.found.complete
        if self._takes_all_best(node, named):
            tied = find_tied(self.graph, self.pattern, self.distances, self.found.matches[0], node)
            matches, complete = (*matches, *tied.matches), tied.complete
            named = list(dict.fromkeys([*named, *(m.nodes[node] for m in tied.matches)]))
        answers, citations, left = ground(self.graph, named, matches, node)
        if left is not None:
            return self._abstain(left.detail)
        return self._answered(answers, citations, node=node, complete=complete)

    def _takes_all_best(self, node: int, named: Sequence[int]) -> bool:
        """Whether the model takes every match that it saw tie with the best."""
        if not self.ties:
            return False
        best = self.found.matches[0]
        shown = {
            m.nodes[node]
            for m in self.found.matches
            if m.gsd <= best.gsd + TIE and m.direction_misses == best.direction_misses
        }
        return shown <= set(named)

    def _counted(self, node: int) -> DraftAnswer:
        """*How many*: the number of entities that the node takes among the best matches."""
        if not self.ties:
            return self._abstain("the subgraphs that are read are too few to be counted")
        tied = find_tied(self.graph, self.pattern, self.distances, self.found.matches[0], node)
        number = str(len({m.nodes[node] for m in tied.matches}))
        citations = tuple(cite(self.graph, number, m.triples) for m in tied.matches)
        entity = (AnswerEntity(number, number, 1.0),)
        return self._answered(entity, citations, node=node, complete=tied.complete)

    def _relations(self) -> DraftAnswer:
        """Answers that are relations, where the pattern asks for one."""
        graph = self.graph
        said = {normalise(a) for a in self.read.answers}
        found: dict[int, tuple[int, ...]] = {}
        for match in self.found.matches:
            for edge, triple in zip(self.pattern.edges, match.triples, strict=True):
                relation = graph.triple(triple)[1]
                names = {graph.relations[relation], graph.relation_labels[relation]}
                if edge.relation is None and said & {normalise(n) for n in names}:
                    found.setdefault(relation, match.triples)
        if not found:
            return self._abstain("none of the model's answers is in the evidence")
        answers = tuple(AnswerEntity(graph.relations[r], graph.relation_labels[r], 1.0) for r in found)
        citations = tuple(cite(graph, graph.relations[r], triples) for r, triples in found.items())
        return self._answered(answers, citations)

    def _answered(
        self,
        answers: tuple[AnswerEntity, ...],
        citations: tuple[Citation, ...],
        *,
        node: int | None = None,
        complete: bool = True,
    ) -> DraftAnswer:
        pattern = replace(self.pattern, answer=node)
        return DraftAnswer(answers, citations, text_of(answers), pattern, None, complete)

    def _abstain(self, detail: str) -> DraftAnswer:
        return DraftAnswer(pattern=self.pattern, abstained=Abstention("not_in_evidence", detail))
