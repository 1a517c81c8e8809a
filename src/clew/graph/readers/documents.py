"""What tables a JSON document holds: its arrays of objects, and what stands within their objects.

    found = collections_of(document)            # {"branches": [...], "staff": [...]}, what is left out
    split = Split.of(objects, "branch")         # by its first objects
    cells = split.row(object)                   # of that table; `split.found` has what stands within

Whatever is around arrays of objects, as `{"data": {"items": [...], "next": ...}}`, is passed through: of the
names on the way the last that says something is that of the table. A map of objects that are alike
(`{"Ann": {...}, "Bob": {...}}`) is one as well.

Within an object, another one with an id or a name, and more, is a thing of its own, as the manager of a
branch: the cell is its id. A list of such is a list of ids. Lists of objects that have none, or one that
counts within the list only, are rows that refer to the object around them: the lines of an order. All other
objects are columns of both names (`address town`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, cast

from clew.graph.readers.columns import header_words
from clew.graph.readers.survey import GENERIC, singular

Object = Mapping[str, Any]
Cells = dict[str, str | list[str]]
"""The cells of a row by their columns; a list is several values."""

DEEPEST = 12
"""Objects within each other that are looked into for arrays, and for the columns of a row."""
ALIKE_SHARE = 0.5
"""Least share of the fields of the objects of a map that as large a share of them have."""
ROW_NAME = "name"
"""The column of what objects are called that stand under their names."""
ENVELOPES = ("data", "attributes", "properties", "fields", "node", "relationships")
"""Under which an object keeps what it says, beside what is said of it as a record; `_source` is another."""
_AROUND = GENERIC.union(
    ENVELOPES,
    "body collection content docs document documents element elements embedded feature features".split(),
    "hits object objects payload response value values".split(),
)
"""Names of arrays and of what is around them that say nothing of what is in them."""
ID_WORDS = ("id", "key")
_ID_ENDS = ("id", "code", "no", "nr", "number", "ref", "key", "uuid")
_NAME_KEYS = ("name", "label", "title", "id")


def as_text(value: object) -> str | None:
    """A value as the text of a cell, of an object its name; None if it has none."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, dict):
        fields = cast(Object, value)
        return next((text for key in _NAME_KEYS if (text := fields.get(key)) and isinstance(text, str)), None)
    return None if isinstance(value, list) else " ".join(str(value).split())


def is_text(value: object) -> bool:
    """Whether a field holds a text, or a number."""
    return isinstance(value, str) and bool(value.strip())


def are_objects(value: object) -> bool:
    """Whether a field holds a list of nothing but objects."""
    items = cast(list[object], value) if isinstance(value, list) else []
    return bool(items) and all(isinstance(v, dict) for v in items)


def id_key(records: Sequence[Object], called: str, *, leading: bool = False) -> str:
    """The field that says which each object is, "" for none: *id*, *branch id* of a `called` one, *name*.

    `leading`: the first field may be the id of anything: *staff id* of a manager.
    """
    first = records[0] if records else {}
    shared = [key for key in first if all(is_text(one.get(key)) for one in records)]
    words = {key: header_words(key).split(" ") for key in shared}
    plain = [key for word in ID_WORDS for key in shared if words[key] == [word]]
    own = [key for key in shared if words[key][-1] in _ID_ENDS and words[key][:-1] == called.split(" ")]
    other = [key for key in [*first][:leading] if key in words and words[key][-1] == "id"]
    named = [key for key in shared if words[key] == ["name"]]
    return next(iter((*plain, *own, *other, *named)), "")


# Arrays of objects at any depth.


@dataclass(slots=True)
class Collections:
    """Arrays of objects by what they are called, "" for what only the file names; what is left out."""

    objects: dict[str, Iterable[Object]] = field(default_factory=dict[str, Iterable[Object]])
    left_out: list[str] = field(default_factory=list[str])
    is_empty: bool = False
    """Whether there are arrays, of which none holds anything."""


def collections_of(document: object) -> Collections:
    """Find the arrays and maps of objects of a document."""
    around = Collections()
    found = list(_arrays(document, (), around))
    of_name: dict[str, list[tuple[tuple[str, ...], list[Object]]]] = {}
    for names, objects in found:
        said = [name for name in names if not _says_nothing(name)]
        of_name.setdefault(said[-1] if said else "", []).append((names, objects))
    for name, parts in of_name.items():
        whole = [one for _, objects in parts for one in objects]
        keys = set(_common_keys(whole))
        are_alike = all(2 * len(keys & objects[0].keys()) > len(objects[0]) for _, objects in parts)
        if len(parts) == 1 or (are_alike and not _clash(whole, id_key(whole, _noun(name)))):
            around.objects[name] = whole
        else:  # of several places, and not of one kind, or with one id of two things
            largest = max(parts, key=lambda part: len(part[1]))
            for part in parts:
                called = name if part is largest and not name else " ".join(filter(None, part[0][-2:]))
                around.objects[called] = [*around.objects.get(called, ()), *part[1]]
    around.is_empty = around.is_empty and not found
    return around


def _arrays(
    value: object, names: tuple[str, ...], around: Collections
) -> Iterator[tuple[tuple[str, ...], list[Object]]]:
    """The arrays of objects of a value, each with the names of the fields on the way to it."""
    fields = cast(Object, value) if isinstance(value, dict) else {}
    items = cast(list[object], value) if isinstance(value, list) else []
    if value == []:
        around.is_empty = True
    elif len(names) > DEEPEST or not (fields or items):
        around.left_out.append(" ".join(filter(None, names)))
    elif fields:
        rows = [fields] if _is_tree(fields) else _rows_of_map(fields, is_inner=bool(names))
        if rows:
            yield names, rows
        for name, inner in () if rows else fields.items():
            yield from _arrays(inner, (*names, name), around)
    else:
        objects = [cast(Object, one) for one in items if isinstance(one, dict)]
        inner_lists = [cast(list[object], one) for one in items if isinstance(one, list)]
        lists = [of for of in inner_lists if any(isinstance(one, dict | list) for one in of)]
        if objects:
            yield names, objects
        for one in lists:
            yield from _arrays(one, (*names, ""), around)
        if count := len(items) - len(objects) - len(lists):
            of = f"of the {len(items):,} items of {' '.join(filter(None, names)) or 'the array'}"
            around.left_out.append(f"{count:,} {of}")


def _says_nothing(name: str) -> bool:
    return name.startswith("_") or set(header_words(name).split(" ")) <= _AROUND | {""}


def _is_tree(fields: Object) -> bool:
    """Whether an object is as those within it, and so a row: it has their id, and their list of others."""
    for name, inner in fields.items():
        objects = cast(list[Object], inner) if are_objects(inner) else []
        key = id_key([fields, *objects], "") if objects else ""
        if key and any(isinstance(one.get(name), list) for one in objects):
            return True
    return False


def _rows_of_map(fields: Object, *, is_inner: bool) -> list[Object]:
    """The objects of a map with their names; none if these are not alike, or hold nothing but objects.

    Those of an inner one say at least two things: others are links, *self* and *next*.
    """
    objects = [cast(Object, value) for value in fields.values() if isinstance(value, dict)]
    keys = _common_keys(objects)
    if not 2 <= len(objects) == len(fields) or len(keys) <= is_inner:
        return []
    if any(_says_nothing(key) and are_objects(value) for one in objects for key, value in one.items()):
        return []  # pages of several arrays
    if all(isinstance(value, dict) for one in objects for value in one.values()):
        return []
    names = (ROW_NAME, *ID_WORDS)
    if any(all(one.get(key) == name for name, one in zip(fields, objects, strict=True)) for key in names):
        return objects
    free = next((key for key in names if all(key not in one for one in objects)), "")
    return [{free: name, **one} for name, one in zip(fields, objects, strict=True)] if free else objects


def _common_keys(objects: Sequence[Object]) -> list[str]:
    """The fields that most objects have; none if most that they have are others."""
    counts = Counter(key for one in objects for key in one)
    common = [key for key, count in counts.items() if count > ALIKE_SHARE * len(objects)]
    return common if sum(map(counts.__getitem__, common)) > ALIKE_SHARE * counts.total() else []


@dataclass(frozen=True, slots=True)
class Envelope:
    """Fields under which records keep what they say, and those that only say of all that they are records."""

    names: Sequence[str] = ()
    marks: Sequence[str] = ()

    @classmethod
    def of(cls, records: Sequence[Object]) -> Envelope:
        """The envelopes of records, by the first of them."""
        names = dict.fromkeys(name for one in records for name in one if is_envelope(name))
        names = [name for name in names if all(isinstance(one.get(name, {}), dict) for one in records)]
        first = records[0] if names else {}
        same = [name for name in first if len({str(one.get(name)) for one in records}) == 1]
        marks = [name for name in same if name.startswith("_") or _says_nothing(str(first[name]))]
        return cls(names, [name for name in marks if name not in names])

    def open(self, record: Object) -> Object:
        """A record with what is in its envelopes beside what is around it."""
        if not self.names:
            return record
        inner = [record[name] for name in self.names if isinstance(record.get(name), dict)]
        said = {key: value for part in inner for key, value in cast(Object, part).items()}
        return without(record, *self.names, *self.marks) | said


def is_envelope(name: str) -> bool:
    """Whether a field is called as what keeps all that a record says."""
    return name in ENVELOPES or (name.startswith("_") and len(name) > 1)


def without(record: Object, *names: str) -> dict[str, Any]:
    """An object without some of its fields."""
    return {key: value for key, value in record.items() if key not in names}


def _clash(objects: Iterable[Object], key: str) -> bool:
    """Whether one id is of objects that say different things."""
    said: dict[object, dict[str, object]] = {}
    for one in objects if key else ():
        plain = {name: value for name, value in one.items() if not isinstance(value, dict | list | None)}
        known = said.setdefault(one.get(key), plain)
        if any(known.setdefault(name, value) != value for name, value in plain.items()):
            return True
    return False


# What stands within objects.


@dataclass(slots=True)
class Split:
    """How objects are split in rows of a table and of those of what stands within them.

    `things` are the fields of objects with an id, and which that is; `rows` those of lists of other objects,
    and the field that only counts in a list. `found` are the rows by their fields, those of things by their
    ids. `leads` says of each table, "" for the objects themselves, which columns lead to which other.
    """

    id: str = ""
    called: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the object around the rows of a field is called."""
    things: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: Mapping[str, str] = field(default_factory=dict[str, str])
    nested: Set[str] = frozenset()
    """Those of `rows` in which there are others."""
    plain: Set[str] = frozenset()
    """Lists of objects that say one thing each, as links do."""
    found: dict[str, dict[str, list[Cells]]] = field(default_factory=dict[str, dict[str, list[Cells]]])
    leads: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    left_out: set[str] = field(default_factory=set[str])
    is_done: bool = False
    """Whether all objects were split, and are only read again."""

    @classmethod
    def of(cls, records: Sequence[Object], id_: str, noun: str, kind: str) -> Split:
        """Tell what stands within objects by the first of them.

        Without an `id_` of theirs there are no rows within. They are a `noun`, or what the field `kind` says.
        """
        inner: dict[str, list[Object]] = {}
        listed, single, mixed, level = set[str](), set[str](), set[str](), list(records)
        while level:
            next_level: list[Object] = []
            for name, value in ((name, value) for record in level for name, value in record.items()):
                objects = [cast(Object, value)] if isinstance(value, dict) else value
                if are_objects(objects):
                    (single if isinstance(value, dict) else listed).add(name)
                    filled = [one for one in cast(list[Object], objects) if any(map(_is_said, one.values()))]
                    inner.setdefault(name, []).extend(filled)
                    next_level += filled
                elif _is_said(value):
                    mixed.add(name)
            level = next_level
        things, rows, plain = dict[str, str](), dict[str, str](), set[str]()
        for name, objects in inner.items():
            key = "" if name in mixed else id_key(objects, _noun(name), leading=name not in listed)
            counts = name in listed and _clash(objects, key)
            if key and not counts and any(len(one) > 1 for one in objects):
                things[name] = key
            elif name in listed - mixed - single and all(len(one) == 1 for one in objects):
                plain.add(name)
            elif name in listed - mixed - single and (counts or not key):
                rows[name] = key if header_words(key) in ID_WORDS else ""
        nested = {name for name in rows if any(key in rows for one in inner[name] for key in one)}
        kinds: dict[str, set[str]] = {}
        for record in records:
            for name in record.keys() & rows.keys():
                kinds.setdefault(name, set()).add(as_text(record.get(kind)) or noun)
        called = {name: str(*of) if len(of) == 1 else noun for name, of in kinds.items()}
        return cls(id_, called, things, rows, nested, plain)

    def row(self, record: Object) -> Cells:
        """The cells of an object; what stands within it is added to `found`, unless all `is_done`."""
        within: deque[_Row] = deque()
        cells = _Row(self, "", record, {}, _shown(record.get(self.id)), within).filled()
        while within and not self.is_done:
            row = within.popleft()
            said = row.filled()
            same = self.found.setdefault(row.table, {}).setdefault(row.id * (row.table in self.things), [])
            known = next((one for one in (*same[:1], *same[-1:]) if _may_be_one(one, said)), None)
            if known is None or row.table in self.rows:
                same.append(said)
            else:
                known |= {name: cell for name, cell in said.items() if cell}
        return cells


@dataclass(slots=True)
class _Row:
    """An object as a row of a table, known by an id; what stands `within` it is put there."""

    split: Split
    table: str
    record: Object
    cells: Cells
    id: str
    within: deque[_Row]

    def filled(self) -> Cells:
        """Its cells."""
        self._fill(self.record, ())
        return self.cells

    def _fill(self, record: Object, names: tuple[str, ...]) -> None:
        for key, value in record.items():
            inner = names if names and is_envelope(key) else (*names, key.strip())
            is_counter = not names and key and key == self.split.rows.get(self.table)
            name = f"{_noun(self.table)} {key}" if is_counter else " ".join(filter(None, inner))
            if isinstance(value, dict):
                id_ = self._thing(name, key, cast(Object, value))
                if id_ or not any(map(_is_said, cast(Object, value).values())):
                    self.cells[name] = id_
                elif len(inner) <= DEEPEST:
                    self._fill(cast(Object, value), inner)
                else:
                    self.split.left_out.add(name)
            elif self.id and key in self.split.rows and (value == [] or are_objects(value)):
                for number, one in enumerate(cast(list[Object], value), 1):
                    self._put_row(key, one, number)
            elif isinstance(value, list):
                self.cells[name] = self._items(name, key, cast(list[object], value))
            else:
                self.cells[name] = as_text(value) or ""

    def _items(self, name: str, key: str, values: Sequence[object]) -> list[str]:
        """The texts of a list, of things their ids."""
        if key in self.split.plain and are_objects(values):
            values = [one for value in values for one in cast(Object, value).values()]
        objects = (cast(Object, one) if isinstance(one, dict) else {} for one in values)
        things = [self._thing(name, key, one) for one in objects]
        items = [thing or as_text(value) for thing, value in zip(things, values, strict=True)]
        if None in items:
            self.split.left_out.add(name)
        return [item for item in items if item]

    def _thing(self, column: str, field: str, value: Object) -> str:
        """The id of an object in a field, "" for one that is no thing of its own."""
        id_ = _shown(value.get(self.split.things.get(field, "")))
        if id_:
            self.split.leads.setdefault(self.table, {})[column] = field
            self.within.append(_Row(self.split, field, value, {}, id_, self.within))
        return id_

    def _put_row(self, field: str, value: Object, number: int) -> None:
        """Put an object of a list, which refers to this one."""
        called = _noun(self.table) if self.table else self.split.called[field]
        called = f"of {called}" if called in value else called
        self.split.leads.setdefault(field, {})[called] = self.table
        id_ = f"{self.id}, {_noun(field)} {number}" if field in self.split.nested else ""
        cells: Cells = {"id": id_, called: self.id} if id_ else {called: self.id}
        self.within.append(_Row(self.split, field, value, cells, id_, self.within))


def _noun(field: str) -> str:
    return singular(header_words(field))


def _is_said(value: object) -> bool:
    return value not in (None, "", [], {})


def _shown(value: object) -> str:
    """An id as the text of a cell."""
    return (as_text(value) or "") if is_text(value) else ""


def _may_be_one(first: Cells, second: Cells) -> bool:
    """Whether nothing that two rows say differs."""
    return all(not cell or first.get(name, cell) in (cell, "", []) for name, cell in second.items())
