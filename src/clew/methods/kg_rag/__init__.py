"""KG-RAG: decompose a question, answer its parts from their nearest triples, join the answers."""
