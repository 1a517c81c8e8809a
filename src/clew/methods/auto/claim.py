"""What a chat model says that a claim says (`verify` of `auto`): query graphs, by which code judges it.

    L-211 has lost more than three kilos and is no longer in the North Vault.
    → Claim: diff({L-211} .wt_in, {L-211} .wt_now) > 3
      Claim: not {L-211} .cellar & {North Vault}

The model sees the claim, what it names and the schema. It sees no facts, and gives no verdict.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from clew.claims.verify import Stated, judge_claim, judge_stated
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.llm.managed import as_data, prompt_named
from clew.llm.reply import ChatModel
from clew.llm.types import BudgetReached
from clew.methods.auto.choose import SAMPLING, Chooser
from clew.methods.base import Run
from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.tree import Anchor, Extreme, Sign, Walk
from clew.reading.reader import reader_of
from clew.text.embedders import Embedder
from clew.types import Abstention, ClaimPart, Verification

_CLAIM = re.compile(r"^\W*claim\W*:\s*(.+?)[\s.`]*$", re.IGNORECASE | re.MULTILINE)
_NOT = re.compile(r"`?\s*not\b\s*", re.IGNORECASE)
_COMPARED = re.compile(r"(?<=\))\s*(>=|<=|!=|[=<>])\s*(-?\d+(?:\.\d+)?)$")
ASK_FOR_LINES = "Reply again, with a line `Claim: …` for each thing that the claim says."


class VerifyByQuery:
    """Verifies claims over one open index by the queries that a model writes for them."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, model: ChatModel) -> None:
        self.model, self.reader = model, reader_of(index, embedder)
        self.chooser = Chooser(self.reader)

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        run, abstained = Run(self.name, id, self.model), None
        parts: tuple[ClaimPart, ...] = (ClaimPart(claim, "not_enough_info"),)
        try:
            with run.stage("write"):
                stated = self._write(run, claim)
            with run.stage("execute"):
                parts = judge_stated(self.reader, claim, stated, closed=closed_world)
            run.note("execute", {"parts": [[p.text, p.verdict] for p in parts]})
        except BudgetReached as error:
            abstained = Abstention("budget", str(error))
        except NotationError as error:
            abstained = Abstention("empty_result", f"the model gave no usable reply: {error}")
        citations = tuple(cite(self.reader.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        verdict = judge_claim(parts, denied=False)
        return run.finish(Verification(claim, verdict, parts, citations, abstained=abstained))

    def _write(self, run: Run, claim: str) -> tuple[Stated, ...]:
        """Ask what a claim says, once more where it cannot be read. Raises LlmError, NotationError."""
        reading, prompt = self.reader.read(claim), prompt_named("clew.methods.auto", "claim")
        values = self.chooser.shown(reading) | {"CLAIM": as_data(claim)}
        reply = self.chooser.ask(run.talk, prompt, values, reading, "Claim")
        lookup = self.chooser.lookup(reading)
        try:
            return read_stated(reply, lookup)
        except NotationError as error:
            problem = f"That cannot be run: {error}. {ASK_FOR_LINES}"
            return read_stated(run.talk.ask_again(prompt, SAMPLING, reply, problem, values), lookup)


def read_stated(reply: str, lookup: NameLookup) -> tuple[Stated, ...]:
    """Read a reply: its lines that begin with `Claim:`. Raises NotationError."""
    lines = _CLAIM.findall(reply)
    if not lines:
        raise NotationError("there is no line that begins with Claim:")
    return tuple(_stated(line.strip("` "), lookup) for line in lines)


def _stated(text: str, lookup: NameLookup) -> Stated:
    if text.lower() == "none":
        return Stated(None)
    denied, compared = _NOT.match(text), _COMPARED.search(text)
    query = read_query(text[denied.end() if denied else 0 : compared.start() if compared else None], lookup)
    if query.ask == "list" and not query.by and not query.key and compared is None:
        query = replace(query, ask="yes")
    if query.by or (compared is None) != (query.ask in ("yes", "every")) or query.ask in ("names", "called"):
        raise NotationError("a line is a set, every(A, B), or a number that is compared: count(A) >= 3")
    start = query.part
    while isinstance(start, Walk):
        start = start.source
    if query.ask == "yes" and (
        isinstance(start, Extreme) or (start is query.part and isinstance(start, Anchor))
    ):
        raise NotationError("that is always so: join it by & with what the claim says that it is")
    sign, number = compared.groups() if compared else ("=", None)
    return Stated(query, denied is not None, cast("Sign", sign), None if number is None else float(number))
