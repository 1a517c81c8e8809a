"""Files of JSON lines that users give."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clew.cli.standard_input import STDIN
from clew.errors import InputError, ParseError
from clew.json_form import json_object

Numbered = Iterator[tuple[int, dict[str, Any]]]
"""Objects with their line numbers."""


def read_bytes(path: str) -> bytes:
    """Read a file, or stdin for `-`; InputError if it cannot be read."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file. Check the path") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def text_or_stdin(given: str) -> str:
    """Return a text that was given, or stdin for `-`; InputError if that is not UTF-8."""
    if given != STDIN:
        return given
    try:
        return read_bytes(STDIN).decode("utf-8").rstrip("\n")
    except UnicodeDecodeError as error:
        raise InputError("stdin: not UTF-8 text. Convert it to UTF-8") from error


def source_name(path: str) -> str:
    """Return what messages call the file."""
    return "stdin" if path == STDIN else path


def objects(path: str) -> Numbered:
    """Yield (line number, object) of lines that are not blank; ParseError if one is not a JSON object."""
    for number, raw in enumerate(read_bytes(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if raw.strip():
            yield (
                number,
                json_object(raw, source_name(path), number, 'Write one object a line, as in {"id": …}'),
            )


def unique_ids(items: Numbered, file: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Give each object its `id`, else its line number; ParseError if it is malformed or not unique."""
    seen: dict[str, int] = {}
    for number, value in items:
        given = value.get("id")
        if given is not None and (isinstance(given, bool) or not isinstance(given, (str, int))):
            raise ParseError(file, number, "field 'id' is not a string", "Write a string or leave it out")
        id = str(number if given is None else given)
        if id in seen:
            raise ParseError(
                file, number, f"id {id!r} is that of line {seen[id]} too", "Give each line its own id"
            )
        seen[id] = number
        yield number, id, value
