"""`clew info`: what an index holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import escape, out, put, write_json
from clew.cli.opening import Json, SourceArgument, SourceOptions, open_source, reading_notes
from clew.cli.options import with_options
from clew.errors import UsageError
from clew.text.counted import byte_size, counted

if TYPE_CHECKING:
    from clew.graph.graph import Graph
    from clew.index.info import Info, RelationInfo, TypeShare

MOST_SHOWN_RELATIONS = 40
MOST_SHOWN_TYPES = 12
LONGEST_SHOWN_EXAMPLE = 80


@with_options
def info(
    source: SourceArgument,
    *,
    reading: SourceOptions,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all files of the index and compare their checksums.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot how many triples entities are in: FILE.svg, .png or .csv."),
    ] = None,
    json: Json = False,
) -> None:
    """Show what an index holds: counts, relations with examples and types, embedder, size, sources."""
    if plot is not None:
        from clew.evaluate.report.charts import check_plot

        check_plot(plot)
    files = _verify(source) if verify else 0
    description = _describe(source, reading, plot)
    if json:
        write_json(description.as_json() | ({"verified_files": files} if verify else {}))
        return
    if verify:
        put(out(), escape(f"{description.path}: all {files:,} files are as they were written"))
    print_info(description)


def print_info(description: Info) -> None:
    """Print what an index holds, and its larger relations."""
    console = out()
    for line in _facts(description):
        put(console, escape(line))
    for relation in description.relations[:MOST_SHOWN_RELATIONS]:
        title, *details = _relation_lines(relation)
        console.print()
        put(console, escape(title), "bold")
        for line in details:
            put(console, escape(line))
    omitted = len(description.relations) - MOST_SHOWN_RELATIONS
    if omitted > 0:
        console.print(f"\n… and {counted(omitted, 'more relation')}; --json prints all")


def _verify(source: str) -> int:
    """Read an index whole, and count its files; raises FormatError for the first that is damaged."""
    from clew.index.store.directory import open_index
    from clew.opening.index_files import is_index

    if not is_index(Path(source)):
        raise UsageError(f"{source} is no index: --verify is for what clew index has written")
    return len(open_index(Path(source), verify=True).manifest.files)


def _describe(source: str, reading: SourceOptions, plot: Path | None) -> Info:
    """Describe the source, and plot it; an index whose embedder is not at hand can be described too."""
    from clew.opening.index_files import is_index

    if reading.embedder is None and reading.format is None and is_index(Path(source)):
        from clew.index.info import info_of
        from clew.index.store.directory import open_index

        index = open_index(Path(source))
        _plot(index.graph, source, plot)
        return info_of(index)
    with open_source(source, reading) as clew:
        _plot(clew.index.graph, source, plot)
        return clew.info()


def _plot(graph: Graph, source: str, plot: Path | None) -> None:
    if plot is not None:
        from clew.evaluate.report.charts import degree_chart, write_plot

        write_plot(degree_chart(graph, Path(source).name), plot)


def _facts(description: Info) -> list[str]:
    counts, embedder = description.counts, description.embedder
    literals = f", {counted(counts['literals'], 'literal')}" if counts["literals"] else ""
    lines = [
        f"{description.path}: {byte_size(description.bytes)}, "
        f"made {description.created} by Clew {description.clew}",
        f"triples    {counts['triples']:,}",
        f"entities   {counts['entities']:,}{literals}",
        f"relations  {counts['relations']:,}",
        f"types      {_types(description)}",
        f"aliases    {counts['aliases']:,}",
    ]
    if embedder is not None:
        kind = f"{embedder.dimension} dimensions, {embedder.fingerprint}"
        lines.append(f"embedder   {embedder.name} ({kind})")
    if description.vectors["names"] == "milvus":
        lines.append("vectors    are in Milvus")
    for source in description.sources:
        lines.append(f"{source.role:<10} {source.path} ({source.format}, {byte_size(source.bytes)})")
    if description.corpus is not None:
        lines += _corpus_lines(description.corpus)
    if description.updates:
        update = description.updates[-1]
        edits = f"{counted(update['added'], 'triple')} added, {update['removed']:,} removed by the last"
        lines.append(f"updates    {edits}")
    if description.report.get("duplicates"):
        lines.append(f"{counted(description.report['duplicates'], 'duplicate triple')} merged")
    return lines + reading_notes(description.report)


def _corpus_lines(corpus: Mapping[str, Any]) -> list[str]:
    """Say how entities were walked, what the cap cut, by whom walks are said and where their vectors are."""
    walk_kind = f"{corpus['kind']}, depth {corpus['depth']}{', directed' if corpus['directed'] else ''}"
    walk_kind += ", plain vectors" if corpus["plain"] else ""
    notes = [f"           vectors are searched by {corpus['vectors']}"]
    if corpus["model"] is not None:
        failed = f", but {corpus['unsaid']:,} by templates, where it failed" if corpus["unsaid"] else ""
        notes.append(f"           walks are said by {corpus['model']}{failed}")
    cut = 0
    if corpus["kind"] == "lazy":
        walks = "walks are made when a question comes"
    elif corpus["kind"] == "random":
        walks = f"{counted(corpus['made'], 'walk')}, {corpus['distinct']:,} without repeats"
    else:
        walks = f"{counted(corpus['distinct'], 'walk')}, at most {corpus['max_walks']} of an entity"
        cut = corpus["drawn"] + corpus["undecided"]
    if cut:
        of, omitted = f"{cut:,} of {corpus['roots']:,} entities", f"{corpus['triples_left_out']:,}"
        notes.insert(0, f"           the cap cut the trees of {of}, and {omitted} of their own triples")
    return [f"corpus     {walk_kind}: {walks}", *notes]


def _types(description: Info) -> str:
    if not description.types:
        return "none declared; those below are inferred from the relations of the entities"
    names = [f"{name} {members:,}" for name, members in list(description.types.items())[:MOST_SHOWN_TYPES]]
    omitted = len(description.types) - MOST_SHOWN_TYPES
    return ", ".join(names) + (f" … and {omitted:,} more; --json prints all" if omitted > 0 else "")


def _relation_lines(relation: RelationInfo) -> list[str]:
    example = f"{relation.example.head} → {relation.example.tail}"
    example = example if len(example) <= LONGEST_SHOWN_EXAMPLE else example[:LONGEST_SHOWN_EXAMPLE] + "…"
    return [
        f"{relation.label}   {counted(relation.triples, 'triple')}   {example}",
        f"  {counted(relation.heads, 'head')}: {_signature(relation.head_types)}",
        f"  {counted(relation.tails, 'tail')}: {_signature(relation.tail_types)}",
    ]


def _signature(types: Sequence[TypeShare]) -> str:
    from clew.foundation.short import local_name

    return " · ".join(f"{type_.share:.0%} {local_name(type_.type)}" for type_ in types) or "no type"
