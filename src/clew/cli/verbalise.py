"""`--verbalise`: the chat model that says the walks of a corpus, its limits, and what is told of its work."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.cli.console import warn
from clew.cli.model import ModelOptions, kept_open
from clew.cli.options import option
from clew.cli.progress import Bar
from clew.text.counted import counted

if TYPE_CHECKING:
    from clew.methods.walk_retrieve.verbalise import ModelVerbaliser, VerbaliseEstimate
    from clew.workers.base import Workers


@dataclass(frozen=True, slots=True)
class VerbaliserOptions:
    """What the user said of the model that says walks; the limits are for all of its work together."""

    verbalise: str | None = option(None, "Chat model that says the walks.", "PROVIDER/MODEL")
    cache: Path | None = option(None, "Record replies of --verbalise, and use them.", "FILE")
    max_calls: int | None = option(None, "Calls of --verbalise, in all.", "N", min=1)
    max_tokens: int | None = option(None, "Tokens of --verbalise, in all.", "N", min=1)
    max_cost: float | None = option(None, "Money for --verbalise; needs --prices.", "X", min=0)
    prices: Path | None = option(None, "What a million tokens cost.", "FILE.toml")

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
def opened_verbaliser(
    options: VerbaliserOptions,
    index: Path,
    bar: Bar,
    *,
    quiet: bool,
    said_by: str | None = None,
    cluster: Workers | None = None,
) -> Generator[ModelVerbaliser | None]:
    """Open the model that says the walks of `index`, else the one that they are `said_by`; None without one.

    The workers of a `cluster` ask it. What it said before it was stopped is used again. Raises as
    `opened_model`.
    """
    spec = options.verbalise or said_by
    if spec is None:
        options.calling.refuse("--verbalise")
        yield None
        return
    from clew.index.store.writing import SAID_FOLDER
    from clew.methods.walk_retrieve.verbalise import ModelVerbaliser

    settings = options.calling.settings(spec, whole=True)
    with kept_open(settings, everywhere=cluster is not None) as model:
        verbaliser = ModelVerbaliser(
            model,
            index / SAID_FOLDER,
            price=settings.prices.find(settings.model),
            estimated=lambda estimate: None if quiet else warn(_estimated(model.name, estimate)),
            progress=lambda done, total, cost: bar.update("verbalising", done, total, "walks", _cost(cost)),
            cluster=cluster,
        )
        try:
            yield verbaliser
        finally:
            if not quiet and verbaliser.said:
                warn(_done(verbaliser))


def _estimated(name: str, found: VerbaliseEstimate) -> str:
    money = "" if found.money is None else f", at most {found.money:,.2f} of money"
    return (
        f"{name} is to say about {counted(found.calls, 'walk')}, a call each: about {found.input_tokens:,} "
        f"tokens in, at most {found.output_tokens:,} out{money}. Stopped, it goes on where it was"
    )


def _done(verbaliser: ModelVerbaliser) -> str:
    cost = _cost(verbaliser.cost)
    said, calls = counted(verbaliser.said, "walk"), counted(verbaliser.calls, "call")
    told = f"{said} said by {verbaliser.name} ({calls}{cost})"
    if not verbaliser.failed:
        return told
    return (
        f"{told}; {verbaliser.failed:,} failed and are said by templates. To try them again: "
        f"clew update INDEX --verbalise {verbaliser.name}"
    )


def _cost(cost: float | None) -> str:
    return f", {cost:,.4f} so far" if cost else ""
