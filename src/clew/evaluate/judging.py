"""Judging a run: each open question by each judge, resumable, kept in `judgements.jsonl`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from clew.errors import UsageError
from clew.evaluate.answering import in_threads
from clew.evaluate.judges import Form, Judge, Judgement, prompt_hash
from clew.evaluate.metrics.outcome import needs_judge
from clew.evaluate.records import Key, Record
from clew.evaluate.rundir import JUDGEMENTS, Lines, RunDirectory, key_of

SILENT = 20
"""A judge that gives no verdict so many times in a row, from its first question on, will never give one."""
Work = tuple[Record, Judge]


@contextmanager
def open_judges(specs: Sequence[str], environment: Mapping[str, str], folder: Path) -> Generator[list[Judge]]:
    """Open the models of `MODEL` (three-way) and `match:MODEL` specs, with their replies kept in `folder`."""
    from clew.llm import ask, open_model, run_sync, settings_from

    models = {
        name: open_model(settings_from(environment, name, cache=folder / "replies.sqlite"))
        for name in dict.fromkeys(spec.removeprefix("match:") for spec in specs)
    }

    def replying(name: str) -> Callable[[str, str], str]:
        def reply(system: str, user: str) -> str:
            return run_sync(models[name].complete(ask(user, system, temperature=0.0, max_tokens=200))).text

        return reply

    def form(spec: str) -> Form:
        return "match" if spec.startswith("match:") else "three-way"

    try:
        yield [Judge(s.removeprefix("match:"), form(s), replying(s.removeprefix("match:"))) for s in specs]
    finally:
        for model in models.values():
            run_sync(model.close())


def judge_run(
    directory: RunDirectory, judges: Sequence[Judge], threads: int, progress: Callable[[int, int], None]
) -> None:
    """Judge what is not judged yet.

    Raises:
        UsageError: a judge never gave a verdict; what the others said is kept.
        LockedError: another process runs there.

    """
    with directory.locked():
        done = {
            (key_of(line), line["judge"])
            for _, line in directory.lines(JUDGEMENTS)
            if line["verdict"] is not None
        }
        total = sum(1 for _ in _open(directory, judges, done))
        file = Lines(directory.path / JUDGEMENTS)
        silent = {judge.key: 0 for judge in judges if all(judge.key != name for _, name in done)}
        try:
            work = _open(directory, judges, done)
            for at, (record, judge, judgement) in enumerate(in_threads(_judged, work, threads), 1):
                file.add({**asdict(record.key), **asdict(judgement), "prompt": prompt_hash(judge.form)})
                _check_silence(silent, judgement)
                progress(at, total)
        finally:
            file.close()


def _judged(work: Work) -> tuple[Record, Judge, Judgement]:
    record, judge = work
    return record, judge, judge.judge(record)


def _open(directory: RunDirectory, judges: Sequence[Judge], done: set[tuple[Key, str]]) -> Iterator[Work]:
    """Yield what is to be judged: by the three-way judge answers that are not the gold, by `match` all."""
    for _, record in directory.records():
        if record.answer is None or not record.question.gold_known or record.question.verdict is not None:
            continue
        for judge in judges:
            wanted = needs_judge(record) if judge.form == "three-way" else record.abstained is None
            if wanted and (record.key, judge.key) not in done:
                yield record, judge


def _check_silence(silent: dict[str, int], judgement: Judgement) -> None:
    if judgement.judge not in silent:
        return
    if judgement.verdict is not None:
        del silent[judgement.judge]
        return
    silent[judgement.judge] += 1
    if silent[judgement.judge] >= SILENT:
        name = judgement.judge
        reason = f"judge {name} gave no verdict on its first {SILENT} questions ({judgement.problem})"
        raise UsageError(f"{reason}. The records are kept; name another judge with --judge")
