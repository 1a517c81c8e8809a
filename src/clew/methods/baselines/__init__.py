"""Methods that the papers compare with: those that retrieve (`retrieval`) and the model alone (`llm`)."""
