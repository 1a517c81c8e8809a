"""What tables of teams are read as, beside what their authors say of them.

    python benchmarks/tables.py [-v]

The authors (tests/data/tables) saw nothing of Clew. `dev` was looked at while tables were read better, and
`check` after it had been counted once. Of each file they say what a row is, which column tells rows apart,
which one people call them by, which refer to rows of other files, and what the others hold. `-v` says what
differs.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clew.graph.readers.hints import Hints
from clew.graph.readers.sources import Sources
from clew.graph.readers.survey import Table

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "tables"
READ_AS = {
    "integer": {"integer", "gYear", "decimal", "token"},
    "decimal": {"decimal", "integer", "double"},
    "date": {"date", "dateTime", "gYear"},
    "time": {"time", "text"},
    "boolean": {"boolean"},
    "text": {"text", "token"},
    "category": {"text", "token", "integer", "boolean"},
}
"""What may be read of a column of each kind."""


def compared(table: Table, truth: Mapping[str, Any]) -> Iterator[tuple[str, bool, str]]:
    """What is compared of a table, whether it is as its author says, and what it was read as."""
    nodes, edges, header = table.layout.nodes, table.layout.edges, table.header
    refers, names = truth.get("refers") or {}, _listed(truth.get("name"))
    if nodes is None:
        ends = {header[at] for at in (edges.head, edges.tail)} if edges else set[str]()
        yield "ids", truth.get("id") is None and bool(ends) and ends <= set(refers), f"edges of {ends}"
        yield from (("references", column in ends, f"{column} is no end") for column in refers)
        return
    ids = [header[at] if at < len(header) else "" for at in (nodes.id, *nodes.key)]
    ids_said = _listed(truth.get("id"))
    is_name = nodes.join == " " and sorted(ids) == sorted(names)
    ids_right = not ids_said if table.layout.numbered else sorted(ids) == sorted(ids_said) or is_name
    yield "ids", ids_right, f"id {'of its own' if table.layout.numbered else ids}, not {ids_said}"
    shown = [header[at] for at in nodes.names[0]] if nodes.names else []
    names_right = sorted(shown or ids) == sorted(names) if names else not shown or shown == ids
    yield "names", names_right, f"called by {shown or ids}, not {names}"
    linked = {header[at] for at in nodes.references}
    for column, file in refers.items():
        yield "references", column in linked, f"{column} is not linked to {file}"
    yield from (("made up", False, f"{column} is linked") for column in linked - set(refers))
    if "rows_are" in truth:
        is_type = nodes.types is not None or nodes.type_name.lower() == truth["rows_are"].lower()
        yield "types", is_type, f"rows are {nodes.type_name!r}, not {truth['rows_are']!r}"
    for column, kind in (truth.get("values") or {}).items():
        type_ = table.typings[header.index(column)].type if column in header else None
        read = type_.base.rpartition("#")[2] if type_ else "text"
        yield "values", read in READ_AS.get(kind, {"text"}), f"{column} is read as {read}, not {kind}"


def _listed(said: str | list[str] | None) -> list[str]:
    return [said] if isinstance(said, str) else list(said or ())


def main() -> None:
    """Print a row for each half."""
    kinds = ("ids", "names", "references", "types", "values")
    print(f"| sets | files | {' | '.join(kinds)} | links that are none |\n|---|---|{'---|' * len(kinds)}---|")
    for half in ("dev", "check"):
        right, asked, files = Counter[str](), Counter[str](), 0
        for folder in sorted(path for path in (DATA / half).iterdir() if path.is_dir()):
            schema = json.loads((folder / "schema.json").read_text("utf-8"))
            for table in Sources([folder / "data" / name for name in schema], "table", Hints()).tables:
                files += 1
                if table.fault or not table.layout.columns:
                    asked["unread"] += 1
                    continue
                for kind, is_right, read in compared(table, schema[table.path.name]):
                    asked[kind] += 1
                    right[kind] += is_right
                    if not is_right and "-v" in sys.argv:
                        print(f"{half} {folder.name} {table.path.name}: {read}", file=sys.stderr)
        shares = " | ".join(f"{right[kind]} of {asked[kind]}" for kind in kinds)
        print(f"| {half} | {files} ({asked['unread']} not read) | {shares} | {asked['made up']} |")


if __name__ == "__main__":
    main()
