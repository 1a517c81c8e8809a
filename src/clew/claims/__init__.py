"""Claims checked without a model: claim → parts → verdict. `verify.py` holds the built-in verifier.

`claim_text` and `claim_values` read the claim, `claim_items` finds what it names, `claim_edges` how these
things may be related, `claim_parts` joins them into the cheapest tree, `claim_compare` compares two entities,
and `check_claim` gives each part its verdict.
"""
