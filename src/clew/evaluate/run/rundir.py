"""The directory of a run: files, lock, records; a kill at any point loses at most a torn last line."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clew.errors import InputError, LockedError
from clew.evaluate.records import Key, Record, record_from_json
from clew.evaluate.run.config import check_same, toml_text
from clew.foundation.json_form import json_line, json_object
from clew.foundation.redaction import redacted
from clew.foundation.whole_file import replace_file
from clew.workers.locks import open_growing, take_lock

CONFIG, RECORDS, FACTS = "config.resolved.toml", "records.jsonl", "facts.json"
JUDGEMENTS, BERT = "judgements.jsonl", "bertscore.jsonl"
EXPERIMENT = "experiment.toml"


class LineFile:
    """A file of JSON lines that only grows; a line is in the file as soon as `add` returns."""

    def __init__(self, path: Path) -> None:
        """Open the file, cutting off a last line that a kill has torn; InputError if it cannot be written."""
        self.path = path
        try:
            self._file = open_growing(path)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror}). Give another --out") from error
        size = _whole(path)
        self._file.truncate(size)
        self._file.seek(size)

    def add(self, value: Mapping[str, Any]) -> None:
        """Append one line; InputError if the disk is full."""
        line = (json_line(value) + "\n").encode("utf-8")
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            reason = f"{self.path}: cannot be written ({error.strerror}); what was written before is kept"
            raise InputError(reason) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _whole(path: Path) -> int:
    """Count the bytes up to the last line end."""
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at > 0:
            start = max(0, at - 65_536)
            file.seek(start)
            line_end = file.read(at - start).rfind(b"\n")
            if line_end >= 0:
                return start + line_end + 1
            at = start
    return 0


class RunDirectory:
    """The directory of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the directory for this process alone; InputError, or LockedError where another has it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / ".lock").open("w")
        except OSError as error:
            reason = f"{self.path}: cannot be written ({error.strerror}). Give another --out"
            raise InputError(reason) from error
        with lock:
            if not take_lock(lock.fileno()):
                raise LockedError(f"{self.path}: another process runs here. Wait, or give another --out")
            yield

    def begin(self, config: Mapping[str, Any], facts: Mapping[str, Any], experiment: str | None) -> None:
        """Write the configuration down; UsageError, which shows it, where another one is there."""
        path = self.path / CONFIG
        config = json.loads(redacted(json.dumps(config)))
        if path.exists():
            check_same(path, config)
            return
        if (self.path / RECORDS).exists():
            raise InputError(f"{self.path}: has records but no {CONFIG}. Give another --out")
        self.write(FACTS, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
        if experiment is not None:
            self.write(EXPERIMENT, experiment)
        self.write(CONFIG, toml_text(config))

    def write(self, name: str, text: str) -> None:
        """Replace a file as a whole."""
        target = self.path / name
        try:
            replace_file(target, redacted(text))
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror})") from error

    def write_csv(self, name: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Replace a table."""
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([header, *rows])
        self.write(name, text.getvalue())

    def facts(self) -> dict[str, Any]:
        """Read what was found out about the data when the run began."""
        try:
            return json.loads((self.path / FACTS).read_text("utf-8"))
        except FileNotFoundError as error:
            reason = f"{self.path}: not a run directory. Make one with: clew eval … --out DIR"
            raise InputError(reason) from error
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path / FACTS}: cannot be read ({error})") from error

    def lines(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (offset, object) of the whole lines of a file; nothing if there is no file."""
        path = self.path / name
        if not path.exists():
            return
        offset = 0
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if not raw.endswith(b"\n"):
                    return
                advice = "The file was changed; remove the line, and it is done again"
                yield offset, json_object(raw, str(path), number, advice)
                offset += len(raw)

    def answered_keys(self) -> set[Key]:
        """Keys of the questions that have an answer; those that failed are asked again."""
        keyed = [(key_of(line), line.get("failure")) for _, line in self.lines(RECORDS)]
        return {key for key, failure in keyed if failure is None}

    def offsets(self) -> dict[Key, int]:
        """Where the last record of each key begins; a question that failed and was asked again has two."""
        return {key_of(line): offset for offset, line in self.lines(RECORDS)}

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield (offset, record), the last of each key, as they were written."""
        last = self.offsets()
        for offset, line in self.lines(RECORDS):
            if last[key_of(line)] == offset:
                yield offset, record_from_json(line)

    def record_at(self, offset: int) -> Record:
        """Read the record that begins at `offset`."""
        with (self.path / RECORDS).open("rb") as file:
            file.seek(offset)
            return record_from_json(json.loads(file.readline()))


def key_of(line: Mapping[str, Any]) -> Key:
    """Read the key of a line; InputError if it has none."""
    try:
        return Key(line["part"], line["method"], line["seed"], line["id"])
    except KeyError as error:
        raise InputError(f"a line without {error}: not a record of Clew") from error
