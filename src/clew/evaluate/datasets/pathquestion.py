"""PathQuestion (Zhou, Huang, Zhu, COLING 2018): a graph and questions for each number of hops.

A line is `question<TAB>answer(a1/a2/)<TAB>subject#relation#entity#…#answer#<end>#answer`.
"""

from __future__ import annotations

from pathlib import Path

from clew.errors import ParseError
from clew.evaluate.datasets.base import DatasetAbout, find_file, find_optional, unique
from clew.evaluate.datasets.files import lines
from clew.evaluate.questions import DatasetPart, EvalQuestion, GoldAnswer, GoldPath, GraphSource

PATH_END = "<end>"
EXPECTED = "Expected: question, answer(a1/a2/), subject#relation#entity#…#<end>#answer, separated by tabs"


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
        questions = [_question(file, number, text, name) for number, text in lines(file)]
        return DatasetPart(name, unique(questions, file), (file,), GraphSource((graph,), "tsv"))


def _question(file: Path, number: int, text: str, name: str) -> EvalQuestion:
    fields = text.split("\t")
    path = gold_path(fields[2]) if len(fields) == 3 else None
    if path is None:
        raise ParseError(str(file), number, "not a question of PathQuestion", EXPECTED)
    return EvalQuestion(
        id=f"{name}/{number}",
        text=fields[0].strip(),
        gold=_answers(fields[1]),
        entities=(path.start,),
        kind=" / ".join(path.relations),
        paths=(path,),
        line=number,
    )


def gold_path(text: str) -> GoldPath | None:
    """Read `subject#relation#entity#…`; what follows `<end>` is left out. None if it is no path."""
    nodes = text.strip().split("#")
    if PATH_END in nodes:
        nodes = nodes[: nodes.index(PATH_END)]
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
