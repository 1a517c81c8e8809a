"""Import of optional packages."""

from __future__ import annotations

import importlib
from typing import Any

from clew.errors import MissingExtra


def require(package: str, extra: str) -> Any:  # noqa: ANN401
    """Import an optional package; MissingExtra names the `extra` that brings it, if it is not there."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(package, extra) from error
