"""Import of optional packages."""

from __future__ import annotations

import importlib
from typing import Any

from clew.errors import MissingExtra


def require(package: str, extra: str) -> Any:  # noqa: ANN401
    """Import an optional package.

    Raises MissingExtra: it is not installed; the message names the extra of clew that brings it.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(package, extra) from error
