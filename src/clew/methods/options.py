"""Settings of methods: fields that say what they mean, from which all options of users are derived.

A method's settings are a frozen dataclass whose fields are made by `option`. The command line, experiments,
the server and the docs read the same fields, so that each option of a method is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from clew.errors import UsageError

_KEY = "clew.option"


@dataclass(frozen=True, slots=True)
class MethodOption:
    """A field of settings as users see it: a phrase, its type, and the values that it may have.

    `reads` names a function (`module:name`) that makes the value of a path, or of a list of paths (`kind` is
    `list`). `unset` says in words what a default of None means. One that is not `offered` is no option of
    the command line, but of experiments.
    """

    help: str
    kind: type
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    reads: str = ""
    unset: str = ""
    offered: bool = True


def option(
    default: Any,  # noqa: ANN401
    help: str,
    *,
    kind: type | None = None,
    **details: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Make a field of settings; `kind` is of the default unless given, `details` are of `MethodOption`."""
    return field(default=default, metadata={_KEY: MethodOption(help, kind or type(default), **details)})


def options_of(settings: type) -> dict[str, tuple[MethodOption, Any]]:
    """Return the options of a dataclass of settings, by name, with their defaults."""
    return {f.name: (f.metadata[_KEY], f.default) for f in fields(settings) if _KEY in f.metadata}


def check_options(method: str, settings: object) -> None:
    """Raise UsageError for the first option whose value is out of range, or none of the choices."""
    for name, (field_option, default) in options_of(type(settings)).items():
        value: Any = getattr(settings, name)
        flag = f"{method}: --{name.replace('_', '-')}"
        if value is None and default is None:
            continue
        if field_option.choices and value not in field_option.choices:
            raise UsageError(f"{flag} is {value!r}; give one of: {', '.join(field_option.choices)}")
        low, high = field_option.least, field_option.most
        number = cast("float", value)
        if (low is not None and number < low) or (high is not None and number > high):
            expected = f"{low:g} or more" if high is None else f"a number from {low or 0:g} to {high:g}"
            raise UsageError(f"{flag} is {value}; give {expected}")


def read_options(settings: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of options with files in place of their paths. Raises as the functions that read them."""
    from clew.plugins import imported

    options, converted = options_of(settings), dict(values)
    for name, value in values.items():
        field_option = options[name][0] if name in options else None
        if field_option is not None and field_option.reads:
            reader = cast("Any", imported(field_option.reads, "option"))
            items = value if isinstance(value, list) else [value]
            paths = [Path(str(path)) for path in cast("list[object]", items)]
            converted[name] = reader(paths if field_option.kind is list else paths[0])
    return converted
