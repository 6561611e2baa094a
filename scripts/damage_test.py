#!/usr/bin/env python3
"""Damages files of a finished run, runs it again, and compares the dataset with that of the undamaged run.

    scripts/damage_test.py --damages 500 [--program target/debug/callsieve] [--input FILE...] [--seed 1]

Each time one file below ingest/ or stages/ gets one flipped bit, eight flipped bits, another length or no content, or is
removed. Then `verify` must name it (exit 1), `report` and `why` must refuse it without a panic (exit 2), and the same
`run` command, without --fresh, must succeed, name the damage, and write the bytes of the undamaged run. Damage that none
of the three detects must not change the bytes either. Exit 1 if anything else happens. Standard library only.
"""
import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from kill_test import ROOT, SETTINGS, contents

KINDS = ["bit", "eight bits", "cut", "emptied", "deleted"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/debug/callsieve"))
    parser.add_argument("--damages", type=int, default=500)
    parser.add_argument("--input", nargs="+", default=[str(ROOT / "raw/hosted.jsonl"), str(ROOT / "raw/pairs.csv")])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    bad, counts = [], Counter()
    with tempfile.TemporaryDirectory() as home:
        whole, trial = Path(home) / "whole", Path(home) / "trial"
        run = ["run", "--quiet", *SETTINGS, "--input", *args.input, "--out"]

        def call(*arguments):
            done = subprocess.run([args.program, *arguments], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        code, text = call(*run, str(whole))
        if code != 0:
            sys.exit(text)
        expected = contents(whole)
        files = [path for below in ["ingest", "stages"] for path in sorted((whole / below).rglob("*")) if path.is_file()]
        for nth in range(args.damages):
            shutil.rmtree(trial, ignore_errors=True)
            shutil.copytree(whole, trial)
            name, kind = chance.choice(files).relative_to(whole), KINDS[nth % len(KINDS)]
            damage(trial / name, kind, chance)
            case = f"{nth}: {name}, {kind}"
            code, text = call("verify", str(trial))
            counts[f"verify: exit {code}"] += 1
            if code != 1 or str(name) not in text:
                bad.append(f"{case}: verify: exit {code}\n{text}")
            for command in [["report", str(trial)], ["why", str(trial), "r0000"]]:
                code, text = call(*command)
                counts[f"{command[0]}: exit {code}"] += 1
                if code != 2 or "hint: " not in text:
                    bad.append(f"{case}: {command[0]}: exit {code}\n{text}")
            code, text = call(*run, str(trial))
            counts[f"run: exit {code}"] += 1
            is_named = f"{name} is damaged (" in text
            counts["named" if is_named else "not named"] += 1
            if code != 0 or not is_named or contents(trial) != expected:
                bad.append(f"{case}: run: exit {code}\n{text}")
            code, text = call("verify", str(trial))
            counts[f"verify after: exit {code}"] += 1
            if code != 0:
                bad.append(f"{case}: verify after the run: exit {code}\n{text}")
            if nth % 100 == 99:
                print(f"{nth + 1} damages, {len(bad)} failures", flush=True)
    print("\n".join(bad))
    print(f"{args.damages} damages: " + ", ".join(f"{what} {n}" for what, n in sorted(counts.items())))
    print(f"{len(bad)} failures")
    return 1 if bad else 0


def damage(path, kind, chance):
    data = bytearray(path.read_bytes())
    if kind == "deleted":
        return path.unlink()
    if kind == "emptied":
        data.clear()
    elif kind == "cut":
        del data[chance.randrange(len(data)):]
    else:
        for _ in range(1 if kind == "bit" else 8):
            bit = chance.randrange(len(data) * 8)
            data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
