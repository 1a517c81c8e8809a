"""Adjacency matrices: the first row and first column name the same nodes, each other cell is an edge or none.

A cell that is empty or 0 is no edge. Any other number is one from the row to the column, and its property
`weight`, unless all numbers are 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.namespaces import XSD
from clew.graph.readers.batch import Batch

WEIGHT_COLUMN = "weight"
ENOUGH_ROWS = 100
"""Rows that are looked at where the matrix has more."""
FEWEST_NODES = 2
_NUMBER = re.compile(r"[-+]?(?:\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][-+]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Matrix:
    """What an adjacency matrix is: its nodes, what its edges are called, whether they have weights."""

    nodes: tuple[str, ...]
    named: str
    weighted: bool

    def add_row(self, batch: Batch, fields: Sequence[str], *, both: bool = False) -> str:
        """Add the edges of one row, `both` ways if so asked; what is wrong with it, "" if nothing is."""
        head, *cells = fields
        if head not in self.nodes:
            return f"{head!r} is a row, but no column"
        wrong = next((cell for cell in cells if not _is_cell(cell)), None)
        if wrong is not None:
            return f"{wrong!r} in a matrix is no number"
        batch.nodes.append(head)
        for tail, cell in zip(self.nodes, cells, strict=True):
            if not (cell and float(cell)):
                continue
            for one, other in ((head, tail), (tail, head))[: 1 + both]:
                batch.add(one, self.named, other)
                if self.weighted or float(cell) != 1:
                    batch.statements.append(
                        (one, self.named, other, ((WEIGHT_COLUMN, cell, XSD + "string"),))
                    )
        return ""


def matrix_of(cells: Sequence[str], rows: Sequence[Sequence[str]], named: str) -> Matrix | None:
    """The matrix whose first record is `cells`, followed by `rows`; None if it is no matrix."""
    nodes, heads = cells[1:], [row[0] for row in rows if row]
    if len(nodes) < FEWEST_NODES or len(rows) < min(len(nodes), ENOUGH_ROWS) or len(rows) > len(nodes):
        return None
    if not all(nodes) or len(set(nodes)) < len(nodes) or len(set(heads)) < len(rows):
        return None
    if not set(heads) <= set(nodes) or any(len(row) != len(cells) for row in rows):
        return None
    held = [cell for row in rows for cell in row[1:]]
    if not all(map(_is_cell, held)):
        return None
    return Matrix(tuple(nodes), named, any(cell and float(cell) not in (0, 1) for cell in held))


def _is_cell(cell: str) -> bool:
    return not cell or _NUMBER.fullmatch(cell) is not None
