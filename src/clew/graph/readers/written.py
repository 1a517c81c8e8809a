"""Triples in memory as files that the readers read: one road for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from clew.errors import UsageError

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write_triples(path: Path, triples: Iterable[tuple[str, str, str]]) -> Path:
    """Write a file of tab-separated triples; raises UsageError for what is none."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("head\trelation\ttail\n")
        for number, triple in enumerate(triples, 1):
            if isinstance(triple, str) or len(triple) != 3:
                raise UsageError(f"triple {number} is {triple!r}. Give (head, relation, tail)")
            file.write("\t".join(_field(part, number, triple) for part in triple) + "\n")
    return path


def write_pairs(path: Path, kind: str, pairs: Mapping[str, Iterable[str]] | None) -> Path | None:
    """Write a side file of types or aliases; None if there are none."""
    if pairs is None:
        return None
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"entity\t{kind}\n")
        for entity, texts in pairs.items():
            if isinstance(texts, str):
                raise UsageError(f"{kind} of {entity!r} is a text. Give a list: {{{entity!r}: [{texts!r}]}}")
            for text in texts:
                file.write(f"{_field(entity, 0, entity)}\t{_field(text, 0, text)}\n")
    return path


def _field(part: object, number: int, source: object) -> str:
    if not isinstance(part, str | int | float) or not str(part).strip():
        place = f"triple {number}, {source!r}" if number else repr(source)
        raise UsageError(f"{place}: {part!r} is no name. Give texts that are not empty")
    return str(part).encode("utf-8", "replace").decode("utf-8").translate(_ESCAPES)
