"""Runs in parts on a Ray cluster.

The tasks are those of ``--part`` and ``callsieve merge``: each is a process that reads a part of the inputs or judges a part of the
rows of a stage, and one joins them. So the results are the same bytes as those of one process, and a task that is lost is done
again. The workers share a file system, on which the inputs and the run folder have the same paths, and have this package.

Ray is not installed with this package: ``pip install "ray[default]"``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from callsieve._errors import Error
from callsieve._progress import ProgressOption, Reporter
from callsieve._runs import Run

__all__ = ["run"]

#: The commands whose work is divided.
_DIVIDED = ("run", "audit", "generate")

#: The exit code of a command that ran to its end, and whose result is not good enough.
_GATE_FAILED = 1

#: The exit code of a command that could not start: it would not the next time either.
_NOT_STARTED = 2


def run(
    command: Sequence[str],
    *,
    parts: int,
    stages: Sequence[str] = (),
    cpus: float = 1,
    merge_cpus: float = 1,
    retries: int = 3,
    progress: ProgressOption = None,
) -> Run:
    """Run a command of callsieve in parts on a Ray cluster, and return the finished run.

    `command` is the command line without the name of the program, such as ``["run", "logs/", "--out", "out/march"]``; it is ``run``,
    ``audit`` or ``generate``, and names the run folder with ``--out``. Relative paths begin in the working folder of this process.

    `parts` is the number of tasks that read the inputs; `stages` are the stages whose rows are judged in as many, in their order in
    the pipeline. A task has `cpus` processors, and as many threads; the one that joins parts has `merge_cpus`. A task that is lost with
    its node, or that stops, is done again up to `retries` times, by another node. The same call goes on where an earlier one
    was stopped: parts that are finished are not done again.

    The cluster is that of ``ray.init()``, which is called unless Ray runs already. `progress` as in `callsieve.run`.

    Raises `callsieve.Error` if a task cannot be done, with what the command printed.
    """
    import ray

    folder = _out_of(command)
    if parts < 1:
        raise ValueError(f"parts: found {parts}, expected at least 1")
    if not ray.is_initialized():
        ray.init()
    reporter = Reporter(progress)
    call = _Tasks(ray, list(command), Path.cwd(), retries, reporter)
    call.parts("ingest", parts, cpus)
    for stage in stages:
        call.merge(folder, merge_cpus, until=stage)
        call.parts(stage, parts, cpus)
    code = call.merge(folder, merge_cpus)
    failed = ["the command ended with exit code 1: see the report of the run"] if code == _GATE_FAILED else []
    return Run(folder, failed_gates=failed, warnings=reporter.warnings)


def _out_of(command: Sequence[str]) -> Path:
    """Return the run folder that a command line names."""
    if not command or command[0] not in _DIVIDED:
        raise ValueError(f"command: found {list(command[:1])}, expected it to begin with one of {', '.join(_DIVIDED)}")
    for at, word in enumerate(command):
        if word == "--out" and at + 1 < len(command):
            return Path(command[at + 1])
        if word.startswith("--out="):
            return Path(word.removeprefix("--out="))
    raise ValueError("command: it names no run folder; expected --out DIR, on the file system that the workers share")


class _Tasks:
    """The tasks of one call."""

    def __init__(self, ray: Any, command: list[str], folder: Path, retries: int, reporter: Reporter) -> None:
        self.ray = ray
        self.command = command
        self.folder = folder
        self.retries = retries
        self.reporter = reporter
        #: Variables by which callsieve finds public sets, caches and keys: workers have those of this process.
        self.variables = {name: value for name, value in os.environ.items() if name.startswith("CALLSIEVE_")}

    def task(self, cpus: float) -> Callable[..., Any]:
        """Return the function that starts a task on the cluster."""
        options: dict[str, Any] = {
            "num_cpus": cpus,
            "max_retries": self.retries,
            "retry_exceptions": [_StoppedError],
            # A node that has lost its disk must not get the same task again and again.
            "scheduling_strategy": "SPREAD",
        }
        return self.ray.remote(_call).options(**options).remote  # type: ignore[no-any-return]

    def parts(self, step: str, parts: int, cpus: float) -> None:
        """Do all parts of the next step."""
        self.reporter("begin", step, 0, parts, "")
        threads = ["--threads", str(max(1, round(cpus)))]
        start = self.task(cpus)
        waiting = [
            start([*self.command, *threads, "--part", f"{number}/{parts}", "--quiet"], self.folder, self.variables)
            for number in range(1, parts + 1)
        ]
        n_done = 0
        while waiting:
            done, waiting = self.ray.wait(waiting, num_returns=1)
            self.results(done)
            n_done += len(done)
            self.reporter("rows", step, n_done, parts, "")
        self.reporter("end", step, parts, parts, f"{parts} parts on {len(self.ray.nodes())} nodes")

    def merge(self, out: Path, cpus: float, until: str | None = None) -> int:
        """Join the parts, and run on. Returns the exit code."""
        step = f"merge, until before {until}" if until else "merge"
        self.reporter("begin", step, None, None, "")
        command = ["merge", str(out), "--threads", str(max(1, round(cpus))), "--quiet"]
        command += ["--until", until] if until else []
        code: int = self.results([self.task(cpus)(command, self.folder, self.variables)])[0]
        self.reporter("end", step, None, None, "done")
        return code

    def results(self, references: list[Any]) -> list[int]:
        """Return what tasks returned, and report their warnings."""
        codes = []
        for reference in references:
            try:
                code, told = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                cause = error.as_instanceof_cause()
                raise _error_of(str(getattr(cause, "told", cause))) from None
            for line in told.splitlines():
                if line.startswith("warning: "):
                    self.reporter("warning", "", None, None, line.removeprefix("warning: "))
            codes.append(code)
        return codes


def _error_of(told: str) -> Error:
    """Return the exception for what a command printed to standard error."""
    told = told[told.find("error: ") :].removeprefix("error: ")
    message, _, hint = told.partition("\nhint: ")
    return Error(message, hint or None)


class _StoppedError(Exception):
    """A command that stopped before its end: another node may do it."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told = told

    def __reduce__(self) -> tuple[type[_StoppedError], tuple[str]]:
        return type(self), (self.told,)


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Run a command line on a worker. Returns its exit code, and what it printed to standard error."""
    process = subprocess.Popen(
        [sys.executable, "-m", "callsieve", *command],
        cwd=folder,
        env={**os.environ, **variables, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        _, told = process.communicate()
    finally:
        # The task was cancelled: its process must not go on.
        process.kill()
    code = process.returncode
    if code in (0, _GATE_FAILED):
        return code, told
    if code == _NOT_STARTED:
        raise ValueError(told.strip())
    raise _StoppedError(told.strip() or f"callsieve ended with exit code {code}")
