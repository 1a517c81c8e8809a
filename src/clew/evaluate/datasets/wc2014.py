"""WC2014 (Zhang et al. 2016, released with IRN): World Cup 2014, paths and conjunctions.

A line is `question<TAB>one answer<TAB>gold path<TAB>a1/a2/…/<TAB>local subgraph`; a conjunction has two
paths, joined by `*`. A file may be a part of the published one (`WC-P1.first20.txt`).
"""

from __future__ import annotations

from pathlib import Path

from clew.errors import ParseError
from clew.evaluate.datasets.base import DatasetAbout, find_file, find_optional, unique
from clew.evaluate.datasets.files import lines
from clew.evaluate.datasets.pathquestion import gold_path
from clew.evaluate.questions import DatasetPart, EvalQuestion, GoldAnswer, GraphSource

_PARTS = {"1-hop": "WC-P1", "2-hop": "WC-P2", "conjunction": "WC-C"}
_EXPECTED = "Expected: question, answer, gold path(s), answers a1/a2/, local subgraph, separated by tabs"


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
        return tuple(p for p, stem in _PARTS.items() if find_optional(folder, _names(stem)) is not None)

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one part, or all that are there; raises as `DatasetReader.read`."""
        graph = find_file(folder, ["WC2014.txt"], "graph")
        wanted = self.parts(folder) if part == "all" else (part,)
        questions: list[EvalQuestion] = []
        files: list[Path] = []
        for one in wanted or tuple(_PARTS):
            file = find_file(folder, _names(_PARTS[one]), f"questions of {one}")
            name = f"wc2014/{one}"
            questions += [_question(file, number, text, name) for number, text in lines(file)]
            files.append(file)
        partial = [f.name for f in files if f.name.split(".")[0] + ".txt" != f.name.removesuffix(".gz")]
        notes = (f"Not the published files but parts of them: {', '.join(partial)}",) if partial else ()
        source = GraphSource((graph,), "tsv")
        return DatasetPart(f"wc2014/{part}", unique(questions, files[0]), tuple(files), source, notes=notes)


def _names(stem: str) -> list[str]:
    return [f"{stem}.txt", f"{stem}.*.txt"]


def _question(file: Path, number: int, text: str, name: str) -> EvalQuestion:
    fields = text.split("\t")
    paths = [gold_path(path) for path in fields[2].split("*")] if len(fields) >= 4 else []
    known = tuple(path for path in paths if path is not None)
    if not known or len(known) != len(paths):
        raise ParseError(str(file), number, "not a question of WC2014", _EXPECTED)
    answers = [answer for answer in fields[3].strip().split("/") if answer]
    return EvalQuestion(
        id=f"{name}/{number}",
        text=fields[0].strip(),
        gold=tuple(GoldAnswer(answer) for answer in dict.fromkeys(answers or [fields[1].strip()])),
        entities=tuple(path.start for path in known),
        kind=" & ".join(" / ".join(path.relations) for path in known),
        paths=known,
        line=number,
    )
