"""Short forms of long texts."""

from __future__ import annotations

from urllib.parse import unquote


def local_name(iri: str) -> str:
    """Return the readable end of an IRI: after `#` or the last `/`, decoded, underscores as spaces."""
    if "://" not in iri and not iri.startswith("urn:"):
        return iri
    trimmed = iri.rstrip("/#")
    cut = max(trimmed.rfind("#"), trimmed.rfind("/"), trimmed.rfind(":") if iri.startswith("urn:") else -1)
    return unquote(trimmed[cut + 1 :]).replace("_", " ").strip() or iri


def shorten(text: str, most: int) -> str:
    """Cut a text to so many characters, with `…` at the end."""
    return text if len(text) <= most else text[: most - 1] + "…"
