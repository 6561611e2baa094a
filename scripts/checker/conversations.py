#!/usr/bin/env python3
"""Compares the conversations of `callsieve evaluate --ask` with those of the official handler, for all multi-turn entries.

    scripts/checker/conversations.py serve PORT REQUESTS.jsonl
    scripts/checker/conversations.py official PORT prompt|fc RESULTS.jsonl
    scripts/checker/conversations.py compare OURS THEIRS

`serve` answers chat requests: with calls of the ground truth, with others that fail, with unusual values, and with prose, always the
same for the same messages. It appends a line for each request. `official` has the conversations of the package's handler with such a
server, through the SDK of OpenAI, and writes its results. `compare` takes what both left, OURS.requests.jsonl, OURS.results.jsonl and
so on: each request of one must be one of the other, with the same messages, tools and temperature, and each result must be the same.
`conversations.sh` does all of it.

Needs the packages bfcl-eval and openai.
"""

import collections
import hashlib
import json
import random
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

CATEGORIES = ["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"]
VALUES = ["it's \"so\"", "naïve\n\\n", "ls (x)", 1.5, -3, True, None, [], {}, ["a", {"b": 1}], {"a": {"b": 1}}, {"a": 1, "b": [2]}, 1e22]
LOCK = threading.Lock()


def main():
    if sys.argv[1] == "serve":
        Server.truths, Server.out = truths(), sys.argv[3]
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Server).serve_forever()
    elif sys.argv[1] == "official":
        official(sys.argv[2], sys.argv[3], sys.argv[4])
    else:
        sys.exit(compare(sys.argv[2], sys.argv[3]))


def truths():
    """Returns the calls of the turns of all ground truths, by the first message."""
    import trajectories
    utils = trajectories.check_official.official().utils
    parameters, all_turns = {}, collections.defaultdict(list)
    for path in sorted((utils.PROMPT_PATH / "multi_turn_func_doc").glob("*.json")):
        for doc in map(json.loads, path.read_text().splitlines()):
            parameters.setdefault(doc["name"], list(doc["parameters"]["properties"]))
    for category in CATEGORIES:
        for entry, answer in zip(utils.load_dataset_entry(category), utils.load_ground_truth_entry(category)):
            turns = [[trajectories.named(call, parameters) for call in turn] for turn in answer["ground_truth"]]
            all_turns[entry["question"][0][-1]["content"]] += [turn for turn in turns if turn]
    return all_turns


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = {key: body.get(key) for key in ("messages", "tools", "temperature")}
        # One message of the travel service shows a set, whose order differs from process to process.
        text = re.sub(r"(Must be one of \{)[^}]*\}", r"\1…}", json.dumps(asked, sort_keys=True))
        digest = hashlib.sha256(text.encode()).hexdigest()
        last = json.dumps(body["messages"][-1])[:300]
        with LOCK, open(Server.out, "a", encoding="utf-8") as out:
            out.write(json.dumps({"hash": digest, "messages": len(body["messages"]), "last": last}) + "\n")
        message = reply(Server.truths, body, random.Random(digest))
        answer = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
                  "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                  "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def reply(all_turns, body, rng):
    messages = body["messages"]
    first = next(message["content"] for message in messages if message["role"] == "user")
    is_result = messages[-1]["role"] == "tool" or messages[-1]["content"].startswith("[{'role': 'tool'")
    turn = list(rng.choice(all_turns[first]))
    way = rng.choice(["all", "all", "one", "none", "none", "none"] if is_result else ["all", "all", "all", "one", "value", "other", "none"])
    if way == "one":
        turn = [rng.choice(turn)]
    elif way == "other":
        turn.insert(rng.randrange(len(turn) + 1), rng.choice([("no_such_function", {"x": 1}), ("GorillaFileSystem.ls", {}), ("pwd", {"x y": 1})]))
    elif way == "value":
        at = rng.randrange(len(turn))
        name, arguments = turn[at]
        turn[at] = name, arguments | {rng.choice(list(arguments) or ["more"]): rng.choice(VALUES)}
    calling = "tools" in body
    if way == "none":
        text = rng.choice(["I can do no more.", "Which one?", "", "[]", "[pwd(]", "[f(x)(y)]", None] if not calling else ["Done.", "", None])
        return {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    if calling:
        calls = [{"id": f"call_{rng.randrange(10**9)}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                 for name, arguments in turn]
        if rng.random() < 0.03:
            calls[-1]["function"]["arguments"] = rng.choice(["{", "[1]", "null", ""])
        return {"role": "assistant", "content": rng.choice([None, "Let me look."]), "tool_calls": calls}
    rendered = ", ".join(f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})" for name, arguments in turn)
    form = rng.choice(["[{}]", "[{}]", "{}", "```\n[{}]\n```", "I will: [{}]"])
    return {"role": "assistant", "content": form.format(rendered), "refusal": None}


def official(port, mode, path):
    """Has the conversations of the package's handler."""
    import os
    os.environ |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}", "OPENAI_API_KEY": "none"}
    import openai  # the real one; others are replaced below
    assert openai.OpenAI
    import trajectories
    package = trajectories.check_official.official()
    from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler
    handler = OpenAICompletionsHandler("gpt-x.1/a", 0.001, "gpt-x.1/a" + ("-FC" if mode == "fc" else ""), mode == "fc")
    entries = [entry for category in CATEGORIES for entry in package.utils.load_dataset_entry(category)]
    printed, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")

    def inference(entry):
        try:
            return {"id": entry["id"], "result": handler.inference(entry, False, True)[0]}
        except Exception as error:
            return {"id": entry["id"], "result": f"Error during inference: {error}"}

    with ThreadPoolExecutor(4) as pool, open(path, "w", encoding="utf-8") as out:
        for row in pool.map(inference, entries):
            out.write(json.dumps(row) + "\n")
    sys.stdout = printed


def without_null(turns):
    """A message without content is an empty text here, and nothing there; both end the turn."""
    if not isinstance(turns, list):
        return turns
    return [["" if step is None else step for step in turn] for turn in turns]


def compare(ours, theirs):
    def requests(name):
        rows = [json.loads(line) for line in open(f"{name}.requests.jsonl", encoding="utf-8")]
        return collections.Counter(row["hash"] for row in rows), {row["hash"]: row for row in rows}

    def results(name):
        rows = [json.loads(line) for line in open(f"{name}.results.jsonl", encoding="utf-8")]
        return {row["id"]: without_null(row["result"]) for row in rows}

    (n_ours, rows_ours), (n_theirs, rows_theirs) = requests(ours), requests(theirs)
    (of_ours, of_theirs) = results(ours), results(theirs)
    same = sum((n_ours & n_theirs).values())
    same_results = sum(of_theirs.get(key) == value for key, value in of_ours.items())
    steps = [len(turn) for turns in of_theirs.values() for turn in turns if isinstance(turn, list)]
    print(f"{same} of {sum(n_ours.values())} requests are those of the official handler, which sends {sum(n_theirs.values())}; "
          f"{same_results} of {len(of_ours)} results are the same as its {len(of_theirs)}; longest turn: {max(steps)} steps")
    for key in [key for key in of_theirs if of_theirs[key] != of_ours.get(key)][:3]:
        print(key, json.dumps(of_ours.get(key))[:600], json.dumps(of_theirs[key])[:600], sep="\n")
    for counts, rows in ((n_ours - n_theirs, rows_ours), (n_theirs - n_ours, rows_theirs)):
        for digest in list(counts)[:3]:
            print(rows[digest])
    is_same = n_ours == n_theirs and of_ours == of_theirs
    return 0 if is_same else 1


if __name__ == "__main__":
    main()
