"""Claims checked without a model: claim → pieces → meanings → verdict. `verify.py` holds the verifier.

`claim_text` reads the claim, `claim_parts` cuts it into pieces, `claim_readings` has the shipped ranker say
what a piece means over the graph, and `verify` gives each its verdict. `quantified` reads claims of a kind,
and `asked` what is left open as the questions that it answers, which `clauses` words.
"""
