"""Objects of files of JSON lines that users give, read one line at a time."""

from __future__ import annotations

import json
from typing import Any, cast

from clew.errors import ParseError


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
