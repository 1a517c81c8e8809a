"""The `choose` step: which name of the graph a name means that the graph lacks (SynaptiQA, section III.B).

Built in: the most similar one, if it is similar enough and no other is about as similar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.llm.errors import ReplyInvalid
from clew.llm.extract import read_value
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named, query_text
from clew.llm.shapes import build
from clew.methods.synaptiqa.name_space import SAME, Near

LEAST = 0.6
"""Likeness below which nothing is chosen by likeness alone."""
MARGIN = 0.05
"""Lead over the next name that makes a choice clear."""
_SAMPLING = Sampling(temperature=0.0, max_tokens=256)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name of a query that the graph lacks: its `kind`, where it belongs to, and names that are like it."""

    kind: str
    written: str
    near: tuple[Near, ...]
    of: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.written!r}" + (f" of {self.of}" if self.of else "")


@dataclass(frozen=True, slots=True)
class NameChoice:
    """The name that was chosen, None if none; and by what."""

    name: str | None
    by: str


Choose = Callable[[str, str, Sequence[Unknown]], list[NameChoice]]
"""(question, query, names that the graph lacks) → a choice for each, in their order. Raises LlmError."""


@dataclass(frozen=True)
class ChooseBySimilarity:
    """The most similar name, if its likeness is `LEAST` and it leads by `MARGIN`."""

    def __call__(self, question: str, query: str, unknown: Sequence[Unknown]) -> list[NameChoice]:
        """Return a choice for each; the question is not looked at."""
        return [self.one(each) for each in unknown]

    def one(self, each: Unknown) -> NameChoice:
        """Choose among the names near to one, which are sorted by likeness."""
        near = each.near
        if not near or near[0].score < LEAST:
            return NameChoice(None, "nothing is like it")
        best, others = near[0], near[1:]
        same = [n for n in near if n.score >= SAME]
        cased = [n for n in same if n.name.casefold() == each.written.casefold()]
        sole = cased or same
        if len(sole) == 1:
            return NameChoice(sole[0].name, sole[0].why or "the same name")
        if others and best.score - others[0].score < MARGIN:
            return NameChoice(None, f"{best.name!r} and {others[0].name!r} are about as like it")
        return NameChoice(best.name, best.why or f"most similar, {best.score:.2f}")


@dataclass(frozen=True)
class ChooseByModel:
    """The model picks from the similar names; the same name in another form is taken without asking.

    Where its reply is of no use, similarity decides.
    """

    talk: Talk
    similarity: ChooseBySimilarity = ChooseBySimilarity()

    def __call__(self, question: str, query: str, unknown: Sequence[Unknown]) -> list[NameChoice]:
        """Ask once for all names that are not clear. Raises LlmError."""
        clear = {u: self.similarity.one(u) for u in unknown if not u.near or u.near[0].score >= SAME}
        asked = [each for each in unknown if each not in clear]
        picked = self._ask(question, query, asked) if asked else []
        choices = clear | dict(zip(asked, picked, strict=True))
        return [choices[each] for each in unknown]

    def _ask(self, question: str, query: str, unknown: Sequence[Unknown]) -> list[NameChoice]:
        lines: list[str] = []
        for number, each in enumerate(unknown, 1):
            near = "; ".join(f"{i}) {data_line(n.name)}" for i, n in enumerate(each.near, 1))
            lines.append(f"{number}. {data_line(str(each))}: {near}")
        prompt = prompt_named("clew.methods.synaptiqa", "choose")
        values = {"QUESTION": as_data(question), "QUERY": query_text(query), "NAMES": "\n".join(lines)}
        text = self.talk.ask(prompt, _SAMPLING, stop=(), **values)
        try:
            picked = read_value(text, lambda value: build(Picked, value)).choices
        except ReplyInvalid:
            picked = []
        if len(picked) != len(unknown):
            return self.similarity(question, query, unknown)
        pairs = zip(unknown, picked, strict=True)
        names = [u.near[at - 1].name if 1 <= at <= len(u.near) else None for u, at in pairs]
        return [NameChoice(n, "chosen by the model" if n else "the model chose none") for n in names]


@dataclass(frozen=True)
class Picked:
    """What the model is asked for: for each name the number of a candidate, 0 for none."""

    choices: list[int]
