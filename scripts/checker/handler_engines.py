"""Compares the verdicts of both engines of `evaluate` on mutated outputs in the forms of single models:

    handler_engines.py DATASET FOLDER [--each N] [--callsieve PATH]

FOLDER has a file of results for each model, with the name of the model's result folder; the first line of each is mutated. Handlers
that evaluate texts get literals only. Exit 1 on any difference in a verdict or an error type.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import handlers


def is_safe(name, output):
    """Returns whether neither the handler nor the default decoder evaluates anything of an output but a literal."""
    if not isinstance(output, str):
        return True
    if "Llama-3.1" in name:
        return ";" in output or handlers.is_harmless(output.replace("<|python_tag|>", ""))
    return not handlers.computes(output)


def is_one_output(output):
    """Returns whether a list is read as one output: lists of texts are several, and objects of tools have another form."""
    if not isinstance(output, list) or not output:
        return True
    has_function = any(isinstance(call, dict) and isinstance(call.get("function"), dict) for call in output)
    return not has_function and not all(isinstance(call, str) for call in output)


def rows(rng, name, row, n):
    """Returns n rows: the right one, and mutated ones."""
    result, found = row["result"], []
    while len(found) < n:
        output = result
        if found:
            output = handlers.edited(rng, result) if isinstance(result, str) else handlers.edited_list(rng, result)
        try:
            json.dumps(output, ensure_ascii=False).encode()
        except ValueError:  # half of a surrogate pair
            continue
        if is_safe(name, output) and is_one_output(output):
            found.append({"id": row["id"], "sample": len(found), "result": output})
    return found


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("dataset")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--each", type=int, default=1400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--callsieve", default="target/debug/callsieve")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        paths, chosen = [], []
        for file in sorted(options.folder.glob("*.jsonl")):
            row = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
            path = folder / file.name
            made = rows(rng, file.stem, row, options.each)
            path.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
            paths.append(str(path))
            chosen.append(f"--handler={file.stem}={file.stem}")
        verdicts = {}
        for engine in ("builtin", "official"):
            subprocess.run([options.callsieve, "evaluate", "--partial", "--engine", engine, "--dataset", options.dataset, "--results",
                            *paths, *chosen, "--verdicts", str(folder / engine)], check=True, stdout=subprocess.DEVNULL)
            with open(folder / engine, encoding="utf-8") as lines:
                verdicts[engine] = [json.loads(line) for line in lines]
    both = list(zip(verdicts["builtin"], verdicts["official"], strict=True))
    differ = [(here, there) for here, there in both if (here["valid"], here["error_type"]) != (there["valid"], there["error_type"])]
    for here, there in differ[:10]:
        print(here["system"], here["sample"], here["error_type"], there["error_type"])
    print(f"{len(both) - len(differ)} of {len(both)} verdicts and error types are the same, {sum(here['valid'] for here, _ in both)} right")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
