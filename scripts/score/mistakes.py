"""Figures about the log of mistakes by class, from `planted` in its truth.

A log without planted mistakes has none of these figures. Docs with a broken part are held, so no run shows how `fix`
handles them: this is measured if the program is given.
"""

import json
import subprocess

from score.docs import interface
from score.recipe import IRRELEVANT, same_arguments
from score.run import Figure

MIN_COPIES = 0.9
MIN_VARIANTS = 0.9
MIN_READ = 1.0
MIN_DECIDED_RIGHT = 0.95


def planted(run, truths, program=None):
    rows = {name: [] for name in ("near-docs", "near-queries", "leaders", "human-answers", "python-docs", "optional-docs",
                                  "other-scripts", "irrelevant-plain", "tools-for-anything", "record-numbers", "notations")}
    for truth in truths.values():
        if truth.get("planted") and truth["id"] in run.by_external:
            rows[truth["planted"]["class"]].append((truth, run.by_external[truth["id"]]))
    if not any(rows.values()):
        return
    exported = by_external(run)
    yield from near_docs(run, rows["near-docs"], exported)
    yield from near_queries(run, truths, rows["near-queries"])
    yield from leaders(run, rows["leaders"], exported)
    yield from human(run, rows["human-answers"], exported)
    whole, broken = split(rows["python-docs"])
    yield from read(run, whole, "Python modules read as their functions")
    yield from faults(run, broken)
    yield from around_broken(broken, program)
    yield from read(run, rows["optional-docs"], "docs with marks and texts of what is optional fixed as they say")
    yield from other_scripts(run, truths, rows["other-scripts"])
    yield from judged(run, rows["irrelevant-plain"], "plainly irrelevant", True)
    yield from judged(run, rows["tools-for-anything"], "tools for anything", False)
    yield from records(rows["record-numbers"])
    yield from notations(run, rows["notations"], exported)


def by_external(run):
    """Returns the exported entry of each request of the log."""
    return {run.by_request[row["request_id"]]["external_id"]: row for row in run.exported if row["request_id"] in run.by_request}


def named(pairs):
    return [f"{truth['id']} {truth['planted']['case']}: {row['fate']} {row['reason']}" for truth, row in pairs]


# --- near docs ----------------------------------------------------------------------------------------------


def near_docs(run, pairs, exported):
    if not pairs:
        return
    held = [(truth, row) for truth, row in pairs if is_held_for_answer(run, row)]
    yield Figure("near docs: right recorded calls held as not fitting", len(held), len(pairs), examples=named(held)).at_most(0)
    lost = [(truth, row) for truth, row in pairs if interface(functions_of(run, row)) != interface(truth["bfcl"])]
    yield Figure("near docs: requests under docs that a call sees otherwise", len(lost), len(pairs), examples=named(lost)).at_most(0)
    answered = [(truth, row) for truth, row in pairs if truth["id"] in exported and exported[truth["id"]]["ground_truth"]]
    wrong = [(truth, row) for truth, row in answered if not same_calls(run, row, truth, exported[truth["id"]])]
    yield Figure("near docs: answers that came out right", len(answered) - len(wrong), len(answered), examples=named(wrong)).at_least(1)
    yield Figure("near docs: requests that came out with an answer", len(answered), len(pairs))
    renamed = [(truth, row) for truth, row in pairs if truth["planted"]["renamed"]]
    carried = [truth for truth, row in renamed if row["list_id"] != row["origin_list_id"]]
    yield Figure("near docs: requests under an only function of another name", len(carried), len(renamed))


def is_held_for_answer(run, row):
    end = run.end(row)
    return end["fate"] == "held" and str(end["reason"]).startswith("answer/")


def functions_of(run, row):
    return json.loads(run.lists[row["list_id"]]["functions"] or "[]")


def same_calls(run, row, truth, entry):
    """Compares calls by arguments, under the function's name in the docs of the entry."""
    ours = run.json(entry["ground_truth"])
    names = {function["name"] for function in functions_of(run, row)}
    if len(ours) != len(truth["answer"]):
        return False
    for one, other in zip(ours, truth["answer"]):
        (name, arguments), (expected, right) = next(iter(one.items())), next(iter(other.items()))
        if name not in names or (name != expected and not truth["planted"]["renamed"]) or not same_arguments(arguments, right):
            return False
    return True


# --- near queries -------------------------------------------------------------------------------------------


def near_queries(run, truths, pairs):
    if not pairs:
        return
    wrong = wrongly_merged(run, truths, pairs)
    yield Figure("near queries: merged although they ask for something else", len(wrong), len(pairs), examples=named(wrong)).at_most(0)
    copies = [(truth, row) for truth, row in pairs if not truth["planted"]["leader"] and has_leader(truth, pairs)]
    leader_rows = {truth["planted"]["asks"]: row for truth, row in pairs if truth["planted"]["leader"]}
    apart = [(truth, row) for truth, row in copies if run.end(row) is not run.end(leader_rows[truth["planted"]["asks"]])]
    yield Figure("near queries: copies merged", len(copies) - len(apart), len(copies), examples=named(apart)).at_least(MIN_COPIES)
    variants = [(truth, row) for truth, row in pairs if not truth["planted"]["leader"] and not has_leader(truth, pairs)]
    marks = run.cells("merge-near-queries", "variant_of")
    if marks is None:
        return
    marked = {row["request_id"] for row, mark in zip(run.rows, marks) if mark is not None}
    missed = [(truth, row) for truth, row in variants if row["request_id"] not in marked]
    yield Figure("near queries: others marked as variants", len(variants) - len(missed), len(variants),
                 examples=named(missed)).at_least(MIN_VARIANTS)


def has_leader(truth, pairs):
    """Returns whether the leader of its family asks for the same."""
    return any(other["planted"]["leader"] and other["planted"]["asks"] == truth["planted"]["asks"] for other, _ in pairs)


def wrongly_merged(run, truths, pairs):
    """Returns rows that were merged into one that asks for something else."""
    return [(truth, row) for truth, row in pairs if row["fate"] == "merged"
            and asks(truths, run.end(row)) != truth["planted"]["asks"]]


def asks(truths, row):
    return (truths.get(row["external_id"], {}).get("planted") or {}).get("asks")


# --- notations of answers ---------------------------------------------------------------------------------


def notations(run, pairs, exported):
    if not pairs:
        return
    irrelevant = [(truth, row) for truth, row in pairs if truth["id"] in exported and not exported[truth["id"]]["ground_truth"]]
    yield Figure("notations: calls and errors that count as prose", len(irrelevant), len(pairs), examples=named(irrelevant)).at_most(0)
    readable = [(truth, row) for truth, row in pairs if truth["response"] == "right"]
    missed = [(truth, row) for truth, row in readable if not came_out(run, truth, row, exported)]
    yield Figure("notations: calls that came out as the answer", len(readable) - len(missed), len(readable),
                 examples=named(missed)).at_least(1)


# --- where answers come from --------------------------------------------------------------------------------


def leaders(run, pairs, exported):
    if not pairs:
        return
    families = {}
    for truth, row in pairs:
        families.setdefault(truth["planted"]["family"], []).append((truth, row))
    missed = [rows[0] for rows in families.values() if not any(came_out(run, truth, row, exported) for truth, row in rows)]
    yield Figure("leaders: near copies of which the usable answer came out", len(families) - len(missed), len(families),
                 examples=named(missed)).at_least(1)


def came_out(run, truth, row, exported):
    """Returns whether the row or its leader was exported with the right answer."""
    end = run.end(row)
    entry = exported.get(end["external_id"])
    return entry is not None and bool(entry["ground_truth"]) and same_calls(run, end, truth, entry)


def human(run, pairs, exported):
    if not pairs or not run.has_human_answers():
        return
    good = [(truth, row) for truth, row in pairs if truth["planted"]["human"] == "out"]
    missed = [(truth, row) for truth, row in good if not is_human(run, truth, row, exported.get(truth["id"]))]
    yield Figure("human answers: came out under the names as fixed", len(good) - len(missed), len(good), examples=named(missed)).at_least(1)
    faulty = [(truth, row) for truth, row in pairs if truth["planted"]["human"] == "held"]
    loose = [(truth, row) for truth, row in faulty if not is_held_for_answer(run, row)]
    yield Figure("human answers: faulty lines whose request is held", len(faulty) - len(loose), len(faulty), examples=named(loose)).at_least(1)


def is_human(run, truth, row, entry):
    """Returns whether a person's answer was exported correctly, under the names of the exported docs."""
    if entry is None or entry["tier"] != "human":
        return False
    ours, right = (next(iter(calls[0].values())) for calls in (run.json(entry["ground_truth"]), truth["answer"]))
    return same_arguments(ours, right) and set(ours) <= set(functions_of(run, row)[0]["parameters"]["properties"])


# --- docs ---------------------------------------------------------------------------------------------------


def split(pairs):
    """Splits requests into those with intact docs and those with a broken part."""
    return ([(truth, row) for truth, row in pairs if bool(truth["planted"]["fault"]) == broken] for broken in (False, True))


def read(run, pairs, name):
    if not pairs:
        return
    missed = []
    for truth, row in pairs:
        wrong = differences(docs_as_fixed(run, row), truth["planted"]["facts"])
        if wrong:
            missed.append(f"{truth['id']} {truth['planted']['case']}: {wrong}")
    yield Figure(name, len(pairs) - len(missed), len(pairs), examples=missed).at_least(MIN_READ)


def docs_as_fixed(run, row):
    """Returns the fixed docs that the request was sent with, for any fate of the list."""
    found = run.lists[row["origin_list_id"]]
    return json.loads(found.get("compared_text") or found["functions"] or "[]")


def differences(docs, facts):
    """Returns the first difference between docs and facts; None if there is none."""
    functions = {function["name"]: function for function in docs}
    if set(functions) != set(facts):
        return f"functions {', '.join(sorted(functions)) or 'none'}"
    for name, parameters in facts.items():
        schema = functions[name]["parameters"]
        if set(schema["properties"]) != set(parameters):
            return f"parameters {', '.join(schema['properties'])}"
        for parameter, fact in parameters.items():
            wrong = difference(schema["properties"][parameter], parameter in schema.get("required", []), fact)
            if wrong:
                return f"{parameter} {wrong}"
    return None


def difference(schema, required, fact):
    if required != fact["required"]:
        return "is required" if required else "is not required"
    for key in ("type", "default", "enum"):
        if key in fact and schema.get(key) != fact[key]:
            return f"has the {key} {schema.get(key)!r}"
    return None if fact.get("says", "") in schema.get("description", "") else f"is described as {schema.get('description')!r}"


def faults(run, pairs):
    if pairs:
        silent = [(truth, row) for truth, row in pairs if not (run.end(row)["fate"] == "held"
                                                               and run.end(row)["reason"].startswith(truth["planted"]["fault"]))]
        yield Figure("Python modules with a broken part held for it", len(pairs) - len(silent), len(pairs),
                     examples=named(silent)).at_least(1)


def around_broken(pairs, program):
    """Checks that `fix` reads docs except their broken part, which has its own fault."""
    if program is None or not pairs:
        return
    lines = "".join(json.dumps({"id": truth["id"], "function": truth["planted"]["pasted"]}) + "\n" for truth, _ in pairs)
    done = subprocess.run([program, "fix", "--json", "--quiet"], input=lines, capture_output=True, text=True, check=False)
    fixed = {row["id"]: row for row in map(json.loads, done.stdout.splitlines())}
    missed = []
    for truth, _ in pairs:
        row = fixed.get(truth["id"], {})
        wrong = differences(row.get("function") or [], truth["planted"]["facts"])
        if not wrong and len(row["faults"]) != 1:
            wrong = f"{len(row['faults'])} faults"
        if wrong:
            missed.append(f"{truth['id']} {truth['planted']['case']}: {wrong}")
    yield Figure("Python modules that fix reads but for the broken part", len(pairs) - len(missed), len(pairs),
                 examples=missed).at_least(1)


def other_scripts(run, truths, pairs):
    if not pairs:
        return
    docs = [(truth, row) for truth, row in pairs if row["list_id"] != row["origin_list_id"]]
    yield Figure("other scripts: requests whose docs were merged with others", len(docs), len(pairs), examples=named(docs)).at_most(0)
    queries = wrongly_merged(run, truths, pairs)
    yield Figure("other scripts: queries merged with others", len(queries), len(pairs), examples=named(queries)).at_most(0)


# --- the judge, and the place of a record -------------------------------------------------------------------


def judged(run, pairs, name, irrelevant):
    labels = run.cells("judge-queries", "relevance")
    if labels is None or not pairs:
        return
    label_of = {row["request_id"]: label for row, label in zip(run.rows, labels)}
    decided = [(truth, row, label_of[row["request_id"]]) for truth, row in pairs if label_of[row["request_id"]] is not None]
    right = [label for _, _, label in decided if (label in IRRELEVANT) == irrelevant]
    yield Figure(f"{name}: decided", len(decided), len(pairs))
    examples = named([(truth, row) for truth, row, label in decided if (label in IRRELEVANT) != irrelevant])
    yield Figure(f"{name}: decided right", len(right), len(decided), examples=examples).at_least(MIN_DECIDED_RIGHT)


def records(pairs):
    if pairs:
        wrong = [f"{truth['id']} {truth['source']} {row.get('record')}, not {truth['planted']['record']}" for truth, row in pairs
                 if row.get("record") != truth["planted"]["record"]]
        yield Figure("records of arrays and tables named by their number", len(pairs) - len(wrong), len(pairs), examples=wrong).at_least(1)
