"""Exact pattern matching: `matcher.match` finds the k matches of least distance of a `Pattern`.

`patterns` reads and checks patterns, `distances` says how far names are, `query` holds a pattern's costs and
its candidates as far as they are needed, and `kernels/` the search.
"""
