#!/usr/bin/env python3
"""Writes the sample log in raw/: requests to invented services, with all the faults of real logs.

    make_sample_log.py [--out raw] [--truth FILE] [--mistakes]

writes
    hosted.jsonl       function docs as pasted text, the prompt as text, the response in call syntax or prose
    openai.jsonl.gz    chat-completions requests and responses, agent loops with tool results
    anthropic.jsonl    messages requests and responses
    pairs.csv          queries with function docs
    answers.jsonl      answers of a person to requests that the model did not answer

    and, on request, the truth about each request, for score_run.py. One line per request:
    id, kind (entry, spam, unusable-doc), doc (key of the doc list as sent), base (key of the doc list it was
    made from), doc_kind (original, near, public, low-quality), set (the public set that its docs are in), category
    (BFCL's), query (key), query_kind (exact, near, continuation, correction), mess (faults and spelling), lossless
    (the doc list can be restored), bfcl (its expected form), pii (planted strings), response (right, wrong, declined, cut,
    none, unreadable, failed), answer (ground truth), outcome (a later request shows that the call worked), continues (id of the request that it
    continues), source (file)

    With `--mistakes` it writes another log to out/mistakes-log, with several requests for each class of mistakes that a run
    once made. They are defined in mistakes/ and scored by class. The sample log does not change.
    log.jsonl          function docs as pasted text, the prompt as text, the response in call syntax or prose
    array.json         the same, as one array on one line
    breaks.csv         the same, with line breaks in its cells
    answers.jsonl      answers of people, two of them faulty
    Its truth has an additional key, `planted`: see mistakes/planted.py.

Standard library only. The same code gives the same bytes.
"""

import argparse
import csv
import gzip
import io
import json
import random
import sys
from itertools import count, cycle
from pathlib import Path

sys.dont_write_bytecode = True
from mistakes.log import make_log  # noqa: E402 (after the line above, which they obey)
from sample import home, noise, town  # noqa: E402
from sample.check import check  # noqa: E402
from sample.extra import extra_requests  # noqa: E402
from sample.mess import FAULTS, SPELLINGS, spell, spoil  # noqa: E402
from sample.request import Request, key  # noqa: E402
from sample.wire import anthropic_rows, hosted_row, openai_rows, pairs_row  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SEED = 20240226
START, STEP_SECONDS = 1708934400, 947
# The number of usable requests of each category that continue as an agent loop with valid tool results.
CONFIRMED = {"simple": 5, "multiple": 5, "parallel": 4, "parallel_multiple": 4}
REFUTED = 4

NEAR_QUERIES = (
    str.lower,
    lambda text: text.rstrip(".?!") + "!!",
    lambda text: "Please, " + text[:1].lower() + text[1:],
    lambda text: text + " Thanks a lot.",
    lambda text: "  " + text.replace(" ", "  ", 3) + "\n",
    lambda text: text.upper(),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder of the log [default: raw, or out/mistakes-log]")
    parser.add_argument("--truth", type=Path, help="also write the truth about each request")
    parser.add_argument("--mistakes", action="store_true", help="write the log of mistakes instead of the sample log")
    args = parser.parse_args()
    files, truths = make_log() if args.mistakes else sample_log()
    out = args.out or ROOT / ("out/mistakes-log" if args.mistakes else "raw")
    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (out / name).write_bytes(data)
    if args.truth:
        args.truth.write_bytes(lines(truths))


def sample_log():
    requests = make_requests(random.Random(SEED))
    files, truths = write_log(requests)
    check(requests, truths)
    return files, truths


# --- what is asked ------------------------------------------------------------------------------------------


def make_requests(rng):
    """Returns all requests in order of time."""
    requests = [request for domain in (*home.DOMAINS, *town.DOMAINS) for request in domain_requests(domain)]
    requests += noisy_requests(requests)
    spell_docs(requests)
    rng.shuffle(requests)
    number_requests(requests)
    answer(requests, rng)
    plan_loops(requests)
    extra = extra_requests(requests)
    number_requests(extra, len(requests))
    return requests + extra


def number_requests(requests, first=0):
    for number, request in enumerate(requests, first):
        request.id = f"r{number:04d}"
        request.time = START + number * STEP_SECONDS
        request.user = f"u{int(request.base, 16) % 40:02d}"


def domain_requests(domain):
    """Returns each ask under a matching list, some under two lists, some twice in other words, some under a near-duplicate."""
    docs = {doc["name"]: doc for doc in domain.functions}
    lists = [[docs[name] for name in names] for names in domain.lists]
    for number, ask in enumerate(domain.asks):
        wanted = {name for name, _ in (*ask.calls, *ask.then)}
        fitting = [found for found in lists if wanted <= {doc["name"] for doc in found}]
        chosen = fitting[number % len(fitting)]
        yield Request(domain, ask, chosen)
        if ask.unanswered:
            continue
        if len(fitting) > 1 and number % 3 == 0:
            yield Request(domain, ask, fitting[(number + 1) % len(fitting)])
        if ask.reworded:
            yield Request(domain, ask, chosen, text=ask.reworded, query_kind="near")
        if number == 0:
            yield Request(domain, ask, chosen)
        if number == 2:
            variant = NEAR_QUERIES[len(ask.text) % len(NEAR_QUERIES)]
            yield Request(domain, ask, chosen, text=variant(ask.text), query_kind="near")
        if domain.near and number < 3 and fitting[0] is lists[0]:
            yield Request(domain, ask, near_copy(lists[0], domain.near), base_docs=lists[0], doc_kind="near")


def near_copy(docs, edits):
    text = json.dumps(docs, ensure_ascii=False)
    for old, new in edits:
        assert old in text, f"{old!r} is not in the docs"
        text = text.replace(old, new)
    return json.loads(text)


def noisy_requests(requests):
    """Returns spam, texts that are not docs, and requests with personal data, based on some of the good requests."""
    good = cycle([request for request in requests[::7]
                  if request.ask.calls and not request.ask.then and request.doc_kind == "original"])
    for text in noise.SPAM:
        beside = next(good)
        yield Request(beside.domain, beside.ask, beside.docs, text=text, kind="spam")
    for text in noise.UNUSABLE:
        beside = next(good)
        yield Request(beside.domain, beside.ask, beside.docs, kind="unusable-doc", pasted=text)
    for sentence, personal in noise.PERSONAL:
        beside = next(good)
        end = "" if beside.ask.text[-1] in ".?!" else "."
        yield Request(beside.domain, beside.ask, beside.docs, text=f"{beside.ask.text}{end} {sentence}",
                      query_kind="near", pii=[personal])


def spell_docs(requests):
    """Gives each doc list its own fault, and each request a spelling; a list that is sent again has another spelling."""
    faults, spellings, fault_of = cycle(FAULTS), cycle(SPELLINGS), {}
    for request in requests:
        if request.pasted is not None:
            request.source = "hosted" if len(request.pasted) % 2 else "pairs"
            continue
        doc_key = key(request.docs)
        if doc_key not in fault_of:
            fault_of[doc_key] = next(fault for fault in faults if spoil(request.docs, fault))
        request.fault = fault_of[doc_key]
        request.sent, request.bfcl, request.lossless = spoil(request.docs, request.fault)
        request.spelling = next(spelling for spelling in spellings if spell(request.sent, spelling) is not None)
        request.pasted = spell(request.sent, request.spelling)


# --- what the model did -------------------------------------------------------------------------------------


def answer(requests, rng):
    """Returns the logged response: mostly the right calls, sometimes wrong ones, prose, a truncated answer or nothing."""
    spoilers = cycle(SPOILERS)
    for request in requests:
        if request.kind != "entry" or not request.ask.calls or request.ask.unanswered:
            request.response = rng.choice(["declined", "declined", "none"])
            continue
        weights = (90, 4, 3, 0, 3) if len(request.ask.calls) > 1 or request.ask.then else (76, 9, 6, 3, 6)
        request.response = rng.choices(("right", "wrong", "declined", "cut", "none"), weights)[0]
        request.calls = list(request.ask.calls)
        if request.response == "wrong":
            request.calls = wrong_calls(request, spoilers)


def wrong_calls(request, spoilers):
    """Returns the calls with the first one changed in the next applicable wrong way."""
    (name, arguments), *others = request.ask.calls
    required = next(doc for doc in request.docs if doc["name"] == name)["parameters"]["required"]
    return [next(spoilt for spoilt in (spoiler(name, arguments, required) for spoiler in spoilers) if spoilt), *others]


def unknown_function(name, arguments, _):
    return name + "_now", arguments


def missing_argument(name, arguments, required):
    return (name, {key: value for key, value in arguments.items() if key != required[0]}) if required else None


def invented_argument(name, arguments, _):
    return name, {**arguments, "verbose": True}


def other_value(name, arguments, _):
    first = next(iter(arguments))
    value = arguments[first]
    return name, {**arguments, first: value + 1 if isinstance(value, int | float) else "something else"}


SPOILERS = (unknown_function, missing_argument, other_value, invented_argument)


def plan_loops(requests):
    """Chooses the file of each request, and the requests that continue with the result of their calls."""
    left, refuted, corrected, sources = dict(CONFIRMED), REFUTED, 1, cycle(
        ("hosted", "hosted", "openai", "hosted", "pairs", "hosted", "anthropic", "hosted", "pairs", "hosted"))
    for request in requests:
        if request.source:
            continue
        request.source = next(sources)
        if request.has_keyword_arguments() and request.source in ("hosted", "pairs"):
            request.source = "openai"  # call syntax has no way to write them
        if request.kind != "entry" or request.doc_kind == "near" or request.query_kind != "exact":
            continue
        if request.response == "right" and (left[request.category] or request.ask.then):
            left[request.category] = max(0, left[request.category] - 1)
            request.loop = "confirmed"
        elif request.response == "wrong" and refuted:
            refuted -= 1
            request.loop = "refuted"
        elif request.response == "wrong" and corrected:
            corrected -= 1
            request.loop = "corrected"
        if request.loop and (request.source != "anthropic" or request.loop == "corrected" or request.ask.then):
            request.source = "openai"


# --- files --------------------------------------------------------------------------------------------------


def write_log(requests):
    """({file name: bytes}, truths)"""
    rows, truths, numbers = {"hosted": [], "openai": [], "anthropic": [], "pairs": []}, [], count()
    for request in requests:
        if request.source in ("openai", "anthropic"):
            make_rows = openai_rows if request.source == "openai" else anthropic_rows
            request.send_as_json()
            for row, truth in make_rows(request, next(numbers)):
                rows[request.source].append(row)
                truths.append(truth)
        else:
            rows[request.source].append(hosted_row(request) if request.source == "hosted" else pairs_row(request))
            truths.append(request.truth())
    rows["openai"].insert(9, no_functions_row())
    return {
        "hosted.jsonl": with_unreadable_lines(lines(rows["hosted"])),
        "openai.jsonl.gz": gzip.compress(lines(rows["openai"]), mtime=0),
        "anthropic.jsonl": lines(rows["anthropic"]),
        "pairs.csv": csv_bytes(rows["pairs"]),
        "answers.jsonl": lines({"request": request.id, "ground_truth": request.ground_truth()}
                               for request in requests if request.ask.unanswered and request.kind == "entry"),
    }, truths


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def no_functions_row():
    return {"id": "x0001", "ts": START + 11, "user": "u03", "session": "s-x", "status": 200,
            "request": {"model": "relay-large", "messages": [{"role": "user", "content": "Write a limerick about a ferry."}]},
            "response": None}


def with_unreadable_lines(data):
    """Inserts lines without a request: truncated, not UTF-8, blank, and unrelated ones."""
    out = data.splitlines(keepends=True)
    out.insert(12, out[12][:150].rstrip(b"\n") + b"\n")
    out.insert(31, '{"id": "x0002", "prompt": "Café hours?", "function": "[]"}\n'.encode("latin-1"))
    out.insert(40, b"\n")
    out.insert(57, b'{"event": "deploy", "version": "1.8.2"}\n')
    return b"".join(out)


def csv_bytes(rows):
    """A spreadsheet's export: byte-order mark, CRLF, doubled quotes."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(["id", "time", "query", "functions", "response"])
    table.writerows(rows)
    return b"\xef\xbb\xbf" + text.getvalue().encode()


if __name__ == "__main__":
    main()
