"""`vector-rag`: the documents most similar to the question, and one prompt.

*Vector-retrieval* of SynaptiQA (section 4.3). A document is what the graph says of one entity: its outgoing
triples, verbalised, whose vector is the sum of the triples' vectors, so that nothing is embedded again.
`texts` gives documents of the user's own instead: their paragraphs are embedded once, and answers from them
are not grounded in triples, which the answer says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

import numpy as np

from clew.errors import InputError, UsageError
from clew.foundation.arrays import Float32, Int64
from clew.graph.neighbourhood import best_of
from clew.index.store.directory import Index
from clew.index.vectors.dots import summed_rows
from clew.index.vectors.triple_vectors import TripleVectors
from clew.llm.prompting import LONGEST_LINE, Talk, as_data, data_lines, prompt_named
from clew.llm.types import ChatModel
from clew.methods.baselines.evidence import ZERO_SHOT, EvidenceMethod
from clew.methods.baselines.llm import ungrounded_answer
from clew.methods.baselines.settings import Document, VectorRagSettings
from clew.methods.kg_rag.retrieve import RetrievedTriples
from clew.methods.run import Run
from clew.methods.topic_entities import Called
from clew.text.embedder import Embedder, unit_rows
from clew.types import Answer, Step

TEXT_SUFFIXES = frozenset((".txt", ".md", ".rst", ".text"))
_BLANK = re.compile(r"\n\s*\n")
MOST_DOCUMENT_TRIPLES = 60
"""Triples of one document that are read."""


def read_documents(paths: Sequence[Path]) -> tuple[Document, ...]:
    """Read text files; of a folder all that have names of text, in order. InputError for what is no text."""
    documents = tuple(_document(file) for path in paths for file in _files(path))
    if not any(document.text.strip() for document in documents):
        raise InputError(f"{paths[0]}: there is no text in the documents. Give others")
    return documents


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in TEXT_SUFFIXES and file.is_file())


def _document(path: Path) -> Document:
    try:
        return Document(path.name, path.read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}). Give a text file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file in UTF-8 (byte {error.start}). Give another") from error


class VectorRag(EvidenceMethod[VectorRagSettings]):
    """Whole neighbourhoods, or paragraphs of text files, by similarity."""

    name, settings_class = "vector-rag", VectorRagSettings

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: VectorRagSettings | None = None,
    ) -> None:
        if settings is not None and settings.texts and model is None:
            raise UsageError("Only a chat model reads texts. Name one with --llm, or leave the texts out")
        super().__init__(index, embedder, model=model, settings=settings)
        self.paragraphs = [part for document in self.settings.texts for part in _paragraphs(document)]
        if self.settings.texts and not self.paragraphs:
            raise InputError("There is no text in the documents. Give others")
        self._vectors = self._document_vectors()

    def _document_vectors(self) -> Float32:
        """Vectors of the paragraphs, or of the entities: float32 [documents, d]."""
        if self.paragraphs:
            return self.embedder.embed([part.text for part in self.paragraphs])
        triple_vectors, out = TripleVectors.of(self.index, self.embedder), self.graph.out
        return unit_rows(summed_rows(triple_vectors.rows, triple_vectors.scales, out.starts, out.stops))

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer from documents, or abstain with a reason. Raises LlmError."""
        if not self.paragraphs or self.model is None:
            return super().answer(question, id=id, entities=entities)
        talk = Talk.begin(self.model, id)
        run = Run(self.name, id, talk)
        nearest = [self.paragraphs[i] for i in self._nearest(question)]
        run.steps.append(Step("documents", {"texts": [{"from": p.name, "text": p.text} for p in nearest]}))
        documents = data_lines(p.text for p in nearest)
        prompt = prompt_named("clew.methods.baselines", "vector_rag")

        def work() -> Answer:
            text = talk.ask(prompt, ZERO_SHOT, DOCUMENTS=documents, QUESTION=as_data(question))
            return ungrounded_answer(question, text)

        return run.answer(question, work)

    def topic_entities(self, question: str, called: Called) -> tuple[int, ...]:
        """The entities whose documents are nearest: none need be linked."""
        return tuple(self._nearest(question).tolist())

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """The triples of these documents."""
        triples, notes = list[int](), list[str]()
        for node in topic_entities:
            start, stop = self.graph.out.span(node)
            triples += range(start, min(stop, start + MOST_DOCUMENT_TRIPLES))
            if stop - start > MOST_DOCUMENT_TRIPLES:
                name = self.graph.labels[node]
                notes.append(f"{MOST_DOCUMENT_TRIPLES} of the {stop - start:,} triples of {name} are read")
        return RetrievedTriples(triples, tuple(notes))

    def _nearest(self, question: str) -> Int64:
        scores = self._vectors @ self.embedder.embed([question])[0]
        return best_of(scores, self.settings.k, np.arange(len(scores)))


def _paragraphs(document: Document) -> Iterator[Document]:
    """The paragraphs, in pieces that fit into a line of a prompt, cut between words; all are numbered."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in _BLANK.split(document.text))
    parts = (part for text in paragraphs for part in wrap(text, LONGEST_LINE, break_on_hyphens=False))
    return (Document(f"{document.name}:{number}", part) for number, part in enumerate(parts, 1))
