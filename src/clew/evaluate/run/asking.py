"""Asking many questions or claims, one after the other, in threads, or in workers; results come in order."""

from __future__ import annotations

import inspect
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clew.errors import ClewError, UsageError
from clew.evaluate.records import EvalQuestion, Failure, Key
from clew.foundation.system import Bounds
from clew.llm.managed import ManagedModel
from clew.methods.registry import VERIFIERS, method_named, settings_of
from clew.methods.settings import read_options
from clew.types import Abstention
from clew.workers import Workers, in_order

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.evaluate.run.rundir import MethodVariant
    from clew.llm.reply import ChatModel

S = TypeVar("S")
T = TypeVar("T")


class Abandoned(BaseException):
    """Raised in a thread that waits for a model, where nobody waits for its work any more."""


def in_threads(work: Callable[[S], T], items: Iterable[S], threads: int) -> Generator[T]:
    """Do some work in threads; results come in the order of the items.

    After Ctrl-C what is finished comes, in order but not all; what waits for a model is abandoned.
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


def in_workers(
    workers: Workers, make: Callable[[], Callable[[S], T]], items: Sequence[S], threads: int
) -> Generator[T]:
    """Do what `make` (pickled) makes in each worker, so many items at a time. Raises Stopped."""
    size = max(16, threads)
    pieces = [items[at : at + size] for at in range(0, len(items), size)]
    for results in workers.map(partial(_piece_worker, make, threads), pieces):
        yield from results


def _piece_worker(make: Callable[[], Callable[[S], T]], threads: int) -> Callable[[Sequence[S]], list[T]]:
    work = make()
    return lambda items: list(in_threads(work, items, threads))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question or claim: the JSON of a reply, or a failure; `stopped` by which budget."""

    reply: dict[str, Any] | None
    failure: Failure | None = None
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """How a method is asked: questions, or `claims` in a `closed_world` or an open one; with its `steps`."""

    method: str
    model: ChatModel | None = None
    settings: object = None
    claims: bool = False
    closed_world: bool = False
    steps: bool = False

    def prepare(self, clew: Clew | Database) -> None:
        """Make what is asked; raises what is wrong with it."""
        clew.prepare(self.method, self.model, self.settings, claims=self.claims)

    def ask(self, clew: Clew | Database, id: str, text: str, entities: Sequence[str] = ()) -> Outcome:
        """Ask one item. Raises a ClewError that concerns them all: a key, an extra, a recording."""
        stopped = ""
        try:
            if self.claims:
                reply = clew.verify(
                    text, id=id, closed_world=self.closed_world,
                    method=self.method, model=self.model, settings=self.settings,
                )  # fmt: skip
            else:
                reply = clew.ask(
                    text, id=id, entities=entities,
                    method=self.method, model=self.model, settings=self.settings,
                )  # fmt: skip
        except Exception as error:
            message = str(error)
            if not isinstance(error, ClewError):  # a bug fails this item alone
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(where.filename).name}:{where.lineno}"
                message = f"internal error: {error} ({place}); please report it"
            elif error.exit_code == 2 and not isinstance(error, UsageError):
                error.add_note(f"This is the {'claim' if self.claims else 'question'} with id {id!r}")
                raise
            elif getattr(error, "scope", None) == "run":
                stopped = message
            return Outcome(None, Failure(type(error).__name__, message), stopped)
        reached = self.model.run.reached if isinstance(self.model, ManagedModel) else None
        is_cut = reply.abstained is not None and reply.abstained.reason == "budget"
        is_cut = is_cut or any(step.name == "budget" for step in reply.steps)
        stopped = str(reached) if reached is not None and is_cut else ""
        return Outcome(reply.as_json(steps=self.steps), stopped=stopped)


# Asking the methods of a run. The options that an experiment gives a method are fields of its settings; for
# examples and solved questions, the path of a file. A field `seed` gets the seed.


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """One question, or claim, for one method."""

    key: Key
    method: MethodVariant
    question: EvalQuestion
    entities: tuple[str, ...]
    claim: bool = False


def option_names(method: str) -> frozenset[str]:
    """The options that an experiment may give a method."""
    kind = settings_of(method)
    return frozenset() if kind is None else frozenset(f.name for f in fields(kind))


def settings_for(variant: MethodVariant, seed: int | None = None) -> object:
    """Make the settings of a method, None without options. UsageError: one is wrong; InputError: its file."""
    kind, names = settings_of(variant.method), option_names(variant.method)
    if unknown := sorted(set(variant.options) - names):
        raise UsageError(
            f"Method {variant.method} has no option {unknown[0]!r}. Its options: "
            f"{', '.join(sorted(names)) or 'none'}."
        )
    values = ({} if seed is None or "seed" not in names else {"seed": seed}) | dict(variant.options)
    return kind(**read_options(kind, values)) if kind is not None and values else None


def check_methods(variants: Sequence[MethodVariant], model: ChatModel | None) -> None:
    """Check options: UsageError if one is wrong, InputError for a file that cannot be used."""
    for variant in variants:
        settings_for(variant)
    takes = (inspect.signature(method_named(variant.method)).parameters for variant in variants)
    if model is not None and not any("model" in parameters for parameters in takes):
        names = ", ".join(variant.method for variant in variants)
        raise UsageError(f"None of the methods ({names}) asks a model. Leave out --llm")


def needs_model(variant: MethodVariant, clew: Clew) -> str | None:
    """Find out whether a method cannot do without a model, by making it without one; its own words if so."""
    try:
        clew.prepare(variant.method, settings=settings_for(variant))
    except UsageError as error:
        return str(error)
    return None


def task_asker(
    clew: Clew, model: ChatModel | None, *, steps: bool
) -> Callable[[AnswerTask], tuple[AnswerTask, Outcome]]:
    """Make what asks methods over one index, for as long as each takes; an error becomes its failure.

    Without a model a method's first question is asked twice, as the first time compiles kernels.
    """
    clew.bounds = Bounds(None)
    askers: dict[tuple[str, int | None, bool], Asker] = {}

    def ask(task: AnswerTask) -> tuple[AnswerTask, Outcome]:
        key, question = (task.key.method, task.key.seed, task.claim), task.question
        asker = askers.get(key)
        if asker is None:
            # In a closed world, as the data sets know no third verdict: what is not recorded is refuted.
            method, claims = task.method.method, task.claim and task.method.method in VERIFIERS
            settings = settings_for(task.method, task.key.seed)
            asker = askers[key] = Asker(method, model, settings, claims, closed_world=True, steps=steps)
            if model is None:
                asker.ask(clew, question.id, question.text, task.entities)
        return task, asker.ask(clew, question.id, question.text, task.entities)

    return ask


def open_and_ask(
    index: str | Path, embedder: str | None, model: ChatModel | None, *, steps: bool
) -> Callable[[AnswerTask], tuple[AnswerTask, Outcome]]:
    """Open an index in another process, by its path, to ask it."""
    from clew.engine import Clew

    return task_asker(Clew.open(index, embedder=embedder), model, steps=steps)


def as_answer(reply: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a reply as a record has it: a verdict is an answer, too little for one an abstention."""
    if "verdict" not in reply:
        return reply
    verdict, missing = reply["verdict"], Abstention("not_in_evidence", "not enough information")
    enough = verdict != "not_enough_info"
    return {
        **reply,
        "question": reply["claim"],
        "answers": [{"entity": verdict, "label": verdict, "score": 1.0}] if enough else [],
        "text": verdict if enough else "",
        "abstained": None if enough else reply["abstained"] or missing.as_json(),
    }
