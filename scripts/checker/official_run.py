#!/usr/bin/env python3
"""Runs the official evaluator on result folders and compares its score files with verdicts of `callsieve evaluate`.

    scripts/checker/official_run.py RESULTS VERDICTS.jsonl SCORES [--calling MODEL,MODEL]

RESULTS has a folder for each model, VERDICTS and SCORES are what `callsieve evaluate --verdicts FILE --score-dir DIR` wrote for
it. The evaluator loads questions and answers itself, and decodes with the handler of OpenAI-compatible models. It stops at
outputs whose error type is `evaluator:abort`, or does not end, so each of these is checked to do so, and left out. Prints a line for each model
and category; exit 1 on any difference.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import sys
import types
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import check_official

TIMEOUT = 10  # seconds in which the evaluator has a verdict on one output, unless it never has


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("verdicts", type=Path, metavar="VERDICTS")
    parser.add_argument("scores", type=Path, metavar="SCORES")
    parser.add_argument("--calling", default="", metavar="MODELS", help="models with function calling, comma-separated")
    args = parser.parse_args()
    evaluator = Evaluator(args.calling.split(","))
    verdicts = {}
    for line in args.verdicts.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        verdict = json.loads(line)
        verdicts[verdict["system"], verdict["id"]] = verdict
    n_outputs = n_differ = 0
    for path in sorted(args.results.rglob("*_result.json")):
        model = path.relative_to(args.results).parts[0]
        rows = evaluator.utils.load_file(path, sort_by_id=True)
        category = evaluator.utils.extract_test_category(path)
        ours = {row["id"]: verdicts[model, row["id"]] for row in rows}
        aborts = {id_ for id_, verdict in ours.items() if verdict["error_type"] == "evaluator:abort"}
        differ = [row["id"] for row in rows if row["id"] in aborts and evaluator.ends(model, category, row)]
        header, *wrong = evaluator.scores(model, category, [row for row in rows if row["id"] not in aborts])
        types_of = {entry["id"]: error_type(entry) for entry in wrong}
        differ += [id_ for id_, verdict in ours.items()
                   if id_ not in aborts and (id_ in types_of, types_of.get(id_)) != (not verdict["valid"], verdict["error_type"])]
        written, = (args.scores / model).rglob(path.name.replace("_result", "_score"))
        found = json.loads(written.read_text(encoding="utf-8").split("\n", 1)[0])
        if not aborts and found != header:
            differ += [f"{key}: {found.get(key)}, expected {value}" for key, value in header.items() if found.get(key) != value]
        n_outputs, n_differ = n_outputs + len(rows), n_differ + len(differ)
        print(f"{model:<10}{category:<26}{len(rows):>6} outputs{header['correct_count']:>6} correct{len(aborts):>5} stop the evaluator"
              f"{len(differ):>5} differ", *differ[:3])
    print(f"{n_outputs} outputs, {n_differ} differ")
    return 1 if n_differ else 0


def error_type(entry):
    error = entry["error"]
    return error["error_type"] if isinstance(error, dict) else entry["error_type"]


class Evaluator:
    """The official evaluator with handlers of its own."""

    def __init__(self, calling):
        self.utils, self.calling = check_official.official().utils, calling
        # The handlers import the libraries of their vendors, which they do not use to decode.
        for name in ("openai", "httpx"):
            sys.modules.setdefault(name, mock.MagicMock())
        from bfcl_eval.eval_checker import eval_runner, eval_runner_helper
        from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler
        self.runner, self.helper, self.handler = eval_runner, eval_runner_helper, OpenAICompletionsHandler
        self.models = sys.modules["bfcl_eval.constants.model_config"].MODEL_CONFIG_MAPPING
        self.runs = 0

    def ends(self, model, category, row):
        """Returns whether the evaluator has a verdict on an output, in a process of its own."""
        found = multiprocessing.get_context("fork").Value("b", False)

        def run():
            found.value = bool(self.scores(model, category, [row]))

        process = multiprocessing.get_context("fork").Process(target=run)
        process.start()
        process.join(TIMEOUT)
        process.kill()
        return bool(found.value)

    def scores(self, model, category, rows):
        """Returns the lines of the score file; none if the evaluator stops."""
        handler = object.__new__(self.handler)
        handler.is_fc_model = model in self.calling
        # The services of a run are kept by the name of the model.
        self.runs += 1
        name = f"{model}{self.runs}"
        self.models[name] = types.SimpleNamespace(underscore_to_dot=False)
        written = []
        # A file could not hold halves of surrogate pairs, which outputs have.
        self.helper.write_list_of_dicts_to_file = lambda name, lines, folder: written.extend(lines)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                self.runner.evaluate_task(category, None, Path(), rows, name, handler, {}, allow_missing=True)
            except Exception:
                return []
        return written


if __name__ == "__main__":
    sys.exit(main())
