"""Settings of the default method."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.errors import UsageError
from clew.methods.options import check_options, option


@dataclass(frozen=True, slots=True)
class AutoSettings:
    """How sure the built-in reader must be. Raises UsageError for a confidence outside of [0, 1]."""

    confidence: float = option(0.5, "how likely a reading must be to be answered from", least=0, most=1)
    partial: bool = option(
        False, "answer the rest of a question where words of it have no place in the graph"
    )

    def __post_init__(self) -> None:
        check_options("auto", self)


def partial_settings(method: object, settings: object) -> AutoSettings:
    """The settings of `auto`, with `partial`. Raises UsageError for those of another method."""
    if method != "auto" or not isinstance(settings, AutoSettings | None):
        raise UsageError(f"`partial` is for auto, not for {method}. Leave it out")
    return replace(settings or AutoSettings(), partial=True)
