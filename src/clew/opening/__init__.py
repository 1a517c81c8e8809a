"""What it takes to open a graph, and the view of an open one; `Clew` and `Database` are made of it.

`environment` says what the environment says: folders, keys, addresses. Only it and `cli/` read that.
`index_files` makes an index of graph files or triples, changes one by them, and finds one by its name.
`graph_view` is an open index that is looked into, matched and queried.
"""
