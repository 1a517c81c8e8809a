"""A place in a row of tokens, and the steps that all parts of the parser take from it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from clew.stores.cypher.tokens import CypherToken
from clew.stores.cypher.tree import Name, PathPattern
from clew.stores.errors import QueryRefused, QuerySyntaxError

DEEPEST_STATEMENT = 60
"""Expressions, patterns and subqueries within one another; deeper ones would exhaust Python's stack."""

WRITES = frozenset(
    (
        *("CREATE", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH", "LOAD", "INSERT"),
        *("DROP", "ALTER", "GRANT", "DENY", "REVOKE", "RENAME", "START", "STOP", "TERMINATE", "ENABLE"),
        *("DEALLOCATE", "REALLOCATE", "DRYRUN"),
    )
)
"""Words with which a clause or command begins that is not a read."""

_CLOSES = {"(": ")", "[": "]", "{": "}"}

T = TypeVar("T")


class Cursor:
    """Reads tokens one after the other; `closing` maps each opening bracket to its closing one."""

    def __init__(self, text: str, tokens: tuple[CypherToken, ...]) -> None:
        self.text, self.tokens, self.at, self._depth = text, tokens, 0, 0
        self.value_paths: dict[int, PathPattern] = {}
        """Paths that were read as values, by the token where they begin."""
        self.closing = self._pair_brackets()

    def _pair_brackets(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        open_brackets: list[int] = []
        for position, token in enumerate(self.tokens):
            if token.kind != "symbol":
                continue
            if token.text in _CLOSES:
                open_brackets.append(position)
            elif token.text in _CLOSES.values():
                if not open_brackets or _CLOSES[self.tokens[open_brackets[-1]].text] != token.text:
                    raise QuerySyntaxError(f"{token.text!r} closes nothing", self.text, token.offset)
                pairs[open_brackets.pop()] = position
        if open_brackets:
            token = self.tokens[open_brackets[-1]]
            raise QuerySyntaxError(f"{token.text!r} is never closed", self.text, token.offset)
        return pairs

    def token(self, ahead: int = 0) -> CypherToken:
        """Return the token `ahead` of here; the end token beyond the last."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def is_symbol(self, text: str, ahead: int = 0) -> bool:
        """Whether a symbol stands here."""
        token = self.token(ahead)
        return token.kind == "symbol" and token.text == text

    def is_word(self, *words: str, ahead: int = 0) -> bool:
        """Whether one of these words (upper case) stands here."""
        token = self.token(ahead)
        return token.kind == "word" and token.value in words

    def take_symbol(self, text: str) -> bool:
        """Step over a symbol if it stands here."""
        present = self.is_symbol(text)
        self.at += present
        return present

    def take_words(self, *words: str) -> bool:
        """Step over words if they all stand here."""
        present = all(self.is_word(word, ahead=i) for i, word in enumerate(words))
        self.at += len(words) if present else 0
        return present

    def expect_symbol(self, text: str) -> None:
        """Step over a symbol that must stand here."""
        if not self.take_symbol(text):
            self.fail(f"expected {text!r}")

    def expect_words(self, *words: str) -> None:
        """Step over words that must stand here."""
        if not self.take_words(*words):
            self.fail(f"expected {' '.join(words)}")

    def fail(self, reason: str) -> NoReturn:
        """Raise QuerySyntaxError about this place, QueryRefused where a write begins."""
        token = self.token()
        if token.kind == "word" and token.value in WRITES:
            raise QueryRefused(f"The query has {token.value}, which is no read. Only reading queries are run")
        token_text = "the query ends" if token.kind == "end" else f"found {token.text!r}"
        raise QuerySyntaxError(f"{reason}, {token_text}", self.text, token.offset)

    def name(self, description: str) -> Name:
        """Read a name of any kind: a word or what stands in backticks."""
        token = self.token()
        if token.kind not in ("word", "name"):
            self.fail(f"expected {description}")
        self.at += 1
        return Name(self.at - 1, self.at, token.text if token.kind == "word" else token.value)

    def variable(self) -> Name:
        """Read a variable's name; the words that begin a write must be in backticks."""
        if self.token().kind == "word" and self.token().value in WRITES:
            self.fail("expected a variable")
        return self.name("a variable")

    def integer(self) -> int | None:
        """Read a whole number, None if there is none."""
        token = self.token()
        if token.kind != "integer":
            return None
        self.at += 1
        return whole_number(token)

    def read_list(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Read one or more items, with commas between."""
        items = [read()]
        while self.take_symbol(","):
            items.append(read())
        return tuple(items)

    def read_until(self, closing: str, read: Callable[[], T]) -> tuple[T, ...]:
        """Read what stands, with commas between, before a closing bracket, and the bracket."""
        items: list[T] = []
        while not self.is_symbol(closing):
            if items:
                self.expect_symbol(",")
            items.append(read())
        self.expect_symbol(closing)
        return tuple(items)

    @contextmanager
    def deeper(self) -> Generator[None]:
        """Count the depth of nesting; QuerySyntaxError beyond `DEEPEST_STATEMENT`."""
        self._depth += 1
        if self._depth > DEEPEST_STATEMENT:
            raise QuerySyntaxError("nested too deeply", self.text, self.token().offset)
        try:
            yield
        finally:
            self._depth -= 1


def whole_number(token: CypherToken) -> int:
    """Value of an integer; one that begins with 0 may be hexadecimal or octal."""
    return int(token.value) if token.value.isdigit() else int(token.value, 0)
