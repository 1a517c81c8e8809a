"""`vector-rag`: the documents most similar to the question, and one prompt.

*Vector-retrieval* of SynaptiQA (section 4.3). A document is what the graph says of one entity: its outgoing
triples, verbalised, whose vector is the sum of the triples' vectors, so that nothing is embedded again.
`texts` gives documents of the user's own instead: their paragraphs are embedded once, and answers from them
are not grounded in triples, which the answer says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from clew.errors import UsageError
from clew.graph.neighbourhood import best_of
from clew.index.store.directory import Index
from clew.index.vectors.dots import summed_rows
from clew.index.vectors.triple_vectors import TripleVectors, with_triple_vectors
from clew.llm.prompting import LONGEST_LINE, Talk, as_data, data_lines, prompt_named
from clew.llm.types import ChatModel
from clew.methods.baselines.documents import Document
from clew.methods.baselines.evidence import ZERO_SHOT, EvidenceMethod, RetrievedTriples
from clew.methods.baselines.llm import ungrounded
from clew.methods.baselines.settings import VectorRagSettings
from clew.methods.run import Run
from clew.text.embedder import Embedder, unit_rows
from clew.types import Answer, Step

_BLANK = re.compile(r"\n\s*\n")
MOST_DOCUMENT_TRIPLES = 60
"""Triples of one document that are read."""


class VectorRag(EvidenceMethod):
    """Whole neighbourhoods, or paragraphs of text files, by similarity."""

    name = "vector-rag"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: VectorRagSettings | None = None,
    ) -> None:
        self.settings = settings or VectorRagSettings()
        texts = self.settings.texts
        if texts and model is None:
            raise UsageError("Only a chat model reads texts. Name one with --llm, or leave the texts out")
        self.paragraphs = [paragraph for document in texts for paragraph in _paragraphs(document)]
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
        talk = Talk.begin(self.model, id)
        run = Run(self.name, id, talk)
        found = [self.paragraphs[i] for i in self._nearest(question)]
        run.steps.append(Step("documents", {"texts": [{"from": p.source, "text": p.text} for p in found]}))
        documents = data_lines(p.text for p in found)
        prompt = prompt_named("clew.methods.baselines", "vector_rag")

        def work() -> Answer:
            text = talk.ask(prompt, ZERO_SHOT, DOCUMENTS=documents, QUESTION=as_data(question))
            return ungrounded(question, text)

        return run.answer(question, work)

    def topic_entities(self, question: str, called: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """The entities whose documents are nearest: none need be linked."""
        return tuple(int(node) for node in self._nearest(question))

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

    def _nearest(self, question: str) -> NDArray[np.int64]:
        scores = self._vectors @ self.embedder.embed([question])[0]
        return best_of(scores, self.settings.k, np.arange(len(scores)))


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A part of a document: its text, and the document's name with the number of the part."""

    text: str
    source: str


def _paragraphs(document: Document) -> list[Paragraph]:
    paragraphs = (" ".join(paragraph.split()) for paragraph in _BLANK.split(document.text))
    parts = (part for paragraph in paragraphs for part in _pieces(paragraph))
    return [Paragraph(part, f"{document.name}:{number}") for number, part in enumerate(parts, 1)]


def _pieces(paragraph: str) -> list[str]:
    """A paragraph in pieces that fit into a line of a prompt, cut between words."""
    return wrap(paragraph, LONGEST_LINE, break_on_hyphens=False)
