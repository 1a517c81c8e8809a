"""`clew verify --claims`: a file of claims."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.cli.batch import BatchKind, BatchRun
from clew.cli.jsonl import objects, source_name, unique_ids
from clew.errors import InputError, ParseError, UsageError
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.llm.managed import ManagedModel
    from clew.types import Verification
    from clew.workers.base import Workers


def _outcome(verification: dict[str, Any]) -> str:
    return str(verification["verdict"]).replace("_", " ")


_KIND = BatchKind(
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


def verify_all(
    start: Callable[[], Clew],
    claims: str,
    out: Path | None,
    *,
    method: str,
    closed_world: bool,
    explain: bool,
    quiet: bool,
    model: ManagedModel | None = None,
    at_once: int = 1,
    settings: object = None,
    cluster: Workers | None = None,
) -> None:
    """Verify all claims of a file, `at_once` at a time, to stdout or, resumable, to `out`.

    `start` opens the source. All are read before the first is verified.
    """
    batch = BatchRun(_KIND, method, out, quiet, explain, model, at_once, cluster)
    one = _One(method, model, settings, closed_world)
    batch.run(_Ready(start, method, model, settings), claims, read_claims(claims), one)


@dataclass(frozen=True, slots=True)
class _Ready:
    """Opens the source and makes the verifier: what is wrong with it is no fault of a claim."""

    start: Callable[[], Clew]
    method: str
    model: ManagedModel | None
    settings: object

    @contextmanager
    def __call__(self) -> Generator[Clew]:
        with self.start() as clew:
            clew.prepare(self.method, self.model, self.settings, claims=True)
            yield clew


@dataclass(frozen=True, slots=True)
class _One:
    """Verifies one claim."""

    method: str
    model: ManagedModel | None
    settings: object
    closed_world: bool

    def __call__(self, clew: Clew, claim: Claim) -> Verification:
        return clew.verify(
            claim.text,
            id=claim.id,
            closed_world=self.closed_world,
            method=self.method,
            model=self.model,
            settings=self.settings,
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
