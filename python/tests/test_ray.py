"""Runs in parts on a Ray cluster of three nodes on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray import cluster_utils

import callsieve
import callsieve.ray


#: Two workers, and the node of the driver.
N_WORKERS = 2


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Start a cluster of three nodes."""
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    cluster.workers = [cluster.add_node(num_cpus=1) for _ in range(N_WORKERS)]
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def long_log(tmp_path: Path, records: list[dict[str, Any]]) -> Path:
    """Return a log of many rows in one file."""
    path = tmp_path / "long.jsonl"
    with path.open("w") as file:
        for number in range(4000):
            record = {**records[number % 3], "id": f"n{number}"}
            record["messages"] = [{"role": "user", "content": f"Water bay {number} of house {number % 97}, please."}]
            file.write(json.dumps(record) + "\n")
    return path


def stable_bytes(run: Path) -> dict[str, bytes]:
    """Return the files of a run that have no times."""
    files = [path for path in run.rglob("*") if path.is_file()]
    stable = [path for path in files if path.suffix == ".parquet" or "dataset" in path.parts]
    assert len(stable) > 10
    return {str(path.relative_to(run)): path.read_bytes() for path in stable}


def test_a_cluster_gives_the_bytes_of_one_process(cluster: Any, long_log: Path) -> None:
    callsieve.run(long_log, out="out/one", progress=False)
    events: list[callsieve.Progress] = []
    command = ["run", str(long_log), "--out", "out/ray"]
    run = callsieve.ray.run(command, parts=5, stages=["judge-queries"], progress=events.append)
    assert stable_bytes(Path("out/one")) == stable_bytes(run.folder)
    assert run.failed_gates == []
    ends = [event.text for event in events if event.kind == "end"]
    assert ends == ["5 parts on 3 nodes", "done", "5 parts on 3 nodes", "done"]


def test_a_node_that_is_killed_in_the_middle_changes_no_byte(cluster: Any, long_log: Path) -> None:
    callsieve.run(long_log, out="out/one", progress=False)
    killed = threading.Event()

    def kill() -> None:
        # As soon as a part is being written.
        while not list(Path("out/ray/parts/ingest").glob("*")):
            time.sleep(0.01)
        cluster.remove_node(cluster.workers[0], allow_graceful=False)
        killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    run = callsieve.ray.run(["run", str(long_log), "--out", "out/ray"], parts=12, progress=False)
    killer.join()
    assert killed.is_set()
    # The head learns of it a little later.
    patience = time.monotonic() + 60
    while sum(node["Alive"] for node in ray.nodes()) != N_WORKERS:
        assert time.monotonic() < patience
        time.sleep(0.1)
    assert stable_bytes(Path("out/one")) == stable_bytes(run.folder)


def test_a_driver_that_is_killed_in_the_middle_is_called_again(cluster: Any, long_log: Path) -> None:
    callsieve.run(long_log, out="out/one", progress=False)
    command = ["run", str(long_log), "--out", "out/ray"]
    script = f"import ray, callsieve.ray; ray.init(address={cluster.address!r}); callsieve.ray.run({command!r}, parts=12)"
    driver = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # As soon as a part is whole.
    while not list(Path("out/ray/parts/ingest").glob("*-of-12")):
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    events: list[callsieve.Progress] = []
    run = callsieve.ray.run(command, parts=12, progress=events.append)
    assert stable_bytes(Path("out/one")) == stable_bytes(run.folder)


def test_what_a_task_cannot_do_is_an_error_with_its_message(cluster: Any, long_log: Path) -> None:
    with pytest.raises(callsieve.Error, match="gone.jsonl"):
        callsieve.ray.run(["run", "gone.jsonl", "--out", "out/ray"], parts=2, progress=False)
    with pytest.raises(callsieve.Error, match="the pipeline has no stage nothing"):
        command = ["run", str(long_log), "--out", "out/ray"]
        callsieve.ray.run(command, parts=2, stages=["nothing"], progress=False)


def test_a_command_that_cannot_be_divided_is_refused() -> None:
    with pytest.raises(ValueError, match="expected it to begin with one of run, audit, generate"):
        callsieve.ray.run(["fix", "docs.json"], parts=2)
    with pytest.raises(ValueError, match="it names no run folder"):
        callsieve.ray.run(["run", "log.jsonl"], parts=2)
    with pytest.raises(ValueError, match="found 0, expected at least 1"):
        callsieve.ray.run(["run", "log.jsonl", "--out", "x"], parts=0)
