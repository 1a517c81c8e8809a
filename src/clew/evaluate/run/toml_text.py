"""Writing TOML: what `config.resolved.toml` needs of it; the standard library reads it back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, cast

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def toml_text(document: Mapping[str, Any]) -> str:
    """Write a document of tables, arrays of tables and values; None is left out."""
    return "\n".join(_table(document, ())).strip() + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """Plain values first, then the tables below."""
    lines: list[str] = []
    below: list[str] = []
    for key, value in table.items():
        inner = (*path, key)
        if value is None:
            continue
        if isinstance(value, Mapping):
            below += ["", f"[{_path(inner)}]", *_table(cast("Mapping[str, Any]", value), inner)]
        elif _is_tables(value):
            for item in value:
                below += ["", f"[[{_path(inner)}]]", *_table(item, inner)]
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    return lines + below


def _is_tables(value: object) -> bool:
    items = cast("list[object]", value) if isinstance(value, (list, tuple)) else []
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _path(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.match(key) else _text(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "nan" if value != value else f"{'-' * (value < 0)}inf"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in cast('list[object]', value))}]"
    return _text(str(value))


def _text(text: str) -> str:
    # A JSON string is a basic string of TOML, but for DEL, which JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
