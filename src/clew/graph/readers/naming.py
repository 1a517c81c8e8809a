"""Which column says what a row is called: by its header, else by its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.graph.readers.column_types import ColumnProfile
from clew.graph.readers.columns import NameColumns, header_words

NAMES = (
    "name", "full name", "display name", "nom", "nombre", "nome", "naam", "namn", "navn", "nimi", "nazwa",
    "název", "név", "имя", "название", "наименование", "名称", "名前", "姓名", "이름", "isim", "ad", "الاسم",
    "label", "pref label", "title", "titre", "título", "titulo", "titel", "titolo", "tytuł", "标题",
    "bezeichnung", "libellé", "etiqueta", "etichetta", "caption", "headline",
)  # fmt: skip
"""What a column of names is called, the surest first."""
DESCRIPTIONS = ("desc", "description", "beschreibung", "descripción", "descrizione", "descrição")
"""What names rows where nothing else does."""
_PAIRS = (
    ("first name", "last name"), ("firstname", "lastname"), ("first", "last"), ("given name", "family name"),
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


def names_by_header(headers: Sequence[str], taken: Sequence[int | None]) -> NameColumns:
    """The columns that name rows by their headers, apart from those that are `taken` by something else.

    >>> names_by_header(["id", "firstName", "lastName", "title"], [0])
    ((1, 2), (3,))
    """
    words = ["" if at in taken else header_words(header) for at, header in enumerate(headers)]
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
    """Whether it is *product name*, which names a row where nothing else does."""
    parts = words.split(" ")
    return len(parts) > 1 and parts[-1] in ("name", "label", "title") and parts[0] not in _PARTS


_PARTS = ("first", "last", "given", "family", "middle", "job", "file", "user", "nick")


def says_name(header: str) -> bool:
    """Whether the last word of a header is one of names."""
    return header_words(header).split(" ")[-1] in NAMES


def names_by_cells(profiles: Mapping[int, ColumnProfile]) -> NameColumns:
    """The column of texts that is most unique and written as names are; nothing if none is."""
    candidates = [(profile.unique, -at) for at, profile in profiles.items() if _are_names(profile)]
    return ((-max(candidates)[1],),) if candidates else ()


def _are_names(profile: ColumnProfile) -> bool:
    """Whether cells are words that begin in upper case, short, and nearly all distinct."""
    cells = [cell for cell in profile.distinct if cell]
    if not cells or profile.empty or profile.unique < UNIQUE_SHARE:
        return False
    named = sum(
        cell[0].isupper() and not cell.isupper() and "://" not in cell and "@" not in cell for cell in cells
    )
    return named >= UNIQUE_SHARE * len(cells) and sum(map(len, cells)) <= LONGEST_NAME * len(cells)
