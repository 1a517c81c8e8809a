"""FactKG (Kim et al., ACL 2023): claims about DBpedia, true or false.

Read are `factkg_SPLIT.pickle` as published (`{claim: {"Label", "Entity_set", "Evidence", "types"}}`; only
plain values are loaded, no code in it is run) and files of JSON lines with the same keys and `claim`. The
graph is `dbpedia_2015_undirected*.pickle` (`{entity: {relation: [entity]}}`, `~` marks an inverse) where it
is there.

Else a graph is put together from the claims' evidence, which has relation paths between the entities of a
claim but not the entities between them nor what DBpedia holds where a claim is false. So it only has the
triples of claims that hold: true ones without a negation and false ones with one. Accuracy on it says
little about DBpedia.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from clew.evaluate.datasets.base import DatasetAbout, choose_split, find_file, find_optional, unique
from clew.evaluate.datasets.files import Fields, PlainTriple, json_lines, plain_pickle, write_triples
from clew.evaluate.questions import DatasetPart, EvalQuestion, GraphSource

_INVERSE = "~"
_STYLES = ("num1", "multi claim", "existence", "multi hop", "negation")


class FactKG:
    """One part, `claims`."""

    splits = ("test", "dev", "train")
    about = DatasetAbout(
        name="factkg",
        title="FactKG: claims to verify against DBpedia",
        source="https://github.com/jiho283/FactKG",
        licence="CC BY-NC-SA 4.0",
        files="factkg_SPLIT.pickle or factkg_SPLIT*.jsonl, dbpedia_2015_undirected_light.pickle (optional)",
        cite="Kim, Park, Kwon, Jo, Thorne, Choi: FactKG: Fact Verification via Reasoning on KGs, ACL 2023",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, if claims are there."""
        return ("claims",) if self._splits(folder) else ()

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read the claims of a split; raises as `DatasetReader.read`."""
        split = choose_split(self.splits, self._splits(folder), split, folder)
        file = find_file(folder, _names(split), f"{split} claims")
        rows = list(_rows(file))
        questions = unique([_claim(fields, f"factkg/{split}") for fields in rows], file)
        dbpedia = find_optional(folder, ["dbpedia_2015_undirected*.pickle"])
        if dbpedia is not None:
            source = GraphSource(make=lambda path: write_triples(_dbpedia(dbpedia), path))
            return DatasetPart(f"factkg/{split}", questions, (file,), source, task="claims")
        source = GraphSource(make=lambda path: write_triples(_evidence(rows), path))
        notes = (
            "The graph is put together from the evidence of the claims that hold, as DBpedia is not there;"
            " accuracy on it says little about DBpedia",
        )
        return DatasetPart(f"factkg/{split}", questions, (file,), source, task="claims", notes=notes)

    def _splits(self, folder: Path) -> list[str]:
        return [split for split in self.splits if find_optional(folder, _names(split)) is not None]


def _names(split: str) -> list[str]:
    return [f"factkg_{split}.pickle", f"factkg_{split}*.jsonl"]


def _rows(file: Path) -> Iterator[Fields]:
    if file.suffix != ".pickle":
        yield from (Fields(value, file, number) for number, value in json_lines(file))
        return
    document = plain_pickle(file)
    for number, (claim, value) in enumerate(cast("dict[str, Any]", document).items(), 1):
        yield Fields({"claim": claim, **value}, file, number, f"claim {number}")


def _claim(fields: Fields, name: str) -> EvalQuestion:
    label = fields.items("Label")
    if len(label) != 1 or not isinstance(label[0], bool):
        raise fields.error("field 'Label' is not [true] or [false]")
    types = fields.texts("types")
    return EvalQuestion(
        id=f"{name}/{fields.line}",
        text=fields.text("claim"),
        entities=tuple(entity.strip('"') for entity in fields.texts("Entity_set")),
        kind=next((style for style in reversed(_STYLES) if style in types), ""),
        verdict="supported" if label[0] else "refuted",
        line=fields.line,
    )


def _dbpedia(file: Path) -> Iterator[PlainTriple]:
    for head, edges in cast("dict[str, dict[str, list[str]]]", plain_pickle(file)).items():
        for relation, tails in edges.items():
            if not relation.startswith(_INVERSE):
                yield from (PlainTriple(_name(head), relation, _name(tail)) for tail in tails)


def _evidence(rows: Iterable[Fields]) -> Iterator[PlainTriple]:
    """Yield triples of the claims that hold; an entity that is not named gets the number of its claim."""
    for fields in rows:
        negated = "negation" in fields.texts("types")
        holds = bool(fields.items("Label")[0]) != negated
        evidence = fields.get("Evidence")
        if holds and isinstance(evidence, Mapping):
            paths = cast("Mapping[str, list[list[str]]]", evidence)
            yield from _join_paths(paths, f"thing of claim {fields.line}")


def _join_paths(evidence: Mapping[str, Sequence[Sequence[str]]], unnamed: str) -> Iterator[PlainTriple]:
    """Join a path of one entity with the same path seen from another."""
    ends = {(entity, tuple(path)) for entity, paths in evidence.items() for path in paths}
    for entity, path in sorted(ends):
        far_ends = [e for e, p in sorted(ends) if p == _reverse_path(path) and e != entity]
        for far_end in far_ends or ([f"{unnamed} ({path[0]})"] if len(path) == 1 else []):
            nodes = [entity, *(f"{unnamed} {at}" for at in range(1, len(path))), far_end]
            if far_ends and (entity, path) > (far_end, _reverse_path(path)):
                continue
            for at, relation in enumerate(path):
                head, tail = _name(nodes[at]), _name(nodes[at + 1])
                if relation.startswith(_INVERSE):
                    yield PlainTriple(tail, relation[1:], head)
                else:
                    yield PlainTriple(head, relation, tail)


def _reverse_path(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(r[1:] if r.startswith(_INVERSE) else _INVERSE + r for r in reversed(path))


def _name(name: str) -> str:
    return name.strip('"')
