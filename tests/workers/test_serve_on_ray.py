"""`clew serve --ray` and one limit for all, on a simulated cluster of two nodes."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'clew[ray-serve]'")
pytest.importorskip("grpc_reflection", reason="Ray Serve is not installed: pip install 'clew[ray-serve]'")

import ray
from ray.cluster_utils import Cluster

from clew.llm.budget import Charge, Limits
from clew.llm.ray_shared import RayLedger
from clew.llm.types import BudgetReached
from clew.opening.graph_view import index_sources
from workers.work import spend

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"


HERE = Path(__file__).parents[1]
PATIENT = {
    "RAY_worker_niceness": "0",
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "120",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "120",
    "PYTHONPATH": os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", ""))),
}
"""Of the nodes: a machine that does much else starts processes slowly."""


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATIENT.items():
            patch.setenv(name, value)
        yield from nodes()


def nodes():
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()


@pytest.fixture
def connected(cluster):
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def test_limits_hold_over_all_nodes(connected):
    ledger = RayLedger.start("run", Limits(calls=25), "calls")
    task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(spend)
    assert sum(ray.get([task.remote(ledger, 20) for _ in range(4)])) == 25
    with pytest.raises(BudgetReached, match="budget of calls for this run is reached: 26 needed"):
        ledger.reserve(Charge(1))
    assert RayLedger.start("run", Limits(calls=99), "calls").limits.calls == 25
    ledger.close()


def test_money_is_settled_by_what_calls_took(connected):
    ledger = RayLedger.start("run", Limits(money=2.0), "money")
    assert spend(ledger, 20) == 7  # the eighth could cost 0.5 beside 1.75
    ledger.close()


def test_a_ledger_that_is_gone_lets_nothing_through(connected):
    from clew.errors import LlmError

    ledger = RayLedger.start("run", Limits(calls=10_000), "gone")
    ledger.close()
    time.sleep(5)  # Ray ends an actor a moment after it is told to
    with pytest.raises(LlmError, match="nothing is sent"):
        ledger.reserve(Charge(1))


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start(cluster, source, port):
    arguments = ["serve", f"films={source}", "--ray", cluster.address, "--workers", "2", "--port", str(port)]
    return subprocess.Popen([sys.executable, "-m", "clew", *arguments], stderr=subprocess.PIPE, text=True)


def get(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    address = f"http://127.0.0.1:{port}{path}"
    sent = urllib.request.Request(address, data, {"content-type": "application/json"})
    with urllib.request.urlopen(sent, timeout=60) as reply:  # noqa: S310
        return reply.read().decode()


def test_replicas_take_up_a_new_generation_without_a_failed_request(cluster, port, tmp_path):
    index = tmp_path / "films.clew"
    index_sources([FILMS], index)
    running = start(cluster, index, port)
    try:
        said = []
        for line in running.stderr:
            said.append(line)
            if "serving films" in line:
                break
        assert f"http://127.0.0.1:{port}, 2 replicas" in said[-1], said
        while "ok" not in get(port, "/healthz"):
            time.sleep(0.1)
        failures, texts, ended = [], set(), threading.Event()

        def ask():
            while not ended.is_set():
                try:
                    told = json.loads(get(port, "/v1/films/ask", {"question": "Who directed Memento?"}))
                    texts.add(told["text"])
                except Exception as error:
                    failures.append(error)

        def generations():
            told = [json.loads(get(port, "/v1/films/info"))["generation"] for _ in range(8)]
            return set(told)

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            assert generations() == {1}
            index_sources([FILMS], index)
            deadline = time.monotonic() + 120
            while generations() != {2}:
                assert time.monotonic() < deadline
                time.sleep(0.5)
        finally:
            ended.set()
            asking.join()
        assert not failures
        assert texts == {"Christopher Nolan"}
    finally:
        running.send_signal(signal.SIGTERM)
        told = running.communicate(timeout=120)[1]
    assert running.returncode == 0, told
    with pytest.raises(OSError, match=r"refused|404|503"):
        get(port, "/healthz")


def test_a_node_without_the_index_is_named(cluster, port, tmp_path):
    running = start(cluster, tmp_path / "none.clew", port)
    told = running.communicate(timeout=300)[1]
    assert running.returncode != 0
    assert "Clew could not start on node" in told
    assert "none.clew: no such index" in told
    assert os.path.basename(sys.executable) not in told
