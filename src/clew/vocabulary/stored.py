"""The vocabulary that an index keeps."""

from __future__ import annotations

from clew.index.store.directory import Index
from clew.vocabulary.file import TeamVocabulary, read_vocabulary

VOCABULARY = "vocabulary"
"""The section that holds the file."""


def team_vocabulary(index: Index) -> TeamVocabulary:
    """Read the vocabulary of an index; an empty one if none is set."""
    if VOCABULARY not in index.sections:
        return TeamVocabulary()
    return read_vocabulary(index.data(VOCABULARY).decode("utf-8"), str(index.path))
