"""The example of README, on tables of three libraries."""

from __future__ import annotations

import re
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from conftest import ROOT


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.Table.from_pylist])
def test_the_example_of_readme_reads_tables_of_any_library(library: Any, records: list[dict[str, Any]]) -> None:
    blocks: list[str] = re.findall("```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 1
    names: dict[str, Any] = {"log": library(records), "pl": polars}
    exec(blocks[0], names)
    rows = names["rows"]
    assert rows.height == len(records)
    assert set(rows["fate"]) <= {"exported", "merged", "held", "dropped"}
