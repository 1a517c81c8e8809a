"""Rows of Parquet files and of the first sheet of Excel workbooks, each through an extra."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from clew.errors import InputError, MissingExtra, ParseError
from clew.graph.readers.batch import Tally

PARQUET, EXCEL = ".parquet", ".xlsx"
SHEET_SUFFIXES = (PARQUET, EXCEL)
_ROWS_AT_ONCE = 20_000


def sheet_records(path: Path, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """(number, cells) of rows, the header is 1; raises MissingExtra, InputError and ParseError."""
    rows = _parquet(path, tally) if path.suffix.lower() == PARQUET else _excel(path, tally)
    for number, row in enumerate(rows, 1):
        cells = [cell_text(value) for value in row]
        if any(cells):
            yield number, cells
        else:
            tally.blank += 1


def _module(name: str, extra: str) -> Any:  # noqa: ANN401
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(name, extra) from error


def _parquet(path: Path, tally: Tally) -> Iterator[Sequence[object]]:
    parquet, arrow = _module("pyarrow.parquet", "parquet"), _module("pyarrow", "parquet")
    try:
        with parquet.ParquetFile(path) as file:
            yield list(file.schema_arrow.names)
            size, done = path.stat().st_size, 0
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
                done += batch.num_rows
                if tally.progress is not None:
                    tally.progress(size * done // max(1, file.metadata.num_rows))
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
        raise ParseError(str(path), 0, f"not a Parquet file, or damaged ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _excel(path: Path, tally: Tally) -> Iterator[Sequence[object]]:
    from zipfile import BadZipFile

    book_of = _module("openpyxl", "excel").load_workbook
    try:
        book = book_of(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise ParseError(str(path), 0, f"not an Excel workbook, or damaged ({error})") from error
    try:
        names = book.sheetnames
        if len(names) > 1:
            tally.note(f"{path}: only the first sheet is read ({names[0]}), not {', '.join(names[1:])}")
        yield from book.worksheets[0].iter_rows(values_only=True)
        if tally.progress is not None:
            tally.progress(path.stat().st_size)
    finally:
        book.close()


def cell_text(value: object) -> str:
    """A cell as text: numbers without a needless fraction, dates as ISO writes them, lists by semicolons."""
    if value is None or (isinstance(value, float) and value != value) or str(value) in ("NaT", "<NA>"):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time() and value.tzinfo is None:
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ";".join(cell_text(item) for item in value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).strip()
