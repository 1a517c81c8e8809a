"""What verifies claims, by the names of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from clew.errors import UsageError
from clew.methods.registry import METHODS, MethodSpec
from clew.plugins import imported

if TYPE_CHECKING:
    from clew.index.store.directory import Index
    from clew.llm.types import ChatModel
    from clew.methods.database_copy import DatabaseCopy
    from clew.text.embedder import Embedder
    from clew.types import Verification

VERIFIERS = tuple(name for name, spec in METHODS.items() if spec.verifier is not None)


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
    factory = cast("Any", imported(str(_checked(name, settings).verifier), "verifier"))
    return cast(Verifier, factory(index, embedder, model=model, settings=settings))


def make_store_verifier(name: str, copy: DatabaseCopy, model: ChatModel | None, settings: object) -> Verifier:
    """Make a verifier that asks a `copy` of a database, or what is near what a claim names.

    Raises UsageError as `make_verifier`.
    """
    if _checked(name, settings).needs_model and model is None:
        raise UsageError(f"To verify claims {name} needs a chat model. Name one with --llm provider/model")
    if settings is not None and model is None:
        raise UsageError("These settings are for a language model. Name one with --llm provider/model")
    factory = cast("Any", imported("clew.methods.neighbourhoods:NearVerifier", "verifier"))
    return cast(Verifier, factory(name, copy, model, settings))


def _checked(name: str, settings: object) -> MethodSpec:
    if name not in VERIFIERS:
        raise UsageError(f"Claims are not verified by {name!r}. Methods are: {', '.join(VERIFIERS)}.")
    spec = METHODS[name]
    wanted = spec.settings_class(claims=True)
    if settings is not None and (wanted is None or not isinstance(settings, wanted)):
        raise UsageError(f"{settings!r} are no settings of {wanted.__name__ if wanted else name}")
    return spec
