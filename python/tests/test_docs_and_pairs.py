"""Function docs, and near-duplicate pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import callsieve

DOCS = {"name": "water", "description": "Waters a bay.", "parameters": {"bay": "int"}}
TEXTS = ["water the ferns in bay 4", "stop the pump", None, "water the ferns in bay 5"]


def test_docs_of_a_file_a_list_and_a_record_have_the_same_outcome(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_text(json.dumps({"id": "a", "function": DOCS}) + "\n")
    [of_file] = callsieve.fix(path)
    assert [of_file] == callsieve.fix([{"id": "a", "function": json.dumps(DOCS)}]) == callsieve.fix(
        {"id": "a", "function": DOCS}
    )
    assert of_file["id"] == "a"
    assert of_file["function"][0]["parameters"]["properties"]["bay"]["type"] == "integer"
    assert {edit["reason"] for edit in of_file["edits"]} >= {"schema/type-synonym"}


def test_only_safe_edits_are_made_if_that_is_wanted() -> None:
    [outcome] = callsieve.fix(DOCS, safe_only=True)
    unsafe = [edit for edit in outcome["edits"] if not edit["applied"]]
    assert unsafe and all(edit["safety"] == "suggest" for edit in unsafe)


def test_functions_become_the_tools_of_an_api() -> None:
    [outcome] = callsieve.fix(DOCS, form="openai")
    assert outcome["tools"][0]["function"]["name"] == "water"
    with pytest.raises(callsieve.Error, match="unknown form") as raised:
        callsieve.fix(DOCS, form="soap")  # type: ignore[arg-type]
    assert raised.value.hint == "the forms are bfcl, openai, anthropic, mcp and gemini"


def test_docs_that_cannot_be_read_are_an_outcome_and_no_exception() -> None:
    [outcome] = callsieve.fix([{"id": "x", "function": "no docs"}])
    assert outcome["function"] is None and outcome["faults"]


def test_pairs_name_the_rows_of_the_texts_also_after_a_missing_one() -> None:
    [pair] = callsieve.rouge_l_pairs(TEXTS).to_pylist()
    assert (pair["a"], pair["b"]) == (0, 3)
    assert pair["score"] == pytest.approx(5 / 6)
    assert callsieve.rouge_l_pairs(TEXTS, threshold=0.9).to_pylist() == []


def test_texts_are_compared_with_others() -> None:
    pairs = callsieve.rouge_l_pairs(TEXTS, [None, "Water the ferns in bay 4!"]).to_pylist()
    assert [(pair["a"], pair["b"]) for pair in pairs] == [(0, 1), (3, 1)]


def test_clusters_name_the_leader_of_each_text() -> None:
    clusters = callsieve.rouge_l_pairs(TEXTS, clusters=True).to_pylist()
    assert [(row["id"], row["leader"]) for row in clusters] == [(0, 0), (1, 1), (3, 0)]
    assert clusters[0]["score"] is None


def test_a_threshold_out_of_range_is_an_error_with_a_hint() -> None:
    with pytest.raises(callsieve.Error, match="threshold 2") as raised:
        callsieve.rouge_l_pairs(TEXTS, threshold=2)
    assert raised.value.hint == "write e.g. 0.7"


def test_vectors_of_lists_and_of_numpy_have_the_same_pairs() -> None:
    numpy = pytest.importorskip("numpy")
    rows = [[1.0, 0.0], [0.0, 1.0], [3.0, 0.1]]
    expected = callsieve.cosine_pairs(rows).to_pylist()
    assert [(pair["a"], pair["b"]) for pair in expected] == [(0, 2)]
    for kind in ("float32", "float64"):
        assert callsieve.cosine_pairs(numpy.array(rows, dtype=kind)).to_pylist() == expected
    assert [(pair["a"], pair["b"]) for pair in callsieve.cosine_pairs(rows, [[0.0, 2.0]]).to_pylist()] == [(1, 0)]


def test_vectors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 numbers"):
        callsieve.cosine_pairs([[1.0, 0.0], [1.0]])
    with pytest.raises(callsieve.Error, match="vectors of 2 and of 1 dimensions"):
        callsieve.cosine_pairs([[1.0, 0.0]], [[1.0]])


def test_texts_are_compared_by_an_embedder() -> None:
    texts = ["water the ferns", "water the ferns", "stop the pump"]
    pairs = callsieve.cosine_pairs(texts, embedder="hashed").to_pylist()
    assert [(pair["a"], pair["b"]) for pair in pairs] == [(0, 1)]
