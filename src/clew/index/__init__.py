"""The index: a graph with its names, vectors and walks in a directory, opened, searched and updated.

`build` makes one (with `shards` for large graphs), `cache` makes one for plain files that are asked directly;
`info` says what it holds, `explore` looks around in its graph. `store/`, `names/`,
`vectors/`, `corpus/` and `update/` are its parts.
"""
