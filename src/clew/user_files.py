"""Files that a user gives to a method: texts, worked examples, solved questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clew.errors import InputError
from clew.history import History
from clew.methods.baselines.vector_rag import Document
from clew.methods.kg_rag.demonstrations import ADVICE as DECOMPOSITIONS
from clew.methods.kg_rag.demonstrations import Demonstration, demonstrations_from
from clew.methods.simgrag.examples import ADVICE as SHOTS
from clew.methods.simgrag.examples import Shots, shots_from
from clew.methods.synaptiqa.history import Solved

TEXT_SUFFIXES = frozenset((".txt", ".md", ".rst", ".text"))


def read_documents(paths: Sequence[Path]) -> tuple[Document, ...]:
    """Read text files; of a folder all that have names of text, in order. InputError for what is no text."""
    documents = tuple(_document(file) for path in paths for file in _files(path))
    if not any(document.text.strip() for document in documents):
        raise InputError(f"{paths[0]}: there is no text in the documents. Give others")
    return documents


def read_shots(path: Path) -> Shots:
    """Read a user's examples of SimGRAG for one graph; a task that the file leaves out keeps Clew's own.

    Raises InputError: the file cannot be read, or does not hold examples.
    """
    return shots_from(_json(path, SHOTS), str(path))


def read_demonstrations(path: Path) -> tuple[Demonstration, ...]:
    """Read a user's decompositions for KG-RAG; Clew's own, if the file has none. Raises as `read_shots`."""
    return demonstrations_from(_json(path, DECOMPOSITIONS), str(path))


def read_solved(path: Path) -> tuple[Solved, ...]:
    """Read the solved questions of a history, of all sources. Raises InputError, ParseError for a line."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such history. Make one: clew history import")
    return tuple(Solved(entry.question, entry.query) for entry in History(path).entries())


def _json(path: Path, advice: str) -> object:
    try:
        value = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}). {advice}") from error
    return value


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in TEXT_SUFFIXES and file.is_file())


def _document(path: Path) -> Document:
    try:
        return Document(path.name, path.read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}). Give a text file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file in UTF-8 (byte {error.start}). Give another") from error
