"""`clew fit`: learn from a user's own questions and answers how a graph is asked."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from clew.cli.console import warn, write, write_json
from clew.cli.input import item_text, objects, source_name
from clew.cli.opening import Json, Quiet
from clew.cli.progress import Bar
from clew.errors import InputError, ParseError, UsageError
from clew.text.counted import counted

if TYPE_CHECKING:
    from clew.methods.auto.fitting import FittedIndex
    from clew.reading.feedback import Feedback
    from clew.reading.fitting import Figures

_NOT_BETTER = 3
_SHAPE = 'Write {"question": "…", "answers": ["…"]}, or "accepted" or "rejected" in the place of "answers"'


def fit(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index (NAME.clew).")],
    *,
    questions: Annotated[
        str | None, typer.Option(metavar="FILE.jsonl", help="Questions with answers, one object a line.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="How questions are dealt into two halves.")] = 0,
    drop: Annotated[bool, typer.Option("--drop", help="Remove what was learned.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn from your questions with their answers how this graph is asked; kept in its index.

    It is measured on halves, each answered with what was learned from the other. Where that does not help,
    nothing is kept (exit code 3).
    """
    from clew.engine import Clew
    from clew.index.store.manifest import read_manifest
    from clew.methods.auto.fitting import fit_index
    from clew.opening.index_files import is_index
    from clew.reading.adapter import drop_adapter
    from clew.stores.opening import refuse_address

    refuse_address(source)
    if drop == (questions is not None):
        raise UsageError("Give --questions FILE.jsonl to learn, or --drop to remove what was learned")
    index = Path(source)
    if not is_index(index):
        raise UsageError(f"{source} is no index. Make one: clew index {source} -o NAME.clew")
    if questions is None:
        read_manifest(index)
        _tell_dropped(index, drop_adapter(index), json=json, quiet=quiet)
        return
    feedback, start = read_feedback(questions), time.monotonic()
    with Clew.open(index) as clew, Bar(quiet=quiet) as bar:
        fitted = fit_index(clew.index, clew.embedder, feedback, seed, partial(bar.update, unit="questions"))
    seconds = round(time.monotonic() - start, 2)
    if json:
        write_json(_json(fitted, len(feedback), seconds))
    else:
        for line in _lines(fitted, len(feedback), seconds):
            write(line)
    if not quiet:
        for line in _unused_notes(fitted):
            warn(line)
    if fitted.path is None:
        raise typer.Exit(_NOT_BETTER)


def _tell_dropped(index: Path, existed: bool, *, json: bool, quiet: bool) -> None:
    if json:
        write_json({"index": str(index), "dropped": existed})
    elif not quiet:
        write(f"{index}: {'what was learned is removed' if existed else 'nothing was learned for it'}")


def read_feedback(path: str) -> list[Feedback]:
    """Read questions with answers; ParseError for a malformed line, InputError for an empty file."""
    from clew.reading.feedback import Feedback

    file, feedback, none = source_name(path), list[Feedback](), frozenset[str]()
    for number, value in objects(path):
        question = item_text(value, "question", file, number, _SHAPE)
        kinds = ("answers", "accepted", "rejected")
        answers, accepted, rejected = (_names(file, number, value, key) for key in kinds)
        if answers is None and not accepted and not rejected:
            raise ParseError(file, number, "neither answers, nor accepted or rejected ones", _SHAPE)
        feedback.append(Feedback(number, question, answers, accepted or none, rejected or none))
    if not feedback:
        raise InputError(f"{file}: no questions. {_SHAPE}")
    return feedback


def _names(file: str, number: int, value: dict[str, Any], key: str) -> frozenset[str] | None:
    field_value = value.get(key)
    if field_value is None:
        return None
    names = cast("list[object]", field_value) if isinstance(field_value, list) else [None]
    if not all(isinstance(n, str) or (isinstance(n, int | float) and not isinstance(n, bool)) for n in names):
        raise ParseError(file, number, f"field {key!r} is not a list of names and numbers", _SHAPE)
    return frozenset(str(name) for name in names)


def _unused_notes(fitted: FittedIndex) -> list[str]:
    """Say which lines were not learned from, and why."""
    feedback = fitted.usable
    reasons = (
        (feedback.unknown, "with an answer that the graph does not have"),
        (feedback.contradicting, "that contradict each other"),
        (feedback.repeated, "with a question that stands there already"),
    )
    notes: list[str] = []
    for lines, reason in reasons:
        numbers = ", ".join(map(str, lines[:5])) + (" …" if len(lines) > 5 else "")
        notes += [f"left out: {counted(len(lines), 'line')} {reason} (line {numbers})"] if lines else []
    return notes


def _json(fitted: FittedIndex, lines: int, seconds: float) -> dict[str, Any]:
    result, feedback = fitted.result, fitted.usable
    return {
        "index": str(fitted.index),
        "stored": None if fitted.path is None else str(fitted.path),
        "lines": lines,
        "questions": result.questions,
        "covered": result.covered,
        "unknown": list(feedback.unknown),
        "contradicting": list(feedback.contradicting),
        "repeated": list(feedback.repeated),
        "held_out": {"before": asdict(result.before), "after": asdict(result.after)},
        "strength": result.strength,
        "words": result.words,
        "seed": fitted.seed,
        "seconds": seconds,
    }


def _lines(fitted: FittedIndex, lines: int, seconds: float) -> list[str]:
    result = fitted.result
    summary = [
        f"{counted(result.questions, 'question')} of {counted(lines, 'line')}; {result.covered} have a "
        f"reading with the given answers ({seconds:.1f} s)",
        f"held out, without: {_describe_figures(result.before)}",
        f"held out, with:    {_describe_figures(result.after)}",
    ]
    if fitted.path is None:
        return [*summary, "It does not help on questions that it was not learned from: nothing is kept"]
    return [*summary, f"Kept in {fitted.path}"]


def _describe_figures(figures: Figures) -> str:
    count = max(1, figures.questions)
    right_first, right = 100 * figures.right / count, 100 * figures.answered_right / count
    wrong = 100 * figures.answered_wrong / count
    return f"{right_first:.1f} % right first; answered {right:.1f} % right, {wrong:.1f} % wrong"
