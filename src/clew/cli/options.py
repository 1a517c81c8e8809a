"""Options that commands share: a dataclass of them is one parameter to a command, and its fields to typer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

_ALL, _SHOWN = "clew.all_options", "clew.shown"
_WIDEST = 30
"""Characters of an option beside which its help stands."""


def option(default: Any, help: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:  # noqa: ANN401
    """Make a field of options: `flags` are `--NAME` unless others are said, `more` is what typer takes."""
    return field(default=default, metadata={_SHOWN: (flags, {"metavar": metavar, "help": help, **more})})


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Show typer the fields of every parameter that is a dataclass, and call the command with the dataclass.

    Such a field is made by `option`, or annotated as a parameter of a command. A class that says its
    `parameters()` itself is made of a mapping of their values.
    """
    return _with_options(command, {})[0]


def with_short_help(
    *, first: tuple[str, ...] = (), rest: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `with_options`, for a command of many options: `--help` shows those that are its own.

    Of a dataclass it shows the fields that are named `first`. The others are shown by `--help-all`, under the
    `TITLE` of their dataclass, and those of the command that are in `rest` under the title there.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        called, titles = _with_options(command, {"help_all": _help_all()})
        left = {name: title for name, title in titles.items() if name not in first}
        called.more_options = left | dict(rest or {})  # pyright: ignore[reportFunctionMemberAccess]
        return called

    return decorate


class ShortHelp(TyperCommand):
    """A command whose help leaves out the options of `with_short_help` unless all are asked for."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return arguments and options."""
        return coerced_where_given(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own copy of click
        """Write arguments and options, in groups."""
        more: Mapping[str, str] = getattr(self.callback, "more_options", {})
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                title = "Arguments" if is_argument else more.get(parameter.name or "", "Options")
                groups.setdefault(title, []).append(record)
        left = 0
        for title, records in groups.items():
            if title in ("Arguments", "Options") or ctx.meta.get(_ALL):
                with formatter.section(title):
                    formatter.write_dl(records, col_max=_WIDEST)
            else:
                left += len(records)
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"{left} more options, of models, methods and files: --help-all")


def coerced_where_given(parameters: list[Any]) -> list[Any]:
    """Parameters that leave defaults and texts as they are: to coerce them typer loads pydantic (0.1 s)."""
    for parameter in parameters:
        coercion: Callable[[], Any] | None = getattr(parameter, "get_runtime_param", None)
        if coercion is not None and not isinstance(coercion, partial):  # older versions of typer have none
            parameter.get_runtime_param = partial(_Coercion, coercion)
    return parameters


@dataclass(frozen=True, slots=True)
class _Coercion:
    """Coerces a value as typer does, if it is not yet what a command takes."""

    typers: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401
        single = not param.multiple and param.nargs == 1
        if single and (value is None or value is param.default or _is_text(value, param)):
            return value
        return () if value is None else self.typers().coerce(value, param, ctx)


def _is_text(value: object, parameter: Any) -> bool:  # noqa: ANN401
    return isinstance(value, str) and parameter.type_descriptor.annotation is str


def _help_all() -> Parameter:
    option = typer.Option(
        "--help-all", is_eager=True, callback=_show_all, help="Show this message with all options."
    )
    kind = Annotated[bool, option]
    return Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=kind)


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from clew.cli.console import write

        context.meta[_ALL] = True
        write(context.get_help())
        raise typer.Exit


def _with_options(
    command: Callable[..., None], more: Mapping[str, Parameter]
) -> tuple[Callable[..., None], dict[str, str]]:
    """The command as typer sees it, with `more` parameters that it is not told; titles of the fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    shown: list[Parameter] = []
    titles: dict[str, str] = {}
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "parameters")):
            made = _parameters(kind)
            groups[parameter.name] = kind, [one.name for one in made]
            shown += made
            titles |= {one.name: getattr(kind, "TITLE", "Other options") for one in made}
        else:
            shown.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
    shown += more.values()

    @wraps(command)
    def called(**given: Any) -> None:  # noqa: ANN401
        made: dict[str, Any] = {}
        for name, (kind, names) in groups.items():
            values = {each: given.pop(each) for each in names}
            made[name] = kind(**values) if is_dataclass(kind) else kind(values)
        command(**{name: value for name, value in given.items() if name not in more}, **made)

    called.__signature__ = Signature(shown)  # pyright: ignore[reportAttributeAccessIssue]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called, titles


def _parameters(kind: type[Any]) -> list[Parameter]:
    if not is_dataclass(kind):
        return kind.parameters()
    hints = get_type_hints(kind, include_extras=True)
    made: list[Parameter] = []
    for one in fields(kind):
        annotation, default = hints[one.name], Parameter.empty if one.default is MISSING else one.default
        if _SHOWN in one.metadata:
            flags, more = one.metadata[_SHOWN]
            flags = flags or (f"--{one.name.replace('_', '-')}",)
            annotation = Annotated[annotation, typer.Option(*flags, **more)]
        made.append(Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return made
