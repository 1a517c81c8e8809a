"""The graph in memory, and a folder a task.

`graph` holds the columns, `steps` numbers relations that are walked one way, `schema` has what is counted of
relations and the types that triples say, `values` numbers and dates, `neighbourhood` the triples within some
hops.
"""

# How IRIs of the vocabularies that Clew reads begin.
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
POSITION = "position"
"""The property of edges that lead to the members of a list."""
