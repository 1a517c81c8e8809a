"""A method of your own beside Clew's: what is newest around a name, proved by its triple."""

from collections.abc import Sequence
from pathlib import Path

from clew import Abstention, Answer, AnswerEntity, Clew
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.text.embedders import Embedder


class Newest:
    """Of all that points at an entity, what has the largest release year."""

    name = "newest"

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.graph, self.names = index.graph, index.names

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer a question about the entities, or abstain."""
        around, out = self.graph.into, self.graph.out
        year = list(self.graph.relations).index("release_year")
        asked = [hit.entity for name in entities for hit in self.names.exact(name)]
        dated = [
            (int(self.graph.entities[out.neighbour[slot]]), film, slot)
            for entity in asked
            for film in around.neighbour[slice(*around.span(entity))]
            for slot in range(*out.span(film))
            if out.relation[slot] == year
        ]
        if not dated:
            missing = Abstention("empty_result", "nothing that points at it has a year")
            return Answer(question, id=id, method=self.name, abstained=missing)
        _, film, slot = max(dated)
        title = self.graph.entities[film]
        return Answer(
            question,
            id=id,
            method=self.name,
            text=title,
            answers=(AnswerEntity(title, title, 1.0),),
            citations=(cite(self.graph, title, [slot]),),
        )


with Clew.open(Path(__file__).with_name("films.tsv")) as films:
    for name in ("Christopher Nolan", "Memento"):
        answer = films.ask("What is the newest film?", entities=[name], method=Newest)
        print(f"{name}: {answer.text or answer.abstained.detail}")
        for triple in (triple for citation in answer.citations for triple in citation.triples):
            print(f"  {triple.head} {triple.relation} {triple.tail}")
