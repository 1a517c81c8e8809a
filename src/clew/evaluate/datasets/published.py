"""Published data sets: MetaQA, PathQuestion, WC2014, FactKG with their graphs; QALD and CRAG without."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from clew.errors import ParseError
from clew.evaluate.datasets.base import (
    DatasetAbout,
    SplitFiles,
    choose_split,
    find_file,
    find_optional,
    json_document,
    json_lines,
    lines,
    plain_pickle,
    read_each,
    unique,
)
from clew.evaluate.records import DatasetPart, EvalQuestion, GoldAnswer, GoldPath

# MetaQA (Zhang et al., AAAI 2018): `kb.txt` and the vanilla questions.
#
# A line is `question with the [topic entity]<TAB>answer|answer|…`. Brackets are removed before a question is
# asked. `qa_SPLIT_qtype.txt`, where it is there, names the chain of types that the gold follows
# (`movie_to_director`).

_TOPIC = re.compile(r"\[([^\[\]]+)\]")
_MOVIE = "movie"
_RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "genre": "has_genre",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
    "language": "in_language",
    "tags": "has_tags",
    "tag": "has_tags",
    "writer": "written_by",
    "year": "release_year",
}
"""The relation between a movie and each other type of the question types: every head is a movie."""


class MetaQA(SplitFiles):
    """Parts `1-hop`, `2-hop`, `3-hop`."""

    names = ("qa_SPLIT.txt",)
    about = DatasetAbout(
        name="metaqa",
        title="MetaQA, vanilla text: a film graph with 1-, 2- and 3-hop questions",
        source="https://github.com/yuyuz/MetaQA",
        licence="CC BY 3.0",
        files="kb.txt, N-hop/vanilla/qa_SPLIT.txt, N-hop/qa_SPLIT_qtype.txt (optional)",
        cite="Zhang, Dai, Kozareva, Smola, Song: Variational Reasoning for QA with KG, AAAI 2018",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Hops whose questions are there."""
        hops = (f"{n}-hop" for n in (1, 2, 3))
        return tuple(part for part in hops if self.available(folder / part / "vanilla"))

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one hop; raises as `DatasetReader.read`."""
        graph = find_file(folder, ["kb.txt"], "knowledge base")
        split, file = self.split_file(folder / part / "vanilla", split)
        kinds_file = find_optional(folder / part, [f"qa_{split}_qtype.txt"])
        kinds = [] if kinds_file is None else [kind.strip() for _, kind in lines(kinds_file)]
        name = f"metaqa/{part}/{split}"
        questions = read_each(lines(file), file, "MetaQA", partial(_metaqa_question, name))
        if kinds_file is not None:
            if len(kinds) != len(questions):
                reason = f"{len(kinds):,} types for {len(questions):,} questions; expected one a line"
                raise ParseError(str(kinds_file), len(kinds), reason)
            questions = [_with_kind(q, kind) for q, kind in zip(questions, kinds, strict=True)]
        files = (file,) if kinds_file is None else (file, kinds_file)
        return DatasetPart(name, unique(questions, file), files, (graph,), "pipe")


def _metaqa_question(name: str, number: int, text: str) -> EvalQuestion:
    question, tab, answers = text.partition("\t")
    topics = _TOPIC.findall(question)
    if not tab or not topics:
        raise ValueError("Expected: question with [topic entity], a tab, answers separated by |")
    gold = dict.fromkeys(answer.strip() for answer in answers.split("|") if answer.strip())
    return EvalQuestion(
        id=f"{name}/{number}",
        text=_TOPIC.sub(r"\1", question).strip(),
        gold=tuple(GoldAnswer(answer) for answer in gold),
        entities=tuple(topics),
        line=number,
    )


def _with_kind(question: EvalQuestion, kind: str) -> EvalQuestion:
    """Add the type of the question and, where it is a chain of known types, the gold path."""
    pairs = pairwise(kind.split("_to_"))
    relations = [_RELATIONS.get(right if left == _MOVIE else left) for left, right in pairs]
    path_relations = tuple(relation for relation in relations if relation is not None)
    is_path = bool(path_relations) and len(path_relations) == len(relations)
    return replace(
        question, kind=kind, paths=(GoldPath(question.entities[0], path_relations),) if is_path else ()
    )


# PathQuestion and WC2014, which were released with IRN: questions with their gold paths.
#
# PathQuestion (Zhou, Huang, Zhu, COLING 2018): a graph and questions for each number of hops. A line is
# `question<TAB>answer(a1/a2/)<TAB>subject#relation#entity#…#answer#<end>#answer`.
#
# WC2014 (Zhang et al. 2016): World Cup 2014, paths and conjunctions. A line is
# `question<TAB>one answer<TAB>gold path<TAB>a1/a2/…/<TAB>local subgraph`; a conjunction has two paths, joined
# by `*`. A file may be a part of the published one (`WC-P1.first20.txt`).

_PATH_END = "<end>"
_PQ_EXPECTED = "Expected: question, answer(a1/a2/), subject#relation#entity#…#<end>#answer, separated by tabs"
_WC_PARTS = {"1-hop": "WC-P1", "2-hop": "WC-P2", "conjunction": "WC-C"}
_WC_EXPECTED = "Expected: question, answer, gold path(s), answers a1/a2/, local subgraph, separated by tabs"


class PathQuestion:
    """Parts `2-hop`, `3-hop`."""

    splits: tuple[str, ...] = ()
    about = DatasetAbout(
        name="pathquestion",
        title="PathQuestion: 2- and 3-hop questions on a part of Freebase",
        source="https://github.com/zmtkeke/IRN (PathQuestion/)",
        licence="none stated",
        files="2H-kb.txt, PQ-2H.txt, 3H-kb.txt, PQ-3H.txt",
        cite="Zhou, Huang, Zhu: An Interpretable Reasoning Network for Multi-Relation QA, COLING 2018",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Hops whose questions are there."""
        return tuple(f"{n}-hop" for n in (2, 3) if find_optional(folder, [f"PQ-{n}H.txt"]) is not None)

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one hop, with the graph of that hop; raises as `DatasetReader.read`."""
        hops = part.removesuffix("-hop")
        graph = find_file(folder, [f"{hops}H-kb.txt"], f"graph of {part}")
        file = find_file(folder, [f"PQ-{hops}H.txt"], f"questions of {part}")
        name = f"pathquestion/{part}"
        questions = read_each(lines(file), file, "PathQuestion", partial(_pq_question, name))
        return DatasetPart(name, unique(questions, file), (file,), (graph,), "tsv")


def _pq_question(name: str, number: int, text: str) -> EvalQuestion:
    fields = text.split("\t")
    path = _gold_path(fields[2]) if len(fields) == 3 else None
    if path is None:
        raise ValueError(_PQ_EXPECTED)
    return _of_paths(name, number, fields[0], _answers(fields[1]), (path,))


def _of_paths(
    name: str, number: int, text: str, gold: tuple[GoldAnswer, ...], paths: tuple[GoldPath, ...]
) -> EvalQuestion:
    return EvalQuestion(
        id=f"{name}/{number}",
        text=text.strip(),
        gold=gold,
        entities=tuple(path.start for path in paths),
        kind=" & ".join(" / ".join(path.relations) for path in paths),
        paths=paths,
        line=number,
    )


def _gold_path(text: str) -> GoldPath | None:
    """Read `subject#relation#entity#…`; what follows `<end>` is left out. None if it is no path."""
    nodes = text.strip().split("#")
    if _PATH_END in nodes:
        nodes = nodes[: nodes.index(_PATH_END)]
    if len(nodes) < 3 or len(nodes) % 2 == 0 or not all(nodes):
        return None
    return GoldPath(nodes[0], tuple(nodes[1::2]))


def _answers(field: str) -> tuple[GoldAnswer, ...]:
    """Read `answer(a1/a2/)`; names may hold brackets themselves, but the first is one of the list."""
    field = field.strip()
    if field.endswith(")"):
        for at in (i for i, c in enumerate(field) if c == "("):
            listed = [name for name in field[at + 1 : -1].split("/") if name]
            if field[:at] in listed:
                return tuple(GoldAnswer(name) for name in dict.fromkeys(listed))
    return (GoldAnswer(field),) if field else ()


class WC2014:
    """Parts `1-hop` (WC-P1), `2-hop` (WC-P2), `conjunction` (WC-C), and `all`, the mixture."""

    splits: tuple[str, ...] = ()
    about = DatasetAbout(
        name="wc2014",
        title="WC2014QA: football World Cup 2014, 1-hop, 2-hop and conjunctive questions",
        source="https://github.com/zmtkeke/IRN (WC2014.zip)",
        licence="none stated",
        files="WC2014.txt, WC-P1.txt, WC-P2.txt, WC-C.txt",
        cite="Zhang, Winn, Tomioka: Gaussian Attention Model and Its Application to KB and QA, 2016",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Parts whose questions are there, without `all`."""
        return tuple(p for p, stem in _WC_PARTS.items() if find_optional(folder, _wc_names(stem)) is not None)

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one part, or all that are there; raises as `DatasetReader.read`."""
        graph = find_file(folder, ["WC2014.txt"], "graph")
        part_names = self.parts(folder) if part == "all" else (part,)
        questions: list[EvalQuestion] = []
        files: list[Path] = []
        for part_name in part_names or tuple(_WC_PARTS):
            file = find_file(folder, _wc_names(_WC_PARTS[part_name]), f"questions of {part_name}")
            name = f"wc2014/{part_name}"
            questions += read_each(lines(file), file, "WC2014", partial(_wc_question, name))
            files.append(file)
        parts = [f.name for f in files if f.name.split(".")[0] + ".txt" != f.name.removesuffix(".gz")]
        notes = (f"Not the published files but parts of them: {', '.join(parts)}",) if parts else ()
        unique_questions = unique(questions, files[0])
        return DatasetPart(f"wc2014/{part}", unique_questions, tuple(files), (graph,), "tsv", notes=notes)


def _wc_names(stem: str) -> list[str]:
    return [f"{stem}.txt", f"{stem}.*.txt"]


def _wc_question(name: str, number: int, text: str) -> EvalQuestion:
    fields = text.split("\t")
    paths = [_gold_path(path) for path in fields[2].split("*")] if len(fields) >= 4 else []
    gold_paths = tuple(path for path in paths if path is not None)
    if not gold_paths or len(gold_paths) != len(paths):
        raise ValueError(_WC_EXPECTED)
    answers = [answer for answer in fields[3].strip().split("/") if answer] or [fields[1].strip()]
    gold = tuple(GoldAnswer(answer) for answer in dict.fromkeys(answers))
    return _of_paths(name, number, fields[0], gold, gold_paths)


# FactKG (Kim et al., ACL 2023): claims about DBpedia, true or false.
#
# Read are `factkg_SPLIT.pickle` as published (`{claim: {"Label", "Entity_set", "Evidence", "types"}}`; only
# plain values are loaded, no code in it is run) and files of JSON lines with the same keys and `claim`. The
# graph is named with --graph.

_STYLES = ("num1", "multi claim", "existence", "multi hop", "negation")


class FactKG(SplitFiles):
    """One part, `claims`."""

    part, noun = "claims", "claims"
    names = ("factkg_SPLIT.pickle", "factkg_SPLIT*.jsonl")
    about = DatasetAbout(
        name="factkg",
        title="FactKG: claims to verify against DBpedia",
        source="https://github.com/jiho283/FactKG",
        licence="CC BY-NC-SA 4.0",
        files="factkg_SPLIT.pickle or factkg_SPLIT*.jsonl; the graph is named with --graph",
        cite="Kim, Park, Kwon, Jo, Thorne, Choi: FactKG: Fact Verification via Reasoning on KGs, ACL 2023",
    )

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read the claims of a split; raises as `DatasetReader.read`."""
        split, file = self.split_file(folder, split)
        questions = unique(read_each(_rows(file), file, "FactKG", partial(_claim, f"factkg/{split}")), file)
        return DatasetPart(f"factkg/{split}", questions, (file,), task="claims")


def _rows(file: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    if file.suffix != ".pickle":
        return json_lines(file)
    claims = cast("dict[str, Any]", plain_pickle(file))
    return enumerate(({"claim": claim, **value} for claim, value in claims.items()), 1)


def _claim(name: str, number: int, row: dict[str, Any]) -> EvalQuestion:
    (label,), types = row["Label"], row.get("types") or ()
    if not isinstance(label, bool):
        raise ValueError("field 'Label' is not [true] or [false]")
    return EvalQuestion(
        id=f"{name}/{number}",
        text=row["claim"],
        entities=tuple(entity.strip('"') for entity in row.get("Entity_set") or ()),
        kind=next((style for style in reversed(_STYLES) if style in types), ""),
        verdict="supported" if label else "refuted",
        line=number,
    )


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
        read = read_each(enumerate(rows, 1), file, "QALD", _qald_question)
        questions = [question for question in read if question.text]
        without_text = len(read) - len(questions)
        note = f"{without_text} questions have no text in {LANGUAGE} and are left out"
        notes = (note,) if without_text else ()
        return DatasetPart(f"qald/{part}", unique(questions, file), (file,), notes=notes)


def _qald_question(number: int, row: dict[str, Any]) -> EvalQuestion:
    texts = (text["string"].strip() for text in row["question"] if text.get("language") == LANGUAGE)
    answers = tuple(gold for answer_set in row.get("answers") or () for gold in _qald_answers(answer_set))
    return EvalQuestion(
        id=str(row.get("id", number)),
        text=next(texts, ""),
        gold=tuple(dict.fromkeys(answers)),
        kind="yes/no" if any(a in (GOLD_YES, GOLD_NO) for a in answers) else "",
        query=(row.get("query") or {}).get("sparql") or None,
        line=number,
    )


def _qald_answers(answer_set: dict[str, Any]) -> list[GoldAnswer]:
    if "boolean" in answer_set:
        return [GOLD_YES if answer_set["boolean"] else GOLD_NO]
    bindings = (answer_set.get("results") or {}).get("bindings", [])
    terms = [(str(term["value"]), term.get("type")) for binding in bindings for term in binding.values()]
    return [_iri_answer(text) if kind == "uri" else GoldAnswer(text) for text, kind in terms]


def _iri_answer(iri: str) -> GoldAnswer:
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
