#!/usr/bin/env python3
"""Writes configs/models.toml: chat models with their prices, from the registry that the Python package litellm ships.

    scripts/make_models.py LITELLM.whl > configs/models.toml

    pip download --no-deps litellm

Prices are figures in US dollars for a million tokens, of the vendors' own endpoints and at their list price: no tier for long
prompts. The date of the file in the wheel is no date of the prices, so the date is that of the day on which this ran.
"""

import datetime
import hashlib
import json
import re
import sys
import zipfile
from pathlib import Path

VENDORS = {"openai", "anthropic", "gemini", "mistral", "deepseek", "xai", "cohere_chat", "groq", "together_ai"}
HEADER = """\
# Models: prices in US dollars for a million tokens, and what their requests need.
#   input, output, cached        prices of the prompt, of the output, and of a prompt that the vendor has in a cache
#   batch_input, batch_output    prices of a batch service
#   context                      longest prompt, in tokens
#   reasoning                    thinks before it answers, and pays for what it thinks
#   max_completion_tokens        takes its limit of output under this name, and no temperature"""


def main():
    wheel = Path(sys.argv[1])
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as archive:
        registry = json.loads(archive.read("litellm/model_prices_and_context_window_backup.json"))
    models = {}
    for name, model in sorted(registry.items()):
        if model.get("mode") != "chat" or model.get("litellm_provider") not in VENDORS:
            continue
        costs = [model.get(f"{side}_cost_per_token") for side in ("input", "output")]
        short = name.split("/", 1)[1] if name.split("/")[0] in VENDORS | {"cohere"} else name
        if None in costs or not any(costs) or re.search(r"ft:|audio|search|realtime", short):
            continue
        models.setdefault(short, facts(model))
    print(HEADER)
    print(f"# Written by scripts/make_models.py from {wheel.name}, SHA-256")
    print(f"# {hashlib.sha256(wheel.read_bytes()).hexdigest()}; MIT License, Copyright (c) 2023 Berri AI.")
    print(f'source = "litellm {version} (MIT)"')
    print(f'as_of = "{datetime.date.today()}"\n\n[models]')
    for name, pairs in sorted(models.items()):
        print(f"{json.dumps(name)} = {{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in pairs.items())} }}")


def facts(model):
    """Returns the entry of a model. The program reads the registry by the same rules (crates/llm/src/models.rs)."""
    price = lambda key: round(model[key] * 1e6, 6) if model.get(key) is not None else None
    thinks = model.get("supports_reasoning") is True
    pairs = {
        "input": price("input_cost_per_token"),
        "output": price("output_cost_per_token"),
        "cached": price("cache_read_input_token_cost"),
        "batch_input": price("input_cost_per_token_batches"),
        "batch_output": price("output_cost_per_token_batches"),
        "context": model.get("max_input_tokens"),
        # Models of Anthropic think only if they are asked to, others unless their default is not to.
        "reasoning": thinks and model["litellm_provider"] != "anthropic" and model.get("default_reasoning_effort") != "none"
        and "none" not in model.get("reasoning_effort_levels", []),
        "max_completion_tokens": thinks and model["litellm_provider"] == "openai",
    }
    return {key: value for key, value in pairs.items() if value is not None and value is not False}


if __name__ == "__main__":
    main()
