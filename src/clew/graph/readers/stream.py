"""Bytes and lines of a source file: gzip, byte order mark, UTF-8, line length, progress."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from clew.errors import InputError, ParseError
from clew.graph.readers.batch import Tally

MAX_LINE_BYTES = 1 << 20
"""A longer line is an error: it is a file of another kind or damaged, and would fill the memory."""

CHUNK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"

_BINARY_KINDS = (
    (b"PK\x03\x04", "a zip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed", "decompress it first (only .gz is read directly)"),
    (b"BZh", "bzip2-compressed", "decompress it first (only .gz is read directly)"),
    (b"\xfd7zXZ", "xz-compressed", "decompress it first (only .gz is read directly)"),
    (b"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"),
)


class ByteSource:
    """The decompressed bytes of a file, without a byte order mark; `line` counts what was read.

    A gzip file is known by its first two bytes, whatever its name. Raises InputError if the file cannot
    be opened, is empty or is binary, ParseError if gzip data end too early or are damaged.
    """

    def __init__(self, path: Path, tally: Tally) -> None:
        self.path, self.line = path, 1
        self._tally = tally
        try:
            self._file = path.open("rb")
        except FileNotFoundError as error:
            raise InputError(f"{path}: no such file. Check the path") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be opened: {error.strerror}") from error
        magic = self._file.peek(2)[:2]
        self._gzip = gzip.GzipFile(fileobj=self._file) if magic == GZIP_MAGIC else None
        self._buffer, self._at = b"", 0
        try:
            self._start(magic)
        except InputError:
            self.close()
            raise

    def _start(self, magic: bytes) -> None:
        """Look at the first bytes: refuse what is not text, drop the byte order mark."""
        if magic and magic != GZIP_MAGIC and self.path.suffix.lower() == ".gz":
            raise InputError(f"{self.path}: its name ends in .gz but it is not gzip data. Rename it")
        first = self._next(CHUNK_BYTES)
        if not first.removeprefix(BOM):
            raise InputError(f"{self.path}: the file is empty. A source needs at least one triple")
        for prefix, kind, advice in _BINARY_KINDS:
            if first.startswith(prefix):
                raise InputError(f"{self.path}: the file is {kind}; {advice}")
        if b"\0" in first[:8192]:
            raise InputError(f"{self.path}: the file is binary, not text. Give a triple file")
        self._buffer = first.removeprefix(BOM)

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """At most `size` bytes, empty at the end (`size` < 0: a chunk, not all)."""
        if self._at >= len(self._buffer):
            self._buffer, self._at = self._next(CHUNK_BYTES), 0
        data = self._buffer[self._at : self._at + size if size > 0 else None]
        self._at += len(data)
        self.line += data.count(b"\n")
        return data

    def _next(self, size: int) -> bytes:
        try:
            data = self._file.read(size) if self._gzip is None else self._gzip.read1(size)
        except EOFError as error:
            reason = "the gzip data end too early: the file is truncated"
            raise ParseError(str(self.path), self.line, reason, "Copy or download it again") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            reason = f"the gzip data are damaged ({error})"
            raise ParseError(str(self.path), self.line, reason, "Copy or download it again") from error
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        if self._tally.progress is not None:
            self._tally.progress(self._file.tell())
        return data

    def close(self) -> None:
        """Close the file."""
        if self._gzip is not None:
            self._gzip.close()
        self._file.close()

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def line_blocks(path: Path, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    r"""Lines of a text file in blocks: (number of the first line, lines without `\n`).

    Lines end with `\n` only, so other separators of Unicode stay in names; a `\r` before it is kept.
    Raises what `ByteSource` raises, and ParseError for a line that is not UTF-8, holds a NUL or is longer
    than `MAX_LINE_BYTES` (skipped and counted if `tally` says so).
    """
    first, rest, overlong = 1, b"", False
    with ByteSource(path, tally) as source:
        while chunk := source.read():
            if overlong:
                _, newline, chunk = chunk.partition(b"\n")
                if not newline:
                    continue
                first, overlong = first + 1, False
            complete, newline, rest = (rest + chunk).rpartition(b"\n")
            if newline:
                yield from _decode_block(path, first, complete, tally)
                first += complete.count(b"\n") + 1
            if len(rest) > MAX_LINE_BYTES:
                tally.error(_too_long(path, first))
                rest, overlong = b"", True
    if rest:
        yield from _decode_block(path, first, rest, tally)


def _decode_block(path: Path, first: int, data: bytes, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """Decode at once if all lines are sound, else line by line to name the bad ones."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        lines = []
    if lines and b"\0" not in data and max(map(len, lines)) <= MAX_LINE_BYTES:
        yield first, lines
        return
    sound: list[str] = []
    start = first
    for number, raw in enumerate(data.split(b"\n"), first):
        try:
            sound.append(_decode_line(path, number, raw))
        except ParseError as error:
            tally.error(error)
            if sound:
                yield start, sound
            sound, start = [], number + 1
    if sound:
        yield start, sound


def _decode_line(path: Path, number: int, raw: bytes) -> str:
    if len(raw) > MAX_LINE_BYTES:
        raise _too_long(path, number)
    if b"\0" in raw:
        raise ParseError(str(path), number, "the line holds a NUL byte", "Remove it; is the file text?")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"invalid UTF-8 (byte 0x{raw[error.start]:02x} at position {error.start + 1} of the line)"
        raise ParseError(str(path), number, reason, "Convert the file to UTF-8") from error


def _too_long(path: Path, number: int) -> ParseError:
    reason = f"the line is longer than {MAX_LINE_BYTES:,} bytes"
    return ParseError(str(path), number, reason, "Is this a triple file? Split or remove the line")
