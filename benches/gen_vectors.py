#!/usr/bin/env python3
"""Generates vectors like those of embedders, with near-duplicates, to benchmark joins by cosine.

Needs numpy. Two kinds of sets:

hard  unrelated rows have a mean cosine of about 0.29, those of one topic about 0.6; topics have sizes after Zipf. Two
      fifths of the rows are near copies of an earlier row, where rows with many copies draw more, and clumps of 134
      rows lie within one another's reach, so that an index that gives the nearest few of each row misses pairs.
easy  unrelated rows have a cosine of about 0, those of one topic of 0.3; a seventh of the rows are copies, one a row.

    python3 benches/gen_vectors.py --rows 20000 --dims 1536 --kind hard --out hard.npy

The same arguments give the same bytes with one version of numpy. The file is .npy, float32, C order, rows of length 1.
"""

import argparse

import numpy as np

CLUMP_LEN = 134
N_TOPICS = 200

# Shares of a row's squared length: what all rows have in common, what those of a topic have, and how many are copies.
KINDS = {"hard": {"common": 0.29, "topic": 0.31, "copies": 0.4}, "easy": {"common": 0.0, "topic": 0.3, "copies": 1 / 7}}


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def fresh(rng, n_rows, n_dims, kind):
    """Returns rows that are not copies."""
    common = unit(rng.standard_normal(n_dims, dtype=np.float32))
    topics = unit(rng.standard_normal((N_TOPICS, n_dims), dtype=np.float32))
    sizes = 1.0 / np.arange(1, N_TOPICS + 1)
    topic = rng.choice(N_TOPICS, size=n_rows, p=sizes / sizes.sum())
    rows = unit(rng.standard_normal((n_rows, n_dims), dtype=np.float32))
    rows *= np.float32(np.sqrt(1 - kind["common"] - kind["topic"]))
    rows += np.float32(np.sqrt(kind["common"])) * common
    for start in range(0, n_rows, 4096):
        rows[start : start + 4096] += np.float32(np.sqrt(kind["topic"])) * topics[topic[start : start + 4096]]
    return unit(rows)


def near(rng, row, cosine):
    """Returns a row with about this cosine to another."""
    noise = unit(rng.standard_normal(len(row), dtype=np.float32))
    return unit(np.float32(cosine) * row + np.float32(np.sqrt(1 - cosine * cosine)) * noise)


def copy_some(rng, rows, name, share):
    """Makes rows near-duplicates of earlier ones; in the hard set, of the first row of a group."""
    first = np.arange(len(rows))
    is_copied = np.zeros(len(rows), dtype=bool)
    for at in np.flatnonzero(rng.random(len(rows)) < share):
        if at == 0:
            continue
        of = int(rng.integers(at))
        of = int(first[of]) if name == "hard" else of
        if name == "easy" and (is_copied[of] or first[of] != of):
            continue
        is_copied[of] = True
        first[at] = of
        rows[at] = near(rng, rows[of], rng.uniform(0.86, 0.995))


def clump_some(rng, rows, n_clumps):
    """Overwrites rows all over the set with clumps in which every two rows are near."""
    at = rng.permutation(len(rows))[: n_clumps * CLUMP_LEN].reshape(n_clumps, CLUMP_LEN)
    for clump in at:
        centre = rows[clump[0]].copy()
        for row in clump:
            rows[row] = near(rng, centre, 0.97)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dims", type=int, default=1_536)
    parser.add_argument("--kind", choices=sorted(KINDS), default="hard")
    parser.add_argument("--clumps", type=int, default=1, help=f"clumps of {CLUMP_LEN} rows")
    parser.add_argument("--seed", type=int, default=20_260_301)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    if args.clumps * CLUMP_LEN > args.rows:
        parser.error(f"{args.clumps} clumps of {CLUMP_LEN} rows do not fit")
    rng = np.random.default_rng(args.seed)
    kind = KINDS[args.kind]
    rows = fresh(rng, args.rows, args.dims, kind)
    copy_some(rng, rows, args.kind, kind["copies"])
    clump_some(rng, rows, args.clumps)
    np.save(args.out, np.ascontiguousarray(rows, dtype=np.float32))


if __name__ == "__main__":
    main()
