"""A finished run and its truth, as input of the figures. Only this module knows the layout of a run folder."""

import json
from dataclasses import dataclass, field

KEPT = ("kept", "exported", None)
# Where text stands as it was sent.
PAYLOAD = ("ingest/requests.parquet", "ingest/doc_lists.parquet", "stdin")


@dataclass
class Figure:
    """A share with its threshold. `holds` is None for a figure that is only reported."""

    name: str
    numerator: int
    denominator: int
    mark: str = ""
    holds: bool | None = None
    examples: list = field(default_factory=list)

    def at_least(self, share):
        self.mark = f">= {share:.1%}"
        self.holds = self.numerator >= share * self.denominator
        return self

    def at_most(self, share):
        self.mark = f"<= {share:.1%}" if share else "none"
        self.holds = self.numerator <= share * self.denominator
        return self


class Run:
    """The tables of a run folder. Only this class knows their layout."""

    def __init__(self, folder, text_column):
        self.rows = read_table(folder / "rows.parquet")
        self.lists = {row["list_id"]: row for row in read_table(folder / "lists.parquet")}
        self.ledger = read_table(folder / "ledger.parquet")
        # The tables of the dataset have ids of their own; the run folder knows which record each entry was made of.
        origins = {(row["set"], row["id"]): row for row in read_table(folder / "entries.parquet")}
        self.exported = [row | origins.get((path.stem, row["id"]), {}) | {"scored": path.stem == "scored"}
                         for path in sorted((folder / "dataset" / "data").glob("*.parquet")) for row in read_table(path)]
        self.folder = folder
        self.by_request = {row["request_id"]: row for row in self.rows}
        self.by_external = {row["external_id"]: row for row in self.rows}
        self.text_column = text_column
        if any(text_column not in row for row in self.lists.values()):
            raise KeyError(f"lists.parquet has no column {text_column}")

    def end(self, row):
        """Returns the row at the end of the merges of `row`."""
        seen = set()
        while row["fate"] == "merged" and row["request_id"] not in seen and row["merged_into"] in self.by_request:
            seen.add(row["request_id"])
            row = self.by_request[row["merged_into"]]
        return row

    def cells(self, kind, column):
        """Returns the cells that the last stage of that kind wrote to a column, by row; None without such a stage."""
        folders = sorted((self.folder / "stages").glob(f"[0-9]*-{kind}"))
        return [row[column] for row in read_table(folders[-1] / "columns.parquet")] if folders else None

    def has_human_answers(self):
        """Returns whether the run used a file of answers of people."""
        stages = json.loads((self.folder / "run.json").read_text())["pipeline"]["stages"]
        return any(stage["settings"].get("answers") for stage in stages)

    def files(self):
        """Returns (name, texts) of every file except the raw tables; the texts of a table are its cells."""
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_dir() or name in PAYLOAD:
                continue
            if path.suffix == ".parquet":
                yield name, (cell for row in read_table(path) for cell in row.values() if isinstance(cell, str))
            else:
                yield name, [path.read_text(encoding="utf-8", errors="replace")]

    @staticmethod
    def json(text):
        return json.loads(text)

    def compared(self, list_id):
        """Returns the JSON by which near docs are compared, or the text itself if it is not JSON."""
        text = self.lists[list_id][self.text_column] or ""
        try:
            return json.loads(text)
        except ValueError:
            return text

    def compared_text(self, list_id):
        """Returns the text by which near docs are compared: compact JSON with sorted keys."""
        text = self.lists[list_id][self.text_column] or ""
        try:
            return json.dumps(json.loads(text, parse_float=verbatim), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        except ValueError:
            return text


def verbatim(number):
    """Keeps the notation of a number through json; the mark before it is not a token."""
    return "\ue000" + number


def read_table(path):
    """Returns rows as dicts; binary ids become hex."""
    try:
        import pyarrow.parquet
        rows = pyarrow.parquet.read_table(path).to_pylist()
    except ImportError:
        import polars
        rows = polars.read_parquet(path).to_dicts()
    return [{name: value.hex() if isinstance(value, bytes) else value for name, value in row.items()} for row in rows]


def read_truth(path):
    with open(path, encoding="utf-8") as lines:
        return {truth["id"]: truth for truth in map(json.loads, lines)}


def present(run, truths, wanted):
    """Returns (truth, row) of the wanted truths; `conservation` reports missing rows."""
    return [(truth, run.by_external[name]) for name, truth in truths.items() if wanted(truth) and name in run.by_external]


def is_out(run, row, prefix=""):
    """Returns whether a row is not in the dataset for a reason of that topic; truncated docs are held, not dropped."""
    end = run.end(row)
    return end["fate"] in ("dropped", "held") and str(end["reason"]).startswith(prefix)


def is_dropped(run, row, prefix=""):
    """Returns whether a row was dropped for a reason of that topic, or merged into such a row."""
    return run.end(row)["fate"] == "dropped" and is_out(run, row, prefix)
