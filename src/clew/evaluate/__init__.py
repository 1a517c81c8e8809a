"""Evaluation: `datasets/` in their published formats, `metrics`, `judge`, `run/`, `report/`.

    data set ─read▶ DatasetPart ─plan▶ tasks ─ask▶ Record ─judge▶ judgements ─score▶ rows ─▶ figures, tables
    datasets/    run/plans.py  run/asking.py     judge.py             report/summary.py

`run/runner.py` walks this road, `run/rundir.py` owns the directory of a run; `records` holds the values that
are handed on. Tasks come back in their order from processes or threads, so
that a run writes the same file each time. A method may name walks to be asked over (`corpus`): each part
then has one more index for each corpus. Scores are never stored: they are computed from the records, and a
row keeps of a record only what figures need, so that a run of any length fits into memory. Charts are data
(`report/views.py`), drawn as SVG with the extra `report`, and written as CSV.
"""
