"""The process that parses RDF for `rdf_process`.

Run as `python -P -m` this module, then FORMAT ON_ERROR COLLECT SCOPE LANGUAGE FILE. Out: a line of
JSON for each batch, for how far the file is read, and for what was counted, the last.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import InputError, ParseError
from clew.foundation.system import limit_memory
from clew.graph.readers.batch import OnError, Tally
from clew.graph.readers.hints import Hints
from clew.graph.readers.rdf import PARSER_COUNTS, PARSER_MEMORY, RdfReader
from clew.graph.readers.registry import reader_named


def main(format: str, on_error: OnError, collect: bool, scope: str, language: str, path: Path) -> None:
    """Read one file and say what is in it."""
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
            _write(msgspec.json.encode({"batch": batch}))
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
    # Names of files may be no UTF-8, which msgspec does not write.
    _write(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogateescape"))


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "1", sys.argv[4], sys.argv[5], Path(sys.argv[6]))  # pyright: ignore
