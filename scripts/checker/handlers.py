"""Records what the official handlers decode from right and mutated outputs: handlers.py RECORDED.jsonl [--per-decoder N] [--seed N]

A line has "model", "output", "kind" (what the evaluator sees) and "decoded" (the `repr` of the result, or null). One model of each
class of handlers is used. The handlers run in this process, without network; outputs are made here, none is of a model.

Some handlers call `eval`. They get a text only if it does not parse, or is a literal: nothing else is ever evaluated.
`examples/handler_parity.rs` of the checker compares.
"""

import argparse
import ast
import importlib
import json
import random
import re
import socket
import warnings

import models
import mutate

FORMS = {
    "Prompting": ["[{python}]", "{python}", "```\n[{python}]\n```"],
    "GeminiHandler": ["```tool_code\n[{python}]\n```", "[{python}]", "{python}\n```"],
    "PhiHandler": ["```python\n[{python}]\n```", "```json\n[{python}]\n```", " [{python}]"],
    "NemotronHandler": ["<TOOLCALL>[{python}]</TOOLCALL>", "Yes. <TOOLCALL>{python}</TOOLCALL> Done."],
    "GorillaHandler": ["{python}"],
    "BitAgentHandler": ["[{json}]", "{one}"],
    "SalesforceLlamaHandler": ["[{json}]", "{semicolons}", "{one}"],
    "SalesforceQwenHandler": ["[{json}]", "{semicolons}", "{one}"],
    "HammerHandler": ["```\n[{json}]\n```", "[{json}]"],
    "ThinkAgentHandler": ["<think>Well.</think>\n[{json}]", "<think>It's</think>[{json}]"],
    "QwenFCHandler": ["{lines}", "Sure.\n{lines}\nDone."],
    "Granite4FCHandler": ["{lines}"],
    "NanbeigeFCHandler": ["{lines}"],
    "PelicanVLFCHandler": ["{lines}"],
    "Falcon3FCHandler": ["<tool_call>[{json}]</tool_call>", "<tool_call>```json\n[{json}]\n```</tool_call>", "{lines}"],
    "GraniteFunctionCallingHandler": ["{function_calls}", "{one}", '{{"name": "no_function"}}'],
    "LlamaHandler_3_1": ["<|python_tag|>{parameters_semicolons}", "[{parameters}]", "{parameters}", "<|python_tag|>{python_dicts}"],
    "GLMHandler": ["{name}\n{arguments}", "{name}"],
    "MiniCPMFCHandler": ["<|thought_start|>\nHm.\n<|thought_end|>\n<|tool_call_start|>\n```python\n{statements}\n```\n<|tool_call_end|>",
                         "<|tool_call_start|>{statements}<|tool_call_end|>Done."],
    "FunctionGemmaHandler": ["{gemma}"],
}
PIECES = ["<tool_call>", "</tool_call>", "\n<tool_call>\n", "\n</tool_call>", "<function_call>", "<|python_tag|>", "```", "```json",
          "```python", "```tool_code\n", "\n```", "<TOOLCALL>", "</TOOLCALL>", "</think>", "<think>", "<|thought_start|>", "<|thought_end|>",
          "<|tool_call_start|>", "<|tool_call_end|>", "<start_function_call>", "<end_function_call>", "<escape>", "call:", ";", "; ", "\n",
          "{", "}", "[", "]", ":", ",", '"name"', '"arguments"', '"parameters"', "no_function", "python", "x = ", "return ", "null", "true",
          "None", "1.0", "nan", "[]", "{}", '""', "5", "'", '{"name": "g", "arguments": {}}', '{"name": "g", "arguments": 5}', '{"name": 5}']
LISTS = {
    "Calls": lambda calls: [{name: json.dumps(arguments)} for name, arguments in calls],
    "NovaHandler": lambda calls: [{name: arguments} for name, arguments in calls],
    "MistralFCHandler": lambda calls: [{name: arguments} for name, arguments in calls],
    "ArchHandler": lambda calls: [{name: arguments} for name, arguments in calls],
    "Granite3FCHandler": lambda calls: [{name: arguments} for name, arguments in calls],
    "PhiFCHandler": lambda calls: [{name: arguments} for name, arguments in calls],
    "GeminiHandler": lambda calls: [{name: arguments} for name, arguments in calls],
    "CohereHandler": lambda calls: [{"tool_name": name, "parameters": arguments} for name, arguments in calls],
    "MiningHandler": lambda calls: [{"name": name, "arguments": arguments} for name, arguments in calls],
    "DMCitoHandler": lambda calls: [{"name": name, "arguments": arguments} for name, arguments in calls],
}
WORDS = ["Boston, MA", "fahrenheit", "it's", 'a "b"', "", "5", "null", "x;y", "a\nb", "中 é", "[1]", "{a: 1}", "f(x=1)", "</tool_call>"]


def value(rng, depth=0):
    kinds = ["text", "text", "text", "integer", "float", "bool", "null"] + (["list", "dict"] if depth < 2 else [])
    kind = rng.choice(kinds)
    if kind == "text":
        return rng.choice(WORDS)
    if kind == "list":
        return [value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == "dict":
        return {rng.choice("abc"): value(rng, depth + 1) for _ in range(rng.randrange(3))}
    return {"integer": rng.choice([0, 5, -7, 10**20]), "float": rng.choice([1.5, -0.0, 1e300, 2.0]), "bool": rng.random() < 0.5}.get(kind)


def calls(rng):
    n = rng.choice([1, 1, 2, 2, 3])
    return [(rng.choice(["ring", "tower.ring", "get_weather"]), {key: value(rng) for key in rng.sample(["bell", "tune", "at"], rng.randrange(4))})
            for _ in range(n)]


def gemma_value(value):
    if isinstance(value, str):
        return f"<escape>{value}<escape>"
    if isinstance(value, list):
        return "[" + ",".join(map(gemma_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma_value(member)}" for key, member in value.items()) + "}"
    return json.dumps(value)


def written(form, calls):
    """Returns a form with the calls in it."""
    named = [json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False) for name, arguments in calls]
    parameters = [json.dumps({"name": name, "parameters": arguments}) for name, arguments in calls]
    python = [f"{name}({', '.join(f'{key}={member!r}' for key, member in arguments.items())})" for name, arguments in calls]
    return form.format(
        python=", ".join(python), statements="\n".join(python), json=", ".join(named), one=named[0], semicolons="; ".join(named),
        lines="\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in named),
        function_calls=" ".join(f"<function_call> {one}" for one in named), name=calls[0][0], arguments=json.dumps(calls[0][1]),
        parameters=", ".join(parameters), parameters_semicolons="; ".join(parameters),
        python_dicts=", ".join(repr({"name": name, "parameters": arguments}) for name, arguments in calls),
        gemma="".join(f"<start_function_call>call:{name}{gemma_value(arguments)}<end_function_call>" for name, arguments in calls))


def edited(rng, text):
    """Returns a text with one to three edits."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        kind = rng.random()
        if kind < 0.35:
            text, _ = mutate.source(rng, text, rng.choice(["python", "json"]))
        elif kind < 0.7:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(PIECES) + text[at:]
        else:
            piece = rng.choice(PIECES)
            text = text.replace(piece, rng.choice(["", " ", piece * 2, rng.choice(PIECES)]), 1)
    return text


def edited_list(rng, made):
    """Returns a list with an edit, or something else in its place."""
    made = json.loads(json.dumps(made))
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(["", "I cannot.", "[]"])
    if kind == 1:
        return []
    if kind == 2:
        return made + [rng.choice([{}, 5, "ring", None, [], {"ring": {}}, {"ring": "{}"}, {"ring": "5"}])]
    if kind == 3 and isinstance(made[0], dict) and made[0]:
        return [dict(list(made[0].items())[1:])] + made[1:]
    if kind == 4 and made:
        key = next(iter(made[0]))
        return [{**made[0], key: rng.choice([5, None, "", "{", "[]", "null", '{"a": NaN}', {}, [], "{'a': 1}"])}] + made[1:]
    if kind == 5:
        return [{**made[0], "zz": 1}] + made[1:]
    return made


def is_harmless(text):
    """Returns whether a text does not parse or is a literal without sets; only such texts reach `eval`."""
    try:
        ast.parse(text.lstrip(" \t"), mode="eval")
    except Exception:
        return True
    try:
        ast.literal_eval(text)
    except Exception:
        return False
    return not any(isinstance(node, ast.Set) for node in ast.walk(ast.parse(text.lstrip(" \t"), mode="eval")))


def computes(text):
    """Returns whether a text may have arithmetic, which the default decoder evaluates. Commas and quotes are looked through by
    parsing every line and the whole of the text."""
    for part in [text, f"[{text}]", *text.split("\n"), text.strip("`\n ")]:
        try:
            tree = ast.parse(part.strip())
        except Exception:
            continue
        if any(isinstance(node, (ast.BinOp, ast.Lambda)) for node in ast.walk(tree)):
            return True
    return any(mark in text for mark in ("**", "lambda", " + ", "%"))


def seen(decoding, decoded):
    """Returns what the evaluator sees of a result."""
    if not decoding.is_function_calling_format_output(decoded):
        return "no list of calls"
    return "no call" if decoding.is_empty_output(decoded) else "calls"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recorded")
    parser.add_argument("--per-decoder", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    class NoSocket(socket.socket):
        def __init__(self, *args, **kwargs):
            raise OSError("handlers have no network here")

    warnings.simplefilter("ignore")
    models.stub_what_is_missing()
    one_of_class = {}
    for name, config in models.models().items():
        one_of_class.setdefault((config.model_handler, config.is_fc_model), name)
    decoding = importlib.import_module("bfcl_eval.utils")
    form = importlib.import_module("bfcl_eval.constants.enums").ReturnFormat.PYTHON
    socket.socket = NoSocket
    skipped = 0
    with open(options.recorded, "w", encoding="utf-8") as out:
        for (cls, is_fc), model in one_of_class.items():
            handler = cls.__new__(cls)
            handler.is_fc_model = is_fc
            lists = LISTS.get(cls.__name__) if is_fc or cls.__name__ not in FORMS else None
            forms = FORMS.get(cls.__name__)
            if lists is None and forms is None:
                if cls.decode_ast.__qualname__.startswith("OSSHandler") or cls.__name__ == "NvidiaHandler" or not is_fc:
                    forms = FORMS["Prompting"]
                else:
                    lists = LISTS["Calls"]
            rng = random.Random(f"{options.seed} {model}")
            n = 0
            while n < options.per_decoder:
                made = calls(rng)
                if lists is not None:
                    output = lists(made) if rng.random() < 0.2 else edited_list(rng, lists(made))
                else:
                    output = written(rng.choice(forms), made)
                    output = output if rng.random() < 0.15 else edited(rng, output)
                    output = output.encode("utf-8", "replace").decode("utf-8")
                    if cls.__name__ == "LlamaHandler_3_1":
                        is_safe = ";" in output or is_harmless(output.replace("<|python_tag|>", ""))
                    else:
                        is_safe = "python" not in "".join(forms) and "statements" not in "".join(forms) or not computes(output)
                    if not is_safe:
                        skipped += 1
                        continue
                try:
                    decoded = handler.decode_ast(output, form, False)
                    kind, decoded = seen(decoding, decoded), repr(decoded)
                except Exception:
                    kind, decoded = "not decoded", None
                if decoded is not None and re.search(r"\\ud[89a-f]", decoded):  # half of a surrogate pair
                    skipped += 1
                    continue
                line = json.dumps({"model": model, "output": output, "kind": kind, "decoded": decoded}, ensure_ascii=False)
                out.write(line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\u0085", "\\u0085") + "\n")
                n += 1
    print(f"{skipped} outputs skipped: arithmetic or names where the handler calls eval, or half of a surrogate pair")


if __name__ == "__main__":
    main()
