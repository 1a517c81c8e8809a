"""Judging a run: each open question by each judge, resumable, kept in `judgements.jsonl`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from clew.errors import UsageError
from clew.evaluate.judge.judges import AnswerJudge, Judgement, prompt_hash
from clew.evaluate.metrics.outcome import MATCH_PREFIX, needs_judge
from clew.evaluate.records import Key, Record
from clew.evaluate.run.answering import in_threads
from clew.evaluate.run.rundir import JUDGEMENTS, LineFile, RunDirectory, key_of
from clew.llm.errors import BudgetReached
from clew.llm.managed import ManagedModel
from clew.llm.run import run_sync
from clew.llm.types import ask
from clew.workers.base import Stopped

SILENT = 20
"""A judge that gives no verdict so many times in a row, from its first question on, will never give one."""


@dataclass
class Judged:
    """What a call of `judge_run` did: judgements without a verdict, and of these those of failed calls."""

    unjudged: int = 0
    failed: int = 0
    first_problem: str = ""

    def count(self, judgement: Judgement) -> None:
        """Count a judgement that has no verdict."""
        if judgement.verdict is None:
            self.unjudged += 1
            self.failed += judgement.failed
            self.first_problem = self.first_problem or f"{judgement.judge}: {judgement.problem}"


JudgeTask = tuple[Record, AnswerJudge]


def judges_of(specs: Sequence[str], open_model: Callable[[str], ManagedModel]) -> list[AnswerJudge]:
    """Make the judges of `MODEL` (three-way) and `match:MODEL` specs; each question has its own budget."""
    return [_judge_of(spec, open_model(spec.removeprefix(MATCH_PREFIX))) for spec in specs]


def _judge_of(spec: str, model: ManagedModel) -> AnswerJudge:
    def reply(system: str, user: str) -> str:
        request = ask(user, system, temperature=0.0, max_tokens=200)
        try:
            return run_sync(model.for_question().complete(request)).text
        except BudgetReached as error:
            if error.scope == "run":
                raise Stopped(f"{error}. The judgements are kept; the same command goes on") from error
            raise

    return AnswerJudge(model.name, "match" if spec.startswith(MATCH_PREFIX) else "three-way", reply)


def judge_run(
    directory: RunDirectory, judges: Sequence[AnswerJudge], threads: int, progress: Callable[[int, int], None]
) -> Judged:
    """Judge what is not judged yet.

    Raises:
        UsageError: a judge never gave a verdict; what the others said is kept.
        Stopped: the budget of the run is used up.
        LockedError: another process runs there.

    """
    judged = Judged()
    with directory.locked():
        done = {
            (key_of(line), line["judge"])
            for _, line in directory.lines(JUDGEMENTS)
            if line["verdict"] is not None
        }
        total = sum(1 for _ in _open(directory, judges, done))
        file = LineFile(directory.path / JUDGEMENTS)
        silent = {judge.key: 0 for judge in judges if all(judge.key != name for _, name in done)}
        try:
            work = _open(directory, judges, done)
            for at, (record, judge, judgement) in enumerate(in_threads(_judged, work, threads), 1):
                told = {name: value for name, value in asdict(judgement).items() if name != "failed"}
                file.add({**asdict(record.key), **told, "prompt": prompt_hash(judge.form)})
                judged.count(judgement)
                _check_silence(silent, judgement)
                progress(at, total)
        finally:
            file.close()
    return judged


def _judged(work: JudgeTask) -> tuple[Record, AnswerJudge, Judgement]:
    record, judge = work
    return record, judge, judge.judge(record)


def _open(
    directory: RunDirectory, judges: Sequence[AnswerJudge], done: set[tuple[Key, str]]
) -> Iterator[JudgeTask]:
    """Yield what is to be judged: by the three-way judge answers that are not the gold, by `match` all."""
    for _, record in directory.records():
        if record.answer is None or not record.question.is_scored:
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
