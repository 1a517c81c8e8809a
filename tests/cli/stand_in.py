"""The command line with a method of a few lines in place of the real one, so that tests are quick and exact.

It reads "VERB NAME": `around` answers with all neighbours of an entity, `broken` fails as a bug would,
`wrong` as a question that cannot be asked; `slow` leaves a file `at-work` and waits a second; anything else
is abstained from.
"""

import time
from dataclasses import replace
from pathlib import Path

from clew.cli import main
from clew.errors import UsageError
from clew.methods import registry
from clew.types import Abstention, Answer, AnswerEntity, Citation, Step


class StandIn:
    name = "auto"

    def __init__(self, index, embedder):
        self.index = index

    def answer(self, question, *, id=None, entities=()):
        verb, _, name = question.partition(" ")
        if verb == "broken":
            raise TypeError("a bug")
        if verb == "wrong":
            raise UsageError("the question is wrong")
        if verb == "slow":
            Path("at-work").touch()
            time.sleep(1)
        common = {"question": question, "id": id, "timings_ms": {"total": 4.2}}
        hits = self.index.names.exact(entities[0] if entities else name)
        if not hits or verb not in ("around", "slow"):
            return Answer(abstained=Abstention("no_entity", f"it has no {name}.", ("Memento",)), **common)
        graph, node = self.index.graph, hits[0].entity
        ids = range(*graph.out.span(node))
        found = [graph.triple(i) for i in ids]
        names = [graph.entities[tail] for _, _, tail in found]
        links = [{"entity": graph.entities[node], "how": "exact", "score": 1.0}]
        return Answer(
            answers=tuple(
                AnswerEntity(n, graph.labels[t], 1.0) for n, (_, _, t) in zip(names, found, strict=True)
            ),
            text=" · ".join(names),
            citations=tuple(
                Citation(n, (self._text(t),), (i,)) for n, t, i in zip(names, found, ids, strict=True)
            ),
            steps=(
                Step("link", {"mentions": [{"text": name, "candidates": links}]}),
                Step("match", {"matches": len(names), "complete": True}),
            ),
            **common,
        )

    def _text(self, triple):
        from clew.types import TripleText

        graph, (head, relation, tail) = self.index.graph, triple
        return TripleText(graph.entities[head], graph.relations[relation], graph.entities[tail])


def install():
    registry.METHODS["auto"] = replace(registry.METHODS["auto"], factory=f"{__name__}:StandIn")


if __name__ == "__main__":
    install()
    main()
