"""Reading Cypher: parse, guard, and repair; needs no database."""
