"""The chat model and the settings of a method that the user names."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from clew.cli.cluster import opened_cluster
from clew.cli.opening import LlmSpec, waiting_note
from clew.cli.options import option
from clew.cli.progress import explained_wait
from clew.cli.replies import show_replies
from clew.errors import UsageError
from clew.opening.environment import CALLS

if TYPE_CHECKING:
    from clew.llm.budget import Ledger, Limits
    from clew.llm.managed import Listener, ManagedModel
    from clew.llm.settings import Settings
    from clew.workers.base import Workers

T = TypeVar("T")
CALLS_AT_ONCE = 8
"""Questions that are asked of a model at a time where the user says nothing."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the user said of how the chat model is called; limits are for a question, or for the run."""

    TITLE: ClassVar = "Options of the chat model"
    cache: Path | None = option(None, "Record the replies of --llm here, and use them.", "FILE")
    replay: bool = option(False, "Send nothing; use only the replies recorded in --cache.")
    max_calls: int | None = option(None, f"Calls of --llm that a question may take ({CALLS}).", "N", min=1)
    max_tokens: int | None = option(None, "Tokens of --llm that a question may take.", "N", min=1)
    max_cost: float | None = option(None, "Money that a question may take; needs --prices.", "X", min=0)
    run_calls: int | None = option(None, "Calls of each model that this command may take.", "N", min=1)
    run_tokens: int | None = option(None, "Tokens of each model that this command may take.", "N", min=1)
    run_cost: float | None = option(None, "Money for each model; needs --prices.", "X", min=0)
    prices: Path | None = option(None, "What a million tokens of --llm cost.", "FILE.toml")
    trace: Path | None = option(None, "Write every prompt and reply of --llm here.", "FILE.jsonl")

    def settings(self, spec: str, *, whole: bool = False) -> Settings:
        """Make the settings of a model, with keys and addresses of the environment.

        The limits are for all work together if `whole`. Raises UsageError for a spec that is wrong or options
        that do not go together, InputError for the prices file.
        """
        from clew.llm import settings_from
        from clew.llm.budget import Limits
        from clew.llm.prices import read_prices

        if self.replay and self.cache is None:
            raise UsageError("--replay needs the recorded replies. Add --cache FILE")
        for name, cost in (("--max-cost", self.max_cost), ("--run-cost", self.run_cost)):
            if cost is not None and self.prices is None:
                raise UsageError(f"{name} needs prices, and Clew knows none. Add --prices FILE.toml")
            if cost is not None and not math.isfinite(cost):
                raise UsageError(f"{name} {cost} is no limit. Give an amount of money")
        calls = CALLS if self.max_calls is None and not whole else self.max_calls
        limits = Limits(calls, self.max_tokens, self.max_cost)
        return settings_from(
            os.environ,
            spec,
            per_question=Limits() if whole else limits,
            per_run=limits if whole else Limits(self.run_calls, self.run_tokens, self.run_cost),
            prices=None if self.prices is None else read_prices(self.prices),
            cache=self.cache,
            replay=self.replay,
            trace=self.trace,
        )

    def shared_model(self, spec: str, run: Ledger | None = None) -> ManagedModel:
        """Open a model that many requests share: its limits are for all of them together.

        They are held by `run`, of `shared_ledger`, where several processes are forked. What it says is heard
        by the request that it says it to. Raises as `opened_model`.
        """
        from clew.llm import open_model
        from clew.llm.budget import Limits
        from clew.serve.work import hear_reply

        settings = replace(
            self.settings(spec), per_question=Limits(calls=CALLS), per_run=self.shared_limits()
        )
        return open_model(settings, hear_reply, run)

    def shared_ledger(self) -> Ledger:
        """Make what holds the limits of one model over processes that are forked after it."""
        from clew.llm.budget import SharedLedger

        return SharedLedger("run", self.shared_limits())

    def shared_limits(self) -> Limits:
        """The limits of all requests to a server together."""
        from clew.llm.budget import Limits

        return Limits(
            self.run_calls if self.max_calls is None else self.max_calls,
            self.run_tokens if self.max_tokens is None else self.max_tokens,
            self.run_cost if self.max_cost is None else self.max_cost,
        )

    def refuse(self, option: str = "--llm") -> None:
        """Raise UsageError if there is an option that does nothing without a model, which `option` names."""
        exempt = ("llm", "stream")  # of which other errors speak
        changed = [
            f.name for f in fields(self) if f.name not in exempt and getattr(self, f.name) != f.default
        ]
        if changed:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in changed)
            raise UsageError(f"{names}: for a chat model. Name one with {option}, or leave it out")


@dataclass(frozen=True, slots=True)
class ManyOptions(ModelOptions):
    """How a model is called for many questions, or claims."""

    concurrency: int | None = option(
        None, f"Questions (or claims) asked of --llm at a time ({CALLS_AT_ONCE}), by each worker.", "N", min=1
    )
    timeout: float | None = option(None, "Seconds that a reply of --llm may take (120).", "S", min=0.001)

    def settings(self, spec: str, *, whole: bool = False) -> Settings:
        """As of any model, with the time of a reply; as many calls are under way as questions are asked."""
        settings = replace(ModelOptions.settings(self, spec, whole=whole), concurrency=self.at_once)
        return settings if self.timeout is None else replace(settings, timeout=self.timeout)

    @property
    def at_once(self) -> int:
        """How many questions are asked of a model at a time."""
        return self.concurrency or CALLS_AT_ONCE


@dataclass(frozen=True, slots=True)
class AskedModelOptions(ManyOptions):
    """The model of a question or a claim, or of a file of them, and whether it is heard while it speaks."""

    llm: LlmSpec = None
    stream: bool | None = option(
        None,
        "Show on stderr what --llm says, while it comes; by default on a terminal.",
        None,
        "--stream/--no-stream",
    )

    @contextmanager
    def open_for_one(
        self, start: Callable[[], AbstractContextManager[T]], *, quiet: bool
    ) -> Generator[tuple[T, ManagedModel | None]]:
        """Open the model, and with `start` what is asked; a wait for either is explained."""
        with (
            show_replies(self.stream, self.llm, quiet=quiet) as listener,
            opened_model(self.llm, self, listener) as model,
            start() as source,
            explained_wait(waiting_note(model), quiet=quiet or bool(self.stream)),
        ):
            yield source, model

    @contextmanager
    def open_for_many(
        self, ray: str | None, *, quiet: bool
    ) -> Generator[tuple[ManagedModel | None, int, Workers | None]]:
        """Open the model, on the nodes of a cluster if there is one: both, and how many are asked at once."""
        with (
            opened_cluster(ray, quiet=quiet) as cluster,
            opened_model(self.llm, self, everywhere=cluster is not None) as model,
        ):
            yield model, 1 if model is None else self.at_once, cluster


@contextmanager
def opened_models(
    options: ModelOptions, *, everywhere: bool = False
) -> Generator[Callable[[str], ManagedModel]]:
    """Hand out models by spec as they are asked for, each once, and close them; raise as `opened_model`."""
    with ExitStack() as opened:

        @cache
        def model(spec: str) -> ManagedModel:
            return opened.enter_context(model_of_settings(options.settings(spec), everywhere=everywhere))

        yield model


@contextmanager
def opened_model(
    spec: str | None, options: ModelOptions, listener: Listener | None = None, *, everywhere: bool = False
) -> Generator[ManagedModel | None]:
    """Open the model of a spec with keys and addresses of the environment, and close it; None without one.

    A `listener` hears what it says while it says it. One that is open `everywhere` can be pickled for the
    nodes of the cluster that this process is connected to. Raises UsageError for a spec, key or option that
    is wrong, InputError for a file that cannot be used, MissingExtra if the provider's SDK is not installed.
    """
    if spec is None:
        options.refuse()
        yield None
        return
    with model_of_settings(options.settings(spec), listener, everywhere=everywhere) as model:
        yield model


@contextmanager
def model_of_settings(
    settings: Settings, listener: Listener | None = None, *, everywhere: bool = False
) -> Generator[ManagedModel]:
    """Open a model, and close it. Raises as `opened_model`."""
    from clew.llm import open_model, run_sync
    from clew.llm.open import opened_everywhere

    with opened_everywhere(settings) if everywhere else nullcontext(open_model(settings, listener)) as model:
        try:
            yield model
        finally:
            run_sync(model.close())
