"""Where the bound (Clew's) of SimGRAG's GSD per edge comes from, by ways to say what a graph has and lacks.

For each relation of four graphs some ways to say it, and for each graph relations that it has not. A pattern
fits where the nearest relation is not farther than the bound, so a bound is good if the first are within it
(from the relation that is meant) and the second are not. Distances are those of `PatternDistances`.

python benchmarks/bound.py [--embedder SPEC …] [--write benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from questions import GRAPHS
from results import publish

from clew import Clew
from clew.methods.simgrag.find_subgraphs import FITTING_GSD, PatternDistances
from clew.types import PatternEdge

WORDINGS: dict[str, dict[str, list[str]]] = {
    "films": {
        "directed_by": ["director", "directed by", "film director of"],
        "starring": ["actor in", "stars", "acted in", "cast member"],
        "written_by": ["writer", "screenwriter of", "wrote"],
        "release_year": ["release year", "released in", "year of release"],
        "genre": ["genre of the film", "has genre"],
        "runtime_minutes": ["running time", "duration", "length in minutes"],
        "birth_place": ["born in", "place of birth", "birthplace"],
        "spouse": ["married to", "wife of", "husband"],
        "country": ["country of origin", "made in country"],
    },
    "countries": {
        "capital": ["capital city", "capital of", "has capital"],
        "currency": ["currency used", "money", "pays with"],
        "officialLanguage": ["official language", "language spoken", "speaks"],
        "population": ["number of inhabitants", "population size", "people living in"],
        "borders": ["neighbouring country", "shares border with", "adjacent to"],
        "flowsThrough": ["river flows through", "runs through", "passes through country"],
        "lengthKm": ["length", "length in kilometres", "how long"],
        "elevationMetres": ["height", "elevation", "altitude above sea level"],
        "continent": ["on continent", "continent of"],
        "locatedIn": ["located in", "lies in", "location"],
    },
    "companies": {
        "foundedBy": ["founder", "founded by", "established by"],
        "ceo": ["chief executive", "CEO of", "led by"],
        "headquarters": ["headquartered in", "head office", "based in"],
        "numberOfEmployees": ["employees", "number of workers", "staff size"],
        "hasProduct": ["product", "makes", "manufacturer of"],
        "subsidiaryOf": ["parent company", "owned by", "subsidiary"],
        "almaMater": ["studied at", "university attended", "educated at"],
        "foundedIn": ["founding year", "founded in year", "established in"],
        "birthPlace": ["born in", "place of birth", "hometown"],
        "industry": ["industry sector", "line of business"],
    },
    "books": {
        "author": ["writer", "written by", "wrote"],
        "publisher": ["published by", "publishing house"],
        "publicationDate": ["publication date", "published in", "date of publication"],
        "numberOfPages": ["pages", "page count", "length in pages"],
        "originalLanguage": ["language", "written in language"],
        "awardReceived": ["won award", "prize", "winner of"],
        "birthDate": ["date of birth", "born on"],
        "deathDate": ["died on", "date of death"],
        "spouse": ["married to", "wife", "husband"],
        "setIn": ["takes place in", "setting"],
    },
}
ABSENT_RELATIONS: dict[str, list[str]] = {
    "films": ["composed the music of", "won award", "budget", "box office", "population", "capital of"],
    "countries": ["national anthem", "president", "founded by", "directed by", "award", "spouse"],
    "companies": ["mascot", "capital of", "directed by", "population", "genre", "spouse"],
    "books": ["illustrator", "population", "capital of", "budget", "headquarters", "weight"],
}
BOUNDS = (0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)


def distances(clew: Clew, graph: str) -> tuple[list[float], list[float]]:
    """Distances of wordings from the relations that they mean, and of absent relations from the nearest."""
    names = list(clew.opened.graph.relations)
    pattern = PatternDistances(clew.opened, clew.embedder)

    def relation_distances(words: str) -> list[float]:
        return [float(d) for d in pattern.relation_distances(PatternEdge(0, words, 1))]

    wording_distances = [
        relation_distances(words)[names.index(relation)]
        for relation, wordings in WORDINGS[graph].items()
        for words in wordings
    ]
    return wording_distances, [min(relation_distances(words)) for words in ABSENT_RELATIONS[graph]]


def table(embedder: str | None) -> list[str]:
    """Rows of how much is within each bound, by graph."""
    wording_distances: dict[str, list[float]] = {}
    absent_distances: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for name, path in GRAPHS.items():
            with Clew.open(path, cache_dir=Path(cache), embedder=embedder) as clew:
                wording_distances[name], absent_distances[name] = distances(clew, name)
    heads = [
        f"{n}: said ({len(wording_distances[n])}) / lacking ({len(absent_distances[n])})" for n in GRAPHS
    ]
    rows = [f"| bound | {' | '.join(heads)} | all |", "|---|" + "---|" * (len(heads) + 1)]
    for bound in BOUNDS:
        counts = [
            (sum(d <= bound for d in wording_distances[n]), sum(d <= bound for d in absent_distances[n]))
            for n in GRAPHS
        ]
        totals = tuple(sum(w[i] for w in counts) for i in (0, 1))
        mark = " (the default)" if bound == FITTING_GSD else ""
        cells = " | ".join(f"{a} / {b}" for a, b in [*counts, totals])
        rows.append(f"| {bound}{mark} | {cells} |")
    return rows


def main() -> None:
    """Measure all graphs, print the table, and write the section of the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--embedder", action="append", help="besides the built-in one; as for clew index")
    parser.add_argument("--write", type=Path, help="the file of results")
    arguments = parser.parse_args()
    text = [
        __doc__.split("python bench")[0].strip(),
        "",
        "`python benchmarks/bound.py --embedder onnx:minilm-int8`",
    ]
    for embedder in (None, *(arguments.embedder or ())):
        embedder_name = "the built-in one" if embedder is None else embedder.rpartition("/")[2]
        text += ["", f"Embedder: {embedder_name}.", "", *table(embedder)]
    publish(arguments.write, "SimGRAG: the bound of GSD per edge", "\n".join(text))


if __name__ == "__main__":
    main()
