"""The reader of questions by rules: words, mentions, readings compared with the graph, evidence."""
