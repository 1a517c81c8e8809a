"""What every data set becomes: questions or claims with gold, and the graph that they are asked of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

GoldVerdict = Literal["supported", "refuted"]
Task = Literal["questions", "claims"]


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """A correct answer: its name, and other names that count as the same."""

    name: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names that count."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class GoldPath:
    """How the gold was reached: relations, in order, from an entity of the question to the answer.

    The direction of a relation is not told; several paths of one question meet in the answer.
    """

    start: str
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with its gold, or a claim with its `verdict`.

    Without gold answers it cannot be answered, and abstaining is right. Where a data set does not
    give its answers at all, `gold_known` is False and nothing is scored. `kind` groups questions in reports;
    `query` is the gold query; `line` is where the question stands in its file.
    """

    id: str
    text: str
    gold: tuple[GoldAnswer, ...] = ()
    entities: tuple[str, ...] = ()
    kind: str = ""
    paths: tuple[GoldPath, ...] = ()
    verdict: GoldVerdict | None = None
    query: str | None = None
    gold_known: bool = True
    line: int = 0

    @property
    def is_scored(self) -> bool:
        """Whether its answer is scored: it is no claim, and its gold is known."""
        return self.gold_known and self.verdict is None

    def as_json(self) -> dict[str, Any]:
        """All that a record keeps of the question."""
        return {
            "id": self.id,
            "question": self.text,
            "gold": [list(answer.names) for answer in self.gold],
            "entities": list(self.entities),
            "kind": self.kind,
            "paths": [[path.start, *path.relations] for path in self.paths],
            "verdict": self.verdict,
            "query": self.query,
            "gold_known": self.gold_known,
        }


def question_from_json(value: dict[str, Any]) -> EvalQuestion:
    """Read what `EvalQuestion.as_json` wrote."""
    paths, gold = cast("list[list[str]]", value["paths"]), cast("list[list[str]]", value["gold"])
    return EvalQuestion(
        id=value["id"],
        text=value["question"],
        gold=tuple(GoldAnswer(names[0], tuple(names[1:])) for names in gold),
        entities=tuple(value["entities"]),
        kind=value["kind"],
        paths=tuple(GoldPath(path[0], tuple(path[1:])) for path in paths),
        verdict=value["verdict"],
        query=value["query"],
        gold_known=value["gold_known"],
    )


@dataclass(frozen=True)
class GraphSource:
    """Where the graph of a data set is: files, or `make`, which writes one to the path that it is given."""

    files: tuple[Path, ...] = ()
    format: str | None = None
    make: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class DatasetPart:
    """A part of a data set, as it is asked: `name` is `metaqa/2-hop/dev`.

    `files` are all files that were read for the questions; without a `graph` the user names one. `notes`
    say what a reader of the results must know.
    """

    name: str
    questions: tuple[EvalQuestion, ...]
    files: tuple[Path, ...]
    graph: GraphSource | None = None
    task: Task = "questions"
    notes: tuple[str, ...] = ()
