"""The chat model and the settings of a method that the user names."""

from __future__ import annotations

import math
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.llm.managed import ManagedModel
    from clew.llm.settings import Settings

CALLS = 40
"""Calls of a chat model that one question may take."""


Cache = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FILE", help="Record the replies of --llm here, and use them."),
]
Replay = Annotated[
    bool, typer.Option("--replay", help="Send nothing; use only the replies recorded in --cache.")
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls", metavar="N", min=1, help=f"Calls of --llm that a question may take ({CALLS})."
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", metavar="N", min=1, help="Tokens of --llm that a question may take."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="X", min=0, help="Money that a question may take; needs --prices."),
]
PricesFile = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE.toml", help="What a million tokens of --llm cost.")
]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the user said of how the chat model is called; limits are for a question.

    `trace` is a file for every prompt and reply.
    """

    cache: Path | None = None
    replay: bool = False
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Path | None = None
    trace: Path | None = None

    def settings(self, spec: str, *, whole: bool = False) -> Settings:
        """Make the settings of a model, with keys and addresses of the environment.

        The limits are for all work together if `whole`.

        Raises UsageError for a spec that is wrong or options that do not go together, InputError for the
        prices file.
        """
        from clew.llm import settings_from
        from clew.llm.budget import Limits
        from clew.llm.prices import read_prices

        if self.replay and self.cache is None:
            raise UsageError("--replay needs the recorded replies. Add --cache FILE")
        if self.max_cost is not None and self.prices is None:
            raise UsageError("--max-cost needs prices, and Clew knows none. Add --prices FILE.toml")
        if self.max_cost is not None and not math.isfinite(self.max_cost):
            raise UsageError(f"--max-cost {self.max_cost} is no limit. Give an amount of money")
        calls = CALLS if self.max_calls is None and not whole else self.max_calls
        limits = Limits(calls, self.max_tokens, self.max_cost)
        return settings_from(
            os.environ,
            spec,
            per_question=Limits() if whole else limits,
            per_run=limits if whole else Limits(),
            prices=None if self.prices is None else read_prices(self.prices),
            cache=self.cache,
            replay=self.replay,
            trace=self.trace,
        )

    def refuse(self, option: str = "--llm") -> None:
        """Raise UsageError if there is an option that does nothing without a model, which `option` names."""
        given = {
            "--cache": self.cache is not None,
            "--replay": self.replay,
            "--max-calls": self.max_calls is not None,
            "--max-tokens": self.max_tokens is not None,
            "--max-cost": self.max_cost is not None,
            "--prices": self.prices is not None,
        }
        if any(given.values()):
            names = ", ".join(name for name, there in given.items() if there)
            raise UsageError(f"{names}: for a chat model. Name one with {option}, or leave it out")


@contextmanager
def opened_model(spec: str | None, options: ModelOptions) -> Generator[ManagedModel | None]:
    """Open the model of a spec with keys and addresses of the environment, and close it; None without one.

    Raises UsageError for a spec, key or option that is wrong, InputError for a file that cannot be used,
    MissingExtra if the provider's SDK is not installed.
    """
    if spec is None:
        options.refuse()
        yield None
        return
    from clew.llm import open_model, run_sync

    model = open_model(options.settings(spec))
    try:
        yield model
    finally:
        run_sync(model.close())


def method_settings(method: str, frontier: str | None, k: int | None = None) -> object:
    """Make the settings of kg-rag or walk-retrieve; None for defaults, and for other methods.

    `k` is left to SimGRAG where the method is another. Raises UsageError for what the method does not have.
    """
    if frontier is not None and method != "kg-rag":
        raise UsageError(f"--frontier is for --method kg-rag, not {method}. Leave it out")
    if method == "walk-retrieve" and k is not None:
        from clew.methods.walk_retrieve import WalkRetrieveSettings

        return WalkRetrieveSettings(k)
    if frontier is None:
        return None
    if frontier not in ("question", "answers"):
        raise UsageError(f"There is no frontier {frontier!r}. It is question or answers")
    from clew.methods.kg_rag import Settings

    return Settings(frontier=frontier)
