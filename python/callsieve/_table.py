"""Tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from os import PathLike
from typing import Any

from callsieve import _native

#: Rows that a notebook shows.
_SHOWN_ROWS = 10
#: Characters of a cell that a notebook shows.
_SHOWN_CHARS = 120


class Table:
    """A table, in memory or in a Parquet file of a run.

    Libraries of data frames read it without a copy of their own format, by the Arrow PyCapsule interface:
    ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)``, and DuckDB by its name in a query.

    >>> import callsieve
    >>> pairs = callsieve.rouge_l_pairs(["water the ferns", "water the ferns now"])
    >>> pairs.column_names
    ['a', 'b', 'score']
    >>> pairs.to_pylist()
    [{'a': 0, 'b': 1, 'score': 0.857...}]
    """

    def __init__(self, native: _native.NativeTable) -> None:
        self._native = native

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Table:
        """Open a Parquet file; its rows are read when they are needed."""
        return cls(_native.NativeTable.open(path))

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self._native.num_rows

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def to_pylist(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the rows as dictionaries, at most `limit` of them."""
        return self._native.to_pylist(limit)

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_pylist())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table by the Arrow PyCapsule interface."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow PyCapsule interface."""
        return self._native.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<callsieve.Table: {self.num_rows} rows, columns {', '.join(self.column_names)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.column_names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_shortened(value))}</td>" for value in row.values()) + "</tr>"
            for row in self.to_pylist(_SHOWN_ROWS)
        )
        more = f"<p>{self.num_rows:,} rows</p>" if self.num_rows > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _shortened(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
