"""A folder that is no model of the reader is an error that says so."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from clew import Clew
from clew.errors import EmbedderError
from clew.graph.build import graph_of
from clew.graph.schema import schema_of
from clew.query.vocabulary import Vocabulary
from clew.reading.alignment import ALIGNED, Alignment, Words
from clew.reading.certainty import OF_MEANING
from clew.reading.features import COMPARED, FEATURES
from clew.reading.fitted import Trees
from clew.reading.likeness import WordMatcher
from clew.reading.ranker import MODEL_VERSION, Ranker
from clew.text.embedders import StaticEmbedder
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon

pytest.importorskip("onnxruntime")
ABOUT = {"version": MODEL_VERSION, "features": [*FEATURES, *COMPARED], "tokens": 26, "longest": 48}


@pytest.mark.parametrize("change", [{"version": MODEL_VERSION + 1}, {"features": list(FEATURES[:-1])}])
def test_another_version_is_an_error(tmp_path, change) -> None:
    (tmp_path / "model.json").write_text(json.dumps(ABOUT | change))
    with pytest.raises(EmbedderError, match="of another version"):
        Ranker.open(tmp_path)


@pytest.mark.parametrize("text", ["", '{"version": 1', "[]", "{}"])
def test_a_damaged_description_is_an_error(tmp_path, text) -> None:
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(EmbedderError, match=str(tmp_path)):
        Ranker.open(tmp_path)


def test_missing_parts_are_an_error(tmp_path) -> None:
    (tmp_path / "model.json").write_text(json.dumps(ABOUT))
    with pytest.raises(EmbedderError, match=r"encoder\.onnx"):
        Ranker.open(tmp_path)


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    vectors, mask, _ = Ranker.open().encode(["\ud800 lone", "? lone"])
    assert mask.all()
    assert np.allclose(vectors[0], vectors[1], atol=1e-5)


@pytest.mark.parametrize("damage", [b"", b"not trees"])
def test_a_damaged_file_says_what_to_do(damage: bytes, tmp_path: Path):
    (tmp_path / "certainty.npz").write_bytes(damage)
    with pytest.raises(EmbedderError, match="Install clew again"):
        Trees.open(tmp_path / "certainty.npz", OF_MEANING)


def test_trees_of_other_features_are_refused(tmp_path: Path):
    np.savez(tmp_path / "certainty.npz", names=np.array(["share"]))
    with pytest.raises(EmbedderError, match="another version"):
        Trees.open(tmp_path / "certainty.npz", OF_MEANING)


def test_what_signs_tell_against_does_not_come_before_the_likeliest(films: Clew):
    answer = films.ask("How many science fiction films were released in the 1980s?")
    assert "the 1980s" in (answer.reading or answer.alternatives[0].reading)


def test_a_graph_that_lacks_the_relation_is_no_answer(tmp_path: Path):
    triples = [(f"Film {n}", "directed_by", f"Person {n % 7}") for n in range(40)]
    with Clew.from_triples(triples) as graph:
        assert graph.ask("Who directed Film 3?").text == "Person 3"
        assert not graph.ask("Which studio paid for Film 3?").answers


EMBEDDER, LEXICON = StaticEmbedder.load(), Lexicon.load()


def made_up(count: int) -> list[str]:
    """Words that are not English, some of which share a stem."""
    draw = random.Random(7)
    stems = ["".join(draw.choice("bcdfgklmoprtuvz") for _ in range(7)) for _ in range(count // 2)]
    return [stem + ending for stem in stems for ending in ("ing", "ed")]


def matcher(relations: list[str], lexicon: Lexicon) -> WordMatcher:
    graph = graph_of([("a", relation, f"b{i}") for i, relation in enumerate(relations)])
    return WordMatcher(Vocabulary.of(graph, schema_of(graph)), EMBEDDER, lexicon)


def test_words_are_compared_with_all_of_a_graph_that_may_be_like_them() -> None:
    words = ["direct", "director", "dying", "writes", *made_up(200)]
    compare = matcher(words, LEXICON).compare
    for word in ("die", "directed", "writer", words[10], words[11].removesuffix("ed"), "stranger"):
        row = compare(word).exact_relations[0]
        assert row == pytest.approx([LEXICON.similarity(singular(word), singular(w)) for w in words])


AT = {name: place for place, name in enumerate(ALIGNED)}


STEPS = ((0, 3, -1), (1, -1, -1), (2, 3, 4))


LABELS = 6


def some_words(rng: np.random.Generator, count: int) -> Words:
    enter, stay = rng.random((2, count, LABELS, len(ALIGNED)), np.float32)
    for table in (enter, stay):
        for column in ("first_silent", "later_silent", "joined", "right_first", "no_chain"):
            table[..., AT[column]] = 0
    left = int(rng.integers(0, count + 1))
    linked = tuple(bool(x) for x in rng.integers(0, 2, count))
    return Words(enter, stay, linked, tuple(range(left))[::-1], tuple(range(left, count)))


def aligned(words: Words, weights: np.ndarray, *chains: tuple[tuple[int, int, int], ...]) -> np.ndarray:
    labels = np.full((len(chains), 4, 3), -1)
    for row, steps in enumerate(chains):
        labels[row, : len(steps)] = np.reshape(steps, (-1, 3))
    counts = np.array([len(steps) for steps in chains])
    rows = tuple(np.flatnonzero(counts).tolist())
    return Alignment(((words, rows),), labels, counts).features(weights)


def ways(count: int, steps: int, first: int = 0) -> Iterator[tuple[int, ...]]:
    """All ways to give words to steps that never go back; 0: before the first step."""
    if not count:
        yield ()
        return
    for at in range(first, steps + 1):
        for rest in ways(count - 1, steps, at):
            yield (at, *rest)


def best_of_all(words: Words, weights: np.ndarray, steps: tuple[tuple[int, int, int], ...]) -> float:
    """The best alignment of all, looked for one by one."""
    found = []
    for right_first, order in enumerate((words.left + words.right, words.right + words.left)):
        if right_first and not (words.left and words.right):
            continue
        for way in ways(len(order), len(steps)):
            score = float(weights[AT["right_first"]]) * right_first
            for step in range(1, len(steps) + 1):
                silent = "first_silent" if step == 1 else "later_silent"
                score += 0 if step in way else float(weights[AT[silent]])
            for place, (word, step) in enumerate(zip(order, way, strict=True)):
                stays = not step or (place > 0 and way[place - 1] == step)
                score += float(weights[AT["joined"]]) * (stays and words.linked[word])
                if not step:
                    continue
                said = [x for x in steps[step - 1] if x >= 0]
                if stays:
                    score += max(0.0, *(words.stay[word, x] @ weights for x in said))
                else:
                    score += max(words.enter[word, x] @ weights for x in said)
            found.append(score)
    return max(found)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_alignment_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = some_words(rng, 1 + seed % 4)
    weights = rng.normal(size=len(ALIGNED)).astype(np.float32)
    chains = (STEPS, STEPS[:1], STEPS[1:])
    scores = aligned(words, weights, *chains) @ weights
    looked_for = np.array([best_of_all(words, weights, steps) for steps in chains])
    assert scores.max() == 0
    assert scores == pytest.approx(looked_for - looked_for.max(), abs=1e-4)


def test_what_is_no_chain_says_so_and_silent_steps_are_counted() -> None:
    words = some_words(np.random.default_rng(0), 0)
    weights = np.full(len(ALIGNED), -0.1, np.float32)
    made = aligned(words, weights, STEPS, STEPS[:1], ())
    assert made[0, AT["first_silent"]] == 0, "less that of the best chain, which has the same first step"
    assert made[0, AT["later_silent"]] == 2
    assert made[:, AT["no_chain"]].tolist() == [0, 0, 1]


def test_each_noun_of_a_chain_is_its_own_step() -> None:
    graph = Clew.from_triples(
        [
            (f"film {i}", relation, f"{who} {j}")
            for i in range(12)
            for relation, who, j in (
                ("directed_by", "Ann", i % 3), ("written_by", "Bob", i % 4), ("starred_actors", "Cid", i % 5),
            )
        ]
    )  # fmt: skip
    answer = graph.ask("Who starred in the films written by the writer of film 1?")
    assert answer.reading == "starred actors of other things with the same writer as film 1"
