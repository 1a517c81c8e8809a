"""`vector-rag`: the documents most similar to the question, and one prompt.

*Vector-retrieval* of SynaptiQA (section 4.3). A document is what the graph says of one entity: its outgoing
triples, verbalised, whose vector is the sum of the triples' vectors, so that nothing is embedded again.
`texts` gives documents of the user's own instead: their paragraphs are embedded once, and answers from them
are not grounded in triples, which the answer says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError, UsageError
from clew.graph.candidates import best_of
from clew.graph.kernels.dots import summed_rows
from clew.index.directory import Index
from clew.index.triple_vectors import TripleVectors, with_triple_vectors
from clew.llm.types import ChatModel
from clew.methods.evidence import ZERO_SHOT, EvidenceMethod
from clew.steps.prompting import Talk, data_line, data_lines, prompt_named
from clew.text.embedder import Embedder, unit_rows
from clew.types import Abstention, Answer, Step

MOST_TRIPLES = 60
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
        documents: int = 3,
        texts: Sequence[Path] = (),
    ) -> None:
        super().__init__(with_triple_vectors(index, embedder), embedder, model=model)
        self.documents = documents
        if texts and model is None:
            raise UsageError("Only a chat model reads documents of text. Name one, or leave the texts out.")
        self.paragraphs = [p for path in texts for p in _paragraphs(path)]
        if texts and not self.paragraphs:
            raise InputError(f"{texts[0]}: there is no text in the documents. Give others")
        if self.paragraphs:
            self._vectors: NDArray[np.float32] = embedder.embed(self.paragraphs)
        else:
            held = TripleVectors.of(self.index, embedder)
            self._vectors = unit_rows(summed_rows(held.rows, held.scales, self.graph.out.offsets))

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer from documents, or abstain with a reason. Raises LlmError."""
        if not self.paragraphs or self.model is None:
            return super().answer(question, id=id, entities=entities)
        began = perf_counter()
        talk = Talk.begin(self.model, id)
        found = [self.paragraphs[i] for i in self._nearest(question)]
        text = talk.ask(
            prompt_named("vector_rag"), ZERO_SHOT, DOCUMENTS=data_lines(found), QUESTION=data_line(question)
        )
        answer = Answer(question, text=text, grounded=False, method=self.name, model=talk.model.name, id=id)
        if not text:
            abstained = Abstention("not_in_evidence", "the model gave no answer")
            answer = replace(answer, abstained=abstained, grounded=True)
        total = round((perf_counter() - began) * 1000, 3)
        steps = (Step("documents", {"texts": found}), *talk.steps)
        return replace(answer, usage=talk.usage, timings_ms={"total": total}, steps=steps)

    def seeds(self, question: str, entities: Sequence[str], talk: Talk | None) -> tuple[int, ...]:
        """The entities whose documents are nearest: none need be linked."""
        return tuple(int(node) for node in self._nearest(question))

    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Sequence[int]:
        """The triples of these documents."""
        offsets = self.graph.out.offsets
        return [
            t
            for node in seeds
            for t in range(int(offsets[node]), min(int(offsets[node + 1]), int(offsets[node]) + MOST_TRIPLES))
        ]

    def _nearest(self, question: str) -> NDArray[np.int64]:
        scores = self._vectors @ self.embedder.embed([question])[0]
        return best_of(scores, self.documents, np.arange(len(scores)))


def _paragraphs(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file in UTF-8 (byte {error.start})") from error
    return [p for part in text.split("\n\n") if (p := " ".join(part.split()))]
