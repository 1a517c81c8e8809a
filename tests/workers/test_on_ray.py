"""Work on a simulated cluster of two nodes of one processor: in order, nothing lost, and clear errors."""

import subprocess
import sys
import threading
import time

import pytest

from clew import workers as of_clew
from clew.errors import ClewError
from clew.workers import MOST_LOST, ClusterError, Processes, RayWorkers, Stopped
from workers.work import Dying, Missing, Squares, nothing

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture
def workers(cluster):
    with RayWorkers(cluster.address, nothing) as opened:
        yield opened


def test_results_come_in_order_from_both_nodes_and_are_those_of_processes(workers):
    made = list(workers.map(Squares(0.2), range(20)))
    assert made == list(Processes(2).map(Squares(), range(20)))
    assert len(workers.work_notes()) == 2


LOCAL = """
from clew.workers import RayWorkers
with RayWorkers("local", print) as opened:
    print(*[node["NodeID"] for node in opened._ray.nodes()])
"""


def test_a_local_cluster_is_its_own_where_another_one_runs(cluster):
    done = subprocess.run([sys.executable, "-c", LOCAL], capture_output=True, text=True, check=True)
    assert len(done.stdout.split()) == 1
    assert not set(done.stdout.split()) & {node.node_id for node in cluster.list_all_nodes()}


def test_a_piece_that_is_lost_with_its_worker_is_done_again(workers, tmp_path):
    assert list(workers.map(Dying(5, 2, tmp_path), range(10))) == list(range(10))


def test_a_piece_that_ends_every_worker_ends_the_work(workers, tmp_path):
    results = workers.map(Dying(2, 99, tmp_path), range(10))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(Stopped, match=f"{MOST_LOST + 1} workers ended at the same piece"):
        next(results)


def test_a_node_that_goes_and_one_that_comes_lose_nothing(workers, cluster):
    node = cluster.add_node(num_cpus=1)
    wait_for(lambda: workers._ray.cluster_resources()["CPU"] == 3)

    def change():
        time.sleep(2)
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=1)

    changing = threading.Thread(target=change)
    changing.start()
    made = list(workers.map(Squares(0.3), range(60)))
    changing.join()
    assert made == [(n, n**2) for n in range(60)]


def test_an_error_names_the_node(workers):
    with pytest.raises(ClewError, match=r"node \S+ \(\w{8}\): films.clew: no such file") as raised:
        list(workers.map(Missing(), range(3)))
    assert raised.value.exit_code == 2


def test_another_version_of_clew_is_refused(workers, monkeypatch):
    monkeypatch.setattr(of_clew, "__version__", "0.0.1")
    with pytest.raises(ClusterError, match=r"Clew is 0\.1\.0 there and 0\.0\.1 here"):
        list(workers.map(Squares(), range(3)))


def test_a_cluster_that_is_not_there():
    with pytest.raises(ClusterError, match=r"127\.0\.0\.1:1: there is no Ray cluster"):
        RayWorkers("127.0.0.1:1", nothing).__enter__()


def wait_for(ready):
    deadline = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.2)
