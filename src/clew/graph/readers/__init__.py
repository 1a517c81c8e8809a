"""Readers of graph files, one file a format; `sources.Sources` chooses and reads those of some sources."""
