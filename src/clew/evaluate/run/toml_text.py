"""Writing TOML; the standard library reads it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import tomli_w


def toml_text(document: Mapping[str, Any]) -> str:
    """Write tables, lists and values; None is left out, and what TOML lacks is written as text."""
    return tomli_w.dumps(cast("dict[str, Any]", _plain(document)))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _plain(inner) for key, inner in items if inner is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in cast("list[object]", value)]
    return value if isinstance(value, (bool, int, float)) else str(value)
