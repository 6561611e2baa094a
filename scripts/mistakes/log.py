"""The log of mistakes as files, with its truth: every class of mistakes that a run once made, a few requests each."""

import csv
import io
import json

from mistakes import answers, languages, near_docs, near_queries, notations, records, relevance, sources
from sample.check import in_range, rouge_l, text

# Both ends of what counts as a near copy by ROUGE-L.
NEAR_RANGE = (0.8, 1)
# A copy in another order is found by its vector.
COPY_RANGE = (0.7, 1)


def make_log():
    """({file name: bytes}, truths)"""
    made = [request for module in (near_docs, near_queries, answers, sources, languages, relevance, records, notations) for request in module.requests()]
    requests = [request.number(place) for place, request in enumerate(made)]
    check(requests)
    rows = {source: [request.row() for request in requests if request.source == source] for source in ("log", records.ARRAY, records.TABLE)}
    files = {
        "log.jsonl": lines(rows["log"]),
        "array.json": json.dumps(rows[records.ARRAY], ensure_ascii=False).encode(),
        "breaks.csv": table(rows[records.TABLE]),
        "answers.jsonl": lines({"request": request.id, "ground_truth": request.human} for request in requests if request.human),
    }
    return files, [request.truth() for request in requests]


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(rows):
    """Returns a table; the docs have several lines too."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "function": json.dumps(json.loads(row["function"]), indent=2)} for row in rows)
    return out.getvalue().encode()


def check(requests):
    """Checks the log: docs and queries that are planted as near are near, by words."""
    lists = {text(request.docs): request for request in requests if request.group == near_docs.GROUP}
    for family in {request.family for request in lists.values()}:
        first, *others = (docs for docs, request in lists.items() if request.family == family)
        for docs in others:
            assert in_range(rouge_l(first, docs), NEAR_RANGE), (family, rouge_l(first, docs))
    for request in requests:
        if request.group == near_queries.GROUP and not request.leader:
            leader = next(other for other in requests if other.leader and other.family == request.family)
            bounds = COPY_RANGE if request.asks == leader.asks else NEAR_RANGE
            assert in_range(rouge_l(leader.text, request.text), bounds), (request.text, rouge_l(leader.text, request.text))
