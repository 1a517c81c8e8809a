"""`--verbalise`: the chat model that says the walks of a corpus, its limits, and messages on its work."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.cli.console import warn
from clew.cli.model import ModelOptions, model_of_settings
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
    budget: str | None = option(None, "Limits of --verbalise in all, as calls=N,tokens=N,cost=X.", "LIMITS")
    prices: Path | None = option(None, "What a million tokens cost.", "FILE.toml")

    @property
    def calling(self) -> ModelOptions:
        """How the model is called."""
        return ModelOptions(cache=self.cache, budget=self.budget, prices=self.prices)


@contextmanager
def opened_verbaliser(
    options: VerbaliserOptions,
    index: Path,
    bar: Bar,
    *,
    quiet: bool,
    walk_model: str | None = None,
    cluster: Workers | None = None,
) -> Generator[ModelVerbaliser | None]:
    """Open the model that says the walks of `index`, else `walk_model`, which says them; None for neither.

    The workers of a `cluster` ask it. What it said before it was stopped is used again. Raises as
    `opened_model`.
    """
    spec = options.verbalise or walk_model
    if spec is None:
        options.calling.refuse("--verbalise")
        yield None
        return
    from clew.index.store.writing import SAID_FOLDER
    from clew.methods.walk_retrieve.verbalise import ModelVerbaliser

    settings = options.calling.settings(spec, whole=True)
    with model_of_settings(settings, everywhere=cluster is not None) as model:
        verbaliser = ModelVerbaliser(
            model,
            index / SAID_FOLDER,
            price=settings.prices.find(settings.model),
            estimated=lambda estimate: None if quiet else warn(_describe_estimate(model.name, estimate)),
            progress=lambda done, total, cost: bar.update("verbalising", done, total, "walks", _cost(cost)),
            cluster=cluster,
        )
        try:
            yield verbaliser
        finally:
            if not quiet and verbaliser.sentence_count:
                warn(_describe_result(verbaliser))


def _describe_estimate(name: str, estimate: VerbaliseEstimate) -> str:
    money = "" if estimate.money is None else f", at most {estimate.money:,.2f} of money"
    return (
        f"{name} is to say about {counted(estimate.calls, 'walk')}, a call each: about "
        f"{estimate.input_tokens:,} tokens in, at most {estimate.output_tokens:,} out{money}. "
        "Stopped, it goes on where it was"
    )


def _describe_result(verbaliser: ModelVerbaliser) -> str:
    cost = _cost(verbaliser.cost)
    walks, calls = counted(verbaliser.sentence_count, "walk"), counted(verbaliser.calls, "call")
    summary = f"{walks} said by {verbaliser.name} ({calls}{cost})"
    if not verbaliser.failed:
        return summary
    return (
        f"{summary}; {verbaliser.failed:,} failed and are said by templates. To try them again: "
        f"clew update INDEX --verbalise {verbaliser.name}"
    )


def _cost(cost: float | None) -> str:
    return f", {cost:,.4f} so far" if cost else ""
