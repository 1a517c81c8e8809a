"""Judges of answers: models that compare them with the gold, and BERTScore."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, cast

from clew.errors import LlmError, UsageError
from clew.evaluate.metrics import MATCH_PREFIX, OUTCOMES, built_in
from clew.evaluate.records import Key, Record, holds_name, name_form
from clew.evaluate.run.asking import in_threads
from clew.evaluate.run.rundir import BERT, JUDGEMENTS, LineFile, RunDirectory, key_of
from clew.foundation.arrays import Float32
from clew.foundation.forms import fields_json
from clew.llm.managed import ManagedModel, Prompt, Talk, data_line, prompt_named, run_sync
from clew.llm.reply import values, without_thoughts
from clew.llm.types import BudgetReached, ask
from clew.text.embedders import OnnxEmbedder
from clew.workers import Stopped

# Judging a run by models that compare an answer with the gold; resumable, kept in `judgements.jsonl`.
#
# `three-way` is the judge of CRAG and Walk&Retrieve (sec. 3): accurate, incorrect or missing, asked only
# where the exact match left it open. `match` is SynaptiQA's (sec. IV): does the answer match the reference
# fully. The paper's prompts are not published; ours are in `prompts/`.

JudgeCall = Callable[[str, str], str]
"""A chat model as a function of the system text and the user text; raises LlmError."""
JudgeForm = Literal["three-way", "match"]
_VERDICTS: dict[JudgeForm, tuple[str, ...]] = {"three-way": OUTCOMES, "match": ("yes", "no")}
SILENT = 20
"""A judge that gives no verdict so many times in a row, from its first question on, will never give one."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict; None with the reason in `problem` where it gave none that can be read."""

    judge: str
    verdict: str | None
    problem: str = ""
    failed: bool = False
    """Whether the judge could not be asked, so that asking again may help."""


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """A model in the role of a judge; `name` is that of the model."""

    name: str
    form: JudgeForm
    reply: JudgeCall

    @property
    def key(self) -> str:
        """How its judgements are kept."""
        return f"{MATCH_PREFIX}{self.name}" if self.form == "match" else self.name

    def judge(self, record: Record) -> Judgement:
        """Judge one answer; a model that fails gives no verdict, KeyRefused and ReplayMissing are raised."""
        system, user = prompt_of(self.form).system, _task(record)
        problem = ""
        for _ in range(2):  # a reply that cannot be read is asked for once more
            try:
                reply_text = self.reply(system, user + (f"\n\n{problem}" if problem else ""))
            except LlmError as error:
                if error.exit_code == 2:
                    raise  # a wrong key or a missing recording is not the question's fault
                return Judgement(self.key, None, f"{type(error).__name__}: {error}", failed=True)
            verdict = read_verdict(reply_text, _VERDICTS[self.form])
            if verdict is not None:
                return Judgement(self.key, verdict)
            words = " or ".join(_VERDICTS[self.form])
            problem = f'Your last reply could not be read. Reply only with {{"verdict": …}}, one of {words}.'
        return Judgement(self.key, None, "the reply could not be read")


def read_verdict(text: str, verdicts: tuple[str, ...]) -> str | None:
    """The verdict of a reply: the last JSON object in it that has one, after what it thought; else None."""
    said = [
        str(cast("dict[str, object]", value).get("verdict")).strip().lower()
        for value, _ in values(without_thoughts(text))
        if isinstance(value, dict)
    ]
    return next((verdict for verdict in reversed(said) if verdict in verdicts), None)


def prompt_of(form: JudgeForm) -> Prompt:
    """Read the prompt of a judge."""
    return prompt_named("clew.evaluate", f"judge_{form.replace('-', '_')}")


def answer_text(record: Record) -> str:
    """What a method said, and the names that it states where its words leave one out."""
    names = [names[0] for names in record.answers]
    text_form = name_form(record.text)
    text_lacks_name = any(not holds_name(text_form, name) for name in names)
    return "; ".join([*([record.text] if record.text else []), *(names if text_lacks_name else [])])


def _task(record: Record) -> str:
    gold = "; ".join(" = ".join(answer.names) for answer in record.question.gold) or "(there is no answer)"
    fields = {"Question": record.question.text, "Correct answers": gold, "Given answer": answer_text(record)}
    return "\n".join(f"{title}: <<<{data_line(text, 4000)}>>>" for title, text in fields.items())


def judge_of(spec: str, open_model: Callable[[str], ManagedModel]) -> AnswerJudge:
    """Make the judge of a spec `MODEL` (three-way) or `match:MODEL`; each question has its own budget."""
    model = open_model(spec.removeprefix(MATCH_PREFIX))

    def reply(system: str, user: str) -> str:
        request = ask(user, system, temperature=0.0, max_tokens=200)
        try:
            return run_sync(Talk(model, None).complete(request)).text
        except BudgetReached as error:
            if error.scope == "run":
                raise Stopped(f"{error}. The judgements are kept; the same command goes on") from error
            raise

    return AnswerJudge(model.name, "match" if spec.startswith(MATCH_PREFIX) else "three-way", reply)


def judge_run(
    directory: RunDirectory, judges: Sequence[AnswerJudge], threads: int, progress: Callable[[int, int], None]
) -> list[Judgement]:
    """Judge what is not judged yet; returns the judgements without a verdict.

    Raises UsageError (a judge never gave a verdict), Stopped (budget), LockedError.
    """
    unjudged: list[Judgement] = []
    with directory.locked():
        rows = (line for _, line in directory.lines(JUDGEMENTS))
        judged_pairs = {(key_of(line), line["judge"]) for line in rows if line["verdict"] is not None}
        heard = {judge for _, judge in judged_pairs}
        total = sum(1 for _ in _unjudged_answers(directory, judges, judged_pairs))
        pairs = _unjudged_answers(directory, judges, judged_pairs)
        work = in_threads(lambda pair: (*pair, pair[1].judge(pair[0])), pairs, threads)
        with closing(LineFile(directory.path / JUDGEMENTS)) as file:
            for at, (record, judge, judgement) in enumerate(work, 1):
                judgement_fields = fields_json(judgement, "judge verdict problem")
                file.add({**asdict(record.key), **judgement_fields, "prompt": prompt_of(judge.form).version})
                if judgement.verdict is None:
                    unjudged.append(judgement)
                else:
                    heard.add(judge.key)
                if judge.key not in heard and sum(each.judge == judge.key for each in unjudged) >= SILENT:
                    problem = f"no verdict on its first {SILENT} questions ({judgement.problem})"
                    advice = "The records are kept; name another judge with --judge"
                    raise UsageError(f"judge {judge.key} gave {problem}. {advice}")
                progress(at, total)
    return unjudged


def _unjudged_answers(
    directory: RunDirectory, judges: Sequence[AnswerJudge], judged_pairs: set[tuple[Key, str]]
) -> Iterator[tuple[Record, AnswerJudge]]:
    """Yield what is to be judged: by the three-way judge answers that are not the gold, by `match` all."""
    for _, record in directory.records():
        if record.answer is None or record.question.verdict is not None:
            continue
        for judge in judges:
            needs_verdict = (
                built_in(record) == "incorrect" if judge.form == "three-way" else record.abstained is None
            )
            if needs_verdict and (record.key, judge.key) not in judged_pairs:
                yield record, judge


# BERTScore (Zhang et al. 2020): greedy matching of token embeddings, from any model with token output.
#
# Precision is the mean, over the tokens of the answer, of the largest cosine with a token of the reference;
# recall the same the other way round; F1 their harmonic mean. Special tokens are left out; there is no idf
# and no rescaling, so figures compare only between runs with the same model. The reference is the gold names,
# joined as the answer text is.


def bert_score(answer: Float32, reference: Float32) -> tuple[float, float, float]:
    """Precision, recall and F1 of token vectors [n, d] against [m, d]; 0 if one has none, 1 if both."""
    if not len(answer) or not len(reference):
        value = float(len(answer) == len(reference))
        return value, value, value
    cosines = answer @ reference.T
    precision, recall = float(cosines.max(1).mean()), float(cosines.max(0).mean())
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total > 0 else 0.0


def open_tokens(spec: str) -> OnnxEmbedder:
    """Open a model with token output, `onnx:PATH`. Raises UsageError for another spec, and EmbedderError."""
    if not spec.removeprefix("onnx:") or not spec.startswith("onnx:"):
        raise UsageError(f"--bert {spec}: not a model with token output. Write --bert onnx:PATH")
    return OnnxEmbedder.open(Path(spec.removeprefix("onnx:")))


def score_run(directory: RunDirectory, model: OnnxEmbedder, progress: Callable[[int, int], None]) -> None:
    """Score the answers that have no score yet, into `bertscore.jsonl`; abstentions and failures score 0."""
    with directory.locked():
        scored_keys = {key_of(line) for _, line in directory.lines(BERT) if line["model"] == model.name}
        unscored = [
            record
            for _, record in directory.records()
            if record.key not in scored_keys and record.question.verdict is None
        ]
        with closing(LineFile(directory.path / BERT)) as file:
            for done, record in enumerate(unscored, 1):
                scores = dict(zip(("precision", "recall", "f1"), score_record(record, model), strict=True))
                file.add({**asdict(record.key), "model": model.name, **scores})
                progress(done, len(unscored))


def score_record(record: Record, model: OnnxEmbedder) -> tuple[float, float, float]:
    """Score an answer against the gold, which is written as an answer would be."""
    gold = " · ".join(answer.name for answer in record.question.gold)
    return bert_score(model.tokens(record.text), model.tokens(gold))
