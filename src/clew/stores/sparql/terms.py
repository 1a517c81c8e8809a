"""Terms of RDF as text of N-Triples and SPARQL, which write them the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clew.stores.store import StoredTerm

_IN_STRINGS = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_IN_IRIS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]*")


def quoted(value: str) -> str:
    """A text between quotation marks."""
    return f'"{value.translate(_IN_STRINGS)}"'


def is_iri(text: str) -> bool:
    """Whether a text is an IRI as it may stand between angle brackets."""
    return _IN_IRIS.fullmatch(text) is not None


def iris(texts: Iterable[str]) -> str:
    """IRIs, one after the other, in angle brackets; none but those that `is_iri` says are so."""
    return " ".join(f"<{text}>" for text in texts if is_iri(text))


def written(term: StoredTerm) -> str:
    """A term that is an IRI or a literal."""
    if term.kind == "uri":
        return f"<{term.value}>"
    if term.language:
        return f"{quoted(term.value)}@{term.language}"
    return quoted(term.value) + (f"^^<{term.datatype}>" if is_iri(term.datatype) else "")
