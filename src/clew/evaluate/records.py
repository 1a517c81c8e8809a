"""What every data set becomes, questions with gold; and one record a question, as a run keeps it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from clew.foundation.forms import fields_json
from clew.text.normalise import normalise

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
    """How the gold was reached: relations, in order, from an entity of the question to the answer."""

    start: str
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with its gold, or a claim with its `verdict`; without gold, abstaining is right.

    `kind` groups questions in reports; `query` is the gold query; `line` is that of its file.
    """

    id: str
    text: str
    gold: tuple[GoldAnswer, ...] = ()
    entities: tuple[str, ...] = ()
    kind: str = ""
    paths: tuple[GoldPath, ...] = ()
    verdict: GoldVerdict | None = None
    query: str | None = None
    line: int = 0

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
        }


@dataclass(frozen=True)
class DatasetPart:
    """A part of a data set, as it is asked: `name` is `metaqa/2-hop/dev`.

    `files` are all that were read for questions, `graph` the graph's (none: the user names one), in `format`.
    """

    name: str
    questions: tuple[EvalQuestion, ...]
    files: tuple[Path, ...]
    graph: tuple[Path, ...] = ()
    format: str | None = None
    task: Task = "questions"
    notes: tuple[str, ...] = ()


# How names are compared, for every method and data set alike.

_YES = frozenset(("yes", "true", "supported", "correct"))
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)%?")
_NO = frozenset(("no", "false", "refuted", "incorrect"))


@lru_cache(maxsize=200_000)
def name_form(name: str) -> str:
    """Give the form in which names are compared: no case, accents, punctuation, underscores."""
    return normalise(name)


def strict_form(name: str) -> str:
    """Give the form of KG-RAG's exact match: lower case, ends stripped."""
    return name.lower().strip()


def holds_name(text_form: str, name: str) -> bool:
    """Whether a text, in its form, holds a name as whole words."""
    form = name_form(name)
    return bool(form) and f" {form} " in f" {text_form} "


def is_computed(name: str) -> bool:
    """Whether a gold answer is a number or yes / no: computed from the graph, and no name in it."""
    text = name.strip().replace(",", "")
    return name_form(name) in _YES | _NO or bool(_NUMBER.fullmatch(text))


def truth_of(text: str) -> bool | None:
    """Read yes or no, true or false, from the first word of an answer; None if it is neither."""
    words = name_form(text).split()
    if not words:
        return None
    return True if words[0] in _YES else False if words[0] in _NO else None


@dataclass(frozen=True, slots=True)
class Key:
    """What makes a record one of its kind. `seed` is None where sampling alone depends on it."""

    part: str
    method: str
    seed: int | None
    id: str


@dataclass(frozen=True, slots=True)
class Failure:
    """An error in place of an answer; it is never counted as an abstention."""

    type: str
    message: str


@dataclass(frozen=True)
class Record:
    """A question with what a method made of it; `answer` is the stable JSON of an answer, with `steps`.

    `gold_in_graph` counts the gold answers that are in the graph or computed, `gold_ids` are theirs (a list
    each). Judgements (judge → verdict) and `bert_score` are kept beside the records and joined to them.
    """

    key: Key
    question: EvalQuestion
    gold_in_graph: int
    answer: Mapping[str, Any] | None
    failure: Failure | None = None
    cost: float | None = None
    judgements: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    bert_score: float | None = None
    relation_form: Mapping[str, str] = field(default_factory=dict[str, str])
    gold_ids: Sequence[Sequence[str]] = ()

    def as_json(self) -> dict[str, Any]:
        """Make the line of the file of records."""
        key = self.key
        return {
            **{"part": key.part, "method": key.method, "seed": key.seed},
            **self.question.as_json(),
            **fields_json(self, "gold_in_graph gold_ids answer failure cost"),
        }

    @cached_property
    def abstained(self) -> str | None:
        """The reason of an abstention; None for an answer and for a failure."""
        abstention = None if self.answer is None else self.answer["abstained"]
        return None if abstention is None else str(abstention["reason"])

    @property
    def without_answer(self) -> bool:
        """Whether it is an abstention or a failure."""
        return self.failure is not None or self.abstained is not None

    @cached_property
    def text(self) -> str:
        """The answer as text."""
        return "" if self.answer is None else str(self.answer["text"])

    @cached_property
    def answers(self) -> tuple[tuple[str, ...], ...]:
        """Names of each answer, best first: as the source names it, and its label."""
        return tuple(
            tuple(dict.fromkeys((str(a["label"]), str(a["entity"])))) for a in self._answer_list("answers")
        )

    @cached_property
    def confidence(self) -> float:
        """Score of the best answer; 0 without one."""
        answers = self._answer_list("answers")
        return float(answers[0]["score"]) if answers else 0.0

    @cached_property
    def citations(self) -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
        """Each answer that is cited, with its triples by names."""
        cited = self._answer_list("citations")
        return tuple((str(c["answer"]), tuple(map(tuple, c.get("ids", c["triples"])))) for c in cited)

    def _answer_list(self, name: str) -> list[dict[str, Any]]:
        return [] if self.answer is None else cast("list[dict[str, Any]]", self.answer[name])

    @cached_property
    def timings(self) -> dict[str, float]:
        """Milliseconds by stage, and `total`."""
        milliseconds = {} if self.answer is None else cast("dict[str, float]", self.answer["timings_ms"])
        return {stage: float(ms) for stage, ms in milliseconds.items()}

    @cached_property
    def gold_forms(self) -> tuple[frozenset[str], ...]:
        """The forms of each gold answer's names, as they are compared."""
        return tuple(frozenset(map(name_form, answer.names)) for answer in self.question.gold)

    @cached_property
    def gold_evidence(self) -> tuple[frozenset[str], ...]:
        """The forms of each gold answer's names and of its ids, as triples of the graph write it."""
        ids = self.gold_ids or [()] * len(self.gold_forms)
        return tuple(
            forms | frozenset(map(name_form, own)) for forms, own in zip(self.gold_forms, ids, strict=True)
        )

    @cached_property
    def overlap(self) -> tuple[float, float]:
        """The share of the answers given that are right, and of the gold answers that are given."""
        gold: dict[str, set[int]] = {}
        for at, forms in enumerate(self.gold_forms):
            for form in forms:
                gold.setdefault(form, set()).add(at)
        answer_forms = {frozenset(map(name_form, names)) for names in self.answers}
        hits = [set[int]().union(*(gold.get(form, set()) for form in forms)) for forms in answer_forms]
        right = sum(map(bool, hits)) / len(hits) if hits else 0.0
        return right, len(set[int]().union(*hits)) / max(len(self.gold_forms), 1)


def record_from_json(value: dict[str, Any]) -> Record:
    """Read what `Record.as_json` wrote; KeyError or TypeError if it is something else."""
    paths, gold = cast("list[list[str]]", value["paths"]), cast("list[list[str]]", value["gold"])
    failure = value["failure"]
    question = EvalQuestion(
        id=value["id"],
        text=value["question"],
        gold=tuple(GoldAnswer(names[0], tuple(names[1:])) for names in gold),
        entities=tuple(value["entities"]),
        kind=value["kind"],
        paths=tuple(GoldPath(path[0], tuple(path[1:])) for path in paths),
        verdict=value["verdict"],
        query=value["query"],
    )
    return Record(
        key=Key(value["part"], value["method"], value["seed"], value["id"]),
        question=question,
        gold_in_graph=value["gold_in_graph"],
        gold_ids=value["gold_ids"],
        answer=value["answer"],
        failure=None if failure is None else Failure(failure["type"], failure["message"]),
        cost=value["cost"],
    )


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A scored question: `scores` by metric, `offset` of its record in the file, `shape` of the gold paths.

    `verdict` is the gold of a claim, `stated_verdict` the method's; `error_step` is where it went wrong.
    """

    key: Key
    kind: str
    without_gold: bool
    verdict: GoldVerdict | None
    stated_verdict: GoldVerdict | None
    answered: bool
    abstained: str | None
    failed: bool
    confidence: float
    timings: Mapping[str, float]
    calls: int
    tokens: int
    cost: float | None
    scores: Mapping[str, float | None]
    error_step: str | None
    shape: str
    offset: int
