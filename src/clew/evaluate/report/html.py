"""The page: tables, charts and the browser of questions in one file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from clew.evaluate.report.charts import BarChart, Chart, ChartTable, TableCell
from clew.evaluate.report.colours import SHADES, css
from clew.evaluate.report.svg import WIDE, bars_width, mark_shape, svg

LONG = 60
"""A table of more rows is folded up."""
LONG_TEXT = 24
"""A column with texts of more characters is read from the left."""


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own."""

    id: str
    title: str
    items: Sequence[ChartTable | Chart]
    intro: str = ""


def page(
    title: str, intro: str, sections: Sequence[Section], questions: Sequence[dict[str, Any]], note: str = ""
) -> str:
    """Write the page; `questions` are the entries of the browser, `note` says what they are."""
    links = "".join(f'<a href="#{s.id}">{escape(s.title)}</a>' for s in sections)
    body = "".join(_section(section) for section in sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{css()}{asset('style.css')}</style></head><body><h1>{escape(title)}</h1>"
        f'<p class="soft">{escape(intro)}</p><nav>{links}<a href="#browser">Questions</a></nav>{body}'
        f"{_browser(questions, note)}</body></html>\n"
    )


@cache
def asset(name: str) -> str:
    """Read a file of the page's own."""
    return (files("clew.evaluate.report") / name).read_text("utf-8")


def _section(section: Section) -> str:
    intro = f'<p class="note">{escape(section.intro)}</p>' if section.intro else ""
    items = "".join(table(item) if isinstance(item, ChartTable) else figure(item) for item in section.items)
    title = escape(section.title)
    return f'<section id="{section.id}"><h2>{title}</h2>{intro}<div class="grid2">{items}</div></section>'


def table(shown: ChartTable) -> str:
    """Write a table."""
    styles = _column_styles(shown)
    head = "".join(f'<th class="{styles[at]}">{escape(text)}</th>' for at, text in enumerate(shown.header))
    rows = "".join(_row(row, styles) for row in shown.rows)
    note = f'<p class="note">{escape(shown.note)}</p>' if shown.note else ""
    # Of a table that is wider than the screen the second name stays in sight: most often the method.
    keyed = ' class="keyed"' if shown.names == 2 else ""
    body = (
        f'<div class="wide"><table{keyed}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
    if len(shown.rows) > LONG:
        body = f'<details class="long"><summary>{len(shown.rows):,} rows</summary>{body}</details>'
    return f"<h3>{escape(shown.title)}</h3>{body}{note}"


def _column_styles(shown: ChartTable) -> list[str]:
    """Classes of the columns: names, and long texts (definitions, ids), are read from the left."""
    long = {
        at
        for row in shown.rows
        for at, cell in enumerate(row)
        if isinstance(cell, str) and len(cell) > LONG_TEXT and len(row) > 1
    }
    names = range(shown.names)
    return [
        "name long" if at in long and at not in names else "name" if at in names else ""
        for at in range(len(shown.header))
    ]


def _row(row: tuple[TableCell | str, ...], styles: Sequence[str]) -> str:
    if len(row) == 1 and len(styles) > 1:
        text = row[0] if isinstance(row[0], str) else row[0].text
        return f'<tr><td class="head" colspan="{len(styles)}">{escape(text)}</td></tr>'
    return f"<tr>{''.join(_cell(cell, style) for cell, style in zip(row, styles, strict=False))}</tr>"


def _cell(cell: TableCell | str, style: str) -> str:
    if isinstance(cell, str):
        return f'<td class="{style}">{escape(cell)}</td>'
    styles = " ".join(s for s, on in (("best", cell.best), ("paper", cell.paper), (style, style)) if on)
    small = f"<small>{escape(cell.small)}</small>" if cell.small else ""
    return f'<td class="{styles}">{escape(cell.text)}{small}</td>'


def figure(chart: Chart) -> str:
    """Write a chart with its legend."""
    names = chart.series if isinstance(chart, BarChart) else tuple(name for name, _ in chart.series)
    keys = "".join(
        '<span><svg width="11" height="11"><rect x="1" y="1" width="9" height="9"'
        f' class="c{at % SHADES}{" hollow" if name in chart.hollow else ""}"/></svg>{escape(name)}</span>'
        for at, name in enumerate(names)
    )
    marks = () if isinstance(chart, BarChart) else chart.marks
    keys += "".join(
        f'<span><svg width="11" height="11">{mark_shape(at, 5.5, 5.5, "plain", 4)}</svg>{escape(name)}</span>'
        for at, name in enumerate(marks)
    )
    note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
    wide = ' class="whole"' if isinstance(chart, BarChart) and bars_width(chart) > WIDE else ""
    return (
        f'<figure id="{escape(chart.name)}"{wide}><figcaption>{escape(chart.title)}</figcaption>'
        f'<div class="legend">{keys}</div><div class="wide">{svg(chart)}</div>{note}</figure>'
    )


def _browser(questions: Sequence[dict[str, Any]], note: str) -> str:
    # "</script>" in a question must not end the script, and "<!--" must not begin a comment.
    data = json.dumps(questions, ensure_ascii=False).replace("<", "\\u003c")
    selects = "".join(
        f'<select id="f-{n}" aria-label="{n}"></select>' for n in ("run", "part", "method", "state", "error")
    )
    return (
        '<section id="browser"><h2>Questions</h2>'
        f'<p class="note">{escape(note)}</p><div class="filters">'
        f'{selects}<input id="f-text" type="search" aria-label="search"'
        ' placeholder="words of the question, id or kind">'
        '</div><p class="soft"><span id="count"></span>'
        ' <button id="before">←</button> <button id="after">→</button></p>'
        f'<div id="list"></div></section><script id="questions" type="application/json">{data}</script>'
        f"<script>{asset('browser.js')}</script>"
    )
