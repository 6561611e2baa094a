"""The examples of README and of docs/python.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from conftest import ROOT


def blocks_of(page: str) -> list[str]:
    """Return the examples of a page."""
    return re.findall("```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.Table.from_pylist])
def test_the_example_of_readme_reads_tables_of_any_library(library: Any, records: list[dict[str, Any]]) -> None:
    blocks = blocks_of("README.md")
    assert len(blocks) == 1
    names: dict[str, Any] = {"log": library(records), "pl": polars}
    exec(blocks[0], names)
    rows = names["rows"]
    assert rows.height == len(records)
    assert set(rows["fate"]) <= {"exported", "merged", "held", "dropped"}


def test_the_examples_of_the_page_on_python_run(records: list[dict[str, Any]], tmp_path: Path) -> None:
    from_log, from_table, in_forks = blocks_of("docs/python.md")
    Path("mylog.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    names: dict[str, Any] = {}
    exec(from_log, names)
    assert names["run"].folder == Path("out/mylog")
    polars.DataFrame({"id": ["a"], "query": ["Water bay 3."], "functions": [json.dumps(records[0]["tools"])]}).write_parquet("requests.parquet")
    exec(from_table, names)
    assert names["run"].folder == Path("out/requests")
    # In a process of its own: this one has used callsieve, so that its forks must not.
    rows = [{"name": f"open_door_{number}", "description": "Opens a door."} for number in range(16)]
    before = f"import datasets, callsieve\nrows = {rows!r}\ndataset = datasets.Dataset.from_list(rows)\n"
    after = "\nassert len(result) == 16 and result[0]['tools'][0]['parameters']['type'] == 'dict', result[0]\n"
    script = before + in_forks.replace("dataset.map", "result = dataset.map") + after
    subprocess.run([sys.executable, "-c", script], check=True)
