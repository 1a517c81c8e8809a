"""`clew update`: add to an index and remove from it, without indexing again."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import escape, warn, write, write_json
from clew.cli.opening import Json, ReadingOptions, describe_counts, reading_notes
from clew.cli.options import option, with_options
from clew.cli.progress import Bar, BarUnit
from clew.cli.verbalise import VerbaliserOptions, opened_verbaliser
from clew.errors import UsageError
from clew.text.counted import counted

if TYPE_CHECKING:
    from clew.index.update.edits import EditFiles
    from clew.index.update.update import Updated, UpdateStage

Files = list[str] | None


_PARTS: dict[UpdateStage, tuple[str, BarUnit]] = {
    "reading": ("reading", "bytes"),
    "finding": ("finding triples", "triples"),
    "walks": ("embedding walks", "walks"),
    "writing": ("writing", "bytes"),
}
"""Title and unit of a part of an update, as a bar shows them."""


@dataclass(frozen=True, slots=True)
class EditOptions:
    """What is added to an index and removed from it."""

    add: Files = option(None, "Triples to add; repeatable.", "FILE")
    remove: Files = option(None, "Triples to remove; repeatable.", "FILE")
    types: Path | None = option(None, "Lines entity<TAB>type to add.", "FILE")
    aliases: Path | None = option(None, "Lines entity<TAB>alias to add.", "FILE")
    remove_types: Path | None = option(None, "Lines entity<TAB>type to remove.", "FILE")
    remove_aliases: Path | None = option(None, "Lines entity<TAB>alias to remove.", "FILE")
    remove_entities: Path | None = option(None, "Entities, one a line, that lose all triples.", "FILE")
    strict: bool = option(False, "Refuse new entities and relations.")
    ignore_missing: bool = option(False, "Go on if what is to be removed is not there.")

    def files(self, reading: ReadingOptions) -> EditFiles:
        """Return the files with how they are read."""
        from clew.index.update.edits import EditFiles

        return EditFiles(
            [Path(file) for file in self.add or ()],
            [Path(file) for file in self.remove or ()],
            self.types,
            self.aliases,
            self.remove_types,
            self.remove_aliases,
            self.remove_entities,
            reading.format,
            reading.on_error,
            reading.hints,
        )


@with_options
def update(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index (NAME.clew).")],
    *,
    edits: EditOptions,
    saying: VerbaliserOptions,
    reading: ReadingOptions,
    json: Json = False,
) -> None:
    """Change an index as a whole or not at all; who has it open goes on with what was there.

    Where a chat model says the walks, it says those that are new; --verbalise alone tries again those that
    it failed to say.
    """
    from clew.index.update.edits import EditRules
    from clew.opening.index_files import update_index_files, walk_model
    from clew.stores.opening import refuse_address

    for address in (source, *(edits.add or ()), *(edits.remove or ())):
        refuse_address(address)
    files = edits.files(reading)
    if not (files.has_files or saying.verbalise):
        raise UsageError(
            "Nothing to do. Give --add FILE or --remove FILE, as in: clew update kb.clew --add new.tsv"
        )
    start, path = time.monotonic(), Path(source)
    with (
        Bar(quiet=reading.quiet) as bar,
        opened_verbaliser(saying, path, bar, quiet=reading.quiet, walk_model=walk_model(path)) as verbaliser,
    ):
        updated = update_index_files(
            path,
            files,
            rules=EditRules(edits.strict, edits.ignore_missing),
            embedder=reading.embedder,
            verbaliser=verbaliser,
            progress=lambda part, done, total: bar.update(_PARTS[part][0], done, total, _PARTS[part][1]),
        )
    seconds = time.monotonic() - start
    if json:
        write_json(_json(updated, seconds))
    elif not reading.quiet:
        for line in _lines(updated, seconds):
            write(escape(line))
        for line in reading_notes(asdict(updated.report)):
            warn(line)


def _json(updated: Updated, seconds: float) -> dict[str, Any]:
    return {
        "index": str(updated.path),
        "generation": updated.manifest.generation,
        "seconds": round(seconds, 3),
        "counts": dict(updated.manifest.about.counts),
        "update": asdict(updated.report),
        "corpus": None if updated.corpus is None else asdict(updated.corpus),
    }


def _lines(updated: Updated, seconds: float) -> list[str]:
    report, counts = updated.report, updated.manifest.about.counts
    lines = [
        f"{updated.path}: {counted(report.added, 'triple')} added, {report.removed:,} removed; now "
        f"{describe_counts(counts)} ({seconds:.2f} s)"
    ]
    if report.new_entities or report.new_relations:
        entities = counted(report.new_entities, "new entity", "new entities")
        lines.append(f"{entities}, {counted(report.new_relations, 'new relation')}")
    if report.duplicates:
        lines.append(f"{counted(report.duplicates, 'triple was', 'triples were')} there already")
    if report.missing:
        examples = "; ".join(report.missing_examples)
        lines.append(f"{counted(report.missing, 'was', 'were')} not there to be removed: {examples}")
    if report.types or report.aliases:
        types, aliases = counted(report.types, "type"), counted(report.aliases, "alias", "aliases")
        lines.append(f"{types} and {aliases} added")
    if (following := report.following) is not None:
        lines.append(
            "inferred again from the ontology: "
            f"{counted(following.triples, 'triple')} and {counted(following.types, 'type')} more, "
            f"{following.triples_gone:,} and {following.types_gone:,} no longer"
        )
    if updated.corpus is not None:
        change = updated.corpus
        lines.append(
            f"walks of {counted(change.changed, 'entity', 'entities')} changed, "
            f"{counted(change.embedded, 'walk')} embedded"
        )
    return lines
