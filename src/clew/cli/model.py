"""The chat model that the user names, and what it says, on stderr while it says it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from clew.cli.console import err, escape, explained_wait
from clew.cli.opening import LlmSpec, opened_cluster, waiting_note
from clew.cli.options import option
from clew.errors import UsageError
from clew.opening.environment import CALLS

if TYPE_CHECKING:
    from clew.llm.budget import Ledger, Limits
    from clew.llm.managed import Listener, ManagedModel
    from clew.llm.providers import Settings
    from clew.workers import Workers


@contextmanager
def show_replies(stream: bool, llm: str | None) -> Generator[Listener | None]:
    """Write what the model `llm` says on stderr meanwhile; yields who hears it, or None."""
    if stream and llm is None:
        raise UsageError("--stream: for a chat model. Name one with --llm, or leave it out")
    last_call, inside_line = 0, False

    def hear(call: int, piece: str, /) -> None:
        nonlocal last_call, inside_line
        lines = re.split(r"\r\n|\r|\n", piece.replace("\t", "    "))
        text = "\n".join(map(escape, lines))
        start = "\n" if call != last_call and inside_line else ""
        last_call, inside_line = call, not text.endswith("\n")
        err().print(f"{start}{text}", end="", soft_wrap=True)

    try:
        yield hear if stream else None
    finally:
        if inside_line:
            err().print()


T = TypeVar("T")


CALLS_AT_ONCE = 8
"""Questions that are asked of a model at a time where the user says nothing."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the user said of how the chat model is called; limits are for a question, or for the run."""

    TITLE: ClassVar = "Options of the chat model"
    cache: Path | None = option(None, "Record the replies of --llm here, and use them.", "FILE")
    replay: bool = option(False, "Send nothing; use only the replies recorded in --cache.")
    budget: str | None = option(
        None, f"What a question may take of --llm, as calls={CALLS},tokens=N,cost=X.", "LIMITS"
    )
    run_budget: str | None = option(None, "What this command may take of each model.", "LIMITS")
    prices: Path | None = option(None, "What a million tokens of --llm cost.", "FILE.toml")
    trace: Path | None = option(None, "Write every prompt and reply of --llm here.", "FILE.jsonl")

    def settings(self, spec: str, *, whole: bool = False) -> Settings:
        """Make the settings of a model, with keys and addresses of the environment.

        The limits are for all work together if `whole`. Raises UsageError, InputError (the prices file).
        """
        from clew.llm import settings_from
        from clew.llm.budget import Limits, read_prices

        if self.replay and self.cache is None:
            raise UsageError("--replay needs the recorded replies. Add --cache FILE")
        limits = self.limits("--budget", self.budget)
        run_limits = self.limits("--run-budget", self.run_budget)
        if limits.calls is None and not whole:
            limits = replace(limits, calls=CALLS)
        return settings_from(
            os.environ,
            spec,
            per_question=Limits() if whole else limits,
            per_run=limits if whole else run_limits,
            prices=None if self.prices is None else read_prices(self.prices),
            cache=self.cache,
            replay=self.replay,
            trace=self.trace,
        )

    def limits(self, flag: str, text: str | None) -> Limits:
        """The limits that an option says, as `calls=40,cost=0.5`. Raises UsageError for what is no limit."""
        from clew.llm.budget import Limits

        values: dict[str, float] = {}
        for part in (text or "").replace(",", " ").split():
            name, _, amount = part.partition("=")
            try:
                values[name] = float(amount)
            except ValueError:
                values[name] = math.nan
            least = 0 if name == "cost" else 1
            if name not in ("calls", "tokens", "cost") or not least <= values[name] < math.inf:
                raise UsageError(f"{flag} {text}: {part!r} is no limit. Write calls=40,tokens=20000,cost=0.5")
            if name == "cost" and self.prices is None:
                raise UsageError(f"{flag} cost=… needs prices, and Clew knows none. Add --prices FILE.toml")
        whole = {name: int(values[name]) for name in ("calls", "tokens") if name in values}
        return Limits(whole.get("calls"), whole.get("tokens"), values.get("cost"))

    def shared_model(self, spec: str, run: Ledger | None = None) -> ManagedModel:
        """Open a model that many requests share, each of which hears what is said to it. As `opened_model`.

        Limits are for all of them, held by `run`, of `shared_ledger`, where several processes are forked.
        """
        from clew.llm import open_model
        from clew.llm.budget import Limits
        from clew.serve.work import hear_reply

        limits = self._shared_limits()
        settings = replace(self.settings(spec), per_question=Limits(calls=CALLS), per_run=limits)
        return open_model(settings, hear_reply, run)

    def shared_ledger(self) -> Ledger:
        """Make what holds the limits of one model over processes that are forked after it."""
        from clew.llm.budget import SharedLedger

        return SharedLedger("run", self._shared_limits())

    def _shared_limits(self) -> Limits:
        """The limits of all requests to a server together."""
        of_run, named = (
            self.limits("--run-budget", self.run_budget),
            asdict(self.limits("--budget", self.budget)),
        )
        return replace(of_run, **{name: value for name, value in named.items() if value is not None})

    def refuse(self, option: str = "--llm") -> None:
        """Raise UsageError if there is an option that does nothing without a model, which `option` names."""
        others = (f for f in fields(self) if f.name not in ("llm", "stream"))  # of which other errors speak
        changed = [f.name for f in others if getattr(self, f.name) != f.default]
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
    stream: bool = option(
        False, "Show on stderr what --llm says, while it comes.", None, "--stream/--no-stream"
    )

    @contextmanager
    def open_for_one(
        self, start: Callable[[], AbstractContextManager[T]], *, quiet: bool
    ) -> Generator[tuple[T, ManagedModel | None]]:
        """Open the model, and with `start` what is asked; a wait for either is explained."""
        with (
            show_replies(self.stream, self.llm) as listener,
            opened_model(self.llm, self, listener) as model,
            start() as source,
            explained_wait(waiting_note(model), quiet=quiet or self.stream),
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

    A `listener` hears it. One that is open `everywhere` can be pickled for the nodes of the cluster that this
    process is connected to. Raises UsageError, InputError (a file), MissingExtra.
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
