"""Files of JSON that users give: whole, or one object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from clew.errors import InputError, ParseError


def json_object(raw: bytes | str, file: str, line: int, advice: str) -> dict[str, Any]:
    """Parse one line, which must be a JSON object; ParseError says where it is none."""
    try:
        value = json.loads(raw.decode("utf-8") if isinstance(raw, bytes) else raw)
    except UnicodeDecodeError as error:
        raise ParseError(file, line, "not UTF-8 text", "Convert the file to UTF-8") from error
    except RecursionError as error:
        raise ParseError(file, line, "not JSON (nested too deeply)", advice) from error
    except ValueError as error:  # also for a number of thousands of digits
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(";")[0]
        raise ParseError(file, line, f"not JSON ({what})", advice) from error
    if not isinstance(value, dict):
        raise ParseError(file, line, "not a JSON object", advice)
    return cast("dict[str, Any]", value)


def read_json(path: Path, advice: str) -> object:
    """Read a whole file. Raises InputError, with `advice` where it is not JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}). {advice}") from error
