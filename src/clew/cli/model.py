"""The chat model and the settings of a method that the user names."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.llm.managed import ManagedModel

CALLS = 40
"""Calls of a chat model that one question may take."""


@contextmanager
def opened_model(spec: str | None, trace: Path | None = None) -> Generator[ManagedModel | None]:
    """Open the model of a spec with keys and addresses of the environment, and close it; None without one.

    `trace` is a file for every prompt and reply. Raises UsageError for a spec or key that is wrong,
    MissingExtra if the provider's SDK is not installed.
    """
    if spec is None:
        yield None
        return
    from clew.llm import open_model, run_sync, settings_from
    from clew.llm.budget import Limits

    model = open_model(settings_from(os.environ, spec, per_question=Limits(calls=CALLS), trace=trace))
    try:
        yield model
    finally:
        run_sync(model.close())


def method_settings(method: str, frontier: str | None, k: int | None = None) -> object:
    """Make the settings of kg-rag or walk-retrieve; None for defaults, and for other methods.

    `k` is left to SimGRAG where the method is another. Raises UsageError for what the method does not have.
    """
    if frontier is not None and method != "kg-rag":
        raise UsageError(f"--frontier is for --method kg-rag, not {method}. Leave it out")
    if method == "walk-retrieve" and k is not None:
        from clew.methods.walk_retrieve import WalkRetrieveSettings

        return WalkRetrieveSettings(k)
    if frontier is None:
        return None
    if frontier not in ("question", "answers"):
        raise UsageError(f"There is no frontier {frontier!r}. It is question or answers")
    from clew.methods.kg_rag import Settings

    return Settings(frontier=frontier)
