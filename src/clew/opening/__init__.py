"""What it takes to open a graph, and the view of an open one; `Clew` and `Database` are made of it.

`environment` says what the environment says: folders, keys, addresses. Only it and `cli/` read that.
`graph_view` makes an index of graph files or triples, changes one by them, finds one by its name, and is
an open one that is looked into, matched and queried.
"""
