"""Walks with their sentences and vectors, in the index or in Milvus.

`nearest` finds the nodes and walks nearest to a question.
"""
