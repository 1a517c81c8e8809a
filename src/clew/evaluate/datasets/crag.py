"""CRAG (Yang et al., NeurIPS 2024): questions of five domains, and its mock KG as triples.

Questions are JSON lines (`crag_task_1_and_2_dev_v*.jsonl.bz2`, or any `*questions*.jsonl`) with `query`,
`answer`, `alt_ans`. A question with a false premise has no gold: the right thing is not to answer it. Split
1 is the public test set, 0 validation. Of the mock KG (`cragkg/`), the domains `open` and `movie` are
turned into triples; `finance`, `music` and `sports` are SQLite files and pickled tables, which are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from clew.evaluate.datasets.base import About, find_file, find_optional, unique
from clew.evaluate.datasets.files import Fields, json_document, json_lines, lines
from clew.evaluate.datasets.triples import Triple, write_triples
from clew.evaluate.questions import EvalQuestion, GoldAnswer, GraphSource, Part

_QUESTIONS = ["crag_task_1*.jsonl", "crag_*.jsonl", "*questions*.jsonl", "dev_data.jsonl"]
_SPLITS = {"test": "1", "dev": "0"}
_FALSE = ("invalid question", "false_premise")
_KG = ("cragkg", "mock_api/cragkg")


class Crag:
    """One part, `all`; or a domain: `finance`, `music`, `movie`, `sports`, `open`."""

    splits = ("test", "dev")
    about = About(
        name="crag",
        title="CRAG: questions of five domains with a mock KG",
        source="https://github.com/facebookresearch/CRAG",
        licence="CC BY-NC 4.0",
        files="crag_task_1_and_2_dev_v4.jsonl.bz2, cragkg/open/kg.*.jsonl.bz2, cragkg/movie/*.json",
        cite="Yang et al.: CRAG - Comprehensive RAG Benchmark, NeurIPS 2024",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, if questions are there."""
        return ("all",) if find_optional(folder, _QUESTIONS) is not None else ()

    def read(self, folder: Path, part: str, split: str | None) -> Part:
        """Read the questions of a split, of all domains or one; raises as `DatasetReader.read`."""
        file = find_file(folder, _QUESTIONS, "file of questions")
        wanted = _SPLITS[split or "test"]
        rows = [Fields(value, file, number) for number, value in json_lines(file)]
        questions = [
            _question(fields)
            for fields in rows
            if fields.text_or("split", wanted) == wanted and part in ("all", fields.text_or("domain"))
        ]
        graph = next((folder / name for name in _KG if (folder / name).is_dir()), None)
        source = None
        if graph is not None:
            kg = graph
            source = GraphSource(make=lambda path: write_triples(_triples(kg), path), made_from=(graph,))
        return Part(f"crag/{part}/{split or 'test'}", unique(questions, file), (file,), source)


def _question(fields: Fields) -> EvalQuestion:
    answer, kind = fields.text("answer"), fields.text_or("question_type")
    false = kind == "false_premise" or answer.strip().lower() in _FALSE
    return EvalQuestion(
        id=fields.text("interaction_id"),
        text=fields.text("query"),
        gold=() if false else (GoldAnswer(answer, _alternatives(fields)),),
        kind=kind,
        line=fields.line,
    )


def _alternatives(fields: Fields) -> tuple[str, ...]:
    """Read `alt_ans`, a list, or `alternative_answers`, a list or the text of one."""
    given = fields.get("alt_ans") or fields.get("alternative_answers") or []
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except json.JSONDecodeError as error:
            raise fields.error("field 'alternative_answers' is not a list") from error
    if not isinstance(given, list):
        raise fields.error("field 'alt_ans' is not a list")
    return tuple(str(answer) for answer in cast("list[object]", given))


def _triples(folder: Path) -> Iterator[Triple]:
    for file in sorted((folder / "open").glob("kg.*.jsonl*")):
        for number, text in lines(file):
            entry = json.loads(text)
            if not isinstance(entry, list) or len(cast("list[object]", entry)) != 2:
                raise Fields({}, file, number).error("not [name, attributes]")
            name, attributes = cast("list[Any]", entry)
            yield from _attributes(str(name), attributes)
    movie = folder / "movie"
    if (movie / "movie_db.json").is_file():
        yield from _movies(movie)


def _movies(folder: Path) -> Iterator[Triple]:
    """Films and people; numbers of films become their titles, and a crew member's job a relation."""
    films = cast("dict[str, dict[str, Any]]", json_document(folder / "movie_db.json"))
    titles = {film.get("id"): str(film.get("title", name)) for name, film in films.items()}
    for name, film in films.items():
        title = str(film.get("title", name))
        crew = cast("list[dict[str, Any]]", film.get("crew", []))
        yield from (
            Triple(title, str(one["job"]).lower(), str(one["name"])) for one in crew if one.get("job")
        )
        yield from _attributes(title, {k: v for k, v in film.items() if k not in ("id", "title", "crew")})
    people = folder / "person_db.json"
    if people.is_file():
        for name, person in cast("dict[str, dict[str, Any]]", json_document(people)).items():
            told = {
                key: [titles.get(v, v) for v in cast("list[Any]", value)]
                if key.endswith("_movies")
                else value
                for key, value in person.items()
                if key not in ("id", "name")
            }
            yield from _attributes(str(person.get("name", name)), told)


def _attributes(name: str, value: Any, relation: str = "") -> Iterator[Triple]:  # noqa: ANN401
    """Turn what JSON says of an entity into triples; an object with a name is that entity."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if relation and "name" in fields:
            yield Triple(name, relation, str(fields["name"]))
            return
        for key, item in fields.items():
            yield from _attributes(name, item, f"{relation} {key}".strip())
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _attributes(name, item, relation)
    elif value is not None and relation and str(value).strip():
        yield Triple(name, relation, str(value))
