"""What each part of the reader that is written by hand is worth: each is left out in turn.

    python scripts/train_reader/parts.py FOLDER... [--processes N]

FOLDER: a graph as in `training/asked` (`kg.tsv`, perhaps `types.tsv`, `questions.jsonl`). Exact answer sets;
prints what leaving a part out changes: right and wrong answers of the answerable questions, and unanswerable
ones that are answered.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from covered import same_answers
from sets import lines, packed

from clew import Clew
from clew.methods import built_in
from clew.methods.built_in import BuiltInReader, built_in_reader
from clew.reading import (
    answer,
    candidates,
    certainty,
    joins,
    mention_finder,
    operations,
    ranker,
    reader,
    signs,
)


def _nothing(*_: object) -> None:
    """Say nothing, change nothing."""


def _unspelt(reader: reader.QuestionReader, text: str, names: Sequence[str] = ()) -> tuple[Any, ...]:
    """A text as it is, and its mentions."""
    return text, reader.name(text, names), ()


def _sign(name: str, empty: object) -> tuple[Any, str, Any]:
    """`Signs` with one of its attributes empty."""
    init = signs.Signs.__init__

    def changed_init(self: signs.Signs, *args: object) -> None:
        init(self, *args)  # type: ignore[arg-type]
        setattr(self, name, empty)

    return signs.Signs, "__init__", changed_init


SIGNS = {
    "signs_by_mention": {},
    "names": [],
    "dates": [],
    "leaving_out": 0.0,
    "relations_asked_for": frozenset(),
}
GUARDS = ("unplaced", "ambiguous")
PARTS: Mapping[str, tuple[Any, str, Any]] = {
    **{f"sign: {name}": _sign(name, empty) for name, empty in SIGNS.items()},
    **{f"guard: {name}": (built_in, name, _nothing) for name in GUARDS},
    "sign: ways back": (signs.Signs, "_way_back_log_odds", lambda *_: 0.0),
    "sign: beyond all": (signs.Signs, "_is_beyond", lambda *_: False),
    "sign: superlatives": (signs.Superlatives, "against", lambda *_: 0.0),
    "flags": (ranker, "put_flags_right", _nothing),
    "literal": (ranker.Literal, "for_", lambda *_: 0.0),
    "narrower": (ranker.Narrower, "put_right", _nothing),
    "which way": (ranker.WhichWay, "put_right", _nothing),
    "asked types": (ranker, "answer_with_type", _nothing),
    "people are no codes": (ranker, "asks_people", lambda *_: False),
    "who is somebody": (ranker.AnswerKinds, "answers_nobody", lambda *_: False),
    "sign: what is asked for": (signs.Signs, "_asked_log_odds", lambda *_: 0.0),
    "sign: never at an end": (signs.Signs, "_is_never_at", lambda *_: False),
    "sign: said twice": (signs.Signs, "_is_said_twice", lambda *_: False),
    "sign: extremes": (signs.Signs, "_extreme_log_odds", lambda *_: 0.0),
    "sign: values": (signs.Signs, "_value_log_odds", lambda *_: 0.0),
    "sign: way of comparison": (signs.Signs, "_comparison_way", lambda *_: 0),
    "certainty: signs against": (certainty, "AGAINST", 1e9),
    "flags as asked": (answer, "as_asked", lambda *arguments: arguments[2]),
    "mutual, yes or no": (answer, "either_way", lambda *arguments: arguments[2]),
    "mutual, lists": (built_in, "both_ways", lambda *arguments: arguments[1]),
    "spelling": (reader.QuestionReader, "spell", _unspelt),
    "codes": (mention_finder.MentionFinder, "_add_codes", _nothing),
    "names by words": (mention_finder.MentionFinder, "_add_words", _nothing),
    "categories by other words": (mention_finder.MentionFinder, "_add_categories", _nothing),
    "other names": (mention_finder.MentionFinder, "_drop_other_names", _nothing),
    "sets: flags": (candidates, "with_flags", lambda *_: ()),
    "sets: less": (candidates, "sets_without", lambda *_: ()),
    "sets: absent": (candidates, "absent_sets", lambda *_: ()),
    "sets: twice": (joins, "_sets_said_twice", lambda *_: ()),
    "sets: than another": (operations, "sets_compared_with_entity", lambda *_: []),
    "sets: two values": (operations, "_sets_between_values", lambda *_: ()),
    "framing": (reader, "unframed", lambda text, *_: text),
    "adjectives of countries": (mention_finder, "places_named", lambda *_: ()),
}  # fmt: skip


def main() -> None:
    """Ask all questions with each part left out, and print what changed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    total: dict[str, Counter[str]] = {part: Counter() for part in ("", *PARTS)}
    with multiprocessing.Pool(args.processes) as pool:
        for part_counts in pool.imap_unordered(counts_of, args.folders):
            for part, counts in part_counts.items():
                total[part].update(counts)
    baseline = total.pop("")
    print("| left out | right | wrong | unanswerable answered |\n|---|---|---|---|")
    print(
        f"| nothing | {baseline['right']} of {baseline['answerable']} | {baseline['wrong']} "
        f"| {baseline['guessed']} |"
    )
    for part, counts in sorted(total.items(), key=lambda item: item[1]["right"] - item[1]["wrong"]):
        cells = (f"{counts[name] - baseline[name]:+d}" for name in ("right", "wrong", "guessed"))
        print(f"| {part} | {' | '.join(cells)} |")


def counts_of(folder: Path) -> dict[str, Counter[str]]:
    """What is right of the questions of a graph, with each part left out."""
    types = packed(folder / "types.tsv")
    rows = map(json.loads, lines(folder / "questions.jsonl"))
    questions = [(row["question"], frozenset(map(str, row["answers"]))) for row in rows]
    with TemporaryDirectory() as cache:
        source, types = packed(folder / "kg.tsv"), types if types.exists() else None
        with Clew.open(source, types=types, cache_dir=Path(cache)) as graph:
            question_reader = built_in_reader(graph.opened, graph.embedder)
            counts_by_part = {"": _outcome_counts(question_reader, questions)}
            for part, (owner, name, replacement) in PARTS.items():
                with patch.object(owner, name, replacement):
                    counts_by_part[part] = _outcome_counts(question_reader, questions)
    return counts_by_part


def _outcome_counts(
    question_reader: BuiltInReader, questions: Sequence[tuple[str, frozenset[str]]]
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for question, gold in questions:
        answers = frozenset(answer.label for answer in question_reader.answer(question).answers)
        right = bool(gold) and same_answers(answers, gold)
        counts["answerable"] += bool(gold)
        counts["right"] += right
        counts["wrong"] += bool(gold and answers) and not right
        counts["guessed"] += bool(answers) and not gold
    return counts


if __name__ == "__main__":
    main()
