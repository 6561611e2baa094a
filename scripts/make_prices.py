#!/usr/bin/env python3
"""Writes configs/prices.toml: prices of chat models, from the registry that the Python package litellm ships.

    scripts/make_prices.py LITELLM.whl > configs/prices.toml

    pip download --no-deps litellm

Prices are figures in US dollars for a million tokens, of the vendors' own endpoints and at their list price: no batch
discount, no tier for long prompts. The date of the file in the wheel is no date of the prices, so the date is that of the day
on which this ran.
"""

import datetime
import hashlib
import json
import re
import sys
import zipfile
from pathlib import Path

VENDORS = {"openai", "anthropic", "gemini", "mistral", "deepseek", "xai", "cohere_chat", "groq", "together_ai"}


def main():
    wheel = Path(sys.argv[1])
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as archive:
        registry = json.loads(archive.read("litellm/model_prices_and_context_window_backup.json"))
    prices = {}
    for name, model in sorted(registry.items()):
        if model.get("mode") != "chat" or model.get("litellm_provider") not in VENDORS:
            continue
        costs = [model.get(f"{side}_cost_per_token") for side in ("input", "output")]
        short = name.split("/", 1)[1] if name.split("/")[0] in VENDORS | {"cohere"} else name
        if None in costs or not any(costs) or re.search(r"ft:|audio|search|realtime", short):
            continue
        cached = model.get("cache_read_input_token_cost")
        costs += [cached] if cached is not None else []
        prices.setdefault(short, [round(cost * 1e6, 6) for cost in costs])
    print("# Prices of models in US dollars for a million tokens: input, output, and input from a cache where it is known.")
    print(f"# Written by scripts/make_prices.py from {wheel.name}, SHA-256")
    print(f"# {hashlib.sha256(wheel.read_bytes()).hexdigest()}; MIT License, Copyright (c) 2023 Berri AI.")
    print(f'source = "litellm {version} (MIT)"')
    print(f'as_of = "{datetime.date.today()}"\n\n[models]')
    for name, costs in sorted(prices.items()):
        print(f"{json.dumps(name)} = {costs}")


if __name__ == "__main__":
    main()
