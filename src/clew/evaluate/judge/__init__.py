"""Judges of answers: models that compare them with the gold, and BERTScore."""
