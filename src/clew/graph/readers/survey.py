"""What all tables of a build say together, before any is read.

Each table is looked through once: its layout is found by its first rows, the types of its columns by all.
Then columns that refer to the rows of other tables are found. Numbers that count rows are ids within their
table only: bus 1 is no line 1. Where ends of edges are such numbers and their columns do not say of which
table, the ids are of one space, and are kept as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, takewhile, zip_longest
from math import log10
from pathlib import Path
from typing import Any

from clew.errors import InputError, ParseError, UsageError
from clew.graph import XSD
from clew.graph.naming import says_alias, tag_of_names
from clew.graph.readers.batch import Tally
from clew.graph.readers.columns import (
    DESCRIPTIONS,
    MOST_SAID,
    NAMES,
    NO_LAYOUT,
    OF_IDS,
    REPEATED_SHARE,
    SEPARATORS,
    UNIQUE_SHARE,
    Column,
    ColumnProfile,
    Layout,
    NameColumns,
    NodeColumns,
    TableForm,
    Typing,
    header_words,
    names_by_cells,
    says_name,
    separator_of,
    types_of,
)
from clew.graph.readers.hints import Hints
from clew.graph.readers.layout import column_place, layout_of, lists_types, node_layout_of

SAMPLED_ROWS = 200
"""Rows that are looked at to tell what the columns are."""
ROWS_AT_ONCE = 2_000
MOST_NAMED = 2_000_000
"""Cells of a table that others may refer to by what its rows are called."""
MOST_COLUMNS = 20_000
"""Columns of a table at most."""
MOST_SHOWN = 5
"""Tables whose columns a message shows."""
MOST_KEPT = 500
"""Columns of a table that an index remembers, for what is added to it later."""
REFERRING_SHARE = 0.5
"""Least share of a column's cells that are ids of the table that its name says."""
NEARLY_ALL = 0.9
"""Least share of a column's cells that are ids of a table, if its name does not say so."""
FEWEST_LINKED = 2
"""Different cells of a column that can tell that it is of the rows of another table."""
FEW_CELLS = 100
LEAST_NAMED = 0.3
"""The share of cells that are names, of names and codes by which things are called."""
FEWEST_NAMED = 6
"""Rows of which a column of texts that are all different may be names by nothing but that."""
LONGEST_INITIALS = 4
MARKS_OF_LISTS = (*SEPARATORS, "/", " & ", " ")
"""What may stand between ids and names in a cell."""
SHORTEST_NOUN = 3
"""Characters of a noun of which the end may be another in the plural."""
UNLIKELY = -6.0
"""Power of ten of the chance below which whole numbers are ids, and not counts that happen to be such."""
GENERIC = frozenset(
    "data dataset table tables node nodes item items row rows record records entity entities export output "
    "result results query graph sheet file edge edges link links relations triples statements main all input "
    "csv list tbl tab lkp lookup dim grid view sheet1 current final copy "
    "noeud noeuds nœud nœuds lien liens arête arêtes knoten kante kanten nodo nodos arista aristas nó nós "
    "aresta arestas nodi arco archi knoop knopen".split()
)
"""Names of files that say nothing of what is in them."""
ROWS_OF_OTHERS = frozenset("item items record records result results".split())
"""Those of them that say what rows are which refer to other tables: of a race, of a library."""
NumberedRow = tuple[int, list[str]]


@dataclass
class Table:
    """A table that was looked through; `layout` has no columns if it has no rows, or a `fault`."""

    path: Path
    """Its file; of objects within others also their name."""
    records: Callable[[Tally], Iterator[NumberedRow]]
    """What reads its rows from the first, the header."""
    layout: Layout = NO_LAYOUT
    fault: ParseError | None = None
    unit: str = ""
    """What its rows are called in messages where they are no lines."""
    header: list[str] = field(default_factory=list[str])
    line: int = 1
    profiles: list[ColumnProfile] = field(default_factory=list[ColumnProfile])
    typings: list[Typing] = field(default_factory=list[Typing])
    ids: set[str] = field(default_factory=set[str])
    same: set[int] = field(default_factory=set[int])
    """Columns that are the id once more."""
    sample: list[list[str]] = field(default_factory=list[list[str]])
    """Its first rows."""
    kept: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """All its rows, as tuples, which garbage collection passes over; none of a table of very many."""
    is_referred_to: bool = False
    rows: int = 0
    extends: bool = False
    """Whether its rows are of the nodes of another table."""
    is_within: bool = False
    """Whether its rows stand within others, as managers of branches: they may be those of another table."""
    of: Table | None = field(default=None, compare=False, repr=False)
    """That table."""
    leads: dict[str, Table] = field(default_factory=dict[str, "Table"], compare=False, repr=False)
    """What the columns lead to of which the file says it."""
    notes: list[str] = field(default_factory=list[str])

    @property
    def name(self) -> str:
        """The name of its file, or that of the table of the index that it belongs to."""
        return self.layout.known or _stem(self.path)

    @property
    def form(self) -> TableForm | None:
        """How it was read, for what is added later; None without a header."""
        layout = self.layout
        if not (layout.columns and layout.header) or len(self.header) > MOST_KEPT:
            return None
        return TableForm(self.name, tuple(self.header), layout, self.rows)

    @property
    def counts_rows(self) -> bool:
        """Whether its ids are numbers that no group keeps apart."""
        nodes = self.layout.nodes
        if nodes is None or nodes.key or self.group:
            return False
        return bool(self.ids) and self.profiles[nodes.id].whole_numbers

    @property
    def group(self) -> str:
        """What begins the names of its nodes."""
        nodes = self.layout.nodes
        return "" if nodes is None else self.layout.columns[nodes.id].group

    @cached_property
    def names(self) -> dict[str, str]:
        """The ids of its rows by what they are called; names that several rows have are left out."""
        nodes = self.layout.nodes
        if nodes is None or self.layout.numbered:
            return {}
        ids: dict[str, str] = {}
        several = set[str]()
        for cells in self.kept:
            id_ = nodes.join.join(cells[at] for at in (nodes.id, *nodes.key))
            for name in _ways_to_call(cells, nodes):
                several |= {name} if ids.setdefault(name, id_) != id_ else set()
        return {name: id_ for name, id_ in ids.items() if name not in several}

    @property
    def root(self) -> Table:
        """The table that has the rows of this one, maybe itself."""
        return self if self.of is None else self.of.root

    def unnamed(self) -> list[str]:
        """How many rows the only column of names leaves without one."""
        nodes = self.layout.nodes
        column = nodes.names[0][0] if nodes is not None and [*map(len, nodes.names)] == [1] else None
        unnamed = 0 if column is None else self.rows - self.profiles[column].filled
        if column is None or not unnamed:
            return []
        return [f"{self.header[column]}: empty in {unnamed:,} of {self.rows:,} rows, which go by their ids"]

    def tells_apart(self, column: int) -> bool:
        """Whether each row has another cell in a column."""
        profile = self.profiles[column]
        return profile.filled == len(profile.distinct) == self.rows

    @cached_property
    def word_columns(self) -> set[int]:
        """The columns whose cells are words, as of *Berlin*, and no codes, initials, handles or numbers."""
        columns = {column for column in range(len(self.profiles)) if _are_words(self, column)}
        has_names = any(map(says_name, self.header))
        return {column for column in columns if not (has_names and self._are_handles(column))}

    def _are_handles(self, column: int) -> bool:
        """Whether each row has another word in small letters: the *login* of who has a name too."""
        cells = self.profiles[column].distinct
        is_small = all(cell == cell.lower() and not any(map(str.isspace, cell)) for cell in cells)
        return is_small and self.tells_apart(column) and not says_name(self.header[column])

    def set_column(self, column: int, **changes: Any) -> None:  # noqa: ANN401 (fields of `Column`)
        """Change fields of a column."""
        columns = list(self.layout.columns)
        columns[column] = replace(columns[column], **changes)
        self.layout = replace(self.layout, columns=tuple(columns))

    @property
    def noun(self) -> list[str]:
        """The words of its file's name that say what its rows are."""
        words = header_words(self.name.removesuffix("__c")).split()
        kept = [word for word in words if word not in GENERIC and not word.isdecimal()]
        return kept if " ".join(kept) else words

    def is_called(self, column: Column, *, by_file: bool = False) -> bool:
        """Whether a column's name says that it is of this table: `bus0`, `customer_id`, `from bus`."""
        nodes, own = self.layout.nodes, self.noun
        if nodes is None:
            return False
        words = [w for w in header_words(column.name).split() if not w.isdecimal() and w not in OF_IDS]
        words = words[:-1] if words[1:] and words[-1] in _AT_TIME else words  # *hive now*
        known = [[*own[:-1], singular(own[-1])], own] if own else []
        if not by_file:
            id_words = header_words(self.layout.columns[nodes.id].name).split()
            known.append([word for word in id_words if word not in (*OF_IDS, "name")])
        return any(words and end and _are_alike(words[-len(end) :], end) for end in known)


def _are_alike(words: Sequence[str], nouns: Sequence[str]) -> bool:
    """Whether words are those of a file, of which the last may be in the plural, also of another language."""
    if len(words) < len(nouns) or [*words[:-1]] != [*nouns[:-1]]:
        return False
    word, noun = words[-1], nouns[-1]
    is_part = len(noun) > SHORTEST_NOUN and word.endswith(noun)  # *birthplace* of places
    return (
        is_part
        or (len(word) > SHORTEST_NOUN and word == noun[: max(len(word), len(noun) - 2)])
        or word == noun
    )


def _ways_to_call(cells: Sequence[str], nodes: NodeColumns) -> Iterator[str]:
    """What a row is called: *Ann Lee*, and *Lee, Ann* and *Lee Ann* of two columns."""
    if nodes.join == " ":
        names: NameColumns = ((nodes.id, *nodes.key), *nodes.names)
    else:
        names = nodes.names
    for columns in names:
        parts = [cells[at] for at in columns if cells[at]]
        yield from {" ".join(parts), ", ".join(reversed(parts)), " ".join(reversed(parts))} - {""}


_AT_TIME = frozenset("now today currently before previously".split())


_OWN = frozenset(
    (
        *("parent", "child", "manager", "supervisor", "boss", "reports to", "part of", "subclass of"),
        *("father", "mother", "spouse", "husband", "wife", "partner", "predecessor", "successor"),
        *("introduced by", "referred by", "recommended by", "mentored by", "replaced by", "superseded by"),
    )
)
"""What a column is called that is of other rows of its table."""

_OF_PEOPLE = frozenset(
    "owner author editor creator writer manager supervisor boss buyer seller driver pilot captain"
    " teacher tutor doctor patient tenant borrower reader assignee reporter contact responsible"
    " approver foreman lead leader head chair chairman chairwoman chairperson secretary treasurer"
    " president director coach trainer guide skipper inspector officer engineer technician nurse"
    " agent lawyer judge referee mentor".split()
).union(
    ("owned by", "written by", "made by", "created by", "managed by", "assigned to", "reported by"),
    ("approved by", "sold by", "bought by"),
)
"""What a column is called that is of people, whatever their table is called."""
_PEOPLE = frozenset("person people staff employee user member customer client contact worker student".split())
_OF_EVENT = re.compile(r"[a-z]+(?:ed|en|[aou]wn|ought|ld|t) (?:from|to|into|onto|in|at|on|of|with|under)")
"""*Split from*, *raised in*: what happened, and to which thing, which is never how many."""
_OF_THINGS = frozenset(("object", "item", "asset", "subject"))
"""What one is called that is of the things of some other table."""


_IRREGULAR = {
    **{"people": "person", "children": "child", "men": "man", "women": "woman", "movies": "movie"},
    **{"series": "series", "species": "species", "cookies": "cookie", "calories": "calorie", "ties": "tie"},
}


def singular(word: str) -> str:
    """A noun of a file's name without the ending of an English plural.

    >>> [singular(word) for word in ("buses", "cities", "films", "status", "classes", "people")]
    ['bus', 'city', 'film', 'status', 'class', 'person']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if re.fullmatch(r".*(?:ss|x|[cs]h|(?<![ao])us)es", word) else word[:-1]


def look_through(
    path: Path,
    records: Callable[[Tally], Iterator[NumberedRow]],
    hints: Hints,
    delimiter: str = ",",
    lists: Set[str] | None = None,
    list_mark: str = "",
    *,
    alone: bool = True,
) -> Table:
    """Find the layout of a table by its first rows, and the types of its columns by all.

    `lists` are columns whose cells are lists, of items with `list_mark` between; where they are known, the
    first record is known to be a header. Where it is not `alone`, another table may have the columns that the
    user says.
    """
    table = Table(path, records)
    try:
        _look_through(table, hints, delimiter, lists, list_mark)
    except UsageError:
        if alone:
            raise
        table = Table(path, records)
        unsaid = replace(hints, columns={}, id=None, relation=None, undirected=False)
        _look_through(table, unsaid, delimiter, lists, list_mark)
    if table.header and not table.layout.columns:
        table.fault = unclear(path, table.line, table.header)
    return table


def _look_through(table: Table, hints: Hints, delimiter: str, lists: Set[str] | None, list_mark: str) -> None:
    path = table.path
    rows = table.records(Tally(on_error="skip", hints=hints))
    sample = list(islice(rows, SAMPLED_ROWS + 1))
    if not sample:
        return
    table.line, header = sample[0]
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{path}: {len(header):,} columns; a table may have {MOST_COLUMNS:,}. Give it as triples"
        )
    table.header, table.notes = distinct_names(header)
    first_rows = [cells for _, cells in sample[1:]]
    layout = layout_of(table.header, first_rows, hints, headed=lists is not None, called=table.name)
    if layout is not None and lists is not None:
        columns = (
            replace(column, array=True, delimiter=list_mark) if name in lists else column
            for name, column in zip_longest(layout.arranged(table.header), layout.columns)
        )
        layout = replace(layout, columns=tuple(columns), header=True)
    if layout is None:
        return
    table.layout = layout
    table.header = layout.arranged(table.header)
    table.profiles = [ColumnProfile() for _ in table.header]
    block = sample[layout.header :]
    while block:
        full = _full_rows(layout, block)
        for profile, column in zip(table.profiles, zip(*full, strict=True), strict=bool(full)):
            profile.take(column)
        table.ids.update(_ids_of(layout, full))
        table.rows += len(full)
        table.sample = table.sample or full
        if table.rows * len(table.header) <= MOST_NAMED:
            table.kept += map(tuple, full)
        else:
            table.kept.clear()
        block = list(islice(rows, ROWS_AT_ONCE))
    table.ids.discard("")
    table.same = _same_as_ids(layout, _full_rows(layout, sample[1:]))
    table.typings = types_of(table.header, table.profiles, delimiter)
    if layout.known:
        table.notes.append(f"its columns are those of {layout.known} in the index: it is read so")
    else:
        # A file of JSON or of a network is called by what it is all of.
        named = layout if lists is not None or hints.relation else _with_relation(layout, table.name)
        table.layout = _with_names(named, table, hints)


def _ids_of(layout: Layout, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The ids of some rows, which may be names of two parts; none of rows that are only numbered."""
    nodes = layout.nodes
    if nodes is not None and not layout.numbered and (not nodes.key or nodes.join == " "):
        yield from (nodes.join.join(cells[at] for at in (nodes.id, *nodes.key)) for cells in rows)


def _full_rows(layout: Layout, rows: Iterable[NumberedRow]) -> list[list[str]]:
    """The rows of the right length, in the order of the columns."""
    return [layout.arranged(cells) for _, cells in rows if len(cells) == layout.width]


def _same_as_ids(layout: Layout, rows: Sequence[Sequence[str]]) -> set[int]:
    """Columns that say of most rows their own id again."""
    nodes = layout.nodes
    if nodes is None or layout.numbered:
        return set()
    others = (i for i in nodes.properties if i != nodes.id)
    return {i for i in others if 2 * sum(row[i] == row[nodes.id] for row in rows) > len(rows)}


def _stem(path: Path) -> str:
    name = path.name
    return name.split(".")[0] if not name.startswith(".") else name


def distinct_names(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of columns, of which none is twice, and what was done about it."""
    seen: set[str] = set()
    names: list[str] = []
    notes: list[str] = []
    for name in header:
        number, own = 2, name
        while own and own in seen:
            own, number = f"{name} {number}", number + 1
        if own != name:
            notes.append(f"two columns are called {name}; one is read as {own}")
        seen.add(own)
        names.append(own)
    return names, notes


def _with_relation(layout: Layout, name: str) -> Layout:
    """Call edges that have no relation by the name of their file: *delivery* of `deliveries.csv`."""
    words, edges = header_words(name).split(), layout.edges
    is_noun = bool(words) and singular(words[-1]) != words[-1]
    if edges is None or layout.nodes is not None or edges.relation is not None or not is_noun:
        return layout
    if GENERIC.intersection(words) or edges.direction is not None:
        return layout
    relation = " ".join([*words[:-1], singular(words[-1])])
    return replace(layout, edges=replace(edges, relation_name=relation))


def _with_names(layout: Layout, table: Table, hints: Hints) -> Layout:
    """Take the names that the user says, or, where no header says one, the column that is most like names."""
    nodes = layout.nodes
    if nodes is None:
        return layout
    said = {type_: _columns_said(columns, table.header) for type_, columns in hints.names.items()}
    by_type = {type_: columns for type_, columns in said.items() if columns}
    names = by_type.pop("", tuple(at for at in nodes.names if _may_name(at, table)))
    has_ids = nodes.id < len(table.profiles)  # or its rows are numbered
    if has_ids:  # a *name* that is the id again goes behind the *label*
        ids = table.profiles[nodes.id].distinct
        names = tuple(sorted(names, key=lambda at: len(at) == 1 and table.profiles[at[0]].distinct == ids))
    if not names and has_ids and not _are_words(table, nodes.id):
        free = {i: table.profiles[i] for i in nodes.properties if layout.columns[i].datatype is None}
        texts = {i: p for i, p in free.items() if table.typings[i].type is None}
        if nodes.literals:
            names = names_by_cells(texts)
        elif not nodes.key:
            # *product* of products.csv
            called = {i: p for i, p in texts.items() if table.is_called(layout.columns[i], by_file=True)}
            names = names_by_cells(called)
    return replace(layout, nodes=replace(nodes, names=names, names_by_type=by_type))


def _name_kinds(table: Table) -> None:
    """Call rows of the types that no name names by what is called so: *set label*, *concert* of concerts."""
    nodes, kinds = table.layout.nodes, dict[str, list[Sequence[str]]]()
    if nodes is None or nodes.types is None or not nodes.names:
        return
    for row in table.kept:
        kinds.setdefault(row[nodes.types], []).append(row)
    found: dict[str, NameColumns] = {}
    for kind, rows in kinds.items():
        if not kind or any(row[at] for row in rows for columns in nodes.names for at in columns):
            continue
        own = [at for at in nodes.properties if len({row[at] for row in rows} - {""}) == len(rows)]
        words = {at: [w for w in header_words(table.header[at]).split() if w not in OF_IDS] for at in own}
        said = header_words(kind).split()
        called = [at for at in own if words[at] == said or says_name(table.header[at])]
        found |= {kind: ((called[0],),)} if called else {}
    by_type = {**found, **nodes.names_by_type}
    table.layout = replace(table.layout, nodes=replace(nodes, names_by_type=by_type))


def _may_name(columns: Sequence[int], table: Table) -> bool:
    """Whether columns are called *name*, or as *ship name* of ships, or their cells are of one row each."""
    words = [header_words(table.header[at]) for at in columns]
    if any(word in (*NAMES, *DESCRIPTIONS) for word in words) or len(columns) > 1:
        return True
    if words[0].split(" ")[:-1] == [*table.noun[:-1], *(singular(noun) for noun in table.noun[-1:])]:
        return True
    return table.profiles[columns[0]].unique >= UNIQUE_SHARE


def _are_words(table: Table, column: int) -> bool:
    """Whether ids are words, as of *Berlin*, and no codes, initials or numbers."""
    cells = table.profiles[column].distinct
    words = (c for c in cells if c.replace(" ", "").isalpha() and not c.isupper())
    return 2 * sum(cell[0].isupper() or len(cell) > LONGEST_INITIALS for cell in words) > len(cells)


def _columns_said(text: str, header: Sequence[str]) -> NameColumns:
    """The columns that `--names` says, by one name or several; none if the table lacks them."""
    places = {name.lower(): at for at, name in reversed(list(enumerate(header)))}
    parts = [text] if text.lower() in places else text.split(" ")
    columns = tuple(places.get(part.lower(), -1) for part in parts)
    return () if -1 in columns else (columns,)


@dataclass(slots=True)
class Survey:
    """The tables of a build, by their files."""

    hints: Hints = field(default_factory=Hints)
    of_file: dict[Path, list[Table]] = field(default_factory=dict[Path, list[Table]])

    @property
    def tables(self) -> list[Table]:
        """The tables of all files."""
        return [table for tables in self.of_file.values() for table in tables]

    def settle(self) -> None:
        """Say of all tables what refers to what, and what their rows are; raises UsageError for `--names`."""
        self._check_said([table for table in self.tables if table.layout.columns])
        self._join_within()
        tables = [table for table in self.tables if table.layout.columns]
        own = [table for table in tables if not table.layout.known]
        self._call_alike(own)
        for table in (table for table in own if _noun_of_file(table, alone=len(tables) == 1)):
            _put_kinds(table, tables)
        self._keep_apart(own, tables)
        for table in own:
            self._refer(table, tables)
        for table in own:
            self._refer_by_parts(table, tables, by_name=False)
        for table in own:
            _name_kinds(table)
            _name_by_cells(table)
        for table in own:
            self._refer_by_parts(table, tables, by_name=True)
        for table in own:
            self._type_columns(table, alone=len(tables) == 1)
        _unify_texts(tables)
        for table in tables:
            table.kept, table.sample = [], []

    def _join_within(self) -> None:
        """Take what stands within rows for rows of another table, if it has them: a *manager* of *staff*.

        What says nothing that the other table does not is no table of its own.
        """
        within = [table for table in self.tables if table.is_within and table.layout.nodes is not None]
        for table in sorted(within, key=lambda table: (len(table.header), table.rows)):
            others = [t for t in self.tables if t.root is not table and t.ids and not t.layout.known]
            table.of = _table_of_rows(table, others)
            if table.of is None:
                continue
            if table.of.is_within and (noun := _common_noun(table.name, table.of.name)):
                table.of.path = table.of.path.with_name(noun)
            said = {header_words(name) for name in table.of.header}
            new = [at for at, name in enumerate(table.header) if header_words(name) not in said]
            id_ = -1 if table.layout.nodes is None else table.layout.nodes.id
            table.extends = len(table.ids & table.of.ids) >= NEARLY_ALL * len(table.ids)
            if table.extends and not any(table.profiles[at].filled for at in new if at != id_):
                for path, tables in self.of_file.items():
                    self.of_file[path] = [each for each in tables if each is not table]
        for table in self.tables:
            for name, led in table.leads.items():
                at, nodes, inner = table.header.index(name), table.layout.nodes, led.layout.nodes
                is_of_index = nodes is not None and bool(table.layout.known) and at in nodes.references
                if is_of_index and inner and led.is_within and not (led.of or led.layout.known):
                    led.extends = True
                    led.set_column(inner.id, group=table.layout.columns[at].group)

    def _check_said(self, tables: Sequence[Table]) -> None:
        for type_, columns in self.hints.names.items():
            if not any(_columns_said(columns, table.header) for table in tables):
                raise UsageError(
                    f"--names {type_ + '=' if type_ else ''}{columns}: no table has such a column"
                )
        headers = [table.header for table in self.tables]
        shown = [f"{table.path.name} has {', '.join(table.header)}" for table in self.tables]
        all_shown = "; ".join(shown[:MOST_SHOWN]) + "; …" * (len(shown) > MOST_SHOWN)
        for option, columns in (("--id", [self.hints.id]), ("--columns", self.hints.columns.values())):
            for column in filter(None, columns):
                if headers and not any(column_place(header, column) is not None for header in headers):
                    raise UsageError(f"{option}: no table has a column {column}. {all_shown}")
        for column in self.hints.split:
            if not any(column in table.header for table in tables):
                raise UsageError(f"--split {column}=…: no table has such a column")

    def _call_alike(self, own: Sequence[Table]) -> None:
        """Call columns of several tables by one name if they differ in case alone: *Room* and *room*."""
        layouts = [*(form.layout for form in self.hints.known), *(table.layout for table in own)]
        names = dict[str, str]()
        for layout in layouts:
            for column in layout.columns:
                names.setdefault(column.name.lower(), column.name)
        for table in own:
            lower = [column.name.lower() for column in table.layout.columns]
            for at, name in enumerate(lower):
                if table.layout.columns[at].name != names[name] and lower.count(name) == 1:
                    table.set_column(at, name=names[name])

    def _keep_apart(self, own: Sequence[Table], tables: Sequence[Table]) -> None:
        """Find what refers to what; where ids that are numbers clash, give them the group of their table.

        `own` are those of `tables` that the index does not know. What they count, it may count too.
        """
        for table in own:
            self._know_by_ids(table, tables)
        for table in own:
            self._take_apart(table, tables)
            self._number(table, tables)
        counting = [table for table in own if table.counts_rows and not table.extends and table.of is None]
        clashing = [
            t
            for t in counting
            if self.hints.known or any(o is not t and not t.ids.isdisjoint(o.ids) for o in counting)
        ]
        ends = [
            (table, column)
            for table in own
            if table.layout.edges is not None and table.layout.nodes is None
            for column in (table.layout.edges.head, table.layout.edges.tail)
            if not table.layout.columns[column].group
        ]
        targets = {(id(table), column): self._target(table, column, tables) for table, column in ends}
        for table, column in ends:
            if targets[id(table), column] is None:
                cells = table.profiles[column].distinct
                holding = [t for t in clashing if not cells.isdisjoint(t.ids)]
                if len(holding) == 1 and cells - {""} <= holding[0].ids:
                    targets[id(table), column] = holding[0]
                else:
                    clashing = [t for t in clashing if t not in holding]
        names = Counter(table.name for table in clashing)
        for table in clashing:
            if table.layout.nodes is not None:
                around = f"{_stem(table.path.parent)} " if names[table.name] > 1 else ""
                table.set_column(table.layout.nodes.id, group=f"{around}{table.name}")
        for table in own:
            if table.of is not None and table.layout.nodes is not None:
                table.set_column(table.layout.nodes.id, group=table.root.group)
        for table, column in ends:
            target = targets[id(table), column]
            if target is not None:
                table.set_column(column, group=target.group)

    def _know_by_ids(self, table: Table, tables: Sequence[Table]) -> None:
        """Identify rows by a column of ids, not by their names, if other tables refer to that column.

        Rows that two columns tell apart are known by one that is called as they are: `ticket` of tickets.csv.
        """
        layout, nodes = table.layout, table.layout.nodes
        if nodes is None or nodes.literals or layout.numbered:
            return
        is_guess = nodes.guessed and not nodes.key
        is_name = says_name(table.header[nodes.id]) or nodes.join == " "
        is_name = is_name or (is_guess and _are_words(table, nodes.id))
        if not (is_name or is_guess or nodes.key):
            return
        named = (nodes.id, *nodes.key)
        names = table.profiles[nodes.id].distinct if is_name or is_guess else frozenset[str]()
        for column in nodes.properties:
            ids = table.profiles[column].distinct
            is_part = column in named and (is_name or not nodes.key)
            if is_part or not table.tells_apart(column):
                continue
            others = (other for other in tables if other is not table)
            called = bool(nodes.key) and table.is_called(layout.columns[column], by_file=True)
            if called or any(self._refers(other, table, column, ids, names) for other in others):
                properties = tuple(sorted({*nodes.properties, *named} - {column}))
                shown = (named,) if is_name else ()
                nodes = replace(
                    nodes, id=column, key=(), join=", ", names=shown, properties=properties, guessed=False
                )
                table.layout, table.ids, table.same = replace(layout, nodes=nodes), set(ids), set()
                return

    def _refers(self, other: Table, table: Table, column: int, ids: Set[str], names: Set[str]) -> bool:
        """Whether the ends of another table's edges, or a column named after the table, hold its ids.

        A column of the same name does so if it has codes, and one whose name ends with it: `manager_emp_no`
        of `emp_no`; a *country* of words in both is what both have. So does one all of whose cells are among
        its codes, whatever it is called: `bench_by` of initials.
        """
        edges = other.layout.edges
        ends = (edges.head, edges.tail) if edges is not None else ()
        header = None if column in table.word_columns else header_words(table.header[column])
        for at, profile in enumerate(other.profiles):
            said = other.header[at]
            is_named = header is not None and f" {header_words(said)}".endswith(f" {header}")
            cells = profile.distinct
            is_subset = header is not None and 1 < len(cells) < profile.filled and cells <= ids
            if is_subset and table.profiles[column].whole_numbers:
                is_subset = _are_unlikely(cells, ids)
            if at not in ends and not is_named and not is_subset and not table.is_called(Column(said)):
                continue
            if cells and len(cells & names) < len(cells & ids) >= NEARLY_ALL * len(cells):
                return True
        return False

    def _number(self, table: Table, tables: Sequence[Table]) -> None:
        """Make rows things of their own if what was taken for their id refers to another table."""
        layout, nodes = table.layout, table.layout.nodes
        if nodes is None or layout.numbered or not nodes.guessed:
            return
        others = [other for other in tables if other is not table]
        for column in (nodes.id, *nodes.key):
            by_name = self._target(table, column, others, by_name=True) is not None
            called = table.is_called(layout.columns[column], by_file=True)
            if (nodes.key or not (called or by_name)) and self._target(table, column, others) is not None:
                table.layout = layout.numbered_rows()
                table.ids, table.same = set(), set()
                break

    def _refer(self, table: Table, tables: Sequence[Table]) -> None:
        """Note which columns of a table of nodes are ids of another one, or of its own."""
        nodes = table.layout.nodes
        if nodes is None:
            return
        references = list(nodes.references)
        for column in nodes.references:
            table.set_column(column, group=table.group)
        if table.layout.numbered:
            table.set_column(nodes.id, group=table.name)
        elif not (table.extends or table.of or table.is_called(table.layout.columns[nodes.id], by_file=True)):
            others = [other for other in tables if other is not table]
            own = self._target(table, nodes.id, others, by_name=True)
            if own is not None:
                # Its rows say more of those of another table.
                table.set_column(nodes.id, group=own.group)
                table.extends = True
        # What is taken for names by its cells alone may be those of another table.
        named = {at[0] for at in nodes.names if len(at) == 1 and says_name(table.header[at[0]])}
        taken = {nodes.id, *nodes.references, *named}
        for column in nodes.properties:
            said = table.layout.columns[column]
            if column in taken or said.datatype is not None or said.group not in ("", said.name):
                continue
            counts = table.profiles[column].whole_numbers and table.tells_apart(column)
            target = self._target(table, column, tables)
            if target is not None and not (counts and _is_id_of(table.header[column], target)):
                self._link(table, column, target, "ids")
                references.append(column)
        names = tuple(at for at in nodes.names if not (len(at) == 1 and at[0] in references))
        table.layout = replace(table.layout, nodes=replace(nodes, names=names, references=tuple(references)))

    def _link(self, table: Table, column: int, target: Table, what: str, **changes: Any) -> None:  # noqa: ANN401
        """Say of a column that its cells are ids, or names, of the rows of a table."""
        target.is_referred_to = True
        table.set_column(column, group=target.group, **changes)
        table.notes.append(f"{table.header[column]}: {what} of {target.name}")

    def _take_apart(self, table: Table, tables: Sequence[Table]) -> None:
        """Make rows things, not edges: trips that have an id and refer to more; *from* and *to* depths."""
        layout, edges = table.layout, table.layout.edges
        if edges is None or layout.nodes is not None or edges.relation is not None or not table.rows:
            return
        ends = edges.head, edges.tail
        others = [other for other in tables if other is not table]
        has_id = 0 not in ends and table.tells_apart(0)
        are_numbers = all(table.profiles[at].whole_numbers for at in ends)
        are_depths = are_numbers and all(self._target(table, at, tables) is None for at in ends)
        if self.hints.columns or not (has_id or are_depths):
            return
        if any(at and self._target(table, at, others) is not None for at in edges.properties):
            layout = node_layout_of(table.header, table.sample, table.name)
            table.layout, nodes = _with_names(layout, table, self.hints), layout.nodes
            is_column = nodes is not None and not (layout.numbered or nodes.key)
            ids = table.profiles[nodes.id].distinct if nodes and is_column else _ids_of(layout, table.kept)
            table.ids = set(ids)

    def _refer_by_parts(self, table: Table, tables: Sequence[Table], *, by_name: bool) -> None:
        """Link columns whose cells hold several ids, or names, of rows of one table, or one name each."""
        nodes = table.layout.nodes
        if nodes is None:
            return
        taken = {nodes.id, *nodes.references, *table.same, *(at for names in nodes.names for at in names)}
        for column in nodes.properties:
            said, texts = table.layout.columns[column], table.typings[column].type is None
            cells = table.profiles[column].distinct - {""}
            if column in taken or said.datatype is not None or not texts or len(cells) < FEWEST_LINKED:
                continue
            for mark in self._marks(said, table.header[column], cells, by_name=by_name):
                target = _named_target(cells, mark, said, table, tables, by_name=by_name)
                if target is not None:
                    changes = {"array": True, "delimiter": mark} if mark else {}
                    what = f"{'several ' * bool(mark)}{'names' if by_name else 'ids'}"
                    if by_name:
                        changes |= {"is_named": True, "ids": target.names}
                    self._link(
                        table, column, target, what + f' with "{mark}" between' * bool(mark), **changes
                    )
                    nodes = replace(nodes, references=(*nodes.references, column))
                    break
        table.layout = replace(table.layout, nodes=nodes)

    def _marks(self, column: Column, name: str, cells: Set[str], *, by_name: bool) -> list[str]:
        """What may stand between the parts of cells, "" for a cell that is one."""
        known = column.delimiter if column.array else self.hints.split.get(name, "")
        if known or not self.hints.splits:
            return [known] if known or by_name else []
        text = "\0".join(cells)
        marks = [mark for mark in MARKS_OF_LISTS if mark in text]
        return ["", *(mark for mark in marks if mark != " ")] if by_name else marks

    def _target(
        self, table: Table, column: int, tables: Sequence[Table], *, by_name: bool = False
    ) -> Table | None:
        """The table whose ids a column has: by its name and most of its cells, or nearly all, of codes."""
        said, words = table.layout.columns[column], header_words(table.header[column]).split()
        cells = {item for cell in table.profiles[column].distinct for item in said.items(cell)} - {""}
        if not cells:
            return None
        led = table.leads.get(table.header[column])
        if led is not None and not cells.isdisjoint(led.ids):
            return led.root
        # Whole numbers are counts in a column *employees*, but ids in a column *employee*.
        counts = words and singular(words[-1]) != words[-1] and table.profiles[column].whole_numbers
        for other in tables if not counts else ():
            called = other.ids and other.is_called(table.layout.columns[column])
            if called and len(cells & other.ids) >= REFERRING_SHARE * len(cells):
                return None if self.hints.splits and _are_lists(cells - other.ids, other.ids) else other
        if by_name or column in table.same:
            return None
        of_own = " ".join(word for word in words if word not in OF_IDS) in _OWN
        if of_own and table in tables and cells <= table.ids:
            return table
        if table.profiles[column].whole_numbers:
            return _numbered_by_role(table, said, cells, tables) or _numbered_target(cells, tables)
        codes = [
            other
            for other in tables
            if other.ids and not other.counts_rows and len(cells & other.ids) >= NEARLY_ALL * len(cells)
        ]
        type_ = table.typings[column].type
        is_code = type_ is None or type_.base == XSD + "token"
        return codes[0] if len(codes) == 1 and len(cells) > 1 and is_code else None

    def _type_columns(self, table: Table, *, alone: bool) -> None:
        """Give columns their types and separators, rows the type that the file's name says; and say so."""
        layout, nodes = table.layout, table.layout.nodes
        columns, words = list(layout.columns), list[str]()
        properties = set(layout.edges.properties if layout.edges else ())
        if nodes is not None:
            properties |= {*nodes.properties}
            properties -= {*nodes.references, *(column for names in nodes.names for column in names)}
        for at in sorted(properties):
            column, typing, name = columns[at], table.typings[at], table.header[at]
            if column.datatype is not None or column.role or column.group or column.array:
                continue
            if typing.type is not None and name not in self.hints.split:
                mixed = typing.texts + typing.years > 0
                columns[at] = replace(column, datatype=str(typing.type), mixed=mixed)
            else:
                separator = self.hints.split.get(name, "")
                if not separator and self.hints.splits:
                    separator = separator_of(table.profiles[at], name)
                if says_alias(name) or tag_of_names(name):
                    column = replace(column, datatype=XSD + "string")  # names are no things
                    columns[at] = column
                if separator:
                    columns[at] = replace(column, array=True, delimiter=separator)
                    words.append(f'{name}: several values in a cell, split at "{separator}"')
            if said := typing.in_words():
                words.append(f"{name}: {said}")
        words += table.unnamed()
        if words:
            more = f"; … {len(words) - MOST_SAID:,} more" if len(words) > MOST_SAID else ""
            table.notes.append("; ".join(words[:MOST_SAID]) + more)
        if nodes is not None and nodes.types is None:
            nodes = replace(nodes, type_name=_type_of(table, alone=alone))
        table.layout = replace(layout, columns=tuple(columns), nodes=nodes)


def _put_kinds(table: Table, tables: Sequence[Table]) -> None:
    """Make a column *type* a property where the file says what rows are: tickets, of which one is a *bug*.

    One kind, and kinds of which half stand apart at an end of edges, or in a column, stay types.
    """
    layout, nodes = table.layout, table.layout.nodes
    if nodes is None or nodes.types is None or layout.columns[nodes.types].role:
        return
    if lists_types(layout.columns, table.name):
        return
    number = len(table.profiles[nodes.types].distinct)
    kinds = {cells[nodes.id]: cells[nodes.types] for cells in table.kept}
    apart = set[str]()
    for other in tables:
        ends = (of.head, of.tail) if (of := other.layout.edges) else ()
        for at, profile in enumerate(other.profiles):
            found = profile.distinct & kinds.keys()
            is_of_ids = at in ends or not table.profiles[nodes.id].whole_numbers
            of_kinds = {kinds[id_] for id_ in found}
            if is_of_ids and number < len(found) and len(of_kinds) == 1:
                apart |= of_kinds
    if apart and 2 * len(apart) >= number:
        return
    if number > 1:
        properties = tuple(sorted({*nodes.properties, nodes.types}))
        table.layout = replace(layout, nodes=replace(nodes, types=None, properties=properties))


def _table_of_rows(table: Table, others: Sequence[Table]) -> Table | None:
    """The table that has the rows of one whose rows stand within others, or some, and nothing else of them.

    One that is called alike goes before others, and one whose rows stand within none.
    """
    shares = {id(other): _share_alike(table, other) for other in others}
    codes = table.layout.nodes is not None and not table.profiles[table.layout.nodes.id].whole_numbers
    column = Column(table.name)

    def may_be(other: Table) -> bool:
        alike, known = shares[id(other)], table.ids & other.ids
        has_all = len(known) >= NEARLY_ALL * len(table.ids)
        if alike is None:
            return has_all and (codes or other.is_called(column))
        return alike >= NEARLY_ALL and (has_all or (bool(known) and other.is_within))

    found = [other for other in others if may_be(other)]
    return min(found, key=lambda other: (other.is_within, not other.is_called(column)), default=None)


def _common_noun(first: str, second: str) -> str:
    """The last words that two names share: *team* of *homeTeam* and *awayTeam*."""
    pairs = zip(reversed(header_words(first).split()), reversed(header_words(second).split()), strict=False)
    return " ".join(reversed([one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]))


def _share_alike(table: Table, other: Table) -> float | None:
    """The share of cells that are alike in the rows that two tables have by their ids; None without any."""
    nodes, others = table.layout.nodes, other.layout.nodes
    if nodes is None or others is None:
        return None
    place = {header_words(name): at for at, name in enumerate(other.header) if at != others.id}
    columns = [(at, place.get(header_words(name), -1)) for at, name in enumerate(table.header)]
    known = {cells[others.id]: cells for cells in other.kept if cells[others.id] in table.ids}
    rows = [(cells, known[cells[nodes.id]]) for cells in table.kept if cells[nodes.id] in known]
    pairs = [(one[at], two[to]) for one, two in rows for at, to in columns if to >= 0 and one[at] and two[to]]
    return sum(one == two for one, two in pairs) / len(pairs) if pairs else None


def _is_id_of(header: str, table: Table) -> bool:
    """Whether a column is called as that of a table's ids."""
    nodes = table.layout.nodes
    return nodes is not None and nodes.id < len(table.header) and header == table.header[nodes.id]


def _named_target(
    cells: Set[str], mark: str, column: Column, table: Table, tables: Sequence[Table], *, by_name: bool
) -> Table | None:
    """The one table, or that of several which the column is called like, whose ids or names cells hold."""
    known = {
        id(other): other.names.keys() if by_name else other.ids
        for other in tables
        if by_name or (other is not table and not other.counts_rows)
    }
    # Of a few cells it shows at once that they are of no table, which most are.
    few = _parts(sorted(cells)[:: max(1, len(cells) // FEW_CELLS)], mark)
    likely = [t for t in tables if id(t) in known and 2 * len(few & known[id(t)]) >= len(few)]
    parts = _parts(cells, mark) if likely else set[str]()
    targets = [t for t in likely if len(parts & known[id(t)]) >= NEARLY_ALL * len(parts)]
    called = [target for target in targets if target.is_called(column)]
    found = called if len(called) == 1 else targets
    return found[0] if len(found) == 1 and len(parts) >= FEWEST_LINKED else None


def _parts(cells: Iterable[str], mark: str) -> set[str]:
    """What stands in cells between marks; without a mark each cell is one."""
    return {part.strip() for cell in cells for part in (cell.split(mark) if mark else [cell])} - {""}


def _are_lists(cells: Set[str], ids: Set[str]) -> bool:
    """Whether some cells hold several ids each."""
    marks = (mark for mark in MARKS_OF_LISTS if mark != " " and any(mark in cell for cell in cells))
    return any(_parts(cells, mark) <= ids for mark in marks)


def _name_by_cells(table: Table) -> None:
    """Call rows that others refer to, by codes, by the column that is most like names, where none says so."""
    nodes = table.layout.nodes
    if nodes is None or nodes.names or nodes.key or not table.is_referred_to or table.layout.numbered:
        return
    if not _are_words(table, nodes.id):
        free = (i for i in nodes.properties if i not in nodes.references and table.typings[i].type is None)
        texts = {i: table.profiles[i] for i in free if not table.layout.columns[i].group}
        texts = {i: profile for i, profile in texts.items() if profile.filled >= FEWEST_NAMED}
        beside = texts.get(nodes.id + 1)
        names = names_by_cells(texts, REPEATED_SHARE)
        if not names and beside is not None and _are_models(beside):
            names = ((nodes.id + 1,),)
        table.layout = replace(table.layout, nodes=replace(nodes, names=names))


def _are_models(profile: ColumnProfile) -> bool:
    """Whether cells, all different, are names and codes by which things are called: *Advia 2120i*, *DS2*."""
    cells = profile.distinct
    named = sum(cell[:1].isupper() and (" " in cell or not cell.isupper()) for cell in cells)
    has_letters = all(any(c.isalpha() for c in cell) for cell in cells)
    return not profile.empty and profile.unique == 1 and has_letters and named >= LEAST_NAMED * len(cells)


def _numbered_by_role(
    table: Table, column: Column, numbers: Set[str], tables: Sequence[Table]
) -> Table | None:
    """The only other table with all of some numbers as ids, of a column that says a role: *owner*."""
    role = " ".join(word for word in header_words(column.name).split() if word not in OF_IDS)
    holding = [other for other in tables if other is not table and numbers <= other.ids]
    if role in _OF_PEOPLE | _OWN or role.endswith(" by"):
        nouns = {id(other): header_words(other.name).split()[-1:] for other in holding}
        holding = [o for o in holding if any({word, singular(word)} & _PEOPLE for word in nouns[id(o)])]
    elif _OF_EVENT.fullmatch(role):
        holding = [other for other in tables if numbers <= other.ids]  # also of its own rows
    elif role not in _OF_THINGS:
        return None
    return holding[0] if len(holding) == 1 and len(numbers) > 1 else None


def _numbered_target(numbers: Set[str], tables: Sequence[Table]) -> Table | None:
    """The only table of whose ids whole numbers nearly all are, where chance would not have it so."""
    found = [table for table in tables if _are_unlikely(numbers, table.ids)]
    return found[0] if len(found) == 1 else None


def _are_unlikely(numbers: Set[str], ids: Set[str]) -> bool:
    """Whether whole numbers are nearly all ids, of which so many are not met by chance.

    Ids without gaps between, as 1, 2, 3, are met by any small number.
    """
    hits = len(numbers & ids)
    if len(numbers) < FEWEST_LINKED or hits < NEARLY_ALL * len(numbers):
        return False
    low, high = (int(extreme(numbers, key=int)) for extreme in (min, max))
    between = sum(id_.isdecimal() and low <= int(id_) <= high for id_ in ids)
    chance = hits * log10(between / (high - low + 1)) + (hits < len(numbers)) * len(numbers) * log10(2)
    return chance < UNLIKELY


def _unify_texts(tables: Sequence[Table]) -> None:
    """Make texts literals in tables of names too where another table has the same ones as literals.

    Else the *Bergen* of two columns would be two things. Ids of rows stay entities.
    """
    layouts = [table.layout for table in tables]
    if all(each.known or each.nodes is None or each.nodes.literals for each in layouts):
        return
    ids = set[str]().union(*(table.ids for table in tables))
    texts, named = set[str](), list[tuple[Table, int, set[str]]]()
    for table in tables:
        columns, nodes = table.layout.columns, table.layout.nodes
        if nodes is None:
            continue
        taken = {*nodes.references, *(at for names in nodes.names for at in names)}
        for at in nodes.properties:
            if at in taken or columns[at].group or columns[at].datatype not in (None, XSD + "string"):
                continue
            items = {item for cell in table.profiles[at].distinct for item in columns[at].items(cell)}
            if nodes.literals or table.layout.known:
                texts |= items
            elif items.isdisjoint(ids):
                named.append((table, at, items))
    while found := [each for each in named if not each[2].isdisjoint(texts)]:
        named = [each for each in named if each[2].isdisjoint(texts)]
        for table, at, items in found:
            table.set_column(at, datatype=XSD + "string")
            texts |= items


def _type_of(table: Table, *, alone: bool) -> str:
    """What rows are: *bus* of `buses.csv`, with others *staff*; else *river* of a column of their names."""
    nodes = table.layout.nodes
    if nodes is None or table.extends:
        return ""
    header = "" if table.layout.numbered or nodes.key else table.header[nodes.id]
    names = {table.header[at] for columns in nodes.names for at in columns}
    by_file, by_column = _noun_of_file(table, alone=alone), "" if says_name(header) else _noun_in(header)
    if f"{header}Label" in names:  # a variable of a query
        return by_column or by_file
    is_key = by_column != header_words(header)  # `ticket_no` of what has a name too; no *login*
    return by_file or (by_column if is_key or not names else "")


def _noun_of_file(table: Table, *, alone: bool) -> str:
    """What the name of a file says that its rows are; it may be no noun if the file is `alone`."""
    words, nodes = table.noun, table.layout.nodes
    generic = GENERIC - ROWS_OF_OTHERS if nodes is not None and nodes.references else GENERIC
    unsaid = len(" ".join(words)) < 2 or generic.issuperset(words)
    if unsaid or any(word.isdecimal() for word in words):
        return ""
    noun = singular(words[-1])
    return "" if alone and noun == words[-1] else " ".join([*words[:-1], noun])


def _noun_in(header: str) -> str:
    """The noun that a column of what rows are called has as its name."""
    words = [word for word in header_words(header).split() if word not in OF_IDS]
    return "" if GENERIC.issuperset(words) or len(" ".join(words)) < SHORTEST_NOUN else " ".join(words)


def unclear(path: Path, line: int, cells: Sequence[str]) -> ParseError:
    """The fault of a table that has no layout."""
    return ParseError(str(path), line, f"it is not clear what the columns are: {shown_row(cells)}", _ADVICE)


_ADVICE = (
    "Say what the columns are: --columns head=from,relation=type,tail=to for a table of edges, --id NAME for "
    "one whose rows are entities"
)


def shown_row(cells: Sequence[str]) -> str:
    """The beginning of a row, for messages."""
    text = ",".join(cells)
    return text if len(text) <= 60 else text[:60] + "…"
