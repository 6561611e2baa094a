#!/usr/bin/env python3
"""Runs the official multi-turn checker of BFCL on the gold of an instruction set.

    BFCL_VENV/bin/python scripts/check_multi_turn.py out/<run> [--json]
    scripts/check_multi_turn.sh PROGRAM [NUMBER]       makes a run, and checks it

For every entry of dataset/bfcl/BFCL_v4_multi_turn_*.json, which the official loader must read: its ground truth, given as the
output of a model, must pass `multi_turn_checker` and `multi_turn_irrelevance_checker`; what the classes of the package
return must be what `programs.jsonl` has as the results; and a ground truth that lacks the last call of its last turn must not
pass. Prints a table; exit 1 on any failure, 2 if there is nothing to check.

Needs the package bfcl-eval, whose environment `bfcl_environment.sh` makes.
"""

import argparse
import json
import multiprocessing
import re
import sys
from pathlib import Path

from check_official import official

CATEGORIES = ["multi_turn_base", "multi_turn_miss_param"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN_DIR")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    args = parser.parse_args()
    dataset = args.run / "dataset"
    utils = official().utils
    utils.PROMPT_PATH, utils.POSSIBLE_ANSWER_PATH = dataset / "bfcl", dataset / "bfcl" / "possible_answer"
    programs = {int(line["id"][1:]): line for line in lines(dataset / "programs.jsonl")}
    results = [check(utils, programs, category) for category in CATEGORIES
               if (dataset / "bfcl" / f"BFCL_v4_{category}.json").exists()]
    if not results:
        print(f"check_multi_turn: no BFCL_v4_multi_turn_*.json under {dataset}/bfcl", file=sys.stderr)
        return 2
    print(json.dumps(results, indent=2) if args.json else table(results))
    return 1 if any(result["failures"] for result in results) else 0


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def check(utils, programs, category):
    """Checks the entries of a category."""
    entries, truths = utils.load_dataset_entry(category), utils.load_ground_truth_entry(category)
    result = {"category": category, "entries": len(entries), "passed": 0, "same_results": 0, "cut_refused": 0, "failures": []}
    checks = [(category, entry, truth, programs[int(entry["id"].rsplit("_", 1)[1])]) for entry, truth in zip(entries, truths)]
    # A process for each entry: a class of the package keeps a default argument that it has changed.
    with multiprocessing.get_context("fork").Pool(maxtasksperchild=1) as pool:
        for checked in pool.imap(check_entry, checks, chunksize=1):
            for name in ("passed", "same_results", "cut_refused"):
                result[name] += checked[name] is None
                if checked[name] is not None:
                    result["failures"].append({"id": checked["id"], "error": checked[name]})
    return result


def check_entry(check):
    """Returns what is wrong with an entry, by the three checks."""
    category, entry, truth, program = check
    gold = truth["ground_truth"]
    error = None if entry["id"] == truth["id"] else f"its answer has the id {truth['id']}"
    same = different_result(entry, gold, program)
    cut = gold[:-1] + [gold[-1][:-1]]
    passes_cut = verdict(entry, cut, gold, category, "cut") is None
    return {
        "id": entry["id"],
        "same_results": same,
        "passed": error or verdict(entry, gold, gold, category, "gold"),
        "cut_refused": "passes without its last call" if passes_cut else None,
    }


def verdict(entry, output, gold, category, model):
    """Returns why the checkers refuse an output, a step for each of its calls; None if it passes."""
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker as checker
    steps = [[[call] for call in turn] for turn in output]
    found = checker.multi_turn_checker(steps, gold, entry, category, f"{model}_{category}")
    if found["valid"]:
        found = checker.multi_turn_irrelevance_checker(steps, gold)
    return None if found["valid"] else f"{found['error_type']}: {found['error_message']}"


def different_result(entry, gold, program):
    """Returns the first call whose result differs from that of the program."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call
    calls = [call for turn in gold for call in turn]
    found, _ = execute_multi_turn_func_call(calls, entry["initial_config"], entry["involved_classes"], "results", entry["id"])
    for call, text, expected in zip(calls, found, program["calls"], strict=True):
        if not is_same(text, expected["result"]):
            return f"{call} returns {text}, expected {json.dumps(expected['result'])}"
    return None


def is_same(text, expected):
    """The package gives a dictionary as JSON, a text as it is, and anything else as Python's `str`."""
    if isinstance(expected, dict):
        try:
            return json.loads(text) == expected
        except json.JSONDecodeError:
            return re.sub(r"Decimal\(('[^']*')\)", r"\1", text) == str(expected)  # a decimal has no JSON
    return text == (expected if isinstance(expected, str) else str(expected))


def table(results):
    head = f"{'category':24} {'entries':>8} {'passed':>8} {'same results':>13} {'cut refused':>12}\n"
    rows = [f"{r['category']:24} {r['entries']:8} {r['passed']:8} {r['same_results']:13} {r['cut_refused']:12}\n"
            for r in results]
    failures = [f"  {failure['id']}: {failure['error'][:300]}\n" for r in results for failure in r["failures"][:20]]
    return head + "".join(rows) + "".join(failures)


if __name__ == "__main__":
    sys.exit(main())
