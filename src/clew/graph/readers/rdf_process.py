"""RDF is parsed in a process of its own, with a limit of memory: what ends the parser does not end Clew.

Statements nested 20,000 deep overflow the parser's stack, and one that is endless fills the memory; both end
a process with a signal, which nothing in it can catch.

There runs `python -P -m` this module, then FORMAT ON_ERROR COLLECT SCOPE LANGUAGE FILE. Out: a line of JSON
for each batch, for how far the file is read, and for what was counted, the last.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

from clew.converting import converted
from clew.errors import InputError, ParseError
from clew.graph.readers.batch import Batch, OnError, Tally
from clew.graph.readers.hints import Hints
from clew.memory import limit_memory

PARSER_MEMORY = 2 << 30
"""Bytes that the parser may take."""
PARSER_COUNTS = ("blank", "skipped", "reasons", "notes", "line")


def read_apart(path: Path, format: str, tally: Tally) -> Iterator[Batch]:
    """Stream the batches of `path` from a process that reads it; raises as `Reader.read`.

    Raises ParseError too if the process ended by a signal or for lack of memory.
    """
    command = [sys.executable, "-P", "-m", __name__, format, tally.on_error, str(int(tally.collect)),
               tally.scope, tally.hints.language, str(path)]  # fmt: skip
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - this Python, a module of ours
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said
        )
        try:
            line = 0
            # A last line that was cut off is left out.
            whole = (text for text in process.stdout or () if text.endswith(b"\n"))
            for message in map(json.loads, whole):
                if "at" in message:
                    done, line = message["at"]
                    if tally.progress is not None:
                        tally.progress(done)
                elif "batch" in message:
                    yield converted(message["batch"], Batch)
                else:
                    _take_last(message, tally)
                    return
            raise _ended(path, line, process.wait(), said)
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
        *first, others, stopped = message["parse_error"]
        raise ParseError(*first, others=tuple(others), stopped=stopped)
    if "input_error" in message:
        raise InputError(message["input_error"])


def _ended(path: Path, line: int, code: int, said: IO[bytes]) -> ParseError:
    """Say why a process ended that had more to say."""
    said.seek(0)
    words = said.read().decode("utf-8", "replace").strip().splitlines()
    text = " ".join(words)
    if "memory" in text or "MemoryError" in text:
        memory = f"{PARSER_MEMORY >> 30} GiB of memory"
        reason = f"reading it takes more than {memory}: a statement, text or gap is endless"
    elif code < 0:
        reason = "it ends the parser: statements are nested too deep"
    else:
        reason = f"it ends the parser ({words[-1] if words else f'exit {code}'})"
    return ParseError(str(path), 0, f"after line {line:,}: {reason}", "Remove what is not data")


def main(format: str, on_error: OnError, collect: bool, scope: str, language: str, path: Path) -> None:
    """Read one file and say what is in it."""
    from clew.graph.readers.rdf import RdfReader
    from clew.graph.readers.registry import reader_named

    limit_memory(PARSER_MEMORY)
    reader = reader_named(format)
    if not isinstance(reader, RdfReader):
        raise TypeError(f"{format} is no format of RDF")
    tally = Tally(
        on_error, lambda done: _say({"at": [done, tally.line]}), scope, collect, Hints(language=language)
    )
    last: dict[str, Any] = {}
    try:
        for batch in reader.read_here(path, tally):
            held = {f.name: getattr(batch, f.name) for f in fields(batch)}
            _say({"batch": held | {"labels": [asdict(label) for label in batch.labels]}})
    except ParseError as error:
        last["parse_error"] = [
            error.file, error.line, error.reason, error.advice, error.others, error.stopped
        ]  # fmt: skip
    except InputError as error:
        last["input_error"] = str(error)
    counts = {name: getattr(tally, name) for name in PARSER_COUNTS}
    counts["faults"] = [[fault.file, fault.line, fault.reason, fault.advice] for fault in tally.faults]
    _say(last | {"tally": counts})


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")  # pyright: ignore
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "1", sys.argv[4], sys.argv[5], Path(sys.argv[6]))  # pyright: ignore
