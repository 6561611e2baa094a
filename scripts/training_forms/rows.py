"""The rows of every form: those that `datasets` reads, and the structure of those that no package reads."""

import json
import re

from .forms import FORMS, action, alike, calls_of_program, lines, load, read_calls, reason, version

# What `datasets` reads as it is written, and since which version: it has columns of any JSON. Older ones make a union of objects,
# and refuse what has two types.
READ_SINCE = {"openai": (4, 7), "programs": (5, 0)}


def check_datasets(folder):
    import datasets

    current = version(datasets)
    calls = {row["id"]: calls_of_program(row) for row in lines(folder, "programs")}
    faults, told = check_rows(folder), []
    for form in [*FORMS, "programs"]:
        expected = lines(folder, form)
        # Its loader stops at a file without lines. Calls that were not executed have no form in ToolLLaMA.
        if not expected or current < READ_SINCE.get(form, (0, 0)):
            continue
        try:
            found = load(folder / f"{form}.jsonl")
        except Exception as error:  # Whatever a library raises is what its user would see.
            faults.append(f"{form}.jsonl: datasets refuses it: {reason(error)}")
            continue
        n_rounded, others = compared(form, expected, found)
        faults += others
        if form in FORMS:
            faults += [f"{form}.jsonl: {row['id']} has other calls" for row in found if read_calls(form, row) != calls.get(row["id"])]
        told.append(f"{form} {len(found)}" + (f" ({n_rounded} rounded)" if n_rounded else ""))
    faults += check_parquet(folder, calls)
    told.append(f"parquet {len(calls)}")
    print(f"datasets {datasets.__version__}: {', '.join(told)}, {len(faults)} faults")
    return faults


def check_rows(folder):
    """Every form has the instructions that it can hold: xLAM those of one turn whose calls are made at once, ToolLLaMA those
    that were executed."""
    faults, programs = [], lines(folder, "programs")
    at_once = [row["id"] for row in programs if len(row["turns"]) == 1 and (row["together"] or len(row["calls"]) < 2)]
    executed = [row["id"] for row in programs if row["tier"] == "executed"]
    for form in FORMS:
        expected = {"xlam": at_once, "toolllama": executed}.get(form, [row["id"] for row in programs])
        if [row["id"] for row in lines(folder, form)] != expected:
            faults.append(f"{form}.jsonl: other instructions than programs.jsonl: {len(lines(folder, form))}, not {len(expected)}")
    return faults


def check_parquet(folder, calls):
    import datasets

    found = datasets.load_dataset("parquet", data_files=str(folder / "instructions.parquet"), split="train")
    if found["id"][:] != list(calls):
        return [f"instructions.parquet: other rows than programs.jsonl: {len(found)}, not {len(calls)}"]
    others = [row["id"] for row in found if calls_of_program(json.loads(row["program"])) != calls[row["id"]]]
    return [f"instructions.parquet: {id} has other calls" for id in others]


def compared(form, expected, found):
    """Returns how many rows have numbers that `datasets` has rounded, and the faults."""
    if len(found) != len(expected):
        return 0, [f"{form}.jsonl: datasets reads {len(found)} rows, not {len(expected)}"]
    faults, n_rounded = [], 0
    for before, after in zip(expected, found):
        # Keys that other rows have are null.
        after = {key: value for key, value in after.items() if value is not None or key in before}
        if after == before:
            continue
        if alike(before, after):
            n_rounded += 1
        else:
            keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
            faults.append(f"{form}.jsonl: datasets reads other values of {', '.join(keys)} in {before['id']}")
    return n_rounded, faults


def check_structures(folder):
    """Holds the forms against the structure of these pages; of the cards of xLAM and Hermes only parts were read:

    - ToolLLaMA: `preprocess` of github.com/OpenBMB/ToolBench/blob/master/toolbench/train/train.py
    - xLAM: the card of huggingface.co/datasets/Salesforce/xlam-function-calling-60k
    - Hermes: the card of huggingface.co/datasets/NousResearch/hermes-function-calling-v1
    - LLaMA-Factory: "Sharegpt Format" of github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md
    """
    faults = []
    for form, allowed in ROLES.items():
        for row in lines(folder, form):
            if not re.fullmatch(allowed, " ".join(turn["from"] for turn in row["conversations"]) + " "):
                faults.append(f"{form}.jsonl: the turns of {row['id']} are in another order")
            if any(set(turn) != {"from", "value"} or not isinstance(turn["value"], str) for turn in row["conversations"]):
                faults.append(f"{form}.jsonl: a turn of {row['id']} has other keys than from and value")
    for row in lines(folder, "toolllama"):
        last = row["conversations"][-1]
        if action(last["value"])[1].get("return_type") != "give_answer":
            faults.append(f"toolllama.jsonl: {row['id']} does not end with Finish")
    for row in lines(folder, "hermes"):
        results = [text for turn in row["conversations"] if turn["from"] == "tool" for text in tagged(turn["value"])]
        if any(set(json.loads(result)) != {"name", "content"} for result in results):
            faults.append(f"hermes.jsonl: a result of {row['id']} has other keys than name and content")
    for row in lines(folder, "xlam"):
        if any(not {"name", "description", "parameters"} <= set(tool) for tool in json.loads(row["tools"])):
            faults.append(f"xlam.jsonl: a tool of {row['id']} lacks name, description or parameters")
    print(f"structures: {', '.join([*ROLES, 'xlam'])}, {len(faults)} faults")
    return faults


def tagged(text):
    return re.findall(r"<tool_response>\n(.*)\n</tool_response>", text)


# The orders of the speakers. A dialogue that ends with a call has no results: its calls were not executed.
ROLES = {
    "hermes": r"system (human (gpt tool )*gpt )+",
    "toolllama": r"system (user (assistant function )*assistant )+",
    "sharegpt": r"((human|observation) (gpt|function_call) )+",
}
