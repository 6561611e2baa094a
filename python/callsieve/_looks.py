"""What needs no run: a first look at a log, faults of a dataset, scores of models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from callsieve import _native
from callsieve._inputs import Source, StrPath, arrow_of, files, paths_of, write_lines


def inspect(
    log: Source,
    *,
    rows: int = 2000,
    seed: int = 1,
    assistant: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
) -> dict[str, Any]:
    """Show what a log contains, from a sample of its lines: what ``callsieve inspect --json`` prints.

    `log` is a path or a list of paths, a table, or a list of records. Nothing is written.

    >>> import callsieve
    >>> look = callsieve.inspect([{"query": "Water bay 4.", "functions": [{"name": "water", "parameters": {}}]}])
    >>> look["lines"]["requests"]
    1
    """
    with files(log) as paths:
        look: dict[str, Any] = json.loads(
            _native.inspect(paths, rows=rows, seed=seed, assistant=list(assistant), since=since, until=until)
        )
        return look


def check(
    path_or_records: Source,
    *,
    rules: Literal["bfcl", "official-linter"] = "bfcl",
    rule: Sequence[str] = (),
    level: Literal["error", "note", "fact"] = "note",
) -> list[dict[str, Any]]:
    """Check functions or a dataset against the rules of BFCL, and return the findings.

    `path_or_records` is a file, a folder, a run folder, a table or a list of records ``{"id": …, "function": […]}``. A finding
    has the keys of ``callsieve check --json``. With `rule`, all findings of these rules are returned, whatever their level.

    >>> import callsieve
    >>> findings = callsieve.check([{"id": "a", "function": [{"name": "water", "parameters": {"type": "object"}}]}])
    >>> sorted({finding["reason"] for finding in findings})
    ['schema/...]
    """
    levels = ["error", "note", "fact"]
    wanted = levels if rule else levels[: levels.index(level) + 1]
    paths = paths_of(path_or_records)
    if paths is not None:
        if len(paths) != 1:
            raise ValueError("one file or folder is checked at a time")
        findings = _native.check(paths[0], rules=rules, rule=list(rule))
    else:
        table = arrow_of(path_or_records)
        records: Any = path_or_records if table is None else _native.NativeTable.of_table(table).to_pylist()
        with TemporaryDirectory(prefix="callsieve-") as folder:
            path = Path(folder, "records.jsonl")
            write_lines(path, records)
            findings = _native.check(path, rules=rules, rule=list(rule)).replace(json.dumps(str(path)), '"records"')
    return [finding for finding in json.loads(findings) if finding["level"] in wanted]


def evaluate(
    dataset: StrPath,
    results: Source,
    *,
    recorded: StrPath | None = None,
    underscore_to_dot: bool = False,
    decode: Literal["official", "lenient"] = "official",
    strip_thinking: bool = False,
    mode: Literal["official", "strict"] = "official",
    matching: Literal["greedy", "maximum"] = "greedy",
    partial: bool = False,
    pairs: bool = True,
    verdicts: bool = False,
) -> dict[str, Any]:
    """Score the outputs of models on a dataset as BFCL does: what ``callsieve evaluate --json`` prints.

    `dataset` is a folder of BFCL question files, or a run folder. `results` are paths, a table or a list of records: ``id`` and
    one of ``text``, ``output``, ``response``, ``result`` and ``tool_calls``. With `verdicts`, the key of that name has the verdict
    on each output.
    """
    with files(results, "results") as paths:
        table = arrow_of(results)
        if table is not None:
            # Results are read from JSON lines.
            lines = Path(paths[0]).with_suffix(".jsonl")
            write_lines(lines, _native.NativeTable.of_table(table).to_pylist())
            paths = [str(lines)]
        arguments = {
            "dataset": dataset,
            "results": paths,
            "recorded": recorded,
            "underscore_to_dot": underscore_to_dot,
            "lenient": _is("decode", decode, "lenient", "official"),
            "strip_thinking": strip_thinking,
            "strict": _is("mode", mode, "strict", "official"),
            "maximum": _is("matching", matching, "maximum", "greedy"),
            "partial": partial,
            "pairs": pairs,
            "verdicts": verdicts,
        }
        figures, lines_of_verdicts = _native.evaluate(arguments)
    scores: dict[str, Any] = json.loads(figures)
    if lines_of_verdicts is not None:
        scores["verdicts"] = [json.loads(line) for line in lines_of_verdicts.splitlines()]
    return scores


def _is(name: str, value: str, wanted: str, usual: str) -> bool:
    if value not in (wanted, usual):
        raise ValueError(f"{name} is {value!r}, expected {usual!r} or {wanted!r}")
    return value == wanted
