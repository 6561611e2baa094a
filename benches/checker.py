#!/usr/bin/env python3
"""Decodes and checks outputs with the official package and with `examples/checker_speed`, alternating, on one core each.

    benches/checker.py --dataset DIR --outputs FILE [--runs 5] [--seconds 3] [--program PATH]

DIR has BFCL question files and `possible_answer`; FILE has a line {"id", "raw"} for each output. Both sides read their
files first and are timed without that; each output is decoded and checked as the official runner does, the package with
its own functions (`default_decode_ast_prompting`, `ast_checker`). Prints outputs per second of each run, and the ratio.

Needs the package bfcl-eval, as `scripts/check_official.sh` installs it: run this with that environment's Python.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import types
import warnings
from pathlib import Path

MODEL = "model"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--outputs", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--program", default="target/release/examples/checker_speed")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = read(args.dataset, args.outputs)
    ratios = []
    for _ in range(args.runs):
        theirs, valid = official(cases, args.seconds)
        command = [args.program, str(args.dataset), str(args.outputs), str(args.seconds)]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if ours["outputs"] != len(cases) or abs(ours["valid"] - valid) > 1e-9:
            sys.exit(f"the two disagree: {len(cases)} outputs, {valid:.6f} valid; {ours}")
        ratios.append(ours["per_second"] / theirs)
        print(f"official {theirs:>10,.0f}/s   callsieve {ours['per_second']:>12,.0f}/s   {ratios[-1]:.0f} x")
    print(f"{len(cases)} outputs, {valid:.1%} valid; median {statistics.median(ratios):.0f} x")


def read(dataset, outputs):
    def by_id(folder):
        lines = (line for path in sorted(folder.glob("*.json")) for line in path.read_text().splitlines())
        return {entry["id"]: entry for entry in map(json.loads, lines)}

    questions, answers = by_id(dataset), by_id(dataset / "possible_answer")
    rows = map(json.loads, outputs.read_text().splitlines())
    return [(questions[row["id"]]["function"], answers[row["id"]]["ground_truth"], row["id"].rsplit("_", 1)[0],
             row["raw"]) for row in rows if row["id"] in answers and row["id"] in questions]


def official(cases, seconds):
    """Returns outputs per second, and the share that passes."""
    stub = types.ModuleType("bfcl_eval.constants.model_config")
    stub.MODEL_CONFIG_MAPPING = {MODEL: types.SimpleNamespace(underscore_to_dot=False)}
    sys.modules.setdefault(stub.__name__, stub)
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
    from bfcl_eval.model_handler.utils import default_decode_ast_prompting
    from bfcl_eval.utils import is_function_calling_format_output

    n = n_valid = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for functions, truth, category, raw in cases:
            try:
                decoded = default_decode_ast_prompting(raw)
            except Exception:  # the official runner counts every exception as a failure
                continue
            if is_function_calling_format_output(decoded):
                n_valid += ast_checker(functions, decoded, truth, Language.PYTHON, category, MODEL)["valid"]
        n += len(cases)
    return n / (time.perf_counter() - start), n_valid / n


if __name__ == "__main__":
    main()
