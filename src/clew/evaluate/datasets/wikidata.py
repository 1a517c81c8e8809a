"""Question sets on Wikidata and Freebase, without a graph: QALD, WebQSP, LC-QuAD 2.0, Mintaka.

None of them was at hand: each reader follows the published format. The graph is named with --graph.
"""

from __future__ import annotations

import re
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
from clew.evaluate.records import DatasetPart, EvalQuestion, GoldAnswer, GoldPath

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


WIKIDATA_ENTITY = "http://www.wikidata.org/entity/"
_QID = re.compile(r"Q\d+\Z")
_BRACES = re.compile(r"[{}<>]")


class _JsonSet(SplitFiles):
    """What the four have in common: files of JSON, whose `field` holds the entries, if not all of it does."""

    about: DatasetAbout
    field = ""

    def question(self, fields: Fields) -> EvalQuestion:
        """Read one entry."""
        raise NotImplementedError

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read a split; raises as `DatasetReader.read`."""
        split, file = self.split_file(folder, split)
        document = json_document(file)
        whole = Fields(document if self.field else {"entries": document}, file, 0)
        questions: list[EvalQuestion] = []
        for at, fields in enumerate(whole.objects(self.field or "entries"), 1):
            fields.line = at
            questions.append(self.question(fields))
        unknown = sum(not q.gold_known for q in questions)
        note = f"{unknown} questions come without answers (only SPARQL) and are not scored"
        name, notes = f"{self.about.name}/{split}", (note,) if unknown else ()
        return DatasetPart(name, unique(questions, file), (file,), notes=notes)


def qid(name: str) -> GoldAnswer:
    """Make an answer of a Wikidata id, which also goes by its IRI."""
    return GoldAnswer(name, (WIKIDATA_ENTITY + name,) if _QID.match(name) else ())


class WebQSP(_JsonSet):
    """WebQSP (Yih et al. 2016): answers of all parses of a question together."""

    splits = ("test", "train")
    about = DatasetAbout(
        name="webqsp",
        title="WebQSP: questions of web users on Freebase",
        source="https://www.microsoft.com/en-us/download/details.aspx?id=52763",
        licence="Microsoft Research data licence",
        files="WebQSP.SPLIT.json (or data/WebQSP.SPLIT.json); the graph is named with --graph",
        cite="Yih, Richardson, Meek, Chang, Suh: The Value of Semantic Parse Labeling for KBQA, ACL 2016",
    )

    names = ("WebQSP.SPLIT.json", "data/WebQSP.SPLIT.json")

    field = "Questions"

    def question(self, fields: Fields) -> EvalQuestion:
        """Read one entry of `Questions`."""
        parses = fields.objects("Parses")
        gold = [_freebase(answer) for parse in parses for answer in parse.objects("Answers", optional=True)]
        topics = dict.fromkeys(name for parse in parses if (name := parse.text_or("TopicEntityName")))
        first = parses[0] if parses else None
        chain = () if first is None else first.texts("InferentialChain")
        paths = (GoldPath(next(iter(topics)), chain),) if chain and topics and len(parses) == 1 else ()
        return EvalQuestion(
            id=fields.text("QuestionId"),
            text=fields.text("RawQuestion"),
            gold=tuple(dict.fromkeys(gold)),
            entities=tuple(topics),
            paths=paths,
            query=None if first is None else first.text_or("Sparql") or None,
            line=fields.line,
        )


def _freebase(answer: Fields) -> GoldAnswer:
    argument, name = answer.text("AnswerArgument"), answer.text_or("EntityName")
    return GoldAnswer(name, (argument,)) if name else GoldAnswer(argument)


class WebQSPWD(_JsonSet):
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

    def question(self, fields: Fields) -> EvalQuestion:
        """Read one entry: `utterance`, `answers` (ids), `answers_str` (names)."""
        ids = [str(value) if value else "" for value in fields.items("answers")]
        labels = [str(value) for value in fields.items("answers_str", optional=True)]
        labels += [""] * (len(ids) - len(labels))
        gold = [_labelled_answer(label, id) for label, id in zip(labels, ids, strict=False) if label or id]
        return EvalQuestion(
            id=fields.text("questionid"),
            text=fields.text("utterance"),
            gold=tuple(dict.fromkeys(gold)),
            line=fields.line,
        )


def _labelled_answer(label: str, id: str) -> GoldAnswer:
    names = (*((label,) if label else ()), *(qid(id).names if id else ()))
    return GoldAnswer(names[0], tuple(dict.fromkeys(names[1:])))


class LCQuAD2(_JsonSet):
    """LC-QuAD 2.0 (Dubey et al. 2019): SPARQL is kept; answers are read where a file has them."""

    splits = ("test", "train")
    about = DatasetAbout(
        name="lcquad2",
        title="LC-QuAD 2.0: complex questions with SPARQL on Wikidata and DBpedia",
        source="https://github.com/AskNowQA/LC-QuAD2.0",
        licence="CC BY 4.0",
        files="SPLIT.json (or dataset/SPLIT.json); the graph is named with --graph",
        cite="Dubey, Banerjee, Abdelkawi, Lehmann: LC-QuAD 2.0, ISWC 2019",
    )

    names = ("SPLIT.json", "dataset/SPLIT.json", "lcquad*SPLIT*.json")

    def question(self, fields: Fields) -> EvalQuestion:
        """Read one entry; the published files have `answer: []` for all, which says nothing."""
        names = ("question", "paraphrased_question", "NNQT_question")
        texts = [_BRACES.sub("", fields.text_or(name)) for name in names if isinstance(fields.get(name), str)]
        text = next((text for text in texts if text.strip().lower() not in ("", "n/a", "na")), None)
        if text is None:
            raise fields.error("no text in 'question', 'paraphrased_question' or 'NNQT_question'")
        gold = tuple(qid(str(value)) for value in fields.items("answer", optional=True))
        return EvalQuestion(
            id=fields.text_or("uid", str(fields.line)),
            text=" ".join(text.split()),
            gold=gold,
            kind=fields.text_or("subgraph"),
            query=fields.text_or("sparql_wikidata") or None,
            gold_known=bool(gold),
            line=fields.line,
        )


class Mintaka(_JsonSet):
    """Mintaka (Sen et al. 2022): eight kinds of complex questions on Wikidata."""

    about = DatasetAbout(
        name="mintaka",
        title="Mintaka: complex questions of eight kinds on Wikidata",
        source="https://github.com/amazon-science/mintaka",
        licence="CC BY 4.0",
        files="mintaka_SPLIT.json (or data/mintaka_SPLIT.json); the graph is named with --graph",
        cite="Sen, Aji, Saffari: Mintaka, COLING 2022",
    )

    names = ("mintaka_SPLIT.json", "data/mintaka_SPLIT.json")

    def question(self, fields: Fields) -> EvalQuestion:
        """Read one entry."""
        answer = fields.child("answer")
        entities = [e for e in fields.objects("questionEntity", optional=True) if e.text_or("label")]
        return EvalQuestion(
            id=fields.text("id"),
            text=fields.text("question"),
            gold=_mintaka(answer),
            entities=tuple(e.text_or("label") for e in entities if e.text_or("entityType") == "entity"),
            kind=fields.text_or("complexityType"),
            line=fields.line,
        )


def _mintaka(answer: Fields) -> tuple[GoldAnswer, ...]:
    answer_value = answer.get("answer")
    if answer_value is None:
        mention = answer.text_or("mention")
        return (GoldAnswer(mention),) if mention else ()
    answers: list[GoldAnswer] = []
    for value in answer.items("answer"):
        if isinstance(value, bool):
            answers.append(GOLD_YES if value else GOLD_NO)
        elif isinstance(value, dict):
            entry = Fields(cast("object", value), answer.file, answer.line, "field 'answer.answer'")
            label = entry.child("label").text_or("en") if entry.get("label") else ""
            answers.append(_labelled_answer(label, entry.text_or("name")))
        else:
            answers.append(GoldAnswer(str(value)))
    return tuple(dict.fromkeys(answers))
