"""Runs: datasets from logs, audits, instruction sets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

from callsieve import _native
from callsieve._inputs import Source, StrPath, files, paths_of
from callsieve._progress import ProgressOption, Reporter
from callsieve._table import Table

#: Settings of a pipeline, as ``--set`` names them: ``{"merge-near-docs.threshold": 0.7, "seed": 2}``.
Settings = Mapping[str, Any]

#: The folder of the dataset's tables in a run folder.
_DATASET_TABLES = "dataset/data"


class Run:
    """A finished run.

    >>> import callsieve
    >>> records = [{"id": "r1", "query": "Hi", "functions": [{"name": "water", "description": "Waters a bay."}]}]
    >>> run = callsieve.run(records, out="out/ferns", progress=False)
    >>> [(row["external_id"], row["fate"], row["reason"]) for row in run.table("rows")]
    [('r1', 'dropped', 'spam/test-word')]
    >>> run.why("r1")["requests"][0]["fate"]["name"]
    'dropped'
    """

    def __init__(
        self, folder: StrPath, *, failed_gates: Sequence[str] = (), warnings: Sequence[str] = (), reused: int = 0
    ) -> None:
        #: The run folder.
        self.folder = Path(folder)
        #: Why the result is not good enough; empty if it is. The command exits with 1 for these.
        self.failed_gates = list(failed_gates)
        #: What a user should know about the run.
        self.warnings = list(warnings)
        #: How many finished steps of an earlier run in the folder were used again.
        self.reused = reused
        self._native: _native.NativeRun | None = None

    @classmethod
    def open(cls, folder: StrPath) -> Run:
        """Open a finished run. A folder with damaged files is refused."""
        run = cls(folder)
        run._opened()
        return run

    def _opened(self) -> _native.NativeRun:
        if self._native is None:
            self._native = _native.NativeRun.open(self.folder)
        return self._native

    @property
    def report(self) -> dict[str, Any]:
        """All figures of the run: what ``report.json`` holds."""
        return self._json("report.json")

    @property
    def audit(self) -> dict[str, Any] | None:
        """What an audit found: what ``audit.json`` holds; `None` for other runs."""
        return self._json("audit.json") if (self.folder / "audit.json").exists() else None

    @property
    def card(self) -> str:
        """The card of the dataset, in Markdown."""
        return self._opened().card()

    def _json(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return value

    @property
    def tables(self) -> list[str]:
        """The names of the tables, such as ``rows``, ``lists``, ``ledger``, ``scored``: those of their files."""
        folders = [self.folder, self.folder / _DATASET_TABLES]
        return sorted(path.stem for folder in folders for path in folder.glob("*.parquet"))

    def table(self, name: str) -> Table:
        """Return a table of the run.

        `name` is one of :attr:`tables`: ``scored`` and ``unverified`` are the entries of the dataset, ``rows`` has a row for
        each request, ``lists`` for each doc list, ``ledger`` for each event. A path in the run folder names any other table,
        such as ``ingest/requests.parquet``, which has the personal data of the log.
        """
        names = [f"{name}.parquet", f"{_DATASET_TABLES}/{name}.parquet", name]
        for file in (self.folder / name for name in names):
            if file.suffix == ".parquet" and file.is_file():
                return Table.open(file)
        raise KeyError(f"{self.folder} has no table {name!r}: it has {', '.join(self.tables)}")

    def why(self, row: str) -> dict[str, Any]:
        """Return the history of a row, as ``callsieve why --json`` prints it.

        `row` is the id in the log, the start of a request id or list id, ``FILE:LINE``, ``FILE#RECORD``, or the id of an
        entry.
        """
        history: dict[str, Any] = json.loads(self._opened().why(row))
        return history

    def __repr__(self) -> str:
        return f"<callsieve.Run: {self.folder}>"

    def _repr_html_(self) -> str:
        report = self.report
        rows = "".join(
            f"<tr><td>{escape(step['step'])}</td><td>{step['doc_lists']:,}</td><td>{step['requests']:,}</td></tr>"
            for step in report["funnel"]
        )
        gates = "".join(f"<p><b>gate failed:</b> {escape(gate)}</p>" for gate in self.failed_gates)
        notes = "".join(f"<p>warning: {escape(text)}</p>" for text in self.warnings)
        return (
            "<table><thead><tr><th>step</th><th>doc lists</th><th>requests</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{gates}{notes}<p>run: {escape(str(self.folder))}</p>"
        )


def run(
    log: Source | None = None,
    *,
    pipeline: StrPath | None = None,
    out: StrPath | None = None,
    settings: Settings | None = None,
    limit: int | None = None,
    sample_rows: int | None = None,
    assistant: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    baseline: StrPath | None = None,
    freeze: bool = False,
    decisions: StrPath | Sequence[StrPath] = (),
    fresh: bool = False,
    ignore_reviews: bool = False,
    cache_only: bool = False,
    max_cost: float | None = None,
    progress: ProgressOption = None,
) -> Run:
    """Run a pipeline on a log, and write its dataset into a run folder.

    `log` is a path or a list of paths (a path that ends in ``.toml`` is the pipeline, as in the command), a table, or a list of
    records, each what a line of a log may be. Without a pipeline, the live recipe runs. The other arguments are the flags of
    ``callsieve run``; `settings` are those of ``--set``. Finished steps of an earlier run in the folder are used again.

    A gate that fails is no exception: see :attr:`Run.failed_gates`. Ctrl-C stops a run, and the same call continues it.

    >>> import callsieve
    >>> records = [{"query": "Water the ferns in bay 4.", "functions": [{"name": "water", "description": "Waters a bay.",
    ...     "parameters": {"bay": "int"}}]}]
    >>> run = callsieve.run(records, out="out/bay", settings={"seed": 2}, progress=False)
    >>> run.report["requests"]["rows"]
    1
    """
    paths = [] if log is None else paths_of(log)
    if paths is not None:
        pipelines = [path for path in paths if path.endswith(".toml")]
        paths = [path for path in paths if not path.endswith(".toml")]
        if len(pipelines) + (pipeline is not None) > 1:
            raise ValueError("a run has one pipeline; a path that ends in .toml is one")
        pipeline = pipelines[0] if pipelines else pipeline
        if not paths and pipeline is None:
            raise ValueError("nothing to read: give a log or a pipeline")
    all_settings = dict(settings or {})
    of_ingest: dict[str, object] = {"limit": limit, "sample_rows": sample_rows, "assistants": list(assistant) or None}
    of_ingest |= {"since": since, "until": until}
    all_settings |= {f"ingest.{key}": value for key, value in of_ingest.items() if value is not None}
    if baseline is not None:
        all_settings["baseline.run"] = os.fspath(baseline)
    if freeze:
        all_settings["baseline.mode"] = "freeze"
    files_of_decisions = paths_of(decisions)
    if files_of_decisions:
        all_settings["decisions"] = files_of_decisions
    options = _options(out, fresh, ignore_reviews, cache_only, max_cost)
    reporter = Reporter(progress)

    def on(inputs: list[str]) -> Run:
        return _finished(
            _native.run_pipeline(inputs, pipeline, _toml_settings(all_settings), options, reporter), reporter
        )

    if paths is not None:
        return on(paths)
    with files(log) as inputs:  # type: ignore[arg-type]
        return on(inputs)


def audit(
    train: Source,
    bench: Source | str | Sequence[str],
    *,
    out: StrPath | None = None,
    bench_format: str | None = None,
    bench_column: Sequence[str] = (),
    field: Sequence[str] = (),
    objects: Sequence[Literal["query", "docs", "calls", "texts"]] | None = None,
    contaminated: Literal["drop", "hold", "keep"] = "drop",
    suspect: Literal["drop", "hold", "keep"] = "keep",
    judge: str | None = None,
    max_rate: float | None = None,
    settings: Settings | None = None,
    fresh: bool = False,
    cache_only: bool = False,
    max_cost: float | None = None,
    progress: ProgressOption = None,
) -> Run:
    """Find the rows of training sets that overlap a benchmark, and write the sets without them.

    `train` and `bench` are paths, tables or records; `bench` may also be the ids of public sets. The other arguments are the
    flags of ``callsieve audit``. :attr:`Run.audit` has the figures; a rate above `max_rate` is in :attr:`Run.failed_gates`.

    >>> import callsieve
    >>> rows = [{"query": "Which bay of the fern house needs water before the school class visits on Monday?"}]
    >>> run = callsieve.audit(rows, rows, out="out/doctest-audit", fresh=True, progress=False)
    >>> run.audit["total"]["contaminated"]
    1
    """
    reporter = Reporter(progress)
    with files(train, "train") as of_train, files(bench, "bench") as of_bench:
        arguments = {
            "train": of_train,
            "bench": of_bench,
            "bench_format": bench_format,
            "bench_column": list(bench_column),
            "field": list(field),
            "objects": None if objects is None else list(objects),
            "contaminated": contaminated,
            "suspect": suspect,
            "judge": judge,
            "max_rate": max_rate,
            "settings": _toml_settings(settings or {}),
        }
        options = _options(out, fresh, False, cache_only, max_cost)
        return _finished(_native.audit(arguments, options, reporter), reporter)


def generate(
    environment: StrPath,
    *,
    accept: int = 100,
    out: StrPath | None = None,
    executed_by: StrPath | None = None,
    max_candidates: int | None = None,
    seed: int | None = None,
    bindings: StrPath | None = None,
    wording: StrPath | None = None,
    word: str | None = None,
    model: Sequence[str] = (),
    settings: Settings | None = None,
    fresh: bool = False,
    cache_only: bool = False,
    max_cost: float | None = None,
    progress: ProgressOption = None,
) -> Run:
    """Make instructions over an environment by executed programs, or by language models.

    `environment` is a file that describes one, or the run folder of a collection; then `executed_by` is the environment that
    executes its functions (the flag ``--environment``). With `model`, language models write the instructions (``--by model``).
    The other arguments are the flags of ``callsieve generate``. Fewer than `accept` instructions are a failed gate.
    """
    path = Path(environment)
    if out is None:
        # As the command names it.
        if path.is_dir():
            out = path.with_name(f"{path.name}-instructions")
        else:
            out = Path("out", path.parent.name if path.stem == "environment" and path.parent.name else path.stem)
    reporter = Reporter(progress)
    arguments = {
        "over": path,
        "environment": executed_by,
        "accept": accept,
        "max_candidates": max_candidates,
        "seed": seed,
        "bindings": bindings,
        "wording": wording,
        "word": word,
        "model": list(model),
        "settings": _toml_settings(settings or {}),
    }
    options = _options(out, fresh, False, cache_only, max_cost)
    return _finished(_native.generate(arguments, out, options, reporter), reporter)


def _options(
    out: StrPath | None, fresh: bool, ignore_reviews: bool, cache_only: bool, max_cost: float | None
) -> dict[str, Any]:
    return {
        "out": out,
        "fresh": fresh,
        "ignore_reviews": ignore_reviews,
        "cache_only": cache_only,
        "max_cost": max_cost,
    }


def _finished(result: str, reporter: Reporter) -> Run:
    facts = json.loads(result)
    return Run(
        facts["folder"], failed_gates=facts["failed_gates"], warnings=reporter.warnings, reused=facts["reused"]
    )


def _toml_settings(settings: Settings) -> list[tuple[str, str]]:
    return [(place, _toml(value)) for place, value in settings.items()]


def _toml(value: object) -> str:
    """Return a value as TOML. A string becomes a string, whatever it looks like."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        # Strings of JSON are strings of TOML, except that TOML escapes one more character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise TypeError(f"a setting is text, a number, a truth value, a list or a table, and not {type(value).__name__}")
