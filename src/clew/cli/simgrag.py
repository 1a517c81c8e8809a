"""Options of SimGRAG, for `clew ask` and `clew verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clew.errors import UsageError

Shots = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="simgrag: worked examples in each prompt (12).")
]
K = Annotated[
    int | None, typer.Option("--k", metavar="N", min=1, help="simgrag: subgraphs that are read (3).")
]
FewCandidates = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="simgrag: the paper's cut of candidates, as 16; unlimited without."
    ),
]
Examples = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="simgrag: worked examples for this graph.")
]
Hints = Annotated[
    bool, typer.Option("--hints", help="simgrag: show the model relations and types of this graph at once.")
]
Trace = Annotated[
    Path | None, typer.Option(metavar="FILE.jsonl", help="Write every prompt and reply of --llm here.")
]


def simgrag_settings(
    method: str,
    *,
    shots: int | None,
    k: int | None,
    candidates: int | None,
    examples: Path | None,
    hints: bool,
) -> object:
    """Make SimGRAG's settings from options; None where none is given.

    UsageError if the method is another one.
    """
    given: dict[str, Any] = {
        name: value
        for name, value in (("shots", shots), ("k", k), ("candidates", candidates), ("hints", hints or None))
        if value is not None
    }
    if not given and examples is None:
        return None
    if method not in ("auto", "simgrag"):
        names = [*given, *(["examples"] if examples is not None else [])]
        told = ", ".join(f"--{name}" for name in names)
        raise UsageError(f"{told}: for simgrag, not for {method}. Leave it out")
    from clew.methods.simgrag import Settings
    from clew.steps.simgrag_prompts import read_shots

    if examples is not None:
        given["examples"] = read_shots(examples)
    return Settings(**given)
