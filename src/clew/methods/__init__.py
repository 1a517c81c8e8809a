"""Methods that answer questions; `registry` names them.

A paper's method has a folder: `method.py`, its steps, and `prompts/`. `auto` is the default. `baselines/` are
what the papers compare with. `built_in` is what methods without a model ask of a question, `asking` makes
methods once, `options` makes options of settings and checks them, `run` is one question from begin to end.
`topic_entities` says where retrieval begins and which entities a text names. Prompts show a graph by
`schema_view`, what a question names by `names_view`, and facts by `fact_lines`; `relation_ranking` says how
near relations are to words. `neighbourhoods` and
`database_copy` ask a database without an index.
"""
