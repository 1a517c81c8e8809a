"""The `verbalise` step with a model: one call a distinct walk (Walk&Retrieve, Fig. 2a).

Replies are recorded as they come. A walk whose call fails is counted; the next run asks for it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from clew.foundation.arrays import Int32
from clew.graph.graph import Graph
from clew.graph.walks.walks import Walks
from clew.index.corpus import NearWalk, root_of_walks
from clew.llm.budget import Charge, Price, ReplyCache, estimate
from clew.llm.managed import data_line, prompt_named, run_sync
from clew.llm.reply import ChatModel, clean
from clew.llm.types import BudgetReached, KeyRefused, LlmError, Reply, Request
from clew.methods.walk_retrieve.method import LONGEST_SENTENCE, triples_of
from clew.workers import Workers

WALKS_OF_BATCH = 256
"""Walks that a worker is given at once: what a kill may lose."""
LEAST_ALL = 8
"""Walks of a batch that must fail together for the model to be taken for down."""


class ModelVerbaliser:
    """A `Verbaliser` (`clew.index.corpus`) that is a model; what it says is recorded in `folder`.

    `estimated` is called with the most that it will take, `progress` with (walks done, all walks, cost so
    far). With a `cluster`, which pickles it, workers ask `of_batch` walks with `concurrency` requests each.
    """

    of_batch, concurrency = WALKS_OF_BATCH, 8

    def __init__(
        self,
        model: ChatModel,
        folder: Path,
        *,
        price: Price | None = None,
        estimated: Callable[[Charge], None] | None = None,
        progress: Callable[[int, int, float | None], None] | None = None,
        cluster: Workers | None = None,
    ) -> None:
        self.name, self.sentence_count, self.failed, self.calls = model.name, 0, 0, 0
        self.cost: float | None = 0.0
        self._model, self._folder, self._price = model, folder, price
        self._estimated, self._progress = estimated, progress
        self._total, self._cluster = 0, cluster

    def begin(self, graph: Graph, walks: Walks, roots: int) -> None:
        """Estimate what all `roots` will take, from the `walks` of some of them, and tell it."""
        near_walks = _near_walks(root_of_walks(walks).tolist(), walks.steps, walks.nodes)
        charges = (estimate(request_of(graph, walk), self._price) for walk in dict.fromkeys(near_walks))
        some, times = sum(charges, Charge()), roots / max(1, len(walks.roots))
        self._total = round(some.calls * times)
        if self._estimated is not None:
            tokens = round(some.input_tokens * times), round(some.output_tokens * times)
            self._estimated(Charge(self._total, *tokens, some.money * times))

    def say(self, graph: Graph, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str]:
        """Say walks, one call each; empty where it failed. What is recorded stays.

        Raises BudgetReached, KeyRefused, and the last LlmError if no walk of a batch could be said.
        """
        walks = _near_walks(roots, steps, nodes)
        requests = {walk: replace(request_of(graph, walk), model=self.name) for walk in walks}
        self._folder.mkdir(parents=True, exist_ok=True)
        recorded, errors = ReplyCache(self._folder / "replies.sqlite"), list[LlmError]()
        try:
            replies = {walk: recorded.find(request) for walk, request in requests.items()}
            missing = [walk for walk, reply in replies.items() if reply is None]
            self._tell_done(len(replies) - len(missing))
            asked = self._asked([requests[walk] for walk in missing], errors)
            for reply, walk in zip(asked, missing, strict=False):
                replies[walk] = reply
                if reply is not None:
                    recorded.store(requests[walk], reply)
                    self.calls += reply.usage.calls
                    cost, self.cost = self.cost, None
                    if cost is not None and reply.cost is not None:
                        self.cost = cost + reply.cost
        finally:
            recorded.close()
        if errors:
            raise errors[0]
        said = {
            walk: _sentence(reply, requests[walk]) for walk, reply in replies.items() if reply is not None
        }
        self.failed += sum(walk not in said for walk in walks)
        return [said.get(walk, "") for walk in walks]

    def _asked(self, requests: Sequence[Request], errors: list[LlmError]) -> Iterator[Reply | None]:
        """The reply to each request, batch by batch, None if it failed; no batch begins after an error."""
        batches = [requests[at : at + self.of_batch] for at in range(0, len(requests), self.of_batch)]
        ask, pending = (
            partial(_asking, self._model, self.concurrency),
            takewhile(lambda _: not errors, batches),
        )
        for replies, error in (
            map(ask(), pending) if self._cluster is None else self._cluster.map(ask, pending)
        ):
            errors += [] if error is None else [error]
            yield from replies
            self._tell_done(len(replies))

    def _tell_done(self, walks: int) -> None:
        self.sentence_count += walks
        if self._progress is not None:
            self._progress(self.sentence_count, max(self._total, self.sentence_count), self.cost)


def _near_walks(roots: Sequence[int], steps: Int32, nodes: Int32) -> list[NearWalk]:
    lengths: list[int] = (steps >= 0).sum(axis=1).tolist()
    rows = zip(roots, steps.tolist(), nodes.tolist(), lengths, strict=True)
    return [NearWalk(root, tuple(s[:n]), tuple(t[:n]), 0.0) for root, s, t, n in rows]


def request_of(graph: Graph, walk: NearWalk) -> Request:
    """The prompt of Fig. 2a for one walk."""
    names, relations = graph.labels, graph.relation_labels
    rows = (
        f"{names[head]} | {relations[relation]} | {names[tail]}" for head, relation, tail in triples_of(walk)
    )
    rows_text = "\n".join(data_line(row, LONGEST_SENTENCE) for row in rows)
    messages = prompt_named("clew.methods.walk_retrieve", "verbalise").messages(WALK=rows_text)
    return Request(messages, temperature=0.0, max_tokens=128)


BatchReplies = tuple[list[Reply | None], LlmError | None]
"""Replies to some requests, None for one that failed; and the error that ends the work, if there is one."""


def _asking(model: ChatModel, concurrency: int) -> Callable[[Sequence[Request]], BatchReplies]:
    """Make, in a worker, what asks a model, so many requests at a time."""
    return lambda requests: run_sync(_ask_all(model, requests, concurrency))


async def _ask_all(model: ChatModel, requests: Sequence[Request], concurrency: int) -> BatchReplies:
    """All replies, None for a request that failed."""
    gate, stop, failures = asyncio.Semaphore(concurrency), list[LlmError](), list[LlmError]()

    async def ask_one(request: Request) -> Reply | None:
        async with gate:
            try:
                reply = None if stop else await model.complete(request)
            except LlmError as error:
                (stop if isinstance(error, (BudgetReached, KeyRefused)) else failures).append(error)
                return None
            return reply if reply is not None and _sentence(reply, request) else None

    replies = list(await asyncio.gather(*map(ask_one, requests)))
    if not stop and failures and len(replies) >= LEAST_ALL and not any(replies):
        stop.append(failures[-1])  # the model is down: to go on would leave out everything
    return replies, stop[0] if stop else None


def _sentence(reply: Reply, request: Request) -> str:
    return data_line(clean(reply.text, request.stop), LONGEST_SENTENCE)
