"""Asking the methods of an open index: one after the other, in processes, or in threads."""

from __future__ import annotations

import inspect
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from clew.engine import Clew
from clew.errors import ClewError, UsageError
from clew.evaluate.records import Failure
from clew.evaluate.run.rundir import MethodVariant, OptionValue
from clew.llm.budget import Price
from clew.llm.managed import ManagedModel
from clew.llm.types import ChatModel
from clew.methods.question import names_of_graph
from clew.methods.registry import VERIFIERS, Method, method_named, settings_of
from clew.methods.settings import read_options
from clew.text.normalise import clean_question
from clew.types import Abstention, Usage, Verification
from clew.workers import Stopped, Workers, in_order

# Asking: one question after the other, in worker processes, or (with a model, which waits) in threads.
#
# Results come in the order of the tasks, whatever the number of workers, so that a run writes the same file
# each time.

S = TypeVar("S")
T = TypeVar("T")
QUESTIONS_AT_ONCE = 8
"""Questions that a worker takes at a time."""


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """One question, or claim, for one method."""

    method: MethodVariant
    id: str
    text: str
    entities: tuple[str, ...]
    seed: int | None
    claim: bool = False


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What came of a task: the JSON of an answer, or a failure."""

    answer: dict[str, Any] | None
    failure: Failure | None = None
    cost: float | None = None


AnswerFunction = Callable[[AnswerTask], TaskOutcome]
"""Asks one question. Raises ClewErrors that concern the whole run; those of one question become failures."""


class Abandoned(BaseException):
    """Raised in a thread that waits for a model, where nobody waits for its work any more."""


def in_threads(work: Callable[[S], T], items: Iterable[S], threads: int) -> Generator[T]:
    """Do some work in threads; results come in the order of the items.

    Where Ctrl-C comes while it waits, what is finished comes first, in the order of the items but not of all;
    what waits for a model is abandoned.
    """
    if threads <= 1:
        yield from map(work, items)
        return
    from clew.llm.managed import waiting_checked

    ended = threading.Event()

    def check() -> None:
        if ended.is_set():
            raise Abandoned

    def watched(item: S) -> T:
        check()
        with waiting_checked(check):
            return work(item)

    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from in_order(partial(pool.submit, watched), items, lambda: 4 * threads, waiting)
        except KeyboardInterrupt:
            finished_futures = [future for future in waiting if future.done() and not future.cancelled()]
            yield from [future.result() for future in finished_futures if future.exception() is None]
            raise
        finally:
            ended.set()


def ask_on(
    workers: Workers, tasks: Sequence[AnswerTask], make: Callable[[], AnswerFunction], threads: int = 1
) -> Iterator[tuple[AnswerTask, TaskOutcome]]:
    """Ask in workers, each of which makes its own `ask` and asks so many at a time; `make` can be pickled.

    Raises Stopped (workers were killed, or the budget of the run is used up).
    """
    size = max(QUESTIONS_AT_ONCE, threads)
    chunks = [tasks[at : at + size] for at in range(0, len(tasks), size)]
    for outcomes, stop in workers.map(partial(_make_chunk_worker, make, threads), chunks):
        yield from outcomes
        if stop is not None:
            raise stop


_Outcomes = tuple[list[tuple[AnswerTask, TaskOutcome]], Stopped | None]
"""What came of a chunk, and what ended it before its end."""


def _make_chunk_worker(
    make: Callable[[], AnswerFunction], threads: int
) -> Callable[[Sequence[AnswerTask]], _Outcomes]:
    """Make, in a worker, the function that asks a chunk of questions."""
    ask = make()

    def work(tasks: Sequence[AnswerTask]) -> _Outcomes:
        outcomes: list[tuple[AnswerTask, TaskOutcome]] = []
        try:
            outcomes.extend(in_threads(lambda task: (task, ask(task)), tasks, threads))
        except Stopped as stop:  # what came before it is kept
            return outcomes, stop
        return outcomes, None

    return work


# Asking the methods of an open index.
#
# A method's class is called with (index, embedder) and the options that an experiment gives: keyword
# parameters of the class, or fields of the dataclass that its parameter `settings` takes; for examples,
# solved questions and documents, the path of a file. A parameter `model` gets the chat model, a parameter or
# field `seed` the seed.

MODEL_OPTION, SETTINGS_OPTION, SEED = "model", "settings", "seed"


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the class of a method accepts: keyword parameters, and fields of its settings."""

    parameters: frozenset[str]
    settings: type | None
    fields: frozenset[str]

    @property
    def options(self) -> frozenset[str]:
        """Names of options that an experiment may give."""
        return (self.parameters | self.fields) - {MODEL_OPTION, SETTINGS_OPTION}

    def arguments(self, options: Mapping[str, OptionValue]) -> dict[str, Any]:
        """Sort options into keyword arguments."""
        class_arguments = {name: value for name, value in options.items() if name in self.parameters}
        settings_options = {name: value for name, value in options.items() if name not in self.parameters}
        if not settings_options or self.settings is None:
            return class_arguments
        return class_arguments | {
            SETTINGS_OPTION: self.settings(**read_options(self.settings, settings_options))
        }


def accepted(name: str) -> Accepted:
    """Look at what a method takes, by its name."""
    parameters = inspect.signature(method_named(name)).parameters
    settings = settings_of(name) if SETTINGS_OPTION in parameters else None
    field_names = frozenset[str]() if settings is None else frozenset(f.name for f in fields(settings))
    return Accepted(frozenset(list(parameters)[2:]), settings, field_names)


def check_methods(specs: Sequence[MethodVariant], model: ChatModel | None) -> None:
    """Check options: UsageError if one is wrong, InputError for a file that cannot be used."""
    for spec in specs:
        signature = accepted(spec.method)
        unknown_options = sorted(set(spec.options) - signature.options)
        signature.arguments({name: v for name, v in spec.options.items() if name not in unknown_options})
        if unknown_options:
            option_names = ", ".join(sorted(signature.options)) or "none"
            raise UsageError(
                f"Method {spec.method} has no option {unknown_options[0]!r}. Its options: {option_names}."
            )
    if model is not None and not any(MODEL_OPTION in accepted(s.method).parameters for s in specs):
        names = ", ".join(spec.method for spec in specs)
        raise UsageError(f"None of the methods ({names}) asks a model. Leave out --llm")


def needs_model(spec: MethodVariant, clew: Clew) -> str | None:
    """Find out whether a method cannot do without a model, by making it without one; its own words if so."""
    signature = accepted(spec.method)
    if MODEL_OPTION not in signature.parameters:
        return None
    try:
        cast("Any", method_named(spec.method))(clew.index, clew.embedder, **signature.arguments(spec.options))
    except UsageError as error:
        return str(error)
    return None


@dataclass
class EngineAsk:
    """Asks methods over one index; they are made when they are first asked."""

    clew: Clew
    model: ChatModel | None = None
    price: Price | None = None
    steps: bool = True
    _methods: dict[tuple[str, int | None], Method] = field(
        default_factory=dict[tuple[str, "int | None"], Method]
    )
    _making: Lock = field(default_factory=Lock)
    _warm: set[str] = field(default_factory=set[str])

    def __call__(self, task: AnswerTask) -> TaskOutcome:
        """Ask one question; errors that concern this question alone become a failure.

        Without a model a method's first question is asked twice, and the first time does not count: it
        compiles kernels and loads what later questions find loaded.
        """
        if self.model is None and task.method.label not in self._warm:
            self._warm.add(task.method.label)
            self._outcome(task)
        outcome = self._outcome(task)
        reached = self.model.run.reached if isinstance(self.model, ManagedModel) else None
        if reached is not None:
            # An abstention for want of budget is not what the method makes of the question.
            raise Stopped(f"{reached}. What was answered is kept; the same command goes on from there")
        return outcome

    def _outcome(self, task: AnswerTask) -> TaskOutcome:
        method = self._method(task.method, task.seed)
        try:
            answer_json = self._verify(task) if task.claim else None
            if answer_json is None:
                entities = names_of_graph(self.clew.index.names, task.entities)
                answer = method.answer(clean_question(task.text), id=task.id, entities=entities)
                answer_json = answer.as_json(steps=True)
        except ClewError as error:
            if error.exit_code == 2 and not isinstance(error, UsageError):
                raise  # a missing key, extra or recording is not the question's fault
            return TaskOutcome(None, Failure(type(error).__name__, str(error)))
        except Exception as error:  # a bug in a method fails that question, and is counted
            where = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{error} ({Path(where.filename).name}:{where.lineno})"
            return TaskOutcome(None, Failure(type(error).__name__, message))
        if not self.steps:
            answer_json.pop("steps", None)
        usage = Usage(**answer_json["usage"])
        cost = None if self.price is None or not usage.calls else self.price.of(usage)
        return TaskOutcome(answer_json, cost=cost)

    def _verify(self, task: AnswerTask) -> dict[str, Any] | None:
        """Verify a claim where the method can; None where it only answers.

        In a closed world, as the data sets know no third verdict: what the graph does not record is refuted.
        """
        method = task.method.method
        if method not in VERIFIERS:
            return None
        settings = accepted(method).arguments(task.method.options).get(SETTINGS_OPTION)
        verify = partial(self.clew.verify, task.text, id=task.id, closed_world=True)
        return verification_json(verify(method=method, model=self.model, settings=settings))

    def _method(self, spec: MethodVariant, seed: int | None) -> Method:
        key = (spec.label, seed)
        with self._making:
            if key not in self._methods:
                signature = accepted(spec.method)
                seed_option = {SEED: seed} if seed is not None and SEED in signature.options else {}
                arguments = signature.arguments({**seed_option, **spec.options})
                if self.model is not None and MODEL_OPTION in signature.parameters:
                    arguments[MODEL_OPTION] = self.model
                make = cast("Any", method_named(spec.method))
                self._methods[key] = make(self.clew.index, self.clew.embedder, **arguments)
            return self._methods[key]


def verification_json(verification: Verification) -> dict[str, Any]:
    """Write a verification as an answer: its verdict; too little information is an abstention."""
    enough = verification.verdict != "not_enough_info"
    verdict = {"entity": verification.verdict, "label": verification.verdict, "score": 1.0}
    missing = verification.abstained or Abstention("not_in_evidence", "not enough information")
    return {
        **verification.as_json(steps=True),
        "question": verification.claim,
        "answers": [verdict] if enough else [],
        "text": verification.verdict if enough else "",
        "abstained": None if enough else missing.as_json(),
    }


def open_and_ask(
    index: str | Path, embedder: str | None, model: ChatModel | None, price: Price | None, *, steps: bool
) -> AnswerFunction:
    """Open an index in another process, by its path, to ask it."""
    return EngineAsk(Clew.open(index, embedder=embedder), model, price, steps)
