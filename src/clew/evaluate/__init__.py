"""Evaluation: `datasets/` in their published formats, `metrics/`, `judge/`, `run/`, `report/`.

`questions`, `records`, `rows` and `names` hold the values that these hand on.
"""
