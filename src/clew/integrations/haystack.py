"""Clew in Haystack (extra `haystack`): a component for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from clew.engine import Clew
from clew.integrations import passages_of


@component
class ClewAnswerer:
    """Answers a question from an index or a graph file, opened by `warm_up`; documents are its citations."""

    def __init__(self, source: str | Path, method: str = "auto", top_k: int = 20) -> None:
        """Answer from `source`, with at most `top_k` documents."""
        self.source, self.method, self.top_k = str(source), method, top_k
        self._clew: Clew | None = None

    def warm_up(self) -> None:
        """Open the source; raises as `Clew.open`."""
        if self._clew is None:
            self._clew = Clew.open(self.source)

    @component.output_types(answer=str, documents=list[Document], abstained=dict[str, Any] | None)
    def run(self, query: str) -> dict[str, Any]:
        """Answer: its text (empty for an abstention), its citations, and why there is none."""
        self.warm_up()
        clew = self._clew
        assert clew is not None  # noqa: S101 (warm_up has opened it)
        answer = clew.ask(query, method=self.method)
        documents = [
            Document(content=passage.text, meta=passage.metadata, score=passage.score)
            for passage in passages_of(answer, self.top_k)
        ]
        abstained = None if answer.abstained is None else answer.abstained.as_json()
        return {"answer": answer.text, "documents": documents, "abstained": abstained}

    def to_dict(self) -> dict[str, Any]:
        """Write the component as a pipeline's file has it."""
        return default_to_dict(self, source=self.source, method=self.method, top_k=self.top_k)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ClewAnswerer:
        """Read it back."""
        return default_from_dict(cls, data)
