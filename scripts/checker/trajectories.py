#!/usr/bin/env python3
"""Writes the ground truths of the official multi-turn and agentic categories as results of made-up models.

    scripts/checker/trajectories.py OUT_DIR [--seed 1]

OUT_DIR/prompted has the calls as texts, OUT_DIR/calling as function calls. Arguments without a name, which the official
decoder drops, get their names from the docs of the package. Agentic outputs are a sentence with the first answer.
OUT_DIR/wrong has the same results with one call left out, or a sentence without the answer. OUT_DIR/mutated has texts of which
some are right: calls are left out, repeated, moved, or have another value, and texts have prose or a syntax error.
"""

import argparse
import ast
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import check_official

MULTI_TURN = ["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"]

SENTENCES = {"prompted": "I think that it is {}.", "calling": "It is {}, as far as I know.", "wrong": "It is not known to me."}
MUTATED = ["{}", "It is {}.", "{}0", "not{}", "'{}'", "[answer(value='{}')]", "", "It is not known to me."]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    args = parser.parse_args()
    out, rng = args.out, random.Random(args.seed)
    utils = check_official.official().utils
    parameters = {}
    for path in sorted((utils.PROMPT_PATH / "multi_turn_func_doc").glob("*.json")):
        for line in path.read_text().splitlines():
            doc = json.loads(line)
            parameters.setdefault(doc["name"], list(doc["parameters"]["properties"]))
    for category in MULTI_TURN:
        path = utils.POSSIBLE_ANSWER_PATH / f"BFCL_v4_{category}.json"
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        turns = {entry["id"]: [[named(call, parameters) for call in turn] for turn in entry["ground_truth"]]
                 for entry in entries}
        write(out, "prompted", category, turns, as_text)
        write(out, "calling", category, turns, as_calls)
        rows = [{"id": key, "result": mutated(rng, value)} for key, value in turns.items()]
        write_rows(out, "mutated", "multi_turn", category, rows)
        write(out, "wrong", category, {key: without_one(value) for key, value in turns.items()}, as_calls)
    for category in ["memory_kv", "memory_vector", "memory_rec_sum", "web_search_base", "web_search_no_snippet"]:
        of_file = "memory" if category.startswith("memory") else "web_search"
        answers = utils.load_ground_truth_entry(category)
        for model, text in SENTENCES.items():
            rows = [{"id": entry["id"].replace(of_file, category), "result": [[text.format(entry["ground_truth"][0])]]}
                    for entry in answers]
            write_rows(out, model, "agentic", category, rows)
        rows = [{"id": entry["id"].replace(of_file, category),
                 "result": [[rng.choice(MUTATED).format(rng.choice(entry["ground_truth"])) for _ in range(rng.choice([0, 1, 1, 2]))]]}
                for entry in answers]
        write_rows(out, "mutated", "agentic", category, rows)


def named(call, parameters):
    """Returns name and arguments of a call."""
    tree = ast.parse(call, mode="eval").body
    name = tree.func.attr if isinstance(tree.func, ast.Attribute) else tree.func.id
    arguments = dict(zip(parameters[name], (ast.literal_eval(value) for value in tree.args)))
    return name, arguments | {keyword.arg: ast.literal_eval(keyword.value) for keyword in tree.keywords}


def as_text(calls):
    rendered = (f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})" for name, arguments in calls)
    return f"[{', '.join(rendered)}]"


def as_calls(calls):
    return [{name: json.dumps(arguments)} for name, arguments in calls]


def without_one(turns):
    """Returns the turns without the last call of the last turn that has any."""
    turns = [list(turn) for turn in turns]
    for turn in reversed(turns):
        if turn:
            turn.pop()
            break
    return turns


def mutated(rng, turns):
    """Returns the steps of the turns, as texts; a third of the entries are right."""
    turns = [list(turn) for turn in turns]
    if rng.random() < 0.35:
        return [[*([as_text(turn)] if turn else []), "Done."] for turn in turns]
    turn = rng.choice([turn for turn in turns if turn] or [[]])
    way = rng.choice(["less", "twice", "moved", "value", "number", "turn", "prose", "syntax", "steps", "none", "other", "infinite"])
    if turn and way == "less":
        turn.pop(rng.randrange(len(turn)))
    elif turn and way == "twice":
        turn.insert(0, rng.choice(turn))
    elif turn and way == "moved":
        rng.choice(turns).append(turn.pop())
    elif turn and way in ("value", "infinite"):
        name, arguments = turn[-1]
        key = rng.choice(list(arguments) or ["more"])
        value = rng.choice(["other", 7, None, [], 1e400]) if way == "value" else float("inf")
        turn[-1] = name, arguments | {key: value}
    elif way == "number":
        turns.append([])
    elif way == "other":
        turn.append(("no_such_function", {"x": 1}))
    steps = [[as_text(turn), "Done."] if turn else ["Done."] for turn in turns]
    at = rng.randrange(len(steps))
    if way == "steps":  # each call is a step
        steps = [[*(as_text([call]) for call in turn), "Done."] for turn in turns]
    elif way == "prose":
        steps[at].insert(0, rng.choice(["I will look.", "", "[]", "[print('a')]"]))
    elif way == "syntax":
        steps[at] = [step[:-1] for step in steps[at]]
    elif way == "turn":
        steps[at] = []
    elif way == "none":
        return rng.choice(["Error during inference: timeout", [], steps[:-1]])
    return steps


def write(out, model, category, turns, form):
    # A turn without calls ends with a sentence.
    rows = [{"id": key, "result": [[*([form(turn)] if turn else []), "Done."] for turn in value]} for key, value in turns.items()]
    write_rows(out, model, "multi_turn", category, rows)


def write_rows(out, model, group, category, rows):
    path = out / model / group / f"BFCL_v4_{category}_result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
