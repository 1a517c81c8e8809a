"""Answers, verdicts and indexes for notebooks: HTML with the evidence as a picture, and data frames.

Everything is made from the JSON form, and every name in it is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from clew.errors import MissingExtra

TextTriple = Sequence[str]
MOST_SHOWN_ROWS = 20
"""Answers, relations or triples that are shown; the rest is counted."""
MOST_DRAWN = 12
"""Answers whose evidence is drawn."""
_COLUMN, _ROW, _MARGIN, _LONGEST = 230, 46, 24, 26


def answer_html(form: Mapping[str, Any]) -> str:
    """An answer: its names with their scores and triples, and the evidence drawn."""
    question = f"<p><b>{escape(form['question'])}</b></p>"
    if form["abstained"] is not None:
        message = f"No answer ({form['abstained']['reason']}): {form['abstained']['detail']}"
        return f"<div>{question}<p>{escape(message)}</p></div>"
    notes = "".join(f"<p><i>{escape(note)}</i></p>" for note in form["notes"])
    cited = {one["answer"]: one["triples"] for one in form["citations"]}
    labels = {one["answer"]: one["label"] for one in form["citations"]}
    rows = [
        (labels.get(one["entity"], one["label"]), f"{one['score']:.2f}", _lines(cited.get(one["entity"], ())))
        for one in form["answers"]
    ]
    table = _table(("answer", "score", "proof"), rows) if rows else f"<p>{escape(form['text'])}</p>"
    picture = evidence_svg(
        [triple for one in form["citations"][:MOST_DRAWN] for triple in one["triples"]],
        answers=set(labels.values()),
    )
    return f"<div>{question}{notes}{table}{picture}</div>"


def verification_html(form: Mapping[str, Any]) -> str:
    """A verdict, part by part, and the evidence drawn."""
    head = f"<p><b>{escape(form['claim'])}</b>: {escape(form['verdict'])}</p>"
    if form["abstained"] is not None:
        head += f"<p>{escape(form['abstained']['detail'])}</p>"
    rows = [(part["text"], part["verdict"], _lines(part["triples"])) for part in form["parts"]]
    picture = evidence_svg([triple for part in form["parts"] for triple in part["triples"]], answers=set())
    return f"<div>{head}{_table(('part', 'verdict', 'triples'), rows)}{picture}</div>"


def info_html(form: Mapping[str, Any]) -> str:
    """What an index holds: counts and relations with an example."""
    counts = ", ".join(f"{number:,} {noun}" for noun, number in form["counts"].items())
    rows = [(one["label"], f"{one['triples']:,}", _lines([one["example"]])) for one in form["relations"]]
    return f"<div><p>{escape(counts)}</p>{_table(('relation', 'triples', 'example'), rows)}</div>"


def evidence_svg(triples: Sequence[TextTriple], *, answers: set[str]) -> str:
    """Draw triples in columns, away from what is no answer; empty without any."""
    edges = list(dict.fromkeys((head, relation, tail) for head, relation, tail in triples))
    if not edges:
        return ""
    places = _places(edges, answers)
    width = _COLUMN * max(column for column, _ in places.values()) + 200 + 2 * _MARGIN
    height = _ROW * (max(row for _, row in places.values()) + 1) + 2 * _MARGIN

    def point(node: str) -> tuple[float, float]:
        column, row = places[node]
        return column * _COLUMN + 80 + _MARGIN, row * _ROW + _MARGIN + 8

    parts: list[str] = []
    for head, relation, tail in edges:
        (x1, y1), (x2, y2) = point(head), point(tail)
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#8fa3ad"/>')
        arrow = f"{relation} →" if x1 <= x2 else f"← {relation}"
        parts.append(_text(arrow, (x1 + x2) / 2, (y1 + y2) / 2 - 3, 10, "#54646e"))
    for node in places:
        x, y = point(node)
        fill = "#4aa785" if node in answers else "#f2b950" if places[node][0] == 0 else "#cfdadf"
        parts.append(f'<circle cx="{x}" cy="{y}" r="7" fill="{fill}" stroke="#7d929c"/>')
        parts.append(_text(node, x, y + 19, 12, "currentColor"))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    label = f'role="img" aria-label="Evidence: {len(edges)} triples"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label}>{"".join(parts)}</svg>'


def frame_of(rows: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 (of a library that may not be there)
    """A data frame of pandas, else of polars. Raises MissingExtra without either."""
    for package in ("pandas", "polars"):
        if find_spec(package) is not None:
            return import_module(package).DataFrame(list(rows))
    raise MissingExtra("pandas", "frames")


def _places(edges: Sequence[tuple[str, str, str]], answers: set[str]) -> dict[str, tuple[int, int]]:
    """(column, row) of each node: columns by the distance from the nodes that are most often named."""
    neighbours: dict[str, dict[str, None]] = {}
    for head, _, tail in edges:
        neighbours.setdefault(head, {})[tail] = None
        neighbours.setdefault(tail, {})[head] = None
    rows: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    starts = sorted(neighbours, key=lambda node: (node in answers, -len(neighbours[node])))
    for start in starts:
        ring, column = [start] if start not in places else [], 0
        while ring:
            for node in ring:
                places[node] = (column, rows.setdefault(column, 0))
                rows[column] += 1
            following = dict.fromkeys(neighbour for node in ring for neighbour in neighbours[node])
            ring, column = [node for node in following if node not in places], column + 1
    return places


def _text(text: str, x: float, y: float, size: int, fill: str) -> str:
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    position = f'x="{x}" y="{y}" font-size="{size}" fill="{fill}"'
    return f'<text {position} text-anchor="middle" font-family="sans-serif">{escape(short)}</text>'


def _lines(triples: Sequence[TextTriple]) -> str:
    return "\n".join(f"{head} ─{relation}→ {tail}" for head, relation, tail in triples)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell).replace(chr(10), '<br/>')}</td>" for cell in row) + "</tr>"
        for row in rows[:MOST_SHOWN_ROWS]
    )
    omitted = len(rows) - MOST_SHOWN_ROWS
    omitted_row = f'<tr><td colspan="{len(titles)}">and {omitted:,} more</td></tr>' if omitted > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{omitted_row}</tbody></table>"
