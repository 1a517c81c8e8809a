"""A graph after triples, names, types and aliases changed; ids stay, and arrays grow without being read."""
