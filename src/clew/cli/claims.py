"""`clew verify --claims`: many claims, one JSON line each.

Those that `--out` has a verdict on are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from clew.cli.batch import LINE_START, answers_file
from clew.cli.console import json_line, warn, write_json
from clew.cli.failures import Interrupted
from clew.cli.jsonl import STDIN, objects, parse, source_name, unique_ids
from clew.cli.opening import FIRST_TIME
from clew.cli.progress import Bar, explained_wait
from clew.cli.verify import verification_json
from clew.engine import clean_question
from clew.errors import ClewError, InputError, OutputError, ParseError, UsageError

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.llm.types import ChatModel

ADVICE = "Give another --out"


@dataclass(frozen=True, slots=True)
class Claim:
    """A line of the file of claims."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class _Run:
    """How the claims are verified."""

    method: str
    closed_world: bool
    explain: bool
    quiet: bool
    model: ChatModel | None
    settings: object


def verify_all(
    start: Callable[[], Clew],
    claims: str,
    out: Path | None,
    *,
    method: str,
    closed_world: bool,
    explain: bool,
    quiet: bool,
    model: ChatModel | None = None,
    settings: object = None,
) -> None:
    """Verify all claims of a file, to stdout or, resumable, to `out`.

    All are read before the first is verified.
    """
    read = read_claims(claims)
    run = _Run(method, closed_world, explain, quiet, model, settings)
    if out is None:
        with start() as clew:
            _verify(run, clew, read, None)
        return
    if claims != STDIN and out.exists() and out.samefile(claims):
        raise UsageError(f"{out}: --out is the file of claims. Give another file")
    with answers_file(out) as file:
        done = verified(file, out, read, method)
        with start() as clew:
            if done and not quiet:
                warn(f"{out}: {len(done):,} of {len(read):,} claims are verified already")
            _verify(run, clew, [c for c in read if c.id not in done], file)


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


def verified(file: BinaryIO, path: Path, claims: Sequence[Claim], method: str) -> set[str]:
    """Ids that the file has a verdict on; a last line that was torn by a kill is cut off.

    Raises ParseError if the file holds something else, or verdicts on other claims.
    """
    texts = {claim.id: claim.text for claim in claims}
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    done: set[str] = set()
    for number, raw in enumerate(whole.splitlines(), 1):
        line = parse(raw, str(path), number, f"The file does not hold verdicts of Clew. {ADVICE}")
        id = str(line.get("id"))
        if "claim" not in line or "verdict" not in line:
            raise ParseError(str(path), number, "not a verdict of Clew", ADVICE)
        if id in texts and (line["claim"], line.get("method")) != (texts[id], method):
            reason = f"id {id!r} holds the verdict on another claim or of another method"
            raise ParseError(str(path), number, reason, ADVICE)
        done.add(id)
    torn = content[len(whole) :]
    if not (torn.startswith(LINE_START) or LINE_START.startswith(torn)):
        raise ParseError(str(path), whole.count(b"\n") + 1, "not a verdict of Clew", ADVICE)
    file.truncate(len(whole))
    file.seek(len(whole))
    return done & texts.keys()


def _verify(run: _Run, clew: Clew, claims: Sequence[Claim], file: BinaryIO | None) -> None:
    """Verify claims in their order to `file`, or to stdout."""
    done = 0
    try:
        with Bar(quiet=run.quiet) as bar, explained_wait(FIRST_TIME, quiet=run.quiet):
            for claim in claims:
                _write(_one(run, clew, claim), file)
                done += 1
                bar.update("verifying", done, len(claims), "claims")
    except KeyboardInterrupt as error:
        how = (
            "use --out FILE to be able to go on later"
            if file is None
            else "the same command goes on from here"
        )
        raise Interrupted(f"interrupted: {done:,} of {len(claims):,} verified now; {how}") from error


def _one(run: _Run, clew: Clew, claim: Claim) -> dict[str, Any]:
    try:
        result = clew.verify(
            claim.text,
            id=claim.id,
            closed_world=run.closed_world,
            method=run.method,
            model=run.model,
            settings=run.settings,
        )
    except ClewError as error:
        error.add_note(f"id {claim.id}")
        raise
    return verification_json(result, explain=run.explain)


def _write(verdict: dict[str, Any], file: BinaryIO | None) -> None:
    if file is None:
        write_json(verdict)
        sys.stdout.flush()
        return
    line = (json_line(verdict) + "\n").encode("utf-8")
    try:
        while line:
            line = line[file.write(line) :]
    except OSError as error:
        where = getattr(file, "name", "--out")
        raise OutputError(
            f"{where}: cannot be written ({error.strerror}). Its verdicts are kept: make room, and the same"
            " command goes on from there"
        ) from error
