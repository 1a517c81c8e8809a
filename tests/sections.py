"""Files of cases over small graphs (`tests/data`): a section is a graph, with what is asked of it.

# a name
= examples/films.tsv                   a file of the graph, or
Heat | directed_by | Michael Mann      its triples, and
Film: Heat, Ran                        what is of a type
; what the cases behind it show
> Who directed Heat? => Michael Mann   a case
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clew import Clew

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Section:
    """A graph and its cases: (mark, what is asked, what is to come of it)."""

    name: str
    sources: tuple[Path, ...]
    triples: tuple[tuple[str, ...], ...]
    types: dict[str, list[str]]
    cases: tuple[tuple[str, str, str], ...]

    def open(self, cache: Path) -> Clew:
        if self.sources:
            return opened(self.sources, cache)
        return Clew.from_triples(self.triples, types=self.types)  # pyright: ignore[reportArgumentType]


@cache
def opened(sources: tuple[Path, ...], cache: Path) -> Clew:
    """A graph of files, which all tests of a process ask."""
    return Clew.open([*sources], cache_dir=cache)


def read_sections(path: Path, marks: str = ">") -> dict[str, Section]:
    """The sections of a file; `marks` are the signs that a case may begin with."""
    texts = path.read_text("utf-8").removeprefix("# ").split("\n# ")
    return {text.partition("\n")[0]: _section(text, marks) for text in texts}


def _section(text: str, marks: str) -> Section:
    name, *lines = text.strip().split("\n")
    cases = [line for line in lines if line[:1] in marks and line[1:2] == " "]
    told = [line for line in lines if line and line not in cases and line[0] not in ";="]
    typed = [line.split(":", 1) for line in told if " | " not in line]
    types: dict[str, list[str]] = {}
    for type_, names in typed:
        for one in names.split(","):
            types.setdefault(one.strip(), []).append(type_)
    return Section(
        name,
        tuple(ROOT / line[2:] for line in lines if line.startswith("= ")),
        tuple(tuple(part.strip() for part in line.split(" | ")) for line in told if " | " in line),
        types,
        tuple((line[0], *map(str.strip, line[2:].rsplit(" =>", 1))) for line in cases),  # pyright: ignore
    )
