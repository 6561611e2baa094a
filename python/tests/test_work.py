"""Long calls: signals, forks, panics, threads of Python."""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import callsieve
from callsieve import _native


def many_texts(n: int) -> list[str]:
    """Return texts of which a join takes long: they have many words in common."""
    chosen = random.Random(1)
    words = [f"w{number}" for number in range(60)]
    return [" ".join(chosen.choices(words, k=60)) for _ in range(n)]


def test_ctrl_c_stops_a_long_call() -> None:
    texts = many_texts(60_000)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        callsieve.rouge_l_pairs(texts, threshold=0.3)
    assert time.monotonic() - start < 30
    # The next call is not disturbed.
    assert callsieve.rouge_l_pairs(["a b", "a b"]).num_rows == 1


def test_other_threads_of_python_work_during_a_call() -> None:
    texts = many_texts(700)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    callsieve.rouge_l_pairs(texts, threshold=0.5)
    seconds = time.monotonic() - start
    done.set()
    thread.join()
    assert seconds > 0.2, "the call is too short to show anything"
    assert ticks > seconds * 10


def test_a_panic_is_an_exception() -> None:
    # Four bytes are no vector of three numbers.
    with pytest.raises(callsieve.InternalError, match="internal error in callsieve") as raised:
        _native.cosine_pairs((3, bytes(4)), None, threshold=0.5)
    assert raised.value.hint is not None and "report" in raised.value.hint
    # The next call is not disturbed.
    assert callsieve.cosine_pairs([[1.0], [1.0]]).num_rows == 1


def test_an_error_survives_pickling() -> None:
    error = callsieve.Error("what", "how", "file", 3)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.message, copy.hint, copy.file, copy.line) == ("what", "how", "file", 3)
    assert str(copy) == "what\nhint: how"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_raises_instead_of_waiting_without_end() -> None:
    assert callsieve.rouge_l_pairs(["a b", "a b"]).num_rows == 1
    child = os.fork()
    if child == 0:
        try:
            callsieve.rouge_l_pairs(["a b", "a b"])
            os._exit(1)
        except callsieve.Error as error:
            os._exit(0 if "use spawn" in (error.hint or "") else 2)
        except BaseException:
            os._exit(3)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the forked process hangs")
    assert os.waitstatus_to_exitcode(status) == 0


MAPPED = """
import sys
import datasets
import callsieve

def fixed(row):
    [outcome] = callsieve.fix([row])
    return {"name": outcome["function"][0]["name"]}

if sys.argv[1] == "before":
    callsieve.fix({"name": "first", "parameters": {}})
rows = [{"id": str(n), "function": '{"name": "water", "parameters": {}}'} for n in range(4)]
print(datasets.Dataset.from_list(rows).map(fixed, num_proc=2)["name"][:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere `map` does not fork")
def test_map_of_datasets_works_in_forked_processes_and_fails_at_once_after_a_use_before(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    script = tmp_path / "mapped.py"
    script.write_text(MAPPED)
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}

    def mapped(when: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), when], capture_output=True, text=True, timeout=120, env=environment
        )

    worked = mapped("never")
    assert worked.returncode == 0, worked.stderr
    assert worked.stdout.strip() == "['water', 'water', 'water', 'water']"
    refused = mapped("before")
    assert refused.returncode != 0 and "use spawn" in refused.stderr
