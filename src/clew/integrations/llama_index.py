"""Clew in LlamaIndex (extra `llama-index`): a retriever and a query engine."""

from __future__ import annotations

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from clew.engine import Clew
from clew.integrations import answer_text, passages_of
from clew.llm.reply import ChatModel
from clew.types import Answer


class ClewRetriever(BaseRetriever):
    """A node for each citation of the answer: its text says the triples, its metadata has them."""

    def __init__(
        self, clew: Clew, *, method: str = "auto", model: ChatModel | None = None, k: int = 20
    ) -> None:
        """Hand on the best `k` citations."""
        super().__init__()
        self._clew, self._method, self._model, self._k = clew, method, model, k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = self._clew.ask(query_bundle.query_str, method=self._method, model=self._model)
        return _nodes(self._clew, answer, self._k)


class ClewQueryEngine(BaseQueryEngine):
    """Answers with the text of the answer; its citations are the source nodes."""

    def __init__(self, clew: Clew, *, method: str = "auto", model: ChatModel | None = None) -> None:
        super().__init__(callback_manager=None)
        self._clew, self._method, self._model = clew, method, model

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._response(self._clew.ask(query_bundle.query_str, method=self._method, model=self._model))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._response(
            await self._clew.ask_async(query_bundle.query_str, method=self._method, model=self._model)
        )

    def _response(self, answer: Answer) -> Response:
        abstained = None if answer.abstained is None else answer.abstained.as_json()
        nodes = _nodes(self._clew, answer, None)
        return Response(answer_text(answer), source_nodes=nodes, metadata={"abstained": abstained})

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def _nodes(clew: Clew, answer: Answer, most: int | None) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=passage.text, metadata=passage.metadata), score=passage.score)
        for passage in passages_of(answer, most)
    ]
