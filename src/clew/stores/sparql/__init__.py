"""SPARQL: the guard of queries, RDF stores in process and behind HTTP, reading a whole graph."""
