"""Data sets by name; adding one is a file and a line here."""

from __future__ import annotations

from typing import cast

from clew.errors import UsageError
from clew.evaluate.datasets.base import DatasetReader
from clew.evaluate.datasets.crag import Crag
from clew.evaluate.datasets.factkg import FactKG
from clew.evaluate.datasets.irn import WC2014, PathQuestion
from clew.evaluate.datasets.metaqa import MetaQA
from clew.evaluate.datasets.plain import Plain
from clew.evaluate.datasets.qald import Qald
from clew.evaluate.datasets.wikidata import LCQuAD2, Mintaka, WebQSP, WebQSPWD
from clew.plugins import imported, is_plugin

DATASETS: tuple[DatasetReader, ...] = (
    *(MetaQA(), PathQuestion(), WC2014(), FactKG(), Crag(), Qald()),
    *(WebQSP(), WebQSPWD(), LCQuAD2(), Mintaka(), Plain()),
)
"""All readers."""


def dataset_named(name: str) -> DatasetReader:
    """Return the reader of a data set, or `module:class` of a user's own; UsageError if there is none."""
    if is_plugin(name):
        plugin = imported(name, "data set")
        return cast(DatasetReader, plugin() if isinstance(plugin, type) else plugin)
    readers = {reader.about.name: reader for reader in DATASETS}
    if name in readers:
        return readers[name]
    advice = f"Data sets are: {', '.join(readers)}; your own is MODULE:CLASS"
    raise UsageError(f"There is no data set {name!r}. {advice}. See: clew eval --datasets")
