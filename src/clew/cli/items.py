"""What `--questions` and `--claims` name: files of questions and of claims, and how each is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from clew.cli.batch import BatchItem, BatchKind
from clew.cli.input import item_text, objects, source_name, unique_ids
from clew.errors import InputError, ParseError

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.types import Answer, Verification


@dataclass(frozen=True, slots=True)
class Questions(BatchKind):
    """How questions are answered."""

    item, items, field = "question", "questions", "answers"
    result, results, of = "an answer", "answers", "to another question"
    doing, done = "asking", "answered"

    def ask_item(self, clew: Clew | Database, item: BatchItem) -> Answer:
        """Answer a question."""
        return clew.ask(
            item.text,
            id=item.id,
            entities=item.entities,
            method=self.method,
            model=self.model,
            settings=self.settings,
        )

    @staticmethod
    def outcome(line: dict[str, Any]) -> str:
        """Whether there is an answer."""
        return "with an answer" if line["abstained"] is None else "abstained"


@dataclass(frozen=True, slots=True)
class Claims(BatchKind):
    """How claims are verified."""

    item, items, field = "claim", "claims", "verdict"
    result, results, of = "a verdict", "verdicts", "on another claim"
    doing, done = "verifying", "verified"
    closed_world: bool = False

    def ask_item(self, clew: Clew | Database, item: BatchItem) -> Verification:
        """Verify a claim."""
        return clew.verify(
            item.text,
            id=item.id,
            closed_world=self.closed_world,
            method=self.method,
            model=self.model,
            settings=self.settings,
        )

    @staticmethod
    def outcome(line: dict[str, Any]) -> str:
        """The verdict."""
        return str(line["verdict"]).replace("_", " ")


def read_items(path: str, kind: type[BatchKind]) -> list[BatchItem]:
    """Read all questions or claims before the first is asked, so that a malformed line costs nothing.

    Raises ParseError for a malformed line, an empty text, or an id used twice; InputError for an empty file.
    """
    file, field = source_name(path), kind.item
    batch_items: list[BatchItem] = []
    for number, id, value in unique_ids(objects(path), file):
        text = item_text(value, field, file, number, f'Write {{"{field}": "…"}}')
        batch_items.append(BatchItem(id, text, _entities(value, file, number) if field == "question" else ()))
    if not batch_items:
        raise InputError(f'{file}: no {kind.items}. Write a line {{"id": "1", "{field}": "…"}} for each')
    return batch_items


def _entities(value: dict[str, Any], file: str, number: int) -> tuple[str, ...]:
    raw = value.get("entities")
    names = cast("list[object]", raw) if isinstance(raw, list) else [] if raw is None else [None]
    if not all(isinstance(name, str) for name in names):
        raise ParseError(file, number, "field 'entities' is not a list of strings", 'Write "entities": ["…"]')
    return tuple(cast("list[str]", names))
