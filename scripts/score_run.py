#!/usr/bin/env python3
"""Scores a finished run against the known truth of its log.

    score_run.py out/<run> truth.jsonl [--json] [--text-column NAME] [--examples N]

The truth file has one line a request, as `make_sample_log.py --truth` writes it: what was done to the
request on purpose (spam, unusable docs, a mess that can be undone, a right or wrong answer, the request it
continues). Every figure is a numerator over a denominator. A figure with a mark fails the run when it
misses the mark: exit 1. Figures without a mark are only reported. Exit 2: the run or truth cannot be read.

Needs pyarrow or polars; takes rapidfuzz where it is installed, for speed only.
"""

import argparse
import json
import keyword
import re
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

try:
    from rapidfuzz.distance import LCSseq
except ImportError:
    LCSseq = None

NEAR_DOCS = "merge-near-docs"
KEPT = ("kept", "exported", None)
MIN_LOSSLESS = 0.97
MIN_SPAM = 0.95
MIN_UNUSABLE = 0.99
MAX_WRONGLY_DROPPED = 0.005
# A pair of doc lists is too near when ROUGE-L F1 is above 4/5; compared in integers, so that the tie is exact.
NEAR_NUMERATOR, NEAR_DENOMINATOR = 4, 5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN_DIR")
    parser.add_argument("truth", type=Path, metavar="TRUTH")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--text-column", default="compared", metavar="NAME",
                        help="column of lists.parquet holding the doc list as it was when near docs were merged")
    parser.add_argument("--examples", type=int, default=5, metavar="N", help="failing rows named per figure")
    args = parser.parse_args()
    try:
        run, truths = Run(args.run, args.text_column), read_truth(args.truth)
    except (OSError, ValueError, KeyError) as error:
        print(f"score_run: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    figures = score(run, truths)
    for figure in figures:
        figure.examples = figure.examples[: args.examples]
    print(json.dumps([asdict(figure) for figure in figures], indent=2) if args.json else table(figures))
    return 1 if any(figure.holds is False for figure in figures) else 0


def score(run, truths):
    return [*conservation(run, truths), *continuations(run, truths), *near_docs(run), *lossless(run, truths),
            *drops(run, truths), *answers(run, truths), *overlap_and_privacy(run, truths)]


@dataclass
class Figure:
    """A share with its mark. `holds` is None for a figure that is only reported."""

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
    """The tables of a run folder: the one place that knows how they are laid out."""

    def __init__(self, folder, text_column):
        self.rows = read_table(folder / "rows.parquet")
        self.lists = {row["list_id"]: row for row in read_table(folder / "lists.parquet")}
        self.ledger = read_table(folder / "ledger.parquet")
        self.exported = [row for path in sorted((folder / "dataset" / "data").glob("*.parquet")) for row in read_table(path)]
        self.by_request = {row["request_id"]: row for row in self.rows}
        self.by_external = {row["external_id"]: row for row in self.rows}
        self.text_column = text_column
        if any(text_column not in row for row in self.lists.values()):
            raise KeyError(f"lists.parquet has no column {text_column}")

    def end(self, row):
        """The row that `row` was merged into, and on, up to one that was not merged."""
        seen = set()
        while row["fate"] == "merged" and row["request_id"] not in seen and row["into"] in self.by_request:
            seen.add(row["request_id"])
            row = self.by_request[row["into"]]
        return row

    def compared_text(self, list_id):
        """The text that near docs are compared by: compact JSON with sorted keys."""
        text = self.lists[list_id][self.text_column] or ""
        try:
            return json.dumps(json.loads(text, parse_float=verbatim), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        except ValueError:
            return text


def verbatim(number):
    """Keeps a number's own spelling through json; the mark before it is no token."""
    return "\ue000" + number


def read_table(path):
    """Rows as dicts; binary ids become hex."""
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


# --- every row once -------------------------------------------------------------------------------------


def conservation(run, truths):
    seen = [row["external_id"] for row in run.rows]
    repeated = sorted({str(name) for name in duplicates(seen)})
    missing = [name for name in truths if name not in run.by_external]
    unknown = sorted(str(name) for name in set(seen) - set(truths))
    yield Figure("truth ids without a row", len(missing), len(truths), examples=missing).at_most(0)
    yield Figure("rows whose id the truth does not know", len(unknown), len(seen), examples=unknown).at_most(0)
    yield Figure("ids in more than one row", len(repeated), len(seen), examples=repeated).at_most(0)
    for fate in sorted({row["fate"] for row in run.rows}):
        yield Figure(f"rows {fate}", sum(row["fate"] == fate for row in run.rows), len(run.rows))


def duplicates(values):
    seen = set()
    for value in values:
        if value in seen:
            yield value
        seen.add(value)


def present(run, truths, wanted):
    """(truth, row) of the wanted truths; the missing ones are told by `conservation`."""
    return [(truth, run.by_external[name]) for name, truth in truths.items() if wanted(truth) and name in run.by_external]


# --- conversations --------------------------------------------------------------------------------------


def continuations(run, truths):
    pairs = present(run, truths, lambda truth: truth["continues"] is not None)
    failed = [truth["id"] for truth, row in pairs
              if truth["continues"] not in run.by_external
              or not shares_end(run, row, run.by_external[truth["continues"]])]
    yield Figure("continuations merged into the row they continue", len(pairs) - len(failed), len(pairs),
                 examples=failed).at_least(1)


def shares_end(run, row, continued):
    if row["fate"] == "merged" and row["into"] == continued["request_id"]:
        return True
    if continued["fate"] == "merged":
        return row["fate"] == "merged" and run.end(row) is run.end(continued)
    return continued["fate"] in ("dropped", "held") and (row["fate"], row["reason"]) == (continued["fate"], continued["reason"])


# --- near docs ------------------------------------------------------------------------------------------


def near_docs(run):
    # Every list that stood after near copies were merged, whatever became of it later.
    kept = [list_id for list_id, row in run.lists.items()
            if row[run.text_column] and not (row["fate"] == "merged" and str(row["stage"]).startswith(NEAR_DOCS))]
    merges = [event for event in run.ledger
              if event["table"] == "doc_lists" and event["action"] == "merge" and event["stage"].startswith(NEAR_DOCS)]
    encode = Encoder()
    tokens = [encode(run.compared_text(list_id)) for list_id in kept]
    near = [f"{kept[a]} {kept[b]}" for a, b in near_pairs(tokens)]
    yield Figure("pairs of doc lists left above ROUGE-L 0.8", len(near), len(kept) * (len(kept) - 1) // 2,
                 examples=near).at_most(0)
    far, unequal = [], []
    for event in merges:
        a, b = (encode(run.compared_text(list_id)) for list_id in (event["row_id"], event["into"]))
        common = lcs(a, b)
        if not is_near(common, a, b):
            far.append(f"{event['row_id']} {event['into']}")
        if abs(2 * common / max(1, len(a) + len(b)) - (event["score"] or 0)) > 1e-6:
            unequal.append(f"{event['row_id']} {event['into']}")
    yield Figure("merged doc lists above 0.8 with their leader", len(merges) - len(far), len(merges), examples=far).at_least(1)
    yield Figure("their recorded scores that are not the score found here", len(unequal), len(merges), examples=unequal)


class Encoder:
    """Tokens as characters, one code point a distinct token: strings are what LCS libraries are fast on."""

    def __init__(self):
        self.codes = {}

    def __call__(self, text):
        return "".join(self.codes.setdefault(token, self.next_code()) for token in re.findall("[a-z0-9]+", text.lower()))

    def next_code(self):
        number = len(self.codes) + 1
        return chr(number if number < 0xD800 else number + 0x800)  # not the surrogates


def near_pairs(tokens):
    """Index pairs above the threshold, by comparing every two whose lengths allow it."""
    by_length = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
    for place, longer in enumerate(by_length):
        for shorter in reversed(by_length[:place]):
            a, b = tokens[shorter], tokens[longer]
            if not is_near(len(a), a, b):
                break
            if is_near(lcs(a, b), a, b):
                yield min(shorter, longer), max(shorter, longer)


def is_near(common, a, b):
    return 2 * common * NEAR_DENOMINATOR > NEAR_NUMERATOR * (len(a) + len(b))


def lcs(a, b):
    """Length of the longest common subsequence; bit-parallel after Hyyrö where no library does it."""
    if LCSseq is not None:
        return LCSseq.similarity(a, b)
    places = {}
    for at, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << at
    ones = (1 << len(a)) - 1
    row = ones
    for token in b:
        matches = row & places.get(token, 0)
        row = (row + matches | row - matches) & ones
    return len(a) - row.bit_count()


# --- docs that must come back ---------------------------------------------------------------------------


def lossless(run, truths):
    """Doc lists that parsing and fixing must bring back to what they were before the log spoilt them."""
    wanted = present(run, truths, lambda truth: truth["lossless"] and truth["kind"] == "entry"
                     and truth["doc_kind"] in ("original", "near"))
    verdicts = [(truth["id"], came_back(run, row["origin_list_id"], truth["bfcl"])) for truth, row in wanted]
    measured = [(name, verdict) for name, verdict in verdicts if verdict is not None]
    failed = [name for name, verdict in measured if not verdict]
    yield Figure("docs of a mess that can be undone that came back", len(measured) - len(failed), len(measured),
                 examples=failed).at_least(MIN_LOSSLESS)
    yield Figure("not measured: merged into another text or gone before the fix", len(verdicts) - len(measured), len(verdicts))


def came_back(run, list_id, expected):
    """True or False; None where the list was merged with other words or left before it was fixed."""
    while True:
        row = run.lists[list_id]
        if row["functions"] and same_docs(expected, json.loads(row["functions"])):
            return True
        if row.get("compared"):
            # What the list was compared by is the list as fixed, whatever became of it.
            return same_docs(expected, json.loads(row["compared"]))
        if row["fate"] in KEPT:
            return False
        if row["fate"] == "merged" and not row["stage"].startswith(NEAR_DOCS):
            list_id = row["into"]
        else:
            return False if str(row["reason"]).startswith("parse/") else None


def same_docs(expected, got):
    """Equal up to key order, defaults added and parameters renamed away from Python keywords."""
    return isinstance(got, list) and len(expected) == len(got) and all(map(same_schema, map(comparable, expected), map(comparable, got)))


def comparable(doc):
    """`class` becomes `_class`, and `required` a set, since it may be collected in another order."""
    doc = json.loads(json.dumps(doc))
    parameters = doc.get("parameters")
    if isinstance(parameters, dict):
        parameters["properties"] = {safe_name(name): schema for name, schema in (parameters.get("properties") or {}).items()}
        parameters["required"] = sorted(map(safe_name, parameters.get("required") or []))
    return doc


def safe_name(name):
    return f"_{name}" if keyword.iskeyword(name) else name


def same_schema(expected, got):
    if isinstance(expected, dict) and isinstance(got, dict):
        added = set(got) - set(expected)
        return added <= {"default"} and all(key in got and same_schema(value, got[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(same_schema, expected, got))
    return expected == got and isinstance(expected, bool) == isinstance(got, bool)


# --- spam and unusable docs -----------------------------------------------------------------------------


def drops(run, truths):
    yield dropped_for(run, truths, "spam rows dropped as spam", "spam", "spam/").at_least(MIN_SPAM)
    yield dropped_for(run, truths, "rows with unusable docs dropped or held as such, or as spam", "unusable-doc", ("parse/", "spam/")).at_least(MIN_UNUSABLE)
    usable = present(run, truths, lambda truth: truth["kind"] == "entry" and "python-def" not in truth["mess"])
    for kind, prefix in (("spam", "spam/"), ("unusable", "parse/")):
        wrong = [truth["id"] for truth, row in usable if is_dropped(run, row, prefix)]
        figure = Figure(f"good rows dropped as {kind}", len(wrong), len(usable))
        # The official irrelevance set keeps some greetings and test words, which are spam by any rule: no mark there.
        yield figure if kind == "spam" else figure.at_most(MAX_WRONGLY_DROPPED)


def dropped_for(run, truths, name, kind, prefix):
    pairs = present(run, truths, lambda truth: truth["kind"] == kind and truth["continues"] is None)
    missed = [f"{truth['id']} {row['fate']} {row['reason']}" for truth, row in pairs if not is_dropped(run, row, prefix)]
    return Figure(name, len(pairs) - len(missed), len(pairs), examples=missed)


def is_dropped(run, row, prefix):
    """Out of the dataset for a reason of that topic; docs that were cut off are held, not dropped."""
    end = run.end(row)
    return end["fate"] in ("dropped", "held") and str(end["reason"]).startswith(prefix)


# --- answers --------------------------------------------------------------------------------------------


def answers(run, truths):
    """Exported answers by tier, against what the truth says of the logged call."""
    # An answer may be taken from a twin of the request: the call judged is the one that was logged there.
    source = lambda row: run.by_request[row["answer_from"]]["external_id"]
    for tier in sorted({"outcome", "recorded"} | {row["tier"] for row in run.exported if row["tier"]} - {"human"}):
        labels = [(source(row), truths.get(source(row), {}).get("response")) for row in run.exported if row["tier"] == tier]
        for label in ("right", "wrong"):
            named = [name for name, response in labels if response == label]
            figure = Figure(f"{tier} answers whose logged call is {label}", len(named), len(labels))
            if (tier, label) == ("outcome", "wrong"):
                figure.examples = named
                figure.at_most(0)
            yield figure


def overlap_and_privacy(run, truths):
    public = present(run, truths, lambda truth: truth["kind"] == "entry" and truth["doc_kind"] == "public")
    yield Figure("rows with docs of a public set dropped as overlap",
                 sum(is_dropped(run, row, "overlap/") for _, row in public), len(public))
    planted = [(row["external_id"], text) for row in run.exported
               for text in truths.get(row["external_id"], {}).get("pii", [])]
    questions = {row["external_id"]: row["question"] for row in run.exported}
    left = [name for name, text in planted if text in questions[name]]
    yield Figure("planted personal data left in the dataset", len(left), len(planted), examples=left)


def table(figures):
    lines = [f"{'figure':<64}{'count':>16}{'share':>9}{'mark':>10}"]
    for figure in figures:
        share = f"{figure.numerator / figure.denominator:.2%}" if figure.denominator else "-"
        verdict = "" if figure.holds is None else "  ok" if figure.holds else "  MISSED"
        lines.append(f"{figure.name:<64}{f'{figure.numerator}/{figure.denominator}':>16}{share:>9}{figure.mark:>10}{verdict}")
    for figure in figures:
        if figure.holds is False or (figure.holds is None and figure.examples):
            lines += [f"  {figure.name}: {example}" for example in figure.examples]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
