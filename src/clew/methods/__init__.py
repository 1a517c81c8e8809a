"""Methods that answer questions; `registry` names them.

A paper's method has a folder: `method.py`, its steps, and `prompts/`. `auto` is the default. `baselines/` are
what the papers compare with. `built_in` is what methods without a model ask of a question, `cache` keeps what
is made once, `settings` checks numbers, `topic_entities` is where retrieval begins, `verifiers` names the
methods that check claims.
"""
