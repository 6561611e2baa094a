"""Function docs of any form into the BFCL schema, or the tools of an API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Union

from callsieve import _native
from callsieve._inputs import ArrowTable, StrPath, arrow_of, paths_of, write_lines

#: What :func:`fix` takes.
Docs = Union[StrPath, Sequence[StrPath], ArrowTable, Mapping[str, Any], Sequence[Any]]


def fix(
    docs: Docs,
    *,
    form: Literal["bfcl", "openai", "anthropic", "mcp", "gemini"] = "bfcl",
    safe_only: bool = False,
) -> list[dict[str, Any]]:
    """Bring function docs to the BFCL schema, or to the tools of an API.

    `docs` is one of these:

    - the path of a file or folder, or a list of paths, as ``callsieve fix`` takes them;
    - a list, each item of which is what a line of a file may be: docs, or ``{"id": …, "function": …}`` with docs as text
      or as objects; a single object is a list of one;
    - a table with the columns ``id`` and one of ``function``, ``functions`` and ``tools``.

    Each outcome has the keys of a line of ``callsieve fix --json``: ``function`` (``tools`` with another form) is ``None`` if
    the docs cannot be read, ``edits`` lists the changes with their reasons, and ``faults`` what is wrong.

    `form` is the flag ``--as``. With `safe_only`, edits that guess a missing part are listed and not made.

    >>> import callsieve
    >>> [outcome] = callsieve.fix({"name": "water", "description": "Waters a bay.", "parameters": {"bay": "int"}})
    >>> outcome["function"][0]["parameters"]
    {'type': 'dict', 'required': ['bay'], 'properties': {'bay': {'type': 'integer', 'description': 'bay'}}}
    """
    paths = paths_of(docs)
    if paths is not None:
        return _outcomes(paths, form, safe_only)
    table = arrow_of(docs)
    items: Any
    if table is not None:
        items = _native.NativeTable.of_table(table).to_pylist()
    else:
        items = [docs] if isinstance(docs, Mapping) else docs
    with TemporaryDirectory(prefix="callsieve-") as folder:
        path = Path(folder, "docs.jsonl")
        write_lines(path, items)
        return _outcomes([str(path)], form, safe_only)


def _outcomes(paths: list[str], form: str, safe_only: bool) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _native.fix(paths, form=form, safe_only=safe_only)]
