"""What `--questions` and `--claims` name: files of questions and of claims, and how each is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from clew.cli.batch import AskedWith, BatchItem, BatchKind
from clew.cli.input import asked_text, objects, source_name, unique_ids
from clew.errors import InputError, ParseError

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.types import Answer, Verification

_QUESTIONS = BatchKind(
    item="question",
    items="questions",
    field="answers",
    result="an answer",
    results="answers",
    of="to another question",
    doing="asking",
    done="answered",
    outcome=lambda line: "with an answer" if line["abstained"] is None else "abstained",
)
_CLAIMS = BatchKind(
    item="claim",
    items="claims",
    field="verdict",
    result="a verdict",
    results="verdicts",
    of="on another claim",
    doing="verifying",
    done="verified",
    outcome=lambda line: str(line["verdict"]).replace("_", " "),
)


@dataclass(frozen=True, slots=True)
class Questions(AskedWith):
    """How questions are answered; `keep` gets each answer."""

    kind: ClassVar = _QUESTIONS
    keep: Callable[[Answer], None] | None = None

    def one(self, clew: Clew | Database, item: BatchItem) -> Answer:
        """Answer a question."""
        answer = clew.ask(
            item.text,
            id=item.id,
            entities=item.entities,
            method=self.method,
            model=self.model,
            settings=self.settings,
        )
        if self.keep is not None:
            self.keep(answer)
        return answer


@dataclass(frozen=True, slots=True)
class Claims(AskedWith):
    """How claims are verified."""

    kind: ClassVar = _CLAIMS
    closed_world: bool = False

    def one(self, clew: Clew | Database, item: BatchItem) -> Verification:
        """Verify a claim."""
        return clew.verify(
            item.text,
            id=item.id,
            closed_world=self.closed_world,
            method=self.method,
            model=self.model,
            settings=self.settings,
        )


def read_items(path: str, kind: BatchKind) -> list[BatchItem]:
    """Read all questions or claims before the first is asked, so that a malformed line costs nothing.

    Raises ParseError for a malformed line, an empty text, or an id used twice; InputError for an empty file.
    """
    file, field = source_name(path), kind.item
    read: list[BatchItem] = []
    for number, id, value in unique_ids(objects(path), file):
        text = asked_text(value, field, file, number, f'Write {{"{field}": "…"}}')
        read.append(BatchItem(id, text, _entities(value, file, number) if field == "question" else ()))
    if not read:
        raise InputError(f'{file}: no {kind.items}. Write a line {{"id": "1", "{field}": "…"}} for each')
    return read


def _entities(value: dict[str, Any], file: str, number: int) -> tuple[str, ...]:
    given = value.get("entities")
    names = cast("list[object]", given) if isinstance(given, list) else [] if given is None else [None]
    if not all(isinstance(name, str) for name in names):
        raise ParseError(file, number, "field 'entities' is not a list of strings", 'Write "entities": ["…"]')
    return tuple(cast("list[str]", names))
