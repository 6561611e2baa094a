"""Checks of the sample log."""

import json
import re
from itertools import combinations

from sample.mess import FAULTS, SPELLINGS
from sample.noise import CARD, EMAIL, VALUES

NEAR, UNLIKE = 0.8, 0.74
LOOK_ALIKES = (("bike_rental", "scooter_rental"), ("pool", "tennis"))
LOOK_ALIKE_RANGE = (0.65, NEAR)
NEAR_COPY_RANGE = (0.85, 0.98)


def check(requests, truths):
    ids = [truth["id"] for truth in truths]
    assert len(ids) == len(set(ids)), "an id is used twice"
    every_mess_occurs(requests)
    every_category_is_answered(truths)
    docs_are_as_near_as_meant(requests)
    queries_are_unlike(requests)
    every_personal_value_is_planted(truths)


def every_mess_occurs(requests):
    sent = [request for request in requests if request.kind == "entry"]
    spellings = {request.spelling for request in sent}
    spellings -= {None, "python-def"}
    assert spellings == set(SPELLINGS), set(SPELLINGS) - spellings
    faults = {request.fault for request in sent}
    assert faults == set(FAULTS), set(FAULTS) - faults
    assert {request.loop for request in sent} == {None, "confirmed", "refuted", "corrected"}
    assert {request.response for request in sent} == {"right", "wrong", "declined", "cut", "none"}


def every_category_is_answered(truths):
    for category in ("simple", "multiple", "parallel", "parallel_multiple"):
        right = [truth for truth in truths
                 if truth["category"] == category and truth["response"] == "right" and truth["continues"] is None]
        assert sum(truth["outcome"] for truth in right) >= 3, f"few confirmed answers in {category}"
        assert sum(not truth["outcome"] for truth in right) >= 5, f"few recorded answers in {category}"


def docs_are_as_near_as_meant(requests):
    originals = {request.base: request for request in requests if request.doc_kind == "original"}
    for request in requests:
        if request.doc_kind == "near":
            score = rouge_l(text(request.docs), text(originals[request.base].docs))
            assert in_range(score, NEAR_COPY_RANGE), (request.domain.name, score)
    for a, b in combinations(originals.values(), 2):
        score = rouge_l(text(a.docs), text(b.docs))
        names = tuple(sorted((a.domain.name, b.domain.name)))
        if names in LOOK_ALIKES:
            assert in_range(score, LOOK_ALIKE_RANGE), (names, score)
        else:
            assert score <= NEAR, (names, score)


def queries_are_unlike(requests):
    """Checks that no two asks of one doc list are near-duplicates."""
    for domain in {id(request.domain): request.domain for request in requests}.values():
        for a, b in combinations(domain.asks, 2):
            score = rouge_l(a.text, b.text)
            assert score <= UNLIKE, (a.text, b.text, score)


def every_personal_value_is_planted(truths):
    planted = [value for truth in truths if truth["continues"] is None for value in truth["pii"]]
    assert set(planted) == set(VALUES), set(VALUES) ^ set(planted)
    assert planted.count(EMAIL) > 1 and planted.count(CARD) > 1, "no value stands in two requests"


def in_range(score, bounds):
    return bounds[0] <= score <= bounds[1]


def text(docs):
    return json.dumps(docs, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def rouge_l(a, b):
    """Returns ROUGE-L F1 of the words and numbers of two texts."""
    a, b = (re.findall("[a-z0-9]+", side.lower()) for side in (a, b))
    places = {}
    for at, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << at
    ones = row = (1 << len(a)) - 1
    for token in b:
        matches = row & places.get(token, 0)
        row = (row + matches | row - matches) & ones
    return 2 * (len(a) - row.bit_count()) / max(1, len(a) + len(b))
