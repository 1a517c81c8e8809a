"""What a node of a property graph is called, since such graphs have no one property for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_FIRST = ("name", "label", "title")
_NAME = re.compile(r"name$", re.IGNORECASE)
_KEY = re.compile(r"id$", re.IGNORECASE)


def naming_property(properties: Iterable[str]) -> str | None:
    """Return the property that names things: `name`, `label`, `title`, else one like `productName`."""
    known = sorted(properties)
    for wanted in _FIRST:
        if wanted in known:
            return wanted
    return next((key for key in known if _NAME.search(key)), None)


def node_name(labels: Sequence[str], properties: Mapping[str, object], id: str) -> str:
    """Return what a node is called: its naming property, else its label with a key such as `orderID`."""
    naming = naming_property(key for key, value in properties.items() if isinstance(value, str) and value)
    if naming is not None:
        return str(properties[naming])
    key = next((key for key in sorted(properties) if _KEY.search(key)), None)
    return " ".join([*labels[:1], str(id if key is None else properties[key])])
