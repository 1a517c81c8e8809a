"""Readers → `Graph`: interning, duplicates, adjacency, values and side files, with a report that counts."""
