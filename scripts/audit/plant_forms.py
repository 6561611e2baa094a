#!/usr/bin/env python3
"""Make a training set whose rows hold calls, texts and docs of BFCL in every notation and place, and rows that only look so.

Reads the data folder of bfcl-eval (questions, possible_answer/, multi_turn_func_doc/) and writes

  OUT/train.jsonl  chat rows {"id", "messages", "tools"},
  OUT/truth.jsonl  one line a row {"id", "kind", "bench_id"}; kinds that begin with "clean-" have no entry.

With --hits HITS.jsonl it prints instead, by kind, the share of rows that are contaminated and suspect with their entry, and of
clean kinds with any. A hit of a group counts for all its entries: the audit names ten of them, so a row also counts if the group
holds an entry of the same file. The same arguments give the same bytes.
"""
import argparse
import ast
import json
import random
from collections import defaultdict
from pathlib import Path

SINGLE = ("simple_python", "multiple", "live_simple", "live_multiple", "parallel", "parallel_multiple", "live_parallel",
          "live_parallel_multiple")
ASIDE = ("Note the usual for me.", "Go on as we said.", "Do the next one.", "Same as last time, please.", "Continue.")
CITIES = ("Paris", "London", "Tokyo", "New York, NY", "Berlin", "San Francisco, CA", "Sydney", "Mumbai")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def first(values):
    """The first accepted value; inside of objects each key has a list of accepted values."""
    value = next((value for value in values if value != ""), None)
    if isinstance(value, dict):
        return {key: first(inner) if isinstance(inner, list) else inner for key, inner in value.items()
                if not (isinstance(inner, list) and all(v == "" for v in inner))}
    if isinstance(value, list):
        return [first([v]) if isinstance(v, dict) else v for v in value]
    return value


def calls_of(truth):
    calls = []
    for call in truth:
        (name, arguments), = call.items()
        given = {key: first(values) for key, values in arguments.items() if any(v != "" for v in values)}
        calls.append((name, given))
    return calls


def leaves(value):
    if isinstance(value, dict):
        return sum(leaves(v) for v in value.values())
    if isinstance(value, list):
        return sum(leaves(v) for v in value)
    return 0 if value in (None, "") else 1


def python(name, arguments):
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def as_json(name, arguments):
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def typed(calls):
    return [{"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}}
            for n, (name, arguments) in enumerate(calls)]


def row(rng, messages, tools=None):
    made = {"messages": [{"role": "user", "content": rng.choice(ASIDE)}, *messages]}
    if tools:
        made["tools"] = [{"type": "function", "function": tool} for tool in tools]
    return made


def says(rng, text):
    return row(rng, [{"role": "assistant", "content": text}])


def sends(rng, calls):
    return row(rng, [{"role": "assistant", "content": None, "tool_calls": typed(calls)}])


def written(kind, name, arguments):
    call, body = python(name, arguments), json.dumps(arguments, ensure_ascii=False)
    return {
        "fence": f"Here is the call.\n```python\n{call}\n```\nIt does what you want.",
        "assigned": f"```python\nresult = {call}\nprint(result)\n```",
        "code-tag": f"<code>\nanswer = {call}\nfinal_answer(answer)\n</code>",
        "tool-code": f"```tool_code\nprint({call})\n```",
        "prose": f"For this I would make the call `{call}`, and then read the result to you.",
        "prose-json": f"I send this:\n```json\n{as_json(name, arguments)}\n```\nand wait.",
        "react": f"Thought: one call is enough.\nAction: {name}\nAction Input: {body}\nObservation: ok\nFinal Answer: done",
        "tool-call-tag": f"<tool_call>\n{as_json(name, arguments)}\n</tool_call>",
        "invoke": f"<function_calls>\n<invoke name=\"{name}\">\n" + "".join(
            f"<parameter name=\"{key}\">{value if isinstance(value, str) else json.dumps(value)}</parameter>\n"
            for key, value in arguments.items()) + "</invoke>\n</function_calls>",
        "javascript": f"await {name}({body});",
    }[kind]


def positional(name, arguments, function):
    order = list(function["parameters"]["properties"])
    given = [key for key in order if key in arguments]
    return f"[{name}({', '.join(repr(arguments[key]) for key in given)})]" if given == order[:len(given)] else None


def stub(function):
    properties = function["parameters"]["properties"]
    types = {"integer": "int", "string": "str", "float": "float", "boolean": "bool", "array": "list", "dict": "dict"}
    heads = ", ".join(f"{key}: {types.get(schema.get('type'), 'object')}" for key, schema in properties.items())
    told = "".join(f"        {key}: {schema.get('description', '')}\n" for key, schema in properties.items())
    name = function["name"].replace(".", "_")
    return f"You can call:\n```python\ndef {name}({heads}):\n    \"\"\"{function['description']}\n\n    Args:\n{told}    \"\"\"\n```"


def renamed(rng, function):
    changed = json.loads(json.dumps(function))
    parameters = changed["parameters"]
    prefix = rng.choice(("in_", "p_", "arg_", "the_"))
    parameters["properties"] = {prefix + key: schema for key, schema in parameters["properties"].items()}
    parameters["required"] = [prefix + key for key in parameters.get("required", [])]
    return changed


def read(data):
    entries = []
    for category in SINGLE:
        answers = {line["id"]: line["ground_truth"] for line in lines(data / "possible_answer" / f"BFCL_v4_{category}.json")}
        for line in lines(data / f"BFCL_v4_{category}.json"):
            entries.append((line["id"], line["question"][0][-1]["content"], line["function"], calls_of(answers[line["id"]])))
    turns = []
    answers = {line["id"]: line["ground_truth"] for line in lines(data / "possible_answer" / "BFCL_v4_multi_turn_base.json")}
    for entry, truth in answers.items():
        for turn in truth:
            calls = [call_of(text) for text in turn]
            if calls and all(call is not None for call in calls):
                turns.append((entry, calls))
    return entries, turns


def call_of(text):
    try:
        node = ast.parse(text, mode="eval").body
        if node.args:
            return None
        return node.func.id, {word.arg: ast.literal_eval(word.value) for word in node.keywords}
    except (SyntaxError, ValueError, AttributeError):
        return None


def plant(data, seed, n):
    entries, turns = read(data)
    docs = [(path.stem, lines(path)) for path in sorted((data / "multi_turn_func_doc").glob("*.json"))]
    rows = []

    def take(kind, pool, make):
        rng = random.Random(f"{seed}/{kind}")
        pool = list(pool)
        rng.shuffle(pool)
        made = 0
        for entry in pool:
            if made == n:
                break
            found = make(rng, entry)
            if found is not None:
                rows.append((kind, entry[0], found))
                made += 1

    one = [entry for entry in entries if len(entry[3]) == 1]
    n_leaves = lambda entry: sum(leaves(arguments) for _, arguments in entry[3])
    several = [entry for entry in one if n_leaves(entry) > 1]
    take("one-argument", [e for e in one if len(e[3][0][1]) == 1 and n_leaves(e) == 1], lambda rng, e: sends(rng, e[3]))
    take("nested", [e for e in one if len(e[3][0][1]) == 1 and n_leaves(e) > 1], lambda rng, e: sends(rng, e[3]))
    take("two-arguments", several, lambda rng, e: sends(rng, e[3]))
    take("parallel", [e for e in entries if len(e[3]) > 1], lambda rng, e: sends(rng, rng.sample(e[3], len(e[3]))))
    take("part-of-parallel", [e for e in entries if len(e[3]) > 2], lambda rng, e: sends(rng, rng.sample(e[3], len(e[3]) - 1)))
    take("one-turn", [t for t in turns if sum(leaves(a) for _, a in t[1]) > 1], lambda rng, t: sends(rng, t[1]))
    for kind in ("fence", "assigned", "code-tag", "tool-code", "prose", "prose-json", "react", "tool-call-tag", "invoke", "javascript"):
        take(kind, several, lambda rng, e: says(rng, written(kind, *e[3][0])))
    take("positional", several, lambda rng, e: (lambda text: text and says(rng, text))(positional(*e[3][0], next(
        f for f in e[2] if f["name"] == e[3][0][0]))))
    asked = [entry for entry in entries if len(entry[1].split()) >= 8]
    take("system", asked, lambda rng, e: {"messages": [{"role": "system", "content": f"Example.\nUser: {e[1]}\nAssistant: I call it."},
                                                        *row(rng, [{"role": "assistant", "content": "ok"}])["messages"]]})
    take("assistant", asked, lambda rng, e: says(rng, f"Before that, another question in my list reads: {e[1]} I will answer it later."))
    told = [e for e in entries if len(e[2]) == 1 and len(e[2][0]["parameters"]["properties"]) > 1]
    take("parameters-renamed", told, lambda rng, e: row(rng, [{"role": "assistant", "content": "ok"}], [renamed(rng, e[2][0])]))
    take("python-stub", told, lambda rng, e: {"messages": [{"role": "system", "content": stub(e[2][0])},
                                                           *row(rng, [{"role": "assistant", "content": "ok"}])["messages"]]})
    take("clean-everyday-call", [(str(i),) for i in range(n)], lambda rng, _: sends(rng, [rng.choice((
        ("get_current_weather", {"location": rng.choice(CITIES), "unit": rng.choice(("celsius", "fahrenheit"))}),
        ("get_weather", {"city": rng.choice(CITIES)}), ("get_stock_price", {"symbol": rng.choice(("AAPL", "GOOG"))}),
        ("calculate_bmi", {"weight": rng.randrange(50, 99), "height": rng.randrange(150, 199)}),
        ("send_email", {"to": rng.choice(("a@b.org", "me@x.com")), "subject": "Hello"})))]))
    take("clean-other-values", several, lambda rng, e: sends(rng, [(e[3][0][0], {
        key: "another value of mine" if isinstance(value, str) else 7331 for key, value in e[3][0][1].items()})]))
    take("clean-environment", [(name, functions) for name, functions in docs for _ in range(n // len(docs) + 1)], lambda rng, d: row(
        rng, [{"role": "assistant", "content": "Let me look into that."}], d[1]))
    return rows


def write(rows, out):
    out.mkdir(parents=True, exist_ok=True)
    with (out / "train.jsonl").open("w", encoding="utf-8") as train, (out / "truth.jsonl").open("w", encoding="utf-8") as truth:
        for number, (kind, entry, made) in enumerate(rows):
            train.write(json.dumps({"id": f"r{number}", **made}, ensure_ascii=False) + "\n")
            truth.write(json.dumps({"id": f"r{number}", "kind": kind, "bench_id": entry}) + "\n")


def score(truth, hits):
    rank = {"environment": 1, "suspect": 2, "contaminated": 3}
    found, any_of = defaultdict(int), defaultdict(int)
    wanted = {line["id"]: line for line in truth}
    for hit in hits:
        line = wanted[hit["train_id"]]
        named = [hit["bench_id"], *(example["record"] for example in hit.get("examples", []))]
        is_own = line["bench_id"] in named or hit["entries"] > 10
        any_of[line["id"]] = max(any_of[line["id"]], rank[hit["verdict"]])
        if is_own:
            found[line["id"]] = max(found[line["id"]], rank[hit["verdict"]])
    kinds = defaultdict(list)
    for line in truth:
        of = any_of if line["kind"].startswith("clean-") else found
        kinds[line["kind"]].append(of[line["id"]])
    print(f"{'kind':22} {'rows':>5} {'contaminated':>13} {'or suspect':>11} {'environment':>12}")
    for kind, ranks in kinds.items():
        share = lambda least: 100 * sum(r >= least for r in ranks) / len(ranks)
        print(f"{kind:22} {len(ranks):5} {share(3):12.1f}% {share(2):10.1f}% {share(1) - share(2):11.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the data folder of bfcl-eval")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows-per-kind", type=int, default=100)
    parser.add_argument("--hits", type=Path, help="hits.jsonl of an audit of OUT/train.jsonl")
    options = parser.parse_args()
    if options.hits:
        score(lines(options.out / "truth.jsonl"), lines(options.hits))
    else:
        write(plant(options.data, options.seed, options.rows_per_kind), options.out)


if __name__ == "__main__":
    main()
