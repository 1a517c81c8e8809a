"""Graph databases: guarded read queries over Cypher and SPARQL stores."""
