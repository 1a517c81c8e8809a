"""Question sets that come without their graph, which is named with --graph: QALD and CRAG."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from clew.errors import ParseError
from clew.evaluate.datasets.base import (
    DatasetAbout,
    choose_split,
    find_file,
    find_optional,
    json_document,
    json_lines,
    read_each,
    unique,
)
from clew.evaluate.records import DatasetPart, EvalQuestion, GoldAnswer

# QALD-9-plus and QALD-10: QALD-JSON, `questions[] = {id, question[], query, answers[]}`, without a graph.
#
# An answer that is an IRI also goes by its last part (`Salt_Lake_City`, `Q42`). The English question is
# asked.

LANGUAGE = "en"
GOLD_YES, GOLD_NO = GoldAnswer("yes", ("true",)), GoldAnswer("no", ("false",))


class Qald:
    """A part for each file: `qald_10`, `qald_9_plus_test_dbpedia`."""

    splits: tuple[str, ...] = ()
    about = DatasetAbout(
        name="qald",
        title="QALD-9-plus (DBpedia or Wikidata) and QALD-10 (Wikidata)",
        source="https://github.com/KGQA/QALD-10, https://github.com/KGQA/QALD_9_plus",
        licence="MIT (QALD-10), CC BY 4.0 (QALD-9-plus)",
        files="qald_10.json, qald_9_plus_SPLIT_GRAPH.json; the graph is named with --graph",
        cite="Usbeck et al. 2023 (QALD-10); Perevalov et al. 2022 (QALD-9-plus)",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Stems of the files that are there."""
        return tuple(file.stem for file in sorted(folder.glob("qald*.json")))

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one file; raises as `DatasetReader.read`."""
        file = find_file(folder, [f"{part}.json"], f"questions {part}")
        document: Any = json_document(file)
        if not isinstance(document, dict) or "questions" not in document:
            raise ParseError(str(file), 1, "not QALD: there are no 'questions'")
        rows = cast("list[dict[str, Any]]", document["questions"])
        read = read_each(enumerate(rows, 1), file, "QALD", _question)
        questions = [question for question in read if question.text]
        without_text = len(read) - len(questions)
        note = f"{without_text} questions have no text in {LANGUAGE} and are left out"
        notes = (note,) if without_text else ()
        return DatasetPart(f"qald/{part}", unique(questions, file), (file,), notes=notes)


def _question(number: int, row: dict[str, Any]) -> EvalQuestion:
    texts = (text["string"].strip() for text in row["question"] if text.get("language") == LANGUAGE)
    answers = tuple(gold for answer_set in row.get("answers") or () for gold in _answers(answer_set))
    return EvalQuestion(
        id=str(row.get("id", number)),
        text=next(texts, ""),
        gold=tuple(dict.fromkeys(answers)),
        kind="yes/no" if any(a in (GOLD_YES, GOLD_NO) for a in answers) else "",
        query=(row.get("query") or {}).get("sparql") or None,
        line=number,
    )


def _answers(answer_set: dict[str, Any]) -> list[GoldAnswer]:
    if "boolean" in answer_set:
        return [GOLD_YES if answer_set["boolean"] else GOLD_NO]
    bindings = (answer_set.get("results") or {}).get("bindings", [])
    terms = [(str(term["value"]), term.get("type")) for binding in bindings for term in binding.values()]
    return [iri_answer(text) if kind == "uri" else GoldAnswer(text) for text, kind in terms]


def iri_answer(iri: str) -> GoldAnswer:
    """Make an answer of an IRI, which also goes by its last part."""
    last = unquote(iri.rstrip("/").replace("#", "/").rsplit("/", 1)[-1])
    return GoldAnswer(iri, (last,) if last and last != iri else ())


# CRAG (Yang et al., NeurIPS 2024): JSON lines with `query`, `answer`, `alt_ans`.
#
# A question with a false premise has no gold: the right thing is not to answer it. Split 1 is the public test
# set, 0 validation.

_CRAG_FILES = ["crag_task_1*.jsonl", "crag_*.jsonl", "*questions*.jsonl", "dev_data.jsonl"]
_SPLITS = {"test": "1", "dev": "0"}
_FALSE = ("invalid question", "false_premise")


class Crag:
    """One part, `all`; or a domain: `finance`, `music`, `movie`, `sports`, `open`."""

    splits = ("test", "dev")
    about = DatasetAbout(
        name="crag",
        title="CRAG: questions of five domains",
        source="https://github.com/facebookresearch/CRAG",
        licence="CC BY-NC 4.0",
        files="crag_task_1_and_2_dev_v4.jsonl.bz2; the graph is named with --graph",
        cite="Yang et al.: CRAG - Comprehensive RAG Benchmark, NeurIPS 2024",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, if questions are there."""
        return ("all",) if find_optional(folder, _CRAG_FILES) is not None else ()

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read the questions of a split, of all domains or one; raises as `DatasetReader.read`."""
        file = find_file(folder, _CRAG_FILES, "file of questions")
        split = choose_split(self.splits, self.splits, split, folder)
        code = _SPLITS[split]
        rows = (
            (number, row)
            for number, row in json_lines(file)
            if str(row.get("split", code)) == code and part in ("all", row.get("domain"))
        )
        questions = read_each(rows, file, "CRAG", _crag_question)
        return DatasetPart(f"crag/{part}/{split}", unique(questions, file), (file,))


def _crag_question(number: int, row: dict[str, Any]) -> EvalQuestion:
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
