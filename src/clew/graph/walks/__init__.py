"""Random and breadth-first walks.

`walk_tables` are what they are drawn from, `changed_roots` those whose walks an edit changes.
"""
