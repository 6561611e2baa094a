"""What a trainer learns of a row, compared with `loss_mask`."""

import json
import re

from .forms import named


def segments(tokenizer, ids, kept):
    """Returns the texts of the neighbouring tokens that are kept."""
    parts, last = [], False
    for id, keep in zip(ids, kept):
        if keep and not last:
            parts.append([])
        if keep:
            parts[-1].append(id)
        last = keep
    return [tokenizer.decode(part) for part in parts]


def unlike(name, row, masked):
    """Compares what a model learns to write with the messages whose `loss_mask` is 1."""
    learned = [message for message, mask in zip(row["messages"], row["loss_mask"]) if mask]
    if len(masked) != len(learned):
        return [f"openai.jsonl: {name} learns {len(masked)} messages of {row['id']}, not {len(learned)}"]
    faults = []
    for text, message in zip(masked, learned):
        calls = [call["function"] for call in message.get("tool_calls") or []]
        parts = [message.get("content") or "", *(call["name"] for call in calls)]
        if any(part not in text for part in parts) or (QWEN in text and not same_calls(calls, text)):
            faults.append(f"openai.jsonl: {name} learns another message of {row['id']}: {text[:80]!r}")
    return faults


# How the templates of Qwen begin a call; those of others are not read back.
QWEN = "<tool_call>\n{"


def same_calls(calls, text):
    read = [call for tagged in re.findall(r"<tool_call>\n(.*)\n</tool_call>", text) for call in named(tagged)]
    texts = [call["arguments"] for call in calls]
    expected = [json.loads(arguments) if isinstance(arguments, str) else arguments for arguments in texts]
    return read == [(call["name"], arguments) for call, arguments in zip(calls, expected)]


def make_tokenizer(template):
    """A tokenizer of bytes, so that no model is needed."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokens.decoder = decoders.ByteLevel()
    special = {"bos_token": "<|begin|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokens, chat_template=template, **special)
