"""An answer on a terminal: the answers, the paths of triples that prove them, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from clew.cli.console import shown
from clew.cli.paths import ShownPath, paths_of
from clew.text.counted import counted
from clew.types import Abstention, Answer, Citation

if TYPE_CHECKING:
    from rich.console import Console

MOST_NAMED_ANSWERS = 60
"""So many answers are named on a terminal; the rest is counted."""

MOST_STATEMENTS = 5
"""So many edges of one triple are shown with their properties."""

MOST_DRAWN_PATHS = 12
"""So many paths of a citation are drawn on a terminal; the rest is counted."""

NAME_SEPARATOR = " · "
Labels = Mapping[str, str]
WIDEST_LINE = 110
"""On a wide terminal, what is at the right stands here, near to what it belongs to."""


def print_answer(
    console: Console,
    answer: Answer,
    shown_citations: Sequence[Citation],
    labels: Labels,
    choosing: str,
) -> None:
    """Print an answer with some of its citations; `labels` are those of names in them, where they differ.

    `choosing` says how one of the other readings of the question is answered.
    """
    if answer.abstained is not None:
        print_abstention(console, answer.abstained)
        for number, other in enumerate(answer.alternatives, 1):
            line = Text(f"  {number}. {shown(other.reading)}")
            line.append(f"   ({other.score:.0%})", "dim")
            if number == 1:
                console.print(Text(f"  It may be read as ({choosing}):"), soft_wrap=True)
            console.print(line, soft_wrap=True)
        return
    for line in _answer_lines(answer, min(console.width, WIDEST_LINE) if console.is_terminal else None):
        console.print(line, soft_wrap=True)
    for line in _citation_lines(shown_citations, labels):
        console.print(line, soft_wrap=True)
    left = len(answer.citations) - len(shown_citations)
    if left > 0:
        console.print(
            Text(f"  … and {counted(left, 'more citation')}; --json prints all", "dim"), soft_wrap=True
        )
    for note in answer.notes:
        console.print(Text(f"  Note: {note}.", "yellow"), soft_wrap=True)
    if not answer.complete:
        console.print(
            Text("  Not all of the graph was read: there may be more answers.", "yellow"), soft_wrap=True
        )


def print_abstention(console: Console, abstained: Abstention) -> None:
    """Say why there is no answer, and what may have been meant."""
    line = Text(f"No answer in this graph: {shown(abstained.detail.rstrip('.'))}.")
    line.append(f"   (abstained: {abstained.reason})", "dim")
    console.print(line, soft_wrap=True)
    if abstained.candidates:
        names = NAME_SEPARATOR.join(shown(name) for name in abstained.candidates)
        console.print(Text(f"  Did you mean: {names}?"), soft_wrap=True)


def _answer_lines(answer: Answer, width: int | None) -> list[Text]:
    """Fill the answers to `width` cells (None: one line), with the count and time at the right."""
    names = [shown(a.label) for a in answer.answers]
    items = names[:MOST_NAMED_ANSWERS]
    left = (answer.total or len(names)) - len(items)
    if left > 0 and items:
        listed = (
            f"the first {len(names):,}; --limit lists more" if len(names) < (answer.total or 0) else "all"
        )
        items[-1] += f" … and {left:,} more; --json prints {listed}"
    lines = filled(items, width)
    if answer.text not in ("", NAME_SEPARATOR.join(a.label for a in answer.answers)):
        # A method that writes sentences: its text first, then the entities that it names.
        lines = [*map(shown, answer.text.splitlines()), *(lines if items else [])]
    note = _note(answer)
    texts = [Text(line, "bold") for line in lines]
    if width is None:
        texts[0].append(f"    {note}", "not bold dim")
    elif cell_len(lines[-1]) + 4 + cell_len(note) <= width:
        texts[-1].append(note.rjust(width - cell_len(lines[-1])), "not bold dim")
    else:
        texts.append(Text(note.rjust(width), "dim"))
    return texts


def _note(answer: Answer) -> str:
    count = len(answer.answers) if answer.total is None else answer.total
    parts = [counted(count, "answer")] if count else []
    if "total" in answer.timings_ms:
        total = answer.timings_ms["total"]
        parts.append(f"{total:,.0f} ms" if total >= 1 else "< 1 ms")
    if not answer.grounded:
        parts.append("ungrounded: not proved by this graph")
    if answer.confidence is not None:
        parts.append(f"the model's confidence: {answer.confidence:.2f}")
    return f"({', '.join(parts)})" if parts else ""


def filled(items: Sequence[str], width: int | None) -> list[str]:
    """Join items by dots, in lines of at most `width` cells where no item is broken."""
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}{NAME_SEPARATOR}{item}" if lines else item
        if lines and (width is None or cell_len(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(item)
    return lines or [""]


def _citation_lines(citations: Sequence[Citation], labels: Labels) -> list[Text]:
    """Draw paths with the number of their citation at the right, all numbers in one column."""
    rows: list[tuple[Text, str]] = []
    for number, citation in enumerate(citations, 1):
        paths = paths_of(citation.triples, citation.answer)
        for i, path in enumerate(paths[:MOST_DRAWN_PATHS]):
            text = drawn(path, labels)
            rows.append((text, f"[{number}]" if i == 0 else ""))
        rows += [(line, "") for line in _property_lines(citation)]
        if len(paths) > MOST_DRAWN_PATHS:
            rows.append(
                (Text(f"  … and {len(paths) - MOST_DRAWN_PATHS:,} more; --json prints all", "dim"), "")
            )
    column = min(max((text.cell_len for text, _ in rows), default=0), WIDEST_LINE - 10)
    for text, number in rows:
        if number:
            text.append(" " * (max(column - text.cell_len, 0) + 3) + number, "dim")
    return [text for text, _ in rows]


def _property_lines(citation: Citation) -> list[Text]:
    """The properties of each edge that the source has of the triples, below the path."""
    lines: list[Text] = []
    for triple in citation.triples:
        if triple.inferred:
            lines.append(Text("      inferred: it follows from the ontology, and no source states it", "dim"))
        for statement in triple.properties[:MOST_STATEMENTS]:
            told = ", ".join(f"{shown(key)} {shown(value)}" for key, value in statement)
            lines.append(Text(f"      {told}", "dim"))
        if len(triple.properties) > MOST_STATEMENTS:
            more = len(triple.properties) - MOST_STATEMENTS
            lines.append(Text(f"      … and {counted(more, 'more edge')}; --json prints all", "dim"))
    return lines


def drawn(path: ShownPath, labels: Labels) -> Text:
    """Draw a path with arrows in the direction of its triples."""

    def readable(name: str) -> str:
        return shown(labels.get(name, name))

    text = Text(f"  {readable(path.start)}")
    for hop in path.hops:
        relation = readable(hop.relation)
        text.append(f" ─{relation}→ " if hop.forward else f" ←{relation}─ ", "cyan")
        text.append(readable(hop.node))
    return text
