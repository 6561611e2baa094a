#!/usr/bin/env python3
"""Records what the official evaluator makes of model outputs, as JSON lines to compare a port with.

    scripts/checker/record.py OUT.jsonl [--per-category 4000] [--seed 1] [--only simple_java,convert_java]

Outputs are the ground truths of the package's own data, in the syntax of their category, with mutations of values and of
texts. Each line has the output (`raw`), the `category`, the `id` of the entry, the `return_format`, and the official result:
`decode` ("ok", or "error" with the exception `exc`), `decoded_repr`, `format_ok`, `valid`, `error_type`, `error`; or
`exception`, if the checker raises one, which ends an official evaluation. Lines of the categories `convert_*` and `rules_*`
have an entry of their own (`function`, `ground_truth`) and decoded `calls`.

Needs the package bfcl-eval; `parity.sh` installs it.
"""

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import check_official
import made_up
import mutate
import render

SINGLE_TURN = ["simple_python", "multiple", "parallel", "parallel_multiple", "live_simple", "live_multiple", "live_parallel",
               "live_parallel_multiple"]
RELEVANCE = ["irrelevance", "live_irrelevance", "live_relevance"]
SYNTAX = {"simple_java": "java", "simple_javascript": "javascript"}
FORMATS = ["json", "verbose_xml", "concise_xml", "python"]
DOTTED, UNDERSCORED = "dotted", "underscored"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--per-category", type=int, default=4000, metavar="N", help="lines per category (default 4000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--only", default="", metavar="CATEGORIES", help="comma-separated; default all")
    parser.add_argument("--paths", action="store_true", help="print the folders of the package's questions and answers")
    args = parser.parse_args()
    official = Official()
    if args.paths:
        print(official.utils.PROMPT_PATH, official.utils.POSSIBLE_ANSWER_PATH, sep="\n")
        return
    categories = {category: syntax_cases for category in [*SYNTAX, *SINGLE_TURN]}
    categories |= {f"format_{name}": format_cases for name in FORMATS}
    categories |= {category: relevance_cases for category in RELEVANCE}
    categories |= {category: made_up.cases for category in made_up.CATEGORIES}
    chosen = args.only.split(",") if args.only else list(categories)
    with args.out.open("w", encoding="ascii") as out:
        for category in chosen:
            rng = random.Random(f"{args.seed} {category}")
            rows = categories[category](official, rng, category)
            for _, row in zip(range(args.per_category), rows):
                judged = official.judged(row)
                if judged is not None:
                    out.write(json.dumps(judged) + "\n")
            print(f"{category}: recorded", file=sys.stderr)


class Official:
    """The official package's decoders, checker and data."""

    def __init__(self):
        bfcl = check_official.official()
        from bfcl_eval.constants.enums import Language, ReturnFormat
        from bfcl_eval.model_handler.utils import default_decode_ast_prompting
        mapping = sys.modules["bfcl_eval.constants.model_config"].MODEL_CONFIG_MAPPING
        mapping[DOTTED] = check_official.types.SimpleNamespace(underscore_to_dot=False)
        mapping[UNDERSCORED] = check_official.types.SimpleNamespace(underscore_to_dot=True)
        self.utils, self.ast_checker, self.decode = bfcl.utils, bfcl.ast_checker, default_decode_ast_prompting
        self.language, self.format = Language, ReturnFormat
        self.known = {}

    def entries(self, category):
        """Returns the questions of a category with their ground truths."""
        if category not in self.known:
            lines = (self.utils.PROMPT_PATH / f"BFCL_v4_{category}.json").read_text().splitlines()
            questions = [json.loads(line) for line in lines]
            path = self.utils.POSSIBLE_ANSWER_PATH / f"BFCL_v4_{category}.json"
            answers = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
            truths = {answer["id"]: answer["ground_truth"] for answer in answers}
            self.known[category] = [(entry["id"], entry["function"], truths.get(entry["id"])) for entry in questions]
        return self.known[category]

    def judged(self, row):
        """Returns the row with the official result; None if the result cannot be written."""
        entry = row.pop("entry")
        result = dict.fromkeys(["decode", "decoded_repr", "format_ok", "valid", "error_type", "error"])
        if "calls" in row:
            decoded = row["calls"]
        else:
            try:
                decoded = self.decode(row["raw"], self.format(row["return_format"]), row["tool_call_tag"])
            except Exception as error:
                return {**row, **result, "decode": "error", "exc": type(error).__name__, "format_ok": False, "valid": False,
                        "error_type": "ast_decoder:decoder_failed"} | self.relevance(row, None)
        try:
            result["decoded_repr"] = repr(decoded)
        except ValueError:  # an integer that was computed and is too long to be written
            return None
        result |= {"decode": "ok", "format_ok": self.utils.is_function_calling_format_output(decoded)}
        if row["category"] in RELEVANCE:
            return {**row, **result} | self.relevance(row, decoded)
        if not result["format_ok"]:
            return {**row, **result, "valid": False, "error_type": "ast_decoder:decoder_wrong_output_format"}
        _, functions, truth = entry
        language = {"simple_java": "java", "convert_java": "java", "simple_javascript": "javascript",
                    "convert_javascript": "javascript"}.get(row["category"], "python")
        model = UNDERSCORED if row["underscore_to_dot"] else DOTTED
        try:
            verdict = self.ast_checker(functions, decoded, truth, self.language(language), row["category"], model)
        except Exception as error:
            return {**row, **result, "exception": type(error).__name__}
        error_type = None if verdict["valid"] else verdict["error_type"]
        # What JSON has no form for is written as its text.
        try:
            error = json.loads(json.dumps(verdict["error"], default=repr, allow_nan=False, ensure_ascii=False).encode())
        except ValueError:  # an infinite number, or half of a surrogate pair
            return None
        return {**row, **result, "valid": verdict["valid"], "error_type": error_type, "error": error}

    def relevance(self, row, decoded):
        """Returns the verdict of a category without ground truth."""
        if row["category"] not in RELEVANCE:
            return {}
        has_call = decoded is not None and not self.utils.is_empty_output(decoded)
        if "irrelevance" in row["category"]:
            return {"valid": not has_call, "error_type": "irrelevance_error:decoder_success" if has_call else None}
        return {"valid": has_call, "error_type": None if has_call else "relevance_error:decoder_failed"}


def syntax_cases(official, rng, category):
    """Yields outputs in the syntax of a category: first all ground truths, then mutations."""
    syntax = SYNTAX.get(category, "python")
    entries = official.entries(category)
    for entry in entries:
        yield case(entry, category, syntax, "gt_first", render.text(rng, syntax, *first(rng, entry), plain=True))
    while True:
        entry = rng.choice(entries)
        yield mutated(rng, entry, category, syntax)


def format_cases(official, rng, category):
    """Yields outputs in a syntax of format sensitivity, with and without tags around the calls."""
    syntax = category.removeprefix("format_")
    while True:
        of = rng.choice(SINGLE_TURN)
        row = mutated(rng, rng.choice(official.entries(of)), of, syntax)
        if rng.random() < 0.3:
            row["tool_call_tag"] = True
            if rng.random() < 0.9 and "<TOOLCALL>" not in row["raw"]:
                row["raw"] = f"<TOOLCALL>{row['raw']}</TOOLCALL>"
        yield row


def relevance_cases(official, rng, category):
    """Yields calls and prose for entries without ground truth."""
    others = official.entries("live_simple")
    while True:
        entry = rng.choice(official.entries(category))
        row = mutated(rng, rng.choice(others), category, "python")
        prose = ["None of the functions fits.", "", "[]", "what (not possible)", "I can't.", "print('a')", "[{}]", "[1]", "f()", "()",
                 "[f]", "{}", "Sorry (no)", "a.b()", "`f()`", "None"]
        if rng.random() < 0.3:
            row["raw"], row["mutation"] = rng.choice(prose), "prose"
        yield {**row, "id": entry[0], "category": category}


def first(rng, entry):
    _, functions, truth = entry
    docs = {doc["name"]: doc["parameters"]["properties"] for doc in functions}
    return render.calls_of(rng, functions, truth, first=True), docs


def mutated(rng, entry, category, syntax):
    """Returns one output of an entry: alternatives in other forms, with mutated values or a mutated text, or both."""
    _, functions, truth = entry
    docs = {doc["name"]: doc["parameters"]["properties"] for doc in functions}
    calls, kind = render.calls_of(rng, functions, truth, first=rng.random() < 0.3), "form"
    way = rng.random()
    if way < 0.55:
        calls, kind = mutate.values(rng, calls, docs)
    raw = render.text(rng, syntax, calls, docs, plain=rng.random() < 0.4)
    if way > 0.45:
        raw, kind = mutate.source(rng, raw, syntax)
    row = case(entry, category, syntax, kind, raw)
    if rng.random() < 0.05:
        row["underscore_to_dot"] = True
        if rng.random() < 0.5:
            for doc in functions:
                row["raw"] = row["raw"].replace(doc["name"], doc["name"].replace(".", "_"))
    return row


def case(entry, category, syntax, mutation, raw):
    return {"id": entry[0], "category": category, "mutation": mutation, "underscore_to_dot": False, "return_format": syntax,
            "tool_call_tag": False, "raw": raw, "entry": entry}


if __name__ == "__main__":
    main()
