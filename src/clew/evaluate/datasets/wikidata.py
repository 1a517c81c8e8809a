"""Question sets on Wikidata and DBpedia, without a graph, which is named with --graph: QALD, WebQSP-WD."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from clew.errors import ParseError
from clew.evaluate.datasets.base import (
    DatasetAbout,
    SplitFiles,
    find_file,
    json_document,
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


class WebQSPWD(SplitFiles):
    """WebQSP-WD (Sorokin & Gurevych 2018): WebQSP with its answers mapped to Wikidata."""

    splits = ("test", "train")
    about = DatasetAbout(
        name="webqsp-wd",
        title="WebQSP-WD: WebQSP with answers in Wikidata",
        source="https://github.com/UKPLab/coling2018-graph-neural-networks-question-answering",
        licence="CC BY 4.0 (WebQuestions)",
        files="input/*SPLIT*.json; the graph is named with --graph",
        cite="Sorokin, Gurevych: Modeling Semantics with Gated Graph Neural Networks for KBQA, COLING 2018",
    )
    names = ("input/*webqsp*SPLIT*.json", "*webqsp*SPLIT*.json", "input/*SPLIT*.json")

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read a split; raises as `DatasetReader.read`."""
        split, file = self.split_file(folder, split)
        questions = read_each(enumerate(json_document(file), 1), file, "WebQSP-WD", _webqsp_question)
        return DatasetPart(f"webqsp-wd/{split}", unique(questions, file), (file,))


def _webqsp_question(number: int, row: dict[str, Any]) -> EvalQuestion:
    """Read one entry: `utterance`, `answers` (ids), `answers_str` (names). An id also goes by its IRI."""
    ids = row["answers"]
    gold: list[GoldAnswer] = []
    for id, label in zip_longest(ids, (row.get("answers_str") or [])[: len(ids)]):
        iris = [f"http://www.wikidata.org/entity/{id}"] if re.fullmatch(r"Q\d+", str(id)) else []
        if names := list(dict.fromkeys(str(name) for name in (label, id, *iris) if name)):
            gold.append(GoldAnswer(names[0], tuple(names[1:])))
    return EvalQuestion(row["questionid"], row["utterance"], tuple(dict.fromkeys(gold)), line=number)
