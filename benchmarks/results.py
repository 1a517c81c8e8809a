"""Sections of `benchmarks/RESULTS.md`, each written by the benchmark that measures it."""

from __future__ import annotations

from pathlib import Path


def write_section(path: Path, title: str, text: str) -> None:
    """Replace the section `## title`, or add it at the end."""
    content = path.read_text("utf-8") if path.exists() else "# Results\n"
    head, mark, rest = content.partition(f"\n## {title}\n")
    following = rest.find("\n## ")
    tail = rest[following:] if mark and following >= 0 else ""
    path.write_text(f"{head.rstrip()}\n\n## {title}\n\n{text.strip()}\n{tail}", "utf-8")
