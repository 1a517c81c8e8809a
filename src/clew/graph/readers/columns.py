"""What a column of a table is and holds, told by its header and all its cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

from clew.foundation.forms import converted
from clew.graph import XSD
from clew.graph.naming import says_alias
from clew.graph.values import (
    CURRENCIES,
    FLAGS,
    MAX_LENGTH,
    PERCENT,
    TRUE,
    TRUTHS,
    UNITS,
    ColumnType,
    compact_day,
    is_bare_year,
    numeric_day,
    parse_value,
    read_amount,
    unit_in,
)

# What the columns of a table may be, and in what words that is told.


MOST_SAID = 50
"""Columns that a note says."""
LINKED_TO = "linked to"
"""What the edges of a table are called that names no relation."""
ARRAY_DELIMITER = ";"
_DATATYPES = {
    **dict.fromkeys(("int", "long", "short", "byte"), XSD + "integer"),
    **dict.fromkeys(("float", "double"), XSD + "double"),
    **dict.fromkeys(("string", "char", "point", "localtime", "time", "duration"), XSD + "string"),
    **dict.fromkeys(("datetime", "localdatetime"), XSD + "dateTime"),
    "boolean": XSD + "boolean",
    "date": XSD + "date",
}
_WRITTEN_BOOLEAN = str(ColumnType(XSD + "boolean", as_xsd=False))
_ROLES = ("id", "label", "start_id", "end_id", "type", "ignore")
_GREMLIN = {"~id": "id", "~label": "label", "~from": "start_id", "~to": "end_id"}
"""What Gremlin and Neptune call the same; the label of an edge is its type."""
KEY = re.compile(r"[A-Za-z]*(?:[a-z]I[Dd]|_id|_ID)")
"""What a column of ids is called that are of one kind of things."""
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAPITALS = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])(?![A-Z]s(?![a-z]))")
"""Where a word begins in *publicPCs*, whose last is a plural."""


OF_IDS = ("id", "ids", "key", "code", "ref", "fk", "no", "nr", "number", "node", "uri", "iri")
"""What headers of ids say beside what they are of."""


def header_words(name: str) -> str:
    """`RelationType`, `relation_type`, `Relation-Type` → `relation type`; `publicPCs` → `public pcs`."""
    return " ".join(_WORDS.findall(_CAPITALS.sub(" ", name))).lower()


_COLUMN = re.compile(
    r"(?P<name>[^:]*):(?P<type>[A-Za-z_]+)(?:\((?P<group>[^)]*)\))?(?P<array>\[\])?"
    r"(?:\{(?:delimiter:(?P<delimiter>.)|.*)\})?"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; its `role` is one of Neo4j's, "" for a property; `datatype` is None for a text of no type.

    `mixed`: not all of its cells are of its type.
    """

    name: str
    role: str = ""
    group: str = ""
    datatype: str | None = None
    array: bool = False
    delimiter: str = ARRAY_DELIMITER
    mixed: bool = False
    header: str = ""
    is_named: bool = False
    """Whether cells say what rows of another table are called, and not their ids."""
    ids: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    """Those ids, by the names. No index keeps them: an update looks names up."""

    @classmethod
    def of(cls, cell: str) -> Column:
        """Read a header cell; one without a type that Neo4j or Gremlin knows is a property of that name."""
        if cell.lower() in _GREMLIN:
            return cls("", _GREMLIN[cell.lower()], header=cell)
        parts = _COLUMN.fullmatch(cell)
        kind = parts["type"].lower() if parts else ""
        if parts is None or kind not in (*_ROLES, *_DATATYPES):
            return cls(cell)
        delimiter = parts["delimiter"] or ARRAY_DELIMITER
        if kind in _ROLES:
            return cls(parts["name"], kind, parts["group"] or "", delimiter=delimiter)
        return cls(parts["name"], "", "", _DATATYPES[kind], parts["array"] is not None, delimiter)

    def items(self, cell: str) -> list[str]:
        """What a cell of this column holds: its items if it is a list; nothing of an empty one."""
        parts = cell.split(self.delimiter) if self.array or self.role == "label" else [cell]
        return [item for part in parts if (item := part.strip())]

    def literal(self, cell: str) -> tuple[str, str]:
        """A value of this column as a literal; a text where it is not of the column's type."""
        if cell in FLAGS and self.datatype == _WRITTEN_BOOLEAN:
            cell = FLAGS[cell]
        if self.datatype is None or not self.mixed:
            return cell, self.datatype or XSD + "string"
        return cell, ColumnType.of(self.datatype).datatype_of(cell) or XSD + "string"

    def key(self, cell: str) -> str:
        """Name of the node that an id cell of this column stands for, or one that says what it is called."""
        id_ = self.ids.get(cell) if self.is_named else cell
        return cell if id_ is None else f"{self.group}:{id_}" if self.group else id_


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """Columns of an edge; without one of relations all are called `relation_name`.

    `direction` says of each edge if it has one (Gephi's `Type`); `properties` are said of the edge itself.
    """

    head: int
    tail: int
    relation: int | None = None
    relation_name: str = LINKED_TO
    direction: int | None = None
    properties: tuple[int, ...] = ()


NameColumns = tuple[tuple[int, ...], ...]
"""Columns that name a row, the first that is not empty; of several together, joined by a space."""


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """Columns of a node: its id, what it is called, its types, and its properties.

    `literals`: its properties are texts; otherwise, of a wide table, names of other entities. `key`: further
    columns that only together with the id say which row it is, written between with `join`; they are
    properties too, as the id is then. `references`: properties that are ids of other nodes. `labels`: what
    columns of ids are called, by other columns. `names_by_type`: the names that the user says of a type.
    `type_name` is the type of all rows of a table without types. `guessed`: that the column is of ids is told
    by nothing but that each row has another cell.
    """

    id: int
    names: NameColumns
    types: int | None
    properties: tuple[int, ...]
    literals: bool = True
    key: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    labels: Mapping[int, int] = field(default_factory=dict[int, int])
    names_by_type: Mapping[str, NameColumns] = field(default_factory=dict[str, NameColumns])
    type_name: str = ""
    join: str = ", "
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns are; `header`: the first record names them. With both kinds, rows are mixed.

    `may_be_triples`: the header is in words of its own, and may be a triple as well.
    """

    columns: tuple[Column, ...]
    edges: EdgeColumns | None = None
    nodes: NodeColumns | None = None
    header: bool = True
    left_out: tuple[str, ...] = ()
    may_be_triples: bool = False
    lacking: tuple[str, ...] = ()
    """Columns that the user names and that this table has not, as another of the sources has them."""
    known: str = ""
    """The table of the index that has the same columns, and is read so."""
    numbered: bool = False
    """Whether rows have no id, as payments, and are things of their own: the last of `columns` is made."""
    rows_before: int = 0
    """Rows that there are in the index, from which those of a numbered table are counted."""
    order: tuple[int, ...] = ()
    """Where the file of a known table has each of the columns, -1 where it lacks one."""
    cells: int = 0
    """How many columns that file has."""

    @property
    def width(self) -> int:
        """How many cells a row of the file has."""
        return self.cells or len(self.columns) - self.numbered

    def arranged(self, row: list[str]) -> list[str]:
        """The cells of a row of the file in the order of the columns."""
        return [row[at] if at >= 0 else "" for at in self.order] if self.order else row

    def has(self, column: int) -> bool:
        """Whether the file has a column."""
        return not self.order or self.order[column] >= 0

    def numbered_rows(self) -> Layout:
        """The layout if none of its columns says which row it is."""
        if self.nodes is None:
            return self
        id_, columns = len(self.columns), {*self.nodes.properties, self.nodes.id, *self.nodes.key}
        nodes = NodeColumns(id_, (), None, tuple(sorted(columns)), literals=False)
        made = Column("", "id")
        return replace(self, columns=(*self.columns, made), nodes=nodes, left_out=(), numbered=True)

    def in_words(self) -> str:
        """Say what was taken for what."""

        def called(relation: str) -> str:
            return f"“{relation}”" + " (--relation NAME calls it otherwise)" * (relation == LINKED_TO)

        parts, nodes, edges = list[str](), self.nodes, self.edges
        if edges is not None:
            relation = called(edges.relation_name) if edges.relation is None else self._name(edges.relation)
            head, tail = self._name(edges.head), self._name(edges.tail)
            parts.append(f"head = {head}, relation = {relation}, tail = {tail}")
            if nodes is None and (properties := self._names(edges.properties)):
                parts.append(f"properties of edges = {properties}")
        if nodes is not None:
            parts.append(self._nodes_in_words(nodes))
            if relations := self._names(nodes.properties):
                parts.append(f"relations = {relations}")
        if self.left_out:
            parts.append("left out: " + ", ".join(self.left_out))
        if self.lacking:
            parts.append("it has no column " + ", ".join(self.lacking))
        kinds = ["nodes"] * (nodes is not None) + ["edges"] * (edges is not None)
        return f"a table of {' and '.join(kinds)}: " + "; ".join(parts)

    def _nodes_in_words(self, nodes: NodeColumns) -> str:
        """Say what the columns of nodes are."""
        id_ = " with ".join(map(self._name, (nodes.id, *nodes.key)))
        roles = ["each row is a thing of its own" if self.numbered else f"id = {id_}"]
        by_type = ((f"name of {type_}", names) for type_, names in nodes.names_by_type.items())
        for what, names in (("name", nodes.names), *by_type):
            if names:
                roles.append(f"{what} = " + ", else ".join(" ".join(map(self._name, at)) for at in names))
        if nodes.types is not None:
            roles.append(f"type = {self._name(nodes.types)}")
        elif nodes.type_name:
            of = "column" if nodes.type_name in header_words(self._name(nodes.id)) else "file"
            roles.append(f"type = {nodes.type_name} (of the {of})")
        return ", ".join(roles)

    def _names(self, columns: Iterable[int]) -> str:
        names = [self._name(at) for at in columns if self.has(at)]
        more = f", … {len(names) - MOST_SAID:,} more" if len(names) > MOST_SAID else ""
        return ", ".join(names[:MOST_SAID]) + more

    def _name(self, column: int) -> str:
        of = self.columns[column]
        return of.name or of.header or (f":{of.role.upper()}" if of.role else f"column {column + 1}")


NO_LAYOUT = Layout(())
"""The layout of what is no table."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """How a table was read into an index, so that later ones with its columns are read so too.

    `header` are its columns, `rows` how many rows it had.
    """

    name: str
    header: tuple[str, ...]
    layout: Layout
    rows: int = 0

    def layout_for(self, header: Sequence[str]) -> Layout | None:
        """The layout of a table with this header, whose columns may be in another order, or fewer."""
        place = {name: at for at, name in reversed(list(enumerate(header))) if name}
        blank = [at for at, name in enumerate(header) if not name]
        blanks = iter(blank if len(blank) == self.header.count("") else ())
        order = tuple(place.get(name, -1) if name else next(blanks, -1) for name in self.header)
        known = sum(at >= 0 for at in order)
        if known < len(place) or 2 * known < len(self.header):
            return None
        nodes, edges = self.layout.nodes, self.layout.edges
        needed = (nodes.id, *nodes.key) if nodes else ()
        needed += (edges.head, edges.tail, edges.relation) if edges else ()
        if any(order[at] < 0 for at in needed if at is not None and at < len(order)):
            return None
        # What a column held so far, it need not hold from now on.
        columns = tuple(replace(column, mixed=True) for column in self.layout.columns)
        return Layout(
            columns, edges, nodes,
            known=self.name, numbered=self.layout.numbered, rows_before=self.rows,
            order=order, cells=len(header),
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return _said(self)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> TableForm:
        """The form of a table that an index keeps."""
        return converted(form, cls)


def known_tables(report: Mapping[str, Any]) -> list[TableForm]:
    """How the tables of an index were read, by its report."""
    return [TableForm.from_json(form) for form in report.get("tables", ())]


def words_of_rows(tables: Sequence[TableForm]) -> Iterator[tuple[str, str]]:
    """Types of rows with what the columns of names and ids call them: rows of *case file* are matters.

    No words such as *name*, which say nothing of what is called so, nor what rows of another table are.
    """
    types = {form.layout.nodes.type_name for form in tables if form.layout.nodes is not None}
    for form in tables:
        nodes = form.layout.nodes
        if nodes is None or not nodes.type_name:
            continue
        called_by = [*(names[0] for names in nodes.names[:1] if len(names) == 1), nodes.id]
        for at in called_by:
            header = header_words(form.header[at]) if at < len(form.header) else ""
            noun = " ".join(word for word in header.split() if word not in OF_IDS)
            if noun.isalpha() and noun not in types and (noun not in NAMES or noun == "title"):
                yield nodes.type_name, noun


def known_layout(header: Sequence[str], known: Sequence[TableForm], called: str) -> Layout | None:
    """The layout of the one known table that has the columns of a header; None if none, or several, do.

    A table that is `called` as a known one may have fewer columns than it; another has all of them.
    """
    same = [form for form in known if set(form.header) == set(header)]
    of_name = [form for form in same or known if _are_called_alike(form.name, called)]
    layouts = [layout for form in of_name or same if (layout := form.layout_for(header)) is not None]
    first = layouts[0] if layouts else None
    return (
        first if first and all(layout == replace(first, known=layout.known) for layout in layouts) else None
    )


def known_kind(known: Sequence[TableForm], called: str) -> str:
    """The column of types of the known table that one is `called` as; "" for none."""
    forms = (form for form in known if _are_called_alike(form.name, called))
    types = ((form, form.layout.nodes.types) for form in forms if form.layout.nodes)
    return next((form.header[at] for form, at in types if at is not None), "")


def _are_called_alike(name: str, other: str) -> bool:
    """Whether one of two names of tables is in the other: *grants*, *new grants*."""
    first, second = (header_words(each).replace(" ", "") for each in (name, other))
    return bool(first and second) and (first in second or second in first)


def _said(part: Any) -> Any:  # noqa: ANN401 (of a layout)
    """A part of a layout as JSON, without fields that are as they are where nothing is said."""
    if isinstance(part, tuple):
        return [_said(item) for item in cast(tuple[Any, ...], part)]
    if not is_dataclass(part):
        return part
    said: dict[str, Any] = {}
    for of in fields(part):
        value, usual = getattr(part, of.name), of.default
        if of.compare and value != (of.default_factory() if of.default_factory is not MISSING else usual):
            said[of.name] = _said(value)
    return said


# What a column holds, told by all its cells: a type, or several values in a cell.
#
# A column is of numbers, dates, times, or true and false if nearly all its cells can be read so; what cannot
# is kept as text and counted. Whether a comma is decimal, and whether the day or the month comes first, is
# what most cells show that leave no choice. One leading zero makes a column of codes.
#
# A cell holds several values where a separator stands in many cells and the parts come again, alone or in
# another place of other cells: *Crime, Drama* beside *Drama*, but never *Paris, France*.


TYPED_SHARE = 0.8
"""A column has a type if at least this share of its cells can be read so."""
MOST_TRACKED = 20_000
"""Distinct cells of a column that are kept to look for names, references and separators."""
MOST_KEYS = 1_000_000
"""The same of a column of which each row so far has another cell, as of ids."""
SEPARATORS = ("|", "; ", ";", ", ", " / ", ",")
"""What may stand between the values of a cell, the surest first."""
_LETTERS = ({"y", "n"}, {"t", "f"}, {"o", "n"}, {"j", "n"})
"""All that a column holds which says yes and no by a letter."""
_MARKS = frozenset(("x", "y", "✓", "✔", "checked"))
"""What alone in a column, beside empty cells, ticks what is so."""
_SAYS_FLAG = re.compile(
    r"(?:is|has|was|had|can|may|does|did|needs) .+|.*(?:\w(?:ed|[ai]ble|ive)|flag|paid|sent|open)"
)
"""What a column is called whose 0 and 1 are no and yes: *is public*, *preserved*, *active*, *VIP flag*."""
_XSD_DAY = re.compile(r"\d{4}-\d\d-\d\d(?P<time>T\d\d:\d\d:\d\d.*)?")
_XSD_TIME = re.compile(r"\d\d:\d\d:\d\d")


class Form(NamedTuple):
    """How a cell is written.

    `first`, `second`: whether it can be read with a decimal point, with a decimal comma; of a date, with the
    day first, with the month first. `whole`: without a fraction, in each case. `plain`: as XSD writes it.
    """

    kind: str
    first: bool = True
    second: bool = True
    whole: tuple[bool, bool] = (True, True)
    unit: str = ""
    plain: bool = True
    sign: str = ""


_TEXT, _INTEGER, _CODE = Form("text"), Form("number"), Form("code")


@lru_cache(maxsize=1 << 16)
def form_of(cell: str) -> Form:
    """Tell how a cell is written."""
    if len(cell) > MAX_LENGTH:
        return _TEXT
    if cell.isdecimal() and cell.isascii():
        return _CODE if cell[0] == "0" and len(cell) > 1 else _INTEGER
    if cell.lower() in TRUTHS:
        is_mark = len(cell) == 1 or cell.lower() in _MARKS
        return Form("letter" if is_mark else "truth", plain=cell.lower() in ("true", "false"))
    if not any(map(str.isdigit, cell)):
        return _TEXT
    amount = read_amount(cell)
    point = None if amount is None else amount.number(comma=False)
    comma = None if amount is None else amount.number(comma=True)
    if amount is not None and (point is not None or comma is not None):
        whole = tuple(number is None or number.is_integer() for number in (point, comma))
        fraction = "." in amount.digits and not comma, "," in amount.digits and not point
        are_whole = whole[0] and not fraction[0], whole[1] and not fraction[1]
        sign = next((sign for sign in ",." if sign in amount.digits), "")
        plain = amount.plain and amount.scale == 1
        return Form("number", point is not None, comma is not None, are_whole, amount.unit, plain, sign)
    day = numeric_day(cell)
    if day is not None and min(day) <= 12 and max(day) <= 31:
        return Form("day", day[1] <= 12, day[0] <= 12, plain=False, sign="." if "." in cell else "")
    kind = next((k for k in ("time", "date", "gYear") if parse_value(cell, f"{XSD}{k};written")[0]), "text")
    if kind == "date":
        hit = _XSD_DAY.fullmatch(cell)
        return Form(kind, plain=hit is not None, sign="T" if hit and hit["time"] else "")
    return _TEXT if kind == "text" else Form(kind, plain=kind == "time" and bool(_XSD_TIME.fullmatch(cell)))


@dataclass(slots=True)
class ColumnProfile:
    """What the cells of a column are, in numbers of cells; `distinct` are the first of them, bounded."""

    filled: int = 0
    empty: int = 0
    forms: Counter[Form] = field(default_factory=Counter[Form])
    distinct: set[str] = field(default_factory=set[str])
    tracked: int = 0
    """Cells of which `distinct` has all."""
    years: int = 0
    """Cells with a number that may be a year."""
    days: int = 0
    """Cells with a number that may be a day, as *20240131*."""

    def take(self, cells: Sequence[str]) -> None:
        """Look at further cells."""
        counts = Counter(cells)
        self.empty += counts.pop("", 0)
        is_tracked = len(self.distinct) < MOST_TRACKED or self._may_be_key()
        for cell, count in counts.items():
            form = form_of(cell)
            self.filled += count
            self.forms[form] += count
            if form is _INTEGER:
                self.years += count if is_bare_year(cell) else 0
                self.days += count if len(cell) == 8 and compact_day(cell)[0] else 0
        if is_tracked:
            self.distinct.update(counts)
            self.tracked += len(cells)

    def _may_be_key(self) -> bool:
        """Whether all cells so far are different codes, short texts or plain whole numbers."""
        are_different = not self.empty and len(self.distinct) == self.filled < MOST_KEYS
        return are_different and self.forms.keys() <= {_TEXT, _INTEGER, _CODE}

    def of_kind(self, kind: str) -> list[tuple[Form, int]]:
        """The forms of a kind, and how many cells have each."""
        return [(form, count) for form, count in self.forms.items() if form.kind == kind]

    @property
    def unique(self) -> float:
        """Share of the cells looked at that are distinct."""
        return len(self.distinct) / max(self.tracked, 1)

    @property
    def whole_numbers(self) -> bool:
        """Whether all cells are plain whole numbers."""
        return bool(self.filled) and self.forms[_INTEGER] == self.filled


@dataclass(frozen=True, slots=True)
class Typing:
    """The type of a column, None for text; the unit that its name says; how many of its cells do not fit."""

    type: ColumnType | None = None
    unit: str = ""
    texts: int = 0
    dates: int = 0
    """Dates in a column that is of texts."""
    years: int = 0
    """Cells of a column of dates that are a year alone."""
    unsure: bool = False
    """Whether its dates can be read with the day or the month first, and no cell of the table tells."""

    def in_words(self) -> str:
        """Say it as *decimal, EUR; 3 cells are texts*; nothing of a text."""
        if self.unsure:
            return f"text, as none of {self.dates:,} dates shows whether the day or the month comes first"
        if self.type is None:
            return f"text, with {self.dates:,} dates" if self.dates > 1 else ""
        unit = f", {self.unit}" if self.unit and not self.type.unit else ""
        texts = f"; {self.texts:,} cell{'s are texts' if self.texts > 1 else ' is a text'}"
        return f"{self.type.in_words()}{unit}{texts if self.texts else ''}"


def types_of(names: Sequence[str], profiles: Sequence[ColumnProfile], delimiter: str = ",") -> list[Typing]:
    """The types of the columns of a table; a comma is rather decimal where semicolons separate cells."""
    days, commas = Counter[bool](), Counter[bool]()
    for form, count in (each for profile in profiles for each in profile.forms.items()):
        if form.first != form.second and form.kind in ("day", "number"):
            (days if form.kind == "day" else commas)[form.first] += count
    day_first = days[True] > days[False] if days[True] != days[False] else None
    # Of *1.200* the other columns say whether it is a fraction.
    semicolons, comma = delimiter == ";", commas[False] > commas[True]
    return [
        _typing(name, profile, comma, semicolons, day_first)
        for name, profile in zip(names, profiles, strict=True)
    ]


def _typing(
    name: str, profile: ColumnProfile, comma: bool, semicolons: bool, day_first: bool | None
) -> Typing:
    """Take the first type that fits nearly all cells."""
    least = TYPED_SHARE * profile.filled
    counts = Counter[str]()
    for form, count in profile.forms.items():
        counts[form.kind] += count
    years = profile.years
    if not profile.filled:
        return Typing()
    if counts["code"] and counts["code"] + counts["number"] >= least:
        return Typing(ColumnType(XSD + "token"))
    eras = counts["gYear"] + profile.forms[_INTEGER]
    if counts["gYear"] and eras >= least:
        return Typing(ColumnType(XSD + "gYear", as_xsd=False), texts=profile.filled - eras)
    if counts["number"] >= least:
        return _number_typing(name, profile, comma, semicolons, least)
    if years < counts["date"] + counts["day"] >= least - years:
        return _date_typing(profile, day_first, least, years)
    said = {cell.lower() for cell in profile.distinct} - {""}
    ticks = profile.empty > 0 and len(said) == 1 and said <= _MARKS
    if counts["letter"] == profile.filled and (ticks or said in _LETTERS):
        return Typing(ColumnType(XSD + "boolean", as_xsd=False))
    for kind, base in (("time", "time"), ("truth", "boolean")):
        plain = all(form.plain for form, _ in profile.of_kind(kind))
        if kind == "truth" and not plain and not TRUE.intersection(map(str.lower, profile.distinct)):
            is_code = any(cell.isupper() for cell in profile.distinct)
            if is_code or profile.filled < 3:
                continue  # *NO* alone may be Norway
        if counts[kind] >= least:
            return Typing(ColumnType(XSD + base, as_xsd=plain), texts=profile.filled - counts[kind])
    return Typing(dates=counts["date"] + counts["day"])


def _number_typing(name: str, profile: ColumnProfile, comma: bool, semicolons: bool, least: float) -> Typing:
    """Numbers, or what is written as numbers: days, no and yes; with a `comma` as other columns have it."""
    forms = profile.of_kind("number")
    if profile.days == sum(count for _, count in forms) and len(profile.distinct) > 1:
        return Typing(ColumnType(XSD + "date", as_xsd=False), texts=profile.filled - profile.days)
    if profile.distinct == FLAGS.keys() and _SAYS_FLAG.fullmatch(header_words(name)):
        return Typing(ColumnType(XSD + "boolean", as_xsd=False))
    points = sum(count for form, count in forms if form.first and not form.second)
    commas = sum(count for form, count in forms if form.second and not form.first)
    signs = {form.sign for form, _ in forms}
    may_be = (semicolons and "," in signs) or (comma and "." in signs)
    comma = commas > points or (may_be and not points)
    units = Counter[str]()
    for form, count in forms:
        units[form.unit] += count
    units.pop("", None)
    said = _unit_of_name(name)
    unit = next((u for u, _ in units.most_common()), "")
    if said and unit and _measure(said) == _measure(unit):
        unit = said
    forms = [(form, count) for form, count in forms if (form.second if comma else form.first)]
    fitting = [(f, count) for f, count in forms if not f.unit or _measure(f.unit) == _measure(unit)]
    fit = sum(count for _, count in fitting)
    if fit < least:
        return Typing()
    whole = all(form.whole[comma] and form.unit in ("", unit) for form, _ in fitting)
    plain = not comma and all(form.plain and not form.unit for form, _ in fitting)
    base = XSD + ("integer" if whole else "decimal")
    return Typing(ColumnType(base, comma, None, unit, plain), said, profile.filled - fit)


def _measure(unit: str) -> str:
    return UNITS.get(unit, (unit, 1.0))[0]


def _unit_of_name(name: str) -> str:
    """The unit, currency or % that a column's name says."""
    words = header_words(name).split()
    currency = next((CURRENCIES[w] for w in (*words, *name) if w in CURRENCIES and len(w) in (1, 3)), "")
    percent = PERCENT if {"percent", "percentage", "pct"}.intersection(words) or PERCENT in name else ""
    return currency or percent or unit_in(words)


def _date_typing(profile: ColumnProfile, day_first: bool | None, least: float, years: int) -> Typing:
    """Days, of which some are told by their year alone."""
    days, dates = profile.of_kind("day"), profile.of_kind("date")
    if days and day_first is None and any(form.sign == "." for form, _ in days):
        day_first = True
    known = days if day_first is not None else []
    fitting = [(form, count) for form, count in known if (form.first if day_first else form.second)]
    fit = sum(count for _, count in (*dates, *fitting))
    if fit < least - years:
        count = sum(count for _, count in (*dates, *days))
        return Typing(dates=count, unsure=bool(days) and day_first is None)
    plain = not fitting and not years and all(form.plain for form, _ in dates)
    timed = plain and all(form.sign == "T" for form, _ in dates)
    base = XSD + ("dateTime" if timed else "date")
    type_ = ColumnType(base, day_first=day_first if fitting else None, as_xsd=plain)
    return Typing(type_, texts=max(profile.filled - fit - years, 0), years=years)


def separator_of(profile: ColumnProfile, name: str) -> str:
    """What separates several values in the cells of a column of texts; empty if each holds one.

    Further names come never again: of a column that is called so any mark separates them.
    """
    if says_alias(name):
        return next((mark for mark in SEPARATORS if any(mark in cell for cell in profile.distinct)), "")
    return next((mark for mark in (*SEPARATORS, "/") if _separates(mark, profile.distinct)), "")


def _separates(mark: str, cells: Iterable[str]) -> bool:
    """Whether most cells with a mark have parts that come again in another place or alone.

    Semicolons and bars are hardly ever within one value: there parts may come again anywhere, or be names
    that all differ.
    """
    lists = [[part.strip() for part in cell.split(mark)] for cell in cells if cell]
    several = [parts for parts in lists if len(parts) > 1]
    if len(several) < 2 or 10 * len(several) < len(lists):
        return False
    if any(not part or len(part.split()) > 6 for parts in several for part in parts):
        return False
    if mark == "/" and any(part[-1].isdecimal() for parts in several for part in parts):
        return False  # a score, a share
    only_separates = mark.strip() in ";|"
    if only_separates and not any(part[0].islower() for parts in several for part in parts):
        return True
    places: dict[str, set[int]] = {}
    for number, parts in enumerate(lists):
        for place, part in enumerate(parts):
            at = place if len(parts) > 1 else -1
            places.setdefault(part, set()).add(number if only_separates else at)
    again = sum(any(len(places[part]) > 1 for part in parts) for parts in several)
    return 2 * again >= len(several) or mark == "|"


# Which column says what a row is called: by its header, else by its cells.


NAMES = (
    "name", "nm", "full name", "display name", "nom", "nombre", "nome", "naam", "namn", "navn", "nimi",
    "nazwa", "název", "név", "имя", "название", "наименование", "名称", "名前", "姓名", "이름", "isim", "ad",
    "الاسم",
    "label", "pref label", "title", "titre", "título", "titulo", "titel", "titolo", "tytuł", "标题",
    "bezeichnung", "libellé", "etiqueta", "etichetta", "caption", "headline", "known as",
)  # fmt: skip
"""What a column of names is called, the surest first."""
DESCRIPTIONS = ("desc", "descr", "description", "beschreibung", "descripción", "descrizione", "descrição")
"""What names rows where nothing else does."""
_PAIRS = (
    ("first name", "last name"), ("firstname", "lastname"), ("first", "last"),
    ("fname", "lname"), ("f name", "l name"),
    ("given", "family"), ("given", "surname"), ("first", "surname"), ("given name", "family name"),
    ("givenname", "surname"), ("given name", "surname"), ("first name", "surname"), ("forename", "surname"),
    ("vorname", "nachname"), ("vorname", "name"), ("prénom", "nom"), ("prenom", "nom"),
    ("nombre", "apellido"), ("nombre", "apellidos"), ("nome", "cognome"), ("nome", "sobrenome"),
    ("voornaam", "achternaam"),
    ("förnamn", "efternamn"), ("fornavn", "etternavn"), ("fornavn", "efternavn"), ("imię", "nazwisko"),
    ("имя", "фамилия"),
)  # fmt: skip
"""What the columns of the two parts of a person's name are called."""
LONGEST_NAME = 80
"""Characters of a name, on average."""
UNIQUE_SHARE = 0.9
"""A column names rows if at least this share of its cells is distinct."""
REPEATED_SHARE = 0.75
"""The same of things that others refer to by codes: a kind of devices, or their maker, comes more often."""


def names_by_header(headers: Sequence[str], taken: Sequence[int | None]) -> NameColumns:
    """The columns that name rows by their headers, apart from those that are `taken` by something else.

    >>> names_by_header(["id", "firstName", "lastName", "title"], [0])
    ((1, 2), (3,))
    """
    words = [
        "" if at in taken else header_words(header).removesuffix(" 1") for at, header in enumerate(headers)
    ]
    pair = next(((words.index(a), words.index(b)) for a, b in _PAIRS if a in words and b in words), None)
    known = [words.index(name) for name in NAMES if name in words]
    last = [at for at, word in enumerate(words) if at not in known and _ends_as_name(word)]
    described = [words.index(name) for name in DESCRIPTIONS if name in words]
    singles = [(at,) for at in (*known, *last, *described) if pair is None or at not in pair]
    if pair is not None:
        # The whole name beside its parts goes first; *title* beside them is *Dr*.
        whole = [at for at in singles if words[at[0]] in NAMES[:3]]
        return (*whole, pair, *(at for at in singles if at not in whole))
    return tuple(singles)


def _ends_as_name(words: str) -> bool:
    """Whether it is *product name* or *Scheepsnaam*, which names a row where nothing else does."""
    parts = words.split(" ")
    compound = _COMPOUND.fullmatch(parts[-1])
    is_last = len(parts) > 1 and parts[-1] in ("name", "nm", "label", "title")
    return (is_last or compound is not None) and not _PART.match(compound[1] if compound else parts[0])


_COMPOUND = re.compile(r"(.{3,})(?:naam|name|namn|navn|nimi)")
_PART = re.compile(
    "first|last|given|family|middle|job|file|user|nick|sur|fore|host|code|type|"
    "vor|nach|familien|datei|benutzer|achter|voor|bestand|gebruiker|för|efter|for|etter|etu|suku"
)
"""How a word begins that is of a part of a name, or of another thing's."""


def says_name(header: str) -> bool:
    """Whether the last word of a header is one of names."""
    return header_words(header).split(" ")[-1] in NAMES


def names_by_cells(profiles: Mapping[int, ColumnProfile], least: float = UNIQUE_SHARE) -> NameColumns:
    """The first column of texts that are nearly unique and written as names are; else the most unique one.

    None of those that are not `least` so; nothing if all are so.
    """
    candidates = [
        (min(profile.unique, UNIQUE_SHARE), -at)
        for at, profile in profiles.items()
        if _are_names(profile, least)
    ]
    return ((-max(candidates)[1],),) if candidates else ()


def _are_names(profile: ColumnProfile, least: float) -> bool:
    """Whether cells are words that begin in upper case, short, and mostly distinct."""
    cells = [cell for cell in profile.distinct if cell]
    if not cells or profile.empty or profile.unique < least:
        return False
    cased = [cell for cell in cells if cell[0].isupper() and (" " in cell or not cell.isupper())]
    named = sum("://" not in cell and "@" not in cell for cell in cased)
    return named >= UNIQUE_SHARE * len(cells) and sum(map(len, cells)) <= LONGEST_NAME * len(cells)
