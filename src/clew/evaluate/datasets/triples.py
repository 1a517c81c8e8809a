"""Writing the graph of a data set that comes in another form than triples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clew.errors import InputError

_SPACES = str.maketrans({"\t": " ", "\n": " ", "\r": " ", "\\": "\\\\"})


@dataclass(frozen=True, slots=True)
class PlainTriple:
    """A triple by names."""

    head: str
    relation: str
    tail: str


def write_triples(triples: Iterable[PlainTriple], path: Path) -> None:
    """Write triples as TSV, each once; InputError if there are none or the file cannot be written."""
    seen: set[str] = set()
    try:
        with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            for triple in triples:
                names = [n.translate(_SPACES).strip() for n in (triple.head, triple.relation, triple.tail)]
                line = "\t".join(names)
                if all(names) and line not in seen:
                    seen.add(line)
                    file.write(line + "\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    if not seen:
        raise InputError(f"{path}: the data set has no triples to make a graph of. Name one with --graph")
