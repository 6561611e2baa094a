"""Inputs of any kind, as the files that the library reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeGuard, Union, runtime_checkable

from callsieve import _native


@runtime_checkable
class ArrowTable(Protocol):
    """A table that exports itself by the Arrow PyCapsule interface, as those of pandas, polars, pyarrow and DuckDB do."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table."""


#: The path of a file or folder, or a pattern of names.
StrPath = Union[str, "PathLike[str]"]

#: Records, as the objects of a log in JSON lines.
Records = Iterable[Mapping[str, Any]]

#: What is read: paths, a table, or records.
Source = Union[StrPath, Sequence[StrPath], ArrowTable, Records]


def is_path(value: object) -> TypeGuard[StrPath]:
    """Return whether a value is a path. A string is always one."""
    return isinstance(value, (str, os.PathLike))


def paths_of(source: object) -> list[str] | None:
    """Return the paths that a source names; `None` if it is data."""
    if is_path(source):
        return [os.fspath(source)]
    if isinstance(source, (list, tuple)) and source and all(is_path(item) for item in source):
        return [os.fspath(item) for item in source]
    return None


def arrow_of(source: object) -> ArrowTable | None:
    """Return a source as a table that can be exported; `None` if it is none."""
    if isinstance(source, ArrowTable):
        return source
    # A dataset of the package `datasets` holds a table of pyarrow, in which selected rows are not selected yet.
    with_format = getattr(source, "with_format", None)
    if with_format is not None and hasattr(source, "features"):
        table = with_format("arrow")[:]
        return table if isinstance(table, ArrowTable) else None
    return None


@contextmanager
def files(source: Source, name: str = "table") -> Iterator[list[str]]:
    """Name the files of a source. A table and records are written to a temporary folder, which is removed afterwards."""
    paths = paths_of(source)
    if paths is not None:
        yield paths
        return
    with TemporaryDirectory(prefix="callsieve-") as folder:
        table = arrow_of(source)
        if table is not None:
            path = Path(folder, f"{name}.parquet")
            _native.write_parquet(table, path)
        else:
            path = Path(folder, f"{name}.jsonl")
            write_lines(path, source)  # type: ignore[arg-type]
        yield [str(path)]


def write_lines(path: Path, items: Iterable[Any]) -> None:
    """Write each item as a line of JSON."""
    with path.open("w", encoding="utf-8") as file:
        for item in items:
            file.write(json.dumps(item, ensure_ascii=False, default=_plain))
            file.write("\n")


def _plain(value: object) -> object:
    """Return a value that JSON has: rows of `datasets` are mappings, and cells of pandas may be numbers of numpy."""
    if isinstance(value, Mapping):
        return dict(value)
    tolist = getattr(value, "tolist", None)
    if tolist is not None:
        return tolist()
    raise TypeError(f"a record has a value of type {type(value).__name__}, which JSON does not have")


def texts_of(values: Any, field: str | None) -> list[str | None]:
    """Return the texts of a column, an array or a list; of a table, those of a field."""
    if field is not None:
        table = arrow_of(values)
        if table is not None:
            rows: Iterable[Mapping[str, Any]] = _native.NativeTable.of_table(table).to_pylist()
        else:
            rows = values
        return [_text(row.get(field)) for row in rows]
    to_pylist = getattr(values, "to_pylist", None)
    return [_text(value) for value in (to_pylist() if to_pylist is not None else values)]


def _text(value: object) -> str | None:
    # A missing text of pandas is not a number.
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    raise TypeError(f"expected a text, found {type(value).__name__}")
