"""Random and breadth-first walks.

`walks` has what they are drawn from and makes them, `changed_roots` finds those that an edit changes.
"""
