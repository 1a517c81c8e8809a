"""A simulated Ray cluster of two nodes of one processor each."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PATIENT = {
    "RAY_worker_niceness": "0",
    "PYTHONPATH": os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", ""))),
}
"""Of the nodes: a machine that does much else starts processes slowly."""


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'clew[ray]'")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATIENT.items():
            patch.setenv(name, value)
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        made.add_node(num_cpus=1)
        yield made
        made.shutdown()
