#!/usr/bin/env python3
"""Kills callsieve with -9 at random moments, runs the same command again, and compares the results byte by byte.

    scripts/kill_test.py --kills 200 [--program target/debug/callsieve] [--input FILE...] [--seed 1]

The kills are distributed over run (2 of 5), purge, forget, sets add and sets remove, each at a random moment within the
duration of the command. After the second call all Parquet files, the dataset and the list of forgotten records must
equal those of an uninterrupted call, and `callsieve verify` must find no fault. A run that finishes before it is killed
is counted separately and repeated. Exit 1 if anything differs. Standard library only.
"""
import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ["--set", "max_fault_share=1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/debug/callsieve"))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--input", nargs="+", default=[str(ROOT / "raw/hosted.jsonl"), str(ROOT / "raw/pairs.csv")])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        test = Test(args, Path(home))
        shares = [("run", 0.4), ("purge", 0.2), ("forget", 0.2), ("sets add", 0.1), ("sets remove", 0.1)]
        for name, share in shares:
            test.trials(name, round(args.kills * share))
    if test.bad:
        print("\n".join(test.bad))
    print(f"{test.killed} kills, {test.missed} too late, {len(test.bad)} results that differ")
    return 1 if test.bad else 0


class Test:
    def __init__(self, args, home):
        self.program, self.inputs, self.home = args.program, args.input, home
        self.random = random.Random(args.seed)
        self.killed, self.missed, self.bad = 0, 0, []
        self.sets = home / "sets"
        self.env = {**os.environ, "CALLSIEVE_SETS": str(home / "none"), "NO_COLOR": "1"}
        self.whole = home / "whole"
        self.call(self.run_in(self.whole))
        self.record = "r0000"
        self.files = []
        for n in range(6):
            path = home / f"bells-{n}.jsonl"
            line = '{"id": "%d", "messages": [{"role": "user", "content": "Ring bell %d"}], "tools": [{"name": "ring"}]}\n'
            path.write_text("".join(line % (i, i) for i in range(2000 * (n + 1))))
            self.files.append(str(path))

    def run_in(self, out):
        return ["run", "--quiet", *SETTINGS, "--input", *self.inputs, "--out", str(out)]

    def call(self, arguments, codes=(0,)):
        done = subprocess.run([self.program, *arguments], env=self.env, capture_output=True, text=True)
        if done.returncode not in codes:
            sys.exit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def commands(self, name, folder):
        """Returns each command, its starting state, and the allowed exit codes of its second call."""
        if name == "run":
            return self.run_in(folder), None, (0,)
        if name == "purge":
            return ["purge", str(folder), "--raw"], self.whole, (0,)
        if name == "forget":
            return ["forget", str(folder), "--id", self.record], self.whole, (0,)
        own = ["--format", "chat", "--licence", "MIT"]
        add = ["sets", "add", "bells", *self.files, *own, "--dir", str(folder)]
        # A complete set is already known; a removed one is not.
        return (add, None, (0, 2)) if name == "sets add" else (["sets", "remove", "bells", "--dir", str(folder)], add, (0, 2))

    def begin(self, name, folder):
        shutil.rmtree(folder, ignore_errors=True)
        command, start, codes = self.commands(name, folder)
        if isinstance(start, Path):
            shutil.copytree(start, folder)
        elif start:
            self.call(start)
            (folder / "bells" / "mine.txt").write_text("not of the set")
        return command, codes

    def trials(self, name, kills):
        folder = self.home / "trial"
        command, _ = self.begin(name, folder)
        began = time.monotonic()
        self.call(command)
        seconds = time.monotonic() - began
        expected = contents(folder)
        hit = 0
        while hit < kills:
            # Every third run continues where the last one was killed.
            if name != "run" or hit % 3 == 0 or not folder.exists():
                command, codes = self.begin(name, folder)
            process = subprocess.Popen([self.program, *command], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(self.random.uniform(0, seconds))
                self.missed += 1
                continue
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            hit += 1
            if name == "run" and hit % 3 != 0:
                continue
            self.call(command, codes)
            found = contents(folder)
            if found != expected:
                names = [n for n in sorted(found.keys() | expected.keys()) if found.get(n) != expected.get(n)]
                self.bad.append(f"{name}, kill {hit}: {', '.join(names)}")
            if not name.startswith("sets"):
                verified = subprocess.run([self.program, "verify", str(folder)], capture_output=True, text=True)
                if verified.returncode != 0 or verified.stdout:
                    self.bad.append(f"{name}, kill {hit}: {verified.stdout}{verified.stderr}")
        self.killed += hit
        print(f"{name}: {hit} kills within {seconds:.2f} s", flush=True)


def contents(folder):
    """Returns hashes of the files that must be equal for equal calls; manifests and reports hold clock times."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        is_set = "bells" in name
        if path.is_file() and (is_set or path.suffix == ".parquet" or name.startswith("dataset") or name == "forgotten.json"):
            files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        elif path.is_file() and ".partial" in name:
            files[name] = "left over"
    return files


if __name__ == "__main__":
    sys.exit(main())
