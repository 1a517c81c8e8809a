"""The words of a question aligned with the steps of chains."""

from collections.abc import Iterator

import numpy as np
import pytest

from clew import Clew
from clew.reading.alignment import ALIGNED, Alignment, Words

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
