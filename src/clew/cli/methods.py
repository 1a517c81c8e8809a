"""`clew methods`: the methods, and the settings that each takes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clew.cli.console import escape, out, put, write_json
from clew.cli.opening import Json
from clew.errors import UsageError


def methods(
    name: Annotated[str | None, typer.Argument(metavar="METHOD", help="One of them alone.")] = None,
    *,
    json: Json = False,
) -> None:
    """List the methods, and the settings that each takes: `--set NAME=VALUE`."""
    from clew.methods.registry import METHODS

    if name is not None and name not in METHODS:
        raise UsageError(f"There is no method {name!r}. There are: {', '.join(METHODS)}")
    rows = [_row(method) for method in METHODS if name in (None, method)]
    if json:
        write_json({"methods": rows})
        return
    for row in rows:
        model = "needs a chat model" if row["needs_model"] else "works without a chat model"
        put(out(), f"{row['name']}  ({model})", "bold")
        for setting in row["settings"]:
            default = "" if setting["default"] is None else f" [{setting['default']}]"
            section = f"; {setting['section']}" if setting["section"] else ""
            put(out(), escape(f"  {setting['name']}{default}: {setting['help']}{section}"))


def _row(method: str) -> dict[str, Any]:
    from clew.methods.registry import METHODS
    from clew.methods.settings import options_of

    spec = METHODS[method]
    kind = spec.settings_class()
    settings = [
        {
            "name": name,
            "help": option.help,
            "type": option.kind.__name__,
            "default": option.unset or None if default is None else default,
            "choices": list(option.choices),
            "least": option.least,
            "most": option.most,
            "section": option.section,
        }
        for name, (option, default) in ({} if kind is None else options_of(kind)).items()
        if option.offered
    ]
    return {"name": method, "needs_model": spec.needs_model, "settings": settings}
