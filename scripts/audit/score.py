#!/usr/bin/env python3
"""Score the hits of a contamination audit against the truth of plant.py.

HITS has JSON lines with train_id, bench_id, object, method, score and verdict (contaminated or suspect); a row
may have many. A hit of a group has examples, too. "right" counts a row found as contaminated in what was planted (query, functions or calls), with its own
benchmark entry or with one that has the same query (for planted functions: the same functions, for planted calls: the
same calls).
"""
import argparse
import json
from collections import defaultdict


PLANTED = {"docs_verbatim": ("function", "functions"), "docs_described": ("function", "functions"),
           "functions_renamed": ("function", "functions"), "call_only": ("call",)}


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def table(head, rows):
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))
    print()


def percent(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("hits")
    parser.add_argument("--min-words", type=int, default=0,
                        help="leave out planted rows whose benchmark query has fewer words")
    args = parser.parse_args()

    kinds, wanted = {}, {}
    for row in read_lines(args.truth):
        if row["kind"] == "clean" or row.get("words", 0) >= args.min_words:
            kinds[row["id"]] = row["kind"]
            wanted[row["id"]] = {row["bench_id"], *row.get("same", ())}
    groups = defaultdict(list)
    for train_id, kind in kinds.items():
        groups[kind].append(train_id)

    right, sure, any_hit, unknown = set(), set(), set(), 0
    by_method = defaultdict(set)
    objects = defaultdict(set)
    for hit in read_lines(args.hits):
        train_id = hit["train_id"]
        if train_id not in kinds:
            unknown += 1
            continue
        any_hit.add(train_id)
        by_method[hit["method"]].add(train_id)
        if hit["verdict"] == "contaminated":
            sure.add(train_id)
            objects[hit["object"]].add(train_id)
            named = {hit["bench_id"], *(example["record"] for example in hit.get("examples", ()))}
            if named & wanted[train_id] and hit["object"] in PLANTED.get(kinds[train_id], ("query",)):
                right.add(train_id)

    planted = [k for k in groups if k != "clean"]
    order = sorted(planted) + (["clean"] if "clean" in groups else [])
    lines = []
    for kind in order:
        ids, n = groups[kind], len(groups[kind])
        lines.append([kind, n, "-" if kind == "clean" else percent(len(right.intersection(ids)), n),
                      percent(len(sure.intersection(ids)), n), percent(len(any_hit.intersection(ids)), n)])
    every = [i for k in planted for i in groups[k]]
    lines.insert(len(planted), ["all planted", len(every), percent(len(right.intersection(every)), len(every)),
                                percent(len(sure.intersection(every)), len(every)),
                                percent(len(any_hit.intersection(every)), len(every))])
    table(["kind", "rows", "right", "contaminated", "suspect or contaminated"], lines)

    clean = groups.get("clean", [])
    print(f"false positives: {len(sure.intersection(clean))} of {len(clean)} clean rows contaminated, "
          f"{len(any_hit.intersection(clean))} with any hit")
    for name, ids in sorted(objects.items()):
        print(f"  clean rows contaminated by object {name}: {len(ids.intersection(clean))}")
    print(f"hits on rows outside the truth or left out: {unknown}\n")

    methods = sorted(by_method)
    table(["kind"] + methods, [[kind] + [percent(len(by_method[m].intersection(groups[kind])), len(groups[kind]))
                                         for m in methods] for kind in order])


if __name__ == "__main__":
    main()
