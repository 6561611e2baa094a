#!/usr/bin/env python3
"""Finds all pairs of rows with a cosine of at least 0.9, with other libraries.

Needs numpy, and the package of the peer: hnswlib, usearch or faiss-cpu. `examples/cosine_speed.rs` is the other side.

    python3 benches/cosine_peers.py hard.npy numpy hnswlib usearch faiss-hnsw

Each line shows the number of pairs found, the number of all pairs if numpy ran before, and wall and CPU seconds. Each
method uses two threads. Indexes return the 10 nearest rows of each row, or --k, and the pairs are scored again.
"""

import argparse
import os
import time

N_THREADS = 2
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(N_THREADS)

import numpy as np  # noqa: E402 (threads are set before it is loaded)

BLOCK_LEN = 2_048


def numpy_blocks(rows, threshold, _k):
    """Returns all pairs, by products of blocks."""
    pairs = []
    for start in range(0, len(rows), BLOCK_LEN):
        for other in range(start, len(rows), BLOCK_LEN):
            scores = rows[start : start + BLOCK_LEN] @ rows[other : other + BLOCK_LEN].T
            a, b = np.nonzero(scores >= threshold)
            pairs.append(np.stack([a + start, b + other], axis=1)[(a + start) < (b + other)])
    return np.concatenate(pairs)


def hnswlib(rows, _threshold, k):
    import hnswlib

    index = hnswlib.Index(space="ip", dim=rows.shape[1])
    index.init_index(max_elements=len(rows), M=16, ef_construction=100)
    index.set_num_threads(N_THREADS)
    index.add_items(rows)
    index.set_ef(max(64, 2 * k))
    return index.knn_query(rows, k=k)[0]


def usearch(rows, _threshold, k):
    from usearch.index import Index

    index = Index(ndim=rows.shape[1], metric="cos", dtype="i8")
    index.add(np.arange(len(rows)), rows, threads=N_THREADS)
    return index.search(rows, k, threads=N_THREADS).keys


def faiss_hnsw(rows, _threshold, k):
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    index = faiss.IndexHNSWFlat(rows.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 40
    index.hnsw.efSearch = max(64, 2 * k)
    index.add(rows)
    return index.search(rows, k)[1]


PEERS = {"numpy": numpy_blocks, "hnswlib": hnswlib, "usearch": usearch, "faiss-hnsw": faiss_hnsw}


def scored(rows, nearest, threshold):
    """Returns the pairs among the nearest rows of each row, each once."""
    a = np.repeat(np.arange(len(rows)), nearest.shape[1])
    b = nearest.astype(np.int64).ravel()
    is_other = (a != b) & (b >= 0)
    pairs = np.unique(np.sort(np.stack([a[is_other], b[is_other]], axis=1), axis=1), axis=0)
    near = np.concatenate(
        [np.einsum("ij,ij->i", rows[some[:, 0]], rows[some[:, 1]]) >= threshold for some in np.array_split(pairs, 64)]
    )
    return pairs[near]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", help=".npy, rows of length 1")
    parser.add_argument("peers", nargs="+", choices=sorted(PEERS))
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--k", type=int, default=10)
    args = parser.parse_args()
    rows = np.load(args.vectors)
    n_pairs = None
    for peer in args.peers:
        start, cpu_start = time.perf_counter(), time.process_time()
        found = PEERS[peer](rows, args.threshold, args.k)
        if peer != "numpy":
            found = scored(rows, found, args.threshold)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
        n_pairs = len(found) if peer == "numpy" else n_pairs
        print(f"{peer}: {len(found)} of {n_pairs} pairs, {wall:.2f} s, CPU {cpu:.2f} s", flush=True)


if __name__ == "__main__":
    main()
