"""The steps of an answer, for `--explain`; any step of any method can be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from clew.cli.console import put, shown
from clew.foundation.json_form import json_form
from clew.types import Step

if TYPE_CHECKING:
    from rich.console import Console

MOST_SHOWN_ITEMS = 10
"""So many items of a list are shown; the rest is counted."""
MOST_DECIMALS = 3


def print_steps(console: Console, steps: Sequence[Step]) -> None:
    """Print each step's name and what came out of it."""
    for step in steps:
        put(console, step.name, "bold cyan")
        for line in _mapping(step.detail, "  "):
            put(console, line)


def _mapping(detail: Mapping[str, object], indent: str) -> list[str]:
    """One line for each single value, a block for each list."""
    lines: list[str] = []
    for key, value in cast("dict[str, object]", json_form(detail)).items():
        if isinstance(value, list):
            items = cast("list[object]", value)
            if not items:
                lines.append(f"{indent}{shown(key)}: none")
                continue
            # A step with one list needs no title over it.
            inner = indent if len(detail) == 1 else indent + "  "
            lines += [] if len(detail) == 1 else [f"{indent}{shown(key)}:"]
            lines += [f"{inner}{_line(item)}" for item in items[:MOST_SHOWN_ITEMS]]
            more = len(items) - MOST_SHOWN_ITEMS
            lines += [f"{inner}… and {more:,} more; --json --explain prints all"] if more > 0 else []
        elif isinstance(value, dict):
            lines += [f"{indent}{shown(key)}:", *_mapping(cast("dict[str, object]", value), indent + "  ")]
        else:
            lines.append(f"{indent}{shown(key)}: {_scalar(value)}")
    return lines


def _line(value: object) -> str:
    """One item of a list, in one line."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        if len(items) == 3 and all(isinstance(item, str) for item in items):
            head, relation, tail = (_scalar(item) for item in items)
            return f"{head} ─{relation}→ {tail}"
        return " · ".join(_line(item) for item in items)
    if isinstance(value, dict):
        parts = cast("dict[str, object]", value).items()
        texts = (_line(v) if isinstance(v, (str, list)) else f"{key} {_line(v)}" for key, v in parts)
        return "  ".join(filter(None, texts))
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.{MOST_DECIMALS}f}".rstrip("0").rstrip(".")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else shown(str(value))
