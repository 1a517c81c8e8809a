"""What a user has written: a method or a data set, named as `module:name`."""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from clew.errors import UsageError


def is_plugin(name: str) -> bool:
    """Whether a name is that of something of the user's own."""
    return ":" in name


def imported(name: str, what: str) -> object:
    """Import `module:name`; modules in the working directory are found, after all others.

    Raises UsageError if it cannot be imported; `what` it is, as in `method`, is said in the message.
    """
    module, _, attribute = name.partition(":")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        imported_module = import_module(module)
    except Exception as error:  # whatever the user's own code does wrong
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"{name}: the module of this {what} cannot be imported ({reason}). It must be in the working "
            "directory or on $PYTHONPATH"
        ) from error
    if not hasattr(imported_module, attribute):
        raise UsageError(f"{name}: the module {module} has no {attribute!r}. Name the class of the {what}")
    return getattr(imported_module, attribute)


def code_checksum(name: str) -> str:
    """SHA-256 of the file that `module:name` is in, in hexadecimal; empty if it is in none."""
    imported(name, "method")
    file = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    return "" if file is None else sha256(Path(file).read_bytes()).hexdigest()
