"""Data sets by name, and our own plain format; adding one is a file and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec

from clew.errors import InputError, ParseError, UsageError
from clew.evaluate.datasets.base import (
    DatasetAbout,
    DatasetReader,
    find_file,
    find_optional,
    json_lines,
    unique,
)
from clew.evaluate.datasets.published import WC2014, Crag, FactKG, MetaQA, PathQuestion, Qald
from clew.evaluate.records import DatasetPart, EvalQuestion, GoldAnswer, GoldPath, GoldVerdict
from clew.foundation.forms import converted
from clew.graph.readers.registry import READERS
from clew.graph.readers.stream import unpacked_name
from clew.plugins import imported, is_plugin

# Our own plain format: a graph and `questions.jsonl`, with which a user measures Clew on his own graph.
#
# A line is `{"question": …, "gold": [name or [name, alias, …], …]}`, with, if known, `id`, `entities`,
# `kind`, `paths` (`[[entity, relation, …], …]`) and `query`. `"gold": []` is a question that the graph cannot
# answer. A claim has `"verdict": "supported" | "refuted"` in place of `gold`. The graph is the one file or
# directory beside it whose name is `graph` with any suffix that `clew index` reads (`graph.tsv`,
# `graph.nt.gz`, `graph.clew`), else all tables and graph files there. A directory of such directories has a
# part for each.

_Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
_Names = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
_Path = Annotated[tuple[str, ...], msgspec.Meta(min_length=2)]
_SIDE = (".types.tsv", ".aliases.tsv")
_QUESTIONS = "questions.jsonl"
_WHOLE = "all"


class Plain:
    """One part, `all`; of a directory of such directories, one for each, by its name."""

    splits: tuple[str, ...] = ()
    about = DatasetAbout(
        name="plain",
        title="your own graph and questions: graph.* and questions.jsonl",
        source="docs/evaluate.md",
        licence="yours",
        files='graph.tsv (or .nt, .ttl, .csv, .clew …), questions.jsonl with {"question", "gold": […]} lines',
        cite="",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, or the directories that have questions."""
        if find_optional(folder, [_QUESTIONS]) is not None:
            return (_WHOLE,)
        return tuple(file.parent.name for file in sorted(folder.glob(f"*/{_QUESTIONS}")))

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read the questions; raises as `DatasetReader.read`."""
        folder = folder if part == _WHOLE else folder / part
        file = find_file(folder, [_QUESTIONS], "file of questions")
        return _part(f"plain/{folder.resolve().name}", file, _graphs(folder))


def read_files(files: Sequence[Path]) -> DatasetPart:
    """Read one file of questions (.jsonl) among files whose others are the graph. Raises UsageError too."""
    questions = [file for file in files if file.suffix == ".jsonl"]
    if len(questions) != 1:
        names = ", ".join(map(str, questions)) or "none"
        raise UsageError(f"One file of questions (.jsonl) is needed; given: {names}. See docs/evaluate.md")
    if not questions[0].is_file():
        raise InputError(f"{questions[0]}: no such file")
    graph = tuple(file for file in files if file is not questions[0])
    return _part(f"plain/{questions[0].stem}", questions[0], graph)


def _part(name: str, file: Path, graph: tuple[Path, ...]) -> DatasetPart:
    questions = [_question(file, number, value) for number, value in json_lines(file)]
    claims = [q for q in questions if q.verdict is not None]
    if claims and len(claims) != len(questions):
        begins_with_question = questions[0].verdict is None
        mismatch = next(q for q in questions if (q.verdict is None) != begins_with_question)
        description = "a claim among questions" if begins_with_question else "a question among claims"
        raise ParseError(str(file), mismatch.line, description, "Put them into two directories")
    task = "claims" if claims else "questions"
    return DatasetPart(name, unique(questions, file), (file,), graph, task=task)


def _graphs(folder: Path) -> tuple[Path, ...]:
    """The file or folder named `graph`; else all files of the folder that are no questions, as two tables."""
    graphs = [p for p in sorted(folder.glob("graph.*")) if not p.name.endswith(_SIDE)]
    graphs += [p for p in (folder / "graph",) if p.is_dir()]
    if len(graphs) > 1:
        names = ", ".join(path.name for path in graphs)
        raise InputError(f"{folder}: several graphs ({names}). Leave one, or name it with --graph")
    if graphs:
        return tuple(graphs)
    suffixes = {suffix for reader in READERS for suffix in reader.suffixes} - {".jsonl"}
    files = (p for p in sorted(folder.iterdir()) if p.is_file() and not p.name.endswith(_SIDE))
    return tuple(p for p in files if Path(unpacked_name(p.name)).suffix.lower() in suffixes)


@dataclass(frozen=True)
class _Line:
    """A line of `questions.jsonl`."""

    question: _Text
    gold: tuple[str | _Names, ...] | None = None
    id: str | int | None = None
    entities: tuple[str, ...] | None = ()
    kind: str = ""
    paths: tuple[_Path, ...] | None = ()
    verdict: GoldVerdict | None = None
    query: _Text | None = None


def _question(file: Path, number: int, value: dict[str, Any]) -> EvalQuestion:
    try:
        line = converted(value, _Line)
    except msgspec.ValidationError as error:
        raise ParseError(str(file), number, f"not a question: {error}") from error
    if line.gold is None and line.verdict is None:
        raise ParseError(
            str(file), number, "not a question: it has no `gold`, and is no claim with a `verdict`"
        )
    gold = [
        (names,) if isinstance(names, str) else names for names in line.gold or () if line.verdict is None
    ]
    return EvalQuestion(
        id=str(number if line.id is None else line.id),
        text=line.question,
        gold=tuple(GoldAnswer(name, tuple(aliases)) for name, *aliases in gold),
        entities=line.entities or (),
        kind=line.kind,
        paths=tuple(GoldPath(start, tuple(relations)) for start, *relations in line.paths or ()),
        verdict=line.verdict,
        query=line.query,
        line=number,
    )


DATASETS: tuple[DatasetReader, ...] = (
    *(MetaQA(), PathQuestion(), WC2014(), FactKG(), Crag(), Qald(), Plain()),
)
"""All readers."""


def dataset_named(name: str) -> DatasetReader:
    """Return the reader of a data set, or `module:class` of a user's own; UsageError if there is none."""
    if is_plugin(name):
        plugin = imported(name, "data set")
        return cast(DatasetReader, plugin() if isinstance(plugin, type) else plugin)
    readers = {reader.about.name: reader for reader in DATASETS}
    if name in readers:
        return readers[name]
    advice = f"Data sets are: {', '.join(readers)}; your own is MODULE:CLASS"
    raise UsageError(f"There is no data set {name!r}. {advice}. See: clew eval --datasets")
