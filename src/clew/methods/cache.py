"""What was made for a name, a model and settings is kept, the last few of each name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from clew.llm.types import ChatModel

T = TypeVar("T")
MOST_OF_ONE_NAME = 4
"""What is kept of one name: who asks in turns by several settings does not make a method each time."""


class MethodCache(Generic[T]):
    """Methods or verifiers by name, each with the model and the settings that it was made with.

    Threads that ask for the same share what the first of them made.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, list[tuple[T, ChatModel | None, object]]] = {}
        self._making = RLock()

    def get(self, name: Hashable, model: ChatModel | None, settings: object, make: Callable[[], T]) -> T:
        """What is kept for a name, a model and settings; made if there is none."""
        with self._making:
            held = self._made.setdefault(name, [])
            for made in held:
                if made[1] is model and made[2] == settings:
                    return made[0]
            held.append((make(), model, settings))
            del held[:-MOST_OF_ONE_NAME]
            return held[-1][0]

    def clear(self) -> None:
        """Keep nothing."""
        self._made.clear()
