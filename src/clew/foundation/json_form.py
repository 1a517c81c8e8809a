"""What JSON can hold of a value and of a dataclass; and JSON that users give: whole, or one object a line."""

from __future__ import annotations

import json
import math
import re
import threading
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from clew.errors import InputError, ParseError
from clew.foundation.redaction import redacted

T = TypeVar("T")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_ONE_AT_A_TIME = threading.Lock()


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
    field_names = names.split() if names else _names(type(value))
    return {name: _json_value(getattr(value, name)) for name in field_names}


@cache
def _names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401
    return tuple(each.name for each in fields(kind))


def _json_value(value: Any) -> Any:  # noqa: ANN401
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    return value.as_json() if hasattr(value, "as_json") else fields_json(value)


def json_line(value: Any) -> str:  # noqa: ANN401
    """One line of JSON, in plain text; escapes only for what cannot be encoded."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return redacted(text if not _SURROGATES.search(text) else json.dumps(value, allow_nan=False))


def json_object(raw: bytes | str, file: str, line: int, advice: str) -> dict[str, Any]:
    """Parse one line, which must be a JSON object; ParseError says where it is none."""
    try:
        value = json.loads(raw.decode("utf-8") if isinstance(raw, bytes) else raw)
    except UnicodeDecodeError as error:
        raise ParseError(file, line, "not UTF-8 text", "Convert the file to UTF-8") from error
    except RecursionError as error:
        raise ParseError(file, line, "not JSON (nested too deeply)", advice) from error
    except ValueError as error:  # also for a number of thousands of digits
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(";")[0]
        raise ParseError(file, line, f"not JSON ({reason})", advice) from error
    if not isinstance(value, dict):
        raise ParseError(file, line, "not a JSON object", advice)
    return cast("dict[str, Any]", value)


def json_lines(lines: Iterable[bytes], file: str, advice: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of the lines of a file that are not blank; raises as `json_object`.

    A byte order mark before the first is passed over.
    """
    for number, raw in enumerate(lines, 1):
        line = raw.removeprefix(BOM_UTF8) if number == 1 else raw
        if line.strip():
            yield number, json_object(line, file, number, advice)


def read_json(path: Path, advice: str) -> object:
    """Read a whole file. Raises InputError, with `advice` where it is not JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}). {advice}") from error


def converted(value: Any, shape: type[T]) -> T:  # noqa: ANN401
    """Make an instance of `shape`, strictly. Raises msgspec.ValidationError if the value does not fit."""
    import msgspec  # which not all need that write JSON

    # msgspec notes the fields of a class when it first meets it; two threads that do so at once end the
    # process (0.22).
    with _ONE_AT_A_TIME:
        return msgspec.convert(value, shape, strict=True)
