"""Metrics; `registry.py` lists them, each with definition, source, range and direction."""
