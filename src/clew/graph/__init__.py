"""The graph in memory, and a folder a task.

`graph` holds the columns, `schema` what is counted of relations, `values` numbers and dates, `implied_types`
the types that triples say, `neighbourhood` the triples within some hops.
"""
