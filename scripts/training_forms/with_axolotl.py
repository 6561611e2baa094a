"""Axolotl: the labels of its dataset type `chat_template`."""

import importlib.metadata
import sys

from .forms import block, load, reason, stand_in
from .masks import make_tokenizer, segments, unlike


def check_axolotl(folder):
    import yaml

    stand_in("axolotl.utils.distributed", is_main_process=lambda: True)
    stand_in("axolotl.prompt_strategies", package="axolotl/prompt_strategies")
    import transformers  # It looks whether there is PyTorch, which must not find what stands in its place.

    stand_in("torch", int4=0, int8=1, float8_e4m3fn=2)
    from axolotl.prompt_strategies.chat_template import load as strategy_of
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.datasets import SFTDataset

    del sys.modules["torch"]
    settings = yaml.safe_load(block("yaml"))
    SFTDataset(**settings["datasets"][0])
    faults, rows = [], load(folder / "openai.jsonl")
    for name in AXOLOTL:
        cfg = DictDefault({**settings, "chat_template": name, "train_on_inputs": False, "sequence_len": 1 << 20})
        tokenizer = make_tokenizer("")
        strategy = strategy_of(tokenizer, cfg, {**settings["datasets"][0], "chat_template": name})
        for row in rows:
            try:
                read = strategy.tokenize_prompt(row)
            except Exception as error:
                faults.append(f"openai.jsonl: Axolotl's {name} refuses {row['id']}: {reason(error)}")
                continue
            masked = segments(tokenizer, read["input_ids"], [label != -100 for label in read["labels"]])
            faults += unlike(f"Axolotl's {name}", row, masked)
    print(f"Axolotl {importlib.metadata.version('axolotl')}: {len(rows)} rows in {', '.join(AXOLOTL)}, {len(faults)} faults")
    return faults


AXOLOTL = ["qwen3", "qwen_25"]
