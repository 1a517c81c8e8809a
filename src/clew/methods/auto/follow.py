"""Follow-ups are answered: by the built-in reader, or as the whole question that one call of a model writes.

The rules of `reading/follow_up.py` come first; where they leave it open, or for another method, a model that
is there rewrites. Code takes from it only names and numbers that the thread has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from clew.errors import UsageError
from clew.llm.types import ChatModel
from clew.methods.auto.method import AutoWithModel
from clew.methods.built_in import BuiltInReader
from clew.methods.registry import Method
from clew.query.words import say
from clew.reading.account import as_written
from clew.reading.answer import answer_of, drawn
from clew.reading.follow_up import FollowUp, follow_ups
from clew.reading.thread import LastAnswer, query_of, threaded, unmentioned
from clew.text.normalise import tokens
from clew.types import Abstention, Answer, PlacedWord, Thread

LESS_LIKELY = 0.1
"""How much less likely than the likeliest a way to read a follow-up may be, if it is proved in fewer steps."""
_QUESTION = re.compile(r"^\W*question\W*:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


def answer_follow_up(
    answerer: Method,
    model: ChatModel | None,
    question: str,
    thread: Thread,
    *,
    id: str | None = None,
    entities: Sequence[str] = (),
) -> Answer:
    """Answer a question that may go on from the last one; a whole question is answered as any.

    Raises UsageError for a method without a model that is not `auto`, LlmError as a model does.
    """
    plain = answerer.plain if isinstance(answerer, AutoWithModel) else answerer
    if not isinstance(plain, BuiltInReader):
        if model is None:
            raise UsageError(
                f"A follow-up to {answerer.name} needs a model. Give one, or ask a whole question"
            )
        whole = _rewritten(model, question, thread, id)
        return _as_asked(answerer.answer(whole, id=id, entities=entities), question, whole)
    query = query_of(thread, plain.reader) or unmentioned(plain.read(thread.question).query)
    ways = follow_ups(LastAnswer(plain.reader, thread, query), question)
    abstained = ways if isinstance(ways, Abstention) else None
    answered: list[Answer] = []
    for way in [] if isinstance(ways, Abstention) else ways:
        answer = _answer_of(plain, question, way, id, entities)
        answered += [answer] if answer.abstained is None else []
        abstained = abstained or answer.abstained
    if answered:
        likely = max(answer.answers[0].score for answer in answered) - LESS_LIKELY
        return min((a for a in answered if a.answers[0].score >= likely), key=_steps_to_prove)
    if model is not None and abstained is not None:
        whole = _rewritten(model, question, thread, id)
        return _as_asked(answerer.answer(whole, id=id, entities=entities), question, whole)
    if abstained is None or (isinstance(ways, list) and all(way.is_whole for way in ways)):
        return answerer.answer(question, id=id, entities=entities)
    return Answer(question, abstained=abstained, method=answerer.name, id=id, timings_ms={"total": 0.0})


def _steps_to_prove(answer: Answer) -> int:
    """Triples that prove the first answer: *it* is the painting that has a painter, not its museum."""
    return len(answer.citations[0].triples) if answer.citations else 0


def _answer_of(
    plain: BuiltInReader, question: str, way: FollowUp, id: str | None, entities: Sequence[str]
) -> Answer:
    """The answer of one way to read a follow-up."""
    if way.query is None:
        names = (*entities, way.name) if way.name else entities
        answer = plain.answer(way.text, id=id, entities=names, around=way.around)
        return _as_asked(answer, question, way.text, is_said=way.is_said)
    reader = plain.reader
    draft = answer_of(reader.graph, reader.vocabulary, way.query)
    words = say(way.query, reader.vocabulary)
    account = tuple(
        PlacedWord(t.start, t.stop, t.text, "name" if way.at[0] <= t.start < way.at[1] else "frame")
        for t in tokens(question)
    )
    answer = Answer(question, method=plain.name, id=id, account=account, timings_ms={"total": 0.0})
    return threaded(drawn(answer, draft, words), way.query, reader, words)


def _as_asked(answer: Answer, question: str, whole: str, *, is_said: bool = True) -> Answer:
    """The answer to the question as it was asked; a note says the whole one where that says all of it."""
    account = as_written(question, whole, answer.account)
    notes = (f'read as "{whole}"', *answer.notes) if is_said else answer.notes
    return replace(answer, question=question, account=account, alternatives=(), notes=notes)


def _rewritten(model: ChatModel, question: str, thread: Thread, id: str | None) -> str:
    """The follow-up as a whole question, by one call; as it was asked where the model brings in a name."""
    from clew.llm.prompting import Sampling, Talk, as_data, data_lines, prompt_named

    talk = Talk.begin(model, id or question)
    values = {"LAST": as_data(thread.question), "ANSWERS": data_lines(thread.answers) or "(none)"}
    prompt = prompt_named("clew.methods.auto", "follow")
    reply = talk.ask(prompt, Sampling(temperature=0.0, max_tokens=200), QUESTION=as_data(question), **values)
    lines = _QUESTION.findall(reply)
    texts = (question, thread.question, *thread.answers)
    known = {t.norm for text in texts for t in tokens(text)}
    if not lines:
        return question
    names = [t for t in tokens(lines[-1])[1:] if t.text[:1].isupper() or any(c.isdigit() for c in t.text)]
    return lines[-1] if all(t.norm in known for t in names) else question
