"""Which methods are asked, and what they are told: `--method`, `--set NAME=VALUE`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import typer

from clew.cli.options import option
from clew.errors import UsageError
from clew.methods.registry import METHODS, VERIFIERS
from clew.methods.settings import options_of, parsed


def comma_names(text: str) -> tuple[str, ...]:
    """Split at commas."""
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _methods(incomplete: str) -> list[str]:
    """The methods whose names begin so, for completion by a shell."""
    return [name for name in METHODS if name.startswith(incomplete)]


def verifiers(incomplete: str) -> list[str]:
    """The methods that check claims whose names begin so, for completion by a shell."""
    return [name for name in VERIFIERS if name.startswith(incomplete)]


AskedMethod = Annotated[
    str, typer.Option("--method", metavar="NAME", help="How to answer.", autocompletion=_methods)
]
AskedMethods = Annotated[
    str,
    typer.Option(
        "--method", metavar="NAME,…", help="How to answer; several are compared.", autocompletion=_methods
    ),
]


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """What the user said of how methods work."""

    TITLE: ClassVar = "Other options"
    CLAIMS: ClassVar = False
    set: list[str] | None = option(
        None, "A setting of the method, as k=5; clew methods lists them.", "NAME=VALUE"
    )

    def with_flags(self, flags: Sequence[str]) -> MethodOptions:
        """As told, and some settings that have an option of their own."""
        return replace(self, set=[*(self.set or []), *flags])

    def settings(self, method: str) -> object:
        """Make the settings of one method, None where nothing is given; raises as `settings_of_each`."""
        return self.settings_of_each((method,))[method]

    def settings_of_each(self, methods: Sequence[str]) -> dict[str, object]:
        """Give each method what it takes; UsageError for what none of them takes, or what one refuses."""
        given = self.set or []
        known_methods = [name for name in methods if name in METHODS]
        kinds = {name: METHODS[name].settings_class(claims=self.CLAIMS) for name in known_methods}
        takes = {name: set(options_of(kind)) for name, kind in kinds.items() if kind is not None}
        for text in given:
            if all(_name(text) not in names for names in takes.values()):
                known = ", ".join(sorted(set[str]().union(*takes.values()))) or "none"
                wrong = ", ".join(methods)
                raise UsageError(f"--set {text}: {wrong} has no such setting. There are: {known}")
        made: dict[str, object] = {name: None for name in methods}
        for name, kind in kinds.items():
            own = [text for text in given if kind is not None and _name(text) in takes[name]]
            made[name] = parsed(kind, own) if own and kind is not None else None
        return made


@dataclass(frozen=True, slots=True)
class ClaimOptions(MethodOptions):
    """What the user said of how claims are verified."""

    CLAIMS: ClassVar = True


def _name(text: str) -> str:
    return text.partition("=")[0].strip().replace("-", "_")
