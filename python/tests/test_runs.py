"""Runs, audits, instruction sets, scores, checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import mlcroissant
import pytest

import callsieve

#: The command that is compared with: the program of the repository where it is named, else that of the package.
PROGRAM = [os.environ["CALLSIEVE_PROGRAM"]] if "CALLSIEVE_PROGRAM" in os.environ else [sys.executable, "-m", "callsieve"]


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_command_and_the_function_write_the_same_bytes(log: Path) -> None:
    subprocess.run(
        [*PROGRAM, "run", str(log), "--out", "out/command", "--set", "seed=2", "--quiet"], check=True, capture_output=True
    )
    run = callsieve.run(log, out="out/function", settings={"seed": 2}, progress=False)
    of_command, of_function = Path("out/command"), Path("out/function")
    assert bytes_of(of_command / "dataset") == bytes_of(of_function / "dataset") != {}
    for name in ("rows.parquet", "ledger.parquet", "lists.parquet"):
        assert (of_command / name).read_bytes() == (of_function / name).read_bytes(), name
    assert run.report["requests"]["rows"] == 4


def test_the_metadata_and_the_tables_of_a_dataset_are_read_by_their_libraries(log: Path) -> None:
    callsieve.run(log, out="out/garden", progress=False)
    dataset = Path("out/garden/dataset")
    metadata = mlcroissant.Dataset(jsonld=str(dataset / "croissant.json"))
    # A table without entries is none of the configurations.
    names = [record_set.id for record_set in metadata.metadata.record_sets]
    assert names
    tables = {
        name: datasets.load_dataset("parquet", data_files=str(dataset / f"data/{name}.parquet"), split="train")
        for name in names
    }
    for name, table in tables.items():
        ids = [record[f"{name}/id"].decode() for record in metadata.records(name)]
        assert ids == table["id"]
        assert table.features["weight"].dtype == "float64"
        assert table.features["frozen"].dtype == "bool"
        functions = table.cast_column("function", datasets.Json())["function"]
        assert all(isinstance(function["name"], str) for of_entry in functions for function in of_entry)


def test_the_metadata_of_an_instruction_set_and_of_a_collection_is_valid(tmp_path: Path) -> None:
    raw = Path(__file__).parents[2] / "raw"
    callsieve.generate(
        raw / "repair-shop.toml", bindings=raw / "repair-shop.bindings.toml", accept=12, out="out/workshop", progress=False
    )
    metadata = mlcroissant.Dataset(jsonld="out/workshop/dataset/croissant.json")
    records = list(metadata.records("instructions"))
    assert len(records) == 12
    assert all(record["instructions/id"].startswith(b"p") for record in records)
    tools = raw.parent / "examples/repair-shop/tools.json"
    subprocess.run([*PROGRAM, "collect", str(tools), "--out", "out/apis", "--quiet"], check=True, capture_output=True)
    metadata = mlcroissant.Dataset(jsonld="out/apis/dataset/croissant.json")
    lines = Path("out/apis/dataset/names.jsonl").read_text().splitlines()
    names = [json.loads(line)["name"] for line in lines]
    assert [record["names/name"].decode() for record in metadata.records("names")] == names != []


def test_a_run_has_its_tables_its_report_and_the_history_of_rows(log: Path) -> None:
    run = callsieve.run(log, out="out/garden", progress=False)
    assert {"rows", "lists", "ledger", "entries"} <= set(run.tables)
    fates = {row["external_id"]: row["fate"] for row in run.table("rows")}
    assert set(fates) == {"r0", "r1", "r2", "r3"}
    [request] = run.why("r3")["requests"]
    assert request["fate"]["name"] == fates["r3"] == "dropped"
    assert run.table("ingest/requests.parquet").num_rows == 4
    assert run.card.startswith("---")
    html = run._repr_html_()
    assert "<td>ingest</td>" in html and "garden" in html
    opened = callsieve.Run.open("out/garden")
    assert opened.report == run.report and opened.why("r3") == run.why("r3")
    with pytest.raises(KeyError, match="no table 'nothing'"):
        run.table("nothing")
    with pytest.raises(callsieve.Error):
        run.why("no such row")


def test_the_same_call_uses_finished_steps_again_also_with_records(records: list[dict[str, Any]]) -> None:
    first = callsieve.run(records, out="out/again", progress=False)
    second = callsieve.run(records, out="out/again", progress=False)
    assert first.reused == 0 and second.reused > 0
    assert first.report["requests"] == second.report["requests"]


def test_arguments_are_those_of_the_command(log: Path) -> None:
    run = callsieve.run(log, out="out/limited", limit=2, progress=False)
    assert run.report["requests"]["rows"] == 2
    pipeline = Path("parse.toml")
    pipeline.write_text("[[stages]]\nkind = 'parse-docs'\n")
    by_pipeline = callsieve.run([log, pipeline], out="out/parsed", progress=False)
    assert [step["step"] for step in by_pipeline.report["funnel"]][:2] == ["ingest", "parse-docs"]
    with pytest.raises(ValueError, match="one pipeline"):
        callsieve.run([log, pipeline], pipeline=pipeline)
    with pytest.raises(ValueError, match="nothing to read"):
        callsieve.run()


def test_an_error_has_its_message_hint_file_and_line(log: Path) -> None:
    pipeline = Path("wrong.toml")
    pipeline.write_text("[[stages]]\nkind = 'parse-docs'\n\n[[stages]]\nkind = 'water-ferns'\n")
    with pytest.raises(callsieve.Error) as raised:
        callsieve.run(log, pipeline=pipeline)
    error = raised.value
    assert "water-ferns" in error.message and error.file == "wrong.toml" and error.line == 5
    with pytest.raises(callsieve.Error) as raised:
        callsieve.run(log, settings={"no-such-stage.x": 1})
    assert raised.value.hint is not None and "parse-docs" in raised.value.hint
    assert "hint: " in str(raised.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (0.5, "0.5"),
        ("a \"b\"\n\x7f", '"a \\"b\\"\\n\\u007f"'),
        (["a", 1], '["a", 1]'),
        ({"min_words": 6}, '{"min_words" = 6}'),
        (Path("x"), '"x"'),
    ],
)
def test_settings_are_written_as_toml(value: object, text: str) -> None:
    from callsieve._runs import _toml

    assert _toml(value) == text
    if sys.version_info >= (3, 11):
        import tomllib

        expected = str(value) if isinstance(value, Path) else value
        assert tomllib.loads(f"x = {_toml(value)}") == {"x": expected}


def test_progress_is_reported_on_the_calling_thread(log: Path) -> None:
    import threading

    events: list[callsieve.Progress] = []
    threads = set()

    def progress(event: callsieve.Progress) -> None:
        events.append(event)
        threads.add(threading.get_ident())

    run = callsieve.run(log, out="out/progress", progress=progress)
    begun = [event.step for event in events if event.kind == "begin"]
    assert begun[0] == "ingest" and "export" in begun
    assert any(event.kind == "end" and event.text for event in events)
    assert threads == {threading.get_ident()}
    assert run.warnings == list(dict.fromkeys(event.text for event in events if event.kind == "warning"))


def test_without_progress_warnings_are_warnings_of_python(log: Path) -> None:
    with pytest.warns(callsieve.CallsieveWarning, match="not compared with") as caught:
        run = callsieve.run(log, out="out/warned", progress=False)
    assert run.warnings == [str(warning.message) for warning in caught]


def test_an_exception_of_the_progress_callable_stops_the_run_and_the_next_call_continues(log: Path) -> None:
    class Stop(Exception):
        pass

    def progress(event: callsieve.Progress) -> None:
        if event.kind == "end" and event.step == "drop-spam":
            raise Stop

    with pytest.raises(Stop):
        callsieve.run(log, out="out/stopped", progress=progress)
    assert not Path("out/stopped/report.json").exists()
    assert callsieve.run(log, out="out/stopped", progress=False).reused > 0


def test_an_audit_finds_the_rows_that_overlap() -> None:
    question = "Which bay of the fern house needs water before the school class visits on Monday?"
    bench = [{"query": question}]
    train = [{"query": "How long does the pump of the pond run on a warm day in August?"}, {"query": question}]
    run = callsieve.audit(train, bench, out="out/audit", max_rate=0.1, progress=False)
    assert run.audit is not None and run.audit["total"]["contaminated"] == 1
    assert any("contaminated" in gate for gate in run.failed_gates)
    cleaned = [path for path in Path("out/audit/dataset").rglob("*") if path.is_file()]
    assert len(cleaned) == 1 and question not in cleaned[0].read_text()
    with pytest.raises(callsieve.Error, match="unknown word"):
        callsieve.audit(train, bench, out="out/other", contaminated="burn")  # type: ignore[arg-type]


def test_instructions_are_made_over_an_environment(root: Path) -> None:
    run = callsieve.generate(
        root / "raw/repair-shop.toml",
        bindings=root / "raw/repair-shop.bindings.toml",
        accept=5,
        out="out/workshop",
        progress=False,
    )
    assert run.report["requests"]["kept"] >= 5 and run.failed_gates == []
    assert callsieve.generate(
        root / "raw/repair-shop.toml", accept=5, max_candidates=1, out="out/few", progress=False
    ).failed_gates


def dataset() -> Path:
    """Write a dataset of two entries."""
    folder = Path("bfcl")
    (folder / "possible_answer").mkdir(parents=True)
    function = {
        "name": "water",
        "description": "Waters a bay.",
        "parameters": {
            "type": "dict",
            "properties": {"bay": {"type": "integer", "description": "The bay."}},
            "required": ["bay"],
        },
    }
    name = "BFCL_v4_simple_python.json"
    with (folder / name).open("w") as questions, (folder / "possible_answer" / name).open("w") as answers:
        for number in range(2):
            entry = f"simple_python_{number}"
            question = [[{"role": "user", "content": f"Water bay {number}."}]]
            questions.write(json.dumps({"id": entry, "question": question, "function": [function]}) + "\n")
            answers.write(json.dumps({"id": entry, "ground_truth": [{"water": {"bay": [number]}}]}) + "\n")
    return folder


def test_outputs_of_models_are_scored_as_records_and_as_a_file() -> None:
    folder = dataset()
    results = [{"id": f"simple_python_{number}", "result": "[water(bay=1)]"} for number in range(2)]
    scores = callsieve.evaluate(folder, results, verdicts=True)
    [system] = scores["systems"]
    assert (system["n"], system["correct"], system["accuracy"]) == (2, 1, 0.5)
    assert [verdict["valid"] for verdict in scores["verdicts"]] == [False, True]
    path = Path("results.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in results))
    assert callsieve.evaluate(folder, path)["systems"] == scores["systems"]
    pyarrow = pytest.importorskip("pyarrow")
    assert callsieve.evaluate(folder, pyarrow.Table.from_pylist(results))["systems"] == scores["systems"]
    with pytest.raises(callsieve.Error):
        callsieve.evaluate(folder, results[:1])
    assert callsieve.evaluate(folder, results[:1], partial=True)["systems"][0]["n"] == 1
    with pytest.raises(ValueError, match="expected 'official' or 'strict'"):
        callsieve.evaluate(folder, results, mode="harsh")  # type: ignore[arg-type]


def test_findings_are_those_of_the_command() -> None:
    folder = dataset()
    assert callsieve.check(folder) == []
    lines = [{"id": "a", "function": [{"name": "water", "parameters": {"type": "object"}}]}]
    findings = callsieve.check(lines)
    assert {finding["reason"] for finding in findings} >= {"schema/missing-description"}
    assert {finding["file"] for finding in findings} == {"records"}
    path = Path("lines.jsonl")
    path.write_text(json.dumps(lines[0]) + "\n")
    printed = subprocess.run([*PROGRAM, "check", str(path), "--json"], capture_output=True, text=True).stdout
    of_command = [json.loads(line) for line in printed.splitlines()]
    of_command = [line for line in of_command if line.pop("kind") == "finding"]
    assert callsieve.check(path) == of_command
    only = callsieve.check(path, rule=["schema/missing-description"])
    assert {finding["reason"] for finding in only} == {"schema/missing-description"}
    with pytest.raises(callsieve.Error, match="no rule"):
        callsieve.check(path, rule=["schema/no-such-rule"])


def test_a_log_is_inspected(log: Path) -> None:
    look = callsieve.inspect(log, rows=3)
    printed = subprocess.run(
        [*PROGRAM, "inspect", str(log), "--rows", "3", "--json"], capture_output=True, text=True, check=True
    ).stdout
    of_command = json.loads(printed)
    # The estimate is of time.
    assert {**look, "run": None} == {**of_command, "run": None}
    assert look["lines"]["all"] == 4
    with pytest.raises(callsieve.Error, match="since"):
        callsieve.inspect(log, since="yesterday")
