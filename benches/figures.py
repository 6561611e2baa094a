#!/usr/bin/env python3
"""Measures the figures that README quotes, and checks that README, its picture and speed.json quote the last measurement.

    cargo build --release
    benches/figures.py recipe --input LOG... [--set STAGE.KEY=VALUE] --peer 'COMMAND'
    benches/figures.py pairs docs.jsonl
    benches/figures.py audit --train SET... --bench BENCHMARK...
    benches/figures.py check

A measurement prints the machine, the commit and the medians, and stores them in benches/measured.json. `recipe` runs the
whole recipe in turns with a peer that does the same work; `pairs` finds the near-duplicates of a file of gen_docs.py;
`audit` compares sets with benchmarks. `check` fails where a page says something else than benches/measured.json;
`tests/it/picture.rs` makes the same check. Standard library only.
"""
import argparse
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile

from whole_run import BINARY, in_turns, recipe

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ROOT / "benches/measured.json"
PICTURES = [ROOT / f"docs/img/overview-{name}.svg" for name in ("light", "dark")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_log = commands.add_parser("recipe", help="the whole recipe and a peer")
    of_log.add_argument("--input", nargs="+", required=True, metavar="FILE")
    of_log.add_argument("--set", action="append", default=[], metavar="STAGE.KEY=VALUE", help="a setting of our run")
    of_log.add_argument("--peer", required=True, help="a command that does the same work")
    pairs = commands.add_parser("pairs", help="all near-duplicate pairs of a file")
    pairs.add_argument("file", help='docs of gen_docs.py: {"id": row, "doc": text} a line')
    audit = commands.add_parser("audit", help="an audit of training sets")
    audit.add_argument("--train", nargs="+", required=True, metavar="SET")
    audit.add_argument("--bench", nargs="+", required=True, metavar="BENCHMARK")
    for command in (of_log, pairs, audit):
        command.add_argument("--runs", type=int, default=5)
    commands.add_parser("check", help="compare the pages with the last measurement")
    args = parser.parse_args()
    if args.command == "check":
        faults = list(differences(read(MEASURED)))
        sys.exit("\n".join(faults) if faults else None)
    with tempfile.TemporaryDirectory() as folder:
        record(args.command, *MEASUREMENTS[args.command](args, folder), args.runs)


def of_recipe(args, folder):
    return {"callsieve": recipe(folder, args.input, args.set), "peer": shlex.split(args.peer)}, args.input


def of_pairs(args, _folder):
    return {"callsieve": [BINARY, "pairs", args.file, "--field", "doc", "--id-field", "id", "-q"]}, [args.file]


def of_audit(args, folder):
    out = os.path.join(folder, "audit")
    ours = [BINARY, "audit", "--train", *args.train, "--bench", *args.bench, "--out", out, "--fresh", "--quiet"]
    return {"callsieve": ours}, args.train


MEASUREMENTS = {"recipe": of_recipe, "pairs": of_pairs, "audit": of_audit}


def record(name, commands, inputs, n_runs):
    """Runs the commands in turns, prints and stores the medians."""
    runs = in_turns(commands, n_runs)
    figures = {
        program: dict(zip(("wall_s", "cpu_s", "peak_mib"), (round(statistics.median(of), 2) for of in zip(*all_runs))))
        for program, all_runs in runs.items()
    }
    if "peer" in runs:
        ratios = sorted(peer[0] / ours[0] for ours, peer in zip(runs["callsieve"], runs["peer"]))
        figures["times_faster"] = round(statistics.median(ratios), 2)
    lines, size = 0, 0
    for path in inputs:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                lines, size = lines + block.count(b"\n"), size + len(block)
    measured = read(MEASURED) if MEASURED.exists() else {}
    measured[name] = machine() | {"lines": lines, "bytes": size, "runs": n_runs} | figures
    MEASURED.write_text(json.dumps(measured, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps({name: measured[name]}, indent=2))
    for fault in differences(measured):
        print(fault, file=sys.stderr)


def machine():
    """Returns the processor, its cores, and the commit of the program, with a mark if files differ from it."""
    cpu = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        cpu = models[0] if models else cpu
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip() or "unknown"
    return {"machine": cpu, "cores": os.cpu_count(), "commit": commit}


def read(path):
    return json.loads(path.read_text("utf-8"))


def differences(measured):
    """Yields what the pages say otherwise."""
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    wanted = []
    if whole := measured.get("recipe"):
        ours, peer = whole["callsieve"], whole["peer"]
        wanted.append(f"{whole['lines']:,} requests ({whole['bytes'] / 1e6:.0f} MB) take {ours['wall_s']:.1f} s "
                      f"and {ours['peak_mib']:.0f} MiB")
        wanted.append(f"takes {peer['wall_s']:.1f} s there")
        yield from of_chart(ours["wall_s"], peer["wall_s"])
    if pairs := measured.get("pairs"):
        wanted.append(f"in {pairs['callsieve']['wall_s']:.1f} s among {pairs['lines']:,} function docs")
    yield from (f"README.md does not say: {text}" for text in wanted if text not in readme)


def of_chart(*values):
    bars = [bar["value"] for bar in read(ROOT / "benches/speed.json")[0]["bars"]]
    values = [f"{value:.2f}" for value in values]
    if bars != values:
        yield f"benches/speed.json has {bars}, measured were {values}"
    for picture in PICTURES:
        drawn = picture.read_text("utf-8")
        yield from (f"{picture.name} does not show {value} s" for value in values if f">{value} s</text>" not in drawn)


if __name__ == "__main__":
    main()
