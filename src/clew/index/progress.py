"""How far the building of an index is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Stage = Literal["read", "schema", "names", "vectors", "search", "walks", "nodes", "triples"]
Progress = Callable[[Stage, int, int], None]
"""Called with (stage, done, total): bytes of the sources, then entities (for walks too), then triples."""
