"""Prices of models, from a file that the user writes; Clew knows none.

currency = "USD"
[models."openai/gpt-4o"]
input = 2.5        # for a million tokens
output = 10
[models."ollama/*"]
input = 0
output = 0
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from clew.errors import InputError
from clew.types import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """Cost of a usage."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model name or glob; a full name goes before a glob, globs in the file's order."""

    models: Mapping[str, Price] = field(default_factory=dict[str, Price])
    currency: str = "USD"

    def find(self, model: str) -> Price | None:
        """Find the price of `provider/model`; None if there is none."""
        if model in self.models:
            return self.models[model]
        return next((price for glob, price in self.models.items() if fnmatchcase(model, glob)), None)


def read_prices(path: Path) -> Prices:
    """Read a prices file. Raises InputError: it cannot be read, is not TOML, or lacks a price."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: the prices cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise InputError(f"{path}: the prices file is not valid TOML ({error}).") from error
    table = data.get("models")
    if not isinstance(table, dict):
        raise InputError(f'{path}: there is no model. Write [models."provider/model"] with input and output.')
    models = {
        name: Price(_amount(path, name, row, "input"), _amount(path, name, row, "output"))
        for name, row in cast("dict[str, Any]", table).items()
    }
    return Prices(models, str(data.get("currency", "USD")))


def _amount(path: Path, name: str, row: Any, side: str) -> float:  # noqa: ANN401
    value = cast("dict[str, Any]", row).get(side) if isinstance(row, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InputError(
            f'{path}: models."{name}" needs {side}, a price of a million tokens that is not negative.'
        )
    return float(value)
