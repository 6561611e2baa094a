"""The files of an instruction set, and the calls of each form."""

import importlib.util
import json
import math
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "instructions.md"
FORMS = ["openai", "sharegpt", "hermes", "toolllama", "xlam"]


def calls_of_program(program):
    return [(call["name"], call["arguments"]) for call in program["calls"]]


def calls_of_messages(messages, read=json.loads):
    calls = [call["function"] for message in messages for call in message.get("tool_calls") or []]
    return [(call["name"], read(call["arguments"])) for call in calls]


def calls_of_sharegpt(row):
    return [call for turn in row["conversations"] if turn["from"] == "function_call" for call in named(turn["value"])]


def calls_of_hermes(row):
    texts = [turn["value"] for turn in row["conversations"] if turn["from"] == "gpt"]
    return [call for text in texts for tagged in re.findall(r"<tool_call>\n(.*)\n</tool_call>", text) for call in named(tagged)]


def calls_of_toolllama(row):
    calls = [action(turn["value"]) for turn in row["conversations"] if turn["from"] == "assistant"]
    return [call for call in calls if call[0] != "Finish"]


def action(text):
    name, arguments = re.fullmatch(r"\nThought: .*\nAction: (\S+)\nAction Input: (.*)", text, re.DOTALL).groups()
    return name, json.loads(arguments)


def named(text):
    calls = json.loads(text)
    return [(call["name"], call["arguments"]) for call in (calls if isinstance(calls, list) else [calls])]


def read_calls(form, row):
    """Returns the calls of a row, or nothing that equals calls if the row has another structure."""
    try:
        return CALLS_OF[form](row)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return reason(error)


CALLS_OF = {
    "openai": lambda row: calls_of_messages(row["messages"]),
    "sharegpt": calls_of_sharegpt,
    "hermes": calls_of_hermes,
    "toolllama": calls_of_toolllama,
    "xlam": lambda row: named(row["answers"]),
}


def alike(one, other):
    """Whether two values are the same but for the rounding of `datasets`: a column of JSON keeps ten decimal places."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return type(one) is type(other) and one == other


def load(path):
    import datasets

    return datasets.load_dataset("json", data_files=str(path), split="train")


def stand_in(name, package=None, **values):
    """Puts a module in the place of one that imports PyTorch; of a package only its folder is kept."""
    module = type(sys)(name)
    module.__dict__.update(values)
    if package:
        top = Path(importlib.util.find_spec(package.split("/")[0]).origin).parent.parent
        module.__path__ = [str(top / package)]
    sys.modules[name] = module


def block(language):
    """Returns the block of code of a language in the section "Loading"."""
    section = PAGE.read_text().split("\n## Loading\n")[1].split("\n## ")[0]
    return re.search(rf"```{language}[^\n]*\n(.*?)```", section, re.DOTALL).group(1)


def lines(folder, form):
    path = folder / f"{form}.jsonl"
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def reason(error):
    error = error.__cause__ or error
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


def version(module):
    return tuple(int(part) for part in module.__version__.split(".")[:2])
