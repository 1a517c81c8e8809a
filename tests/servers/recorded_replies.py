"""A chat endpoint on localhost that says what a strong model said (`tests/data/replies`), and nothing else.

python tests/servers/recorded_replies.py: prints the base URL, and serves until its input ends. Use it as
`OPENAI_BASE_URL=URL OPENAI_API_KEY=none clew eval … --llm openai/strong`.
"""

import gzip
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "data" / "replies"
METHODS = ("kaping",)
"""Methods whose prompts have replies. Those of the others have changed, and have to be asked again."""
Turn = tuple[str, str]
"""Role and text of a turn of a conversation."""


def key_of(turns: Sequence[Turn]) -> str:
    """What a prompt is known by: the start of the hash of its turns."""
    text = json.dumps([list(turn) for turn in turns], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def recorded(method: str) -> Mapping[str, str]:
    """The replies of a method, by the key of the prompt."""
    with gzip.open(FOLDER / f"{method}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {record["key"]: record["reply"] for record in map(json.loads, lines)}


@cache
def every_reply() -> Mapping[str, str]:
    """The replies of all methods; equal prompts have equal replies."""
    return {key: reply for method in METHODS for key, reply in recorded(method).items()}


@cache
def traces(method: str) -> tuple[dict[str, Any], ...]:
    """What came of each question: set, id, question, gold, and the answers that the method gave."""
    with gzip.open(FOLDER / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(trace for trace in map(json.loads, lines) if trace["method"] == method)


@contextmanager
def replaying_server() -> Iterator[str]:
    """Serve the recorded replies; yields the base URL. A prompt that was not asked is an error (400)."""
    from servers.fake_server import Answer, Seen, completion, serving

    def answer(seen: Seen) -> Answer:
        turns = [(m["role"], m["content"]) for m in seen.body["messages"]]
        reply = every_reply().get(key_of(turns))
        if reply is None:
            message = f"no reply was recorded to this prompt: …{turns[-1][1][-300:]}"
            return Answer({"error": {"message": message, "type": "not_recorded"}}, status=400)
        asked = sum(len(text) for _, text in turns)
        usage = {"prompt_tokens": -(-asked // 4), "completion_tokens": -(-len(reply) // 4)}
        usage["total_tokens"] = sum(usage.values())
        return Answer(completion(reply, usage=usage))

    with serving(by=answer) as (_, url):
        yield f"{url}/v1"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    with replaying_server() as address:
        sys.stdout.write(address + "\n")
        sys.stdout.flush()
        sys.stdin.read()
