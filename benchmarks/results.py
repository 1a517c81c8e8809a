"""Sections of `benchmarks/RESULTS.md`, each written by the benchmark that measures it."""

from __future__ import annotations

from pathlib import Path


def publish(path: Path | None, title: str, text: str) -> None:
    """Print figures; with a `path`, also replace the section `## title` there, or add it at the end."""
    print(text)
    if path is None:
        return
    content = path.read_text("utf-8") if path.exists() else "# Results\n"
    head, mark, rest = content.partition(f"\n## {title}\n")
    following = rest.find("\n## ")
    tail = rest[following:] if mark and following >= 0 else ""
    path.write_text(f"{head.rstrip()}\n\n## {title}\n\n{text.strip()}\n{tail}", "utf-8")
