"""Methods that answer questions; `registry` names them.

A paper's method has a folder: `method.py`, its steps, and `prompts/`. `auto` is the default. `baselines/` are
what the papers compare with. `base` is their skeleton (link, retrieve, read, ground): `question` links,
prompts show a graph by `schema_view`, names by `names_view`, facts by `evidence`; `ground` keeps of a reply
what facts prove. `built_in` answers without a model, `registry` makes methods once, `settings` says what each
can be told.
"""
