"""RDF is parsed in a process of its own, with a limit of memory: what ends the parser does not end Clew.

Statements nested 20,000 deep overflow the parser's stack, and one that is endless fills the memory; both end
a process with a signal, which nothing in it can catch. Run as `python -P -m clew.graph.readers.rdf_process
FORMAT ON_ERROR COLLECT SCOPE FILE`. Out: a line of JSON for each batch, and for how far the file is read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from clew.errors import InputError, ParseError
from clew.graph.readers.batch import Batch, Label, OnError, Tally
from clew.memory import limit_memory

MEMORY = 2 << 30
"""Bytes that the parser may take."""
_COUNTS = ("blank", "skipped", "reasons", "notes", "line")


def read_apart(path: Path, format: str, tally: Tally) -> Iterator[Batch]:
    """Stream the batches of `path` from a process that reads it; raises as `Reader.read`.

    Raises ParseError too if the process ended by a signal or for lack of memory.
    """
    command = [sys.executable, "-P", "-m", __name__, format, tally.on_error, str(int(tally.collect)),
               tally.scope, str(path)]  # fmt: skip
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - this Python, a module of ours
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said
        )
        try:
            line = 0
            for message in _messages(process):
                if "at" in message:
                    done, line = message["at"]
                    if tally.progress is not None:
                        tally.progress(done)
                elif "batch" in message:
                    yield _batch(message["batch"])
                elif _is_last(message, tally):
                    return
            raise _ended(path, line, process.wait(), said)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _messages(process: subprocess.Popen[bytes]) -> Iterator[Mapping[str, Any]]:
    """What the process says; a last line that was cut off is left out."""
    for line in process.stdout or ():
        if line.endswith(b"\n"):
            yield json.loads(line)


def _is_last(message: Mapping[str, Any], tally: Tally) -> bool:
    """Take what the process counted; raises the error that ended it, if one did."""
    for name in _COUNTS:
        setattr(tally, name, message["tally"][name])
    tally.faults = [ParseError(*fault) for fault in message["tally"]["faults"]]
    if "parse_error" in message:
        *first, others, stopped = message["parse_error"]
        raise ParseError(*first, others=tuple(others), stopped=stopped)
    if "input_error" in message:
        raise InputError(message["input_error"])
    return True


def _ended(path: Path, line: int, code: int, said: IO[bytes]) -> ParseError:
    """Say why a process ended that had more to say."""
    said.seek(0)
    words = said.read().decode("utf-8", "replace").strip().splitlines()
    text = " ".join(words)
    if "memory" in text or "MemoryError" in text:
        reason = (
            f"reading it takes more than {MEMORY >> 30} GiB of memory: a statement, text or gap is endless"
        )
    elif code < 0:
        reason = "it ends the parser: statements are nested too deep"
    else:
        reason = f"it ends the parser ({words[-1] if words else f'exit {code}'})"
    return ParseError(str(path), 0, f"after line {line:,}: {reason}", "Remove what is not data")


def _fields(batch: Batch) -> dict[str, Any]:
    """A batch as JSON: no copies of its lists but that of the labels."""
    held = {f.name: getattr(batch, f.name) for f in fields(batch)}
    return held | {"labels": [(label.subject, label.text, label.rank) for label in batch.labels]}


def _batch(held: Mapping[str, Any]) -> Batch:
    """Make a batch again from its fields after JSON."""
    made: dict[str, Any] = {
        "tails": [tail if isinstance(tail, str) else (tail[0], tail[1]) for tail in held["tails"]],
        "labels": [Label(*label) for label in held["labels"]],
        "types": [(entity, type_) for entity, type_ in held["types"]],
        "aliases": [(entity, alias) for entity, alias in held["aliases"]],
    }
    return Batch(**{**held, **made})


def main(format: str, on_error: OnError, collect: bool, scope: str, path: Path) -> None:
    """Read one file and say what is in it."""
    from clew.graph.readers.rdf import RdfReader
    from clew.graph.readers.registry import reader_named

    limit_memory(MEMORY)
    reader = reader_named(format)
    if not isinstance(reader, RdfReader):
        raise TypeError(f"{format} is no format of RDF")
    tally = Tally(on_error, lambda done: _say({"at": [done, tally.line]}), scope, collect)
    last: dict[str, Any] = {}
    try:
        for batch in reader.read_here(path, tally):
            _say({"batch": _fields(batch)})
    except ParseError as error:
        last["parse_error"] = [
            error.file, error.line, error.reason, error.advice, error.others, error.stopped
        ]  # fmt: skip
    except InputError as error:
        last["input_error"] = str(error)
    counts = {name: getattr(tally, name) for name in _COUNTS}
    counts["faults"] = [[fault.file, fault.line, fault.reason, fault.advice] for fault in tally.faults]
    _say(last | {"tally": counts})


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")  # pyright: ignore
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "1", sys.argv[4], Path(sys.argv[5]))  # pyright: ignore
