"""What values look like elsewhere: short texts, JSON, HTML and data frames."""

from __future__ import annotations

import json
import math
import re
import threading
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from html import escape
from importlib import import_module
from importlib.util import find_spec
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import unquote

from clew.errors import InputError, MissingExtra, ParseError
from clew.foundation.redaction import redacted

# Short forms of long texts.


def local_name(iri: str) -> str:
    """Return the readable end of an IRI: after `#` or the last `/`, decoded, underscores as spaces."""
    if "://" not in iri and not iri.startswith("urn:"):
        return iri
    trimmed = iri.rstrip("/#")
    cut = max(trimmed.rfind("#"), trimmed.rfind("/"), trimmed.rfind(":") if iri.startswith("urn:") else -1)
    return unquote(trimmed[cut + 1 :]).replace("_", " ").strip() or iri


def id_beside(label: str, entity: str) -> str:
    """What tells apart what has one label: the id, or of what it is one, if it is the label too.

    >>> id_beside("Anna Keller", "E08"), id_beside("S1", "section_id:S1")
    ('E08', 'section')
    """
    id = local_name(entity)
    group, _, own = id.partition(":")
    return group.replace("_", " ").removesuffix(" id") if group and own == label else id


def shorten(text: str, most: int) -> str:
    """Cut a text to so many characters, with `…` at the end."""
    return text if len(text) <= most else text[: most - 1] + "…"


# What JSON can hold of a value and of a dataclass; and JSON that users give: whole, or one object a line.

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
    """Return a dataclass as a mapping of its fields, or of those `names`; `as_json` of members is used."""
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


def append_line(file: BinaryIO | FileIO, value: object) -> None:
    """Write a value to an unbuffered file as a line of JSON, whole. Raises OSError."""
    line = (json_line(value) + "\n").encode("utf-8")
    while line:
        line = line[file.write(line) :]


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
    """Yield (line number, object) of the lines of a file that are not blank; raises as `json_object`."""
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
        return msgspec.convert(value, shape, strict=True, str_keys=True)


# Answers, verdicts and indexes for notebooks: tables of HTML, and data frames.
#
# Everything is made from the JSON form, and every name in it is escaped.

TextTriple = Sequence[str]
MOST_SHOWN_ROWS = 20
"""Answers, relations or triples that are shown; the rest is counted."""


def answer_html(form: Mapping[str, Any]) -> str:
    """An answer: its names with their scores and triples."""
    question = f"<p><b>{escape(form['question'])}</b></p>"
    if form["abstained"] is not None:
        message = f"No answer ({form['abstained']['reason']}): {form['abstained']['detail']}"
        others = [
            (str(number), one["reading"], f"{one['score']:.0%}")
            for number, one in enumerate(form["alternatives"], 1)
        ]
        table = _table(("reading=", "it may be read as", "likely"), others) if others else ""
        return f"<div>{question}<p>{escape(message)}</p>{table}</div>"
    said = [f"Read as: {form['reading']}"] if form["reading"] else []
    notes = "".join(f"<p><i>{escape(note)}</i></p>" for note in (*said, *form["notes"]))
    cited: dict[str, list[TextTriple]] = {}
    for one in form["citations"]:
        cited.setdefault(one["answer"], []).extend(one["triples"])
    labels = {one["answer"]: one["label"] for one in form["citations"]}
    rows = [
        (labels.get(one["entity"], one["label"]), f"{one['score']:.2f}", _lines(cited.get(one["entity"], ())))
        for one in form["answers"]
    ]
    if form["rows"] is not None:
        columns, cells = form["rows"]["columns"], form["rows"]["rows"]
        return f"<div>{question}{notes}{_table(columns, [list(map(_cell, row)) for row in cells])}</div>"
    if rows:
        return f"<div>{question}{notes}{_table(('answer', 'score', 'proof'), rows)}</div>"
    proof = [[_lines(triples)] for triples in cited.values()]
    table = f"<p>{escape(form['text'])}</p>{_table(('proof',), proof) if proof else ''}"
    return f"<div>{question}{notes}{table}</div>"


def _cell(value: str | float | Sequence[str]) -> str:
    """A cell of a row: a name, a number, or the members of a group."""
    if isinstance(value, int | float):
        return f"{value:,.10g}"
    return value if isinstance(value, str) else ", ".join(value)


def verification_html(form: Mapping[str, Any]) -> str:
    """A verdict, part by part."""
    head = f"<p><b>{escape(form['claim'])}</b>: {escape(form['verdict'])}</p>"
    if form["abstained"] is not None:
        head += f"<p>{escape(form['abstained']['detail'])}</p>"
    rows = [(part["text"], part["verdict"], _lines(part["triples"])) for part in form["parts"]]
    return f"<div>{head}{_table(('part', 'verdict', 'triples'), rows)}</div>"


def info_html(form: Mapping[str, Any]) -> str:
    """What an index holds: counts and relations with an example."""
    counts = ", ".join(f"{number:,} {noun}" for noun, number in form["counts"].items())
    rows = [(one["label"], f"{one['triples']:,}", _lines([one["example"]])) for one in form["relations"]]
    return f"<div><p>{escape(counts)}</p>{_table(('relation', 'triples', 'example'), rows)}</div>"


def frame_of(rows: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 (of a library that may not be there)
    """A data frame of pandas, else of polars. Raises MissingExtra without either."""
    for package in ("pandas", "polars"):
        if find_spec(package) is not None:
            return import_module(package).DataFrame(list(rows))
    raise MissingExtra("pandas", "frames")


def _lines(triples: Sequence[TextTriple]) -> str:
    return "\n".join(f"{head} ─{relation}→ {tail}" for head, relation, tail in triples)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell).replace(chr(10), '<br/>')}</td>" for cell in row) + "</tr>"
        for row in rows[:MOST_SHOWN_ROWS]
    )
    omitted = len(rows) - MOST_SHOWN_ROWS
    omitted_row = f'<tr><td colspan="{len(titles)}">and {omitted:,} more</td></tr>' if omitted > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{omitted_row}</tbody></table>"
