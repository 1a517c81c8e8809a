"""A run: what it is (data, methods, samples), and its directory, which a kill cannot spoil."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import mmap
import random
import tomllib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from clew.errors import InputError, LockedError, UsageError
from clew.evaluate.records import DatasetPart, EvalQuestion, Key, Record, record_from_json
from clew.foundation.forms import append_line, json_object
from clew.foundation.redaction import redacted
from clew.foundation.system import open_growing, replace_file, take_lock
from clew.index.corpus import CorpusSettings
from clew.plugins import code_checksum, is_plugin

OptionValue = str | int | float | bool
_ELSEWHERE = frozenset(("folder", "path", "graph"))
"""Keys that may differ between two runs of the same configuration: where things are, not what they are."""


@dataclass(frozen=True, slots=True)
class MethodVariant:
    """A method to run: `label` names its records; `corpus` the walks of its index; `options` its settings."""

    label: str
    method: str
    options: Mapping[str, OptionValue] = field(default_factory=dict[str, OptionValue])
    corpus: CorpusSettings | None = None

    def as_dict(self) -> dict[str, Any]:
        """Describe the method for `config.resolved.toml`."""
        description: dict[str, Any] = {"label": self.label, "method": self.method}
        if is_plugin(self.method):
            description["code"] = code_checksum(self.method)
        if self.options:
            description["options"] = dict(self.options)
            files = {name: Path(v) for name, v in self.options.items() if isinstance(v, str)}
            hashes = {name: file_hash(file) for name, file in files.items() if file.is_file()}
            description |= {"files": hashes} if hashes else {}
        if self.corpus is not None:
            description["corpus"] = asdict(self.corpus)
        return description


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run asks: `limit` questions of each part for each seed, as KG-RAG samples (sec. 4.2), or all.

    `given_entities`: oracle entities; `steps`: records keep how a method came to its answer.
    """

    limit: int | None = None
    seeds: tuple[int, ...] = (0,)
    given_entities: bool = False
    steps: bool = True
    llm: str | None = None
    embedder: str | None = None

    def sample(self, part: DatasetPart, seed: int) -> tuple[EvalQuestion, ...]:
        """Draw the questions of one seed, in the order of the file."""
        if self.limit is None or self.limit >= len(part.questions):
            return part.questions
        positions = random.Random(seed).sample(range(len(part.questions)), self.limit)  # noqa: S311
        return tuple(part.questions[at] for at in sorted(positions))

    def union(self, part: DatasetPart) -> tuple[EvalQuestion, ...]:
        """Return the questions of any seed, once each, in the order of the file."""
        ids = {question.id for seed in self.seeds for question in self.sample(part, seed)}
        return tuple(question for question in part.questions if question.id in ids)


def file_hash(file: Path) -> str:
    """Hash the contents of a file: SHA-256 in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_same(path: Path, config: Mapping[str, Any]) -> None:
    """Compare with the configuration of a run; UsageError shows where it differs, InputError: unreadable."""
    try:
        stored = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a configuration of a run ({error}). Give another --out") from error
    there, now = _flat(stored), _flat(config)
    differences = [
        f"{name}: {there.get(name, 'nothing')} there, {now.get(name, 'nothing')} now"
        for name in there | now
        if there.get(name) != now.get(name)
    ]
    if differences:
        first_differences = "\n".join(f"  {line}" for line in differences[:12])
        surplus = f"\n  … and {len(differences) - 12} more" if len(differences) > 12 else ""
        raise UsageError(
            f"{path.parent}: holds a run of another configuration."
            " Give another --out, or the options of that run."
            f"\n{first_differences}{surplus}"
        )


def _flat(value: Any, where: str = "") -> dict[str, object]:  # noqa: ANN401
    """Each value of a document by its place (`parts[0].name`), but for where things are."""
    if isinstance(value, dict):
        items = [(f"{where}.{name}".lstrip("."), v) for name, v in value.items() if name not in _ELSEWHERE]
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        items = [(f"{where}[{at}]", item) for at, item in enumerate(value)]
    else:
        return {where: value}
    return {name: inner for place, item in items for name, inner in _flat(item, place).items()}


def _plain(value: Any) -> Any:  # noqa: ANN401
    """What TOML can hold of a value: None is left out, and what it lacks is written as text."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (bool, int, float)) else str(value)


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
        try:
            append_line(self._file, value)
        except OSError as error:
            reason = f"{self.path}: cannot be written ({error.strerror}); what was written before is kept"
            raise InputError(reason) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _whole(path: Path) -> int:
    """Count the bytes up to the last line end."""
    with (
        suppress(ValueError),  # of an empty file
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
    ):
        return text.rfind(b"\n") + 1
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
        config = _plain(json.loads(redacted(json.dumps(config))))
        if path.exists():
            check_same(path, config)
            return
        if (self.path / RECORDS).exists():
            raise InputError(f"{self.path}: has records but no {CONFIG}. Give another --out")
        self.write(FACTS, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
        if experiment is not None:
            self.write(EXPERIMENT, experiment)
        self.write(CONFIG, tomli_w.dumps(config))

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

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield (offset, record), the last of each key: a question that is asked again has two."""
        last = {key_of(line): offset for offset, line in self.lines(RECORDS)}
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
