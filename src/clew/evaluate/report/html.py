"""The page: tables, charts and the browser of questions in one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from clew.evaluate.report.charts import BarChart, Chart, ChartTable
from clew.evaluate.report.colours import DARK, LIGHT_COLOURS, shade_rules
from clew.evaluate.report.svg import CHART_WIDTH, bars_width, chart_rules, svg


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own."""

    id: str
    title: str
    items: Sequence[ChartTable | Chart]


def page(
    title: str, intro: str, sections: Sequence[Section], questions: Sequence[dict[str, Any]], note: str = ""
) -> str:
    """Write the page; `questions` are the entries of the browser, `note` says what they are."""
    # What is filled in is text, never markup, but for the page's own files and drawings.
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return environment.from_string(_asset("page.html")).render(
        title=title,
        intro=intro,
        sections=sections,
        questions=questions,
        told=note,
        rules=shade_rules() + chart_rules() + _asset("style.css"),
        script=_asset("browser.js"),
        themes=(LIGHT_COLOURS, DARK),
        is_wide=_is_wide,
        svg=svg,
    )


def _asset(name: str) -> str:
    """Read a file of the page's own."""
    return (files("clew.evaluate.report") / name).read_text("utf-8")


def _is_wide(chart: Chart) -> bool:
    return isinstance(chart, BarChart) and bars_width(chart) > CHART_WIDTH
