"""Readers of triple sources: one file a format, chosen by `registry.choose_reader`."""
