"""The index: a graph with its names, vectors and walks in a directory, opened, searched and updated.

`build` makes one (with `shards` for large graphs), `cache` keeps those of plain files asked directly;
`info` says what it holds, `explore` looks around in its graph. `names`, `corpus`, `store/`, `vectors/`
and `update/` are its parts.
"""
