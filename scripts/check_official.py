#!/usr/bin/env python3
"""Runs the official BFCL loader and checker on the dataset of a run.

    scripts/check_official.sh out/<run> [--json]

It checks the scored files and those under `unverified/`. The first accepted answer of every entry must pass the official
`ast_checker`. In the categories without answers, the official relevance runner must score prose as right and a call as
wrong for every irrelevance entry, and the reverse for relevance. Every file must have the layout that the official loader
expects: one JSON object per line, exact keys, ASCII, contiguous ids in order, and answers in the order of their questions.
Every id is checked with the package's own functions; none may be in both sets or be one of the package's own, unless the
entry was frozen from there (`--own-ids` allows it). Prints a table; exit 1 on any failure, 2 if there is nothing to check.

Needs the package bfcl-eval, whose environment `bfcl_environment.sh` makes.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import types
from pathlib import Path

SCORED = ["live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"]
UNSCORED = ["live_irrelevance", "live_relevance"]
MODEL = "first-alternative"
OMITTED = object()  # a parameter whose only alternative is "": it may be left out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN_DIR")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--own-ids", action="store_true", help="allow ids that are the package's own")
    args = parser.parse_args()
    dataset = args.run / "dataset"
    bfcl = official()
    taken = {} if args.own_ids else dict.fromkeys(own_ids(bfcl), "the official package")
    has_gaps = (args.run / "forgotten.json").exists()
    results = [check_file(bfcl, taken, folder, name, category, has_gaps)
               for name, folder in (("scored", dataset), ("unverified", dataset / "unverified"))
               for category in SCORED + UNSCORED
               if question_path(folder, category).exists()]
    if not results:
        print(f"check_official: no BFCL_v4_live_*.json under {dataset}", file=sys.stderr)
        return 2
    print(json.dumps(results, indent=2) if args.json else table(results))
    return 1 if any(result["failures"] for result in results) else 0


def official():
    """Returns the official package's modules, loaded without the vendors' SDKs that its model list imports."""
    name = "bfcl_eval.constants.model_config"
    if name not in sys.modules:
        os.environ.setdefault("BFCL_PROJECT_ROOT", tempfile.mkdtemp(prefix="bfcl-"))  # it writes lock files there
        stub = types.ModuleType(name)
        stub.MODEL_CONFIG_MAPPING = {MODEL: types.SimpleNamespace(underscore_to_dot=False)}
        sys.modules[name] = stub
    for missing, names in {"numpy": [], "pandas": ["DataFrame"], "dotenv": ["load_dotenv"], "tqdm": ["tqdm"],
                           "overrides": ["final"]}.items():
        stub_unless_there(missing, names)  # the runner imports them, but scoring relevance uses none
    from bfcl_eval import utils
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
    from bfcl_eval.eval_checker.eval_runner import relevance_file_runner
    from bfcl_eval.model_handler.utils import default_decode_ast_prompting
    handler = types.SimpleNamespace(decode_ast=default_decode_ast_prompting)
    return types.SimpleNamespace(utils=utils, ast_checker=ast_checker, python=Language.PYTHON,
                                 relevance_file_runner=relevance_file_runner, handler=handler)


def stub_unless_there(module, names):
    try:
        __import__(module)
    except ImportError:
        stub = types.ModuleType(module)
        for name in names:
            setattr(stub, name, lambda *args, **kwargs: args[0] if args else None)
        sys.modules[module] = stub


def own_ids(bfcl):
    """Returns the ids of all entries of the package."""
    paths = sorted(bfcl.utils.PROMPT_PATH.glob("BFCL_v4_live_*.json"))
    ids = [json.loads(line)["id"] for path in paths for line in path.read_text().splitlines()]
    if not ids:
        raise SystemExit(f"check_official: no entries under {bfcl.utils.PROMPT_PATH}")
    return ids


def check_file(bfcl, taken, folder, name, category, has_gaps):
    """Checks one question file and, for a scored category, its answer file."""
    result = {"set": name, "category": category, "entries": 0, "passed": 0, "failures": []}
    try:
        questions = read_lines(question_path(folder, category))
        answers = read_lines(answer_path(folder, category)) if category in SCORED else None
        if category in UNSCORED and answer_path(folder, category).exists():
            raise ValueError("an answer file exists, but this category has none")
        loaded, truths = load(bfcl, folder, category)
    except (ValueError, KeyError, OSError) as error:
        result["failures"].append({"id": None, "error": f"{type(error).__name__}: {error}"})
        return result
    result["entries"] = len(questions)
    result["failures"] += layout_errors(questions, answers, category, has_gaps)
    result["failures"] += id_errors(bfcl, taken, name, [entry["id"] for entry in questions], category)
    if truths is None:
        wrong = relevance_errors(bfcl, loaded, category)
        result["passed"] = len(questions) - len({failure["id"] for failure in wrong})
        result["failures"] += wrong
        return result
    for entry, truth in zip(loaded, truths):
        error = answer_error(bfcl, entry, truth, category)
        if error is None:
            result["passed"] += 1
        else:
            result["failures"].append({"id": entry["id"], "error": error})
    return result


def question_path(folder, category):
    return folder / f"BFCL_v4_{category}.json"


def answer_path(folder, category):
    return folder / "possible_answer" / f"BFCL_v4_{category}.json"


def read_lines(path):
    data = path.read_bytes()
    if not data.isascii():
        raise ValueError(f"{path}: not ASCII")
    if b"\r" in data:
        raise ValueError(f"{path}: a carriage return")
    return [json.loads(line) for line in data.decode("ascii").split("\n")[: -1 if data.endswith(b"\n") else None]]


def load(bfcl, folder, category):
    """Returns questions and answers as the official loaders read them from this folder."""
    bfcl.utils.PROMPT_PATH, bfcl.utils.POSSIBLE_ANSWER_PATH = folder, folder / "possible_answer"
    entries = bfcl.utils.load_dataset_entry(category)
    if [entry["id"] for entry in entries] != [entry["id"] for entry in sorted(entries, key=bfcl.utils.sort_key)]:
        raise ValueError("the official sort key gives another order")
    return entries, bfcl.utils.load_ground_truth_entry(category) if category in SCORED else None


# --- layout ---------------------------------------------------------------------------------------------


def layout_errors(questions, answers, category, has_gaps):
    """Returns the violations of the layout that the official runner expects, and gaps in the numbers.

    The numbers of forgotten records are missing; the remaining ones must ascend.
    """
    errors = []

    def expect(holds, entry_id, error):
        if not holds:
            errors.append({"id": entry_id, "error": error})

    previous, last = (-1, -1), -1
    for line, entry in enumerate(questions):
        entry_id = entry.get("id")
        expect(list(entry) == ["id", "question", "function"], entry_id, f"keys are {list(entry)}")
        match = re.fullmatch(rf"{category}_(\d+)-(?:[A-Za-z0-9]*[A-Za-z])?(\d+)-u?(\d+)", str(entry_id))
        if not match:
            expect(False, entry_id, f"not an id of {category}")
            continue
        index, doc, prompt = map(int, match.groups())
        expect(index > last if has_gaps else index == line, entry_id, f"stands on line {line}, counted from 0")
        follows = (doc, prompt) in ((previous[0], previous[1] + 1), (previous[0] + 1, 0))
        ascends = has_gaps and (doc, prompt) > previous
        expect(follows or ascends, entry_id, f"doc and prompt number do not follow {previous[0]}-{previous[1]}")
        previous, last = (doc, prompt), index
        expect(is_question(entry.get("question")), entry_id, "question is not one turn of role and content, ending with the user")
        expect(is_doc_list(entry.get("function")), entry_id, "function is not a list of name, description and parameters")
    if answers is not None:
        expect(len(answers) == len(questions), None, f"{len(questions)} questions, {len(answers)} answers")
        for question, answer in zip(questions, answers):
            expect(list(answer) == ["id", "ground_truth"], question.get("id"), f"keys of the answer are {list(answer)}")
            expect(answer.get("id") == question.get("id"), question.get("id"), f"its answer has the id {answer.get('id')}")
    return errors


def id_errors(bfcl, taken, name, ids, category):
    """Checks each id with the package's own functions."""
    utils, errors = bfcl.utils, []
    as_entries = [{"id": entry_id} for entry_id in ids]
    found = len(utils.filter_entries_by_id(as_entries, as_entries))
    if found != len(set(ids)):
        errors.append({"id": None, "error": f"{len(ids)} entries, {len(set(ids))} ids, {found} found by id"})
    for entry_id in ids:
        try:
            found = {
                "category": utils.extract_test_category_from_id(entry_id),
                "category without prereq": utils.extract_test_category_from_id(entry_id, remove_prereq=True),
                "group": utils.get_general_grouping(entry_id),
                "folder": utils.get_directory_structure_by_id(entry_id),
                "sort key": utils.sort_key({"id": entry_id}),
                "prompt format": utils.extract_prompt_format_from_id(entry_id),
                "several turns": utils.contain_multi_turn_interaction(entry_id),
                "memory": utils.is_memory(entry_id) or utils.is_first_memory_prereq_entry(entry_id),
            }
        except (AssertionError, ValueError, KeyError, IndexError) as error:
            errors.append({"id": entry_id, "error": f"{type(error).__name__}: {error}"})
            continue
        expected = {
            "category": category, "category without prereq": category, "group": "live", "folder": "live",
            "sort key": (2, category, int(re.match(rf"{category}_(\d+)", entry_id)[1])), "prompt format": utils.DEFAULT_SYSTEM_PROMPT_FORMAT,
            "several turns": False, "memory": False,
        }
        errors += [{"id": entry_id, "error": f"{what} is {found[what]!r}, expected {expected[what]!r}"}
                   for what in expected if found[what] != expected[what]]
        if entry_id in taken:
            errors.append({"id": entry_id, "error": f"an id of {taken[entry_id]} too"})
        taken.setdefault(entry_id, name)
    return errors


def is_question(question):
    return (isinstance(question, list) and len(question) == 1 and bool(question[0])
            and all(set(message) == {"role", "content"} and isinstance(message["content"], str)
                    and message["role"] in ("system", "user", "assistant") for message in question[0])
            and question[0][-1]["role"] == "user")


def is_doc_list(functions):
    return isinstance(functions, list) and all(
        list(doc) == ["name", "description", "parameters"]
        and set(doc["parameters"]) == {"type", "required", "properties"} and doc["parameters"]["type"] == "dict"
        for doc in functions)


# --- answers --------------------------------------------------------------------------------------------


def answer_error(bfcl, entry, truth, category):
    """Returns the reason that the first accepted answer does not pass; None if it passes."""
    try:
        calls = first_calls(entry["function"], truth["ground_truth"])
        if not bfcl.utils.is_function_calling_format_output(calls):
            return "not in the function-calling format"
        verdict = bfcl.ast_checker(entry["function"], calls, truth["ground_truth"], bfcl.python, category, MODEL)
    except Exception as error:  # the official checker crashes on answers it cannot compare, and so would a scoring run
        return f"crash: {type(error).__name__}: {error}"
    return None if verdict["valid"] else f"{verdict['error_type']}: {verdict['error']}"


def relevance_errors(bfcl, entries, category):
    """Returns the entries that the official relevance runner does not score as expected."""
    calls = [{"id": entry["id"], "result": f"[{entry['function'][0]['name'] if entry['function'] else 'f'}()]"}
             for entry in entries]
    prose = [{"id": entry["id"], "result": "None of the functions fits what you ask."} for entry in entries]
    right, wrong = (prose, calls) if category == "live_irrelevance" else (calls, prose)
    refused, found_out = (relevance_failures(bfcl, results, entries, category) for results in (right, wrong))
    return ([{"id": entry["id"], "error": "what is right counts as wrong"} for entry in entries if entry["id"] in refused]
            + [{"id": entry["id"], "error": "what is wrong counts as right"} for entry in entries
               if entry["id"] not in found_out])


def relevance_failures(bfcl, results, entries, category):
    """Returns the ids that the official runner scores as wrong, from the score file that it writes."""
    with tempfile.TemporaryDirectory(prefix="bfcl-score-") as folder:
        bfcl.relevance_file_runner(bfcl.handler, results, entries, MODEL, category, Path(folder))
        path, = Path(folder).rglob("*.json")
        lines = path.read_text().splitlines()
    header = json.loads(lines[0])
    if header["total_count"] != len(entries):
        raise ValueError(f"the official runner scored {header['total_count']} of {len(entries)} entries")
    return {json.loads(line)["id"] for line in lines[1:]}


def first_calls(functions, ground_truth):
    """Returns calls with the first alternatives other than the mark for optional values."""
    docs = {doc["name"]: doc["parameters"]["properties"] for doc in functions}
    calls = []
    for call in ground_truth:
        (name, parameters), = call.items()
        values = {key: first_value(alternatives, docs.get(name, {}).get(key, {}))
                  for key, alternatives in parameters.items()}
        calls.append({name: without_omitted(values)})
    return calls


def first_value(alternatives, schema):
    """Returns one parameter's value. Dicts hold alternatives one level deep; below that the checker compares raw values."""
    left = [alternative for alternative in alternatives if alternative != ""]
    if not left:
        return OMITTED
    if schema.get("type") == "dict" and isinstance(left[0], dict):
        return first_of_dict(left[0])
    if isinstance(left[0], list) and schema.get("items", {}).get("type") == "dict":
        return [first_of_dict(item) for item in left[0]]
    return left[0]


def first_of_dict(alternatives):
    return without_omitted({key: first_value(values, {}) for key, values in alternatives.items()})


def without_omitted(values):
    return {key: value for key, value in values.items() if value is not OMITTED}


def table(results):
    lines = [f"{'set':<12}{'category':<24}{'entries':>8}{'passed':>8}{'failed':>8}"]
    for result in results:
        lines.append(f"{result['set']:<12}{result['category']:<24}{result['entries']:>8}{result['passed']:>8}"
                     f"{len(result['failures']):>8}")
    for result in results:
        lines += [f"{result['set']} {failure['id'] or result['category']}: {failure['error']}" for failure in result["failures"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
