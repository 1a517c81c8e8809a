"""What a run is: data, methods, samples; resolved to checksums, written down, compared on resuming."""

from __future__ import annotations

import hashlib
import random
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from clew.errors import InputError, UsageError
from clew.evaluate.questions import DatasetPart, EvalQuestion
from clew.index.corpus import CorpusSettings
from clew.plugins import code_checksum, is_plugin

OptionValue = str | int | float | bool
_ELSEWHERE = frozenset(("folder", "path", "graph"))
"""Keys that may differ between two runs of the same configuration: where things are, not what they are."""


@dataclass(frozen=True, slots=True)
class MethodVariant:
    """A method to run: `label` names its records; `options` are keyword arguments of its class.

    With `corpus` it is asked over an index that stores these walks.
    """

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
class QuestionSampling:
    """`limit` questions of each part for each seed, as KG-RAG samples (sec. 4.2); None is all of them."""

    limit: int | None = None
    seeds: tuple[int, ...] = (0,)

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


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run asks.

    `given_entities`: methods are told what a question is about (oracle entities); `steps`: records keep how
    a method came to its answer.
    """

    sampling: QuestionSampling = QuestionSampling()
    given_entities: bool = False
    steps: bool = True
    llm: str | None = None
    embedder: str | None = None


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
    ours = tomllib.loads(toml_text(config))
    differences = list(_differences(stored, ours, ""))
    if differences:
        first_differences = "\n".join(f"  {line}" for line in differences[:12])
        surplus = f"\n  … and {len(differences) - 12} more" if len(differences) > 12 else ""
        raise UsageError(
            f"{path.parent}: holds a run of another configuration."
            " Give another --out, or the options of that run."
            f"\n{first_differences}{surplus}"
        )


def _differences(stored: Any, ours: Any, where: str) -> list[str]:  # noqa: ANN401
    """Say where two documents differ: what is there, and what is wanted now."""
    pairs: list[tuple[Any, Any, str]] = []
    lists = isinstance(stored, list) and isinstance(ours, list)
    if isinstance(stored, dict) and isinstance(ours, dict):
        names = [name for name in {**stored, **ours} if name not in _ELSEWHERE]
        pairs = [(stored.get(n), ours.get(n), f"{where}.{n}" if where else n) for n in names]
    elif lists and len(stored) == len(ours) and any(isinstance(item, dict) for item in stored):
        pairs = [(a, b, f"{where}[{at}]") for at, (a, b) in enumerate(zip(stored, ours, strict=True))]
    elif stored != ours:
        return [f"{where}: {_summarise(stored)} there, {_summarise(ours)} now"]
    return [line for pair in pairs for line in _differences(*pair)]


def _summarise(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, list):
        names = (i.get("label") or i.get("name") if isinstance(i, dict) else i for i in value)
        return f"[{', '.join(map(str, names))}]"
    return "nothing" if value is None else str(value)


def toml_text(document: Mapping[str, Any]) -> str:
    """Write tables, lists and values; None is left out, and what TOML lacks is written as text."""
    return tomli_w.dumps(_plain(document))


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (bool, int, float)) else str(value)
