"""Terms of RDF as text of N-Triples and SPARQL, which write them the same way."""

from __future__ import annotations

_IN_STRINGS = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def quoted(value: str) -> str:
    """A text between quotation marks."""
    return f'"{value.translate(_IN_STRINGS)}"'
