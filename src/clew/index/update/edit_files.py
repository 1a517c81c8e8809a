"""The files of an update → `Edits`, as an index of these files would read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.graph.readers.batch import MAX_REASONS, Batch, EdgeStatement, Label, OnError, Tally
from clew.graph.readers.delimited import read_pairs
from clew.graph.readers.hints import Hints
from clew.graph.readers.rdf import RdfReader
from clew.graph.readers.registry import checksum, choose_reader, source_bytes
from clew.graph.readers.stream import line_blocks
from clew.index.update.edits import Edits, NamedTriple, ReadNotes
from clew.index.update.type_edits import NamedText

SCOPE_DIGITS = 8


@dataclass(frozen=True)
class EditFiles:
    """The files of an update: triples, types and aliases that are added and removed, and how they are read.

    `remove_entities` has entities, one a line, that lose all triples. The others are as in an index of them.
    """

    add: Sequence[Path] = ()
    remove: Sequence[Path] = ()
    types: Path | None = None
    aliases: Path | None = None
    remove_types: Path | None = None
    remove_aliases: Path | None = None
    remove_entities: Path | None = None
    format: str | None = None
    on_error: OnError = "fail"
    hints: Hints | None = None

    @property
    def has_files(self) -> bool:
        """Whether there is a file."""
        side = self.types, self.aliases, self.remove_types, self.remove_aliases, self.remove_entities
        return bool(self.add or self.remove or any(side))


def read_edits(files: EditFiles, progress: Callable[[int, int], None] | None = None) -> Edits:
    """Read the files of an update; `progress` counts bytes. InputError and ParseError as of an index."""
    total = source_bytes([*files.add, *files.remove])
    reader = _Reading(files.on_error, files.hints or Hints(), total, progress)
    added, removed = _Side(), _Side()
    for side, paths in ((added, files.add), (removed, files.remove)):
        for path in paths:
            for batch in reader.batches(path, files.format):
                side.take(batch)
    return Edits(
        add=added.triples,
        remove=removed.triples,
        nodes=added.nodes,
        add_types=[*added.types, *reader.pairs(files.types, "type")],
        remove_types=[*removed.types, *reader.pairs(files.remove_types, "type")],
        add_aliases=reader.pairs(files.aliases, "alias"),
        remove_aliases=reader.pairs(files.remove_aliases, "alias"),
        add_names=added.names,
        remove_names=removed.names,
        remove_entities=reader.lines(files.remove_entities),
        labels={name: label.text for name, label in added.labels.items()},
        iris=added.iris or removed.iris,
        statements=added.statements,
        add_characters=added.characters,
        remove_characters=removed.characters,
        most_inferred=(files.hints or Hints()).most_inferred,
        reading=reader.reading(),
    )


class _Reading:
    """Reads the files of one update and keeps count of what it met."""

    def __init__(
        self, on_error: OnError, hints: Hints, total: int, progress: Callable[[int, int], None] | None
    ) -> None:
        self._on_error: OnError = on_error
        self._hints = hints
        self._total, self._bytes_done, self._progress = total, 0, progress
        self._tallies: list[Tally] = []

    def batches(self, path: Path, format: str | None) -> Iterator[Batch]:
        """Stream the batches of one file.

        Blank nodes have names within their file only: they get a scope that is the same whenever the same
        file is read, so that what it added can be removed by it.
        """
        reader = choose_reader(path, format, self._hints)
        scope = checksum(path)[:SCOPE_DIGITS] if isinstance(reader, RdfReader) else ""
        tally = self._tally(self._tell, scope)
        yield from reader.read(path, tally)
        tally.raise_faults()
        self._bytes_done += source_bytes([path])

    def pairs(self, path: Path | None, kind: str) -> list[NamedText]:
        """Pairs of a side file, if there is one."""
        if path is None:
            return []
        tally = self._tally()
        named_texts = [pair for pairs in read_pairs(path, kind, tally) for pair in pairs]
        tally.raise_faults()
        return named_texts

    def lines(self, path: Path | None) -> list[str]:
        """Lines of a file that are not blank, if there is one."""
        if path is None:
            return []
        tally = self._tally()
        stripped_lines = [
            line.strip() for _, lines in line_blocks(path, tally) for line in lines if line.strip()
        ]
        tally.raise_faults()
        return stripped_lines

    def reading(self) -> ReadNotes:
        """What was skipped and noted."""
        reasons = [reason for tally in self._tallies for reason in tally.reasons]
        return ReadNotes(
            sum(tally.skipped for tally in self._tallies),
            tuple(reasons[:MAX_REASONS]),
            tuple(note for tally in self._tallies for note in tally.notes),
        )

    def _tally(self, tell: Callable[[int], None] | None = None, scope: str = "") -> Tally:
        self._tallies.append(Tally(self._on_error, tell, scope, collect=True, hints=self._hints))
        return self._tallies[-1]

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._bytes_done + done, self._total)


class _Side:
    """All that the files of one side, added or removed, say; `names` are labels and aliases."""

    def __init__(self) -> None:
        self.triples: list[NamedTriple] = []
        self.nodes: list[str] = []
        self.labels: dict[str, Label] = {}
        self.types: list[NamedText] = []
        self.names: list[NamedText] = []
        self.iris = False
        self.statements: list[EdgeStatement] = []
        self.characters: list[NamedText] = []

    def take(self, batch: Batch) -> None:
        """Take one batch."""
        self.triples += zip(batch.heads, batch.relations, batch.tails, strict=True)
        if batch.ids is not None:
            ids = batch.ids
            names, relations = ids.entities, ids.relations
            columns = zip(ids.head.tolist(), ids.relation.tolist(), ids.tail.tolist(), strict=True)
            self.triples += [(names[h], relations[r], names[t]) for h, r, t in columns]
        self.nodes += batch.nodes
        self.types += batch.types
        self.names += batch.aliases
        for label in batch.labels:
            best_label = self.labels.get(label.subject)
            if best_label is None or label.rank < best_label.rank:
                self.labels[label.subject] = label
            self.names.append((label.subject, label.text))
        self.iris |= batch.iris
        self.statements += batch.statements
        self.characters += batch.characters
