"""The `verbalise` step with a model: one call a distinct walk, in shards (Walk&Retrieve, Fig. 2a).

A shard is one file, put in place whole, so that work that was stopped goes on with the first shard that is
not there. A walk whose calls all fail is left out and counted; its shard is done again by the next run, which
asks for that walk only.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from clew.foundation.arrays import Int32
from clew.foundation.system import replace_file
from clew.graph.graph import Graph
from clew.graph.walks.walks import Walks
from clew.index.corpus import NearWalk, root_of_walks
from clew.llm.budget import Price, estimate
from clew.llm.managed import data_line, prompt_named, run_sync
from clew.llm.reply import clean
from clew.llm.types import BudgetReached, ChatModel, KeyRefused, LlmError, Reply, Request
from clew.methods.walk_retrieve.method import LONGEST_SENTENCE, triples_of
from clew.workers import Workers

WALKS_OF_FILE = 256
"""Walks of one file: what a kill may lose."""
SENTENCE_ATTEMPTS = 3
MOST_SAID_TOKENS = 128
"""Tokens of a sentence that says a walk."""
LEAST_ALL = 8
"""Walks of a shard that must fail together for the model to be taken for down."""


@dataclass(frozen=True, slots=True)
class VerbaliseEstimate:
    """The most that saying walks will take: calls, tokens in and out, and money if the price is known."""

    calls: int
    input_tokens: int
    output_tokens: int
    money: float | None


class ModelVerbaliser:
    """A `Verbaliser` (`clew.index.corpus`) that is a model; shards are kept in `folder`.

    `estimated` is called once before anything is sent, `progress` with (walks done, all walks, cost so far).
    `said`, `failed`, `calls` and `cost` count what was done so far. With a `cluster` its workers ask the
    model, which can be pickled then. `of_file` walks are a shard, `concurrency` requests go at a time.
    """

    of_file, concurrency = WALKS_OF_FILE, 8

    def __init__(
        self,
        model: ChatModel,
        folder: Path,
        *,
        price: Price | None = None,
        estimated: Callable[[VerbaliseEstimate], None] | None = None,
        progress: Callable[[int, int, float | None], None] | None = None,
        cluster: Workers | None = None,
    ) -> None:
        self.name, self.sentence_count, self.failed, self.calls = model.name, 0, 0, 0
        self.cost: float | None = 0.0
        self._model, self._folder, self._price = model, folder, price
        self._estimated, self._progress = estimated, progress
        self._total, self._parts, self._cluster = 0, 0, cluster

    def begin(self, graph: Graph, walks: Walks, roots: int) -> None:
        """Estimate what all `roots` will take, from the `walks` of some of them, and tell it."""
        near_walks = _near_walks(root_of_walks(walks).tolist(), walks.steps, walks.nodes)
        sample = estimate_walks(graph, near_walks, self._price)
        times = roots / max(1, len(walks.roots))
        self._total = round(sample.calls * times)
        if self._estimated is not None:
            tokens = round(sample.input_tokens * times), round(sample.output_tokens * times)
            money = None if sample.money is None else sample.money * times
            self._estimated(VerbaliseEstimate(self._total, *tokens, money))

    def say(self, graph: Graph, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str]:
        """Say walks, one call each; empty where it failed. Raises as `sentences`."""
        return [sentence or "" for sentence in self.sentences(graph, _near_walks(roots, steps, nodes))]

    def sentences(self, graph: Graph, walks: Sequence[NearWalk]) -> list[str | None]:
        """The sentences of walks, None where a call failed; those of a shard that is there stay.

        Raises BudgetReached and KeyRefused, which no further try would mend, and the last LlmError if none of
        the walks of a shard could be said; what was done until then is kept.
        """
        folder = self._folder / f"part-{self._parts:06}"
        folder.mkdir(parents=True, exist_ok=True)
        distinct = list(dict.fromkeys(walks))
        parts = [distinct[at : at + self.of_file] for at in range(0, len(distinct), self.of_file)]
        files = (folder / f"shard-{number:06}.json" for number in range(len(parts)))
        shards = [_Shard.of(self.name, graph, *each) for each in zip(parts, files, strict=True)]
        sentence_by_walk: dict[NearWalk, str | None] = {}
        said_before, calls = self.sentence_count, 0
        errors: list[LlmError] = []
        for shard, shard_replies in _ask_shards(
            shards, _AskShard(self._model, self.concurrency), self._cluster, errors
        ):
            if shard_replies is not None:
                shard.take(shard_replies.replies)
                for reply in (reply for reply in shard_replies.replies if reply is not None):
                    calls += reply.usage.calls
                    self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
            sentence_by_walk |= dict(zip(shard.walks, shard.sentences, strict=True))
            self.sentence_count = said_before + len(sentence_by_walk)
            if self._progress is not None:
                self._progress(self.sentence_count, max(self._total, self.sentence_count), self.cost)
        if errors:
            raise errors[0]
        self._parts += 1
        self.calls += calls
        self.failed += sum(sentence_by_walk[walk] is None for walk in walks)
        return [sentence_by_walk[walk] for walk in walks]


def _near_walks(roots: Sequence[int], steps: Int32, nodes: Int32) -> list[NearWalk]:
    lengths: list[int] = (steps >= 0).sum(axis=1).tolist()
    rows = zip(roots, steps.tolist(), nodes.tolist(), lengths, strict=True)
    return [NearWalk(root, tuple(s[:n]), tuple(t[:n]), 0.0) for root, s, t, n in rows]


def estimate_walks(graph: Graph, walks: Sequence[NearWalk], price: Price | None) -> VerbaliseEstimate:
    """Estimate before anything is sent, high, as budgets do."""
    charges = [estimate(request_of(graph, walk), price) for walk in dict.fromkeys(walks)]
    money = None if price is None else sum(charge.money for charge in charges)
    return VerbaliseEstimate(
        len(charges), sum(c.input_tokens for c in charges), sum(c.output_tokens for c in charges), money
    )


def request_of(graph: Graph, walk: NearWalk) -> Request:
    """The prompt of Fig. 2a for one walk."""
    names, relations = graph.labels, graph.relation_labels
    rows = (
        f"{names[head]} | {relations[relation]} | {names[tail]}" for head, relation, tail in triples_of(walk)
    )
    rows_text = "\n".join(data_line(row, LONGEST_SENTENCE) for row in rows)
    messages = prompt_named("clew.methods.walk_retrieve", "verbalise").messages(WALK=rows_text)
    return Request(messages, temperature=0.0, max_tokens=MOST_SAID_TOKENS)


@dataclass(frozen=True, slots=True)
class _Shard:
    """Walks of one file, with the sentences that say them so far."""

    walks: Sequence[NearWalk]
    requests: Sequence[Request]
    path: Path
    key: str
    sentences: list[str | None]

    @classmethod
    def of(cls, model: str, graph: Graph, walks: Sequence[NearWalk], path: Path) -> _Shard:
        requests = [request_of(graph, walk) for walk in walks]
        key = hashlib.sha256("".join((model, *(r.key for r in requests))).encode()).hexdigest()
        return cls(walks, requests, path, key, _read_stored(path, key, len(walks)))

    @property
    def missing(self) -> list[int]:
        """Rows that nothing is said of."""
        return [row for row, sentence in enumerate(self.sentences) if sentence is None]

    def take(self, replies: Sequence[Reply | None]) -> None:
        """Take what came for the missing ones, and write the file."""
        for row, reply in zip(self.missing, replies, strict=True):
            if reply is not None:
                self.sentences[row] = _sentence(reply, self.requests[row])
        _store(self.path, self.key, self.sentences)


@dataclass(frozen=True, slots=True)
class ShardReplies:
    """Replies to some requests, None for one that failed; `error` is what ended the work."""

    replies: list[Reply | None]
    error: LlmError | None = None


def _ask_shards(
    shards: Sequence[_Shard], ask: _AskShard, cluster: Workers | None, errors: list[LlmError]
) -> Iterator[tuple[_Shard, ShardReplies | None]]:
    """Each shard with the replies to its missing walks; None for a shard that has all.

    After an error, which is put into `errors`, no other shard is begun; those that are under way come.
    """

    def missing_requests() -> Iterator[list[Request]]:
        for shard in shards:
            if errors:
                return
            if rows := shard.missing:
                yield [shard.requests[row] for row in rows]

    replies = iter(
        map(ask(), missing_requests()) if cluster is None else cluster.map(ask, missing_requests())
    )
    for shard in shards:
        if not shard.missing:
            yield shard, None
            continue
        shard_replies = next(replies, None)
        if shard_replies is None:
            return
        if shard_replies.error is not None:
            errors.append(shard_replies.error)
        yield shard, shard_replies


@dataclass(frozen=True, slots=True)
class _AskShard:
    """Makes, in a worker, what asks a model, so many requests at a time."""

    model: ChatModel
    concurrency: int

    def __call__(self) -> Callable[[Sequence[Request]], ShardReplies]:
        return lambda requests: run_sync(_ask_all(self.model, requests, self.concurrency))


async def _ask_all(model: ChatModel, requests: Sequence[Request], concurrency: int) -> ShardReplies:
    """All replies, None for a request that failed `SENTENCE_ATTEMPTS` times."""
    gate, stop, failures = asyncio.Semaphore(concurrency), list[LlmError](), list[LlmError]()

    async def ask_one(request: Request) -> Reply | None:
        async with gate:
            for _ in range(SENTENCE_ATTEMPTS):
                if stop:
                    return None
                try:
                    reply = await model.complete(request)
                except (BudgetReached, KeyRefused) as error:
                    stop.append(error)
                    return None
                except LlmError as error:
                    failures.append(error)
                    continue
                if _sentence(reply, request):
                    return reply
            return None

    replies = list(await asyncio.gather(*map(ask_one, requests)))
    if not stop and failures and len(replies) >= LEAST_ALL and not any(replies):
        stop.append(failures[-1])  # the model is down: to go on would leave out everything
    return ShardReplies(replies, stop[0] if stop else None)


def _sentence(reply: Reply, request: Request) -> str:
    return data_line(clean(reply.text, request.messages, request.stop), LONGEST_SENTENCE)


def _read_stored(path: Path, key: str, count: int) -> list[str | None]:
    """Sentences of a shard that is there for the same walks, prompt and model; else none."""
    try:
        raw: Any = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        raw = None
    stored = cast("dict[str, Any]", raw if isinstance(raw, dict) else {})
    return list(stored["sentences"]) if stored.get("key") == key else [None] * count


def _store(path: Path, key: str, sentences: Sequence[str | None]) -> None:
    text = json.dumps({"key": key, "sentences": list(sentences)}, ensure_ascii=False)
    replace_file(path, text, synced=True)
