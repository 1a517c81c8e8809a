r"""Cypher text → tokens that keep the spaces and comments before them, so that they print back unchanged.

Neo4j decodes `\uXXXX` in the whole text before it reads a word of it, so that an escape can end a string, a
name or a comment. Such escapes are refused wherever they could; what is left means the same to both readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Literal

from clew.stores.errors import QueryRefused, QuerySyntaxError

TokenKind = Literal["word", "name", "string", "integer", "float", "parameter", "symbol", "end"]

LONGEST_NUMBER = 400
LONGEST_STATEMENT = 50_000
"""A longer statement is not a question's query."""


@dataclass(frozen=True, slots=True)
class CypherToken:
    """A token with the `space` (blanks and comments) before it; `offset` is where `text` begins.

    `value` is what the token stands for: the characters of a string, a name without its backticks, the upper
    case of a word.
    """

    kind: TokenKind
    text: str
    space: str
    offset: int
    value: str


_BLANK = "\t-\r\x1c-\x20\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACE = re.compile(rf"(?:[{_BLANK}]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(
    r"(?P<hex>0x[0-9a-fA-F_]+|0o[0-7_]+)"
    r"|(?P<float>(?:\d[\d_]*)?\.\d+(?:[eE][+-]?\d+)?|\d[\d_]*[eE][+-]?\d+)"
    r"|(?P<integer>\d[\d_]*)",
    re.ASCII,
)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_NAME = re.compile(r"`(?:[^`]|``)*`")
_PARAMETER = re.compile(r"\$(?:`(?:[^`]|``)+`|\w+)")
_SYMBOLS = re.compile(r"<=|>=|<>|=~|\+=|\.\.|\|\||::|[()\[\]{},.:;|=<>+\-*/%^&!]")
_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "`": "`", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:u+(?P<code>[0-9a-fA-F]{4})|(?P<character>.))", re.DOTALL)
_ENDS_A_STRING = frozenset("'\"\\`\r\n")


def tokenize(text: str) -> tuple[CypherToken, ...]:
    """Cut a statement into tokens; the last has kind `end` and the trailing space.

    Raises QuerySyntaxError for text that is no Cypher, QueryRefused for escapes that hide something.
    """
    if len(text) > LONGEST_STATEMENT:
        raise QueryRefused(f"The query has {len(text):,} characters; at most {LONGEST_STATEMENT:,} are read")
    tokens: list[CypherToken] = []
    at = 0
    while True:
        space = _space(text, at)
        at += len(space)
        if at == len(text):
            tokens.append(CypherToken("end", "", space, at, ""))
            return tuple(tokens)
        token = _token(text, at, space)
        tokens.append(token)
        at += len(token.text)


def render(
    tokens: Iterable[CypherToken], edits: Mapping[int, str] | None = None, *, comments: bool = True
) -> str:
    """Print tokens as they were written; `edits` replace the text of the tokens with these positions.

    Without `comments` what stands between two tokens is a blank, and before a comma nothing.
    """
    parts: list[str] = []
    for position, token in enumerate(tokens):
        parts.append(token.space if comments else " " if token.space and token.text != "," else "")
        parts.append(token.text if edits is None else edits.get(position, token.text))
    return "".join(parts)


def quote_name(name: str) -> str:
    """Write a label, relation, property or variable, in backticks where it needs them."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else "`" + name.replace("`", "``") + "`"


def _space(text: str, at: int) -> str:
    match = _SPACE.match(text, at)
    space = match[0] if match else ""
    if "\\u" in space:
        raise QueryRefused(r"The query has a \u escape in a comment, where it may end the comment. Remove it")
    if text.startswith("/*", at + len(space)):
        raise QuerySyntaxError("a comment that does not end", text, at + len(space))
    return space


def _token(text: str, at: int, space: str) -> CypherToken:
    char = text[at]
    if match := _WORD.match(text, at):
        return CypherToken("word", match[0], space, at, match[0].upper() if match[0].isascii() else match[0])
    if (char.isdigit() or (char == "." and at + 1 < len(text))) and (match := _NUMBER.match(text, at)):
        return _number(match, text, at, space)
    if char in "'\"":
        if (match := _STRING.match(text, at)) is None:
            raise QuerySyntaxError("a string that does not end", text, at)
        return CypherToken("string", match[0], space, at, _decode_string(match[0][1:-1], text, at))
    if char == "`":
        return _quoted_name(text, at, space)
    if char == "$" and (match := _PARAMETER.match(text, at)):
        name = match[0][1:]
        if "\\u" in name:
            raise QueryRefused(r"The query has a \u escape in a parameter's name. Write the character")
        return CypherToken("parameter", match[0], space, at, name.strip("`").replace("``", "`"))
    if text.startswith("\\u", at):
        raise QueryRefused(r"The query has a \u escape outside a string. Write the character")
    if match := _SYMBOLS.match(text, at):
        return CypherToken("symbol", match[0], space, at, match[0])
    raise QuerySyntaxError(f"the character {char!r} is not Cypher", text, at)


def _number(match: re.Match[str], text: str, at: int, space: str) -> CypherToken:
    stop = match.end()
    if stop - at > LONGEST_NUMBER:
        raise QuerySyntaxError(f"a number of {stop - at:,} characters, which no database reads", text, at)
    if stop < len(text) and (text[stop].isalnum() or text[stop] == "_"):
        raise QuerySyntaxError(f"{text[at : stop + 1]!r} is neither a number nor a name", text, at)
    kind: TokenKind = "float" if match["float"] else "integer"
    if kind == "float" and isinf(float(match[0].replace("_", ""))):
        raise QuerySyntaxError(f"the number {match[0]} is too large", text, at)
    return CypherToken(kind, match[0], space, at, match[0].replace("_", ""))


def _decode_string(body: str, text: str, at: int) -> str:
    """Decode the escapes of the string that begins at a place of a text."""

    def decode(escape: re.Match[str]) -> str:
        if escape["code"]:
            character = chr(int(escape["code"], 16))
            if character in _ENDS_A_STRING:
                raise QueryRefused(rf"The query hides a quote as {escape[0]} in a string. Write it as \' ")
            return character
        if (character := _ESCAPES.get(escape["character"])) is None:
            reason = f"the escape \\{escape['character']} in a string is not Cypher"
            raise QuerySyntaxError(reason, text, at + 1 + escape.start())
        return character

    return _ESCAPE.sub(decode, body)


def _quoted_name(text: str, at: int, space: str) -> CypherToken:
    match = _NAME.match(text, at)
    if match is None or match[0] == "``":
        raise QuerySyntaxError("a name in backticks that is empty or does not end", text, at)
    if "\\u" in match[0]:
        raise QueryRefused(
            r"The query has a \u escape in a name, where it may end the name. Write the character"
        )
    return CypherToken("name", match[0], space, at, match[0][1:-1].replace("``", "`"))
