"""Writes tests/parquet/: small Parquet files like those of other tools, with types that the crate itself cannot write.

    pip install pyarrow numpy
    python3 scripts/make_foreign_parquet.py
"""

import datetime
import decimal
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

OUT = pathlib.Path(__file__).parent.parent / "tests" / "parquet"
DOCS = '[{"name": "tide", "description": "Tells when the tide is high in a harbour, by its name and the day."}]'
QUERIES = [f"Will it rain in Bergen on 2024-03-0{n}, or is any of the other days of that week a better one?" for n in (2, 3)]
ROWS = len(QUERIES)


def table(extra=(), queries=None, query_type=pa.string()):
    fields = [("prompt", pa.array(queries or QUERIES, query_type)), ("function", pa.array([DOCS] * ROWS, pa.string()))]
    fields += list(extra)
    return pa.table([cells for _, cells in fields], names=[name for name, _ in fields])


def write(name, rows, **options):
    pq.write_table(rows, OUT / f"{name}.parquet", compression="zstd", **options)


def binary():
    """Text without the annotation of text, as Spark, Impala and Hive write it."""
    messages = pa.array(
        [[{"role": b"user", "content": query.encode()}] for query in QUERIES],
        pa.list_(pa.struct([("role", pa.binary()), ("content", pa.binary())])),
    )
    write("binary", table(query_type=pa.binary(), queries=[query.encode() for query in QUERIES]))
    names = ["messages", "functions"]
    write("binary_nested", pa.table([messages, pa.array([DOCS.encode()] * ROWS, pa.binary())], names=names))
    write("not_text", table(query_type=pa.binary(), queries=[QUERIES[0].encode(), b"\xff\xd8\xff\xe0 no text"]))


def unread():
    """Unread columns of every type that aborted a run."""
    halves = np.array([1.5, -2.0], dtype=np.float16)
    extra = {
        "embedding": pa.array([list(halves)] * ROWS, pa.list_(pa.float16())),
        "embedding_of_fixed_size": pa.FixedSizeListArray.from_arrays(pa.array(np.tile(halves, ROWS)), 2),
        "half": pa.array(halves, pa.float16()),
        "half_in_struct": pa.array([{"x": half} for half in halves], pa.struct([("x", pa.float16())])),
        "large_decimal": pa.array([decimal.Decimal("1.50")] * ROWS, pa.decimal256(60, 2)),
        "at_offset": pa.array([0] * ROWS, pa.timestamp("ms", tz="+05:30")),
        "at_z": pa.array([0] * ROWS, pa.timestamp("ms", tz="Z")),
        "millis_that_are_nanos": pa.array([1718000000000000000] * ROWS, pa.timestamp("ms")),
        "day_out_of_range": pa.array([2**31 - 1] * ROWS, pa.int32()).cast(pa.date32()),
        "thumbnail": pa.array([b"\xff\xd8\xff\xe0"] * ROWS, pa.binary()),
    }
    write("unread", table(extra.items()))


def read_types():
    """Facts of requests in types that need conversion."""
    extra = {
        "ts": pa.array([datetime.datetime(2024, 6, 10, 6, 13, 20, 5000)] * ROWS, pa.timestamp("us", tz="+05:30")),
        "user": pa.array([decimal.Decimal("-12345678901234567890123456789012345678901234.50")] * ROWS, pa.decimal256(60, 2)),
        "session": pa.array([bytes(range(16))] * ROWS, pa.uuid()),
        "status": pa.array([200, 404], pa.uint16()),
    }
    write("read_types", table(extra.items()))


def times_out_of_range():
    for name, values, kind in [
        ("millis", [1718000000000000000] * ROWS, pa.timestamp("ms")),
        ("seconds", [1718000000000000] * ROWS, pa.timestamp("s")),
    ]:
        write(f"times_{name}", table([("ts", pa.array(values, kind))]))
    write("times_days", table([("ts", pa.array([2**31 - 1] * ROWS, pa.int32()).cast(pa.date32()))]))


def deep():
    """A struct in a struct in a struct …"""
    kind, value = pa.string(), "bottom"
    for _ in range(100):
        kind, value = pa.struct([("s", kind)]), {"s": value}
    write("deep", table([("nested", pa.array([value] * ROWS, kind))]))
    write("deep_and_read", pa.table([pa.array([value] * ROWS, kind), pa.array([DOCS] * ROWS)], names=["prompt", "function"]))


def dictionary():
    """One dictionary cell in many rows: a small file with much text."""
    rows = 300
    text = "x" * 1_000_000
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    write("dictionary", pa.table([cells, pa.array([DOCS] * rows)], names=["prompt", "function"]))


def empty():
    write("empty", table().slice(0, 0))


def vectors():
    halves = np.array([[0.5, 0.25], [1.0, 0.0]], dtype=np.float16)
    rows = {
        "text": pa.array(QUERIES, pa.string()),
        "vector": pa.array([list(row) for row in halves], pa.list_(pa.float16())),
        "at": pa.array([1718000000000000000] * ROWS, pa.timestamp("ms")),
    }
    write("vectors", pa.table(list(rows.values()), names=list(rows)))


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    for make in (binary, unread, read_types, times_out_of_range, deep, dictionary, empty, vectors):
        make()
