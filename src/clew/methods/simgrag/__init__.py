"""SimGRAG: a model writes a pattern and reads the nearest subgraphs; `verify` for claims."""
