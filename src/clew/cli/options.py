"""Options that commands share: a dataclass of them is one parameter to a command, and its fields to typer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Show typer the fields of every parameter that is a dataclass, and call the command with the dataclass.

    Such a field is what a parameter of a command is: `Annotated[…, typer.Option(…)]`, with a default.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    shown: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[parameter.name] = kind
            shown += _parameters(kind)
        else:
            shown.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def called(**given: Any) -> None:  # noqa: ANN401
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **made)

    called.__signature__ = Signature(shown)  # pyright: ignore[reportAttributeAccessIssue]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called


def _parameters(kind: type[Any]) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
