#!/usr/bin/env python3
"""Measures `callsieve audit` beside decontaminate on one planted set, and prints two tables for benches/README.md.

    benches/audit_peer.py planted --bench data/bfcl-v4-nonlive data/bfcl-v2-live [--binary FILE] [--runs 3]

planted has train.jsonl and truth.jsonl of scripts/audit/plant.py. decontaminate (0.3.0.post4, Python 3.12 or newer:
`pip install decontaminate`) reads one line of text for each message of a user, and the messages of the benchmark; it
does not read docs or calls. These files are written first, outside the time. Each run is a process of its own, the tools
take turns: wall seconds, CPU seconds, peak memory. "right" is a planted row that is found with its own entry, or one
with the same query; "tuned" are the settings for short texts that find most.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

TUNED = dict(eval_min_token_length=1, eval_min_unique_word_count=1, sample_every_m_tokens=1,
             contamination_score_threshold=0.5, perfect_match_decay_start=1, perfect_match_decay_end=2)
PEERS = {"decontaminate, default": {}, "decontaminate, tuned": TUNED}
PREPARE = "prepare"
PLANTED_IN = {"docs_verbatim": {"function", "functions"}, "docs_described": {"function", "functions"},
              "functions_renamed": {"function", "functions"}, "call_only": {"call"}}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def user_messages(turns):
    return [m["content"] for m in turns if m.get("role") == "user" and m.get("content")]


def write_for_peer(planted, bench, folder):
    """Writes the peer's files, and lines.json: the row of each line, and the entry of each message."""
    rows, entries = [], []
    os.makedirs(folder / "train")
    os.makedirs(folder / "evals")
    with open(folder / "train" / "train.jsonl", "w", encoding="utf-8") as out:
        for row in lines(planted / "train.jsonl"):
            for text in user_messages(row["messages"]):
                out.write(json.dumps({"text": text}) + "\n")
                rows.append(row["id"])
    with open(folder / "evals" / "bench.jsonl", "w", encoding="utf-8") as out:
        for path in sorted(p for one in bench for p in Path(one).glob("*.json*")):
            for entry in lines(path):
                turns = entry["question"]
                turns = turns if isinstance(turns[0], list) else [turns]
                for text in (text for turn in turns for text in user_messages(turn)):
                    entries.append(entry["id"])
                    at = len(entries) - 1
                    out.write(json.dumps({"eval_key": "bench", "eval_instance_index": at, "fingerprint": str(at),
                                          "split": "test", "question": text, "answer": "", "passage": "",
                                          "is_correct": True, "doc_id": at}) + "\n")
    with open(folder / "lines.json", "w", encoding="utf-8") as out:
        json.dump([rows, entries], out)


def run_peer(folder, settings):
    import decon
    config = decon.Config(training_dir=str(folder / "train"), evals_dir=str(folder / "evals"),
                          report_output_dir=str(folder / "report"), **settings)
    decon.detect(config)


def measure(command):
    """Returns wall seconds, CPU seconds and peak MiB of a process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command[0]} failed: {errors.decode(errors='replace')}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def hits_of_peer(folder, rows, entries):
    """Yields row, entry and object of each hit."""
    for path in (folder / "report").rglob("*.jsonl"):
        for hit in lines(path):
            yield rows[hit["training_line"]], entries[hit["eval_instance_index"]], "query"


def hits_of_audit(out):
    with open(out / "hits.jsonl", encoding="utf-8") as file:
        for hit in map(json.loads, file):
            if hit["verdict"] == "contaminated":
                yield hit["train_id"], hit["bench_id"], hit["object"]


def score(hits, truth):
    """Returns the share of planted rows that are right by kind, and the clean rows that have a hit."""
    right, clean = defaultdict(set), set()
    for row, entry, found in hits:
        kind = truth[row]["kind"]
        if kind == "clean":
            clean.add(row)
        elif entry in {truth[row]["bench_id"], *truth[row].get("same", ())} and found in PLANTED_IN.get(kind, {"query"}):
            right[kind].add(row)
    return right, clean


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planted", type=Path)
    parser.add_argument("--bench", nargs="+", required=True)
    parser.add_argument("--binary", default=os.path.join(os.path.dirname(__file__), "../target/release/callsieve"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--as", dest="peer", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer and args.peer[0] == PREPARE:
        write_for_peer(args.planted, args.bench, Path(args.peer[1]))
        return
    if args.peer:
        run_peer(Path(args.peer[1]), PEERS[args.peer[0]])
        return
    truth = {row["id"]: row for row in lines(args.planted / "truth.jsonl")}
    with tempfile.TemporaryDirectory() as at:
        at = Path(at)
        # In a process of its own: a process starts with the peak memory of the one that starts it.
        itself = [sys.executable, __file__, str(args.planted), "--bench", *args.bench, "--as"]
        subprocess.run([*itself, PREPARE, str(at)], check=True)
        tools = ["callsieve audit", *PEERS]
        figures, found = defaultdict(list), {}
        for number in range(args.runs):
            for tool in tools:
                subprocess.run(["rm", "-rf", at / "report", at / "audit"], check=True)
                if tool in PEERS:
                    command = [*itself, tool, str(at)]
                else:
                    command = [args.binary, "audit", "--train", str(args.planted / "train.jsonl"), "--bench",
                               *args.bench, "--out", str(at / "audit"), "-q"]
                figures[tool].append(measure(command))
                if number + 1 == args.runs:
                    hits = hits_of_peer(at, *lines(at / "lines.json")[0]) if tool in PEERS else hits_of_audit(at / "audit")
                    found[tool] = score(hits, truth)
    by_kind = defaultdict(int)
    for row in truth.values():
        by_kind[row["kind"]] += 1
    print(f"{len(truth):,} rows; median of {args.runs} runs\n")
    print("| tool | seconds | CPU seconds | peak memory |\n|---|---:|---:|---:|")
    for tool in tools:
        wall, cpu, memory = (statistics.median(column) for column in zip(*figures[tool]))
        print(f"| {tool} | {wall:.2f} | {cpu:.2f} | {memory:.0f} MB |")
    print(f"\n| kind | rows | {' | '.join(tools)} |\n|---|---:{'|---:' * len(tools)}|")
    for kind in sorted(by_kind, key=lambda kind: (kind == "clean", kind)):
        n = by_kind[kind]
        share = [len(found[tool][1]) if kind == "clean" else len(found[tool][0][kind]) for tool in tools]
        digits = 2 if kind == "clean" else 1
        print(f"| {kind} | {n:,} | {' | '.join(f'{100 * one / n:.{digits}f} %' for one in share)} |")


if __name__ == "__main__":
    main()
