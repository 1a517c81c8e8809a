"""`clew doctor`: does the chat model work from here."""

from __future__ import annotations

import os
from dataclasses import asdict

import typer

from clew.cli.opening import Json, LlmSpec
from clew.errors import UsageError

WAITING = "still asking the model …"
WIDTH = len("structured output")


def doctor(llm: LlmSpec = None, json: Json = False) -> None:
    """Check settings, server, key and replies of a chat model, and say what to do about what is wrong.

    At most five short calls are made. Exit code 1 means that a check failed.
    """
    from clew.cli.console import shown, write, write_json
    from clew.cli.progress import explained_wait
    from clew.llm import settings_from
    from clew.llm.doctor import doctor as checked

    if llm is None:
        raise UsageError("No chat model given. Write: clew doctor --llm ollama/llama3.1")
    settings = settings_from(os.environ, llm)
    with explained_wait(WAITING, quiet=False):
        checks = checked(settings)
    failed = any(check.state == "failed" for check in checks)
    if json:
        write_json({"model": llm, "ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            write(shown(f"{check.state:<7}  {check.name:<{WIDTH}}  {check.detail}"))
    if failed:
        raise typer.Exit(1)
