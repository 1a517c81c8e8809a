"""The chat model and the settings of a method that the user names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.llm.managed import ManagedModel

CALLS = 40
"""Calls of a chat model that one question may take."""


def opened_model(spec: str | None, trace: Path | None = None) -> ManagedModel | None:
    """Open the model of a spec with the keys and addresses of the environment; None without a spec.

    `trace` is a file for every prompt and reply. Raises UsageError for a spec or key that is wrong,
    MissingExtra if the provider's SDK is not installed.
    """
    if spec is None:
        return None
    from clew.llm import open_model, settings_from
    from clew.llm.budget import Limits

    return open_model(settings_from(os.environ, spec, per_question=Limits(calls=CALLS), trace=trace))
