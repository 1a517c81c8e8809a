"""RDF is parsed in a process of its own, with a limit of memory: what ends the parser does not end Clew.

Statements nested 20,000 deep overflow the parser's stack, and one that is endless fills the memory; both end
a process with a signal, which nothing in it can catch. `rdf_worker` is what runs there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from clew.errors import InputError, ParseError
from clew.foundation.json_form import converted
from clew.graph.readers.batch import Batch, Tally

PARSER_MEMORY = 2 << 30
"""Bytes that the parser may take."""
WORKER = "clew.graph.readers.rdf_worker"
PARSER_COUNTS = ("blank", "skipped", "reasons", "notes", "line")


def read_apart(path: Path, format: str, tally: Tally) -> Iterator[Batch]:
    """Stream the batches of `path` from a process that reads it; raises as `Reader.read`.

    Raises ParseError too if the process ended by a signal or for lack of memory.
    """
    command = [sys.executable, "-P", "-m", WORKER, format, tally.on_error, str(int(tally.collect)),
               tally.scope, tally.hints.language, str(path)]  # fmt: skip
    with tempfile.TemporaryFile() as error_output:
        process = subprocess.Popen(  # noqa: S603 - this Python, a module of ours
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error_output
        )
        try:
            line = 0
            # A last line that was cut off is left out.
            complete_lines = (text for text in process.stdout or () if text.endswith(b"\n"))
            for message in map(json.loads, complete_lines):
                if "at" in message:
                    done, line = message["at"]
                    if tally.progress is not None:
                        tally.progress(done)
                elif "batch" in message:
                    yield converted(message["batch"], Batch)
                else:
                    _take_last(message, tally)
                    return
            raise _end_error(path, line, process.wait(), error_output)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _take_last(message: Mapping[str, Any], tally: Tally) -> None:
    """Take what the process counted; raises the error that ended it, if one did."""
    for name in PARSER_COUNTS:
        setattr(tally, name, message["tally"][name])
    tally.faults = [ParseError(*fault) for fault in message["tally"]["faults"]]
    if "parse_error" in message:
        *first, other_faults, stopped = message["parse_error"]
        raise ParseError(*first, others=tuple(other_faults), stopped=stopped)
    if "input_error" in message:
        raise InputError(message["input_error"])


def _end_error(path: Path, line: int, code: int, error_output: IO[bytes]) -> ParseError:
    """Say why a process ended that had more to say."""
    error_output.seek(0)
    words = error_output.read().decode("utf-8", "replace").strip().splitlines()
    text = " ".join(words)
    if "memory" in text or "MemoryError" in text:
        memory = f"{PARSER_MEMORY >> 30} GiB of memory"
        reason = f"reading it takes more than {memory}: a statement, text or gap is endless"
    elif code < 0:
        reason = "it ends the parser: statements are nested too deep"
    else:
        reason = f"it ends the parser ({words[-1] if words else f'exit {code}'})"
    return ParseError(str(path), 0, f"after line {line:,}: {reason}", "Remove what is not data")
