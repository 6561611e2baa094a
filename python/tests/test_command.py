"""The command of the package."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import callsieve

COMMAND = [sys.executable, "-m", "callsieve"]


def test_the_console_script_and_the_module_are_the_same_command() -> None:
    script = Path(sys.executable).with_name("callsieve")
    for command in ([str(script)], COMMAND):
        printed = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
        assert printed == f"callsieve {callsieve.__version__}\n"


def test_exit_codes_and_streams_are_those_of_the_program(log: Path) -> None:
    done = subprocess.run([*COMMAND, "run", str(log)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "requests" in done.stdout and Path("out/garden/report.json").exists()
    wrong = subprocess.run([*COMMAND, "run", "nothing.jsonl"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: ") and wrong.stdout == ""
    assert subprocess.run([*COMMAND, "no-such-command"], capture_output=True).returncode == 2
    empty = Path("empty.jsonl")
    empty.write_text("no request\n" * 3)
    assert subprocess.run([*COMMAND, "inspect", str(empty)], capture_output=True).returncode == 1


def test_the_run_folder_records_the_command_line(log: Path) -> None:
    subprocess.run([*COMMAND, "run", str(log), "--quiet"], check=True, capture_output=True)
    assert f'"{log}"' in Path("out/garden/run.json").read_text()
    assert '"callsieve"' in Path("out/garden/run.json").read_text()


def test_processes_are_supervised_by_the_command() -> None:
    supervise = [*COMMAND, "supervise", "--deadline-ms", "300", "--grace-ms", "10", "--", "sleep", "60"]
    start = time.monotonic()
    # The supervisor ends when its input closes, so it stays open.
    ended = subprocess.Popen(supervise, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert ended.wait(timeout=30) == 124
    assert time.monotonic() - start < 20


def test_ctrl_c_ends_the_command() -> None:
    texts = Path("texts.jsonl")
    texts.write_text("".join(f'{{"text": "{" ".join(str(n * k % 97) for k in range(60))}"}}\n' for n in range(20_000)))
    pairs = [*COMMAND, "pairs", str(texts), "--field", "text", "--threshold", "0.3"]
    command = subprocess.Popen(pairs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1.5)
        assert command.poll() is None, "it is still at work"
        command.send_signal(signal.SIGINT)
        assert command.wait(timeout=30) != 0
    finally:
        command.kill()
