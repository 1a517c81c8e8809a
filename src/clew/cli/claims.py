"""`clew verify --claims`: a file of claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clew.cli.batch import AskedWith, BatchKind, BatchRun
from clew.cli.jsonl import objects, source_name, unique_ids
from clew.errors import InputError, ParseError, UsageError
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.types import Verification


def _outcome(verification: dict[str, Any]) -> str:
    return str(verification["verdict"]).replace("_", " ")


CLAIMS = BatchKind(
    "claim",
    "claims",
    "verdict",
    "a verdict",
    "verdicts",
    "on another claim",
    "verifying",
    "verified",
    _outcome,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A line of the file of claims."""

    id: str
    text: str


def verify_all(batch: BatchRun, asked: AskedWith, claims: str, *, closed_world: bool) -> None:
    """Verify all claims of a file; all are read before the first is verified."""
    batch.run(asked, claims, read_claims(claims), _VerifyOne(asked, closed_world))


@dataclass(frozen=True, slots=True)
class _VerifyOne:
    """Verifies one claim."""

    asked: AskedWith
    closed_world: bool

    def __call__(self, clew: Clew | Database, claim: Claim) -> Verification:
        return clew.verify(
            claim.text,
            id=claim.id,
            closed_world=self.closed_world,
            method=self.asked.method,
            model=self.asked.model,
            settings=self.asked.settings,
        )


def read_claims(path: str) -> list[Claim]:
    """Read the claims; ParseError for a malformed line, an empty claim, or an id used twice."""
    file = source_name(path)
    read = [_claim(file, *item) for item in unique_ids(objects(path), file)]
    if not read:
        raise InputError(f'{file}: no claims. Write a line {{"id": "1", "claim": "…"}} for each')
    return read


def _claim(file: str, number: int, id: str, value: dict[str, Any]) -> Claim:
    text = value.get("claim")
    if not isinstance(text, str):
        raise ParseError(file, number, "field 'claim' is missing or not a string", 'Write {"claim": "…"}')
    try:
        return Claim(id, clean_question(text, "claim"))
    except UsageError as error:
        raise ParseError(file, number, str(error)) from error
