"""Clew in LangChain (extra `langchain`): a retriever, a tool, and a runnable."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import ConfigDict, SkipValidation

from clew.engine import Clew
from clew.integrations import answer_text, passages_of
from clew.llm.reply import ChatModel


class ClewRetriever(BaseRetriever):
    """A document for each citation of the answer: its text says the triples, its metadata has them.

    `k` is how many at most, the best first; an abstention has none. `llama_index.py` has the class of the
    same name for the other framework: users of both look for that name.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    clew: SkipValidation[Clew]
    method: str = "auto"
    model: SkipValidation[ChatModel | None] = None
    k: int = 20

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        answer = self.clew.ask(query, method=self.method, model=self.model)
        return _documents(self.clew, answer, self.k)


def clew_runnable(
    clew: Clew, *, method: str = "auto", model: ChatModel | None = None
) -> Runnable[str, dict[str, Any]]:
    """A runnable from a question to `{"answer", "abstained", "documents"}`; documents are its citations."""

    def run(question: str) -> dict[str, Any]:
        answer = clew.ask(question, method=method, model=model)
        abstained = None if answer.abstained is None else answer.abstained.as_json()
        return {"answer": answer.text, "abstained": abstained, "documents": _documents(clew, answer, None)}

    return RunnableLambda(run, name="clew")


def clew_tool(
    clew: Clew, *, name: str = "ask_knowledge_graph", about: str = "", model: ChatModel | None = None
) -> BaseTool:
    """A tool for agents: a question in plain words; it returns the answer, with documents as its artifact.

    `about` says what the graph is about, for the agent to know when to use it.
    """

    def ask(question: str) -> tuple[str, list[Document]]:
        answer = clew.ask(question, model=model)
        return answer_text(answer), _documents(clew, answer, None)

    graph = f"a knowledge graph about {about}" if about else "a knowledge graph"
    description = f"Answers one question in plain English from {graph}; says so if that has no answer."
    return StructuredTool.from_function(
        ask, name=name, description=description, response_format="content_and_artifact"
    )


def _documents(clew: Clew, answer: Any, most: int | None) -> list[Document]:  # noqa: ANN401
    return [
        Document(page_content=passage.text, metadata={**passage.metadata, "score": passage.score})
        for passage in passages_of(answer, most)
    ]
