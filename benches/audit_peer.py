#!/usr/bin/env python3
"""Measures `callsieve audit` beside decontaminate on one planted set, and prints two tables for benches/README.md.

    benches/audit_peer.py planted --bench data/bfcl-v4-nonlive data/bfcl-v2-live [--binary FILE] [--runs 3]

planted has train.jsonl and truth.jsonl of scripts/audit/plant.py or plant_forms.py. decontaminate (0.3.0.post4, Python 3.12 or
newer: `pip install decontaminate`) reads lines of text. As "messages" it gets the messages of users, and those of the
benchmark. As "all texts" it gets one line for each message of any speaker, each function doc (as JSON) and each call (as
JSON and as Python), and the same of the benchmark: the messages of users, the docs and the calls of the answers, with the
first accepted values, with and without arguments that may be left out. Docs of multi-turn classes are not given. A text
that several entries have stands for all of them.

These files are written first, outside the time. Each run is a process of its own, the tools take turns: wall seconds, CPU
seconds, peak memory. A planted row is found if a hit is of what was planted (message, doc or call) and of its own entry, or
one with the same text; a row of a clean kind, if it has any hit. "tuned" are the settings for short texts that find most.
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts" / "audit"))
from plant import gold_calls
from plant_forms import as_json, call_of, calls_of, python

TUNED = dict(eval_min_token_length=1, eval_min_unique_word_count=1, sample_every_m_tokens=1,
             contamination_score_threshold=0.5, perfect_match_decay_start=1, perfect_match_decay_end=2)
PEERS = {f"decontaminate, {texts}, {name}": (texts, settings) for texts in ("messages", "all texts")
         for name, settings in (("default", {}), ("tuned", TUNED))}
PREPARE = "prepare"
OF_MESSAGE = "verbatim case number synonyms reorder embedded translated conversation system assistant".split()
OF_DOC = "docs_verbatim docs_described functions_renamed parameters-renamed python-stub".split()
PLANTED_IN = {**dict.fromkeys(OF_MESSAGE, {"query", "text"}), **dict.fromkeys(OF_DOC, {"function", "functions"})}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def user_messages(turns):
    return [m["content"] for m in turns if m.get("role") == "user" and m.get("content")]


def text_of_doc(doc):
    return json.dumps(doc, ensure_ascii=False, separators=(",", ":"))


def texts_of_calls(calls):
    return [write(name, arguments) for name, arguments in calls for write in (as_json, python)]


def texts_of_row(row):
    """All texts of a training row: messages of any speaker, calls and docs."""
    for message in row["messages"]:
        if message.get("content"):
            yield message["content"]
        made = [call["function"] for call in message.get("tool_calls", ())]
        yield from texts_of_calls((call["name"], json.loads(call["arguments"])) for call in made)
    for tool in row.get("tools", ()):
        yield text_of_doc(tool["function"])


def texts_of_entry(entry, truth):
    """All texts of an entry, each with its object. Answers that are no calls (of memory and web search) are left out."""
    turns = entry["question"] if isinstance(entry["question"][0], list) else [entry["question"]]
    yield from (("query", text) for turn in turns for text in user_messages(turn))
    for doc in entry.get("function") or ():
        yield "function", text_of_doc(doc)
    calls = []
    for call in truth:
        if isinstance(call, dict):
            calls += calls_of([call]) + [(one["name"], one["arguments"]) for one in gold_calls([call])]
        else:
            for text in call if isinstance(call, list) else ():
                made = call_of(text)
                calls += [made] if made else []
                yield "call", text
    yield from (("call", text) for text in texts_of_calls(calls))


def write_for_peer(planted, bench, folder):
    """Writes the peer's files, and lines.json: the row of each line, and for each text of the benchmark object and entries."""
    rows = lines(planted / "train.jsonl")
    known = {}
    for path in sorted(p for one in bench for p in Path(one).glob("*.json") if "format_sensitivity" not in p.name):
        answers = path.parent / "possible_answer" / path.name
        truth = {line["id"]: line["ground_truth"] for line in lines(answers)} if answers.exists() else {}
        for entry in lines(path):
            for what, text in texts_of_entry(entry, truth.get(entry["id"], ())):
                known.setdefault((what, text), {})[entry["id"]] = None
    for texts, of_row, objects in (("messages", lambda row: user_messages(row["messages"]), {"query"}),
                                   ("all texts", texts_of_row, {"query", "function", "call"})):
        for name in ("train", "evals"):
            os.makedirs(folder / texts / name)
        of_line = []
        with open(folder / texts / "train" / "train.jsonl", "w", encoding="utf-8") as out:
            for row in rows:
                for text in of_row(row):
                    out.write(json.dumps({"text": text}) + "\n")
                    of_line.append(row["id"])
        evals = [(what, text, list(entries)) for (what, text), entries in known.items() if what in objects]
        with open(folder / texts / "evals" / "bench.jsonl", "w", encoding="utf-8") as out:
            for at, (_, text, _) in enumerate(evals):
                out.write(json.dumps({"eval_key": "bench", "eval_instance_index": at, "fingerprint": str(at), "split": "test",
                                      "question": text, "answer": "", "passage": "", "is_correct": True, "doc_id": at}) + "\n")
        with open(folder / texts / "lines.json", "w", encoding="utf-8") as out:
            json.dump([of_line, [(what, entries) for what, _, entries in evals]], out)


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


def hits_of_peer(folder, rows, evals):
    """Yields row, entries and object of each hit."""
    for path in (folder / "report").rglob("*.jsonl"):
        for hit in lines(path):
            what, entries = evals[hit["eval_instance_index"]]
            yield rows[hit["training_line"]], entries, what


def hits_of_audit(out):
    with open(out / "hits.jsonl", encoding="utf-8") as file:
        for hit in map(json.loads, file):
            if hit["verdict"] == "contaminated":
                yield hit["train_id"], [hit["bench_id"], *(one["record"] for one in hit.get("examples", ()))], hit["object"]


def score(hits, truth):
    """Returns the rows by kind that are found."""
    found = defaultdict(set)
    for row, entries, what in hits:
        kind, wanted = truth[row]["kind"], {truth[row]["bench_id"], *truth[row].get("same", ())}
        if is_clean(kind) or not wanted.isdisjoint(entries) and what in PLANTED_IN.get(kind, {"call"}):
            found[kind].add(row)
    return found


def is_clean(kind):
    return kind.startswith("clean")


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
        texts, settings = PEERS[args.peer[0]]
        run_peer(Path(args.peer[1]) / texts, settings)
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
                texts = at / PEERS[tool][0] if tool in PEERS else None
                subprocess.run(["rm", "-rf", texts / "report" if texts else at / "audit"], check=True)
                if tool in PEERS:
                    command = [*itself, tool, str(at)]
                else:
                    command = [args.binary, "audit", "--train", str(args.planted / "train.jsonl"), "--bench",
                               *args.bench, "--out", str(at / "audit"), "-q"]
                figures[tool].append(measure(command))
                if number + 1 == args.runs:
                    hits = hits_of_peer(texts, *lines(texts / "lines.json")[0]) if texts else hits_of_audit(at / "audit")
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
    for kind in sorted(by_kind, key=lambda kind: (is_clean(kind), kind)):
        n, digits = by_kind[kind], 2 if is_clean(kind) else 1
        print(f"| {kind} | {n:,} | {' | '.join(f'{100 * len(found[tool][kind]) / n:.{digits}f} %' for tool in tools)} |")


if __name__ == "__main__":
    main()
