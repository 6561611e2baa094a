#!/usr/bin/env python3
"""Writes result files with right and mutated outputs for the entries of all single-turn categories of the package.

    scripts/checker/outputs.py OUT_DIR [--seed 1]

Each category has an output for each entry: a ground truth in a form that a model may write, two in three times mutated.
Format sensitivity has one for each entry in each prompt configuration.
"""

import argparse
import json
import random
from pathlib import Path

import record
import render


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    official = record.Official()
    for category in [*record.SYNTAX, *record.SINGLE_TURN]:
        syntax = record.SYNTAX.get(category, "python")
        rows = [row(entry[0], output(rng, entry, category, syntax)) for entry in official.entries(category)]
        write(args.out, "live" if category.startswith("live") else "non_live", category, rows)
    for category in record.RELEVANCE:
        rows = [row(entry[0], output(rng, rng.choice(official.entries("live_simple")), category, "python"))
                for entry in official.entries(category)]
        write(args.out, "live" if category.startswith("live") else "non_live", category, rows)
    entries = {entry[0]: (category, entry) for category in record.SINGLE_TURN for entry in official.entries(category)}
    rows = []
    for entry in official.utils.load_dataset_entry("format_sensitivity", include_language_specific_hint=False):
        _, configuration, id_ = entry["id"].split(":")
        values = dict(part.split("=") for part in configuration.split("&"))
        raw = output(rng, entries[id_][1], entries[id_][0], values["ret_fmt"])
        if values["tool_call_tag"] == "True" and rng.random() < 0.9:
            raw = f"<TOOLCALL>{raw}</TOOLCALL>"
        rows.append(row(entry["id"], raw))
    write(args.out, "format_sensitivity", "format_sensitivity", rows)


def output(rng, entry, category, syntax):
    if rng.random() < 0.35:
        return render.text(rng, syntax, *record.first(rng, entry), plain=True)
    return record.mutated(rng, entry, category, syntax)["raw"]


def row(id_, raw):
    return {"id": id_, "result": raw}


def write(out, group, category, rows):
    path = out / group / f"BFCL_v4_{category}_result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
