"""What the tests and the examples of the documentation share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

#: The folder of the repository.
ROOT = Path(__file__).resolve().parent.parent

WATER = {
    "name": "water_bay",
    "description": "Waters the plants of one bay of the glasshouse.",
    "parameters": {
        "type": "object",
        "properties": {"bay": {"type": "integer", "description": "The number of the bay."}},
        "required": ["bay"],
    },
}

QUERIES = [
    "Please water the plants of bay 4 in the glasshouse.",
    "Water the plants of bay 7 in the glasshouse tonight.",
    "Could you water bay 12 of the glasshouse before the visitors come?",
    "Hi",
]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder of its own, where `out/` harms nothing."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def records() -> list[dict[str, Any]]:
    """Return a small log."""
    call = {"name": "water_bay", "arguments": '{"bay": 4}'}
    return [
        {
            "id": f"r{number}",
            "model": "fern-1",
            "messages": [{"role": "user", "content": query}],
            "tools": [{"type": "function", "function": WATER}],
            "response": {"role": "assistant", "tool_calls": [{"type": "function", "function": call}]},
        }
        for number, query in enumerate(QUERIES)
    ]


@pytest.fixture
def log(records: list[dict[str, Any]], tmp_path: Path) -> Path:
    """Return the small log as a file."""
    path = tmp_path / "garden.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def root() -> Path:
    """Return the folder of the repository."""
    return ROOT
