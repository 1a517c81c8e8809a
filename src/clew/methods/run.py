"""One question or claim while it is worked on: its model and budget, its steps, its times, and its end."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeVar

from clew.llm.errors import BudgetReached
from clew.llm.prompting import Talk
from clew.llm.types import ChatModel
from clew.types import Abstention, Answer, Step, Usage, Verification

Result = TypeVar("Result", Answer, Verification)


@dataclass(slots=True)
class Run:
    """What every method keeps of one question; `talk` are the calls of its model, None without one."""

    method: str
    id: str | None
    talk: Talk | None
    began: float = field(default_factory=perf_counter)
    steps: list[Step] = field(default_factory=list[Step])
    timings: dict[str, float] = field(default_factory=dict[str, float])

    @classmethod
    def begin(cls, method: str, id: str | None, model: ChatModel | None) -> Run:
        """Begin a question, with a budget of its own where the model has budgets."""
        return cls(method, id, None if model is None else Talk.begin(model, id))

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Add the time of what is done here to a stage, in milliseconds."""
        since = perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + (perf_counter() - since) * 1000

    def answer(self, question: str, work: Callable[[], Answer]) -> Answer:
        """Work on a question to its end; a budget that is reached is an abstention. Raises as `work`."""
        try:
            answer = work()
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        return self.finish(answer)

    def finish(self, result: Result) -> Result:
        """Return the result with who gave it, what it cost, and how it came to be."""
        self.timings["total"] = (perf_counter() - self.began) * 1000
        talk = self.talk
        return replace(
            result,
            id=self.id,
            method=self.method,
            model=None if talk is None else talk.model.name,
            usage=Usage() if talk is None else talk.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in self.timings.items()},
            steps=(*self.steps, *(() if talk is None else talk.steps)),
        )
