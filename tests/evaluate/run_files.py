"""What the files of a run say."""

import json

from clew.evaluate.run.rundir import RECORDS


def records(folder):
    lines = [json.loads(line) for line in (folder / RECORDS).read_text().splitlines()]
    return {(r["method"], r["id"]): r for r in lines}


def untimed(folder):
    """The records, in order, without what differs from run to run."""
    lines = [json.loads(line) for line in (folder / RECORDS).read_text().splitlines()]
    for line in lines:
        if line["answer"] is not None:
            line["answer"].pop("timings_ms")
    return lines


def metric(folder, name, method="knows"):
    rows = [line.split(",") for line in (folder / "metrics.csv").read_text().splitlines()]
    return next(float(r[3]) for r in rows if r[1:3] == [method, name])
