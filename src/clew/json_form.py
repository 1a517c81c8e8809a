"""What JSON can hold of a value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast


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


def json_line(value: Any) -> str:  # noqa: ANN401
    """One line of JSON, in plain text; escapes only for what cannot be encoded."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if not _SURROGATES.search(text) else json.dumps(value, allow_nan=False)


_SURROGATES = re.compile(r"[\ud800-\udfff]")
