"""`clew datasets`: which data sets can be read, where to get them, and their licences."""

from __future__ import annotations

from clew.cli.console import out, shown, write_json
from clew.cli.opening import Json


def datasets(json: Json = False) -> None:
    """List the data sets that `clew eval` reads. Nothing is downloaded."""
    from dataclasses import asdict

    from clew.evaluate.datasets.registry import DATASETS

    if json:
        write_json([asdict(reader.about) | {"splits": list(reader.splits)} for reader in DATASETS])
        return
    console = out()
    for reader in DATASETS:
        about = reader.about
        console.print(shown(f"{about.name}: {about.title}"), style="bold", soft_wrap=True)
        rows = [
            ("from", about.source),
            ("licence", about.licence),
            ("files", about.files),
            ("cite", about.cite),
        ]
        rows.insert(3, ("splits", ", ".join(reader.splits)))
        for title, text in rows:
            if text:
                console.print(shown(f"  {title:<8} {text}"), soft_wrap=True)
