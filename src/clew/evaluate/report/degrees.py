"""How many triples each entity is in: KG-RAG's figure of the graph (section 4.1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from clew.errors import InputError, UsageError
from clew.evaluate.report.charts import Point, PointChart
from clew.evaluate.report.files import write_item
from clew.graph.graph import Graph
from clew.text.counted import counted

CHART_ENDINGS = (".svg", ".png", ".csv")


def degree_chart(graph: Graph, name: str) -> PointChart:
    """How many entities are in 1, 2, 3 … triples, as head or as tail; literals are no entities."""
    degrees = (graph.out.degrees() + graph.into.degrees())[graph.values.datatype < 0]
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    points = tuple(Point(float(v), float(c)) for v, c in zip(values, counts, strict=True))
    middle, most = (float(np.median(degrees)), int(degrees.max())) if len(degrees) else (0.0, 0)
    entities = counted(len(degrees), "entity", "entities")
    title = f"{name}: {entities}, in {middle:g} triples at the median, {most:,} at most"
    series, titles = (("", points),), ("triples of an entity", "entities")
    return PointChart("degrees", title, *titles, series, log_x=True, log_y=True)


def check_plot(path: Path) -> None:
    """Raise UsageError for a file whose ending is not that of a plot."""
    if path.suffix not in CHART_ENDINGS:
        raise UsageError(f"{path}: a plot is a file that ends with {', '.join(CHART_ENDINGS)}")


def write_plot(chart: PointChart, path: Path) -> None:
    """Write a chart by the ending of the file. Raises InputError, and MissingExtra for SVG and PNG."""
    try:
        write_item(chart, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}). Give another --plot") from error
