"""Build `src/clew/text/data/lexicon.npz`: `python scripts/build_lexicon.py /usr/share/wordnet`.

The files are those of WordNet 3.0, as Debian's `wordnet-base` has them (formats: wndb(5WN), cntlist(5WN),
morphy(7WN)). What is kept: every single-word lemma that is not a name, multi-word lemmas that occur in the
sense-tagged corpus, and between their senses the relations that `clew.text.lexicon` reads. Names of people
and places (instances) and Latin names of genera and families are left out.
"""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

POS_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
HYPERNYM, INSTANCE = "@", "@i"
UP, DOWN = 0, 1
SYMMETRIC = {"=": 2, "&": 3, "$": 4, "%m": 5}
"""Kinds of links between synsets: hypernym, hyponym, attribute, similar to, verb group, member."""
LEXICAL = {"+", "\\", "<"}
"""Derivation, pertainym, participle: relations of senses."""
OPPOSITE = "!"
LEMMA = re.compile(r"[a-z][a-z'-]*(_[a-z][a-z'-]*){0,3}")
TOPS = 3
TOPICS = {
    "act": 4, "animal": 5, "artifact": 6, "attribute": 7, "body": 8, "cognition": 9, "communication": 10,
    "event": 11, "feeling": 12, "food": 13, "group": 14, "location": 15, "motive": 16, "object": 17,
    "person": 18, "phenomenon": 19, "plant": 20, "possession": 21, "process": 22, "quantity": 23,
    "relation": 24, "shape": 25, "state": 26, "substance": 27, "time": 28,
}  # fmt: skip
"""Numbers of the lexicographer files of nouns; the synset `person` itself is filed under TOPS."""
BIOLOGY = {5, 20}
"""Lexicographer files of animals and plants."""

Key = tuple[str, int]
"""A synset: part of speech and offset in its data file."""


@dataclass
class Synset:
    """A synset as the data file states it; `words` in order, with capitals."""

    file: int
    words: list[str]
    relations: list[tuple[str, Key]] = field(default_factory=list)
    lexical: list[tuple[int, Key, int]] = field(default_factory=list)
    """(word position, other synset, word position there)."""
    opposites: list[tuple[int, Key, int]] = field(default_factory=list)
    """The same of antonyms."""


def topic(file: int, words: list[str]) -> int:
    """Return the lexicographer file; TOPS is replaced by the file that the word itself names."""
    return next((TOPICS[w] for w in words if w in TOPICS), TOPS) if file == TOPS else file


def read_synsets(folder: Path) -> dict[Key, Synset]:
    """All synsets of the four data files."""
    synsets: dict[Key, Synset] = {}
    for pos, name in POS_FILES.items():
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields = line.split(" | ")[0].split()
            count = int(fields[3], 16)
            words = [re.sub(r"\(\w+\)$", "", fields[4 + 2 * i]) for i in range(count)]
            synset = Synset(topic(int(fields[1]), words), words)
            at = 4 + 2 * count
            for i in range(int(fields[at])):
                symbol, offset, target_pos, ends = fields[at + 1 + 4 * i : at + 5 + 4 * i]
                key = (target_pos.replace("s", "a"), int(offset))
                if symbol in LEXICAL | {OPPOSITE} and ends != "0000":
                    of_words = synset.opposites if symbol == OPPOSITE else synset.lexical
                    of_words.append((int(ends[:2], 16) - 1, key, int(ends[2:], 16) - 1))
                else:
                    synset.relations.append((symbol, key))
            synsets[pos, int(fields[0])] = synset
    return synsets


def read_senses(folder: Path) -> dict[str, list[tuple[Key, int]]]:
    """Senses of every lemma with their tag counts: parts of speech together, each in WordNet's order."""
    counts: dict[tuple[str, str, int], int] = {}
    kinds = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, number, count = line.split()
        lemma, sense_code = key.split("%")
        counts[lemma, kinds[sense_code[0]], int(number)] = int(count)
    senses: dict[str, list[tuple[Key, int]]] = defaultdict(list)
    for pos, name in POS_FILES.items():
        for line in (folder / f"index.{name}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields = line.split()
            for number, offset in enumerate(fields[len(fields) - int(fields[2]) :], 1):
                senses[fields[0]].append(((pos, int(offset)), counts.get((fields[0], pos, number), 0)))
    return senses


def information(synsets: dict[Key, Synset]) -> dict[Key, float]:
    """Compute intrinsic information content (Seco et al. 2004): 1 - log(hyponyms + 1) / log(all)."""
    below: dict[Key, set[Key]] = defaultdict(set)
    for key in synsets:
        seen, todo = set[Key](), [key]
        while todo:
            for symbol, parent in synsets[todo.pop()].relations:
                if symbol == HYPERNYM and parent not in seen:
                    seen.add(parent)
                    below[parent].add(key)
                    todo.append(parent)
    totals = {pos: sum(1 for key in synsets if key[0] == pos) for pos in POS_FILES}
    return {key: 1 - math.log(len(below[key]) + 1) / math.log(totals[key[0]]) for key in synsets}


def spelling(synset: Synset, lemma: str) -> str:
    """Return the lemma with the capitals that it has in this synset."""
    return next((w for w in synset.words if w.lower() == lemma), lemma)


def is_kept(synset: Synset, lemma: str, count: int) -> bool:
    """Whether this sense of the lemma goes into the table."""
    if any(symbol == INSTANCE for symbol, _ in synset.relations):
        return False
    if not LEMMA.fullmatch(lemma) or ("_" in lemma and count == 0):
        return False
    capital = spelling(synset, lemma) != lemma
    if capital and (synset.file in BIOLOGY or len(lemma) <= 3):
        return False
    return not (capital and count == 0 and synset.file not in (0, 1, 10, 18))


def exceptions(folder: Path, lemmas: dict[str, int]) -> list[str]:
    """Lines `form lemma…` of the irregular inflections."""
    forms: dict[str, list[str]] = defaultdict(list)
    for name in POS_FILES.values():
        for line in (folder / f"{name}.exc").read_text("utf-8").splitlines():
            form, *bases = line.split()
            forms[form] += [b for b in bases if b in lemmas and b not in forms[form]]
    return [" ".join([form, *bases]) for form, bases in sorted(forms.items()) if bases and "_" not in form]


def build(folder: Path) -> dict[str, np.ndarray]:
    """Make the arrays of the table; their meaning is stated in `clew.text.lexicon`."""
    synsets, senses = read_synsets(folder), read_senses(folder)
    table = {
        lemma: [(key, count) for key, count in lemma_senses if is_kept(synsets[key], lemma, count)]
        for lemma, lemma_senses in sorted(senses.items(), key=lambda item: item[0].replace("_", " "))
    }
    table = {lemma: lemma_senses for lemma, lemma_senses in table.items() if lemma_senses}
    lemmas = {lemma: i for i, lemma in enumerate(table)}
    number: dict[Key, int] = {}
    sense_at: dict[tuple[str, Key], int] = {}
    for lemma, lemma_senses in table.items():
        for key, _ in lemma_senses:
            number.setdefault(key, len(number))
            sense_at[lemma, key] = len(sense_at)
    content = information(synsets)
    first = {lemma: lemma_senses[0][0] for lemma, lemma_senses in table.items()}
    linked, derived = relations(synsets, number, sense_at, first)
    counts = [count for lemma_senses in table.values() for _, count in lemma_senses]
    main = [weight for lemma_senses in table.values() for weight in mainness(lemma_senses)]
    return {
        "lemmas": text_array([lemma.replace("_", " ") for lemma in lemmas]),
        "length": np.array([len(lemma) for lemma in lemmas], np.uint8),
        "exceptions": text_array(exceptions(folder, lemmas)),
        "senses": np.array([len(lemma_senses) for lemma_senses in table.values()], np.uint8),
        "synset": split(
            [number[key] for lemma_senses in table.values() for key, _ in lemma_senses], delta=True
        ),
        "count": np.array([min(255, round(24 * math.log2(1 + c))) for c in counts], np.uint8),
        "main": np.array([round(255 * weight) for weight in main], np.uint8),
        "topic": np.array([synsets[key].file for key in number], np.uint8),
        "content": np.array([round(255 * content[key]) for key in number], np.uint8),
        "link": links([(a, b) for a, b, _ in linked], len(number)),
        "link_kind": np.array([kind for *_, kind in linked], np.uint8),
        "derived": links(derived, len(sense_at)),
        "opposite": links(opposites(synsets, sense_at), len(sense_at)),
    }


def mainness(lemma_senses: list[tuple[Key, int]]) -> list[float]:
    """Say how much each sense is what the lemma means, in (0, 1].

    It grows with the frequency and rank of the sense within its part of speech, and the share of that.
    """
    pos_total: dict[str, int] = defaultdict(int)
    pos_top: dict[str, int] = defaultdict(int)
    for (pos, _), count in lemma_senses:
        pos_total[pos] += count
        pos_top[pos] = max(pos_top[pos], count)
    rank: dict[str, int] = defaultdict(int)
    weights: list[float] = []
    for (pos, _), count in lemma_senses:
        rank[pos] += 1
        frequency = math.sqrt((count + 0.5) / (pos_top[pos] + 0.5))
        share = math.sqrt((pos_total[pos] + 1) / (max(pos_total.values()) + 1))
        weights.append((0.5 * frequency + 0.5 / math.sqrt(rank[pos])) * (0.6 + 0.4 * share))
    return weights


def parents(synsets: dict[Key, Synset], number: dict[Key, int], main: dict[str, Key], key: Key) -> set[Key]:
    """Return the nearest hypernyms that are kept, and the heads of the compounds between.

    `brother` is under `male sibling`, which is not kept: so it is under what that is under, and `sibling`.
    """
    hypernyms = set[Key]()
    for symbol, parent in synsets[key].relations:
        if symbol != HYPERNYM:
            continue
        if parent in number:
            hypernyms.add(parent)
            continue
        hypernyms |= parents(synsets, number, main, parent)
        for compound in synsets[parent].words:
            head = main.get(compound.rsplit("_", 1)[-1])
            if head and "_" in compound and synsets[head].file == synsets[parent].file:
                hypernyms.add(head)
    return hypernyms


def relations(
    synsets: dict[Key, Synset],
    number: dict[Key, int],
    sense_at: dict[tuple[str, Key], int],
    main: dict[str, Key],
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
    """(synset, synset, kind) and pairs of derived senses, every link in both directions, sorted.

    `main` is the first sense of each lemma.
    """
    linked, derived = set[tuple[int, int, int]](), set[tuple[int, int]]()
    for key in number:
        synset = synsets[key]
        a = number[key]
        for b in (number[parent] for parent in parents(synsets, number, main, key) if parent != key):
            linked |= {(a, b, UP), (b, a, DOWN)}
        for symbol, target in synset.relations:
            if target in number and symbol in SYMMETRIC:
                b = number[target]
                linked |= {(a, b, SYMMETRIC[symbol]), (b, a, SYMMETRIC[symbol])}
        for source_word, target, target_word in synset.lexical:
            a = sense_at.get((synset.words[source_word].lower(), key))
            b = sense_at.get((synsets[target].words[target_word].lower(), target))
            if a is not None and b is not None and a != b:
                derived |= {(a, b), (b, a)}
    return sorted(linked), sorted(derived)


def opposites(synsets: dict[Key, Synset], sense_at: dict[tuple[str, Key], int]) -> list[tuple[int, int]]:
    """Pairs of senses of verbs that are antonyms, in both directions, sorted."""
    pairs = set[tuple[int, int]]()
    for key, synset in synsets.items():
        for source_word, target, target_word in synset.opposites if key[0] == "v" else ():
            a = sense_at.get((synset.words[source_word].lower(), key))
            b = sense_at.get((synsets[target].words[target_word].lower(), target))
            if a is not None and b is not None:
                pairs |= {(a, b), (b, a)}
    return sorted(pairs)


def links(pairs: list[tuple[int, int]], rows: int) -> np.ndarray:
    """uint8 [3, rows + pairs]: first the number of targets of every row, then target - row."""
    sizes = np.bincount([a for a, _ in pairs], minlength=rows).tolist()
    return split([*sizes, *(b - a for a, b in pairs)])


def text_array(lines: list[str]) -> np.ndarray:
    """Lines as UTF-8 bytes."""
    return np.frombuffer("\n".join(lines).encode("utf-8"), np.uint8)


def split(values: list[int], *, delta: bool = False) -> np.ndarray:
    """uint8 [3, n]: the bytes of 24-bit integers apart (they compress better), as differences if `delta`."""
    array = np.array(values, np.int64)
    if delta:
        array = np.diff(array, prepend=0)
    array &= 0xFFFFFF
    return np.stack([(array >> shift & 255).astype(np.uint8) for shift in (0, 8, 16)])


def main() -> None:
    """Write the table and say what it holds."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: build_lexicon.py WORDNET_DIRECTORY")
    target = Path(__file__).parents[1] / "src" / "clew" / "text" / "data" / "lexicon.npz"
    arrays = build(Path(sys.argv[1]))
    np.savez_compressed(target, **arrays)
    for name, array in arrays.items():
        print(f"{name:10} {array.shape}")
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
