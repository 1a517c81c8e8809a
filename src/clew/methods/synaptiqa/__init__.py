"""SynaptiQA: a model writes Cypher; its names are checked and mended, it is run, and its rows are read."""
