"""The compiled parts of the search for matches; `search` is the entry from Python."""
