"""What users give: files of JSON lines, and stdin, of which a graph is kept so that it is indexed once."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from clew.errors import InputError, ParseError, UsageError
from clew.foundation.json_form import json_lines
from clew.text.clean import clean_question

STDIN = "-"
_AT_ONCE = 1 << 20
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


def text_or_stdin(argument: str) -> str:
    """Return a text that was given, or stdin for `-`; InputError if that is not UTF-8."""
    if argument != STDIN:
        return argument
    try:
        return read_bytes(STDIN).decode("utf-8").rstrip("\n")
    except UnicodeDecodeError as error:
        raise InputError("stdin: not UTF-8 text. Convert it to UTF-8") from error


def source_name(path: str) -> str:
    """Return what messages call the file."""
    return "stdin" if path == STDIN else path


def objects(path: str) -> Numbered:
    """Yield (line number, object) of lines that are not blank; ParseError if one is not a JSON object."""
    advice = 'Write one object a line, as in {"id": …}'
    yield from json_lines(read_bytes(path).split(b"\n"), source_name(path), advice)


def unique_ids(items: Numbered, file: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Give each object its `id`, else its line number; ParseError if it is malformed or not unique."""
    lines_by_id: dict[str, int] = {}
    for number, value in items:
        raw_id = value.get("id")
        if raw_id is not None and (isinstance(raw_id, bool) or not isinstance(raw_id, (str, int))):
            raise ParseError(file, number, "field 'id' is not a string", "Write a string or leave it out")
        id = str(number if raw_id is None else raw_id)
        if id in lines_by_id:
            reason = f"id {id!r} is that of line {lines_by_id[id]} too"
            raise ParseError(file, number, reason, "Give each line its own id")
        lines_by_id[id] = number
        yield number, id, value


def item_text(
    value: dict[str, Any], field: Literal["question", "claim"], file: str, line: int, advice: str
) -> str:
    """The question or claim of a line, cleaned; ParseError if it is missing, empty or too long."""
    text = value.get(field)
    if not isinstance(text, str):
        raise ParseError(file, line, f"field {field!r} is missing or not a string", advice)
    try:
        return clean_question(text, field)
    except UsageError as error:
        raise ParseError(file, line, str(error)) from error


def store_stdin() -> Path:
    """Make a file that holds what stdin gives, until temporary files are removed. Raises InputError."""
    from clew.index.store.files import user_folder

    folder, digest = user_folder(), hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=folder, prefix="stdin-")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            while data := sys.stdin.buffer.read(_AT_ONCE):
                digest.update(data)
                file.write(data)
            if not file.tell():
                raise InputError("stdin is empty. A source needs at least one triple")
        return new.replace(folder / f"stdin-{digest.hexdigest()[:16]}")
    except OSError as error:
        raise InputError(f"stdin: cannot be kept in {folder} ({error.strerror or error})") from error
    finally:
        new.unlink(missing_ok=True)
