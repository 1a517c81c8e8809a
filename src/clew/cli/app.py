"""The typer application and its global options."""

from __future__ import annotations

from typing import Annotated

import typer

from clew.cli.ask import ask
from clew.cli.compare import compare
from clew.cli.cypher import app as cypher
from clew.cli.datasets import datasets
from clew.cli.doctor import doctor
from clew.cli.evaluate import evaluate
from clew.cli.failures import Commands
from clew.cli.history import app as history
from clew.cli.index import index
from clew.cli.info import info
from clew.cli.match import match
from clew.cli.mcp import mcp
from clew.cli.options import ShortHelp
from clew.cli.query import query
from clew.cli.report import report
from clew.cli.serve import serve
from clew.cli.update import update
from clew.cli.verify import verify

app = typer.Typer(
    name="clew",
    cls=Commands,
    help="Ask questions of a knowledge graph; every answer is proved by its triples.",
    epilog="Exit codes: 0 answered, 3 no answer in the graph, 2 wrong usage or input, 1 failure.",
    # Plain help needs no rich, and a shell shows it at once.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
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


# In a list of commands a line has room for a few words.
for name, command, short in (
    ("index", index, "Index graph files, or a database."),
    ("update", update, "Add to an index and remove from it."),
    ("ask", ask, "Ask a question, or a file of them."),
    ("verify", verify, "Check a claim, or a file of them."),
    ("compare", compare, "Ask several methods the same question."),
    ("match", match, "Find a pattern in the graph."),
    ("info", info, "Show what an index holds."),
    ("query", query, "Run a reading query of Cypher or SPARQL."),
    ("serve", serve, "Open a web page, an HTTP API and MCP."),
    ("mcp", mcp, "Serve graphs to an agent (MCP)."),
    ("eval", evaluate, "Measure methods on a data set, or run an experiment."),
    ("report", report, "Make a page of the figures of runs."),
    ("datasets", datasets, "List the data sets that eval reads."),
    ("doctor", doctor, "Check a chat model, a database, or both."),
):
    app.command(name, short_help=short, cls=ShortHelp)(command)
app.add_typer(cypher, name="cypher", short_help="Correct Cypher statements, without a database.")
app.add_typer(history, name="history", short_help="Keep solved questions as examples for synaptiqa.")
