"""Query graphs: what a question, a claim or a model asks of a graph, as one small tree of typed parts.

`tree` holds the parts, `notation` writes and reads them as text, `words` says them in plain English,
`execute` finds their members exactly and `prove` the triples that prove each. `vocabulary` holds the words
of the graph's relations and types, `values` the numbers and dates of a text, `table` members with columns.
"""
