"""`vector-rag`: the documents most similar to the question, and one prompt.

*Vector-retrieval* of SynaptiQA (section 4.3). A document is what the graph says of one entity: its outgoing
triples, verbalised, whose vector is the sum of the triples' vectors, so that nothing is embedded again.
`texts` gives documents of the user's own instead, files or folders of them: their paragraphs are embedded
once, and answers from them are not grounded in triples, which the answer says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError, UsageError
from clew.graph.candidates import best_of
from clew.graph.kernels.dots import summed_rows
from clew.index.directory import Index
from clew.index.triple_vectors import TripleVectors, with_triple_vectors
from clew.llm.errors import BudgetReached
from clew.llm.types import ChatModel
from clew.methods.evidence import ZERO_SHOT, EvidenceMethod, Retrieved
from clew.methods.llm import finished, ungrounded
from clew.methods.settings import positive
from clew.steps.prompting import LONGEST_LINE, Talk, data_line, data_lines, prompt_named
from clew.text.embedder import Embedder, unit_rows
from clew.types import Abstention, Answer, Step

TEXT_SUFFIXES = frozenset((".txt", ".md", ".rst", ".text"))
_BLANK = re.compile(r"\n\s*\n")
MOST_TRIPLES = 60
"""Triples of one document that are read."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Documents that are read; `texts` are files or folders to take them from instead of the graph.

    An experiment names one of them, as a string.
    """

    documents: int = 3
    texts: tuple[Path, ...] | str = ()

    def __post_init__(self) -> None:
        positive("vector-rag", documents=self.documents)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The texts, always several."""
        return (Path(self.texts),) if isinstance(self.texts, str) else self.texts


class VectorRag(EvidenceMethod):
    """Whole neighbourhoods, or paragraphs of text files, by similarity."""

    name = "vector-rag"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings()
        texts = self.settings.paths
        if texts and model is None:
            raise UsageError("Only a chat model reads texts. Name one with --llm, or leave the texts out")
        self.paragraphs = [p for path in texts for file in _files(path) for p in _paragraphs(file)]
        if texts and not self.paragraphs:
            raise InputError(f"{texts[0]}: there is no text in the documents. Give others")
        if self.paragraphs:
            super().__init__(index, embedder, model=model)
            self._vectors: NDArray[np.float32] = embedder.embed([p.text for p in self.paragraphs])
        else:
            super().__init__(with_triple_vectors(index, embedder), embedder, model=model)
            held = TripleVectors.of(self.index, embedder)
            self._vectors = unit_rows(
                summed_rows(held.rows, held.scales, self.graph.out.starts, self.graph.out.stops)
            )

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer from documents, or abstain with a reason. Raises LlmError."""
        if not self.paragraphs or self.model is None:
            return super().answer(question, id=id, entities=entities)
        began = perf_counter()
        talk = Talk.begin(self.model, id)
        found = [self.paragraphs[i] for i in self._nearest(question)]
        try:
            documents = data_lines(p.text for p in found)
            prompt = prompt_named("vector_rag")
            text = talk.ask(prompt, ZERO_SHOT, DOCUMENTS=documents, QUESTION=data_line(question))
            answer = ungrounded(question, text)
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        answer = finished(answer, self.name, talk, began, id)
        shown = [{"from": p.source, "text": p.text} for p in found]
        return replace(answer, steps=(Step("documents", {"texts": shown}), *answer.steps))

    def seeds(self, question: str, entities: Sequence[str], talk: Talk | None) -> tuple[int, ...]:
        """The entities whose documents are nearest: none need be linked."""
        return tuple(int(node) for node in self._nearest(question))

    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Retrieved:
        """The triples of these documents."""
        triples, notes = list[int](), list[str]()
        for node in seeds:
            start, stop = self.graph.out.span(node)
            triples += range(start, min(stop, start + MOST_TRIPLES))
            if stop - start > MOST_TRIPLES:
                name = self.graph.labels[node]
                notes.append(f"{MOST_TRIPLES} of the {stop - start:,} triples of {name} are read")
        return Retrieved(triples, tuple(notes))

    def _nearest(self, question: str) -> NDArray[np.int64]:
        scores = self._vectors @ self.embedder.embed([question])[0]
        return best_of(scores, self.settings.documents, np.arange(len(scores)))


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A document: its text, and the file and number of the paragraph."""

    text: str
    source: str


def _files(path: Path) -> list[Path]:
    """A file itself; of a folder all files with names of text, in order."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in TEXT_SUFFIXES and file.is_file())


def _paragraphs(path: Path) -> list[Paragraph]:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}). Give a text file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file in UTF-8 (byte {error.start}). Give another") from error
    parts = (part for paragraph in _BLANK.split(text) for part in _pieces(" ".join(paragraph.split())))
    return [Paragraph(part, f"{path.name}:{number}") for number, part in enumerate(parts, 1)]


def _pieces(paragraph: str) -> list[str]:
    """A paragraph in pieces that fit into a line of a prompt, cut between words."""
    return wrap(paragraph, LONGEST_LINE, break_on_hyphens=False)
