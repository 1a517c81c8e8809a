"""PathQuestion and WC2014, which were released with IRN: questions with their gold paths.

PathQuestion (Zhou, Huang, Zhu, COLING 2018): a graph and questions for each number of hops. A line is
`question<TAB>answer(a1/a2/)<TAB>subject#relation#entity#…#answer#<end>#answer`.

WC2014 (Zhang et al. 2016): World Cup 2014, paths and conjunctions. A line is
`question<TAB>one answer<TAB>gold path<TAB>a1/a2/…/<TAB>local subgraph`; a conjunction has two paths, joined
by `*`. A file may be a part of the published one (`WC-P1.first20.txt`).
"""

from __future__ import annotations

from pathlib import Path

from clew.errors import ParseError
from clew.evaluate.datasets.base import DatasetAbout, find_file, find_optional, unique
from clew.evaluate.datasets.files import lines
from clew.evaluate.questions import DatasetPart, EvalQuestion, GoldAnswer, GoldPath, GraphSource

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
        questions = [_pq_question(file, number, text, name) for number, text in lines(file)]
        return DatasetPart(name, unique(questions, file), (file,), GraphSource((graph,), "tsv"))


def _pq_question(file: Path, number: int, text: str, name: str) -> EvalQuestion:
    fields = text.split("\t")
    path = _gold_path(fields[2]) if len(fields) == 3 else None
    if path is None:
        raise ParseError(str(file), number, "not a question of PathQuestion", _PQ_EXPECTED)
    return EvalQuestion(
        id=f"{name}/{number}",
        text=fields[0].strip(),
        gold=_answers(fields[1]),
        entities=(path.start,),
        kind=" / ".join(path.relations),
        paths=(path,),
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
            questions += [_wc_question(file, number, text, name) for number, text in lines(file)]
            files.append(file)
        partial = [f.name for f in files if f.name.split(".")[0] + ".txt" != f.name.removesuffix(".gz")]
        notes = (f"Not the published files but parts of them: {', '.join(partial)}",) if partial else ()
        source = GraphSource((graph,), "tsv")
        return DatasetPart(f"wc2014/{part}", unique(questions, files[0]), tuple(files), source, notes=notes)


def _wc_names(stem: str) -> list[str]:
    return [f"{stem}.txt", f"{stem}.*.txt"]


def _wc_question(file: Path, number: int, text: str, name: str) -> EvalQuestion:
    fields = text.split("\t")
    paths = [_gold_path(path) for path in fields[2].split("*")] if len(fields) >= 4 else []
    gold_paths = tuple(path for path in paths if path is not None)
    if not gold_paths or len(gold_paths) != len(paths):
        raise ParseError(str(file), number, "not a question of WC2014", _WC_EXPECTED)
    answers = [answer for answer in fields[3].strip().split("/") if answer]
    return EvalQuestion(
        id=f"{name}/{number}",
        text=fields[0].strip(),
        gold=tuple(GoldAnswer(answer) for answer in dict.fromkeys(answers or [fields[1].strip()])),
        entities=tuple(path.start for path in gold_paths),
        kind=" & ".join(" / ".join(path.relations) for path in gold_paths),
        paths=gold_paths,
        line=number,
    )
