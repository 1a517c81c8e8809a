"""Judges: models that compare an answer with the gold.

`three-way` is the judge of CRAG and Walk&Retrieve (sec. 3): accurate, incorrect or missing, asked only
where the exact match left it open. `match` is SynaptiQA's (sec. IV): does the answer match the reference
fully. The paper's prompts are not published; ours are in `prompts/`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

from clew.errors import LlmError
from clew.evaluate.metrics.outcome import MATCH_PREFIX, OUTCOMES
from clew.evaluate.names import holds_name, name_form
from clew.evaluate.records import Record
from clew.llm.prompting import data_line

JudgeCall = Callable[[str, str], str]
"""A chat model as a function of the system text and the user text; raises LlmError."""
JudgeForm = Literal["three-way", "match"]
_PROMPTS: dict[JudgeForm, str] = {"three-way": "judge_three_way.txt", "match": "judge_match.txt"}
_VERDICTS: dict[JudgeForm, tuple[str, ...]] = {"three-way": OUTCOMES, "match": ("yes", "no")}
_OBJECT = re.compile(r"\{[^{}]*\}")
JUDGE_ATTEMPTS = 2
"""A reply that cannot be read is asked for once more, with what was wrong."""
LONGEST_JUDGED = 4000
"""Characters of an answer that a judge reads."""


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
        """Judge one answer; a model that fails or answers garbage gives no verdict.

        Raises:
            KeyRefused, ReplayMissing: they concern every question.

        """
        system, user = prompt(self.form), _task(record)
        problem = ""
        for _ in range(JUDGE_ATTEMPTS):
            try:
                said = self.reply(system, user + (f"\n\n{problem}" if problem else ""))
            except LlmError as error:
                if error.exit_code == 2:
                    raise  # a wrong key or a missing recording is not the question's fault
                return Judgement(self.key, None, f"{type(error).__name__}: {error}", failed=True)
            verdict = read_verdict(said, _VERDICTS[self.form])
            if verdict is not None:
                return Judgement(self.key, verdict)
            words = " or ".join(_VERDICTS[self.form])
            problem = f'Your last reply could not be read. Reply only with {{"verdict": …}}, one of {words}.'
        return Judgement(self.key, None, "the reply could not be read")


def read_verdict(text: str, verdicts: tuple[str, ...]) -> str | None:
    """Read the verdict from a reply: the last JSON object in it that has one; None if there is none."""
    found: str | None = None
    for match in _OBJECT.finditer(text):
        try:
            value = json.loads(match[0])
        except (json.JSONDecodeError, RecursionError):
            continue
        said = cast("dict[str, object]", value).get("verdict")
        if isinstance(said, str) and said.strip().lower() in verdicts:
            found = said.strip().lower()
    return found


@cache
def prompt(form: JudgeForm) -> str:
    """Read the prompt of a judge."""
    return (files("clew.evaluate.judge") / "prompts" / _PROMPTS[form]).read_text("utf-8").strip()


def prompt_hash(form: JudgeForm) -> str:
    """Name the version of a prompt by its contents."""
    return hashlib.sha256(prompt(form).encode()).hexdigest()[:12]


def given_answer(record: Record) -> str:
    """What a method said, and the names that it states where its words leave one out."""
    names = [names[0] for names in record.answers]
    said = name_form(record.text)
    left_out = any(not holds_name(said, name) for name in names)
    return "; ".join([*([record.text] if record.text else []), *(names if left_out else [])])


def _task(record: Record) -> str:
    gold = "; ".join(" = ".join(answer.names) for answer in record.question.gold) or "(there is no answer)"
    given = given_answer(record)
    return "\n".join(
        f"{title}: <<<{data_line(text, LONGEST_JUDGED)}>>>"
        for title, text in (
            ("Question", record.question.text),
            ("Correct answers", gold),
            ("Given answer", given),
        )
    )
