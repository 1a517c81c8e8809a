"""CRAG (Yang et al., NeurIPS 2024): questions of five domains, and its mock KG as triples.

Questions are JSON lines (`crag_task_1_and_2_dev_v*.jsonl.bz2`, or any `*questions*.jsonl`) with `query`,
`answer`, `alt_ans`. A question with a false premise has no gold: the right thing is not to answer it. Split
1 is the public test set, 0 validation. The mock KG is `cragkg/`:

| domain | files | triples |
|---|---|---|
| open | `kg.*.jsonl.bz2` | attributes of entities |
| movie | `movie_db.json`, `person_db.json` | attributes; a crew member's job is a relation |
| music | `artist_dict_simplified`, `song_dict_simplified`, `artist_work_dict` (pickles) | attributes, works |
| finance | `company_name.dict` (CSV), `finance_{info,marketcap,dividend}.sqlite` | attributes of companies |
| sports | `nba.sqlite` | attributes of games |

Pickles are read as plain values, and no code in them is run. `omission_notes` says what is left out: tables
that are pickled objects of pandas, and series of prices and chart positions, which are no facts about
entities.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from clew.errors import InputError, ParseError
from clew.evaluate.datasets.base import (
    DatasetAbout,
    choose_split,
    find_file,
    find_optional,
    json_document,
    json_lines,
    lines,
    plain_pickle,
    plain_pickle_of,
    read_each,
    unique,
    write_triples,
)
from clew.evaluate.records import DatasetPart, EvalQuestion, GoldAnswer, GraphSource
from clew.types import TripleText

_QUESTIONS = ["crag_task_1*.jsonl", "crag_*.jsonl", "*questions*.jsonl", "dev_data.jsonl"]
_SPLITS = {"test": "1", "dev": "0"}
_FALSE = ("invalid question", "false_premise")
_KG = ("cragkg", "mock_api/cragkg")
_LEFT_OUT = (
    *("music/grammy_df.pickle", "music/rank_dict_hot100.pickle", "music/song_dict_hot100.pickle"),
    *("finance/finance_price.sqlite", "finance/finance_detailed_price.sqlite"),
    "sports/soccer_team_match_stats.pkl",
)
_GAME = ("team_name_home", "team_name_away", "game_date")


class Crag:
    """One part, `all`; or a domain: `finance`, `music`, `movie`, `sports`, `open`."""

    splits = ("test", "dev")
    about = DatasetAbout(
        name="crag",
        title="CRAG: questions of five domains with a mock KG",
        source="https://github.com/facebookresearch/CRAG",
        licence="CC BY-NC 4.0",
        files="crag_task_1_and_2_dev_v4.jsonl.bz2, cragkg/ or mock_api/cragkg/ (all five domains)",
        cite="Yang et al.: CRAG - Comprehensive RAG Benchmark, NeurIPS 2024",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, if questions are there."""
        return ("all",) if find_optional(folder, _QUESTIONS) is not None else ()

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read the questions of a split, of all domains or one; raises as `DatasetReader.read`."""
        file = find_file(folder, _QUESTIONS, "file of questions")
        split = choose_split(self.splits, self.splits, split, folder)
        split_code = _SPLITS[split]
        rows = (
            (number, row)
            for number, row in json_lines(file)
            if str(row.get("split", split_code)) == split_code and part in ("all", row.get("domain"))
        )
        questions = read_each(rows, file, "CRAG", _question)
        graph = next((folder / name for name in _KG if (folder / name).is_dir()), None)
        name, unique_questions = f"crag/{part}/{split}", unique(questions, file)
        if graph is None:
            return DatasetPart(name, unique_questions, (file,))
        source = GraphSource(make=lambda path: write_triples(graph_triples(graph), path))
        return DatasetPart(name, unique_questions, (file,), source, notes=omission_notes(graph))


def _question(number: int, row: dict[str, Any]) -> EvalQuestion:
    answer, kind = str(row["answer"]), str(row.get("question_type", ""))
    is_false_premise = kind == "false_premise" or answer.strip().lower() in _FALSE
    others = row.get("alt_ans") or row.get("alternative_answers") or []
    others = json.loads(others) if isinstance(others, str) else others  # a list, or the text of one
    return EvalQuestion(
        id=row["interaction_id"],
        text=row["query"],
        gold=() if is_false_premise else (GoldAnswer(answer, tuple(map(str, others))),),
        kind=kind,
        line=number,
    )


def graph_triples(folder: Path) -> Iterator[TripleText]:
    """Yield the triples of all domains that are there.

    Raises ParseError (a line is not as the format wants it) and InputError (a file cannot be read, or holds
    more than plain values).
    """
    for file in sorted((folder / "open").glob("kg.*.jsonl*")):
        yield from _open(file)
    if (folder / "movie" / "movie_db.json").is_file():
        yield from _movies(folder / "movie")
    yield from _music(folder / "music")
    if (folder / "finance" / "company_name.dict").is_file():
        yield from _finance(folder / "finance")
    if (folder / "sports" / "nba.sqlite").is_file():
        yield from _games(folder / "sports" / "nba.sqlite")


def omission_notes(folder: Path) -> tuple[str, ...]:
    """Say which files of the graph are there and not read."""
    file_names = [name for name in _LEFT_OUT if (folder / name).is_file()]
    if not file_names:
        return ()
    return (
        f"Of the mock KG these are left out (pickled tables, and series by date): {', '.join(file_names)}",
    )


def _open(file: Path) -> Iterator[TripleText]:
    for number, text in lines(file):
        try:
            entry = json.loads(text)
        except json.JSONDecodeError as error:
            raise ParseError(str(file), number, f"not JSON ({error.msg})") from error
        if not isinstance(entry, list) or len(cast("list[object]", entry)) != 2:
            raise ParseError(str(file), number, "not [name, attributes]")
        name, attributes = cast("list[Any]", entry)
        yield from _attributes(str(name), attributes)


def _movies(folder: Path) -> Iterator[TripleText]:
    """Films and people; numbers of films become their titles, and a crew member's job a relation."""
    films = cast("dict[str, dict[str, Any]]", json_document(folder / "movie_db.json"))
    titles = {film.get("id"): str(film.get("title", name)) for name, film in films.items()}
    for name, film in films.items():
        title = str(film.get("title", name))
        for member in cast("list[dict[str, Any]]", film.get("crew", [])):
            if member.get("job"):
                yield TripleText(title, str(member["job"]).lower(), str(member["name"]))
        yield from _attributes(title, {k: v for k, v in film.items() if k not in ("id", "title", "crew")})
    people = folder / "person_db.json"
    if people.is_file():
        for name, person in cast("dict[str, dict[str, Any]]", json_document(people)).items():
            attributes = {key: value for key, value in person.items() if key not in ("id", "name")}
            for key in attributes:
                if key.endswith("_movies"):
                    attributes[key] = [titles.get(v, v) for v in cast("list[Any]", attributes[key])]
            yield from _attributes(str(person.get("name", name)), attributes)


def _music(folder: Path) -> Iterator[TripleText]:
    for stem in ("artist_dict_simplified", "song_dict_simplified"):
        for name, attributes in _plain_dict(folder / f"{stem}.pickle").items():
            yield from _attributes(name, attributes)
    for name, works in _plain_dict(folder / "artist_work_dict.pickle").items():
        yield from _attributes(name, works, "work")


def _plain_dict(file: Path) -> dict[str, Any]:
    """Read a pickled dictionary; empty where there is no file."""
    if not file.is_file():
        return {}
    content = plain_pickle(file)
    if not isinstance(content, dict):
        raise InputError(f"{file}: not a pickled dictionary")
    return {str(key): value for key, value in cast("dict[object, Any]", content).items()}


def _finance(folder: Path) -> Iterator[TripleText]:
    """Attributes of companies: what the databases hold of a ticker is said of the company."""
    file = folder / "company_name.dict"
    names: dict[str, str] = {}
    for number, row in enumerate(csv.DictReader(text for _, text in lines(file)), 2):
        name, symbol = row.get("Name"), row.get("Symbol")
        if not name or not symbol:
            raise ParseError(str(file), number, "no 'Name' and 'Symbol'")
        names[symbol] = name
        yield TripleText(name, "ticker symbol", symbol)
    for stem, relation in (("info", ""), ("marketcap", "market capitalization"), ("dividend", "dividend")):
        source = folder / f"finance_{stem}.sqlite"
        for symbol, blob in _rows(source, "SELECT key, value FROM unnamed ORDER BY key"):
            attributes = plain_pickle_of(BytesIO(blob), f"{source}, {symbol}")
            yield from _attributes(names.get(str(symbol), str(symbol)), attributes, relation)


def _games(file: Path) -> Iterator[TripleText]:
    """Attributes of games, each named by its teams and date."""
    columns = [str(row[1]) for row in _rows(file, "PRAGMA table_info(game)")]
    if not set(_GAME) <= set(columns):
        raise InputError(f"{file}: has no table 'game' with {', '.join(_GAME)}")
    for row in _rows(file, "SELECT * FROM game"):
        attributes = dict(zip(columns, row, strict=True))
        home, away, day = (str(attributes[name]) for name in _GAME)
        yield from _attributes(f"{home} – {away}, {day[:10]}", attributes)


def _rows(file: Path, query: str) -> Iterator[tuple[Any, ...]]:
    """Read rows of a SQLite file, which is not changed; nothing where there is no file."""
    if not file.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            yield from database.execute(query)
    except sqlite3.Error as error:
        raise InputError(f"{file}: cannot be read as SQLite ({error})") from error


def _attributes(name: str, value: Any, relation: str = "") -> Iterator[TripleText]:  # noqa: ANN401
    """Turn what JSON says of an entity into triples; an object with a name is that entity."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if relation and "name" in fields:
            yield TripleText(name, relation, str(fields["name"]))
            return
        for key, item in fields.items():
            yield from _attributes(name, item, f"{relation} {key}".strip())
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _attributes(name, item, relation)
    elif value is not None and relation and str(value).strip():
        yield TripleText(name, relation, str(value))
