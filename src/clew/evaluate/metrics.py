"""Metrics, each with definition, source, range and direction; `METRICS` lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np

from clew.errors import UsageError
from clew.evaluate.records import Record, ScoredRow, holds_name, name_form, strict_form

T = TypeVar("T")
Better = Literal["higher", "lower", "neither"]
Unit = Literal["share", "count", "milliseconds", "money"]


@dataclass(frozen=True, slots=True)
class Metric(Generic[T]):
    """Name, definition, source and range of a metric; `score` computes it, None where it does not apply."""

    name: str
    title: str
    definition: str
    source: str
    better: Better = "higher"
    low: float = 0.0
    high: float = 1.0
    unit: Unit = "share"
    score: Callable[[T], float | None] = field(kw_only=True)

    def __call__(self, of: T) -> float | None:
        """Compute it."""
        return self.score(of)


QuestionMetric = Metric[Record]
"""A metric of one question; the value of a run is the mean."""
RunMetric = Metric[Sequence[ScoredRow]]
"""A metric of a run as a whole."""


def metric(
    title: str,
    source: str,
    **fields: Any,  # noqa: ANN401
) -> Callable[[Callable[[T], float | None]], Metric[T]]:
    """Make a metric of the function below: its name, its docstring as the definition, `fields` others."""

    def make_metric(score: Callable[[T], float | None]) -> Metric[T]:
        name = cast("str", cast("Any", score).__name__)
        return Metric(name, title, score.__doc__ or "", source, **fields, score=score)

    return make_metric


# Metrics of the answers to one question.
#
# A question without gold answers is one that cannot be answered: an abstention scores 1 and any answer 0, as
# for the questions without an answer of SQuAD 2.0 (Rajpurkar et al. 2018). A failure scores 0.

Score = Callable[[Record], float | None]
_HITS = "Saxena et al. 2022; SimGRAG sec. 6; Walk&Retrieve sec. 3"


def _with_gold(score: Score) -> Score:
    """Score what has gold answers; the others by whether they are abstained from, claims not at all."""

    @wraps(score)
    def scored(record: Record) -> float | None:
        if record.question.verdict is not None:
            return None
        return score(record) if record.question.gold else float(record.abstained is not None)

    return scored


def _names_gold(record: Record, text: str) -> float:
    """Whether a text holds a gold answer as whole words."""
    form = name_form(text)
    return float(any(holds_name(form, name) for gold in record.question.gold for name in gold.names))


@metric("Hits@1", _HITS)
@_with_gold
def hits_at_1(record: Record) -> float | None:
    """Share of questions whose answer holds a correct entity."""
    if record.answers:
        return float(record.overlap[0] > 0)
    return 0.0 if record.without_answer else _names_gold(record, record.text)


@metric("Hit@1 of the text", "KG-RAG sec. 4.2.1 (Hit@1), whose answers are sentences")
@_with_gold
def text_hit(record: Record) -> float | None:
    """Share of questions whose answer as text holds a gold answer as whole words."""
    text = "; ".join([record.text, *(names[0] for names in record.answers)])
    return 0.0 if record.without_answer else _names_gold(record, text)


@metric("Exact match", "KG-RAG sec. 4.2.1, by its letter")
@_with_gold
def exact_match(record: Record) -> float | None:
    """Share of questions whose answer (text or first entity), lower-cased and stripped, is gold."""
    answer_forms = {strict_form(record.text), *map(strict_form, record.answers[0] if record.answers else ())}
    gold = {strict_form(name) for answer in record.question.gold for name in answer.names}
    return float(bool((answer_forms - {""}) & gold))


@metric("Precision", "set metric")
@_with_gold
def precision(record: Record) -> float | None:
    """Share of the answers that are right, mean over questions."""
    return record.overlap[0]


@metric("Recall", "set metric")
@_with_gold
def recall(record: Record) -> float | None:
    """Share of the gold answers that are given, mean over questions."""
    return record.overlap[1]


@metric("F1", "Usbeck et al. 2019")
def f1(record: Record) -> float | None:
    """Mean over questions of the F1 of the answer set (macro F1 of QALD)."""
    p, r = precision(record), recall(record)
    if p is None or r is None:
        return None
    return 2 * p * r / (p + r) if p + r else 0.0


@metric("Exact set", "set metric")
def exact_set(record: Record) -> float | None:
    """Share of questions whose answer set is the gold set."""
    p, r = precision(record), recall(record)
    return None if p is None or r is None else float(p == 1.0 and r == 1.0)


@metric("BERTScore", "Zhang et al. 2020; SynaptiQA sec. IV", low=-1.0)
def bert_score(record: Record) -> float | None:
    """F1 of greedy cosine matching of token embeddings of answer text and gold, no idf, no rescaling."""
    return record.bert_score


# Accurate, incorrect or missing: the score of CRAG and Walk&Retrieve; and SynaptiQA's judge accuracy.
#
# Without judges, and where a judge's verdict is not needed (an exact match, an abstention), the built-in
# judge decides: `missing` for an abstention, `accurate` if there are answers and all of them are right,
# `incorrect` otherwise.

Outcome = Literal["accurate", "incorrect", "missing"]
OUTCOMES: tuple[Outcome, ...] = ("accurate", "incorrect", "missing")
_CRAG = "Yang et al. 2024 (CRAG); Walk&Retrieve sec. 3"
MATCH_PREFIX = "match:"
"""Verdicts of SynaptiQA's judge are kept under this prefix and the judge's name."""


def built_in(record: Record) -> Outcome | None:
    """Judge by exact match with aliases; None where nothing can be judged."""
    if record.question.verdict is not None:
        return None
    if record.without_answer:
        return "accurate" if record.abstained is not None and not record.question.gold else "missing"
    right = precision(record) == 1.0 if record.answers else exact_match(record) == 1.0
    return "accurate" if right else "incorrect"


def share(record: Record, outcome: Outcome) -> float | None:
    """Share of the judges that gave this outcome; None if judges were asked and none gave one."""
    match_outcome = built_in(record)
    if match_outcome is None:
        return None
    verdicts = {j: v for j, v in record.judgements.items() if not j.startswith(MATCH_PREFIX)}
    if match_outcome != "incorrect" or not verdicts:
        return float(match_outcome == outcome)
    readable_verdicts = [verdict for verdict in verdicts.values() if verdict is not None]
    return _mean(verdict == outcome for verdict in readable_verdicts)


@metric("Right", _CRAG)
def accuracy(record: Record) -> float | None:
    """Share of right answers (accuracy): exact match, else judged; mean of judges."""
    return share(record, "accurate")


@metric("Wrong", _CRAG, better="lower")
def hallucination(record: Record) -> float | None:
    """Share of wrong answers (hallucination)."""
    return share(record, "incorrect")


@metric("Left open", _CRAG, better="lower")
def missing(record: Record) -> float | None:
    """Share of questions that are not answered though they have an answer (missing)."""
    return share(record, "missing")


@metric("Truthfulness", _CRAG, low=-1.0)
def truthfulness(record: Record) -> float | None:
    """Accuracy minus hallucination."""
    right, wrong = accuracy(record), hallucination(record)
    return None if right is None or wrong is None else right - wrong


@metric("Judge accuracy", "SynaptiQA sec. IV (Kimi Accuracy)")
def judge_accuracy(record: Record) -> float | None:
    """Share of answers that a model finds to match the gold fully."""
    verdicts = [v for j, v in record.judgements.items() if j.startswith(MATCH_PREFIX) and v is not None]
    return _mean(v == "yes" for v in verdicts)


@metric("Unjudged", "this harness", better="lower")
def unjudged(record: Record) -> float | None:
    """Share of judgements that no judge gave."""
    return _mean(v is None for v in record.judgements.values())


# Metrics of the evidence: citation precision and recall against gold paths, and what was retrieved.
#
# A citation is right if its answer is a gold answer and its triples are those of the gold paths: the same
# relations as often (a relation and its stored inverse count as one), with every entity that the paths start
# from. The question of direction does not arise, as a triple has one.

_ALCE = "after Gao et al. 2023 (ALCE), on gold paths"


def gold_relations(record: Record) -> Counter[str]:
    """Relations of all gold paths, one name for each inverse pair."""
    forms = record.relation_form
    return Counter(forms.get(r, r) for path in record.question.paths for r in path.relations)


def is_right(record: Record, cited: str, triples: Sequence[tuple[str, str, str]]) -> bool:
    """Whether the triples that an answer cites follow the gold paths to a gold answer."""
    forms = record.relation_form
    if not any(name_form(cited) in gold for gold in record.gold_evidence):
        return False
    if Counter(forms.get(relation, relation) for _, relation, _ in triples) != gold_relations(record):
        return False
    nodes = {name_form(node) for head, _, tail in triples for node in (head, tail)}
    return all(name_form(path.start) in nodes for path in record.question.paths)


def evidence_forms(record: Record) -> set[str]:
    """The forms of the names and ids in the triples that an answer shows, but for its pattern."""
    shown = triples_within({**(record.answer or {}), "pattern": None}, ("triples", "evidence", "ids"))
    return {name_form(node) for head, _, tail in shown for node in (head, tail)}


def triples_within(
    value: object, keys: tuple[str, ...] = ("triples", "evidence"), *, under: bool = False
) -> Iterator[tuple[str, str, str]]:
    """Yield lists of three names `under` a key that has one of some words, in a JSON value."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield from triples_within(item, keys, under=under or any(word in key for word in keys))
    elif isinstance(value, list):
        items = cast("list[object]", value)
        if under and len(items) == 3 and all(isinstance(item, str) for item in items):
            head, relation, tail = cast("list[str]", items)
            yield head, relation, tail
            return
        for item in items:
            yield from triples_within(item, keys, under=under)


@metric("Citation precision", _ALCE)
def citation_precision(record: Record) -> float | None:
    """Share of citations that prove a gold answer by the gold path, over questions with citations."""
    if not record.question.paths or not record.citations:
        return None
    return _mean(is_right(record, *cited) for cited in record.citations)


@metric("Citation recall", _ALCE)
def citation_recall(record: Record) -> float | None:
    """Share of gold answers that a citation proves by the gold path."""
    if not record.question.paths or not record.gold_evidence:
        return None
    proved_forms = {name_form(cited[0]) for cited in record.citations if is_right(record, *cited)}
    return _mean(bool(forms & proved_forms) for forms in record.gold_evidence)


@metric("Retrieval Hits@1", "SimGRAG sec. 6.6 (figure 5)")
def retrieval_hits(record: Record) -> float | None:
    """Share of questions with a gold answer in the triples that the answer shows."""
    if not record.gold_evidence:
        return None
    evidence = evidence_forms(record)
    return float(any(forms & evidence for forms in record.gold_evidence))


@metric("Sub-questions", "KG-RAG sec. 4.4.2 (figure 7)", better="neither", high=float("inf"), unit="count")
def sub_questions(record: Record) -> float | None:
    """Sub-questions of the reasoning chain, mean over questions."""
    chain = None if record.answer is None else record.answer.get("chain")
    return None if not chain else float(len(chain["links"]))


# At which step a wrong answer went wrong (SimGRAG sec. 6.5, table 4), computed from gold paths.
#
# SimGRAG's authors sorted errors by hand; here the rule is: `pattern` if the method's pattern is not that of
# the gold paths (another number of edges, other known entities, or relations of the graph that are not those
# of the gold); otherwise `retrieval` if no gold answer is among the triples that the record shows; otherwise
# `reading`. Without a pattern the step is `retrieval` or `reading`; an abstention or failure without any
# evidence counts as `pattern`.

ErrorStep = Literal["pattern", "retrieval", "reading"]
ROAD_STEPS: tuple[ErrorStep, ...] = ("pattern", "retrieval", "reading")


def error_step(record: Record, hits: float | None) -> ErrorStep | None:
    """Say where a question went wrong; None if it did not, or has no gold paths or no gold."""
    if hits is None or hits > 0 or not record.question.paths or not record.question.gold:
        return None
    pattern = None if record.answer is None else record.answer["pattern"]
    evidence = evidence_forms(record)
    if pattern is None and not evidence:
        return "pattern"
    if pattern is not None and not follows_gold(record, pattern):
        return "pattern"
    return "reading" if any(forms & evidence for forms in record.gold_forms) else "retrieval"


def follows_gold(record: Record, pattern: Mapping[str, Any]) -> bool:
    """Whether a pattern has the shape, the known entities and the relations (if of the graph) of the gold."""
    triples = cast("list[list[str]]", pattern["triples"])
    gold = gold_relations(record)
    if len(triples) != gold.total():
        return False
    nodes = {node for head, _, tail in triples for node in (head, tail)}
    known_entities = {name_form(node) for node in nodes if not node.startswith("UNKNOWN")}
    if known_entities != {name_form(path.start) for path in record.question.paths}:
        return False
    forms = record.relation_form
    relations = Counter(forms[relation] for _, relation, _ in triples if relation in forms)
    return relations <= gold if relations.total() < len(triples) else relations == gold


ScoredRows = Sequence[ScoredRow]
THIS_HARNESS = "this harness"


def _amount(title: str, unit: Unit) -> Callable[[Callable[[ScoredRows], float | None]], RunMetric]:
    return metric(title, THIS_HARNESS, better="lower", high=float("inf"), unit=unit)


@metric("Claim accuracy", "FactKG; SimGRAG sec. 6")
def claim_accuracy(rows: ScoredRows) -> float | None:
    """Share of right verdicts."""
    return _mean(r.stated_verdict == r.verdict for r in rows if r.verdict is not None)


@metric("Claim macro-F1", "standard")
def claim_macro_f1(rows: ScoredRows) -> float | None:
    """Mean F1 of both verdicts."""
    claims = [r for r in rows if r.verdict is not None]
    if not claims:
        return None
    scores: list[float] = []
    for verdict in ("supported", "refuted"):
        right = sum(r.stated_verdict == verdict == r.verdict for r in claims)
        stated = sum(r.stated_verdict == verdict for r in claims)
        gold = sum(r.verdict == verdict for r in claims)
        scores.append(2 * right / (stated + gold) if stated + gold else 1.0)
    return sum(scores) / len(scores)


@metric("Abstention precision", THIS_HARNESS)
def abstention_precision(rows: ScoredRows) -> float | None:
    """Share of the abstentions that are from questions without gold in the graph."""
    return _mean(r.without_gold for r in rows if r.abstained is not None and r.verdict is None)


@metric("Abstention recall", THIS_HARNESS)
def abstention_recall(rows: ScoredRows) -> float | None:
    """Share of the questions without gold in the graph from which the method abstains."""
    return _mean(r.abstained is not None for r in rows if r.without_gold)


def risk_coverage(rows: ScoredRows) -> list[tuple[float, float]]:
    """Coverage and risk by distinct confidence, most confident first (El-Yaniv & Wiener 2010)."""
    judged_rows = [(r, accurate) for r in rows if (accurate := r.scores.get("accuracy")) is not None]
    answered_pairs = sorted(
        ((r.confidence, a) for r, a in judged_rows if r.answered), key=lambda pair: -pair[0]
    )
    points: list[tuple[float, float]] = []
    wrong = 0.0
    for at, (confidence, accurate) in enumerate(answered_pairs, 1):
        wrong += 1.0 - accurate
        if at == len(answered_pairs) or answered_pairs[at][0] != confidence:
            points.append((at / len(judged_rows), wrong / at))
    return points


@metric("AURC", "Geifman et al. 2019", better="lower")
def aurc(rows: ScoredRows) -> float | None:
    """Mean share of answers that are not accurate along the risk-coverage curve."""
    area, last = 0.0, 0.0
    for coverage, risk in risk_coverage(rows):
        area += risk * (coverage - last)
        last = coverage
    return area / last if last else None


@metric("Coverage", "El-Yaniv & Wiener 2010", better="neither")
def coverage(rows: ScoredRows) -> float | None:
    """Share of questions answered."""
    return _mean(r.answered for r in rows)


@_amount("Failures", "count")
def failures(rows: ScoredRows) -> float | None:
    """Questions that ended in an error."""
    return float(sum(r.failed for r in rows))


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean over the questions that have a value."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


@_amount("Calls", "count")
def calls(rows: ScoredRows) -> float | None:
    """Model calls a question."""
    return _mean(r.calls for r in rows)


@_amount("Tokens", "count")
def tokens(rows: ScoredRows) -> float | None:
    """Tokens a question, in and out."""
    return _mean(r.tokens for r in rows)


@_amount("Cost", "money")
def cost(rows: ScoredRows) -> float | None:
    """Money for all questions."""
    costs = [r.cost for r in rows if r.cost is not None]
    return sum(costs) if costs else None


def percentile(rows: ScoredRows, stage: str, share: float) -> float | None:
    """Percentile of a stage's milliseconds over the questions that have the stage."""
    times = [r.timings[stage] for r in rows if stage in r.timings]
    return float(np.percentile(times, 100 * share)) if times else None


@_amount("p50", "milliseconds")
def p50_ms(rows: ScoredRows) -> float | None:
    """Median time of a question."""
    return percentile(rows, "total", 0.5)


@_amount("p95", "milliseconds")
def p95_ms(rows: ScoredRows) -> float | None:
    """95th percentile of the time of a question."""
    return percentile(rows, "total", 0.95)


@_amount("Mean time", "milliseconds")
def mean_ms(rows: ScoredRows) -> float | None:
    """Mean time of a question."""
    return _mean(r.timings.get("total") for r in rows)


# All metrics; adding one is a function and a name here.

QUESTION_METRICS: tuple[QuestionMetric, ...] = (
    *(hits_at_1, text_hit, exact_match, precision, recall),
    *(f1, exact_set, bert_score),
    *(accuracy, hallucination, missing, truthfulness),
    *(judge_accuracy, unjudged),
    *(citation_precision, citation_recall),
    *(retrieval_hits, sub_questions),
)
_OF_RUNS: tuple[RunMetric, ...] = (
    *(claim_accuracy, claim_macro_f1, abstention_precision, abstention_recall),
    *(coverage, aurc, failures, calls, tokens, cost),
    *(p50_ms, p95_ms, mean_ms),
)
RUN_METRICS = {metric.name: metric for metric in _OF_RUNS}
METRICS: dict[str, Metric[Any]] = {m.name: m for m in (*QUESTION_METRICS, *_OF_RUNS)}


def metric_named(name: str) -> Metric[Any]:
    """Return a metric; UsageError if there is none of that name."""
    if name not in METRICS:
        raise UsageError(f"There is no metric {name!r}. Metrics are: {', '.join(METRICS)}.")
    return METRICS[name]
