"""What methods make of small chat models in GGUF files, beside the same questions without a model.

    python benchmarks/small_models.py ask REPLIES.jsonl --file MODEL.gguf --set trades --methods auto simgrag
    python benchmarks/small_models.py ask REPLIES.jsonl --set trades       (from recorded replies alone)
    python benchmarks/small_models.py ask none --set trades                (without a model)
    python benchmarks/small_models.py ask REPLIES.jsonl --set opaque --one-look
    python benchmarks/small_models.py pack REPLIES.jsonl OUT.jsonl.gz

`trades` are 60 development questions, five of each graph of `tests/data/trades/dev`, drawn by a seed;
`opaque` the 80 of `tests/data/opaque`. A prompt takes a model half a minute on one thread, so each reply is
appended to REPLIES as it comes: a run that was stopped goes on where it was, and one after a change of code
asks only what is new. Seconds are those that the replies took when they were recorded. `--one-look` is `auto`
without its second look. What each question came to is printed, then a row for `benchmarks/RESULTS.md`; a
question that has no recorded reply counts as failed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from harness import CACHE
from questions import DATA, Item, databases, lines_of, packed

from clew.engine import Clew
from clew.errors import LlmError
from clew.llm.open import open_model
from clew.llm.providers import settings_from
from clew.llm.reply import ChatModel
from clew.llm.types import ContextOverflow, Hear, Reply, Request
from clew.types import Answer, Usage

sys.path.insert(0, str(DATA.parent))
from servers.recorded_replies import key_of

SEED, EACH = 4708, 5
CONTEXT = 8192
"""Tokens of prompt and reply together, as `--llm gguf/…` has."""
PATIENCE = 3600.0
"""Seconds that one reply may take."""
HEADER = """| model | method | questions | right | wrong | left open | failed | calls | tokens | seconds |
|---|---|---|---|---|---|---|---|---|---|"""


class Recording(ChatModel):
    """A chat model whose replies are kept in a file; what is not there is asked of `model`, if given."""

    def __init__(self, path: Path, model: ChatModel | None) -> None:
        super().__init__(path.stem)
        self.path, self.model, self.seconds = path, model, 0.0
        self.rows: dict[str, dict[str, Any]] = {}
        if packed(path).exists():
            self.rows = {row["key"]: row for row in map(json.loads, lines_of(path))}

    async def complete(self, request: Request, hear: Hear | None = None) -> Reply:
        """Reply as was recorded, or ask and record. Raises LlmError."""
        turns = [(m.role, m.text) for m in request.messages]
        row = self.rows.get(key_of(turns)) or await self._asked(request, key_of(turns))
        self.seconds += row["seconds"]
        if "too_long" in row:
            raise ContextOverflow(row["too_long"], 400)
        return Reply(row["reply"], self.name, Usage(1, row["input"], row["output"]), row["finish"])

    async def close(self) -> None:
        """Close the model."""
        if self.model is not None:
            await self.model.close()

    async def _asked(self, request: Request, key: str) -> dict[str, Any]:
        if self.model is None:
            raise LlmError("no reply was recorded to this prompt")
        began, row = perf_counter(), dict[str, Any](key=key)
        try:
            reply = await self.model.complete(request)
            tokens = {"input": reply.usage.input_tokens, "output": reply.usage.output_tokens}
            row |= {"reply": reply.text, "finish": reply.finish, **tokens}
        except ContextOverflow as error:
            row |= {"too_long": str(error)}
        row |= {"seconds": round(perf_counter() - began, 2), "question": request.messages[-1].text[-120:]}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.rows[key] = row
        return row


@contextmanager
def served(file: Path, threads: int) -> Iterator[str]:
    """Serve a model by llama.cpp in this process with so many threads; yields the base URL."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.port, parameters.n_ctx, parameters.n_parallel = 0, CONTEXT, 1
    parameters.verbosity, parameters.warmup = -1, False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server  # it serves as long as it is kept


def sets(name: str, each: int) -> Iterator[tuple[str, Path, Path | None, list[Item]]]:
    """The graphs of a set, each with its questions."""
    if name == "opaque":
        for folder in sorted((DATA / "opaque").iterdir()):
            rows = map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines())
            items = [Item(row["question"], frozenset(row["gold"])) for row in rows]
            yield folder.name, folder / "kg.tsv", folder / "types.tsv", items
        return
    rng = random.Random(SEED)
    for kg, types, _, items in databases("trades/dev"):
        yield kg.parent.name, kg, types, rng.sample(items, each)


def outcome(answer: Answer, item: Item) -> str:
    """Whether the whole set of answers is right, another is given, or none."""
    if not answer.answers:
        return "open" if item.gold else "right"
    names = {a.label for a in answer.answers}, {a.entity for a in answer.answers}
    return "right" if item.gold in names else "wrong"


def ask(args: argparse.Namespace) -> None:
    """Ask each question by each method; print what came of it, and the row of each method."""
    with ExitStack() as stack:
        asked = None
        if args.file is not None:
            url = stack.enter_context(served(args.file, args.threads))
            environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
            asked = open_model(settings_from(environment, f"llamacpp/{args.replies.stem}", timeout=PATIENCE))
        model = None if str(args.replies) == "none" else Recording(args.replies, asked)
        rows = [_row(args, method, model) for method in args.methods]
    print("\n".join([HEADER, *rows]))


def _row(args: argparse.Namespace, method: str, model: Recording | None) -> str:
    count, usage, seconds = Counter[str](), Counter[str](), 0.0
    settings = {"second_look": False} if args.one_look and method == "auto" else None
    for name, kg, types, items in sets(args.set, args.each):
        with Clew.open(kg, types=types, cache_dir=CACHE) as clew:
            for item in items:
                before = 0.0 if model is None else model.seconds
                try:
                    answer = clew.ask(item.question, method=method, model=model, settings=settings)
                    came_to, said = outcome(answer, item), [a.label for a in answer.answers]
                    usage["calls"] += answer.usage.calls
                    usage["tokens"] += answer.usage.input_tokens + answer.usage.output_tokens
                    own_seconds = answer.timings_ms.get("total", 0.0) / 1000
                except LlmError as error:
                    came_to, said, own_seconds = "failed", [str(error)[:80]], 0.0
                count[came_to] += 1
                took = own_seconds if model is None else model.seconds - before
                seconds += took
                line = [method, name, came_to, f"{took:.0f}", item.question, said[:6], sorted(item.gold)[:6]]
                print(*line, sep="\t", flush=True)
    n = count.total()
    cells = [
        *(count[came_to] for came_to in ("right", "wrong", "open", "failed")),
        f"{usage['calls'] / n:.2f}", f"{usage['tokens'] / n:,.0f}", f"{seconds / n:.1f}",
    ]  # fmt: skip
    return "| " + " | ".join(map(str, ["none" if model is None else model.name, method, n, *cells])) + " |"


def pack(recording: Path, out: Path) -> None:
    """Pack a recording, without the ends of the prompts; `ask` reads it under its name without `.gz`."""
    rows = [{k: v for k, v in row.items() if k != "question"} for row in map(json.loads, lines_of(recording))]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    out.write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Ask, or pack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("ask")
    asking.add_argument("replies", type=Path, help="file of replies, its name is the model's; none: no model")
    asking.add_argument("--file", type=Path, help="GGUF file; without it only recorded replies are used")
    asking.add_argument("--set", choices=("trades", "opaque"), default="trades")
    asking.add_argument("--methods", nargs="+", default=["auto"])
    asking.add_argument("--each", type=int, default=EACH, help="questions of each graph of trades")
    asking.add_argument("--threads", type=int, default=1)
    asking.add_argument("--one-look", action="store_true", help="auto answers what is chosen once")
    packing = commands.add_parser("pack")
    packing.add_argument("recording", type=Path)
    packing.add_argument("out", type=Path)
    args = parser.parse_args()
    if args.command == "ask":
        ask(args)
    else:
        pack(args.recording, args.out)


if __name__ == "__main__":
    main()
