"""Random and breadth-first walks.

`walk_tables` are what they are drawn from, `touched` the roots whose walks an edit changes.
"""
