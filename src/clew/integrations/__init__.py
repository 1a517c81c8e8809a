"""Clew inside LangChain, LlamaIndex and Haystack: one module each, imported only by who uses that library."""
