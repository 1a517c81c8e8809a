"""What sources of RDF say beside triples of the graph: labels, schema, statements about statements.

    beside = Packed()
    beside.add(['<ex:a> <rdfs:label> "A"@en'])
    lines_of(beside.array())

The graph has the triples, and types by their IRIs. With the lines kept here, compressed N-Quads, SPARQL sees
all that the sources say: languages, `skos:prefLabel`, named graphs. There is a line for each statement that
the graph does not hold, and one with the graph's name for each statement of a named graph.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from clew.graph import RDFS

ENDS = (RDFS + "domain", RDFS + "range")
"""What says from and to what a property leads: triples, but lines beside them where that is a relation."""
_PIECE = 1 << 20
_UNSAFE = re.compile(r"[^A-Za-z0-9]")


class Packed:
    """Lines that are compressed while they come."""

    def __init__(self) -> None:
        # A fifth of the text, as fast as it is parsed.
        self._compressor, self._parts = zlib.compressobj(1), list[bytes]()

    def add(self, lines: Iterable[str]) -> None:
        """Take lines, without their ends."""
        text = "".join(f"{line}\n" for line in lines)
        self._parts.append(self._compressor.compress(text.encode("utf-8", "replace")))

    def array(self) -> NDArray[np.uint8]:
        """All lines; no more may be added."""
        return np.frombuffer(b"".join([*self._parts, self._compressor.flush()]), np.uint8)


def lines_of(packed: NDArray[np.uint8]) -> Iterator[str]:
    """Iterate over the lines. Raises ValueError for bytes that are not those of a `Packed`."""
    for block in _blocks(packed):
        yield from _decoded(block).split("\n")


def lines_about(packed: NDArray[np.uint8], term: str) -> Iterator[str]:
    """The lines of one subject, a term; the others are passed over as bytes. Raises as `lines_of`."""
    start = f"\n{term} ".encode()
    for block in _blocks(packed):
        block, at = b"\n" + block, 0
        while (at := block.find(start, at)) >= 0:
            begin, stop = at + 1, block.find(b"\n", at + 1)
            at = stop if stop >= 0 else len(block)
            yield _decoded(block[begin:at])


def _blocks(packed: NDArray[np.uint8]) -> Iterator[bytes]:
    """Whole lines, many at once, without the end of the last."""
    decompressor, rest, data = zlib.decompressobj(), b"", memoryview(packed.tobytes())
    try:
        for at in range(0, len(data), _PIECE):
            lines, end, rest = (rest + decompressor.decompress(data[at : at + _PIECE])).rpartition(b"\n")
            if end:
                yield lines
    except zlib.error as error:
        raise _unreadable(error) from error
    if not decompressor.eof:
        raise ValueError("what sources say beside triples is cut off")


def _decoded(lines: bytes) -> str:
    try:
        return lines.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> ValueError:
    return ValueError(f"what sources say beside triples cannot be read ({error})")


def changed(
    packed: NDArray[np.uint8], added: Sequence[str], removed: Sequence[str], lost: Sequence[str]
) -> NDArray[np.uint8]:
    """The lines without those `removed` and those of `lost` subjects (terms), then those `added`.

    A triple that is removed, `subject predicate object .`, goes from its named graphs too.
    """
    if not (added or removed or lost):
        return packed
    gone, subjects = {line.removesuffix(" .") for line in removed}, set(lost)
    new = dict.fromkeys(added)

    def stays(line: str) -> bool:
        said = line.removesuffix(" .")
        is_gone = said in gone or said.rpartition(" ")[0] in gone  # the last term may be the graph's name
        return not (is_gone or line in new or line.split(" ", 1)[0] in subjects)

    result, lines = Packed(), chain(filter(stays, lines_of(packed)), new)
    while block := list(islice(lines, 50_000)):
        result.add(block)
    return result.array()


def line_of(triple: tuple[str, str, str | tuple[str, str]]) -> str:
    """The line of a triple by names; its tail may be a literal (lexical form, datatype or @language)."""
    import pyoxigraph

    head, relation, tail = triple
    if isinstance(tail, str):
        object_ = term_of(tail)
    elif tail[1].startswith("@"):
        object_ = str(pyoxigraph.Literal(tail[0], language=tail[1][1:]))
    else:
        object_ = str(pyoxigraph.Literal(tail[0], datatype=pyoxigraph.NamedNode(tail[1])))
    return f"{term_of(head)} <{relation}> {object_} ."


def term_of(name: str) -> str:
    """An entity as a term."""
    return blank_term(name) if name.startswith("_:") else f"<{name}>"


def blank_term(name: str) -> str:
    """A blank node by its name in the graph (`_:b`, `_:[1]`) as a term of N-Quads, one for each name."""
    return "_:" + _UNSAFE.sub(lambda char: f"_{ord(char[0]):x}_", name.removeprefix("_:"))
