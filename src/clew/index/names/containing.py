"""Names that a text is a part of: *Kurosawa* of *Akira Kurosawa*."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from clew.bounds import check
from clew.graph.graph import Names
from clew.index.names.names import NamesIndex
from clew.text.normalise import normalise

MOST_FOUND = 200
"""Places of the text in the names that are looked at; a text that is in more of them says little."""


def nodes_containing(index: NamesIndex, text: str) -> list[int] | None:
    """The entities of whose names `text` is some words, ascending; None if it is in too many to tell.

    The words are compared as written, so that the bytes of all names are searched once. Names that end with
    the text (a surname) go before others that begin with it, those before the rest: only the best are given.
    """
    check()
    words = normalise(text).split()
    best: dict[int, int] = {}
    seen = 0
    for table in (index, *([index.newer] if index.newer is not None else [])):
        for names, first, owners in (
            (table.graph.labels, table.first, None),
            (table.graph.aliases.names, 0, table.graph.aliases.entity),
        ):
            for row in _rows(names, text):
                seen += 1
                if seen > MOST_FOUND:
                    return None
                rank = _rank(normalise(names[row]).split(), words)
                node = first + row if owners is None else int(owners[row])
                if rank is not None:
                    best[node] = min(rank, best.get(node, rank))
    least = min(best.values(), default=0)
    return sorted(node for node, rank in best.items() if rank == least)


def _rows(names: Names, text: str) -> Iterator[int]:
    """The rows of the names that hold the characters of `text`."""
    last = -1
    blob = np.ascontiguousarray(names.blob).data
    for match in re.finditer(re.escape(text.encode("utf-8")), blob):
        row = int(np.searchsorted(names.offsets, match.start(), "right")) - 1
        if row != last and match.end() <= names.offsets[row + 1]:
            last = row
            yield row


def _rank(name: list[str], words: list[str]) -> int | None:
    """0 if the name ends with the words, 1 if it begins with them, 2 if they are inside; None if not."""
    size = len(words)
    if len(name) <= size:
        return None
    places = [at for at in range(len(name) - size + 1) if name[at : at + size] == words]
    if not places:
        return None
    return 0 if places[-1] == len(name) - size else 1 if places[0] == 0 else 2
