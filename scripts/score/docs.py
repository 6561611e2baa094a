"""Figures about doc lists: no near pair remains, every merged list is near its leader, faulty docs are restored.

A near pair may remain if the interfaces of the lists differ; see `interface`. Texts in other scripts are tokenized
differently; of them only planted docs are scored.
"""

import json
import keyword
import re

from score.run import KEPT, Figure, present, verbatim

try:
    from rapidfuzz.distance import LCSseq
except ImportError:
    LCSseq = None

NEAR_DOCS = "merge-near-docs"
# Letters of scripts that other words are made of: Greek and Cyrillic up to Korean, without signs and dashes. The micro
# sign, pi, Omega and Delta stand in English texts too.
OTHER_SCRIPT = re.compile("(?![\u03bc\u03c0\u03a9\u0394])[\u0370-\u1cff\u2e80-\ua71f\uaa00-\ud7ff\uf900-\ufaff]")
MIN_LOSSLESS = 0.97
# A pair of doc lists is too near when ROUGE-L F1 is above 4/5; compared in integers, so that the tie is exact.
NEAR_NUMERATOR, NEAR_DENOMINATOR = 4, 5


def near_docs(run):
    # Every list that stood after near copies were merged, whatever became of it later.
    kept = [list_id for list_id, row in run.lists.items()
            if row[run.text_column] and not OTHER_SCRIPT.search(row[run.text_column]) and not (row["fate"] == "merged" and str(row["stage"]).startswith(NEAR_DOCS))]
    merges = [event for event in run.ledger
              if event["table_name"] == "doc_lists" and event["action"] == "merge" and event["stage"].startswith(NEAR_DOCS)
              and not any(OTHER_SCRIPT.search(run.lists[event[side]][run.text_column] or "") for side in ("row_id", "merged_into"))]
    encode = Encoder()
    tokens = [encode(run.compared_text(list_id)) for list_id in kept]
    pairs = [(kept[a], kept[b]) for a, b in near_pairs(tokens)]
    near = [f"{a} {b}" for a, b in pairs if interface(run.compared(a)) == interface(run.compared(b))]
    n_pairs = len(kept) * (len(kept) - 1) // 2
    yield Figure("pairs of doc lists left above ROUGE-L 0.8", len(near), n_pairs, examples=near).at_most(0)
    yield Figure("others above it, left since calls see a difference", len(pairs) - len(near), n_pairs)
    far, unequal = [], []
    for event in merges:
        a, b = (encode(run.compared_text(list_id)) for list_id in (event["row_id"], event["merged_into"]))
        common = lcs(a, b)
        if not is_near(common, a, b):
            far.append(f"{event['row_id']} {event['merged_into']}")
        if abs(2 * common / max(1, len(a) + len(b)) - (event["score"] or 0)) > 1e-6:
            unequal.append(f"{event['row_id']} {event['merged_into']}")
    yield Figure("merged doc lists above 0.8 with their leader", len(merges) - len(far), len(merges), examples=far).at_least(1)
    yield Figure("their recorded scores that are not the score found here", len(unequal), len(merges), examples=unequal)


def interface(functions):
    """Returns the interface for calls: names (except that of a single function), parameters, types, required ones and choices."""
    if not isinstance(functions, list):
        return functions
    shown = [json.dumps(["*" if len(functions) == 1 else function.get("name"), seen(function.get("parameters"))], sort_keys=True)
             for function in functions]
    return sorted(shown)


def seen(schema):
    """Returns a schema without descriptions."""
    if not isinstance(schema, dict):
        return None
    shown = {name: schema[name] for name in ("type",) if name in schema}
    shown |= {name: sorted(map(json.dumps, schema[name])) for name in ("required", "enum") if isinstance(schema.get(name), list)}
    shown |= {name: seen(schema[name]) for name in ("items", "additionalProperties", "not") if name in schema}
    shown |= {name: [seen(one) for one in schema[name]] for name in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(name), list)}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        shown["properties"] = {safe_name(name): seen(one) for name, one in properties.items()}
    return shown


class Encoder:
    """Encodes tokens as characters, one code point per distinct token, because LCS libraries are fast on strings."""

    def __init__(self):
        self.codes = {}

    def __call__(self, text):
        return "".join(self.codes.setdefault(token, self.next_code()) for token in re.findall("[a-z0-9]+", text.lower()))

    def next_code(self):
        number = len(self.codes) + 1
        return chr(number if number < 0xD800 else number + 0x800)  # not the surrogates


def near_pairs(tokens):
    """Returns index pairs above the threshold, by comparing all pairs whose lengths allow it."""
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
    """Returns the length of the longest common subsequence; bit-parallel after Hyyrö if there is no library for it."""
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


def lossless(run, truths):
    """Returns the figure of doc lists that parsing and fixing must restore."""
    wanted = present(run, truths, lambda truth: truth["lossless"] and truth["kind"] == "entry"
                     and truth["doc_kind"] in ("original", "near"))
    verdicts = [(truth["id"], came_back(run, row["origin_list_id"], truth["bfcl"])) for truth, row in wanted]
    measured = [(name, verdict) for name, verdict in verdicts if verdict is not None]
    failed = [name for name, verdict in measured if not verdict]
    yield Figure("docs of a mess that can be undone that came back", len(measured) - len(failed), len(measured),
                 examples=failed).at_least(MIN_LOSSLESS)
    yield Figure("not measured: merged into another text or gone before the fix", len(verdicts) - len(measured), len(verdicts))


def came_back(run, list_id, expected):
    """Returns True or False; None if the list was merged with another text or dropped before it was fixed."""
    while True:
        row = run.lists[list_id]
        if row["functions"] and same_docs(expected, json.loads(row["functions"])):
            return True
        if row.get("compared_text"):
            # What the list was compared by is the list as fixed, whatever became of it.
            return same_docs(expected, json.loads(row["compared_text"]))
        if row["fate"] in KEPT:
            return False
        if row["fate"] == "merged" and not row["stage"].startswith(NEAR_DOCS):
            list_id = row["merged_into"]
        else:
            return False if str(row["reason"]).startswith("parse/") else None


def same_docs(expected, got):
    """Compares docs, except for key order, added defaults, parameters renamed from Python keywords, and numbers as text."""
    return isinstance(got, list) and len(expected) == len(got) and all(map(same_schema, map(comparable, expected), map(comparable, got)))


def comparable(doc):
    """Makes docs comparable: `class` becomes `_class`, `required` a set (its order may differ), and "1" of an integer 1."""
    doc = json.loads(json.dumps(doc))
    parameters = doc.get("parameters")
    if isinstance(parameters, dict):
        properties = (parameters.get("properties") or {}).items()
        parameters["properties"] = {safe_name(name): with_numbers(schema) for name, schema in properties}
        parameters["required"] = sorted(map(safe_name, parameters.get("required") or []))
    return doc


def with_numbers(schema):
    """Returns a schema with `default` and `enum` as numbers instead of their texts, like the fix."""
    if not isinstance(schema, dict):
        return schema
    schema = dict(schema)
    kind = {"integer": int, "float": float}.get(schema.get("type"))
    if kind is not None:
        enum = schema.get("enum")
        if isinstance(enum, list) and enum:
            numbers = [as_number(value, kind) for value in enum]
            schema["enum"] = enum if None in numbers else numbers
        number = as_number(schema.get("default"), kind)
        if number is not None:
            schema["default"] = number
    return schema


def as_number(value, kind):
    """Returns the number of which the text is the exact notation; None if there is none."""
    if not isinstance(value, str):
        return None
    try:
        return kind(value) if str(kind(value)) == value else None
    except ValueError:
        return None


def safe_name(name):
    return f"_{name}" if keyword.iskeyword(name) else name


def same_schema(expected, got):
    if isinstance(expected, dict) and isinstance(got, dict):
        added = set(got) - set(expected)
        return added <= {"default"} and all(key in got and same_schema(value, got[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(same_schema, expected, got))
    return expected == got and isinstance(expected, bool) == isinstance(got, bool)
