"""`clew eval --datasets`: which data sets can be read, where to get them, and their licences."""

from __future__ import annotations

from dataclasses import asdict

from clew.cli.console import escape, out, put, write_json
from clew.cli.opening import Json


def print_datasets(json: Json = False) -> None:
    """List the data sets that `clew eval` reads. Nothing is downloaded."""
    from clew.evaluate.datasets.registry import DATASETS

    if json:
        write_json([asdict(reader.about) | {"splits": list(reader.splits)} for reader in DATASETS])
        return
    console = out()
    for reader in DATASETS:
        about = reader.about
        put(console, escape(f"{about.name}: {about.title}"), "bold")
        facts = {"from": about.source, "licence": about.licence, "files": about.files}
        facts |= {"splits": ", ".join(reader.splits), "cite": about.cite}
        for title, text in facts.items():
            if text:
                put(console, escape(f"  {title:<8} {text}"))
