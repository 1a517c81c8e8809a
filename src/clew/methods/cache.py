"""What was made for a name is kept, until another model or other settings are given for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from clew.llm.types import ChatModel

T = TypeVar("T")


class MethodCache(Generic[T]):
    """Methods or verifiers by name, each with the model and the settings that it was made with."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[T, ChatModel | None, object]] = {}

    def get(self, name: Hashable, model: ChatModel | None, settings: object, make: Callable[[], T]) -> T:
        """What is kept for a name, a model and settings; made if there is none."""
        made = self._made.get(name)
        if made is None or made[1] is not model or made[2] != settings:
            made = self._made[name] = (make(), model, settings)
        return made[0]

    def clear(self) -> None:
        """Keep nothing."""
        self._made.clear()
