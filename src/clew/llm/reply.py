"""What is read from a model's text: the one JSON value, typed values, and the one form of an answer."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise
from typing import Any, Literal, TypeVar, cast

import msgspec

from clew.errors import LlmError
from clew.foundation.forms import converted
from clew.llm import types
from clew.llm.types import Message, OutputForm, Reply, ReplyInvalid, Request, Typed

# Types as JSON schemas, and JSON values as their instances: msgspec, with our schemas and errors.
#
# Shapes are frozen dataclasses; bounds and descriptions are `Annotated[…, msgspec.Meta(…)]`.

T = TypeVar("T")


class ShapeError(ValueError):
    """A value that does not fit: `path` in the value (`$.triples[3][1]`) and what is wrong there."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"at {path}: {problem}")


def schema_of(shape: Any) -> dict[str, Any]:  # noqa: ANN401
    """The JSON schema of a type, without references: all fields are required, no others allowed.

    Raises TypeError: a type that JSON has no form for.
    """
    (schema,), parts = msgspec.json.schema_components([shape], ref_template="{name}")
    return _strict(schema, parts)


def _strict(schema: Any, parts: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if isinstance(schema, list):
        return [_strict(item, parts) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    whole = dict(cast("dict[str, Any]", schema))
    if "$ref" in whole:
        whole = parts[whole.pop("$ref")] | whole
    properties = whole.pop("properties", None)
    strict = {
        word: _strict(value, parts) for word, value in whole.items() if word not in ("title", "default")
    }
    if properties is not None:
        strict["properties"] = {name: _strict(part, parts) for name, part in properties.items()}
        strict |= {"required": list(properties), "additionalProperties": False}
    if "prefixItems" in strict:
        # Few servers know tuples; ours have members of one type.
        strict["items"] = strict.pop("prefixItems")[0]
    return strict


def build(shape: type[T], value: Any) -> T:  # noqa: ANN401
    """Make an instance of a type from a JSON value, strictly: no text for numbers, no 1 for true.

    Other members are ignored, missing ones take the field's default. Raises ShapeError.
    """
    try:
        return converted(value, shape)
    except (msgspec.ValidationError, OverflowError) as error:
        problem, _, path = str(error).partition(" - at `")
        raise ShapeError(path.rstrip("`") or "$", problem) from error


# From a model's raw text to the one JSON value in it.
#
# Taken off first: thoughts (`<think>…</think>`), the model's stop tokens and what follows them, and
# backslashes of Markdown. Nothing is mended: what is not JSON goes back to the model once, with the reason.


LONGEST_JSON_REPLY = 1_000_000
"""Characters of a reply that are read."""
JSON_BEGINNINGS = 64
"""Places of a reply at which JSON may begin and turn out not to be JSON."""

_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>(.*?)(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_STOP = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end|end_of_text|eom_id|end_of_turn|start_header_id)\|>"
    r"|<(?:end_of_turn|start_of_turn|eos)>|</s>|<s>|\[/?INST\]|<｜end▁of▁sentence｜>"
)
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_ESCAPED = re.compile(r"(?<!\\)\\(?=[_*\[\]])")
"""A backslash of Markdown, which no string of JSON and no query language has there."""
_STRING_OR_END = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(;)""", re.DOTALL)
_STATEMENT_MEMBERS = ("cypher", "sparql", "query", "statement")


def clean(text: str, stop: Sequence[str] = ()) -> str:
    r"""Take off thoughts, stop tokens with what follows them, and escapes (`\_`)."""
    text = without_thoughts(text[:LONGEST_JSON_REPLY])
    text = next((piece for piece in _STOP.split(text) if piece.strip()), "")
    for word in filter(None, stop):
        text = text.split(word, 1)[0]
    return _ESCAPED.sub("", text.strip())


def without_thoughts(text: str) -> str:
    """A reply without what a model said to itself before it (`<think>…</think>`)."""
    thought = _THOUGHT.match(text)
    while thought:
        text = text[thought.end() :]
        thought = _THOUGHT.match(text)
    # Some chat templates open the thought in the prompt, so only its end is in the reply.
    end = _THOUGHT_END.search(text)
    return text[end.end() :] if end else text


class _NotOne(ValueError):
    pass


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _NotOne(f"the member {name!r} is there twice")
        members[name] = value
    return members


def _no_constant(name: str) -> Any:  # noqa: ANN401
    raise _NotOne(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_constant)


def values(text: str) -> Iterator[tuple[Any, str]]:
    """Yield the JSON values of a clean text, outermost only, as (value, "") or (None, why it is not JSON)."""
    at, failures = 0, 0
    while failures < JSON_BEGINNINGS:
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
            json.dumps(value, ensure_ascii=False).encode()
        except _NotOne as error:
            yield None, str(error)
            at, failures = opening.end(), JSON_BEGINNINGS
        except json.JSONDecodeError as error:
            yield None, f"{error.msg} (character {error.pos} of {len(text)})"
            at, failures = opening.end(), failures + 1
        except UnicodeEncodeError:
            yield None, "a string has half of a surrogate pair"
            failures += 1
        except (ValueError, RecursionError):
            yield None, "it is nested too deeply, or has a number with too many digits"
            return
        else:
            yield value, ""


def read_value(text: str, build: Callable[[Any], T]) -> T:
    """The one JSON value in a clean text that `build` accepts; inside code fences first. ReplyInvalid."""
    if not text:
        raise ReplyInvalid("it is empty", text)
    problem, blocks = "", fenced(text)
    for part in ("\n".join(blocks), text) if blocks else (text,):
        accepted, first_problem = _accept_values(part, build)
        if len(accepted) > 1:
            raise ReplyInvalid(f"it has {len(accepted)} different JSON values where one is asked for", text)
        if accepted:
            return accepted[0]
        problem = problem or first_problem
    raise ReplyInvalid(problem or "there is no JSON in it", text)


def fenced(text: str) -> list[str]:
    """What stands between marks of code; the last may be left open."""
    return _FENCE.findall(text)


def statements(text: str) -> list[str]:
    """Texts of a clean reply that may be one statement of a query language, in the order to try them.

    They stand in a member of JSON (`{"cypher": "MATCH …"}`), in fences, or are several in a row.
    """
    members = [value for value, why in values(text) if not why and isinstance(value, dict)]
    told = [
        statement
        for value in cast("list[dict[str, Any]]", members)
        for name in _STATEMENT_MEMBERS
        if isinstance(statement := value.get(name), str)
    ]
    found: list[str] = []
    for block in told or fenced(text) or [text]:
        ends = [match.end() for match in _STRING_OR_END.finditer(block) if match[1]]
        found += [block[start:end] for start, end in pairwise([0, *ends, len(block)])]
    return [statement for piece in found if (statement := piece.strip())]


def _accept_values(text: str, build: Callable[[Any], T]) -> tuple[list[T], str]:
    accepted: list[T] = []
    problem, deepest = "", -1
    for value, why in values(text):
        if why:
            problem = problem or f"it is not valid JSON: {why}"
            continue
        try:
            built = build(value)
        except ShapeError as error:
            # The problem deepest in a value is that of the value that comes nearest.
            depth = error.path.count(".") + error.path.count("[")
            deepest, problem = (depth, str(error)) if depth > deepest else (deepest, problem)
            continue
        accepted += [] if built in accepted else [built]
    return accepted, problem


FORMS: tuple[OutputForm, ...] = ("schema", "json", "text")
"""Forms of a reply, the strongest first; the last is never refused."""
LONGEST_SHOWN = 8_000
"""Characters of its own reply that a model is shown again."""


class ChatModel(ABC):
    """A chat model, whatever serves it. `name` is `provider/model`."""

    def __init__(self, name: str, refused: set[OutputForm] | None = None) -> None:
        self.name = name
        self.refused: set[OutputForm] = set() if refused is None else refused
        """Forms that the server has refused."""

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Reply to a request. Raises LlmError: no usable reply; the subclass says why."""
        ...

    async def close(self) -> None:
        """Close the connections, where it has some."""
        return

    async def complete_as(self, request: Request, shape: type[T]) -> Typed[T]:
        """Reply with a value of a dataclass type, after at most one repair turn.

        The strongest form that the server takes is used. Raises ReplyInvalid, LlmError.
        """

        def read(text: str) -> T:
            return read_value(clean(text, request.stop), lambda value: build(shape, value))

        first: LlmError | None = None
        forms: list[OutputForm] = [form for form in FORMS if form not in self.refused]
        for form in forms:
            try:
                return await complete_parsed(self, _in_form(request, form, shape), read)
            except ReplyInvalid:
                raise
            except LlmError as error:
                if not _is_about_form(error, form):
                    raise first or error from None
                first = first or error
                if isinstance(error, types.ModelRefused):
                    self.refused.add(form)
        raise AssertionError("unreachable: the last form returns or raises")


def _is_about_form(error: LlmError, form: OutputForm) -> bool:
    """Whether another form may go through: it was refused, or broke the server, or was never recorded."""
    if form == "text" or isinstance(error, (types.KeyRefused, types.ContextOverflow, types.RateLimited)):
        return False
    if isinstance(error, types.ModelRefused):
        return error.status in (400, 404, 415, 422, 501)
    if isinstance(error, types.ModelFailed):
        return error.status in (500, 501)
    return isinstance(error, types.ReplayMissing)


def _in_form(request: Request, form: OutputForm, shape: type) -> Request:
    schema = schema_of(shape)
    if form == "schema":
        return replace(request, form=form, schema=schema, schema_name=shape.__name__)
    order = (
        "Reply with one JSON value that fits this JSON schema, and with nothing else:\n"
        f"{json.dumps(schema, ensure_ascii=False)}"
    )
    first, *others = request.messages
    if first.role == "system":
        turns = (Message("system", f"{first.text}\n\n{order}"), *others)
    else:
        turns = (Message("system", order), first, *others)
    return replace(request, form=form, messages=turns)


async def complete_parsed(model: ChatModel, request: Request, parse: Callable[[str], T]) -> Typed[T]:
    """Complete and parse, with one repair turn that shows the model what was wrong.

    `parse` gets the raw text and raises `ReplyInvalid`, which is raised after the repair. Raises LlmError.
    """
    reply = await model.complete(request)
    try:
        return Typed(parse(reply.text), (reply,))
    except ReplyInvalid as error:
        reason = error.reason
    if reply.finish == "length":
        reason += "; it was cut off because it was too long, so be brief"
    turns = (
        Message("assistant", reply.text.strip()[:LONGEST_SHOWN] or "(nothing)"),
        Message(
            "user", f"That cannot be used: {reason}. Reply again, in the form asked for, without excuses."
        ),
    )
    try:
        second_reply = await model.complete(replace(request, messages=(*request.messages, *turns)))
    except types.ContextOverflow as error:
        raise ReplyInvalid("it is no use, and too long to be shown again") from error
    return Typed(parse(second_reply.text), (reply, second_reply))


# Whether a model's text says that it has no answer, whatever names stand in it.
#
# *The facts do not mention a composer; they only say that Christopher Nolan directed it* names an entity of
# the evidence and answers nothing: section 4.4.3 of KG-RAG and appendix E of SimGRAG show such replies. The
# words are English; in another language only names decide.


_NOT = r"(?:\s+not|n['’]t|not)"
_HOW = r"(?:\s+(?:explicitly|directly|actually|specifically|clearly|seem\s+to|appear\s+to))?"
_SOURCE = (
    r"(?:context|facts?|evidences?|triples?|(?:sub)?graphs?|information|statements?|data|rows?|results?|texts?"
    r"|passages?|sources?|documents?|(?:sub-?)?answers?|none|nothing)"
)
_TELLS = (
    r"(?:mention|say|state|contain|provide|include|specify|specif|hold|tell|answer|give|indicate|list|name|show"
    r"|reveal|record|support|cover|have|describe|identify|address|connect)(?:s|ies)?"
)
_FINDS = (
    r"(?:know|answer|determine|find|tell|say|help|assist|identify|provide|infer|comply|fulfil|see|give|deduce"
    r"|confirm|conclude|establish|look)"
)
_DECLINES = re.compile(
    "|".join(
        (
            rf"\bI(?:\s+(?:do|can|could|am|was|will)|['’]m){_NOT}{_HOW}(?:\s+able\s+to|\s+sure)?\s+{_FINDS}\b",
            r"\b(?:I\s+am|I['’]m)\s+(?:not\s+sure|unable|sorry|afraid)\b",
            rf"\b(?:we|one|it){_HOW}\s+(?:can|could|do){_NOT}\s+(?:be\s+)?{_FINDS}",
            rf"\b(?:can|could){_NOT}\s+be\s+(?:answered|determined|inferred|found|identified|established|deduced)\b",
            rf"\b(?:unable|impossible|not\s+possible)\s+to\s+{_FINDS}\b",
            rf"\b{_SOURCE}\b[^.!?;\n]{{0,80}}?\b(?:do|does|did){_NOT}{_HOW}\s+{_TELLS}\b",
            rf"\b(?:none|nothing)\s+(?:of|in|from)\s+(?:the|these|this|those|my|your)\b[^.!?;\n]{{0,40}}?\b{_SOURCE}\b",
            r"\b(?:there\s+(?:is|are|was|were)|has|have|had|with|contains?|provides?|gives?|holds?|offers?|finds?|see|found)"
            r"\s+(?:no|not\s+any|not\s+enough|insufficient)\s+(?:\w+\s+){0,2}"
            r"(?:information|evidence|mention|record|data|answer|facts?|triples?|connection|indication|details?|reference)\b",
            r"\b(?:not\s+enough|insufficient)\s+(?:information|evidence|data|context|facts|details)\b",
            r"\b(?:is|are|was|were)(?:\s+not|n['’]t)\s+(?:explicitly\s+|directly\s+)?"
            r"(?:mentioned|stated|specified|provided|given|known|available|included|listed|named|recorded|answered)\b",
            r"\A\W*(?:no\s+(?:answer|information|evidence)|unknown|not\s+(?:known|mentioned|found|available|applicable)|n/a|none)\W*\Z",
            r"\A\W*as\s+an?\s+(?:AI|(?:large\s+)?language\s+model)\b",
        )
    ),
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\banswers?\s*(?:is|are|:)(?!\s*not\b)\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?]\s+|\n+")
_MARK = "\x00"


def declines(text: str, names: Iterable[str] | None = None) -> bool:
    """Whether a text says that it has no answer, before it names any of `names` (None: at once)."""
    masked_text = _masked(text[:20_000], names or ())
    starts = [match.end() for match in _ANSWER.finditer(masked_text)]
    if starts and masked_text[starts[-1] :].strip():
        masked_text = masked_text[starts[-1] :]
    match = _DECLINES.search(masked_text)
    if match is None:
        return False
    before = masked_text[
        : max((end.end() for end in _SENTENCE.finditer(masked_text, 0, match.start())), default=0)
    ]
    return not before.strip() if names is None else _MARK not in before


def _masked(text: str, names: Iterable[str]) -> str:
    """A text with a mark for each name: a film may be called *I Don't Know*."""
    plain = sorted({" ".join(n.split()) for n in names if n.strip()}, key=lambda name: (-len(name), name))
    if not plain:
        return text.replace(_MARK, " ")
    words = (r"\W+".join(map(re.escape, re.findall(r"\w+", name))) or re.escape(name) for name in plain)
    pattern = rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"
    return re.sub(pattern, _MARK, text.replace(_MARK, " "), flags=re.IGNORECASE)


# The one form in which a reply states its answer, and the only place where an answer is read.
#
# A reply explains first, as it likes, and ends with the lines that `FORM` asks for, or it is a JSON object
# with `answers` (and `facts`). A name in the explanation is never an answer. A reply that is nothing but one
# line may state its answer bare: what it lists is read strictly (`methods/ground.py`), or not at all.


def _text(name: str) -> str:
    return files("clew.llm").joinpath("prompts", f"{name}.txt").read_text("utf-8").rstrip("\n")


FORM = _text("form")
"""What prompts ask for, in place of their slot `{{FORM}}`."""

REPAIR_PROMPT = _text("repair")
"""The message after a reply that states no answer."""

MOST_FACTS = 10_000
"""Numbers of facts that are read."""

ReplyForm = Literal["line", "json", "bare", "refusal", ""]

_MARKS = r"[\s>*_`#\-•]*"
_LINE = re.compile(
    rf"^{_MARKS}(?:the\s+|my\s+)?(?:final\s+|short\s+)?answers?\b(?:\s+(?:is|are))?[*_`]*\s*:[*_` \t]*(.*)$",
    re.I,
)
_FACTS = re.compile(
    rf"^{_MARKS}(?:facts?|graphs?|statements?|lines?)(?:\s+used)?[*_`]*\s*:[*_` \t]*"
    r"([\s\d,;\-–#\[\]()&.]*|none)$",
    re.I,
)
_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(.+)$")
_NOTHING = frozenset(("none", "nothing"))
_NONE = _NOTHING | {"n/a", "null", "unknown", "no answer", "not known", "not stated", "not told"}
_QUOTES = " \t\"'“”‘’`*_"


@dataclass(frozen=True, slots=True)
class StatedAnswer:
    """What a reply states: `items` as they are written (maybe `is_none`), on the numbers of `facts`.

    `text` are its own words without the form; `form` how it was stated, empty where it was not.
    """

    items: tuple[str, ...]
    facts: tuple[int, ...]
    text: str
    form: ReplyForm


def stated_answer(reply: str) -> StatedAnswer:
    """Read what a clean reply states: by its last `Answer:` line, JSON, a bare line, or a refusal."""
    reply = reply[:100_000]
    lines = reply.splitlines()
    at = max((i for i, line in enumerate(lines) if _LINE.match(line)), default=-1)
    if at >= 0:
        return _from_lines(lines, at)
    return _from_json(reply) or _bare(lines)


def _from_lines(lines: list[str], at: int) -> StatedAnswer:
    match = _LINE.match(lines[at])
    answer_text = "" if match is None else match[1]
    stop = at + 1
    if not answer_text.strip(_QUOTES):
        while stop < len(lines) and (bullet := _BULLET.match(lines[stop])):
            answer_text += f"; {bullet[1]}"
            stop += 1
        if stop == at + 1 and stop < len(lines):
            answer_text, stop = lines[stop], stop + 1
    while answer_text.rstrip().endswith(";") and stop < len(lines) and lines[stop].strip():
        answer_text, stop = f"{answer_text} {lines[stop]}", stop + 1
    facts: tuple[int, ...] = ()
    text_lines: list[str] = []
    for line in (*lines[:at], *lines[stop:]):
        numbers = _FACTS.match(line)
        if numbers:
            facts = fact_numbers(numbers[1])
        elif not _LINE.match(line):
            text_lines.append(line)
    return StatedAnswer(_items(answer_text.split(";")), facts, "\n".join(text_lines).strip(), "line")


def _from_json(reply: str) -> StatedAnswer | None:
    if "{" not in reply:
        return None
    try:
        fields = read_value(reply, _with_answers)
    except ReplyInvalid:
        return None
    answers = fields.get("answers", fields.get("answer"))
    items = answers if isinstance(answers, list) else [answers]
    texts = [_json_item(item) for item in cast("list[Any]", items)]
    if isinstance(answers, str):
        texts = answers.split(";")
    text = str(fields.get("text") or fields.get("reason") or "")
    facts = fields.get("facts", "")
    numbers = fact_numbers(str(facts).strip("[]")) if isinstance(facts, (list, str, int)) else ()
    return StatedAnswer(_items(texts), numbers, text, "json")


def _with_answers(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """The object of a reply. Raises ShapeError for a value that states no answers."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    answers = fields.get("answers", fields.get("answer", ...))
    answer_items = cast("list[Any]", answers) if isinstance(answers, list) else [answers]
    if answers is ... or any(isinstance(item, (dict, list)) for item in answer_items):
        raise ShapeError("answers", "a list of names, numbers, true or false")
    return fields


def _json_item(item: object) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    return "" if item is None else f"{item:.15g}" if isinstance(item, float) else str(item)


def _bare(lines: list[str]) -> StatedAnswer:
    """A reply of one line that may be an answer itself; otherwise a refusal, or nothing."""
    text = "\n".join(lines).strip()
    filled_lines = [line for line in lines if line.strip()]
    if not text or declines(text):
        return StatedAnswer((), (), text, "refusal" if text else "")
    if len(filled_lines) == 1 and len(filled_lines[0]) <= 2_000 and text[0] not in "{[`":
        return StatedAnswer(_items([text.rstrip(".")]), (), text, "bare")
    return StatedAnswer((), (), text, "")


def _items(texts: list[str]) -> tuple[str, ...]:
    """Items without quotes, each once."""
    return tuple(dict.fromkeys(item for text in texts if (item := " ".join(text.split()).strip(_QUOTES))))


def is_none(item: str) -> bool:
    """Whether an item says that there is no answer; a thing of the graph may be called *Unknown*, too."""
    return item.casefold().strip(" .()") in _NONE or declines(item)


def is_nothing(item: str) -> bool:
    """Whether an item says that nothing is so, and not that it is unknown."""
    return item.casefold().strip(" .()") in _NOTHING


def fact_numbers(text: str) -> tuple[int, ...]:
    """Numbers and ranges of a list, in its order, each once; at most `MOST_FACTS`."""
    numbers: dict[int, None] = {}
    for first, last in _RANGE.findall(text):
        start, stop = int(first), int(last or first)
        if stop - start >= MOST_FACTS:
            continue
        numbers |= dict.fromkeys(range(start, stop + 1))
        if len(numbers) >= MOST_FACTS:
            break
    return tuple(numbers)
