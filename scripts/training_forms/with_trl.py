"""TRL: chat templates, and the masks of `assistant_only_loss`."""

import json
from collections import Counter
from pathlib import Path

from .forms import alike, block, calls_of_messages, lines, reason
from .masks import make_tokenizer, segments, unlike


def check_trl(folder):
    import trl
    from trl.chat_template_utils import get_training_chat_template, supports_tool_calling
    from trl.data_utils import is_conversational

    path = folder / "openai.jsonl"
    settings = {}
    exec(block("python").replace("out/workshop/dataset/openai.jsonl", str(path)), settings)
    rows, plain = settings["dataset"], lines(folder, "openai")
    faults = [f"openai.jsonl: TRL finds no conversation in {row['id']}" for row in rows if not is_conversational(row)]
    n_rounded, others = compared_calls(rows, plain)
    faults += others
    folders = Path(trl.__file__).parent / "chat_templates"
    told = {"read": [], "refused": [], "text": [], "masked": []}
    for template in sorted(folders.glob("*.jinja")):
        tokenizer = make_tokenizer(template.read_text())
        if template.stem.endswith("_training") or not supports_tool_calling(tokenizer):
            continue
        refused = Counter(filter(None, (rendered(tokenizer, row, calls)[1] for row, calls in zip(rows, plain))))
        told["refused" if refused else "read"].append(template.stem)
        if refused and template.stem not in PARTIAL:
            faults += [f"openai.jsonl: TRL's {template.stem} refuses {n} rows: {why}" for why, n in refused.items()]
        if not any(rendered(tokenizer, row, row)[1] for row in plain):
            told["text"].append(template.stem)
        if template.stem in MASKED:
            tokenizer.chat_template = get_training_chat_template(tokenizer)
            faults += check_masks(template.stem, tokenizer, rows)
            told["masked"].append(template.stem)
    print(
        f"TRL {trl.__version__}: {len(rows)} rows ({n_rounded} rounded); all of them in {len(told['read'])} chat templates, some in "
        f"{', '.join(told['refused']) or 'none'}; masks of {', '.join(told['masked'])} agree with loss_mask; "
        f"arguments as texts only in {', '.join(told['text'])}; {len(faults)} faults"
    )
    faults += [f"openai.jsonl: TRL has no {name} any more" for name in MASKED if name not in told["masked"]]
    return faults


def compared_calls(rows, plain):
    faults, n_rounded = [], 0
    for row, before in zip(rows, plain):
        read, expected = calls_of_messages(row["messages"], read=dict), calls_of_messages(before["messages"])
        n_rounded += read != expected
        if not all(name == other and alike(one, two) for (name, one), (other, two) in zip(expected, read, strict=True)):
            faults.append(f"openai.jsonl: {row['id']} has other calls with arguments as objects")
    return n_rounded, faults


# Templates that refuse more than one call at once (Llama), or a message whose content is null (DeepSeek).
PARTIAL = ["deepseekv3", "llama3_1", "llama3_2"]
MASKED = ["qwen2_5", "qwen3", "glm4moe"]


def rendered(tokenizer, row, plain):
    """Returns the text of a row, and why it is not right: an error, or arguments that are encoded a second time."""
    from trl.data_utils import apply_chat_template

    try:
        text = apply_chat_template({"messages": row["messages"]}, tokenizer, tools=row["tools"])["text"]
    except Exception as error:
        return "", reason(error)
    others = [message["content"] for message in row["messages"] if message["role"] == "tool"]
    for message in plain["messages"]:
        for call in message.get("tool_calls") or []:
            arguments = call["function"]["arguments"]
            if json.dumps(arguments) in text and arguments not in others:
                return text, "arguments are encoded twice"
    return text, None


def check_masks(name, tokenizer, rows):
    """As `assistant_only_loss` of TRL's trainer does it."""
    faults = []
    for row in rows:
        read = tokenizer.apply_chat_template(
            row["messages"], tools=row["tools"], return_dict=True, return_assistant_tokens_mask=True
        )
        masked = segments(tokenizer, read["input_ids"], read["assistant_masks"])
        faults += unlike(f"TRL's {name}", row, masked)
    return faults
