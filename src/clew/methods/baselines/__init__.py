"""Methods that the papers compare with.

`evidence` is what those share that retrieve triples and ask a model once.
"""
