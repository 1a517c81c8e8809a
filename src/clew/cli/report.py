"""`clew eval RUN… --report FILE.html`: one page with the tables and plots of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.cli.console import warn, write, write_json
from clew.cli.options import option
from clew.cli.progress import Bar
from clew.text.counted import byte_size


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Which files are written."""

    report: Path | None = option(None, "Write a page with the figures of the runs.", "FILE.html")
    png: bool = option(False, "Also write each plot as PNG (needs clew[report]).")
    markdown: bool = option(False, "Also write each table as Markdown.")
    latex: bool = option(False, "Also write each table as LaTeX (booktabs).")


def write_report(runs: Sequence[Path], files: ReportFiles, *, json: bool, quiet: bool) -> None:
    """Write one self-contained HTML page, and its tables and plots as CSV beside it."""
    from clew.evaluate.report.build import build_report, can_draw

    page = files.report or runs[0] / "report.html"
    with Bar(quiet=quiet) as bar:

        def tell(what: str, done: int, total: int) -> None:
            bar.update(what, done, total, "questions" if what == "reading" else "files")

        choices = ((".png", files.png), (".md", files.markdown), (".tex", files.latex))
        endings = [ending for ending, is_chosen in choices if is_chosen]
        folder = build_report(runs, page, also=endings, progress=tell)
    if not can_draw() and not quiet:
        warn("the page has no charts. Draw them: pip install 'clew[report]'")
    if json:
        write_json({"page": str(page), "folder": str(folder)})
    elif not quiet:
        write(f"{page} ({byte_size(page.stat().st_size)}); tables and plots: {folder}/")
