"""`clew doctor`: do the chat model and the database work from here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from clew.cli.console import escape, write, write_json
from clew.cli.opening import Json, LlmSpec
from clew.cli.progress import explained_wait
from clew.errors import UsageError
from clew.opening.environment import neo4j_address, neo4j_login
from clew.stores.opening import is_address, shown_address

LABEL_WIDTH = len("structured output")


def doctor(
    llm: LlmSpec = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="A database, neo4j://… or sparql+https://…; $NEO4J_URI if nothing is named."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check a chat model, a database, or both, and say what to do about what is wrong.

    Settings, server, key and replies of the model, with at most five short calls; server, user, database,
    schema and speed of the database, which is only read. Exit code 1 means that a check failed.
    """
    address = store or (neo4j_address() if llm is None else None)
    if llm is None and address is None:
        raise UsageError(
            "Nothing to check. Write: clew doctor --llm ollama/llama3.1, or --store neo4j://host:7687"
        )
    checks = [] if llm is None else _model(llm)
    checks += [] if address is None else _database(address)
    failed = any(check["state"] == "failed" for check in checks)
    if json:
        address_text = None if address is None else shown_address(address)
        write_json({"model": llm, "store": address_text, "ok": not failed, "checks": checks})
    else:
        for check in checks:
            write(escape(f"{check['state']:<7}  {check['name']:<{LABEL_WIDTH}}  {check['detail']}"))
    if failed:
        raise typer.Exit(1)


def _model(llm: str) -> list[Mapping[str, str]]:
    from clew.llm import settings_from
    from clew.llm.doctor import doctor as checked

    settings = settings_from(os.environ, llm)
    with explained_wait("the model is asked"):
        return [asdict(check) for check in checked(settings)]


def _database(address: str) -> list[Mapping[str, str]]:
    from clew.stores.doctor import check_store

    if not is_address(address):
        raise UsageError(f"{address!r} is no address. Write neo4j://host:7687 or sparql+https://host/path")
    with explained_wait("the database is asked"):
        return [check._asdict() for check in check_store(address, neo4j_login())]
