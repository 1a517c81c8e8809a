"""What a line of `clew shell` may be, a command by its first word or a question; and the prompt for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from rich.text import Text

from clew.cli.answer_view import NAME_SEPARATOR, print_full_answer, print_steps, print_verdict
from clew.cli.console import escape, explained_wait, out, put, warn
from clew.cli.info import print_info
from clew.cli.opening import waiting_note
from clew.cli.query import print_rows
from clew.errors import UsageError
from clew.opening.environment import users_data
from clew.text.normalise import counted

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.index.explore import Neighbourhood
    from clew.llm.reply import ChatModel
    from clew.types import Answer, Verification


@dataclass(frozen=True, slots=True)
class Command:
    """What a first word stands for; `takes` is what follows it, in words for `help`."""

    run: Callable[[Session, str], None]
    takes: str
    help: str


class Session:
    """A graph that is asked line by line, and the last answer; `ended` once the user leaves."""

    def __init__(
        self, clew: Clew, method: str, model: ChatModel | None, settings: object, *, quiet: bool = False
    ) -> None:
        self.clew, self.ended = clew, False
        self._method, self._model, self._settings, self._quiet = method, model, settings, quiet
        self._last: Answer | Verification | None = None
        self._question = ""
        self._previous: Answer | None = None

    def do(self, line: str) -> None:
        """Do one line and print what comes of it; raises what the command raises."""
        line = line.strip()
        if not line or line.startswith("#"):
            return
        word, _, argument = line.partition(" ")
        command = SHELL_COMMANDS.get(word.lower())
        # `info on Rome` is a question, `info` is not.
        if command is None or (argument and not command.takes):
            self.ask(line)
            return
        argument = _unquoted(argument.strip())
        if command.takes and not argument:
            raise UsageError(f"What? Write: {word} {command.takes}")
        command.run(self, argument)

    def ask(self, question: str, *, reading: int | None = None) -> None:
        """Answer a question, or another `reading` of it."""
        with explained_wait(waiting_note(self._model), quiet=self._quiet):
            if reading is None:
                method, model, settings = self._method, self._model, self._settings
                answer = self.clew.ask(
                    question, method=method, model=model, settings=settings, previous=self._previous
                )
            else:
                answer = self.clew.ask(question, reading=reading)
        self._last, self._question, self._previous = answer, question, answer
        print_full_answer(answer, choosing="reading N answers that")

    def read_otherwise(self, number: str) -> None:
        """Answer another reading of the last question, by its number."""
        if not self._question:
            raise UsageError("No question was asked yet")
        if not number.isdecimal() or int(number[:9]) == 0:
            raise UsageError(f'"{number[:40]}" is no number of a reading. Write: reading 1')
        self.ask(self._question, reading=int(number[:9]))

    def verify(self, claim: str) -> None:
        """Check a claim."""
        result = self.clew.verify(claim)
        self._last = result
        print_verdict(result)

    def neighbours(self, entity: str) -> None:
        """Show what is around an entity."""
        _print_neighbours(self.clew.neighbours(entity, limit=12))

    def search(self, text: str) -> None:
        """List the entities that a text may mean."""
        hits = self.clew.find_entities(text, limit=20)
        if not hits:
            warn(f'no entity is called like "{text}"')
        for hit in hits:
            notes = [*hit.types, counted(hit.triples, "triple")]
            notes += [hit.entity] if hit.entity != hit.label else []
            put(out(), Text(escape(hit.label)).append(f"   {', '.join(map(escape, notes))}", "dim"))

    def info(self, _: str) -> None:
        """Show what the graph holds."""
        print_info(self.clew.info())

    def query(self, text: str) -> None:
        """Run a query of Cypher or SPARQL that only reads."""
        rows = self.clew.query(text, seconds=10.0, rows=1_000)
        if rows.rows:
            print_rows(rows)
        else:
            warn("no rows")
        if not rows.complete:
            warn(f"only the first {len(rows.rows):,} rows")

    def explain(self, _: str) -> None:
        """Show the steps to the last answer or verdict."""
        if self._last is None:
            raise UsageError("Nothing was asked yet")
        print_steps(out(), self._last.steps)

    def help(self, _: str) -> None:
        """List the commands."""
        console = out()
        put(console, "A line is a question, unless it begins with one of these:")
        width = max(len(f"{name} {command.takes}") for name, command in SHELL_COMMANDS.items())
        for name, command in SHELL_COMMANDS.items():
            if name != _LEAVE_TOO:
                put(console, f"  {f'{name} {command.takes}':<{width}}  {command.help}")

    def leave(self, _: str) -> None:
        """End the session."""
        self.ended = True


_LEAVE_TOO = "quit"
SHELL_COMMANDS = {
    "ask": Command(Session.ask, "QUESTION", "a question, also one that begins with one of these words"),
    "verify": Command(Session.verify, "CLAIM", "whether the graph supports or refutes it"),
    "neighbours": Command(Session.neighbours, "ENTITY", "what the graph says of it"),
    "search": Command(Session.search, "TEXT", "entities that are called like it"),
    "query": Command(Session.query, "QUERY", "rows of a reading query of Cypher or SPARQL"),
    "reading": Command(Session.read_otherwise, "N", "answer another reading of the last question"),
    "explain": Command(Session.explain, "", "the steps to the last answer or verdict"),
    "info": Command(Session.info, "", "what the graph holds"),
    "help": Command(Session.help, "", "this list"),
    "exit": Command(Session.leave, "", "leave, as Ctrl-D does"),
    _LEAVE_TOO: Command(Session.leave, "", "leave"),
}


def _print_neighbours(neighbourhood: Neighbourhood) -> None:
    """Print an entity with what is at each of its relations, the small ones first."""
    console = out()
    notes = ", ".join(map(escape, [*neighbourhood.types, counted(neighbourhood.triples, "triple")]))
    put(console, Text(escape(neighbourhood.label), "bold").append(f"   {notes}", "not bold dim"))
    if neighbourhood.aliases:
        put(console, f"  also: {', '.join(map(escape, neighbourhood.aliases))}", "dim")
    for group in neighbourhood.groups:
        label, omitted = escape(group.label), group.count - len(group.nodes)
        line = Text(f"  ─{label}→ " if group.direction == "out" else f"  ←{label}─ ", "cyan")
        line.append(NAME_SEPARATOR.join(escape(label) for _, label in group.nodes), "default")
        put(console, line.append(f" … and {omitted:,} more", "dim") if omitted else line)
    if neighbourhood.groups_left:
        put(console, f"  … and {counted(neighbourhood.groups_left, 'more relation')}", "dim")


def _unquoted(text: str) -> str:
    """The text without the quotes around all of it, which a shell would take away."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]
    return text[1:-1].strip() if is_quoted else text


class NameCompleter(Completer):
    """Completes the first word to a command, and the last words to a name of the graph."""

    def __init__(self, clew: Clew) -> None:
        self._clew = clew

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The commands and names that what stands before the cursor begins, the best first."""
        del complete_event
        before = document.text_before_cursor.lstrip()
        if before and " " not in before:
            for name in SHELL_COMMANDS:
                if name.startswith(before.lower()):
                    yield Completion(name, -len(before))
        yield from islice(self._names(before), 30)

    def _names(self, before: str) -> Iterable[Completion]:
        """Names that begin with, or have a word that begins with, as many of the last words as may be."""
        words = before.split(" ")
        for count in range(min(len(words), 8), 0, -1):
            typed = " ".join(words[-count:]).lstrip("\"'")
            if not typed.strip():
                continue
            hits = self._clew.find_entities(typed, limit=30, typos=False)
            types = {hit.label: ", ".join(hit.types) for hit in hits}
            for label, type_names in types.items():
                if escape(label) == label:
                    yield Completion(label, -len(typed), display_meta=escape(type_names))
            if types:
                return


def prompt_of(clew: Clew) -> PromptSession[str]:
    """What reads the lines that a person types: Tab completes names, and what was typed is kept."""
    return PromptSession(
        history=_history(),
        completer=NameCompleter(clew),
        complete_while_typing=False,
        complete_in_thread=True,
        enable_history_search=True,
    )


def _history() -> History:
    """What was typed before, in a file that only its user reads; for this session where none can be kept."""
    folder = users_data()
    try:
        if folder is None:
            return InMemoryHistory()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "shell_history"
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        warn(f"what you type is not kept: {error.filename}: {error.strerror}")
        return InMemoryHistory()
    return FileHistory(str(path))
