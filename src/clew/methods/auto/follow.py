"""Follow-ups are answered: by the built-in reader, or as the whole question that one call of a model writes.

The rules of `reading/follow_up.py` come first; where they leave it open, or for another method, a model that
is there rewrites. Code takes from it only names and numbers that the thread has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from clew.errors import UsageError
from clew.index.names import NamesIndex
from clew.llm.types import ChatModel
from clew.methods.auto.method import AutoWithModel
from clew.methods.built_in import BuiltInReader
from clew.methods.registry import Method
from clew.query.words import say
from clew.reading.account import as_written
from clew.reading.answer import answer_of, drawn
from clew.reading.follow_up import FollowUp, follow_ups, goes_on
from clew.reading.thread import LastAnswer, nodes_of, query_of, threaded, unmentioned
from clew.text.normalise import tokens
from clew.types import Abstention, Answer, PlacedWord, Thread

LESS_LIKELY = 0.1
"""How much less likely than the likeliest a way may be that is proved in fewer steps."""
_QUESTION = re.compile(r"^\W*question\W*:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


def answer_follow_up(
    answerer: Method,
    model: ChatModel | None,
    names: NamesIndex,
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
    left_open = None
    if isinstance(plain, BuiltInReader):
        answer, left_open = _by_rules(plain, question, thread, id, entities)
        if answer is not None:
            return answer
    if left_open is None and (isinstance(plain, BuiltInReader) or not goes_on(question)):
        return answerer.answer(question, id=id, entities=entities)
    if model is not None:
        return _by_model(answerer, model, names, question, thread, left_open, id, entities)
    if left_open is None:
        problem = f"A follow-up to {answerer.name} needs a model"
        raise UsageError(f"{problem}. Give one, or ask a whole question")
    return _abstaining(question, left_open, answerer, id)


def _by_rules(
    plain: BuiltInReader, question: str, thread: Thread, id: str | None, entities: Sequence[str]
) -> tuple[Answer | None, Abstention | None]:
    """The answer to a follow-up, or why it is left open; neither for a whole question."""
    query = query_of(thread, plain.reader) or unmentioned(plain.read(thread.question).query)
    ways = follow_ups(LastAnswer(plain.reader, thread, query), question)
    if isinstance(ways, Abstention):
        return None, ways
    answers = [_answer_of(plain, question, way, id, entities) for way in ways]
    answered = [answer for answer in answers if answer.abstained is None]
    if answered:
        likely = max(answer.answers[0].score for answer in answered) - LESS_LIKELY
        return min((a for a in answered if a.answers[0].score >= likely), key=_steps_to_prove), None
    return None, None if all(way.is_whole for way in ways) else answers[0].abstained


def _by_model(
    answerer: Method,
    model: ChatModel,
    names: NamesIndex,
    question: str,
    thread: Thread,
    left_open: Abstention | None,
    id: str | None,
    entities: Sequence[str],
) -> Answer:
    """The answer to the whole question that a model writes for a follow-up.

    It is left open where the model brings in a name or a number that the thread does not have.
    """
    from clew.llm.prompting import Sampling, Talk, as_data, data_lines, prompt_named
    from clew.llm.types import BudgetReached, add_usage

    answers = [names.graph.label(node) for node in nodes_of(thread, names)]
    talk = Talk.begin(model, id or question)
    try:
        reply = talk.ask(
            prompt_named("clew.methods.auto", "follow"),
            Sampling(temperature=0.0, max_tokens=200),
            LAST=as_data(thread.question),
            ANSWERS=data_lines(answers) or "(none)",
            QUESTION=as_data(question),
        )
    except BudgetReached as error:
        return _abstaining(question, Abstention("budget", str(error)), answerer, id)
    whole = next(iter(_QUESTION.findall(reply)[-1:]), "")
    known = {t.norm for text in (question, thread.question, *answers) for t in tokens(text)}
    new = [t.text for t in tokens(whole)[1:] if _is_named(t.text) and t.norm not in known]
    if new or not whole:
        problem = f'the model brings in "{", ".join(new)}"' if new else "the model writes no question"
        abstention = left_open or Abstention("unplaced", f"{problem}, which the thread does not have")
        answer = _abstaining(question, abstention, answerer, id)
    else:
        answer = _as_asked(answerer.answer(whole, id=id, entities=entities), question, whole)
    usage, steps = add_usage((talk.usage, answer.usage)), (*talk.steps, *answer.steps)
    return replace(answer, model=model.name, usage=usage, steps=steps)


def _is_named(word: str) -> bool:
    """Whether a word is written as one of a name, or has digits."""
    return word[:1].isupper() or any(c.isdigit() for c in word)


def _abstaining(question: str, abstention: Abstention, answerer: Method, id: str | None) -> Answer:
    return Answer(question, abstained=abstention, method=answerer.name, id=id, timings_ms={"total": 0.0})


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
