"""`--verbalise`: the chat model that says the walks of a corpus, its limits, and what is told of its work."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.console import warn
from clew.cli.model import ModelOptions
from clew.cli.progress import Bar
from clew.text.counted import counted

if TYPE_CHECKING:
    from clew.methods.walk_retrieve.verbalise import ModelSayer, VerbaliseEstimate

Verbalise = Annotated[
    str | None,
    typer.Option("--verbalise", metavar="PROVIDER/MODEL", help="Chat model that says the walks."),
]
MostCalls = Annotated[
    int | None, typer.Option("--max-calls", metavar="N", min=1, help="Calls of --verbalise, in all.")
]
MostTokens = Annotated[
    int | None, typer.Option("--max-tokens", metavar="N", min=1, help="Tokens of --verbalise, in all.")
]
MostCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="X", min=0, help="Money for --verbalise; needs --prices."),
]
Prices = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE.toml", help="What a million tokens cost.")
]
Replies = Annotated[
    Path | None, typer.Option("--cache", metavar="FILE", help="Record replies of --verbalise, and use them.")
]


@dataclass(frozen=True, slots=True)
class SayerOptions:
    """What the user said of the model that says walks; the limits are for all of its work together."""

    verbalise: Verbalise = None
    cache: Replies = None
    max_calls: MostCalls = None
    max_tokens: MostTokens = None
    max_cost: MostCost = None
    prices: Prices = None

    @property
    def calling(self) -> ModelOptions:
        """How the model is called."""
        return ModelOptions(
            cache=self.cache,
            max_calls=self.max_calls,
            max_tokens=self.max_tokens,
            max_cost=self.max_cost,
            prices=self.prices,
        )


@contextmanager
def opened_sayer(
    options: SayerOptions, index: Path, bar: Bar, *, quiet: bool, said_by: str | None = None
) -> Generator[ModelSayer | None]:
    """Open the model that says the walks of `index`, else the one that they are `said_by`; None without one.

    What it said before it was stopped is used again. Raises as `opened_model`.
    """
    spec = options.verbalise or said_by
    if spec is None:
        options.calling.refuse("--verbalise")
        yield None
        return
    from clew.index.store.directory import SAID
    from clew.llm import open_model, run_sync
    from clew.methods.walk_retrieve.verbalise import ModelSayer

    settings = options.calling.settings(spec, whole=True)
    model = open_model(settings)
    sayer = ModelSayer(
        model,
        index / SAID,
        price=settings.prices.find(settings.model),
        estimated=lambda estimate: None if quiet else warn(_estimated(model.name, estimate)),
        progress=lambda done, total, cost: bar.update("verbalising", done, total, "walks", _cost(cost)),
    )
    try:
        yield sayer
    finally:
        run_sync(model.close())
        if not quiet and sayer.said:
            warn(_done(sayer))


def _estimated(name: str, found: VerbaliseEstimate) -> str:
    money = "" if found.money is None else f", at most {found.money:,.2f} of money"
    return (
        f"{name} is to say about {counted(found.calls, 'walk')}, a call each: about {found.input_tokens:,} "
        f"tokens in, at most {found.output_tokens:,} out{money}. Stopped, it goes on where it was"
    )


def _done(sayer: ModelSayer) -> str:
    cost = _cost(sayer.cost)
    told = f"{counted(sayer.said, 'walk')} said by {sayer.name} ({counted(sayer.calls, 'call')}{cost})"
    if not sayer.failed:
        return told
    return (
        f"{told}; {sayer.failed:,} failed and are said by templates. To try them again: "
        f"clew update INDEX --verbalise {sayer.name}"
    )


def _cost(cost: float | None) -> str:
    return f", {cost:,.4f} so far" if cost else ""
