"""Bytes and lines of a source file: compression, UTF-8, line length, progress, and what XML may not hold."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Self, cast

from clew.errors import InputError, ParseError
from clew.foundation.system import open_at_once
from clew.graph.readers.batch import Tally

# What an XML file may not hold, seen as its bytes pass: elements too deep, and entities that grow.
#
# The parser takes time in the square of the depth: 20,000 levels in 440 kB take half a minute, 200,000 an
# hour.
#
# An entity that stands for others, or for much text, makes a file of a kilobyte fill the memory. So every
# declaration, wherever it stands, must be `<!ENTITY name "value">` of a short value without others in it.


DEEPEST_FILE = 4_000
"""Levels that are read: more than any file has that people or programs write."""
LONGEST_TAG = 1 << 24
_SKIPPED = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
"""How what holds no elements begins and ends."""
_MARK = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![A-Za-z]"
    rb"|(</[^>]*+>)"
    rb"|(<[^!?/>\"'][^>\"']*+(?:\"[^\"]*+\"[^>\"']*+|'[^']*+'[^>\"']*+)*+>)"
    rb"|(<.*+)",
    re.DOTALL,
)
"""A closing tag, an opening one, or what has not ended yet."""

_BEGIN = re.compile(rb"<!ENTITY", re.IGNORECASE)
_PLAIN = re.compile(
    rb"<!ENTITY\s+(?:[^\s%&;\"'<>]{1,256}\s+(?:\"[^\"&<>%]{0,256}\"|'[^'&<>%]{0,256}')"
    rb"|(?:lt|gt|amp|apos|quot)\s+(?:\"[^\"<%]{0,16}\"|'[^'<%]{0,16}'))\s*>"
)
"""A declaration of a value that is no longer than prefixes of IRIs are, or of what XML itself declares."""


class XmlGuard:
    """Watches the bytes of an XML file: counts open elements, and looks at its entities."""

    def __init__(self, path: Path) -> None:
        self._path, self._depth = path, 0
        self._rest = self._until = self._rest_of_entities = b""

    def take(self, data: bytes) -> str:
        """Look at the next bytes, none at the end. Returns what is wrong with them, "" if nothing is.

        That is elements nested deeper than `DEEPEST_FILE`, or a tag without an end. Raises InputError for an
        entity that must not be declared.
        """
        self._take_entities(data)
        window, at = self._rest + data, 0
        if self._until:
            end = window.find(self._until)
            if end < 0:
                self._rest = window[-len(self._until) + 1 :]
                return ""
            at = end + len(self._until)
        self._rest = self._until = b""
        for mark in _MARK.finditer(window, at):
            kind = mark.lastindex
            if kind == 1:
                self._depth -= 1
            elif kind == 2 and window[mark.end() - 2] != ord("/"):
                self._depth += 1
                if self._depth > DEEPEST_FILE:
                    return f"elements are nested more than {DEEPEST_FILE:,} deep"
            elif kind == 3:
                return self._keep(mark[0])
        return ""

    def _keep(self, rest: bytes) -> str:
        """Keep the beginning of a tag; of what is skipped, only what its end may begin with."""
        start = next((start for start in _SKIPPED if rest.startswith(start)), None)
        if start is not None:
            self._until = _SKIPPED[start]
            rest = rest[len(start) :][-len(self._until) + 1 :]
        self._rest = rest
        return "a tag has no end" if len(rest) > LONGEST_TAG else ""

    def _take_entities(self, data: bytes) -> None:
        """Look at the declarations; raises InputError for one that is not plain."""
        window = self._rest_of_entities + data
        # The beginning of a declaration may be in this chunk.
        self._rest_of_entities = window[-len(b"<!ENTITY") + 1 :]
        for declaration in _BEGIN.finditer(window):
            rest = window[declaration.start() :]
            if _PLAIN.match(rest):
                continue
            if data and b">" not in rest and len(rest) < 4096:
                self._rest_of_entities = rest
                return
            raise InputError(
                f"{self._path}: an XML entity is long, or defined by other entities, by markup or by another "
                "file. Only short ones, as for prefixes of IRIs, are read: write the others out"
            )


MOST_DOCUMENT_BYTES = 256 << 20
"""Bytes of a document that is read as a whole; lines of objects may be more."""
MAX_LINE_BYTES = 1 << 20
"""A longer line is an error: it is a file of another kind or damaged, and would fill the memory."""

CHUNK_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

PACKED_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
"""Ending of a file's name → how such a file is compressed."""

_MAGIC = {"gzip": re.compile(rb"\x1f\x8b"), "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
          "xz": re.compile(rb"\xfd7zXZ\0")}  # fmt: skip
_BINARY_KINDS = (
    (b"PK\x03\x04", "a zip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed", "decompress it first (.gz, .bz2 and .xz are read directly)"),
)


def missing(path: Path) -> InputError:
    """Return the error of a source that is not there."""
    return InputError(f"{path}: no such file or directory. Check the path")


def is_plain(path: Path) -> bool:
    """Whether a file is not compressed, by its first bytes."""
    with path.open("rb") as file:
        start = file.read(16)
    return not any(magic.match(start) for magic in _MAGIC.values())


def unpacked_name(name: str) -> str:
    """Name of a file without the ending that says how it is compressed."""
    stem, dot, ending = name.rpartition(".")
    return stem if dot and f".{ending.lower()}" in PACKED_SUFFIXES else name


def _open(path: Path) -> io.BufferedReader:
    """Open a file or a pipe; one that nobody writes to is empty, and not waited for. Raises OSError."""
    file = open(path, "rb", opener=open_at_once)  # noqa: SIM115 - `ByteSource.close` closes it
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(file.fileno(), True)  # who does write may take their time
    if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "a device, not a file")
    return file


_UNPACKERS: dict[str, Callable[[BinaryIO], io.BufferedIOBase]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file), "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile
}  # fmt: skip


class ByteSource:
    r"""The decompressed bytes of a file as UTF-8, without a byte order mark; `line` counts what was read.

    With `legacy`, the text may be of an older program: in the encoding that the user says, or in CP1252 if
    its first bytes are no UTF-8 anywhere, and with lines that end with `\r` alone. What was found is noted.

    A compressed file is known by its first bytes, whatever its name, and UTF-16 by its mark. Raises
    InputError if the file cannot be opened, is empty or is binary, ParseError if compressed data end too
    early or are damaged.
    """

    def __init__(self, path: Path, tally: Tally, *, legacy: bool = False) -> None:
        self.path, self.line = path, 1
        self._tally, self._legacy, self._old_lines = tally, legacy, False
        try:
            self._file = _open(path)
        except FileNotFoundError as error:
            raise InputError(f"{path}: no such file. Check the path") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be opened: {error.strerror}") from error
        self._kind = ""
        self._unpacked: io.BufferedIOBase | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        self._encoding = ""
        self._buffer, self._at = b"", 0
        try:
            self._start()
        except OSError as error:
            self.close()
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        except InputError:
            self.close()
            raise

    def _start(self) -> None:
        """Look at the first bytes: refuse what is not text, drop the byte order mark."""
        magic = self._file.peek(16)[:16]
        self._kind = next((kind for kind, start in _MAGIC.items() if start.match(magic)), "")
        named_kind = PACKED_SUFFIXES.get(self.path.suffix.lower())
        if magic and named_kind and named_kind != self._kind:
            raise InputError(
                f"{self.path}: its name ends in {self.path.suffix} but it is not {named_kind} data. Rename it"
            )
        self._unpacked = _UNPACKERS[self._kind](self._file) if self._kind else None
        first = self._next_bytes(CHUNK_BYTES)
        encoding = self._encoding_of(first)
        if encoding is not None:
            self._encoding = encoding.upper()
            self._decoder = codecs.getincrementaldecoder(encoding)()
            self._tally.note(f"{self.path}: read as {self._encoding}")
            first = self._decode(first)
        if self._legacy and b"\r" in first and b"\n" not in first:
            self._old_lines = True
            self._tally.note(f"{self.path}: its lines end with CR alone")
            first = first.replace(b"\r", b"\n")
        if not first.removeprefix(BOM):
            raise InputError(f"{self.path}: the file is empty. A source needs at least one triple")
        for prefix, kind, advice in _BINARY_KINDS:
            if first.startswith(prefix):
                raise InputError(f"{self.path}: the file is {kind}; {advice}")
        if b"\0" in first[:8192]:
            raise InputError(f"{self.path}: the file is binary, not text. Give a triple file")
        self._buffer = first.removeprefix(BOM)

    def _encoding_of(self, first: bytes) -> str | None:
        """What a file is written in, by its first bytes, if that is not UTF-8."""
        if first.startswith(UTF16_MARKS):
            return "utf-16"
        encoding = self._tally.hints.encoding if self._legacy else None
        if encoding is not None:
            return None if codecs.lookup(encoding).name == "utf-8" else encoding
        return "cp1252" if self._legacy and is_cp1252(first) else None

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """At most `size` bytes, empty at the end (`size` < 0: a chunk, not all)."""
        if self._at >= len(self._buffer):
            self._buffer, self._at = self._next_bytes(CHUNK_BYTES), 0
        data = self._buffer[self._at : self._at + size if size > 0 else None]
        self._at += len(data)
        self.line += data.count(b"\n")
        self._tally.line = self.line
        return data

    def _next_bytes(self, size: int) -> bytes:
        raw = self._raw(size)
        data = raw if self._decoder is None else self._decode(raw)
        return data.replace(b"\r", b"\n") if self._old_lines else data

    def _decode(self, raw: bytes) -> bytes:
        """Text as UTF-8; more is read if `raw` ends before its first character does."""
        decoder = cast(codecs.IncrementalDecoder, self._decoder)
        try:
            text = decoder.decode(raw, final=not raw)
            while not text and raw:
                raw = self._raw(CHUNK_BYTES)
                text = decoder.decode(raw, final=not raw)
            return text.encode("utf-8")
        except UnicodeError as error:
            reason = f"invalid {self._encoding} here or some lines below"
            raise ParseError(str(self.path), self.line, reason, "Convert the file to UTF-8") from error

    def _raw(self, size: int) -> bytes:
        """At most `size` decompressed bytes."""
        try:
            data = self._file.read(size) if self._unpacked is None else self._unpacked.read1(size)
        except EOFError as error:
            reason = f"the {self._kind} data end too early: the file is truncated"
            raise ParseError(str(self.path), self.line, reason, "Copy or download it again") from error
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and (self._unpacked is None or error.errno is not None):
                raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
            reason = f"the {self._kind} data are damaged ({error})"
            raise ParseError(str(self.path), self.line, reason, "Copy or download it again") from error
        if self._tally.progress is not None:
            self._tally.progress(self._file.tell())
        return data

    def close(self) -> None:
        """Close the file."""
        if self._unpacked is not None:
            self._unpacked.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def whole_file(path: Path, tally: Tally, advice: str, guard: XmlGuard | None = None) -> bytes:
    """All bytes of a file; InputError with `advice` if they are too many, or XML that may fill the memory."""
    data = bytearray()
    with ByteSource(path, tally) as source:
        while chunk := source.read():
            data += chunk
            too_much = len(data) > MOST_DOCUMENT_BYTES
            fault = f"more than {MOST_DOCUMENT_BYTES >> 20} MiB" if too_much else ""
            if fault := fault or (guard.take(chunk) if guard is not None else ""):
                raise InputError(f"{path}: {fault}. {advice}")
    if guard is not None:
        guard.take(b"")
    return bytes(data)


def is_cp1252(data: bytes) -> bool:
    """Whether bytes are text of Windows: no character beyond ASCII is UTF-8, and all are in CP1252."""
    return not (data.isascii() or b"\0" in data or _NOT_CP1252.search(data))


_NOT_CP1252 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x81\x8d\x8f\x90\x9d]"
)


def line_blocks(path: Path, tally: Tally, *, legacy: bool = False) -> Iterator[tuple[int, list[str]]]:
    r"""Lines of a text file in blocks: (number of the first line, lines without `\n`).

    Lines end with `\n` only, so other separators of Unicode stay in names; a `\r` before it is kept.
    `legacy` is for text that older programs may have written (`ByteSource`).
    Raises what `ByteSource` raises, and ParseError for a line that is not UTF-8, holds a NUL or is longer
    than `MAX_LINE_BYTES` (skipped and counted if `tally` says so).
    """
    first, rest, overlong = 1, b"", False
    with ByteSource(path, tally, legacy=legacy) as source:
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


def numbered_lines(path: Path, tally: Tally, *, legacy: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of `line_blocks` one by one, with their numbers."""
    for first, lines in line_blocks(path, tally, legacy=legacy):
        yield from enumerate(lines, first)


def _decode_block(path: Path, first: int, data: bytes, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """Decode at once if all lines are sound, else line by line to name the bad ones in their order."""
    marked = b"\n" + data if first > 1 else data
    if b"\n" + BOM in marked:  # files that were put together
        tally.note(f"{path}: byte order marks within the file are left out")
        data = marked.replace(b"\n" + BOM, b"\n")[len(marked) - len(data) :]
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        lines = []
    if lines and b"\0" not in data and max(map(len, lines)) <= MAX_LINE_BYTES:
        yield first, lines
        return
    for number, raw in enumerate(data.split(b"\n"), first):
        try:
            line = _decode_line(path, number, raw)
        except ParseError as error:
            tally.error(error)
        else:
            yield number, [line]


def _decode_line(path: Path, number: int, raw: bytes) -> str:
    if len(raw) > MAX_LINE_BYTES:
        raise _too_long(path, number)
    if b"\0" in raw:
        raise ParseError(str(path), number, "the line holds a NUL byte", "Remove it; is the file text?")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"invalid UTF-8 (byte 0x{raw[error.start]:02x} at position {error.start + 1} of the line)"
        raise ParseError(str(path), number, reason, "Convert the file to UTF-8, or say --encoding") from error


def _too_long(path: Path, number: int) -> ParseError:
    reason = f"the line is longer than {MAX_LINE_BYTES:,} bytes"
    return ParseError(str(path), number, reason, "Is this a triple file? Split or remove the line")
