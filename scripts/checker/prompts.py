#!/usr/bin/env python3
"""Compares the requests of `callsieve evaluate --ask` with those of the official handler, entry by entry.

    scripts/checker/prompts.py RECEIVED.jsonl prompt|fc

RECEIVED has the bodies that a server got (`{"messages": …}`), as scripts/checker/echo_server.py writes them. Messages and tools
must be those that the package makes for some entry, and each of those must be there. Prints the number of equal ones; exit 1 on any
other. `prompts.sh` does all of it.

Needs the package bfcl-eval, which `parity.sh` installs.
"""

import copy
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import record


def main():
    received = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    mode = sys.argv[2]
    official = record.Official()
    from bfcl_eval.constants.enums import ModelStyle
    from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI
    from bfcl_eval.model_handler.utils import convert_to_tool, system_prompt_pre_processing_chat_model
    expected = set()
    for category in [*record.SYNTAX, *record.SINGLE_TURN, *record.RELEVANCE]:
        for entry in official.utils.load_dataset_entry(category):
            messages, functions = copy.deepcopy(entry["question"][0]), entry["function"]
            body = {}
            if mode == "prompt":
                messages = system_prompt_pre_processing_chat_model(messages, functions, entry["id"])
            else:
                try:
                    tools = convert_to_tool(functions, GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS)
                except KeyError:
                    continue
                body = {"tools": tools} if tools else {}
            expected.add(json.dumps({"messages": messages, **body}))
    wrong, seen = [], set()
    for body in received:
        found = json.dumps({key: body[key] for key in ("messages", "tools") if key in body})
        seen.add(found)
        if found not in expected:
            wrong.append(found)
    print(f"{len(received)} requests, {len(received) - len(wrong)} as the official handler makes them; "
          f"{len(expected)} distinct ones expected, {len(expected - seen)} missing")
    for found in wrong[:3]:
        print(found[:2000])
    sys.exit(1 if wrong or expected - seen else 0)


if __name__ == "__main__":
    main()
