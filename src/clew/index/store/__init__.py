"""The index directory: generations, checksums, lock, and named arrays.

`delta` and `compact` hold what updates changed since the arrays were written.
"""
