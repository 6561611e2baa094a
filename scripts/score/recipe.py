"""Figures about the recipe: public docs are dropped, personal data is removed, requests are judged, answers are right."""

import re

from score.run import Figure, is_dropped, is_out, present

MIN_PUBLIC = 0.99
MAX_PUBLIC_BY_MISTAKE = 0.002
MIN_JUDGED_RIGHT = 0.95
MIN_SAME_ANSWERS = 0.99
OVERLAP = "overlap/"
# What a planted value is looked up by: its longest stretch without blanks and brackets.
STRETCH = re.compile(r"[\w@.+-]+")
IRRELEVANT = ("irrelevant", "low-quality")


def public(run, truths):
    """Returns figures about rows with and without docs of a public set. A log without such docs has none."""
    planted = present(run, truths, lambda truth: truth["kind"] == "entry" and truth["doc_kind"] == "public")
    if not planted:
        return
    left = [truth["id"] for truth, row in planted if not is_dropped(run, row)]
    yield Figure("rows with docs of a public set dropped", len(planted) - len(left), len(planted), examples=left).at_least(MIN_PUBLIC)
    yield Figure("of them dropped for overlap", sum(is_dropped(run, row, OVERLAP) for _, row in planted), len(planted))
    others = present(run, truths, lambda truth: truth["kind"] == "entry" and truth["doc_kind"] in ("original", "near"))
    wrong = [truth["id"] for truth, row in others if is_dropped(run, row, OVERLAP)]
    yield Figure("other rows dropped for overlap", len(wrong), len(others), examples=wrong).at_most(MAX_PUBLIC_BY_MISTAKE)
    held = [truth["id"] for truth, row in others if is_out(run, row, OVERLAP) and not is_dropped(run, row)]
    yield Figure("other rows held for overlap", len(held), len(others), examples=held)


def privacy(run, truths):
    """Returns the figure of planted personal values in files of the run folder other than the raw tables."""
    values = {value for truth in truths.values() for value in truth["pii"]}
    if not values:
        return
    found = {}
    for name, texts in run.files():
        for value in values_in(texts, values):
            found.setdefault(value, name)
    examples = [f"{value} in {name}" for value, name in sorted(found.items())]
    yield Figure("planted personal values outside the payload", len(found), len(values), examples=examples).at_most(0)


def values_in(texts, values):
    by_stretch = {}
    for value in values:
        by_stretch.setdefault(longest_stretch(value), []).append(value)
    for text in texts:
        for stretch in STRETCH.findall(text):
            for value in by_stretch.get(stretch.strip("."), ()):
                if value in text:
                    yield value


def longest_stretch(value):
    return max((found.strip(".") for found in STRETCH.findall(value)), key=len)


def judged(run, truths):
    """Compares the decisions of `judge-queries` with the official category. A run without that stage has no such figures."""
    relevance = run.cells("judge-queries", "relevance")
    if relevance is None:
        return
    decided, right, wrong, sides = 0, 0, [], {True: [0, 0], False: [0, 0]}
    for row, label in zip(run.rows, relevance):
        truth = truths.get(row["external_id"], {})
        if label is None or truth.get("kind") != "entry" or not truth.get("category"):
            continue
        expected = truth["category"] == "irrelevance"
        is_right = (label in IRRELEVANT) == expected
        decided, right = decided + 1, right + is_right
        sides[label in IRRELEVANT][0] += is_right
        sides[label in IRRELEVANT][1] += 1
        if not is_right:
            wrong.append(f"{row['external_id']} {label}, officially {truth['category']}")
    yield Figure("decided rows judged as the official category says", right, decided, examples=wrong).at_least(MIN_JUDGED_RIGHT)
    yield Figure("rows judged irrelevant that officially are", *sides[True])
    yield Figure("rows judged relevant that officially are", *sides[False])
    unsure = sum(row["reason"] == "relevance/unsure" for row in run.rows)
    n_decided = sum(label is not None for label in relevance)
    yield Figure("rows that reached the judge and were decided", n_decided, n_decided + unsure)


def answers(run, truths):
    """Compares exported answers by tier with the truth about the logged call and with the official answer."""
    # An answer may be taken from a twin of the request: the call judged is the one that was logged there.
    source = lambda row: run.by_request[row["answer_from"]]["external_id"]
    answered = [row for row in run.exported if row["ground_truth"] and row["answer_from"]]
    for tier in sorted({"outcome", "recorded"} | {row["tier"] for row in answered} - {"human"}):
        labels = [(source(row), truths.get(source(row), {}).get("response")) for row in answered if row["tier"] == tier]
        for label in ("right", "wrong"):
            named = [name for name, response in labels if response == label]
            figure = Figure(f"{tier} answers whose logged call is {label}", len(named), len(labels))
            if (tier, label) == ("outcome", "wrong"):
                figure.examples = named
                figure.at_most(0)
            yield figure
    official = [(row, truths[source(row)]["answer"]) for row in answered if row["scored"] and truths.get(source(row), {}).get("answer")]
    # An official answer that holds a personal value cannot come back: question and answer have its placeholder.
    redacted = {event["row_id"] for event in run.ledger if event["action"] == "edit" and event["reason"].startswith("privacy/")}
    personal = [row["id"] for row, _ in official if row["answer_from"] in redacted]
    yield Figure("scored answers whose question was redacted, not compared", len(personal), len(official), examples=personal)
    official = [(row, answer) for row, answer in official if row["answer_from"] not in redacted]
    differ = {row["id"]: says_the_same(run.json(row["ground_truth"]), answer) for row, answer in official}
    wrong = [name for name, verdict in differ.items() if verdict == "no"]
    yield Figure("scored answers that say what the official one's first says", len(official) - len(wrong), len(official),
                 examples=wrong).at_least(MIN_SAME_ANSWERS)
    yield Figure("of them without a parameter more or less that may be left out",
                 sum(verdict == "exactly" for verdict in differ.values()), len(official))


def says_the_same(ours, official):
    """Returns `exactly`, `yes` if one has an additional optional parameter, or `no`; by the first alternatives except `""`."""
    names = [[next(iter(call)) for call in calls] for calls in (ours, official)]
    if names[0] != names[1]:
        return "no"
    pairs = [(next(iter(a.values())), next(iter(b.values()))) for a, b in zip(ours, official)]
    if not all(same_arguments(a, b) for a, b in pairs):
        return "no"
    return "exactly" if all(chosen(a) == chosen(b) for a, b in pairs) else "yes"


def same_arguments(one, other):
    one, other = plain(one), plain(other)
    return all(same_value(one.get(name, [""]), other.get(name, [""])) for name in one.keys() | other.keys())


def same_value(one, other):
    a, b = first(one), first(other)
    if isinstance(a, dict) and isinstance(b, dict):
        return same_arguments(a, b)
    # A value that only one of them has must be one that it may as well leave out.
    return a == b or (a is None and "" in other) or (b is None and "" in one)


def first(alternatives):
    """Returns the first alternative except the mark for optional values; a bare value is returned as it is."""
    if not isinstance(alternatives, list):
        return alternatives
    return next((value for value in alternatives if value != ""), None)


def chosen(arguments):
    """Returns the arguments with the first alternatives, also in nested dicts."""
    values = {name: first(alternatives) for name, alternatives in plain(arguments).items()}
    return {name: chosen(value) if isinstance(value, dict) else value for name, value in values.items() if value is not None}


def plain(arguments):
    """Restores the names of parameters that were renamed from Python keywords."""
    return {name.lstrip("_"): value for name, value in arguments.items()}
