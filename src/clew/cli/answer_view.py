"""An answer, its chain, its steps or a verdict on a terminal, with the paths of triples that prove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from rich.text import Text

from clew.cli.console import escape, out, put
from clew.foundation.forms import json_form
from clew.text.normalise import counted
from clew.types import Abstention, Answer, Chain, Citation, Step, SubAnswer, TripleText, Verdict, Verification

if TYPE_CHECKING:
    from rich.console import Console


def paths_of(triples: Sequence[TripleText], answer: str) -> list[Text]:
    """Draw the triples of a citation as paths that lead to `answer`; each triple is in one of them.

    Paths begin at loose ends and stop at the answer or at a node that is drawn already; what is left begins
    at such a node. Arrows have the direction of the triples.
    """
    remaining, drawn_nodes, paths = list(triples), set[str](), list[Text]()
    while remaining:
        ends = [end for triple in remaining for end in (triple.head, triple.tail)]
        loose = [end for end in ends if ends.count(end) == 1 and end != answer]
        fresh = [end for end in loose if end not in drawn_nodes]
        at = next(iter([*fresh, *loose, *(end for end in ends if end != answer), *ends]))
        distances, passed = _distances(remaining, answer), {at}
        path = Text(f"  {escape(at)}")
        while choices := [triple for triple in remaining if at in (triple.head, triple.tail)]:
            triple = min(choices, key=lambda t: distances.get(_other_end(t, at), len(distances)))
            remaining.remove(triple)
            relation = escape(triple.relation)
            path.append(f" ─{relation}→ " if triple.head == at else f" ←{relation}─ ", "cyan")
            at = _other_end(triple, at)
            path.append(escape(at))
            passed.add(at)
            if at == answer or at in drawn_nodes:
                break
        drawn_nodes |= passed
        paths.append(path)
    return paths


def _other_end(triple: TripleText, node: str) -> str:
    return triple.tail if triple.head == node else triple.head


def _distances(triples: Sequence[TripleText], answer: str) -> dict[str, int]:
    """Count the edges from each node to the answer; nodes that are not connected with it are left out."""
    distances, ring = {answer: 0}, {answer}
    while ring:
        neighbours = {_other_end(t, node) for t in triples for node in ring if node in (t.head, t.tail)}
        ring = neighbours - distances.keys()
        distances |= dict.fromkeys(ring, max(distances.values()) + 1)
    return distances


MOST, FEW = 10, 5
"""So many citations, paths of one, or items of a list are shown on a terminal, and of what stands below one;
the rest is counted, and --json has all."""
NAME_SEPARATOR = " · "
WIDEST_LINE = 110
"""On a wide terminal, what is at the right stands here, near to what it belongs to."""
_VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    "supported": ("supported", "green"),
    "refuted": ("refuted", "red"),
    "not_enough_info": ("not enough info", "yellow"),
}


def print_full_answer(
    answer: Answer, *, explain: bool = False, choosing: str = "--reading N answers that"
) -> None:
    """Print an answer with some citations, its chain, its steps to `explain` it, and its `choosing`."""
    console = out()
    print_answer(console, answer, choosing)
    if answer.chain is not None:
        _print_chain(console, answer.chain, whole=explain)
    if explain:
        print_steps(console, answer.steps)


def print_verdict(result: Verification, limit: int = 5, *, explain: bool = False) -> None:
    """Print a verdict with at most `limit` triples for each part of the claim."""
    console = out()
    word, colour = _VERDICTS[result.verdict]
    line = Text(word.capitalize(), f"bold {colour}")
    if "total" in result.timings_ms:
        line.append(f"    ({result.timings_ms['total']:,.0f} ms)", "not bold dim")
    put(console, line)
    if result.abstained is not None:
        detail = escape(result.abstained.detail)
        put(console, f"  {detail}   (abstained: {result.abstained.reason})", "yellow")
    for part in result.parts:
        word, colour = _VERDICTS[part.verdict]
        put(console, Text("  ").append(f"{word}: ", colour).append(escape(part.text)))
        for path in paths_of(part.triples[:limit], ""):
            put(console, Text("  ") + path)
        omitted = len(part.triples) - limit
        if omitted > 0:
            put(console, f"    … and {counted(omitted, 'more triple')}; --json prints all", "dim")
    _print_notes(console, result.notes)
    if explain:
        print_steps(console, result.steps)


def _print_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        put(console, f"  Note: {note}.", "yellow")


def abstention_line(abstained: Abstention) -> str:
    """Why there is no answer, in a sentence: *I cannot place …*, *The graph has no …*, *It may mean …*."""
    detail = abstained.detail.rstrip(".")
    if detail.startswith("it ") and not detail.startswith("it may mean"):
        return f"The graph {detail.removeprefix('it ')}"
    return detail[:1].upper() + detail[1:]


def print_answer(console: Console, answer: Answer, choosing: str) -> None:
    """Print an answer with some of its citations."""
    if answer.abstained is not None:
        line = Text(f"{escape(abstention_line(answer.abstained))}.")
        put(console, line.append(f"   (abstained: {answer.abstained.reason})", "dim"))
        if answer.abstained.candidates:
            candidates = NAME_SEPARATOR.join(map(escape, answer.abstained.candidates))
            put(console, f"  Did you mean: {candidates}?")
        _print_notes(console, answer.notes)
        for number, alternative in enumerate(answer.alternatives, 1):
            if number == 1:
                put(console, f"  It may be read as ({choosing}):")
            line = Text(f"  {number}. {escape(alternative.reading)}")
            put(console, line.append(f"   ({alternative.score:.0%})", "dim"))
        return
    width = min(console.width, WIDEST_LINE) if console.is_terminal else None
    for line in [*_answer_lines(answer, width), *_citation_lines(answer.citations[:MOST])]:
        put(console, line)
    if answer.reading:
        put(console, f"  Read as: {escape(answer.reading)}", "dim")
    omitted = len(answer.citations) - MOST
    if omitted > 0:
        put(console, f"  … and {counted(omitted, 'more citation')}; --json prints all", "dim")
    _print_notes(console, answer.notes)
    if not answer.complete:
        put(console, "  Not all of the graph was read: there may be more answers.", "yellow")


def _answer_lines(answer: Answer, width: int | None) -> list[Text]:
    """Fill the answers to `width` cells (None: one line), with the count and time at the right."""
    names = [escape(a.shown) for a in answer.answers]
    if answer.rows is not None:
        names = [escape(text) for text in answer.text.split(" · ")]
    items = names[:60]
    omitted = (answer.total or len(names)) - len(items)
    if omitted > 0 and items:
        is_partial = len(names) < (answer.total or 0)
        listed = f"the first {len(names):,}; --limit lists more" if is_partial else "all"
        items[-1] += f" … and {omitted:,} more; --json prints {listed}"
    lines = fill_lines(items, width)
    shown = ("", NAME_SEPARATOR.join(a.shown for a in answer.answers))
    if answer.rows is None and answer.text not in shown:
        # A method that writes sentences: its text first, then the entities that it names.
        lines = [*map(escape, answer.text.splitlines()), *(lines if items else [])]
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


def fill_lines(items: Sequence[str], width: int | None) -> list[str]:
    """Join items by dots, in lines of at most `width` cells where no item is broken."""
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}{NAME_SEPARATOR}{item}" if lines else item
        if lines and (width is None or cell_len(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(item)
    return lines or [""]


def _citation_lines(citations: Sequence[Citation]) -> list[Text]:
    """Draw paths with the number of their citation at the right, all numbers in one column."""
    rows: list[tuple[Text, str]] = []
    for number, citation in enumerate(citations, 1):
        paths = paths_of(citation.triples, citation.label)
        for i, path in enumerate(paths[:MOST]):
            rows.append((path, f"[{number}]" if i == 0 else ""))
        rows += [(line, "") for line in _property_lines(citation)]
        omitted = len(paths) - MOST
        if omitted > 0:
            rows.append((Text(f"  … and {omitted:,} more; --json prints all", "dim"), ""))
    column = min(max((text.cell_len for text, _ in rows), default=0), WIDEST_LINE - 10)
    for text, number in rows:
        if number:
            text.append(" " * (max(column - text.cell_len, 0) + 3) + number, "dim")
    return [text for text, _ in rows]


def _property_lines(citation: Citation) -> Iterator[Text]:
    """The properties of each edge that the source has of the triples, below the path."""
    for triple in citation.triples:
        if triple.inferred:
            yield Text("      inferred: it follows from the ontology, and no source states it", "dim")
        for statement in triple.properties[:FEW]:
            yield Text(
                "      " + ", ".join(f"{escape(key)} {escape(value)}" for key, value in statement), "dim"
            )
        omitted = len(triple.properties) - FEW
        if omitted > 0:
            yield Text(f"      … and {counted(omitted, 'more edge')}; --json prints all", "dim")


def _print_chain(console: Console, chain: Chain, *, whole: bool) -> None:
    """Print sub-questions with answers and proofs; the whole tree has reasoning, evidence and notes too."""
    put(console, "Reasoning chain", "bold cyan")
    if whole and chain.reasoning:
        put(console, f"  {_one_line(chain.reasoning)}", "italic")
    for number, link in enumerate(chain.links, 1):
        last = number == len(chain.links) and not chain.notes
        put(console, f"  {'└─' if last else '├─'} {number}. {escape(link.asked)}")
        for part in _link_lines(link, whole=whole):
            put(console, Text(f"  {'   ' if last else '│  '} ") + part)
    for i, note in enumerate(chain.notes, 1):
        put(console, f"  {'└─' if i == len(chain.notes) else '├─'} note: {escape(note)}", "yellow")


def _link_lines(link: SubAnswer, *, whole: bool) -> Iterator[Text]:
    """What is below a sub-question: its answer, and of each proof the end, which this link adds."""
    reply = _one_line(link.text)[:300]
    names = NAME_SEPARATOR.join(map(escape, link.answers[:MOST]))
    if link.answers:
        yield Text(f"→ {names}{_omission(len(link.answers), MOST)}", "bold")
    else:
        yield Text(f"→ nothing that the evidence proves{f': {reply}' if link.text else ''}", "yellow")
    for citation in link.citations[:FEW]:
        yield from paths_of(citation.triples[-1:], citation.label)
    if omission := _omission(len(link.citations), FEW):
        yield Text(f" {omission}", "dim")
    if whole:
        if link.question != link.asked:
            yield Text(f"  from: {escape(link.question)}", "dim")
        if link.text and link.text != ", ".join(link.answers):
            yield Text(f"  said: {reply}", "dim")
        yield Text(f"  given {counted(len(link.evidence), 'triple')}, the most similar first:", "dim")
        for triple in link.evidence[:FEW]:
            yield Text(f"    {escape(triple.head)} ─{escape(triple.relation)}→ {escape(triple.tail)}", "dim")
        if omission := _omission(len(link.evidence), FEW):
            yield Text(f"   {omission}", "dim")
    yield from (Text(f"  note: {escape(note)}", "yellow") for note in link.notes)


def _omission(count: int, most: int) -> str:
    return f" … and {count - most:,} more" if count > most else ""


def _one_line(text: str) -> str:
    """Write a model's text in one line."""
    return escape(" ".join(text.split()))


def print_steps(console: Console, steps: Sequence[Step]) -> None:
    """Print each step's name and what came out of it."""
    for step in steps:
        put(console, step.name, "bold cyan")
        # A step with one list needs no title over it.
        detail = cast("dict[str, object]", json_form(step.detail))
        only = next(iter(detail.values())) if len(detail) == 1 else None
        for line in _lines(only if isinstance(only, list) and only else detail, "  "):
            put(console, line)


def _lines(value: object, indent: str) -> Iterator[str]:
    """A mapping in lines by its keys, or the first items of a list."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            if isinstance(inner, (dict, list)) and inner:
                yield f"{indent}{escape(key)}:"
                yield from _lines(inner, indent + "  ")
            else:
                yield f"{indent}{escape(key)}: {'none' if inner == [] else _line(inner)}"
    else:
        items = cast("list[object]", value)
        yield from (f"{indent}{_line(item)}" for item in items[:MOST])
        if len(items) > MOST:
            yield f"{indent}… and {len(items) - MOST:,} more; --json --explain prints all"


def _line(value: object) -> str:
    """A value in one line; a triple as an arrow."""
    match value:
        case [str() as head, str() as relation, str() as tail]:
            return f"{escape(head)} ─{escape(relation)}→ {escape(tail)}"
        case list():
            return " · ".join(_line(item) for item in cast("list[object]", value))
        case dict():
            parts = cast("dict[str, object]", value).items()
            texts = (_line(v) if isinstance(v, (str, list)) else f"{key} {_line(v)}" for key, v in parts)
            return "  ".join(filter(None, texts))
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}".rstrip("0").rstrip(".")
        case _:
            return "–" if value is None else escape(str(value))
