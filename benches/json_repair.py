"""Measures Python's json_repair in megabytes per second on the texts of a file, to compare with examples/parse_speed.rs.

usage: cargo run --release --example parse_speed -- --print > texts.jsonl
       cargo run --release --example parse_speed -- texts.jsonl
       pip install json_repair; python benches/json_repair.py texts.jsonl
"""

import json
import sys
import time

# This file has the name of the module it measures.
sys.path.pop(0)
import json_repair  # noqa: E402

N_ROUNDS = 3
MAX_TEXTS = 60


def main() -> None:
    by_spelling: dict[str, list[str]] = {}
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            by_spelling.setdefault(line["spelling"], []).append(line["text"])
    for spelling, texts in sorted(by_spelling.items()):
        texts = texts[:MAX_TEXTS]
        n_bytes = sum(len(text.encode()) for text in texts)
        print(f"{spelling:<16} {n_bytes / 1e6 / min(seconds(texts) for _ in range(N_ROUNDS)):>7.3f} MB/s")


def seconds(texts: list[str]) -> float:
    begun = time.perf_counter()
    for text in texts:
        # The first step of json_repair is json.loads; with it strict texts would measure that.
        json_repair.loads(text, skip_json_loads=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
