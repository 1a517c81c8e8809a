"""Readers of data sets in their published formats, one file each; `registry.py` lists them."""
