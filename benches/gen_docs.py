#!/usr/bin/env python3
"""Writes a corpus of function docs to benchmark joins: real docs, near-duplicates, and new docs of the same structure.

    gen_docs.py FOLDER --rows N [--seed S] > docs.jsonl

FOLDER holds BFCL question files. The first rows are their distinct docs. Of the others, 30 % are copies with a few
changed words, names or parameters, and the rest have the structure of a real doc and random words of all docs. With the
same seed, a smaller corpus is a prefix of a larger one.
"""

import argparse
import json
import random
import re
import sys
from pathlib import Path

COPIES = 0.3
WORD = re.compile(r"[A-Za-z]{2,}|[0-9]+")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, default=20260301)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    docs = list(real_docs(args.folder))
    if not docs:
        parser.error(f"{args.folder} has no question files")
    words = [word for doc in docs for word in WORD.findall(json.dumps(doc))]
    kept = []
    for row in range(args.rows):
        if row < len(docs):
            doc = docs[row]
        elif draw.random() < COPIES:
            doc = near_copy(draw.choice(kept), draw, words)
        else:
            doc = new_doc(draw.choice(docs), draw, words)
        kept.append(doc)
        sys.stdout.write(json.dumps({"id": row, "doc": json.dumps(doc)}) + "\n")


def real_docs(folder):
    seen = set()
    for path in sorted(folder.glob("BFCL_*live_*.json")):
        for line in path.read_text(encoding="utf-8").splitlines():
            functions = json.loads(line)["function"]
            for doc in functions if isinstance(functions, list) else [functions]:
                text = json.dumps(doc, sort_keys=True)
                if text not in seen:
                    seen.add(text)
                    yield doc


def near_copy(doc, draw, words):
    """Makes some of these changes: another name, other words in descriptions, a parameter less, another order of parameters."""
    share = draw.choice([0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
    doc = with_words(doc, lambda word: draw.choice(words) if draw.random() < share else word)
    properties = list(properties_of(doc).items())
    if len(properties) > 1 and draw.random() < 0.3:
        properties.pop(draw.randrange(len(properties)))
    if draw.random() < 0.3:
        draw.shuffle(properties)
    if properties:
        doc["parameters"]["properties"] = dict(properties)
    if draw.random() < 0.5:
        doc["name"] = f"{draw.choice(words)}_{draw.choice(words)}".lower()
    return doc


def new_doc(doc, draw, words):
    """Returns a doc of the same structure with random words in names and descriptions."""
    doc = with_words(doc, lambda _: draw.choice(words))
    doc["name"] = f"{draw.choice(words)}_{draw.choice(words)}".lower()
    renamed = {f"{draw.choice(words)}_{at}".lower(): schema for at, schema in enumerate(properties_of(doc).values())}
    if renamed:
        doc["parameters"]["properties"] = renamed
        doc["parameters"]["required"] = list(renamed)[: len(doc["parameters"].get("required") or [])]
    return doc


def properties_of(doc):
    return (doc.get("parameters") or {}).get("properties") or {}


def with_words(value, change):
    """Returns a copy with `change` applied to each word of each description."""
    if isinstance(value, dict):
        return {
            key: WORD.sub(lambda found: change(found[0]), inner)
            if key == "description" and isinstance(inner, str)
            else with_words(inner, change)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [with_words(inner, change) for inner in value]
    return value


if __name__ == "__main__":
    main()
