"""Records made by hand, and where things are."""

from pathlib import Path

from clew.evaluate.records import EvalQuestion, Failure, GoldAnswer, GoldPath, Key, Record
from clew.evaluate.report.summary import score

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
USAGE = {"calls": 0, "input_tokens": 0, "output_tokens": 0}


def answer_json(
    answers=(), *, text=None, reason=None, citations=(), pattern=None, scores=(), steps=(), ms=1.0
):
    """The JSON of an answer with these entities, or an abstention."""
    confidence = scores or [1.0] * len(answers)
    return {
        "id": None, "question": "q", "pattern": pattern, "method": "m", "model": None,
        "grounded": True, "complete": True, "usage": USAGE, "timings_ms": {"total": ms},
        "answers": [{"entity": a, "label": a, "score": s} for a, s in zip(answers, confidence, strict=True)],
        "text": " · ".join(answers) if text is None else text,
        "abstained": None if reason is None else {"reason": reason, "detail": "", "candidates": []},
        "citations": [{"answer": a, "triples": [list(t) for t in ts]} for a, ts in citations],
        "steps": list(steps),
    }  # fmt: skip


def record(
    answers=(), gold=(), *, paths=(), verdict=None, id="1", method="m", in_graph=None, failure=None,
    judgements=None, forms=None, kind="", **told,
):  # fmt: skip
    """A record; gold answers are names or tuples of a name and its aliases."""
    golden = tuple(GoldAnswer(g) if isinstance(g, str) else GoldAnswer(g[0], tuple(g[1:])) for g in gold)
    routes = tuple(GoldPath(p[0], tuple(p[1:])) for p in paths)
    question = EvalQuestion(id, "q", golden, paths=routes, verdict=verdict, kind=kind)
    held = len(golden) if in_graph is None else in_graph
    answer, failed = (None, Failure("LlmError", "down")) if failure else (answer_json(answers, **told), None)
    beside = {"judgements": judgements or {}, "relation_form": forms or {}}
    return Record(Key("set/part", method, None, id), question, held, answer, failed, **beside)


def row(*args, **options):
    return score(record(*args, **options))
