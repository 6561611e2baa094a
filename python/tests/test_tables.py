"""Tables of other libraries, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import callsieve

TEXTS = ["water the ferns in bay 4", "stop the pump", "water the ferns in bay 5"]


def tables(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the records as a table of each library that is installed."""
    made: dict[str, Any] = {}
    for name in ("pyarrow", "pandas", "polars", "duckdb", "datasets"):
        try:
            library = __import__(name)
        except ImportError:
            continue
        if name == "pyarrow":
            made[name] = library.Table.from_pylist(records)
        elif name == "datasets":
            made[name] = library.Dataset.from_list(records)
        elif name == "duckdb":
            pyarrow = pytest.importorskip("pyarrow")
            made[name] = library.from_arrow(pyarrow.Table.from_pylist(records))
        else:
            made[name] = library.DataFrame(records)
    return made


def test_a_table_of_each_library_is_a_log(records: list[dict[str, Any]]) -> None:
    made = tables(records)
    assert made, "none of the libraries is installed"
    for name, table in made.items():
        run = callsieve.run(table, out=f"out/{name}", progress=False)
        queries = {row["external_id"]: row["query"] for row in run.table("rows")}
        assert queries == {record["id"]: record["messages"][0]["content"] for record in records}, name
        assert callsieve.inspect(table)["lines"]["requests"] == len(records), name


def test_selected_rows_of_a_dataset_are_the_only_ones_that_are_read(records: list[dict[str, Any]]) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(records).select([2, 0])
    run = callsieve.run(dataset, out="out/two", progress=False)
    assert {row["external_id"] for row in run.table("rows")} == {"r0", "r2"}


def test_columns_of_each_library_are_texts() -> None:
    expected = callsieve.rouge_l_pairs(TEXTS).to_pylist()
    assert len(expected) == 1
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for column in (pandas.Series(TEXTS), polars.Series(TEXTS), pyarrow.array(TEXTS), pyarrow.chunked_array([TEXTS])):
        assert callsieve.rouge_l_pairs(column).to_pylist() == expected
    frame = polars.DataFrame({"text": TEXTS})
    assert callsieve.rouge_l_pairs(frame, field="text").to_pylist() == expected
    missing = pandas.Series([TEXTS[0], None, TEXTS[2]])
    assert [pair["b"] for pair in callsieve.rouge_l_pairs(missing).to_pylist()] == [2]


def test_each_library_reads_a_table(log: Path) -> None:
    rows = callsieve.run(log, out="out/read", progress=False).table("rows")
    expected = rows.to_pylist()
    assert len(expected) == len(rows) == 4
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(rows).to_pylist() == expected
    assert pyarrow.schema(rows).names == rows.column_names
    assert pytest.importorskip("polars").DataFrame(rows).to_dicts() == expected
    assert list(pytest.importorskip("pandas").DataFrame.from_arrow(rows)["query"]) == [row["query"] for row in expected]
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select count(*) from rows").fetchall() == [(4,)]
    # Twice: each stream reads the file from its beginning.
    assert pyarrow.table(rows).num_rows == pyarrow.table(rows).num_rows == 4


def test_all_types_of_a_foreign_table_have_plain_values() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = [
        {"text": "a", "n": -1, "x": 0.5, "yes": True, "list": [1, None], "row": {"a": "b"}, "none": None},
        {"text": None, "n": None, "x": None, "yes": None, "list": None, "row": None, "none": None},
    ]
    from callsieve import _native

    assert _native.NativeTable.of_table(pyarrow.Table.from_pylist(rows)).to_pylist() == rows
    times = pyarrow.table({"time": pyarrow.array([0], pyarrow.timestamp("ms"))})
    with pytest.raises(callsieve.Error, match="no plain values") as raised:
        _native.NativeTable.of_table(times).to_pylist()
    assert raised.value.hint == "pyarrow.table(table) reads it"


def test_a_notebook_shows_the_first_rows_with_escapes() -> None:
    pairs = callsieve.rouge_l_pairs(["<b>" for _ in range(20)], threshold=0.5)
    assert "<th>score</th>" in pairs._repr_html_()
    clusters = callsieve.Table.open(_written([{"text": "<script>" + "x" * 200}]))
    html = clusters._repr_html_()
    assert "&lt;script&gt;" in html and "<script>" not in html and "…" in html


def _written(rows: list[dict[str, Any]]) -> Path:
    from callsieve import _native

    path = Path("table.parquet").resolve()
    _native.write_parquet(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
    return path
