"""Addresses of indexes in object stores, told from those of databases."""

from __future__ import annotations

OBJECT_STORES = ("s3", "gs", "az", "abfs", "file", "memory")
"""Schemes of stores that `clew.index.remote` fetches indexes from."""


def is_remote(source: str) -> bool:
    """Whether a source is the address of an index in an object store."""
    scheme, separator, _ = source.partition("://")
    return bool(separator) and scheme in OBJECT_STORES
