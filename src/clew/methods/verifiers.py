"""What verifies claims, by the names of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.text.embedder import Embedder
from clew.types import Verification

if TYPE_CHECKING:
    from clew.llm.types import ChatModel

VERIFIERS = ("auto", "simgrag")


class Verifier(Protocol):
    """What verifies claims against one open index."""

    @property
    def name(self) -> str:
        """The name that users give."""
        ...

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Give a verdict on a claim, part by part."""
        ...


def make_verifier(
    name: str, index: Index, embedder: Embedder, model: ChatModel | None, settings: object
) -> Verifier:
    """Make a verifier: `auto` is built in and asks a model where it has not enough; `simgrag` always asks.

    Raises UsageError for another name, for `simgrag` without a model, and for settings that are not its own.
    """
    if name not in VERIFIERS:
        raise UsageError(f"Claims are not verified by {name!r}. Methods are: {', '.join(VERIFIERS)}.")
    if name == "auto" and model is None:
        if settings is not None:
            raise UsageError("These settings are for a language model. Name one with --llm provider/model")
        from clew.claims.verify import Verify

        return Verify(index, embedder)
    from clew.methods.simgrag.method import Settings
    from clew.methods.simgrag.verify import AutoVerify, VerifyWithModel

    if settings is not None and not isinstance(settings, Settings):
        raise UsageError(f"{settings!r} are no settings of SimGRAG")
    if name == "auto":
        return AutoVerify(index, embedder, model=model, settings=settings)
    return VerifyWithModel(index, embedder, model=model, settings=settings)
