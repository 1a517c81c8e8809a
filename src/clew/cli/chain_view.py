"""A reasoning chain on a terminal, as a small tree: each sub-question, its answer, what proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from clew.cli.answer_view import NAME_SEPARATOR, drawn
from clew.cli.console import shown
from clew.cli.paths import paths_of
from clew.text.counted import counted
from clew.types import Chain, Citation, SubAnswer, TripleText

if TYPE_CHECKING:
    from rich.console import Console

MOST_LINK_ANSWERS = 8
MOST_PROOFS = 3
MOST_EVIDENCE = 6
MOST_OF_LINK = 300
"""So many answers, proofs and triples of a link, and characters of a model's text, are shown."""


def print_chain(console: Console, chain: Chain, *, whole: bool) -> None:
    """Print sub-questions with answers and proofs; the whole tree has reasoning, evidence and notes too."""
    console.print(Text("Reasoning chain", "bold cyan"), soft_wrap=True)
    if whole and chain.reasoning:
        console.print(Text(f"  {_line(chain.reasoning)}", "italic"), soft_wrap=True)
    for number, link in enumerate(chain.links, 1):
        last = number == len(chain.links) and not chain.notes
        for line in _link_lines(number, link, "└─" if last else "├─", "   " if last else "│  ", whole):
            console.print(line, soft_wrap=True)
    for i, note in enumerate(chain.notes, 1):
        branch = "└─" if i == len(chain.notes) else "├─"
        console.print(Text(f"  {branch} note: {shown(note)}", "yellow"), soft_wrap=True)


def _link_lines(number: int, link: SubAnswer, branch: str, trunk: str, whole: bool) -> list[Text]:
    lines = [Text(f"  {branch} {number}. {shown(link.asked)}")]
    parts = [_answer_line(link)]
    shown_proofs = link.citations[:MOST_PROOFS]
    parts += [drawn(path, {}) for c in shown_proofs for path in paths_of(_last(c), c.answer)]
    if len(link.citations) > len(shown_proofs):
        parts.append(Text(f"  … and {len(link.citations) - len(shown_proofs):,} more", "dim"))
    if whole:
        parts += _whole(link)
    parts += [Text(f"  note: {shown(note)}", "yellow") for note in link.notes]
    for part in parts:
        line = Text(f"  {trunk} ")
        line.append_text(part)
        lines.append(line)
    return lines


def _last(citation: Citation) -> tuple[TripleText, ...]:
    """The end of a proof: what this link adds; its start is shown with the links before."""
    return citation.triples[-1:]


def _answer_line(link: SubAnswer) -> Text:
    names = NAME_SEPARATOR.join(shown(name) for name in link.answers[:MOST_LINK_ANSWERS])
    left = len(link.answers) - MOST_LINK_ANSWERS
    more = f" … and {left:,} more" if left > 0 else ""
    if link.answers:
        return Text(f"→ {names}{more}", "bold")
    said = f": {_line(link.text)[:MOST_OF_LINK]}" if link.text else ""
    return Text(f"→ nothing that the evidence proves{said}", "yellow")


def _line(text: str) -> str:
    """Write a model's text in one line."""
    return shown(" ".join(text.split()))


def _whole(link: SubAnswer) -> list[Text]:
    parts: list[Text] = []
    if link.question != link.asked:
        parts.append(Text(f"  from: {shown(link.question)}", "dim"))
    if link.text and link.text != ", ".join(link.answers):
        parts.append(Text(f"  said: {_line(link.text)[:MOST_OF_LINK]}", "dim"))
    parts.append(Text(f"  given {counted(len(link.evidence), 'triple')}, the most similar first:", "dim"))
    for triple in link.evidence[:MOST_EVIDENCE]:
        parts.append(Text(f"    {shown(triple.head)} ─{shown(triple.relation)}→ {shown(triple.tail)}", "dim"))
    if len(link.evidence) > MOST_EVIDENCE:
        parts.append(Text(f"    … and {len(link.evidence) - MOST_EVIDENCE:,} more", "dim"))
    return parts
