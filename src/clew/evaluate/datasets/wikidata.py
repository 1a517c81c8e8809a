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
    Fields,
    SplitFiles,
    find_file,
    json_document,
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
        document = Fields(json_document(file), file, 0, "")
        questions: list[EvalQuestion] = []
        entries = document.objects("questions")
        for at, fields in enumerate(entries, 1):
            fields.line = at
            text = _text(fields)
            questions += [] if text is None else [_question(fields, text)]
        without_text = len(entries) - len(questions)
        notes = (
            (f"{without_text} questions have no text in {LANGUAGE} and are left out",) if without_text else ()
        )
        return DatasetPart(f"qald/{part}", unique(questions, file), (file,), notes=notes)


def _text(fields: Fields) -> str | None:
    for translation in fields.objects("question"):
        if translation.get("language") == LANGUAGE:
            return translation.text("string").strip()
    return None


def _question(fields: Fields, text: str) -> EvalQuestion:
    sparql = fields.child("query").text_or("sparql") if fields.get("query") is not None else ""
    answers = tuple(
        g for answer_set in fields.objects("answers", optional=True) for g in _answers(answer_set)
    )
    return EvalQuestion(
        id=fields.text_or("id", str(fields.line)),
        text=text,
        gold=tuple(dict.fromkeys(answers)),
        kind="yes/no" if any(a in (GOLD_YES, GOLD_NO) for a in answers) else "",
        query=sparql or None,
        line=fields.line,
    )


def _answers(answer_set: Fields) -> list[GoldAnswer]:
    boolean = answer_set.get("boolean")
    if isinstance(boolean, bool):
        return [GOLD_YES if boolean else GOLD_NO]
    answers: list[GoldAnswer] = []
    results = cast("dict[str, Any]", answer_set.get("results") or {})
    for binding in cast("list[dict[str, Any]]", results.get("bindings", [])):
        for value in binding.values():
            if not isinstance(value, dict) or "value" not in value:
                raise ParseError(
                    str(answer_set.file), answer_set.line, f"{answer_set.where}: a binding without a value"
                )
            term = cast("dict[str, str]", value)
            text = str(term["value"])
            answers.append(iri_answer(text) if term.get("type") == "uri" else GoldAnswer(text))
    return answers


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
        questions: list[EvalQuestion] = []
        for at, fields in enumerate(Fields({"entries": json_document(file)}, file, 0).objects("entries"), 1):
            fields.line = at
            questions.append(_webqsp_question(fields))
        return DatasetPart(f"webqsp-wd/{split}", unique(questions, file), (file,))


def _webqsp_question(fields: Fields) -> EvalQuestion:
    """Read one entry: `utterance`, `answers` (ids), `answers_str` (names). An id also goes by its IRI."""
    ids, labels = fields.items("answers"), fields.items("answers_str", optional=True)
    gold: list[GoldAnswer] = []
    for id, label in zip_longest(ids, labels[: len(ids)]):
        iris = [f"http://www.wikidata.org/entity/{id}"] if re.fullmatch(r"Q\d+", str(id)) else []
        if names := list(dict.fromkeys(str(name) for name in (label, id, *iris) if name)):
            gold.append(GoldAnswer(names[0], tuple(names[1:])))
    return EvalQuestion(
        id=fields.text("questionid"),
        text=fields.text("utterance"),
        gold=tuple(dict.fromkeys(gold)),
        line=fields.line,
    )
