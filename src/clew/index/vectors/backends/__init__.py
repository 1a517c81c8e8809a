"""Backends that find the vectors nearest to a query."""
