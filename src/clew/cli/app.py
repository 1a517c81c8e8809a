"""The typer application and its global options."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from clew.cli.console import Commands
from clew.cli.options import ShortHelp, defer_coercion

COMMANDS = {
    "index": ("index:index", "Index graph files, or a database."),
    "update": ("index:update", "Add to an index and remove from it."),
    "vocabulary": ("info:vocabulary", "Say what a team calls things."),
    "ask": ("ask:ask", "Ask a question, or a file of them."),
    "verify": ("ask:verify", "Check a claim, or a file of them."),
    "methods": ("info:methods", "List the methods and their settings."),
    "shell": ("shell:shell", "Ask one question after the other."),
    "match": ("query:match", "Find a pattern in the graph."),
    "info": ("info:info", "Show what an index holds."),
    "query": ("query:query", "Run a reading query of Cypher or SPARQL."),
    "serve": ("serve:serve", "Open a web page, an HTTP API and MCP."),
    "mcp": ("serve:mcp", "Serve graphs to an agent (MCP)."),
    "eval": ("evaluate:evaluate", "Measure methods on a data set, or run an experiment."),
    "doctor": ("info:doctor", "Check a chat model, a database, or both."),
}
"""Name → a function, or a typer application of several, in a module of this folder; and its help in a list,
where a line has room for a few words."""


class _Clew(Commands):
    """All commands; only the one that is run is imported."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self.commands: Any = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 (typer's own copy of click)
        """Import a command when it is first asked for; None if there is none of the name."""
        del ctx
        if cmd_name in COMMANDS and self.commands[cmd_name] is None:
            place, short = COMMANDS[cmd_name]
            module, _, attribute = place.partition(":")
            command: Any = getattr(import_module(f"clew.cli.{module}"), attribute)
            typer_app = command
            if not isinstance(command, typer.Typer):
                typer_app = typer.Typer(add_completion=False, **_PLAIN)
                typer_app.command(cmd_name, short_help=short, cls=ShortHelp)(command)
            click_command: Any = typer.main.get_command(typer_app)
            click_command.name, click_command.short_help = cmd_name, short
            self.commands[cmd_name] = click_command
        return self.commands.get(cmd_name)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the options before a command."""
        return defer_coercion(super().get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write what the commands are for."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in COMMANDS.items()])


# Plain help needs no rich, and a shell shows it at once.
_PLAIN: Any = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
app = typer.Typer(
    name="clew",
    cls=_Clew,
    help="Ask questions of a knowledge graph; every answer is proved by its triples.",
    epilog="Exit codes: 0 answered, 3 no answer in the graph, 2 wrong usage or input, 1 failure.",
    **_PLAIN,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        from clew.cli.console import write
        from clew.version import __version__

        write(f"clew {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an internal error.")] = False,
) -> None:
    """Ask questions of a knowledge graph; every answer is proved by its triples."""
    del version, debug  # read by the callback and by `Commands`
    if context.invoked_subcommand is None:
        from clew.cli.console import write

        write(context.get_help())
