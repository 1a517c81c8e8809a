"""Edits of an index: files of changes → a new generation that shares what did not change."""
