"""Options that commands share, and methods with their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, get_type_hints

import typer
from typer.core import TyperCommand

from clew.errors import UsageError
from clew.methods.registry import METHODS, VERIFIERS
from clew.methods.settings import options_of, parsed

_ALL, _SHOWN = "clew.all_options", "clew.shown"


def option(default: Any, help: str, metavar: str | None = None, *flags: str, **typer_arguments: Any) -> Any:  # noqa: ANN401
    """Make a field of options, or a default of a command; `flags` are `--NAME` if not said."""
    return field(
        default=default, metadata={_SHOWN: (flags, {"metavar": metavar, "help": help, **typer_arguments})}
    )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Show typer the fields of parameters that are dataclasses, and call the command with these."""
    return _with_options(command, {})[0]


def with_short_help(
    *, first: tuple[str, ...] = (), other_titles: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `with_options`, for many options: `--help` shows those of the command and of `first`.

    `--help-all` shows the others under the `TITLE` of their dataclass, or under that of `other_titles`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        kind = Annotated[bool, _HELP_ALL]
        help_all = Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        typer_command, titles = _with_options(command, {"help_all": help_all})
        hidden_titles = {name: title for name, title in titles.items() if name not in first}
        typer_command.more_options = hidden_titles | dict(other_titles or {})  # pyright: ignore[reportFunctionMemberAccess]
        return typer_command

    return decorate


class ShortHelp(TyperCommand):
    """A command whose help leaves out the options of `with_short_help` unless all are asked for."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return arguments and options."""
        return defer_coercion(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own copy of click
        """Write arguments and options, in groups."""
        titles: Mapping[str, str] = getattr(self.callback, "more_options", {})
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                title = "Arguments" if is_argument else titles.get(parameter.name or "", "Options")
                groups.setdefault(title, []).append(record)
        hidden = 0
        for title, records in groups.items():
            if title in ("Arguments", "Options") or ctx.meta.get(_ALL):
                with formatter.section(title):
                    formatter.write_dl(records, col_max=30)
            else:
                hidden += len(records)
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options, of models, methods and files: --help-all")


def defer_coercion(parameters: list[Any]) -> list[Any]:
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
        if not param.multiple and param.nargs == 1:
            is_text = isinstance(value, str) and param.type_descriptor.annotation is str
            if value is None or value is param.default or is_text:
                return value
        return () if value is None else self.typers().coerce(value, param, ctx)


def _show_all(context: typer.Context, requested: bool) -> None:
    if requested:
        from clew.cli.console import write

        context.meta[_ALL] = True
        write(context.get_help())
        raise typer.Exit


_HELP_ALL = typer.Option(
    "--help-all", is_eager=True, callback=_show_all, help="Show this message with all options."
)


def _with_options(
    command: Callable[..., None], extra_parameters: Mapping[str, Parameter]
) -> tuple[Callable[..., None], dict[str, str]]:
    """The command as typer sees it, with `extra_parameters` that it does not take; titles of the fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    parameters: list[Parameter] = []
    titles: dict[str, str] = {}
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and is_dataclass(kind):
            names = [each.name for each in fields(kind)]
            groups[parameter.name] = kind, names
            field_hints = get_type_hints(kind, include_extras=True)
            parameters += [_parameter(each.name, field_hints[each.name], each) for each in fields(kind)]
            titles |= dict.fromkeys(names, getattr(kind, "TITLE", "Other options"))
        elif _SHOWN in getattr(parameter.default, "metadata", ()):
            parameters.append(_parameter(parameter.name, kind, parameter.default))
        else:
            parameters.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
    parameters += extra_parameters.values()

    @wraps(command)
    def run_command(**arguments: Any) -> None:  # noqa: ANN401
        for name in extra_parameters:
            del arguments[name]
        instances = {
            name: kind(**{field_name: arguments.pop(field_name) for field_name in names})
            for name, (kind, names) in groups.items()
        }
        command(**arguments, **instances)

    run_command.__signature__ = Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_command, titles


def _parameter(name: str, annotation: Any, told: Any) -> Parameter:  # noqa: ANN401
    default = Parameter.empty if told.default is MISSING else told.default
    if _SHOWN in told.metadata:
        flags, typer_arguments = told.metadata[_SHOWN]
        shown = typer.Option(*(flags or (f"--{name.replace('_', '-')}",)), **typer_arguments)
        annotation = Annotated[annotation, shown]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


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
    set: list[str] | None = option(
        None, "A setting of the method, as k=5; clew methods lists them.", "NAME=VALUE"
    )

    def settings(self, method: str, *, claims: bool = False) -> object:
        """Make the settings of one method, None where nothing is given; raises as `settings_of_each`."""
        return self.settings_of_each((method,), claims=claims)[method]

    def settings_of_each(self, methods: Sequence[str], *, claims: bool = False) -> dict[str, object]:
        """Give each method what it takes; UsageError for what none of them takes, or what one refuses."""
        given = self.set or []
        known_methods = [name for name in methods if name in METHODS]
        kinds = {name: METHODS[name].settings_class(claims=claims) for name in known_methods}
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


def _name(text: str) -> str:
    return text.partition("=")[0].strip().replace("-", "_")
