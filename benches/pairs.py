#!/usr/bin/env python3
"""Measures `callsieve pairs` and other tools that find near-duplicates, and prints a table for benches/README.md.

    benches/pairs.py docs.jsonl [--runs 3] [--peers rapidfuzz rensa datasketch]

The file comes from gen_docs.py, with one {"id": row, "doc": text} per line. All tools read it and return the pairs of
rows whose ROUGE-L F1 is above 0.8, or candidates for them. rapidfuzz compares all pairs (Indel similarity of the tokens,
which is ROUGE-L F1) on two workers. rensa and datasketch hash 128 permutations; their recall and precision are printed,
because neither verifies its candidates. Each run is a separate process: wall seconds, CPU seconds, peak memory. If the
example is built (`cargo build --release --example rouge_speed`), the joins are also measured without reading and
tokenizing.
`pip install rapidfuzz rensa datasketch numpy` installs the peers.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

JOIN = os.path.join(os.path.dirname(__file__), "..", "target", "release", "examples", "rouge_speed")
BINARY = os.path.join(os.path.dirname(__file__), "..", "target", "release", "callsieve")
TOKEN = re.compile("[a-z0-9]+")
N_PERMUTATIONS = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=["rapidfuzz", "rensa", "datasketch"])
    parser.add_argument("--as", dest="peer", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        peer, _, setting = args.peer.partition(":")
        json.dump(sorted(PEERS[peer](args.file, setting)), sys.stdout)
        return
    if os.path.exists(JOIN) and "rapidfuzz" in args.peers:
        print(joins(args.file, args.runs), end="\n\n")
    ours = [BINARY, "pairs", args.file, "--field", "doc", "--id-field", "id", "-q"]
    names = [name for peer in args.peers for name in SETTINGS[peer]]
    figures = {name: [] for name in ["callsieve", *names]}
    found = {}
    for _ in range(args.runs):
        for name in figures:
            command = ours if name == "callsieve" else [sys.executable, __file__, args.file, "--as", name]
            measured, out = measure(command)
            figures[name].append(measured)
            found[name] = pairs_of(out, name)
    print(table(figures, found))


def measure(command):
    """Returns wall seconds, CPU seconds and peak MiB of one process, and its output."""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{command}: exit code {os.waitstatus_to_exitcode(status)}")
        seconds = time.monotonic() - start
        out.seek(0)
        return (seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), out.read()


def joins(path, runs):
    """Returns a line with the seconds of our join and of rapidfuzz's, by run."""
    lines = []
    for _ in range(runs):
        ours = subprocess.run([JOIN, path], capture_output=True, text=True, check=True).stdout
        ours = statistics.median(float(seconds) for seconds in re.findall(r"join ([0-9.]+) s", ours))
        command = [sys.executable, __file__, path, "--as", "rapidfuzz:Indel"]
        theirs = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        theirs = float(re.search(r"join ([0-9.]+) s", theirs)[1])
        lines.append(f"join alone: callsieve {ours:.4f} s, rapidfuzz {theirs:.2f} s, {theirs / ours:.0f} times")
    return "\n".join(lines)


def pairs_of(out, name):
    if name == "callsieve":
        return {(pair["a"], pair["b"]) for pair in map(json.loads, out.splitlines())}
    return {tuple(pair) for pair in json.loads(out)}


def table(figures, found):
    ours, exact = figures["callsieve"], found["callsieve"]
    lines = ["| | wall s | CPU s | peak MiB | times ours, wall (CPU) | pairs | recall | precision |", "|---|---|---|---|---|---|---|---|"]
    for name, runs in figures.items():
        wall, cpu, memory = (statistics.median(column) for column in zip(*runs))
        wall_ratio, cpu_ratio = (
            statistics.median(run[at] / own[at] for run, own in zip(runs, ours)) for at in (0, 1)
        )
        pairs = found[name]
        recall, precision = (len(pairs & exact) / max(len(of), 1) for of in (exact, pairs))
        lines.append(
            f"| {name} | {wall:.2f} | {cpu:.2f} | {memory:.0f} | {wall_ratio:.1f} ({cpu_ratio:.1f}) | {len(pairs):,} "
            f"| {recall:.3f} | {precision:.3f} |"
        )
    return "\n".join(lines)


def tokens_of(path):
    with open(path, encoding="utf-8") as file:
        return [TOKEN.findall(json.loads(line)["doc"].lower()) for line in file]


def by_rapidfuzz(path, _):
    import numpy
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    numbers = {}
    # A token is a character, but none of the surrogates.
    texts = [
        "".join(chr(n + 1 if n < 0xD000 else n + 0x1000) for n in (numbers.setdefault(t, len(numbers)) for t in tokens))
        for tokens in tokens_of(path)
    ]
    lengths = [len(text) for text in texts]
    pairs = []
    seconds = 0
    block = 2_000
    for start in range(0, len(texts), block):
        rows = texts[start : start + block]
        # Without a cutoff: with one, rounding takes pairs away.
        began = time.monotonic()
        scores = process.cdist(rows, texts[start:], scorer=Indel.normalized_similarity, dtype=numpy.float64, workers=2)
        seconds += time.monotonic() - began
        for i, j in zip(*numpy.nonzero(scores > 0.79)):
            a, b = start + int(i), start + int(j)
            # Ties are not above: 2·L / (m + n) against 4/5 in whole numbers.
            n_tokens = lengths[a] + lengths[b]
            if a < b and 10 * round(scores[i, j] * n_tokens / 2) > 4 * n_tokens:
                pairs.append((a, b))
    print(f"join {seconds:.3f} s", file=sys.stderr)
    return pairs


def shingles(tokens, n):
    return {" ".join(tokens[at : at + n]) for at in range(max(1, len(tokens) - n + 1))}


def by_rensa(path, setting):
    from rensa import RMinHash, RMinHashLSH

    n, threshold = read_setting(setting)
    # Bands that divide the permutations, the nearest to what datasketch takes for this threshold.
    bands = min((b for b in range(1, N_PERMUTATIONS + 1) if N_PERMUTATIONS % b == 0), key=lambda b: abs(b - best_bands(threshold)))
    index = RMinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS, num_bands=bands)
    return lsh_pairs(index, path, n, lambda words: hashed(RMinHash(num_perm=N_PERMUTATIONS, seed=1), words), lambda index, at, h: index.insert(at, h))


def by_datasketch(path, setting):
    from datasketch import MinHash, MinHashLSH

    n, threshold = read_setting(setting)
    index = MinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS)

    def make(words):
        sketch = MinHash(num_perm=N_PERMUTATIONS, seed=1)
        sketch.update_batch([word.encode() for word in words])
        return sketch

    return lsh_pairs(index, path, n, make, lambda index, at, sketch: index.insert(at, sketch))


def hashed(sketch, words):
    sketch.update(list(words))
    return sketch


def best_bands(threshold):
    from datasketch import MinHashLSH

    return MinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS).b


def read_setting(setting):
    n, threshold = setting.split("-gram,")
    return int(n), float(threshold)


def lsh_pairs(index, path, n, make, insert):
    pairs = []
    for at, tokens in enumerate(tokens_of(path)):
        sketch = make(shingles(tokens, n))
        pairs.extend((int(other), at) for other in index.query(sketch))
        insert(index, at, sketch)
    return pairs


PEERS = {"rapidfuzz": by_rapidfuzz, "rensa": by_rensa, "datasketch": by_datasketch}
SETTINGS = {
    "rapidfuzz": ["rapidfuzz:Indel"],
    "rensa": ["rensa:1-gram,0.7", "rensa:3-gram,0.5"],
    "datasketch": ["datasketch:1-gram,0.7", "datasketch:3-gram,0.5"],
}


if __name__ == "__main__":
    main()
