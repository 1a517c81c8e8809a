"""`clew info`: what an index holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew.cli.console import out, shown, write_json
from clew.cli.opening import EmbedderSpec, Json, Quiet, Source, opened, reading_notes

if TYPE_CHECKING:
    from rich.table import Table

    from clew.info import Info, TypeShare

MOST_RELATIONS = 40
MOST_TYPES = 12


def info(source: Source, embedder: EmbedderSpec = None, json: Json = False, quiet: Quiet = False) -> None:
    """Show what an index holds: counts, relations with examples and types, embedder, size, sources."""
    with opened(source, embedder, quiet=quiet) as clew:
        held = clew.info()
    if json:
        write_json(held.as_json())
        return
    console = out()
    for line in _facts(held):
        console.print(shown(line), soft_wrap=True)
    console.print()
    console.print(_relations(held))
    left = len(held.relations) - MOST_RELATIONS
    if left > 0:
        console.print(f"… and {left:,} more relations; --json prints all")


def _facts(held: Info) -> list[str]:
    from clew.cli.index import size

    counts = held.counts
    literals = f", {counts['literals']:,} literals" if counts["literals"] else ""
    lines = [
        f"{held.path}: {size(held.bytes)}, made {held.created} by Clew {held.clew}",
        f"triples    {counts['triples']:,}",
        f"entities   {counts['entities']:,}{literals}",
        f"relations  {counts['relations']:,}",
        f"types      {_types(held)}",
        f"aliases    {counts['aliases']:,}",
    ]
    if held.embedder is not None:
        made_with = held.embedder
        lines.append(
            f"embedder   {made_with.name} ({made_with.dimension} dimensions, {made_with.fingerprint})"
        )
    for source in held.sources:
        lines.append(f"{source.role:<10} {source.path} ({source.format}, {size(source.bytes)})")
    if held.report.get("duplicates"):
        lines.append(f"{held.report['duplicates']:,} duplicate triples merged")
    return lines + reading_notes(held.report)


def _types(held: Info) -> str:
    if not held.types:
        return "none declared; those below are inferred from the relations of the entities"
    names = [f"{name} {members:,}" for name, members in list(held.types.items())[:MOST_TYPES]]
    left = len(held.types) - MOST_TYPES
    return ", ".join(names) + (f" … and {left:,} more; --json prints all" if left > 0 else "")


def _relations(held: Info) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("relation", overflow="fold")
    table.add_column("triples", justify="right", no_wrap=True)
    for title in ("heads", "tails", "example"):
        table.add_column(title, overflow="fold")
    for relation in held.relations[:MOST_RELATIONS]:
        example = f"{relation.example.head} → {relation.example.tail}"
        table.add_row(
            shown(relation.label),
            f"{relation.triples:,}",
            _signature(relation.heads, relation.head_types),
            _signature(relation.tails, relation.tail_types),
            shown(example if len(example) <= 80 else example[:79] + "…"),
        )
    return table


def _signature(nodes: int, types: Sequence[TypeShare]) -> str:
    return "\n".join([f"{nodes:,} nodes", *(f"{type_.share:4.0%} {shown(type_.type)}" for type_ in types)])
