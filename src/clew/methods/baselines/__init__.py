"""Methods that the papers compare with.

`evidence` is what those share that retrieve triples and ask a model once: `around_entities` and
`vector_rag`. `llm` has those that ask a model alone.
"""
