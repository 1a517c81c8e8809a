"""`auto`, the default method: the built-in reader, and a chat model where one is configured and needed.

The reader (`reading/`) ranks what a question may mean over this graph and says how likely each meaning is.
With a model, a question whose likeliest meaning is not sure is asked of it (`choose.py`). What it chooses is
answered if the reader is with it or if it chooses the same on a second look; else the reader's own answer
stands, so that a weak model leaves `auto` as it is without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from time import perf_counter
from typing import TYPE_CHECKING

from clew.errors import UsageError
from clew.index.names import NamesIndex
from clew.index.store.directory import Index
from clew.methods.built_in import BuiltInReader, built_in_reader
from clew.methods.question import names_of_graph
from clew.methods.registry import Method
from clew.methods.settings import AutoSettings
from clew.query.tree import Query
from clew.query.words import say
from clew.reading.account import as_written
from clew.reading.answer import DraftAnswer, answer_of, drawn
from clew.reading.follow_up import FollowUp, follow_ups, goes_on, is_elliptic
from clew.reading.thread import LastAnswer, nodes_of, query_of, threaded, unmentioned
from clew.text.embedders import Embedder
from clew.text.normalise import counted, tokens
from clew.types import Abstention, Answer, PlacedWord, Thread

if TYPE_CHECKING:
    from clew.llm.reply import ChatModel
    from clew.methods.auto.choose import Choice


SURE_ALONE = 0.8
"""How likely an answer of the built-in reader must be for a model not to be asked."""


def make_auto(
    index: Index, embedder: Embedder, *, model: ChatModel | None = None, settings: AutoSettings | None = None
) -> BuiltInReader | AutoWithModel:
    """Make the default method: without a model the built-in reader alone."""
    plain = built_in_reader(index, embedder, settings)
    return plain if model is None else AutoWithModel(plain, model)


class AutoWithModel:
    """Answers questions over one open index; the model is asked where the built-in reader is not sure."""

    name = "auto"

    def __init__(self, plain: BuiltInReader, model: ChatModel) -> None:
        # Without a model nothing of the LLM layer is imported.
        from clew.methods.auto.choose import Chooser

        self.model, self.plain = model, plain
        self.chooser = Chooser(self.plain.reader)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason. Raises LlmError if the model cannot be asked."""
        from clew.llm.managed import Talk
        from clew.llm.types import BudgetReached

        likeliest, plain_answer = self.plain.read_and_answer(question, id=id, entities=entities)
        if plain_answer.answers and likeliest.likelihood >= SURE_ALONE:
            return plain_answer
        began = perf_counter()
        reader = self.plain.reader
        talk = Talk(self.model, id or question)

        @cache
        def draft_of(query: Query) -> DraftAnswer:
            return answer_of(reader.graph, reader.vocabulary, query)

        def finds(query: Query) -> bool:
            return draft_of(query).abstained is None

        def agrees(query: Query | None) -> bool:
            if not self.plain.settings.second_look:
                return True
            if plain_answer.abstained is not None or likeliest.query is None:
                return query is None or not finds(query)
            return query is not None and self.chooser.answers_alike(query, likeliest.query)

        choice: Choice | Abstention
        try:
            choice = self.chooser.choose(likeliest, talk, finds, agrees)
        except BudgetReached as error:
            choice = Abstention("budget", str(error))
        timings = {**plain_answer.timings_ms, "choose": (perf_counter() - began) * 1000}
        timings["total"] = plain_answer.timings_ms.get("total", 0.0) + timings["choose"]
        model_answer = replace(
            plain_answer,
            model=self.model.name,
            usage=talk.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in timings.items()},
            steps=(*plain_answer.steps, *talk.steps),
        )
        if isinstance(choice, Abstention):
            return drawn(model_answer, DraftAnswer(abstained=choice), None)
        if not choice.believed:
            return model_answer
        if choice.query is not None:
            answer = drawn(model_answer, draft_of(choice.query), say(choice.query, reader.vocabulary))
            return threaded(answer, choice.query, reader, question)
        if plain_answer.abstained is not None or choice.problem:
            return model_answer
        abstention = Abstention("no_relation", "the model finds nothing in the graph that answers it")
        return drawn(model_answer, DraftAnswer(abstained=abstention), None)


def answer_alternative(
    auto: BuiltInReader, question: str, number: int, *, id: str | None = None, entities: Sequence[str] = ()
) -> Answer:
    """Answer as the alternative `number` (from 1) of the question's answer says; no model is asked.

    The answer has the same `alternatives`. Raises UsageError where there is no such one.
    """
    likeliest, answer = auto.read_and_answer(question, id=id, entities=entities)
    if not 1 <= number <= len(answer.alternatives):
        count_text = counted(len(answer.alternatives), "other reading")
        raise UsageError(f"There is no reading {number}: the question has {count_text}. See `alternatives`")
    words, reader = answer.alternatives[number - 1].reading, auto.reader
    chosen = next(
        ranked
        for ranked in likeliest.reading.ranking.ranked
        if say(ranked.option.query, reader.vocabulary) == words
    )
    draft = answer_of(reader.graph, reader.vocabulary, chosen.option.query, chosen.probability)
    return threaded(drawn(answer, draft, words), chosen.option.query, reader, question)


# Follow-ups are answered: by the built-in reader, or as the whole question that one call of a model writes.
#
# The rules of `reading/follow_up.py` come first; where they leave it open, or for another method, a model
# that is there rewrites. Code takes from it only names and numbers that the thread has.

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
    answer = None
    if isinstance(plain, BuiltInReader):
        began = perf_counter()
        answer = _by_rules(plain, question, thread, id, entities)
        if answer is not None and (answer.abstained is None or model is None):
            total = round((perf_counter() - began) * 1000, 3)
            # *And Krakow?* may be asked anew; *who runs it?*, not understood, leaves nothing to go on from.
            after = answer.thread
            if answer.abstained and not (after and after.query) and is_elliptic(question):
                is_open = thread.query is None and not thread.total
                said = f"{thread.question} {question}" if is_open else thread.question
                after = replace(thread, question=said, ids=(), total=0)
            return replace(answer, thread=after, timings_ms={**answer.timings_ms, "total": total})
    if answer is None and (isinstance(plain, BuiltInReader) or not goes_on(question)):
        return answerer.answer(question, id=id, entities=entities)
    if model is not None:
        left_open = answer.abstained if answer else None
        return _by_model(answerer, model, names, question, thread, left_open, id, entities)
    problem = f"A follow-up to {answerer.name} needs a model"
    raise UsageError(f"{problem}. Give one, or ask a whole question")


def _by_rules(
    plain: BuiltInReader, question: str, thread: Thread, id: str | None, entities: Sequence[str]
) -> Answer | None:
    """The answer to a follow-up, which says why where it is left open; None for a whole question."""
    query = query_of(thread, plain.reader)
    if query is None and thread.total:
        query = unmentioned(plain.read(thread.question).query)
    ways = follow_ups(LastAnswer(plain.reader, thread, query, plain.read_surely), question)
    if isinstance(ways, Abstention):
        return _abstaining(question, ways, plain, id)
    left_open: list[Answer] = []
    for _, alike in groupby(sorted(ways, key=lambda way: way.rank), key=lambda way: way.rank):
        answers = [_answer_of(plain, question, way, id, entities) for way in alike]
        answered = [answer for answer in answers if answer.abstained is None]
        if answered:
            likely = max(answer.answers[0].score for answer in answered) - LESS_LIKELY
            likeliest = [answer for answer in answered if answer.answers[0].score >= likely]
            # Of these, that proved in the fewest steps: *it* is the painting that has a painter, no museum.
            return min(likeliest, key=lambda a: len(a.citations[0].triples) if a.citations else 0)
        left_open += answers
    return None if all(way.is_whole for way in ways) else left_open[0]


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
    from clew.llm.managed import Talk, as_data, data_lines, prompt_named
    from clew.llm.types import BudgetReached, Request, add_usage

    answers = [names.graph.label(node) for node in nodes_of(thread, names)]
    talk = Talk(model, id or question)
    try:
        reply = talk.ask(
            prompt_named("clew.methods.auto", "follow"),
            Request(temperature=0.0, max_tokens=200),
            LAST=as_data(thread.question),
            ANSWERS=data_lines(answers) or "(none)",
            QUESTION=as_data(question),
        )
    except BudgetReached as error:
        return _abstaining(question, Abstention("budget", str(error)), answerer, id)
    whole = next(iter(_QUESTION.findall(reply)[-1:]), "")
    known = {t.norm for text in (question, thread.question, *answers) for t in tokens(text)}
    new = [
        t.text
        for t in tokens(whole)[1:]
        if t.norm not in known and (t.text[:1].isupper() or any(c.isdigit() for c in t.text))
    ]
    if new or not whole:
        problem = f'the model brings in "{", ".join(new)}"' if new else "the model writes no question"
        abstention = left_open or Abstention("unplaced", f"{problem}, which the thread does not have")
        answer = _abstaining(question, abstention, answerer, id)
    else:
        answer = _as_asked(answerer.answer(whole, id=id, entities=entities), question, whole)
    usage, steps = add_usage((talk.usage, answer.usage)), (*talk.steps, *answer.steps)
    return replace(answer, model=model.name, usage=usage, steps=steps)


def _abstaining(question: str, abstention: Abstention, answerer: Method, id: str | None) -> Answer:
    return Answer(question, abstained=abstention, method=answerer.name, id=id, timings_ms={"total": 0.0})


def _answer_of(
    plain: BuiltInReader, question: str, way: FollowUp, id: str | None, entities: Sequence[str]
) -> Answer:
    """The answer of one way to read a follow-up."""
    if way.query is None:
        names = names_of_graph(plain.reader.names, (*entities, *way.names))
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
    thread = answer.thread or Thread.after(answer, whole)
    return replace(answer, question=question, account=account, alternatives=(), notes=notes, thread=thread)
