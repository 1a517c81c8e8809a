"""Golden answers: the whole JSON of every method on four graphs, with a script for a model.

`python tests/methods/golden.py` writes `tests/data/golden/` again, after a change that is meant.
`auto` is left out: it chooses among the others' parts and changes with the reader.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replies import method_with

from clew.engine import Clew
from clew.errors import ClewError
from clew.llm.testing import ScriptedModel
from clew.methods.registry import METHODS, make_verifier

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "data" / "golden"
GRAPHS = {
    "films": TESTS.parent / "examples" / "films.tsv",
    "countries": TESTS / "data" / "dev" / "countries.tsv",
    "league": TESTS / "data" / "domains" / "dev" / "league.tsv",
    "geo": TESTS / "data" / "domains" / "dev" / "geo.ttl",
}


@dataclass(frozen=True)
class Asked:
    """A question with what a model would say: sub-questions, a pattern, a query, the answers."""

    graph: str
    question: str
    steps: tuple[str, ...]
    pattern: tuple[tuple[str, str, str], ...]
    query: str
    answers: tuple[str, ...]
    between: tuple[str, ...] = ()
    """The answers of the first step, where several are taken."""

    def script(self, method: str) -> tuple[str, ...]:
        """What the model replies, in turn, and then again."""
        answer = json.dumps({"reason": "as shown", "answers": self.answers})
        first = (json.dumps({"reason": "as shown", "answers": self.between}),) if self.between else ()
        numbered = "\n".join(f"{n}. {step}" for n, step in enumerate(self.steps, 1))
        plan = f"Reasoning: one after the other.\nSub-questions:\n{numbered}\n<END>"
        triples = {"divided": list(self.steps), "triples": [list(t) for t in self.pattern]}
        by_method = {
            "simgrag": (json.dumps(triples), answer),
            "kg-rag": (plan, *first, answer),
            "llm-qd": (plan, ", ".join(self.answers)),
            "kg-gpt": (numbered, "\n".join(r for _, r, _ in self.pattern), answer),
            "synaptiqa": (f"```cypher\n{self.query}\n```", answer),
            "kg-query": (self.query, answer),
        }
        return by_method.get(method, (answer,))


ASKED = (
    Asked("films", "Which actors play in films directed by Christopher Nolan?",
     ("Which films did Christopher Nolan direct?", "Which actors play in these films?"),
     (("UNKNOWN film 1", "directed by", "Christopher Nolan"),
     ("UNKNOWN film 1", "stars", "UNKNOWN actor 1")),
     "MATCH (a)<-[:stars]-(f)-[:directed_by]->(d {name: 'christopher nolan'}) RETURN DISTINCT a.name",
     ("Guy Pearce", "Michael Caine"), ("Memento", "The Prestige")),
    Asked("films", "Who composed the music of Memento?", ("Who composed the music of Memento?",),
     (("Memento", "music by", "UNKNOWN composer 1"),),
     "MATCH (f {name: 'Memento'})-[:composed_by]->(c) RETURN c.name", ("Hans Zimmer",)),
    Asked("countries", "What are the capitals of the countries bordering Germany?",
     ("Which countries border Germany?", "What are the capitals of these countries?"),
     (("Germany", "borders", "UNKNOWN country 1"), ("UNKNOWN country 1", "capital", "UNKNOWN city 1")),
     "MATCH (g {name: 'Germany'})-[:borders]-(c)-[:capital]->(a) RETURN a.name", ("Paris", "Vienna")),
    Asked(
        "league", "Which strikers used to play for Northgate United?",
        ("Which strikers used to play for Northgate United?",),
        (
            ("UNKNOWN player 1", "position", "Striker"),
            ("UNKNOWN player 1", "former club", "Northgate United"),
        ),
        "MATCH (p)-[:formerClub]->(c {name: 'Northgate United'}), (p)-[:position]->({name: 'Striker'}) "
        "RETURN p",
        ("Mateo Cruz", "Yusuf Demir"),
    ),
    Asked("geo", "How many countries border Germany?", ("Which countries border Germany?",),
     (("UNKNOWN country 1", "borders", "Germany"),),
     "MATCH (c)-[:borders]->(g {name: 'Germany'}) RETURN count(c)", ("6",)),
)  # fmt: skip
CLAIMS = (
    ("films", "Memento was directed by Christopher Nolan.", ("Memento", "directed by", "Christopher Nolan")),
    ("geo", "Bern is the capital of Poland.", ("Poland", "capital", "Bern")),
)


def masked(record: dict[str, Any]) -> dict[str, Any]:
    """The record without times."""
    return {key: value for key, value in record.items() if key != "timings_ms"}


def _cycled(script: tuple[str, ...]) -> ScriptedModel:
    at = iter(range(1_000))
    return ScriptedModel(lambda _: script[min(next(at), len(script) - 1)])


def _answered(clew: Clew, method: str, asked: Asked, model: ScriptedModel) -> dict[str, Any]:
    try:
        answer = method_with(clew, method, model).answer(asked.question, id="q")
    except ClewError as error:
        return {"error": str(error)}
    prompts = [message.text for r in model.requests for message in r.messages]
    return {**masked(answer.as_json(steps=True)), "prompts": prompts}


def records(graph: str, clew: Clew, methods: tuple[str, ...] = tuple(METHODS)) -> Iterator[tuple[str, Any]]:
    """What every method answers, by `METHOD, model, QUESTION`."""
    for asked in (asked for asked in ASKED if asked.graph == graph):
        for method in (name for name in methods if name != "auto"):
            model = _cycled(asked.script(method))
            yield f"{method}, model, {asked.question}", _answered(clew, method, asked, model)
    for _, claim, triple in (claim for claim in CLAIMS if claim[0] == graph):
        pattern = json.dumps({"divided": [claim], "triples": [list(triple)]})
        model = _cycled((pattern, json.dumps({"reason": "as shown", "verdict": "supported"})))
        verified = make_verifier("simgrag", clew.opened, clew.embedder, model, None).verify(claim)
        yield f"verify, model, {claim}", masked(verified.as_json(steps=True))


def read(graph: str) -> dict[str, Any]:
    """The golden records of a graph."""
    with gzip.open(GOLDEN / f"{graph}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return dict(map(json.loads, lines))


def _write(graph: str, cache: Path) -> None:
    with Clew.open(GRAPHS[graph], cache_dir=cache) as clew:
        lines = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in records(graph, clew)]
    # Without a time in the file, the same records are the same bytes.
    (GOLDEN / f"{graph}.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for name in GRAPHS:
            _write(name, Path(folder))
