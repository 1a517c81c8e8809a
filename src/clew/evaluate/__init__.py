"""Evaluation: data sets in their published formats, metrics, judges, a resumable runner, reports."""
