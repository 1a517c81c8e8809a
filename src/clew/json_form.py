"""What JSON can hold of a value, and of a dataclass."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, cast

from clew.redaction import redacted


def json_form(value: object) -> Any:  # noqa: ANN401
    """Turn what a step holds into mappings, lists, strings and finite numbers (of six decimals)."""
    if isinstance(value, Mapping):
        return {str(key): json_form(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [json_form(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    # Numbers of NumPy are not those of Python, but know them.
    item = getattr(value, "item", None)
    return json_form(item()) if callable(item) else str(value)


def fields_json(value: object, names: str = "") -> dict[str, Any]:
    """Return a dataclass as a mapping of its fields, or of those `names`, in that order.

    Members that say another form in `as_json` have that one; tuples are lists.
    """
    wanted = names.split() if names else _names(type(value))
    return {name: _plain(getattr(value, name)) for name in wanted}


@cache
def _names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401
    return tuple(each.name for each in fields(kind))


def _plain(value: Any) -> Any:  # noqa: ANN401
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    return value.as_json() if hasattr(value, "as_json") else fields_json(value)


def json_line(value: Any) -> str:  # noqa: ANN401
    """One line of JSON, in plain text; escapes only for what cannot be encoded."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return redacted(text if not _SURROGATES.search(text) else json.dumps(value, allow_nan=False))


_SURROGATES = re.compile(r"[\ud800-\udfff]")
