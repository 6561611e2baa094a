#!/usr/bin/env python3
"""Measures whole runs of callsieve, alone or in pairs with a peer, and prints tables for benches/README.md.

    benches/whole_run.py --runs 5 --input LOG... [--set STAGE.KEY=VALUE] [--peer 'COMMAND']
    benches/whole_run.py --stages out/live/report.json...

Runs alternate (ours, peer, ours, peer, …), so that a busy machine affects both. Figures are minimum, median and
maximum of wall seconds, CPU seconds and peak memory of the process. Standard library only.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

BINARY = os.path.join(os.path.dirname(__file__), "..", "target", "release", "callsieve")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], metavar="STAGE.KEY=VALUE", help="a setting of our run")
    parser.add_argument("--peer", help="a command that does the same work")
    parser.add_argument("--stages", nargs="+", metavar="REPORT", help="print seconds and bytes by step instead")
    args = parser.parse_args()
    if args.stages:
        print(stage_table([json.load(open(path, encoding="utf-8")) for path in args.stages]))
        return
    with tempfile.TemporaryDirectory() as folder:
        ours = recipe(folder, args.input, args.set)
        commands = {"callsieve": ours} | ({"peer": shlex.split(args.peer)} if args.peer else {})
        figures = in_turns(commands, args.runs)
    print(run_table(figures))


def recipe(folder, inputs, settings):
    """Returns the command that runs the whole recipe into a folder."""
    command = [BINARY, "run", "--quiet", "--fresh", "--out", os.path.join(folder, "run")]
    command += ["--input", *inputs] if inputs else []
    return command + [part for setting in settings for part in ("--set", setting)]


def in_turns(commands, n_runs):
    """Measures commands in turns, so that a busy machine affects all of them; returns the runs of each."""
    runs = {name: [] for name in commands}
    for _ in range(n_runs):
        for name, command in commands.items():
            runs[name].append(measure(command))
    return runs


def measure(command):
    """Returns wall seconds, CPU seconds and peak MiB of one process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{shlex.join(command)}: exit code {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run_table(figures):
    lines = ["| | wall s (min/median/max) | CPU s | peak MiB |", "|---|---|---|---|"]
    for name, runs in figures.items():
        cells = [f"{min(column):.2f} / {statistics.median(column):.2f} / {max(column):.2f}" for column in zip(*runs)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if "peer" in figures:
        ratios = [peer[0] / ours[0] for ours, peer in zip(figures["callsieve"], figures["peer"])]
        lines.append(f"\npeer / callsieve, wall, by pair: {', '.join(f'{ratio:.1f}' for ratio in ratios)}")
    return "\n".join(lines)


def stage_table(reports):
    heads = [f"{report['ingest']['records']:,} rows: s | bytes" for report in reports]
    lines = ["| step | " + " | ".join(heads) + " |", "|---" * (1 + 2 * len(reports)) + "|"]
    for steps in zip(*(report["timing"] for report in reports)):
        cells = [f"{step['seconds']:.2f} | {step['bytes']:,}" for step in steps]
        lines.append(f"| {steps[0]['step']} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
