"""Embedders, one file each; `registry.embedder(spec)` makes them."""
