"""Texts of the user's own, which `vector-rag` reads instead of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.errors import InputError

TEXT_SUFFIXES = frozenset((".txt", ".md", ".rst", ".text"))


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the user's own, and what it is called."""

    name: str
    text: str


def read_documents(paths: Sequence[Path]) -> tuple[Document, ...]:
    """Read text files; of a folder all that have names of text, in order. InputError for what is no text."""
    documents = tuple(_document(file) for path in paths for file in _files(path))
    if not any(document.text.strip() for document in documents):
        raise InputError(f"{paths[0]}: there is no text in the documents. Give others")
    return documents


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
