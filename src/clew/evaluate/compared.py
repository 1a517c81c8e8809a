"""One question, several methods: what each says, and what it read and cites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

from clew.errors import ClewError
from clew.foundation.forms import fields_json, json_form
from clew.types import Answer

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.llm.reply import ChatModel

_READ = frozenset(("evidence", "match", "retrieve"))
"""Steps that show the triples which were read."""


class MethodRowForm(TypedDict):
    """What one method said, how many triples it read and cites, or why it failed."""

    method: str
    answer: Annotated[dict[str, Any], Answer] | None
    evidence: int
    cited: int
    error: str | None


@dataclass(frozen=True, slots=True)
class MethodRow:
    """What one method said, or the error that it raised."""

    method: str
    answer: Answer | None
    error: str | None = None

    @property
    def cited(self) -> int:
        """Distinct triples that the answer rests on."""
        answer = self.answer
        return 0 if answer is None else len({t for c in answer.citations for t in c.triples})

    @property
    def evidence(self) -> int:
        """Distinct triples that the method retrieved and read, as far as its steps show them."""
        from clew.evaluate.metrics import triples_within

        if self.answer is None:
            return 0
        answer_json = self.answer.as_json()
        cited_parts = {"citations": answer_json["citations"], "chain": answer_json["chain"]}
        steps = {
            s.name + str(i): json_form(s.detail) for i, s in enumerate(self.answer.steps) if s.name in _READ
        }
        return len(set(triples_within(cited_parts | steps)))

    def as_json(self) -> MethodRowForm:
        """`{"method", "answer", "evidence", "cited", "error"}`."""
        return cast(MethodRowForm, fields_json(self, "method answer evidence cited error"))


@dataclass(frozen=True, slots=True)
class MethodAnswers:
    """What several methods said of one question."""

    question: str
    rows: tuple[MethodRow, ...]

    def as_json(self) -> dict[str, Any]:
        """The stable JSON form (documented in docs/json.md)."""
        return fields_json(self)


def ask_each(
    clew: Clew | Database,
    question: str,
    methods: Sequence[str],
    *,
    entities: Sequence[str] = (),
    model: ChatModel | None = None,
    settings: Mapping[str, object] | None = None,
) -> MethodAnswers:
    """Ask several methods the same question; one that fails has its error in its row."""
    rows: list[MethodRow] = []
    for name in methods:
        method_settings = None if settings is None else settings.get(name)
        try:
            answer = clew.ask(question, entities=entities, method=name, model=model, settings=method_settings)
        except ClewError as error:
            rows.append(MethodRow(name, None, str(error)))
        else:
            rows.append(MethodRow(name, answer))
    return MethodAnswers(question, tuple(rows))
