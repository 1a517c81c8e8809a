"""A claim as the questions that it answers: *X opened after Y* → *Did X open after Y?*.

One that says how many there are is the question for that, too: *Six people came* → *How many people came?*;
and one that says of a thing that it stands above all others is the question which: *K2 is the highest peak*.
So a claim is read by the reader of questions, whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.claims.claim_readings import COUNTING, LEAST_HEARD, TIMED, recorded_currencies, says_ways
from clew.claims.claim_text import HALF, NOBODY_DOES, NONE_OF, ClaimedValue, ClaimText, Item, negations
from clew.claims.clauses import MOST_VERBS, asking, base_of, inversions, inverted, said_of_both, verbs_of
from clew.graph.steps import relation_of
from clew.graph.values import currencies_beside
from clew.query.execute import Executor
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Extreme,
    Part,
    Query,
    Sign,
    Value,
    Walk,
    last_walks,
    mentions_of,
    steps_of,
)
from clew.query.vocabulary import UNEXPLAINED
from clew.reading import english
from clew.reading.account import unplaced_phrases
from clew.reading.answer import ambiguous
from clew.reading.certainty import LikelyReading, likely_reading
from clew.reading.comparisons import EARLIER, FEWER, bound_at, is_comparative, than_words
from clew.reading.english import BEING, DOING, FUNCTION, GOING, HAVING, LIGHT, SUPERLATIVE
from clew.reading.likeness import SPELT
from clew.reading.mentions import PARTIAL
from clew.reading.placing import OF_WORD
from clew.reading.reader import QuestionReader, Reading
from clew.text.inflection import is_participle, singular
from clew.text.normalise import POSSESSIVE, words_of

LEAST_SURE = 0.75
"""Least likelihood of the question that a claim is read as (those that are answered have 0.5 at least)."""
LEAST_HEARD_SHARE = 0.95
"""Least share of a word that is near no label that one carries it, where it is heard in one, too."""
LEAST_SURE_OF_ONE, LEAST_OF_ONE = 0.85, 0.85
"""Least likelihood of one that says of two things what pieces do, and least share of each of its words that
a label carries it. That says what is not so; another verb would be as likely (*left the team*), so that
nothing is supported by it but what is said by *is* and *has*."""
MOST_NAMED = 1000
"""Things among which one is told by a part of its name."""
AMOUNTS = ("count", "list", "sum", "average", "largest", "smallest", "difference")
"""What a question may ask of which a claim says how much or when it is; of *nobody* no count is told."""
_WORD = re.compile(r"[^\W\d_]+")
_SPACE, _THAN = re.compile(r"\s+"), re.compile(r"\s*\bthan\s+", re.IGNORECASE)
_COUNTED = re.compile(rf"(?:\s+(?!(?:{'|'.join(english.PREPOSITIONS - {'of'})})\b)[a-z]+)+")
"""What there is more of."""
_ECHO = re.compile(rf"\s+(?:{'|'.join(BEING | DOING | HAVING)})\W*$", re.IGNORECASE)
"""*Did* that stands for what was said: *before Bo did*."""
_AT_TIME = re.compile(
    r"(?:^|\s+)\b(?:early\s+|late\s+|as\s+(?:early|late)\s+as\s+)?(?:on|in|by|from|during|since|until|till|before|after"
    r"|prior\s+to|(?:no\s+)?(?:earlier|later)\s+than)\s+(?:the\s+)?(?:(?:year|start|beginning|end)\s+(?:of\s+)?(?:the\s+)?)?$",
    re.IGNORECASE,
)
"""What stands before the time of something."""
SO_MANY = re.compile(
    r"(?:at\s+(?:least|most)|(?:no\s+)?(?:more|fewer|less)\s+than|over|under|exactly|precisely|only|just)?"
    r"\s*(?:the\s+)?",
    re.IGNORECASE,
)
"""What stands before a number that things are so many as."""
_COMPARED = re.compile(rf"\s*\b{SO_MANY.pattern}$", re.IGNORECASE)
"""What stands between a verb and the number that it is compared with."""
HERE = re.compile(r"\s*(?:we|(?:the|our|this)\s+(?P<noun>[a-z]+))\s+(?:(?:have|has)\s+)?$", re.IGNORECASE)
"""A subject that may stand for all that a graph holds: *we*, *the zoo*."""
HOLDS = frozenset("have own hold keep list contain include".split())
"""Verbs by which that has what there is."""
_SO_MUCH_MORE = re.compile(r"(?:more|fewer|less)\b", re.IGNORECASE)
_NOUN = re.compile(r"\s+(?:of\s+(?:the|our|its|their|his|her)\s+)?(?=[^\W\d_])")
_ALL_THERE = re.compile(
    r"\s+(?:(?:in|on)\s+(?:the|our|this)\s+(?P<noun>[a-z]+)(?=$|\s+(?:to|by)\s)"
    r"|of\s+(?:them\s+)?(?:all|the\s+lot)$"
    r"|(?:that\s+|which\s+)?(?:(?:are|is|we)\s+)?(?P<verb>[a-z]+)$)",
    re.IGNORECASE,
)
"""What may end a claim and stand for all that a graph holds: *in the fleet*, *are listed*."""
_THE, _THE_LAST = re.compile(r"^the\b", re.IGNORECASE), re.compile(r"\s+(?:the\s+)?$", re.IGNORECASE)
_COMPARATIVE = re.compile(r"\b(?:more|less|fewer|[a-z]+er)\b", re.IGNORECASE)
_ANY_OTHER = re.compile(
    r"\b(?P<more>[a-z]+)\b(?P<what>(?:\s+[a-z]+){0,5}?)\s+than\s+(?:(?P<who>(?:any|every)(?:one|body)\s+else)"
    r"|(?:any|all|every)(?:\s+of\s+the)?\s+others?"
    rf"\b(?P<kind>(?:\s+(?!(?:{'|'.join(FUNCTION)})\b)[a-z]+)*))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the number that a claim says is its answer; None where it says *yes*."""

    question: str
    number: ClaimedValue | None = None
    answer: Item | None = None
    """What a claim says is the answer of a question which."""
    is_of_being: bool = False
    """Whether it asks by *is* or *has* and no verb behind it."""
    is_of_value: bool = False
    currencies: str = ""
    """The codes of what its number may be in."""
    than: str = ""
    """The question for what the answer is compared with."""
    sign: Sign = "="


@dataclass(frozen=True, slots=True)
class AskedReading:
    """What a question that a claim answers means, and which of it may be told by that: that it is, or is not.

    What a part of a name stands for refutes nothing. `than` is that of what its answer is compared with.
    """

    query: Query
    supports: bool
    refutes: bool
    than: Query | None = None


def read_asked(reader: QuestionReader, asked: Asked) -> AskedReading | None:
    """How the question of a claim is read, and the other one, if it compares two.

    Raises EmbedderError if the shipped model cannot be opened.
    """
    one = _read(reader, asked, asked.question)
    other = _read(reader, asked, asked.than) if one is not None and asked.than else None
    if one is None or other is None:
        return None if asked.than else one
    if one.query.ask != other.query.ask:
        return None
    return AskedReading(
        one.query, one.supports and other.supports, one.refutes and other.refutes, other.query
    )


def _read(reader: QuestionReader, asked: Asked, question: str) -> AskedReading | None:
    """How a question is read, if surely, with a place for each word and one thing for each name."""
    reading = _as_asked(reader.read(question), asked)
    is_number = asked.number is not None or bool(asked.than)
    is_none = asked.number is not None and asked.number.count == 0
    asks = AMOUNTS[is_none:] if is_number else ("list",) if asked.answer else ("yes", "every")
    likeliest = likely_reading(reader, reading, LEAST_OF_ONE)
    query, account = likeliest.query, likeliest.account
    if query is None or account is None or query.ask not in asks or query.by or query.key:
        return None
    if asked.currencies and not _is_in(reader, query, asked.currencies):
        return None
    parts = query.contents.parts
    is_whole = is_number or query.other is not None or any(map(_is_of_whole, parts))
    # Each word of what pieces do not say at all must be surely said; else it is enough to tell otherwise.
    is_of_one = not is_whole or not says_each(reader, likeliest)
    if likeliest.likelihood < (LEAST_SURE_OF_ONE if is_of_one else LEAST_SURE):
        return None
    if unplaced_phrases(question, account.words) or any(map(_compares_unlike, parts)):
        return None
    if ambiguous(reader.graph, reader.vocabulary, reading, query):
        return None
    compares = not asked.answer and any(isinstance(p, Compared | Extreme) for p in parts)
    if is_of_one and (compares or asked.is_of_value or asked.than):
        return None  # by what it is compared, of what unit and column it is must be said
    used = [reading.mentions[m] for m in mentions_of(query)]
    by_part = [m for m in used if m.candidates and m.candidates[0].how >= PARTIAL and not m.values]
    # A part of what is no name of its own (*aluminium*) is surely of one thing, if of one alone.
    refutes = likeliest.likelihood >= LEAST_SURE_OF_ONE or not by_part
    refutes = refutes and all(len(m.candidates) == 1 and m.text.islower() for m in by_part)
    refutes = refutes and says_ways(reader.vocabulary, steps_of(query), asked.question)
    if asked.answer is not None:
        query = _of_answer(reader, query, asked.answer)
        return None if query is None else AskedReading(query, True, refutes)
    return AskedReading(query, not is_of_one or asked.is_of_being, refutes)


def _is_in(reader: QuestionReader, query: Query, codes: str) -> bool:
    """Whether what is asked for is recorded in one of some currencies."""
    values = Executor(reader.graph).members(query.part)[:1].tolist()
    labels = (reader.vocabulary.relations[relation_of(walk.step)] for walk in last_walks(query.part))
    return any(recorded_currencies(reader.graph, label, values) & set(codes.split()) for label in labels)


def _of_answer(reader: QuestionReader, query: Query, answer: Item) -> Query | None:
    """Whether what is claimed to be an answer is one; None where its name is that of several things.

    Of things of one name those are meant that are ranked: *Leeds is the oldest club* is said of no town.
    """
    ranked = next(
        (p for p in query.contents.parts if isinstance(p, Extreme) and (p.number == 1 or p.nth)), None
    )
    if ranked is None:
        return None
    members = Executor(reader.graph).members(ranked.source)[:MOST_NAMED].tolist()
    named = [c for c in answer.candidates if c.node in members] or answer.candidates
    if named is answer.candidates:  # *Bradford* of clubs, one of which is called Bradford Woolpack
        words = set(words_of(answer.text))
        called = [n for n in members if words <= set(words_of(reader.graph.labels[n]))]
        named = [replace(named[0], node=node) for node in called] or named
    best = [c.node for c in named if c.how == named[0].how]
    return Query("yes", Both(query.part, Anchor(best[0]))) if len(best) == 1 else None


def _is_of_whole(part: Part) -> bool:
    """Whether a part says what no piece of a claim does, which is of two things or of a thing and a value."""
    return isinstance(part, Extreme | Counted) or (
        isinstance(part, Compared) and isinstance(part.value, Walk)
    )


def _compares_unlike(part: Part) -> bool:
    """Whether a part compares a value of one thing with another relation's of another: *taller than Emil*."""
    return (
        isinstance(part, Compared) and isinstance(part.value, Walk) and part.steps[-1:] != (part.value.step,)
    )


def _as_asked(reading: Reading, asked: Asked) -> Reading:
    """A reading in which a question of yes or no asks whether a set has members, instead of for them."""

    def changed(query: Query) -> Query:
        is_set = query.ask == "list" and not query.by and not query.key
        is_yes = is_set and not asked.number and not asked.than and not asked.answer
        return replace(query, ask="yes") if is_yes else query

    return with_bounds(_changed(reading, changed))


def with_bounds(reading: Reading) -> Reading:
    """A reading in which words that compare have their place in what compares.

    Those that name no measure (*after*, *more than*), and those right before a value (*above 180 m*).
    """
    hits = than_words(reading.question, 0, reading.mentions)
    spans = [hit.span() for hit in hits if hit[0].lower() in TIMED | COUNTING]

    def changed(query: Query) -> Query:
        parts = [p for p in query.contents.parts if isinstance(p, Compared | Counted)]
        values = [p.value.mention for p in parts if isinstance(p, Compared) and isinstance(p.value, Value)]
        bounds = [bound_at(reading.question, reading.mentions[m]) for m in values if m >= 0]
        said = [*spans, *(bound for bound in bounds if bound is not None)]
        return replace(query, said=(*query.said, *said)) if parts else query

    return _changed(reading, changed)


def _changed(reading: Reading, changed: Callable[[Query], Query]) -> Reading:
    """A reading with each of its queries changed."""
    ranked = tuple(
        replace(r, option=replace(r.option, query=changed(r.option.query))) for r in reading.ranking.ranked
    )
    return replace(reading, ranking=replace(reading.ranking, ranked=ranked))


def says_each(reader: QuestionReader, likeliest: LikelyReading, *, spelt: bool = False) -> bool:
    """Whether each content word outside of names says a label of the query, or nothing by itself.

    By its form, or as likely as not heard in that label rather than in any other; `spelt`: by its spelling.
    *People* says what is counted, beside words that say the relation.
    """
    reading, query, account = likeliest.reading, likeliest.query, likeliest.account
    if query is None or account is None:
        return False
    like = reading.likeness
    known = reader.accountant.rows(reading.question, reading.mentions, like, query, mentions_of(query))
    relation, type_, heard = (
        known.rows[:, OF_WORD.index(name)] for name in ("like_relation", "like_type", "heard_share")
    )
    # What is near no label and is one all the same is so by a rule: *joined* of a date called `hired`.
    places = ("operator",) if spelt else ("operator", "relation", "type")
    by_rule = {w.begin for w in account.words if w.as_ in places}
    says_relation = relation >= UNEXPLAINED
    for at, (place, share) in enumerate(zip(known.places, account.shares.tolist(), strict=True)):
        start, _, word = like.words[place]
        is_idle = (
            start in by_rule or word in LIGHT - GOING or (word in english.ANY_PEOPLE and says_relation.any())
        )
        if is_idle or max(relation[at], type_[at]) >= (SPELT if spelt else UNEXPLAINED):
            continue
        if spelt or share < LEAST_HEARD_SHARE or heard[at] < LEAST_HEARD:
            return False
    return True


def asked_by(claim: ClaimText, words: Container[str]) -> Iterator[Asked]:
    """The questions that a claim answers, for its number or date before those of yes or no.

    `words` are those of the graph: what is called by one of them does not stand for all of it.
    """
    text = _ECHO.sub("", claim.text.rstrip(" .!?\"'"))
    begin = claim.frame + len(text[claim.frame :]) - len(text[claim.frame :].lstrip())
    if (nobody := NOBODY_DOES.match(text, begin)) is not None:
        none = ClaimedValue(nobody.start(), nobody.end(), (Value(0.0),), "=")
        yield Asked(f"How many people {text[nobody.end() :]}?", none)
    if (above := _above_all(claim, text, begin)) is not None:
        yield from _of_ranked(above, 0, [above.text], words)
    if negations(text, begin, claim.items) or HALF.match(text, begin):
        return
    whole, text = text, without_whole(claim.items, text, words)
    yield from _of_ranked(claim, begin, dict.fromkeys((whole, text)), words)
    yield from _of_two(claim, text, begin)
    yield from _of_dates(claim, text, begin)
    verbs = verbs_of(claim.items, text, begin)[:MOST_VERBS]
    yield from _of_numbers(claim, text, begin, words)
    for start, stop in verbs:
        after = _WORD.match(text, stop + 1)
        is_of_being = text[start:stop].lower() in BEING | HAVING and not (
            after and is_participle(after[0]) and not any(i.start == after.start() for i in claim.items)
        )
        is_of_being = is_of_being or base_of(text[start:stop].lower()) in HOLDS
        said = inverted(text[begin:start], text[start:stop], text[stop:])
        is_of_value = any(i.value for i in claim.items)
        yield Asked(f"{said}?", is_of_being=is_of_being, is_of_value=is_of_value)


def _of_numbers(claim: ClaimText, text: str, begin: int, words: Container[str]) -> Iterator[Asked]:
    """The questions how many there are or what that is which a claim says is so many or so much."""
    verbs = verbs_of(claim.items, text, begin)[:MOST_VERBS]
    for item in claim.items:
        if item.value is None or item.value.timed:
            continue
        if currencies_beside(text, item.start, item.stop)[0]:
            yield from _of_money(text, begin, item, verbs)
            continue
        for start, stop in verbs if item.stop == len(text) else ():
            if text[start:stop].lower() in BEING and SO_MANY.fullmatch(text, stop + 1, item.start):
                yield Asked(asking(f"What {text[start:stop]}", text[begin:start].strip()), item.value)
        noun = _NOUN.match(text, item.stop)
        if noun is None or (item.value.count is None and not _SO_MUCH_MORE.match(text, noun.end())):
            continue
        if _COMPARED.fullmatch(text, begin, item.start):
            yield Asked(f"How many {text[noun.end() :]}?", item.value)
        elif item.start == begin and not verbs:
            yield Asked(f"How many {text[noun.end() :]} are there?", item.value)
        for start, stop in (v for v in verbs if v[1] <= item.start):
            between, here = _COMPARED.sub("", text[stop : item.start]), HERE.match(text[:start], begin)
            is_whole = here is not None and not (here["noun"] and here["noun"].lower() in words)
            if is_whole and not between.strip() and base_of(text[start:stop]) in HOLDS:
                yield Asked(f"How many {text[noun.end() :]} are there?", item.value)
                continue
            said = inverted(text[begin:start], text[start:stop], f"{between} ")
            yield Asked(asking(f"How many {text[noun.end() :]}", said), item.value)


def _of_money(text: str, begin: int, item: Item, verbs: Sequence[tuple[int, int]]) -> Iterator[Asked]:
    """The questions how much that is which a claim says is so much money, by its sign."""
    codes, sign = currencies_beside(text, item.start, item.stop)
    first, last = min(sign[0], item.start), max(sign[1], item.stop)
    for start, stop in verbs if not text[slice(*sign)].isalpha() else ():
        if stop <= first:
            behind = f"{_COMPARED.sub('', text[stop:first])}{text[last:]}"
            is_what = text[start:stop].lower() in BEING and not behind.strip()
            said = (
                text[begin:start].strip()
                if is_what
                else inverted(text[begin:start], text[start:stop], behind)
            )
            asks = f"What {text[start:stop]}" if is_what else "How much"
            yield Asked(asking(asks, said), item.value, currencies=codes)


def _of_dates(claim: ClaimText, text: str, begin: int) -> Iterator[Asked]:
    """The questions when that was which a claim says was at some time."""
    for item in claim.items:
        at = _AT_TIME.search(text, begin, item.start)
        if at is None or item.value is None or not any(v.date for v in item.value.values):
            continue
        rest = claim.part(begin, len(text)).without(at.start() - begin, item.stop - begin)
        for said in inversions(rest.part(0, len(rest.text))):
            yield Asked(asking("When", said), item.value)


def _of_two(claim: ClaimText, text: str, begin: int) -> Iterator[Asked]:
    """Two questions whose answers a claim compares: *joined before Bo did*, *more came to A than to B*."""
    for hit in than_words(text, begin):
        than = _THAN.search(text, hit.end()) if hit["than"] else _SPACE.match(text, hit.end())
        if than is None or any(i.start <= hit.start() < i.stop for i in claim.items):
            continue
        behind = (i for i in claim.items if i.value and i.start >= than.end())
        if any(not text[than.end() : i.start].strip("$£€ ") for i in behind):
            continue  # with a value
        word = hit[0].lower().split()[-1]
        noun = _COUNTED.match(text, hit.end(), than.start()) if word in COUNTING else None
        noun_end = noun.end() if noun else hit.end()
        if word not in TIMED | COUNTING:
            continue
        asks = "When" if word in TIMED else f"How many{noun[0]}" if noun else "How much"
        one = claim.part(begin, than.start()).without(hit.start() - begin, noun_end - begin)
        if not one.text.strip():
            continue
        one = one.part(0, len(one.text))
        is_first, other = hit.start() == begin, claim.part(than.end(), len(text))
        for said, of_other in said_of_both(one, other, of_subject=is_first):
            sign: Sign = "<" if word in FEWER | EARLIER else ">"
            yield Asked(asking(asks, said), than=asking(asks, of_other), sign=sign)


def _of_ranked(claim: ClaimText, begin: int, texts: Iterable[str], words: Container[str]) -> Iterator[Asked]:
    """The questions which thing stands above all others, of which a claim says that it is its subject.

    Beside its name may stand what it is: *the queen Matilda*, *the Trentside rink*. Or it is named behind:
    *the oldest rink is Trentside*.
    """
    for text in texts:
        for start, stop in verbs_of(claim.items, text, begin)[:MOST_VERBS]:
            verb, subject = text[start:stop], text[begin:start].strip()
            for item in (i for i in claim.items if i.candidates and i.stop <= len(text)):
                around = _THE.sub("", text[begin : item.start]).strip(), text[item.stop : start].strip()
                kind = " ".join(filter(None, around)).lower()
                if item.stop >= start:
                    is_last = item.stop == len(text) and _THE.sub("", text[stop : item.start].strip()) == ""
                    is_said = POSSESSIVE not in subject  # of *her first film* it is not said what she did
                    if is_last and is_said and verb.lower() in BEING and _ranks(claim, text, begin, start):
                        yield Asked(asking(f"Which {verb}", subject), answer=item)
                elif (not kind or singular(kind) in words or kind in words) and (
                    which := _which(claim, text, start, stop, kind)
                ):
                    yield Asked(which, answer=item)


def _above_all(claim: ClaimText, text: str, begin: int) -> ClaimText | None:
    """*No boat is longer than Gull* as *Gull is longer than any other boat*; None if that is not said."""
    none = NONE_OF.match(text, begin) or NOBODY_DOES.match(text, begin)
    last = next((i for i in claim.items if not i.value and i.stop == len(text)), None)
    if none is None or last is None:
        return None
    for start, _ in verbs_of(claim.items, text, none.end() - 1)[:MOST_VERBS]:
        kind, said = text[none.end() : start].strip(), _THE_LAST.sub("", text[start : last.start])
        than = f" any other {kind}" if kind else " anyone else"
        if said.endswith(" than") and any(h["than"] for h in than_words(text, start)):
            return ClaimText(
                f"{last.text} {said}{than}",
                0,
                denied=False,
                items=(replace(last, start=0, stop=len(last.text)),),
            )
    return None


def _ranks(claim: ClaimText, text: str, start: int, stop: int) -> bool:
    """Whether words outside of names rank."""
    hits = SUPERLATIVE.finditer(text, start, stop)
    return any(not any(i.start <= h.start() < i.stop for i in claim.items) for h in hits)


def without_whole(items: Sequence[Item], text: str, words: Container[str]) -> str:
    """A text without what ends it and stands for all that there is: *buses in the fleet*, *is listed*."""
    hit = _ALL_THERE.search(text)
    if hit is None or any(i.stop > hit.start() for i in items):
        return text
    noun, verb = hit["noun"], hit["verb"]
    is_whole = base_of(verb.lower()) in HOLDS if verb else not noun or noun.lower() not in words
    return text[: hit.start()] + text[hit.end() :] if is_whole else text


def _which(claim: ClaimText, text: str, start: int, stop: int, kind: str) -> str:
    """The question for what a claim says stands above all others, from its verb on; empty where it does not.

    *Has more seats than any other school* is said of the school that has the most seats.
    """
    others = (hit for hit in _COMPARATIVE.finditer(text, stop) if is_comparative(hit[0].lower()))
    hit = next((whole for hit in others if (whole := _ANY_OTHER.match(text, hit.start()))), None)
    if hit is not None:
        most = {"more": "most", "less": "least", "fewer": "fewest"}
        more, kind = hit["more"].lower(), hit["kind"] or f" {kind}".rstrip()
        asks = "Who" if hit["who"] else f"Which{kind}"
        said = f"the {most.get(more) or f'{more[:-1]}st'}{hit['what']}"
        return f"{asks} {text[start : hit.start()]}{said}{text[hit.end() :]}?"
    is_ranked = _ranks(claim, text, stop, len(text))
    return " ".join(filter(None, ("Which", kind, f"{text[start:]}?"))) if is_ranked else ""
