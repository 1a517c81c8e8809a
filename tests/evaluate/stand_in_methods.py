"""The command line with quick methods in place of the real ones; run by itself in processes of its own.

`knows` looks the entity of a question up in the graph and answers with its neighbours; `slow` also waits;
`broken` fails on every question with an r in its second word.
"""

import os
import time
from dataclasses import dataclass

from clew.cli import main
from clew.index.corpus import open_corpus
from clew.methods import registry
from clew.types import Abstention, Answer, AnswerEntity, Citation, TripleText


@dataclass(frozen=True)
class Cut:
    most: int = 100


class Knows:
    name = "knows"
    wait = 0.0

    def __init__(self, index, embedder, *, settings: "Cut | None" = None):
        self.index, self.most = index, (settings or Cut()).most

    def answer(self, question, *, id=None, entities=()):
        time.sleep(self.wait)
        graph = self.index.graph
        words = question.rstrip("?").split()
        spans = (" ".join(words[a:b]) for a in range(len(words)) for b in range(len(words), a, -1))
        node = next((hits[0].entity for span in spans if (hits := self.index.names.exact(span))), None)
        told = {
            "question": question,
            "id": id,
            "method": self.name,
            "timings_ms": {"total": 1.0 + len(words)},
        }
        if node is None or "music" in words:
            return Answer(abstained=Abstention("no_entity", "not there"), **told)
        triples = [graph.triple(t) for t in range(len(graph.out.neighbour))]
        found = [(h, r, t) for h, r, t in triples if node in (h, t) and graph.relations[r] == "directed_by"]
        names = [graph.entities[t if h == node else h] for h, _, t in found][: self.most]
        cited = [TripleText(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in found]
        return Answer(
            answers=tuple(AnswerEntity(n, n, 1.0) for n in names),
            text=" · ".join(names),
            citations=tuple(Citation(n, (c,)) for n, c in zip(names, cited, strict=False)),
            **told,
        )


class Slow(Knows):
    name = "slow"
    wait = float(os.environ.get("SLOW", "0.03"))


class Broken(Knows):
    name = "broken"

    def answer(self, question, *, id=None, entities=()):
        if "r" in question.split()[1]:
            raise TypeError("a bug")
        return super().answer(question, id=id, entities=entities)


class OfCorpus:
    """Answers with the walks that its index stores."""

    name = "walks"

    def __init__(self, index, embedder):
        self.corpus = open_corpus(index)

    def answer(self, question, *, id=None, entities=()):
        kept = self.corpus.settings
        return Answer(question, text=f"{kept.kind} {kept.depth}", method=self.name, id=id)


NAMES = {"knows": "Knows", "slow": "Slow", "broken": "Broken", "walks": "OfCorpus"}


def install():
    for name, attribute in NAMES.items():
        registry.METHODS[name] = registry.MethodSpec(f"stand_in_methods:{attribute}")


if __name__ in ("__main__", "__mp_main__"):  # the second is the first in a worker process
    install()
if __name__ == "__main__":
    main()
