"""MetaQA (Zhang et al., AAAI 2018): `kb.txt` and the vanilla questions.

A line is `question with the [topic entity]<TAB>answer|answer|…`. Brackets are removed before a question is
asked. `qa_SPLIT_qtype.txt`, where it is there, names the chain of types that the gold follows
(`movie_to_director`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from clew.errors import ParseError
from clew.evaluate.datasets.base import DatasetAbout, choose_split, find_file, find_optional, unique
from clew.evaluate.datasets.files import lines
from clew.evaluate.questions import DatasetPart, EvalQuestion, GoldAnswer, GoldPath, GraphSource

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


class MetaQA:
    """Parts `1-hop`, `2-hop`, `3-hop`."""

    splits = ("test", "dev", "train")
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
        return tuple(part for part in hops if self._splits(folder, part))

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one hop; raises as `DatasetReader.read`."""
        graph = find_file(folder, ["kb.txt"], "knowledge base")
        split = choose_split(self.splits, self._splits(folder, part), split, folder / part)
        file = find_file(folder / part / "vanilla", [f"qa_{split}.txt"], f"{split} questions of {part}")
        kinds_file = find_optional(folder / part, [f"qa_{split}_qtype.txt"])
        kinds = [] if kinds_file is None else [kind.strip() for _, kind in lines(kinds_file)]
        name = f"metaqa/{part}/{split}"
        questions = [self._question(file, number, text, name) for number, text in lines(file)]
        if kinds_file is not None:
            if len(kinds) != len(questions):
                reason = f"{len(kinds):,} types for {len(questions):,} questions; expected one a line"
                raise ParseError(str(kinds_file), len(kinds), reason)
            questions = [_with_kind(q, kind) for q, kind in zip(questions, kinds, strict=True)]
        files = (file,) if kinds_file is None else (file, kinds_file)
        return DatasetPart(name, unique(questions, file), files, GraphSource((graph,), "pipe"))

    def _splits(self, folder: Path, part: str) -> list[str]:
        vanilla_folder = folder / part / "vanilla"
        return [
            split for split in self.splits if find_optional(vanilla_folder, [f"qa_{split}.txt"]) is not None
        ]

    def _question(self, file: Path, number: int, text: str, name: str) -> EvalQuestion:
        question, tab, answers = text.partition("\t")
        topics = _TOPIC.findall(question)
        if not tab or not topics:
            expected = "Expected: question with [topic entity], a tab, answers separated by |"
            raise ParseError(str(file), number, "not a question of MetaQA", expected)
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
