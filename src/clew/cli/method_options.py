"""Options of methods, for `clew ask`, `clew verify` and `clew compare`: the fields of their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from clew.errors import UsageError
from clew.methods.registry import METHODS
from clew.methods.settings import MethodOption, options_of, read_options

Offered = tuple[str, MethodOption, Any]
"""A method, its option, and the default of the option."""


def _methods(incomplete: str) -> list[str]:
    """The methods whose names begin so, for completion by a shell."""
    return [name for name in METHODS if name.startswith(incomplete)]


def verifiers(incomplete: str) -> list[str]:
    """The methods that check claims whose names begin so, for completion by a shell."""
    return [name for name in _methods(incomplete) if METHODS[name].verifier is not None]


AskedMethod = Annotated[
    str, typer.Option("--method", metavar="NAME", help="How to answer.", autocompletion=_methods)
]


class MethodOptions:
    """What the user said of how methods work, by the names of options."""

    TITLE: ClassVar = "Options of methods"
    CLAIMS: ClassVar = False

    def __init__(self, values: Mapping[str, Any]) -> None:
        # By identity: a seed of 0 is given.
        self.values = {n: v for n, v in values.items() if v is not None and v is not False and v != []}

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return what typer is shown: each option once, with the methods that take it in its help."""
        return [_parameter(name, takers) for name, takers in _options_by_name(claims=cls.CLAIMS).items()]

    def settings(self, method: str) -> object:
        """Make the settings of one method, None where nothing is given; raises as `settings_of_each`."""
        return self.settings_of_each((method,))[method]

    def settings_of_each(self, methods: Sequence[str]) -> dict[str, object]:
        """Give each method what it takes; UsageError for what none of them takes, or what one refuses."""
        for name in self.values:
            takers = [method for method, _, _ in _options_by_name(claims=self.CLAIMS)[name]]
            if not set(takers) & set(methods):
                flag, wrong = f"--{name.replace('_', '-')}", ", ".join(methods)
                raise UsageError(f"{flag}: for {', '.join(takers)}, not for {wrong}. Leave it out")
        return {method: self._settings(method) for method in methods}

    def _settings(self, method: str) -> object:
        kind = METHODS[method].settings_class(claims=self.CLAIMS) if method in METHODS else None
        known_options = {} if kind is None else options_of(kind)
        values = {name: value for name, value in self.values.items() if name in known_options}
        return kind(**read_options(kind, values)) if values and kind is not None else None


class ClaimOptions(MethodOptions):
    """What the user said of how claims are verified."""

    CLAIMS = True


def _options_by_name(*, claims: bool) -> dict[str, list[Offered]]:
    """The options by name, each with all methods that take it."""
    offers: dict[str, list[Offered]] = {}
    for method, spec in METHODS.items():
        kind = spec.settings_class(claims=claims)
        for name, (option, default) in ({} if kind is None else options_of(kind)).items():
            if option.offered:
                offers.setdefault(name, []).append((method, option, default))
    return offers


def _parameter(name: str, takers: Sequence[Offered]) -> Parameter:
    """The parameter of an option: None or False where it is not given, as the method has the default."""
    option = takers[0][1]
    kinds: dict[type, tuple[Any, str | None]] = {
        bool: (bool, None),
        int: (int | None, "N"),
        float: (float | None, "X"),
        list: (list[Path] | None, "PATH"),
    }
    annotation, metavar = kinds.get(option.kind, (str | None, "|".join(option.choices) or "TEXT"))
    if option.reads and option.kind is not list:
        annotation, metavar = Path | None, "FILE.json"
    lows, highs = ([getattr(t, end) for _, t, _ in takers] for end in ("least", "most"))
    typer_option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=metavar,
        min=None if None in lows else min(lows),
        max=None if None in highs else max(highs),
        help=_help(takers),
    )
    default = False if option.kind is bool else None
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, typer_option]
    )


def _help(takers: Sequence[Offered]) -> str:
    """Say what an option means to each method, with its default."""
    methods_by_help: dict[str, list[str]] = {}
    for method, option, default in takers:
        usual = option.unset if default is None else "" if default is False else str(default or "")
        usual = "0" if default == 0 and option.kind is not bool else usual
        methods_by_help.setdefault(option.help, []).append(f"{method} ({usual})" if usual else method)
    return "; ".join(f"{', '.join(methods)}: {help}" for help, methods in methods_by_help.items()) + "."
