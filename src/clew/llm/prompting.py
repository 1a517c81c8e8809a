"""Prompts from files, what goes into them, and calls that are counted and traced."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files

from clew.llm.managed import ManagedModel, run_sync
from clew.llm.reply import FORM, LONGEST_SHOWN, clean
from clew.llm.types import ChatModel, Message, Reply, Request, add_usage
from clew.types import Step, Usage

_SLOT = re.compile(r"\{\{([A-Z]+)\}\}")
_USER = "=== user ==="
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ud800-\udfff]+")
_UNSEEN = re.compile(r"[\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]+")
"""Marks of direction, tags and the like, which hide or turn what a prompt shows; joiners belong to words."""
_BULLET = re.compile(r"^\s*(?:\d{1,2}[.):]\s|[-*•])\s*")
LONGEST_LINE = 400
"""Characters of one line of data in a prompt."""
LONGEST_QUOTED = 200
"""Characters of a model's text that a message repeats."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file: a system text, a user text with slots `{{NAME}}`, and a hash of both."""

    name: str
    system: str
    user: str
    version: str

    def with_values(self, **values: str) -> Prompt:
        """The same with a version that tells values apart which are part of the prompt, as examples are."""
        text = "\n".join((self.version, *values.values()))
        return replace(self, version=hashlib.sha256(text.encode()).hexdigest()[:12])

    def messages(self, **values: str) -> tuple[Message, Message]:
        """Fill the slots. Raises KeyError for one without a value."""
        return Message("system", filled(self.system, values)), Message("user", filled(self.user, values))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill the slots `{{NAME}}` of a text in one pass, so that no value is read as one."""
    return _SLOT.sub(lambda slot: values[slot[1]], text)


@cache
def prompt_named(package: str, name: str) -> Prompt:
    """Read `prompts/NAME.txt` of a package; that of `clew.methods.kg_rag` is called `kg_rag/NAME`."""
    text = files(package).joinpath("prompts", f"{name}.txt").read_text("utf-8").replace("{{FORM}}", FORM)
    system, _, user = text.partition(_USER)
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Prompt(f"{package.rpartition('.')[2]}/{name}", system.strip(), user.strip(), version)


def data_lines(lines: Iterable[str]) -> str:
    """Lines of data for a prompt: one line each, cut where too long, and no tag that could end the block."""
    return "\n".join(data_line(line) for line in lines)


def data_line(text: str, longest: int = LONGEST_LINE) -> str:
    """One line of data: as in `data_lines`."""
    line = as_data(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def as_data(text: str) -> str:
    """One line without control and invisible characters, and without `<` and `>`, of which marks are made."""
    return _BREAKS.sub(" ", _UNSEEN.sub("", text)).strip().replace("<", "‹").replace(">", "›")


def listed(reply: str) -> list[str]:
    """The lines of a reply that is a list, without numbers, bullets and quotes."""
    lines = (_BULLET.sub("", line).strip(' "') for line in reply.splitlines())
    return [line for line in lines if line]


def query_text(text: str) -> str:
    """Make a query safe to stand between tags: one line that keeps its arrows and ends no block."""
    return as_data(text).replace("‹", "<").replace("›", ">").replace("</", "‹/")


def short(text: str) -> str:
    """The beginning of a model's text, for a message."""
    return text if len(text) <= LONGEST_QUOTED else text[:LONGEST_QUOTED] + " …"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model samples, by fields of `Request`; None leaves it to the server."""

    temperature: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    max_tokens: int | None = None
    repeat_penalty: float | None = None
    seed: int | None = None


@dataclass(slots=True)
class Talk:
    """The calls for one question: asks the model and keeps what was spent, for the answer and its trace."""

    model: ChatModel
    replies: list[Reply] = field(default_factory=list[Reply])
    steps: list[Step] = field(default_factory=list[Step])

    @classmethod
    def begin(cls, model: ChatModel, label: str | None) -> Talk:
        """Begin a question, with a budget of its own where the model has budgets."""
        return cls(model.for_question(label) if isinstance(model, ManagedModel) else model)

    def ask(self, prompt: Prompt, sampling: Sampling, *, stop: tuple[str, ...] = (), **values: str) -> str:
        """Complete a prompt: the reply without thoughts, echoes and what follows a stop. Raises LlmError."""
        return self._complete(prompt, prompt.messages(**values), sampling, stop)

    def ask_again(
        self, prompt: Prompt, sampling: Sampling, reply: str, problem: str, values: Mapping[str, str]
    ) -> str:
        """Show the model its own reply to a prompt, and what is wrong with it. Raises LlmError."""
        turns = (Message("assistant", reply[:LONGEST_SHOWN]), Message("user", problem))
        return self._complete(prompt, (*prompt.messages(**values), *turns), sampling, ())

    def _complete(
        self, prompt: Prompt, messages: tuple[Message, ...], sampling: Sampling, stop: tuple[str, ...]
    ) -> str:
        request = Request(messages, stop=stop, **asdict(sampling))
        reply = run_sync(self.model.complete(request))
        text = clean(reply.text, request.messages, stop)
        self.replies.append(replace(reply, text=text))
        detail = {"prompt": prompt.name, "version": prompt.version, "reply": text, "notes": list(reply.notes)}
        self.steps.append(Step("model", detail))
        return text

    @property
    def cut(self) -> bool:
        """Whether the last reply was ended by its limit of tokens."""
        return bool(self.replies) and self.replies[-1].finish == "length"

    @property
    def usage(self) -> Usage:
        """Calls and tokens so far."""
        return add_usage(reply.usage for reply in self.replies)
