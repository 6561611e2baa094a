"""LLaMA-Factory: its entry of a dataset, its converter and its formats of tools."""

import importlib.metadata
import json

from .forms import block, calls_of_sharegpt, load, named, reason, stand_in


def check_llama_factory(folder):
    warned = []
    logger = type("Logger", (), {"warning_rank0": lambda self, text: warned.append(text[:120])})()
    stand_in("llamafactory.extras.logging", get_logger=lambda name: logger)
    stand_in("llamafactory.extras.constants", DATA_CONFIG="dataset_info.json")
    stand_in("llamafactory.extras.misc", use_modelscope=lambda: False, use_openmind=lambda: False)
    stand_in("llamafactory.data", package="llamafactory/data")
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import get_dataset_list
    from llamafactory.data.tool_utils import TOOLS

    info = json.loads(block("json"))
    [attributes] = get_dataset_list(list(info), info)
    if attributes.dataset_name != "sharegpt.jsonl":
        return [f"docs/instructions.md: the file of LLaMA-Factory is {attributes.dataset_name}"]
    convert, rows = get_dataset_converter(attributes.formatting, attributes, None), load(folder / "sharegpt.jsonl")
    faults, n_numbers, formats = [], 0, [name for name in TOOLS if name not in ONE_CALL]
    for row in rows:
        read = convert(row)
        calls = [call for turn in read["_prompt"] + read["_response"] if turn["role"] == "function" for call in named(turn["content"])]
        if len(read["_response"]) != 1 or calls != calls_of_sharegpt(row) or read["_tools"] != row["tools"]:
            faults.append(f"sharegpt.jsonl: LLaMA-Factory reads other turns of {row['id']}")
        for name in formats:
            if name == "default" and has_numbers(row):
                n_numbers += 1
                continue
            try:
                written = written_calls(name, read)
            except Exception as error:
                faults.append(f"sharegpt.jsonl: LLaMA-Factory's {name} refuses {row['id']}: {reason(error)}")
                continue
            if written not in (None, calls):
                faults.append(f"sharegpt.jsonl: LLaMA-Factory's {name} writes other calls of {row['id']}")
    faults += [f"sharegpt.jsonl: LLaMA-Factory warns: {text}" for text in warned]
    print(f"LLaMA-Factory {importlib.metadata.version('llamafactory')}: {len(rows)} rows in {', '.join(formats)} ({n_numbers} not in default), {len(faults)} faults")
    return faults


# Formats of tools whose readers undo their writers for any call.
READ_BACK = ["qwen", "llama3", "mistral"]
# It refuses several calls at once.
ONE_CALL = ["glm4"]


def written_calls(name, row):
    """Writes the tools and the calls of a row in a format of tools, and returns the calls that LLaMA-Factory reads back from it;
    nothing of a format whose reader does not undo its writer."""
    from llamafactory.data.formatter import FunctionFormatter, ToolFormatter

    formatter, tools = FunctionFormatter(slots=["{{content}}"], tool_format=name), ToolFormatter(tool_format=name)
    tools.apply(content=row["_tools"])
    calls = [turn["content"] for turn in row["_prompt"] + row["_response"] if turn["role"] == "function"]
    written = [formatter.apply(content=content)[0] for content in calls]
    if name not in READ_BACK:
        return None
    read = [call for text in written for call in tools.extract(text)]
    return [(call.name, json.loads(call.arguments)) for call in read]


def has_numbers(row):
    """Whether an enum has something else than texts, which the format `default` cannot write."""
    schemas = [tool["parameters"].get("properties", {}).values() for tool in json.loads(row["tools"])]
    return any(not isinstance(value, str) for group in schemas for schema in group for value in schema.get("enum") or [])
