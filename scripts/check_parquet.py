#!/usr/bin/env python3
"""Reads every Parquet file of a run with the common libraries.

    scripts/check_parquet.sh out/<run>

Each file is read with pyarrow and with those of pandas, duckdb and datasets that are installed. All must read the same
columns, rows and cells, and every text column must have the type `string`. With datasets, the dataset is also loaded as
its card describes it, one configuration after another. Prints one line per library; exit 1 if a library refuses a file
or reads something else, 2 if there is nothing to check.

`check_parquet.sh` runs this in two environments: the oldest supported versions, and datasets 3.
"""

import importlib
import os
import sys
import tempfile
from pathlib import Path

import pyarrow
import pyarrow.parquet

PLAIN = {"string", "int64", "double", "uint32", "bool"}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = Path(sys.argv[1])
    files = sorted(run.rglob("*.parquet"))
    if not files:
        print(f"{run}: no Parquet files", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as cache:
        # No request is sent to a hub, and no files are kept.
        os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=cache, HF_DATASETS_DISABLE_PROGRESS_BARS="1")
        readers = {name: read for name, read in READERS.items() if is_here(name)}
        files, faults = check_types(files)
        for name, read in readers.items():
            faults += check(name, read, files)
        if "datasets" in readers:
            faults += check_card(run / "dataset")
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


def is_here(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def check_types(files):
    """Returns the files that pyarrow reads, and the faults of all files."""
    readable, faults = [], []
    for path in files:
        try:
            schema = pyarrow.parquet.read_schema(path)
        except Exception as error:  # Whatever a library raises is what its user would see.
            faults.append(f"{path}: pyarrow refuses it: {type(error).__name__}: {error}")
            continue
        readable.append(path)
        others = [field for field in schema if str(field.type) not in PLAIN]
        faults += [f"{path}: column {field.name} is of type {field.type}" for field in others]
    print(f"pyarrow {pyarrow.__version__}: {len(files)} files, {len(faults)} faults")
    return readable, faults


def check(name, read, files):
    faults, n_rows = [], 0
    for path in files:
        expected = pyarrow.parquet.read_table(path).to_pydict()
        try:
            found = read(path)
        except Exception as error:
            faults.append(f"{path}: {name} refuses it: {type(error).__name__}: {error}")
            continue
        n_rows += max((len(cells) for cells in expected.values()), default=0)
        if list(found) != list(expected):
            faults.append(f"{path}: {name} reads the columns {list(found)}, not {list(expected)}")
        else:
            faults += [f"{path}: {name} reads other cells in {key}" for key in expected if found[key] != expected[key]]
    print(f"{name} {sys.modules[name].__version__}: {len(files)} files, {n_rows} rows, {len(faults)} faults")
    return faults


def of_pandas(path):
    import pandas

    frame = pandas.read_parquet(path, engine="pyarrow", dtype_backend="numpy_nullable")
    return {key: [None if pandas.isna(cell) else cell for cell in frame[key]] for key in frame.columns}


def of_duckdb(path):
    import duckdb

    found = duckdb.sql(f"select * from read_parquet('{path}')")
    rows = found.fetchall()
    return {key: [row[at] for row in rows] for at, key in enumerate(found.columns)}


def of_datasets(path):
    import datasets

    # Its loader has no split for a file without rows; the columns are known all the same.
    if pyarrow.parquet.read_metadata(path).num_rows == 0:
        return {field.name: [] for field in pyarrow.parquet.read_schema(path)}
    return datasets.load_dataset("parquet", data_files=str(path), split="train").to_dict()


READERS = {"pandas": of_pandas, "duckdb": of_duckdb, "datasets": of_datasets}


def check_card(dataset):
    import datasets

    faults, told = [], []
    if not (dataset / "README.md").exists():
        return [f"{dataset}: there is no card"]
    for name in datasets.get_dataset_config_names(str(dataset)):
        expected = pyarrow.parquet.read_metadata(dataset / "data" / f"{name}.parquet").num_rows
        try:
            found = sum(split.num_rows for split in datasets.load_dataset(str(dataset), name).values())
        except Exception as error:
            faults.append(f"{dataset}: datasets refuses {name}: {type(error).__name__}: {error}")
            continue
        told.append(f"{name} {found}")
        if found != expected:
            faults.append(f"{dataset}: datasets reads {found} rows of {name}, not {expected}")
    print(f"datasets, by the card: {', '.join(told)}")
    return faults


main()
