"""Methods by name; adding one is a file and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from clew.errors import UsageError
from clew.index.directory import Index
from clew.text.embedder import Embedder
from clew.types import Answer

METHODS: dict[str, str] = {
    "auto": "clew.methods.auto:Auto",
    "walk-retrieve": "clew.methods.walk_retrieve:WalkRetrieve",
}
"""Name → `module:class`, imported when it is first used; the class is called with (index, embedder)."""


class Method(Protocol):
    """What answers questions over one open index."""

    @property
    def name(self) -> str:
        """The name that users give."""
        ...

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer or abstain; `entities` are names that the user says the question is about."""
        ...


class MethodFactory(Protocol):
    """The class of a method."""

    def __call__(self, index: Index, embedder: Embedder) -> Method:
        """Make the method for an open index."""
        ...


def method_named(name: str) -> MethodFactory:
    """Return the class of a method; UsageError if there is none of that name."""
    if name not in METHODS:
        raise UsageError(f"There is no method {name!r}. Methods are: {', '.join(METHODS)}.")
    module, _, attribute = METHODS[name].partition(":")
    return cast(MethodFactory, getattr(import_module(module), attribute))
