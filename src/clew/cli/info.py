"""`clew info`: what an index holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import out, put, shown, write_json
from clew.cli.opening import Json, SourceArgument, SourceOptions, opened, reading_notes
from clew.cli.options import with_options
from clew.errors import UsageError
from clew.stores.opening import is_remote
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
        from clew.evaluate.report.degrees import check_plot

        check_plot(plot)
    files = _verify(source) if verify else 0
    held = _held(source, reading, plot)
    if json:
        write_json(held.as_json() | ({"verified_files": files} if verify else {}))
        return
    if verify:
        put(out(), shown(f"{held.path}: all {files:,} files are as they were written"))
    print_info(held)


def print_info(held: Info) -> None:
    """Print what an index holds, and its larger relations."""
    console = out()
    for line in _facts(held):
        put(console, shown(line))
    for relation in held.relations[:MOST_SHOWN_RELATIONS]:
        first, *rest = _relation_lines(relation)
        console.print()
        put(console, shown(first), "bold")
        for line in rest:
            put(console, shown(line))
    left = len(held.relations) - MOST_SHOWN_RELATIONS
    if left > 0:
        console.print(f"\n… and {counted(left, 'more relation')}; --json prints all")


def _verify(source: str) -> int:
    """Read an index whole, and count its files; raises FormatError for the first that is damaged."""
    from clew.index.store.directory import open_index
    from clew.opening.index_files import is_index

    if not is_index(Path(source)):
        raise UsageError(f"{source} is no index: --verify is for what clew index has written")
    return len(open_index(Path(source), verify=True).manifest.files)


def _held(source: str, reading: SourceOptions, plot: Path | None) -> Info:
    """Describe the source, and plot it; an index whose embedder is not at hand can be described too."""
    from clew.opening.index_files import is_index

    here = not is_remote(source) and is_index(Path(source))
    if reading.embedder is None and reading.format is None and here:
        from clew.index.info import info_of
        from clew.index.store.directory import open_index

        index = open_index(Path(source))
        _plot(index.graph, source, plot)
        return info_of(index)
    with opened(source, reading) as clew:
        _plot(clew.index.graph, source, plot)
        return clew.info()


def _plot(graph: Graph, source: str, plot: Path | None) -> None:
    if plot is not None:
        from clew.evaluate.report.degrees import degree_chart, write_plot

        write_plot(degree_chart(graph, Path(source).name), plot)


def _facts(held: Info) -> list[str]:
    counts, made_with = held.counts, held.embedder
    literals = f", {counted(counts['literals'], 'literal')}" if counts["literals"] else ""
    lines = [
        f"{held.path}: {byte_size(held.bytes)}, made {held.created} by Clew {held.clew}",
        f"triples    {counts['triples']:,}",
        f"entities   {counts['entities']:,}{literals}",
        f"relations  {counts['relations']:,}",
        f"types      {_types(held)}",
        f"aliases    {counts['aliases']:,}",
    ]
    if made_with is not None:
        kind = f"{made_with.dimension} dimensions, {made_with.fingerprint}"
        lines.append(f"embedder   {made_with.name} ({kind})")
    if held.vectors["names"] == "milvus":
        lines.append("vectors    are in Milvus")
    for source in held.sources:
        lines.append(f"{source.role:<10} {source.path} ({source.format}, {byte_size(source.bytes)})")
    if held.corpus is not None:
        lines += _corpus_lines(held.corpus)
    if held.updates:
        last = held.updates[-1]
        told = f"{counted(last['added'], 'triple')} added, {last['removed']:,} removed by the last"
        kept = f"; {counted(held.changes, 'change')} kept apart" if held.changes else ""
        lines.append(f"updates    {told}{kept}")
    if held.report.get("duplicates"):
        lines.append(f"{counted(held.report['duplicates'], 'duplicate triple')} merged")
    return lines + reading_notes(held.report)


def _corpus_lines(corpus: Mapping[str, Any]) -> list[str]:
    """Say how entities were walked, what the cap cut, by whom walks are said and where their vectors are."""
    how = f"{corpus['kind']}, depth {corpus['depth']}{', directed' if corpus['directed'] else ''}"
    how += ", plain vectors" if corpus["plain"] else ""
    more = [f"           vectors are searched by {corpus['vectors']}"]
    if corpus["model"] is not None:
        failed = f", but {corpus['unsaid']:,} by templates, where it failed" if corpus["unsaid"] else ""
        more.append(f"           walks are said by {corpus['model']}{failed}")
    cut = 0
    if corpus["kind"] == "lazy":
        walks = "walks are made when a question comes"
    elif corpus["kind"] == "random":
        walks = f"{counted(corpus['made'], 'walk')}, {corpus['distinct']:,} without repeats"
    else:
        walks = f"{counted(corpus['distinct'], 'walk')}, at most {corpus['max_walks']} of an entity"
        cut = corpus["drawn"] + corpus["undecided"]
    if cut:
        of, left = f"{cut:,} of {corpus['roots']:,} entities", f"{corpus['triples_left_out']:,}"
        more.insert(0, f"           the cap cut the trees of {of}, and {left} of their own triples")
    return [f"corpus     {how}: {walks}", *more]


def _types(held: Info) -> str:
    if not held.types:
        return "none declared; those below are inferred from the relations of the entities"
    names = [f"{name} {members:,}" for name, members in list(held.types.items())[:MOST_SHOWN_TYPES]]
    left = len(held.types) - MOST_SHOWN_TYPES
    return ", ".join(names) + (f" … and {left:,} more; --json prints all" if left > 0 else "")


def _relation_lines(relation: RelationInfo) -> list[str]:
    example = f"{relation.example_labels.head} → {relation.example_labels.tail}"
    example = example if len(example) <= LONGEST_SHOWN_EXAMPLE else example[:LONGEST_SHOWN_EXAMPLE] + "…"
    return [
        f"{relation.label}   {counted(relation.triples, 'triple')}   {example}",
        f"  {counted(relation.heads, 'head')}: {_signature(relation.head_types)}",
        f"  {counted(relation.tails, 'tail')}: {_signature(relation.tail_types)}",
    ]


def _signature(types: Sequence[TypeShare]) -> str:
    from clew.graph.build.assemble import local_name

    return " · ".join(f"{type_.share:.0%} {local_name(type_.type)}" for type_ in types) or "no type"
