"""Texts and words: one normal form, labels, sentences of walks, the lexicon, `embedders`."""
