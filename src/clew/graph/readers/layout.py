"""What the columns of a table are: found in its header and first rows, or as the user says.

A table is one of edges (a row is a triple: `from,to,type`; Neo4j's `:START_ID`; Gephi's `Source,Target`), one
of nodes (a row is an entity, known by an id: `id,name,year`; Neo4j's `:ID`), both at once (APOC's `_id`,
`_labels`, `_start`, `_end`, `_type`), or a wide one, whose rows are entities named by one of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from clew.errors import UsageError
from clew.graph.readers.columns import (
    KEY,
    LINKED_TO,
    NAMES,
    Column,
    EdgeColumns,
    Layout,
    NodeColumns,
    header_words,
    known_layout,
    names_by_header,
    says_name,
)
from clew.graph.readers.hints import Hints
from clew.graph.values import FIRST_YEAR, LAST_YEAR, is_value, numeric_day, read_amount

TRIPLE_COLUMNS = 3
FEW_LETTERS = 2

_ENDS = (
    ("head", "tail"), ("subject", "object"), ("subj", "obj"), ("source", "target"), ("src", "dst"),
    ("source", "destination"), ("src", "dest"), ("origin", "destination"), ("origin", "dest"),
    ("from", "to"), ("start", "end"), ("u", "v"), ("s", "o"),
    ("entity", "value"), ("1", "2"),
    ("source", "cible"), ("quelle", "ziel"), ("fuente", "destino"), ("origen", "destino"),
    ("origem", "destino"), ("fonte", "destino"), ("origine", "destinazione"), ("sorgente", "destinazione"),
    ("bron", "doel"), ("zdroj", "cíl"), ("источник", "цель"), ("源", "目标"), ("ソース", "ターゲット"),
)  # fmt: skip
"""What the two ends of an edge are called together, without words as `id` beside them."""
_LABELS = (
    "label", "étiquette", "libellé", "beschriftung", "bezeichnung", "etiqueta", "etichetta", "rótulo",
)  # fmt: skip
_RELATIONS = (
    "relation", "relationship", "predicate", "property", "relation type", "relationship type", "edge type",
    "rel", "rel type", "link type", "interaction", "edge", "p", "relación", "relação", "beziehung", "type",
    "kind", *_LABELS,
)  # fmt: skip
_TYPES = ("type", "typ", "tipo", "тип", "类型")
"""How Gephi calls the column that says whether an edge has a direction."""
_KINDS, _THINGS = ("type", "entity type", "node type", "kind"), ("entity", "node", "thing", "subject", "head")
_BESIDE = {"id", "node", "name", "entity", "key", "iri", "uri"}
_IDS = ("id", "node id", "node", "identifier", "key", "pk", "uri", "iri", "uuid")
_DIRECTIONS = {
    **dict.fromkeys(
        ("directed", "dirigé", "orienté", "gerichtet", "dirigido", "dirigida", "diretto", "有向"), False
    ),
    **dict.fromkeys(("undirected", "mutual", "non dirigé", "non orienté", "ungerichtet"), True),
    **dict.fromkeys(("no dirigido", "no dirigida", "não dirigido", "non diretto", "mutuel", "无向"), True),
}
_COUNTED = ("id", "no", "nr", "number", "num", "code", "key", "nummer", "numero", "número", "numéro")
"""Last words of a column of numbers that are ids all the same."""
_LONG = range(5, 20)
"""Digits of numbers that are ids rather than amounts, where all have as many."""
_NUMBER_SIGNS = ("#", "n°", "nº", "№")
_INDEX = re.compile(r"(?:Unnamed: ?\d+)?")
"""The header of a column that counts rows, as data frames write it."""
_NUMBER = re.compile(r"\d+")


def layout_of(
    cells: Sequence[str],
    rows: Sequence[Sequence[str]],
    hints: Hints,
    *,
    headed: bool = False,
    called: str = "",
) -> Layout | None:
    """Find the layout of a table whose first record is `cells`, followed by `rows`; None if it is no table.

    `headed`: the first record is known to be a header. `called`: the name of its file. Raises
    UsageError if the user names a column that is not there.
    """
    if hints.columns or hints.id is not None:
        return _layout_by_hints(cells, rows, hints)
    known = known_layout(cells, hints.known, called)
    if known is not None:
        return known
    columns = tuple(Column.of(cell) for cell in cells)
    full_rows = [row for row in rows if len(row) == len(cells)]
    layout = (
        _result_layout(cells, columns)
        or _type_list(columns, full_rows, called)
        or _mixed_layout(columns)
        or _edge_layout(columns, full_rows, hints)
        or _node_layout(columns, full_rows)
    )
    headed = headed or _names_rows(cells, full_rows, called)
    if layout is None and (headed or _is_wide(cells, full_rows)):
        # Records of three texts each may be triples.
        texts = len(cells) == 3 and all(c and not is_value(c) for row in (cells, *full_rows) for c in row)
        wide = _wide_layout(columns, full_rows, called)
        layout = replace(wide, may_be_triples=not headed and texts)
    if layout is None and not headed:
        edges = None
        if len(cells) == 2 and rows:
            edges = EdgeColumns(0, 1, relation_name=hints.relation or LINKED_TO)
        elif len(cells) == TRIPLE_COLUMNS and hints.undirected:
            edges = EdgeColumns(0, 2, 1)
        layout = edges and Layout(tuple(Column("") for _ in cells), edges, header=False)
    return None if layout is None else _with_other_columns(layout)


def _layout_by_hints(cells: Sequence[str], rows: Sequence[Sequence[str]], hints: Hints) -> Layout:
    """The layout that the user says; by numbers alone, there is no header.

    A table of edges may lack the column of ids, and one of nodes those of edges: the user says them of all
    sources.
    """
    no_id = hints.id is not None and column_place(cells, hints.id) is None
    no_ends = bool(hints.columns) and all(column_place(cells, c) is None for c in hints.columns.values())
    if no_id or no_ends:
        other_hints = replace(hints, id=None if no_id else hints.id, columns={} if no_ends else hints.columns)
        layout = layout_of(cells, rows, other_hints)
        if layout is not None and (no_ends if layout.edges is None else no_id):
            lacking = (*([hints.id or ""] if no_id else []), *(hints.columns.values() if no_ends else ()))
            return replace(layout, lacking=lacking)
    named_columns = [*hints.columns.values(), *([] if hints.id is None else [hints.id])]
    by_number = all(column.isdecimal() and column not in cells for column in named_columns)
    column_of = Column if hints.id is None else Column.of
    columns = tuple(Column("") if by_number else column_of(cell) for cell in cells)
    at = {role: _place(cells, column) for role, column in hints.columns.items()}
    edges = nodes = None
    if at:
        edges = EdgeColumns(at["head"], at["tail"], at.get("relation"), hints.relation or LINKED_TO)
    if hints.id is not None:
        nodes = _node_columns(columns, _place(cells, hints.id))
        if nodes.names and columns[nodes.id].name and header_words(columns[nodes.id].name) not in _IDS:
            # Of an airport called by its name, its code can be asked.
            nodes = replace(nodes, properties=(nodes.id, *nodes.properties))
    return _with_other_columns(Layout(columns, edges, nodes, not by_number))


def column_place(cells: Sequence[str], column: str) -> int | None:
    """The place of a column by its name or its number from 1."""
    names = [cell.lower() for cell in cells]
    if column.lower() in names:
        return names.index(column.lower())
    if column.isdecimal() and len(column) < 10 and 1 <= int(column) <= len(cells):
        return int(column) - 1
    return None


def _place(cells: Sequence[str], column: str) -> int:
    place = column_place(cells, column)
    if place is not None:
        return place
    raise UsageError(f"there is no column {column!r}. The table has: {', '.join(cells)}")


def _type_list(columns: Sequence[Column], rows: Sequence[Sequence[str]], called: str) -> Layout | None:
    """Two columns that say the types of things: *entity, type*, or a file that is called `types.tsv`.

    Not one of types themselves, *id, name*: types come again.
    """
    if not lists_types(columns, called):
        return None
    headed = header_words(columns[1].name) in _KINDS
    is_table = header_words(columns[0].name) in _BESIDE.union(_IDS)
    if not headed and (is_table or 2 * len({row[1] for row in rows}) > len(rows)):
        return None
    shown = tuple(columns) if headed else (Column(""), Column(""))
    return Layout(shown, nodes=NodeColumns(0, (), 1, ()), header=headed)


def lists_types(columns: Sequence[Column], called: str) -> bool:
    """Whether a table says nothing but the types of things."""
    if len(columns) != 2 or any(column.role for column in columns):
        return False
    first, second = (header_words(column.name) for column in columns)
    of_things = first in _THINGS and second in _KINDS
    return of_things or header_words(called).split()[-1:] in (["types"], ["kinds"])


def _mixed_layout(columns: Sequence[Column]) -> Layout | None:
    """Nodes and edges in one file, as APOC exports them."""
    at = {column.name: i for i, column in enumerate(columns)}
    if not {"_id", "_start", "_end"} <= at.keys():
        return None
    edges = EdgeColumns(at["_start"], at["_end"], at.get("_type"))
    special = ("_id", "_labels", "_start", "_end", "_type")
    names = names_by_header([column.name for column in columns], [at.get(name) for name in special])
    other_columns = tuple(i for i, column in enumerate(columns) if column.name not in special)
    labels = at.get("_labels")
    typed = (replace(c, role="label", delimiter=":") if i == labels else c for i, c in enumerate(columns))
    return Layout(tuple(typed), edges, NodeColumns(at["_id"], names, labels, other_columns))


def _result_layout(cells: Sequence[str], columns: Sequence[Column]) -> Layout | None:
    """Results of a query on Wikidata: variables, and their labels beside them (*item, itemLabel*)."""
    first = {name: at for at, name in reversed([*enumerate(cells)])}
    labels = {at: first[f"{name}Label"] for at, name in enumerate(cells) if name and f"{name}Label" in first}
    if not labels:
        return None
    id_, name = next(iter(labels.items()))
    others = {at: label for at, label in labels.items() if at != id_}
    properties = tuple(i for i in range(len(cells)) if i != id_ and i not in labels.values())
    names = ((name,),)
    nodes = NodeColumns(id_, names, None, properties, literals=False, references=(*others,), labels=others)
    return Layout(tuple(columns), nodes=nodes)


def _edge_layout(columns: Sequence[Column], rows: Sequence[Sequence[str]], hints: Hints) -> Layout | None:
    roles = {column.role: i for i, column in reversed(list(enumerate(columns)))}
    stems = [_stem(column.name) if not column.role else "" for column in columns]
    pairs = ((stems.index(a), stems.index(b)) for a, b in _ENDS if a in stems and b in stems)
    # *Start* and *end* of a few of the rows, as of floods among rivers, are no ends of edges.
    has_ids = any(header_words(column.name) in _IDS for column in columns)
    are_filled = {p: 2 * sum(bool(row[p[0]] and row[p[1]]) for row in rows) >= len(rows) for p in pairs}
    filled = (pair for pair, are in are_filled.items() if are or not has_ids)
    ends = next((pair for pair in filled if not _is_period(rows, *pair)), None)
    if {"start_id", "end_id"} <= roles.keys():
        ends = roles["start_id"], roles["end_id"]
    if ends is None:
        return None
    words = [header_words(column.name) for column in columns]
    cells = [[row[i] for row in rows if row[i]] for i in range(len(columns))]
    types = [i for i, word in enumerate(words) if word in _TYPES and cells[i]]
    direction = next((i for i in types if all(cell.lower() in _DIRECTIONS for cell in cells[i])), None)
    relation = roles.get("type", roles.get("label"))
    if relation is None and hints.relation is None:
        free = [i for i, word in enumerate(words) if i not in (*ends, direction) and word in _RELATIONS]
        # Gephi writes the column of labels, mostly without any.
        said = [i for i in free if words[i] not in _LABELS or cells[i]]
        relation = min(said, key=lambda i: (_RELATIONS.index(words[i]), i), default=None)
    return Layout(tuple(columns), EdgeColumns(*ends, relation, hints.relation or LINKED_TO, direction))


def _is_period(rows: Sequence[Sequence[str]], first: int, last: int) -> bool:
    """Whether two columns are years, dates or depths from which and to which something was so."""
    cells = [row[i] for row in rows for i in (first, last) if row[i]]
    texts = (cell for row in rows for i, cell in enumerate(row) if cell and i not in (first, last))
    are_measures = any("." in cell for cell in cells)
    dated = bool(cells) and all(map(is_value, cells)) and (are_measures or not any(map(_is_id, cells)))
    return dated and not all(map(is_value, texts))


def _is_id(cell: str) -> bool:
    """Whether a number is none of a year or a date: an id."""
    return cell.isdecimal() and (len(cell) > 4 or not FIRST_YEAR <= int(cell) <= LAST_YEAR)


def _node_layout(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Layout | None:
    words = [header_words(column.name) if not column.role else "" for column in columns]
    plain = (
        words.index(word) for word in _IDS if word in words and _may_be_ids(words.index(word), words, rows)
    )
    id_ = next((i for i, column in enumerate(columns) if column.role == "id"), next(plain, None))
    return None if id_ is None else Layout(tuple(columns), nodes=_node_columns(columns, id_, rows))


def _may_be_ids(column: int, words: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column is called *id*, or tells rows apart; a *key* that is needed, or of music, is none."""
    cells = [row[column] for row in rows]
    if "id" in words[column].split() or not cells:
        return True
    has_codes = 2 * sum(any(map(str.isdigit, cell)) for cell in cells) > len(cells)
    return all(cells) and len(set(cells)) == len(cells) and (words[column] != "key" or has_codes)


def _node_columns(columns: Sequence[Column], id_: int, rows: Sequence[Sequence[str]] = ()) -> NodeColumns:
    """The other columns of nodes, by their names; of *type* and *kind* the one that more rows have."""
    plain = [column.name if not column.role else "" for column in columns]
    types = next((i for i, column in enumerate(columns) if column.role == "label"), None)
    if types is None:
        words = [header_words(name) for name in plain]
        called = [words.index(w) for w in ("type", "kind") if w in words] if "type" in words else []
        filled = {i: sum(bool(row[i]) for row in rows) for i in called if i != id_}
        types = max(filled, key=lambda i: filled[i], default=None)
    other_columns = tuple(i for i, name in enumerate(plain) if i not in (id_, types) and name)
    return NodeColumns(id_, names_by_header(plain, [id_, types]), types, other_columns)


def _is_wide(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first record is a header of columns, in words of its own."""
    names = [cell for i, cell in enumerate(cells) if not _INDEX.fullmatch(cell) or _are_names(rows, i)]
    if len(names) < 2 or len({name.lower() for name in names}) < len(names) or not rows:
        return False
    names_rows = header_words(cells[0]) in (*NAMES, *_IDS) and len(cells) != TRIPLE_COLUMNS
    if names_rows and not any(cells[0] in row for row in rows):
        return True
    if any(is_value(name) or len(name) > 60 for name in names):
        return False
    values = [{row[i] for row in rows if row[i]} for i in range(len(cells))]
    if any(cell in values[i] for i, cell in enumerate(cells)) or names[0] in values[-1]:
        return False
    if len(cells) != 3 or any(map(_INDEX.fullmatch, cells)) or KEY.fullmatch(cells[0]):
        return True
    if _is_triple(cells, rows):
        return False
    if any(found and all(map(is_amount, found)) for found in values):
        return True
    # Of triples, relations come again and again, and so do heads.
    if len(values[0]) < len(rows):
        return False
    return (len(rows) > 2 and 2 * len(values[1]) > len(rows)) or _calls_rows(cells, rows)


def is_amount(cell: str) -> bool:
    """Whether a cell is a number or a date, also with a currency or a unit."""
    return is_value(cell) or read_amount(cell) is not None or numeric_day(cell) is not None


def _calls_rows(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of three columns names the rows, and the second has names too, no relations.

    The header says so by a word (*name, country, population*), or is in small letters over names.
    """
    if header_words(cells[1]) in _RELATIONS or not all(_is_name(row[1]) for row in rows if row[1]):
        return False
    return says_name(cells[0]) or not any(map(_is_name, cells))


def _is_name(cell: str) -> bool:
    """Whether a cell is written as names are, and not as *LIVES_IN*."""
    return cell[:1].isupper() and not (cell.isupper() and len(cell) > 3)


def _is_triple(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first record of three cells is one as those below, and names no columns.

    What names a column stands nowhere below, is no address, and is not what most cells below are but for
    its number (*Q5*, *Q17*); nor are there relations in the middle, written unlike the names on both sides.
    """
    if any(cell in row for row in rows for cell in cells) or any("://" in cell for cell in cells):
        return True
    for i, cell in enumerate(cells):
        form = _NUMBER.sub("0", cell)
        if _NUMBER.search(cell) and 2 * sum(form == _NUMBER.sub("0", row[i]) for row in rows) > len(rows):
            return True
    return _joins(cells) and 2 * sum(map(_joins, rows)) > len(rows)


def _joins(cells: Sequence[str]) -> bool:
    """Whether only the middle cell begins in lower case: *Rome, capital of, Italy*."""
    return [cell[:1].islower() for cell in cells] == [False, True, False]


def node_layout_of(cells: Sequence[str], rows: Sequence[Sequence[str]], called: str) -> Layout:
    """The layout of a table whose rows are known to be things of their own; as `layout_of`."""
    columns, full_rows = tuple(map(Column.of, cells)), [row for row in rows if len(row) == len(cells)]
    return _with_other_columns(_node_layout(columns, full_rows) or _wide_layout(columns, full_rows, called))


def _wide_layout(columns: Sequence[Column], rows: Sequence[Sequence[str]], called: str = "") -> Layout:
    """Rows are known by an unnamed column of names, a unique key, name or text, two cells, or a number."""
    candidates = [i for i, column in enumerate(columns) if not _INDEX.fullmatch(column.name)]
    name_column = [i for i in range(len(columns)) if i not in candidates and _are_names(rows, i)][:1]
    candidates = name_column + candidates
    # 7 as an order is no 7 as a customer.
    grouped_columns = tuple(replace(c, group=c.name) if KEY.fullmatch(c.name) else c for c in columns)
    cells = {i: [row[i] for row in rows] for i in candidates}
    unique = [i for i in candidates if all(cells[i]) and len(set(cells[i])) == len(rows)]
    names = [i for i in candidates if says_name(columns[i].name)]
    keys = [i for i in unique if grouped_columns[i].group]
    texts = [i for i in unique if not any(map(is_amount, cells[i]))]
    codes = [i for i in unique if not all(map(is_amount, cells[i]))]
    numbers = [i for i in unique if _are_numbers_of_rows(columns[i].name, cells[i])]
    parts = next((at for at in names_by_header([c.name for c in columns], []) if len(at) == 2), None)
    if parts is not None and not keys:
        keys = [i for i in numbers if i < min(parts)]  # `staff_no`, before first and last name
    said = [*name_column, *keys, *(i for i in names if i in unique)]
    if candidates and candidates[0] in unique and _counts_rows(columns[candidates[0]], called):
        said.append(candidates[0])
    if parts is not None and not keys and len({tuple(row[i] for i in parts) for row in rows}) == len(rows):
        nodes = NodeColumns(parts[0], (), None, tuple(candidates), literals=False, key=parts[1:], join=" ")
        return Layout(grouped_columns, nodes=nodes)
    id_candidates = [*said, *texts, *codes, *numbers]
    if not id_candidates and names and candidates[0] in unique and candidates[0] < names[0]:
        id_candidates = said = [candidates[0]]  # `payroll`, before names that come twice
    pair = None if id_candidates else _key_pair(cells, len(rows))
    key: tuple[int, ...] = ()
    if pair is not None:
        id_, key = pair[0], pair[1:]
        # What refers to something else is no part of a name, nor is a date, but of what has a name.
        other = any(grouped_columns[i].group for i in pair)
        numbered = other or (id_ not in names and any(map(_is_day, cells[key[0]])))
    else:
        id_ = next(iter((*id_candidates, *candidates)))
        numbered = id_ not in said and (bool(grouped_columns[id_].group) or all(map(is_amount, cells[id_])))
        numbered = numbered and id_ not in numbers
    if numbered:
        return Layout(grouped_columns, nodes=NodeColumns(id_, (), None, tuple(candidates))).numbered_rows()
    known = id_ in unique and id_ not in names
    row_names = names_by_header([c.name for c in columns], [id_]) if known else ()
    other_columns = tuple(i for i in candidates if i != id_ or key)
    nodes = NodeColumns(id_, row_names, None, other_columns, literals=False, key=key, guessed=id_ not in said)
    return Layout(grouped_columns, nodes=nodes)


def _names_rows(cells: Sequence[str], rows: Sequence[Sequence[str]], called: str) -> bool:
    """Whether a first record names what the file holds, *place* of places.csv, and no row has its cells."""
    noun = header_words(called)
    is_said = any(
        len(word) > FEW_LETTERS and noun in (f"{word}s", f"{word}es") for word in map(header_words, cells)
    )
    return is_said and not any(cell in row for row in rows for cell in cells)


def _are_numbers_of_rows(name: str, cells: Sequence[str]) -> bool:
    """Whether different numbers are ids: *flight no*, *OBJECTID*, or all of one length, which is long."""
    last = header_words(name).split(" ")[-1]
    is_long = all(cell.isdecimal() for cell in cells) and {len(cell) for cell in cells} <= set(_LONG)
    return last in _COUNTED or last.endswith("id") or (is_long and len({len(cell) for cell in cells}) == 1)


def _counts_rows(column: Column, called: str) -> bool:
    """Whether a first column is called as what counts rows, or as what its file holds: *Sud* of Sude.csv."""
    words, file = header_words(column.name), header_words(called)
    is_noun = len(words) > FEW_LETTERS and file.startswith(words)
    return words.split(" ")[-1] in _COUNTED or column.name.strip() in _NUMBER_SIGNS or is_noun


def _is_day(cell: str) -> bool:
    """Whether a cell is a date, and no year."""
    return is_amount(cell) and read_amount(cell) is None


def _are_names(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether each row has a cell of its own there, and these are no numbers that count them."""
    cells = [row[column] for row in rows]
    return all(cells) and len(set(cells)) == len(cells) and not all(cell.isdecimal() for cell in cells)


def _key_pair(cells: Mapping[int, Sequence[str]], rows: int) -> tuple[int, int] | None:
    """The first two columns whose cells are unique together, that of texts first, as a place and a year."""
    full_columns = [i for i, values in cells.items() if all(values) and not any(map(_is_measure, values))]
    texts = {i for i in full_columns if not any(map(is_value, cells[i]))}
    pairs = ((i, j) for i, j in combinations(full_columns, 2) if i in texts or j in texts)
    unique = [(i, j) for i, j in pairs if len(set(zip(cells[i], cells[j], strict=True))) == rows]
    # A column that is unique alone, as a price may be, makes no pair.
    unique.sort(key=lambda pair: any(len(set(cells[i])) == rows for i in pair))
    words = {i for i in texts if any(map(str.isalpha, "".join(cells[i])))}
    return next(((j, i) if j in words - {i} and i not in words else (i, j) for i, j in unique), None)


def _is_measure(cell: str) -> bool:
    """Whether a cell is a number with a fraction, a currency or a unit, which measures something."""
    amount = read_amount(cell)
    return amount is not None and (not cell.isdecimal() or bool(amount.unit))


def _with_other_columns(layout: Layout) -> Layout:
    """Note the columns that are not read."""
    used, nodes, edges = set[int | None](), layout.nodes, layout.edges
    if edges is not None:
        used |= {edges.head, edges.tail, edges.relation, edges.direction}
    if nodes is not None:
        used |= {nodes.id, nodes.types, *nodes.properties, *nodes.labels.values()}
        used |= {column for columns in nodes.names for column in columns}
    unused = [i for i, c in enumerate(layout.columns) if i not in used and c.role != "ignore" and c.name]
    if edges is None:
        return replace(layout, left_out=tuple(layout.columns[i].name for i in unused))
    # Of a table of both, each row has cells in the columns that are its own.
    own = sorted({*unused, *(nodes.properties if nodes is not None else ())})
    properties = tuple(i for i in own if not _INDEX.fullmatch(layout.columns[i].name))
    return replace(layout, edges=replace(edges, properties=properties))


def _stem(name: str) -> str:
    """The words of a name without `id`, `node` and the like, unless nothing else is there."""
    words = header_words(name).split(" ")
    return " ".join(word for word in words if word not in _BESIDE) or " ".join(words)


def goes_both_ways(cell: str) -> bool:
    """Whether an edge of this direction (Gephi's) has none."""
    return _DIRECTIONS.get(cell.lower(), False)
