#!/usr/bin/env python3
"""Measures the steps that compare rows with rows on growing logs, for benches/README.md.

    benches/growth.py [--binary NAME=PATH]... [--table NAME]... [--rows N]... [--limit SECONDS] [--threads N]
    benches/growth.py --cancel [--binary NAME=PATH]... [--table NAME]... [--rows N]... [--after S]...
    benches/growth.py --commands [--binary NAME=PATH]... [--table NAME]... [--rows N]... [--limit SECONDS]

A table makes one log for each number of rows and runs the recipe over it. It prints the seconds of the step in
question, of the whole run, and the peak memory of the process, for each binary next to the others. A binary that took
more than --limit seconds does not run the next size. Two binaries must agree on every row: their merges, drops and holds
are compared. The tables of the audit have as many entries as rows; that of words has one of each, with so many words.
--cancel sends SIGINT after the given seconds and prints how long the process takes to stop.
--commands times single commands on many files, many rows or one large function instead.
Standard library only; the logs are the same each time.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

BINARY = os.path.join(os.path.dirname(__file__), "..", "target", "release", "callsieve")
SEED = 11
WORDS = [a + b for a in "ba be bi bo bu da de di do du ga ge gi go gu ka ke ki ko ku".split() for b in
         "lan len lin lon lun mar mer mir mor mur nas nes nis nos nus ras res ris ros rus sta ste sti sto stu".split()]
CITIES = [word.capitalize() for word in WORDS[::3]]
WEATHER = [
    "What is the weather in {c} on {d}?", "Will it rain in {c} on {d}?", "Do I need an umbrella in {c} on {d}?",
    "How warm does it get in {c} on {d}?", "Give me the forecast for {c} on {d} in {u}.",
    "I am travelling to {c} on {d}, what should I wear?", "Is there a storm warning for {c} on {d}?",
    "How strong is the wind in {c} on {d}, in {u}?", "Will the sun shine in {c} on {d}?", "Tell me whether it snows in {c} on {d}.",
    "Can we have a picnic in {c} on {d}?", "What are the chances of fog around {c} on the morning of {d}?",
    "Show humidity and pressure for {c}, {d}, in {u}.", "At what time does the sun set in {c} on {d}?",
    "Compare the temperature in {c} with {e} on {d}.", "Should I close the windows in {c} on {d} or will it stay dry?",
    "Which of {c} and {e} is warmer on {d}?", "Is it a good day for sailing near {c} on {d}?",
    "My flight lands in {c} on {d}; is it likely to be late because of the weather?", "Weather {c} {d} {u}",
]


def date(n):
    return f"2024-{n % 12 + 1:02}-{n // 12 % 28 + 1:02}"


def weather(rng):
    city, other = rng.choice(CITIES), rng.choice(CITIES)
    return rng.choice(WEATHER).format(c=city, e=other, d=date(rng.randrange(336)), u=rng.choice(["Celsius", "Fahrenheit"]))


def function(name, n_words, rng):
    text = " ".join(rng.choice(WORDS) + rng.choice(["", rng.choice(WORDS)]) for _ in range(n_words))
    parameter = {"type": "string", "description": " ".join(rng.choice(WORDS) + rng.choice(WORDS) for _ in range(8))}
    schema = {"type": "object", "properties": {rng.choice(WORDS): parameter}, "required": []}
    return {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}


FORECAST = [{"type": "function", "function": {"name": "forecast", "description": "Gives the weather forecast for a place and a day.", "parameters": {
    "type": "object", "properties": {"place": {"type": "string", "description": "The place."}, "day": {"type": "string", "description": "The day."}}, "required": ["place"]}}}]


def call(number, name, arguments):
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}


def request(at, tools, messages, answer=None):
    body = {"messages": messages, "tools": tools}
    line = {"id": f"r{at}", "time": 1_700_000_000 + at, "request": body}
    if answer:
        line["response"] = {"choices": [{"message": answer, "finish_reason": "tool_calls"}]}
    return line


def queries(kind):
    def rows(n):
        rng = random.Random(SEED)
        for at in range(n):
            text = {
                "numbers": lambda: f"order {at}",
                "words": lambda: "please send to the office " + " ".join(rng.choice(WORDS) + rng.choice(WORDS) for _ in range(4)),
                "weather": lambda: weather(rng),
                "copies": lambda: f"please tell me what the weather in {CITIES[0]} will be like on day {at} of this year",
            }[kind]()
            yield request(at, FORECAST, [{"role": "user", "content": text}])
    return rows


def one_prompt(kind):
    def rows(n):
        user = {"role": "user", "content": "What is the weather in Oslo on the day after tomorrow?"}
        for at in range(n // 2):
            if kind == "chains":
                at_step, number = at % 20, at // 20
            else:
                at_step, number = 0, at if kind == "calls" else 0
            messages = [user]
            for step in range(at_step):
                messages += [call(step, "forecast", {"place": "Oslo", "day": f"{number} {step}"}), {"role": "tool", "tool_call_id": f"c{step}", "content": "{\"rain\": 1}"}]
            answer = call(at_step, "forecast", {"place": "Oslo", "day": f"{number} {at_step}"})
            yield request(2 * at, FORECAST, messages, answer)
            yield request(2 * at + 1, FORECAST, messages + [answer, {"role": "tool", "tool_call_id": f"c{at_step}", "content": "{\"rain\": 2}"}])
    return rows


def docs(n_functions, shared):
    def rows(n):
        rng = random.Random(SEED)
        common = [function(f"common_{at}", 40, rng) for at in range(n_functions)]
        n_common = int(n_functions * shared)
        for at in range(n):
            own = [function(f"own_{at}_{number}", 40, rng) for number in range(n_functions - n_common)]
            yield request(at, common[:n_common] + own, [{"role": "user", "content": f"Use tool number {at} of yours, please."}])
    return rows


def values(kind):
    """Requests with n personal values, in one message, in one conversation, or in a row each."""
    def value(at):
        letters = "".join(WORDS[(at // 320 ** place) % 320][:2] for place in range(4))
        return {
            "addresses": f"a{at}@harbourpost.net", "phones": f"+49 1512 {1_000_000 + at}", "passwords": f"password: k{at:06}",
            "longest-word": f"the password is Company2024Portal-{letters}{at:06} and thing {at}",
        }[kind.removesuffix("-turns")]

    def rows(n):
        if kind == "longest-word":
            for at in range(n):
                yield request(at, FORECAST, [{"role": "user", "content": value(at)}])
        elif kind.endswith("-turns"):
            turns = [{"role": role, "content": value(at) if role == "user" else "Noted, thank you very much."}
                     for at in range(n) for role in ("user", "assistant")]
            yield request(0, FORECAST, turns + [{"role": "user", "content": "What is the weather in Oslo?"}])
        else:
            yield request(0, FORECAST, [{"role": "user", "content": "Tell " + ", ".join(value(at) for at in range(n))}])
    return rows


def own_words(rng, n):
    return " ".join(rng.choice(WORDS) + rng.choice(WORDS) + rng.choice(WORDS) for _ in range(n))


def plain(at, text, tools=None):
    row = {"id": f"r{at}", "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]}
    return {**row, "tools": tools} if tools else row


INSTRUCTION = ("Look at the entry of the harbour log that follows and say in one short sentence which boat it is about, using only what is "
               "written in the entry and nothing else, and if the entry does not say it write that it cannot be known. Entry: ")


def audit_rows(kind):
    """Rows of a training set or, with another seed, of a benchmark."""
    def rows(n, seed):
        rng = random.Random(seed)
        tools = [function(f"tool_{at}", 12, random.Random(at)) for at in range(16)]
        for at in range(n):
            yield {
                "template": lambda: plain(at, INSTRUCTION + own_words(rng, 30)),
                "short-template": lambda: plain(at, INSTRUCTION + own_words(rng, 4)),
                "list": lambda: plain(at, own_words(rng, 8), tools),
                "numbers": lambda: plain(at, f"please tell me what the weather in {CITIES[0]} will be like on day {rng.randrange(10 ** 6)} of this year"),
                "other": lambda: plain(at, own_words(rng, 30)),
            }[kind]()
    return rows


def audit_words(n, seed):
    """One message of so many words; that of the training set has another word at each fiftieth place."""
    rng = random.Random(SEED)
    words = [rng.choice(WORDS) + rng.choice(WORDS) for _ in range(n)]
    if seed != SEED:
        words[::50] = [f"other{at}" for at in range(len(words[::50]))]
    yield plain(0, " ".join(words))


AUDIT = "drop-benchmark-overlap"
TABLES = {
    "audit-template": (AUDIT, audit_rows("template"), [2_500, 5_000, 10_000, 20_000]),
    "audit-short-template": (AUDIT, audit_rows("short-template"), [1_000, 2_000, 4_000]),
    "audit-list": (AUDIT, audit_rows("list"), [2_500, 5_000, 10_000, 20_000]),
    "audit-numbers": (AUDIT, audit_rows("numbers"), [1_000, 2_000, 4_000]),
    "audit-other": (AUDIT, audit_rows("other"), [10_000, 20_000, 40_000]),
    "audit-words": (AUDIT, audit_words, [10_000, 20_000, 40_000, 100_000, 200_000, 400_000]),
    "redact-addresses": ("redact", values("addresses"), [10_000, 40_000, 100_000, 400_000]),
    "redact-phones": ("redact", values("phones"), [10_000, 40_000, 100_000, 400_000]),
    "redact-passwords": ("redact", values("passwords-turns"), [10_000, 40_000, 100_000, 400_000]),
    "redact-longest-word": ("redact", values("longest-word"), [10_000, 40_000, 100_000, 400_000]),
    "queries-numbers": ("merge-near-queries", queries("numbers"), [1_000, 10_000, 40_000, 100_000, 1_000_000]),
    "queries-words": ("merge-near-queries", queries("words"), [1_000, 10_000, 40_000, 100_000, 1_000_000]),
    "queries-weather": ("merge-near-queries", queries("weather"), [1_000, 10_000, 40_000, 100_000, 1_000_000]),
    "queries-copies": ("merge-near-queries", queries("copies"), [1_000, 10_000, 40_000, 100_000, 1_000_000]),
    "prompt-same-call": ("collapse-conversations", one_prompt("same"), [1_000, 10_000, 100_000, 1_000_000]),
    "prompt-other-calls": ("collapse-conversations", one_prompt("calls"), [1_000, 10_000, 100_000, 1_000_000]),
    "prompt-chains": ("collapse-conversations", one_prompt("chains"), [1_000, 10_000, 100_000]),
    "docs-near-30": ("merge-near-docs", docs(30, 0.95), [250, 1_000, 2_000, 10_000]),
    "docs-half-36": ("merge-near-docs", docs(36, 0.5), [250, 1_000, 2_000, 10_000]),
    "docs-half-120": ("merge-near-docs", docs(120, 0.5), [250, 1_000, 2_000]),
}


# Commands on n of something: each makes what the command needs in a folder, and returns its arguments.

SHORT = 'name = "short"\n' + "".join(f'[[stages]]\nkind = "{kind}"\n' for kind in ["collapse-conversations", "parse-docs", "fix-docs", "draft-answers", "split"]) + "[export]\n"


def plain_request(at, prompt, functions=None):
    functions = functions or [{"name": "ring", "description": "Rings a bell.", "parameters": {
        "type": "dict", "required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which bell."}}}}]
    return {"id": f"r{at}", "ts": 1_700_000_000 + at, "prompt": prompt, "function": json.dumps(functions), "response": f"[ring(bell='{at}')]"}


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def files(*arguments):
    """One log of one request in each of n files, a hundred to a folder."""
    def make(path, folder, n):
        for at in range(n):
            inner = os.path.join(folder, "logs", f"{at // 100:04}")
            os.makedirs(inner, exist_ok=True)
            write_lines(os.path.join(inner, f"f{at}.jsonl"), [plain_request(at, f"Ring bell number {at}")])
        pipeline = os.path.join(folder, "short.toml")
        with open(pipeline, "w", encoding="utf-8") as file:
            file.write(SHORT)
        given = {"LOGS": os.path.join(folder, "logs"), "PIPELINE": pipeline, "OUT": os.path.join(folder, "out")}
        return [given.get(argument, argument) for argument in arguments]
    return make


def compare(path, folder, n):
    """Two runs of n requests; a tenth of the second one is new."""
    pipeline = os.path.join(folder, "short.toml")
    with open(pipeline, "w", encoding="utf-8") as file:
        file.write(SHORT)
    outs = []
    for start in (0, n // 10):
        log, out = os.path.join(folder, f"{start}.jsonl"), os.path.join(folder, f"out{start}")
        write_lines(log, (plain_request(at, f"Ring bell number {at}") for at in range(start, start + n)))
        measure([path, "run", "--quiet", pipeline, log, "--out", out])
        outs.append(out)
    return ["compare", *outs]


def one_function(make):
    """A run of one request whose function has n of something."""
    def write(path, folder, n):
        log = os.path.join(folder, "log.jsonl")
        write_lines(log, [plain_request(0, "Ring it, please.", make(n))])
        return ["run", "--quiet", log, "--out", os.path.join(folder, "out")]
    return write


def properties(n):
    return {f"p{at}": {"type": "string", "description": f"Part {at}."} for at in range(n)}


def ring(schema, required=()):
    return {"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": list(required), "properties": schema}}


def alternatives(path, folder, n):
    """A dataset of one entry whose answer has n alternatives, all of them in the enum of the parameter."""
    values = [f"bell {at}" for at in range(n)]
    function = ring({"bell": {"type": "string", "description": "Which bell.", "enum": values}}, ["bell"])
    os.makedirs(os.path.join(folder, "d", "possible_answer"))
    name = "BFCL_v4_live_simple.json"
    question = {"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring it, please."}]], "function": [function]}
    write_lines(os.path.join(folder, "d", name), [question])
    answer = {"id": "live_simple_0-0-0", "ground_truth": [{"ring": {"bell": values}}]}
    write_lines(os.path.join(folder, "d", "possible_answer", name), [answer])
    return ["check", os.path.join(folder, "d")]


MANY = [10_000, 20_000, 40_000]
COMMANDS = {
    "files-plan": (files("plan", "LOGS"), [10_000, 20_000, 40_000, 100_000]),
    "files-run": (files("run", "--quiet", "PIPELINE", "LOGS", "--out", "OUT"), [10_000, 20_000, 40_000]),
    "files-inspect": (files("inspect", "LOGS"), MANY),
    "compare": (compare, [100_000, 200_000, 400_000]),
    "required": (one_function(lambda n: [ring(properties(n), properties(n))]), MANY),
    "properties": (one_function(lambda n: [ring(properties(n))]), MANY),
    "enum": (one_function(lambda n: [ring({"bell": {"type": "string", "description": "B.", "enum": [f"b{at}" for at in range(n)]}})]), MANY),
    "functions": (one_function(lambda n: [ring(properties(1)) | {"name": f"ring_{at}"} for at in range(n)]), MANY),
    "equal-names": (one_function(lambda n: [ring({f"p{at}": {"type": "string", "description": "P."}}) for at in range(n)]), MANY),
    "alternatives": (alternatives, MANY),
}


def command_table(name, make, sizes, binaries, args):
    print(f"\n{name}\n\n| n | {' | '.join(f'{binary}: s | peak MiB' for binary in binaries)} |\n|---{'|---' * 2 * len(binaries)}|", flush=True)
    too_slow = set()
    for n in sizes:
        cells = []
        for binary, path in binaries.items():
            if binary in too_slow:
                cells.append("|")
                continue
            with tempfile.TemporaryDirectory() as folder:
                seconds, peak = measure([path, *make(path, folder, n)])
            cells.append(f"{seconds:.2f} | {peak:.0f}")
            if seconds > args.limit:
                too_slow.add(binary)
        print(f"| {n:,} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", action="append", default=[], metavar="NAME=PATH", help="default: the release build")
    parser.add_argument("--table", action="append", default=[], choices=[*TABLES, *COMMANDS], help="default: all")
    parser.add_argument("--rows", action="append", type=int, default=[], help="instead of a table's own sizes")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which no larger log is tried")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="STAGE.KEY=VALUE", help="a setting of all runs")
    parser.add_argument("--cancel", action="store_true", help="time SIGINT instead")
    parser.add_argument("--commands", action="store_true", help="time single commands instead")
    parser.add_argument("--after", action="append", type=float, default=[], help="seconds until SIGINT")
    args = parser.parse_args()
    binaries = dict(given.split("=", 1) for given in args.binary) or {"callsieve": BINARY}
    if args.commands:
        for name in args.table or COMMANDS:
            make, sizes = COMMANDS[name]
            command_table(name, make, args.rows or sizes, binaries, args)
        return
    for name in args.table or TABLES:
        step, rows, sizes = TABLES[name]
        sizes = args.rows or sizes
        (cancel_table if args.cancel else growth_table)(name, step, rows, sizes, binaries, args)


def growth_table(name, step, rows, sizes, binaries, args):
    print(f"\n{name}: {step}\n")
    heads = [f"{binary}: step s | whole run s | peak MiB" for binary in binaries]
    print(f"| rows | {' | '.join(heads)} |\n|---{'|---' * 3 * len(binaries)}|", flush=True)
    too_slow = set()
    for n in sizes:
        cells, outcomes = [], []
        with tempfile.TemporaryDirectory() as folder:
            log = write_log(folder, step, rows, n)
            for binary, path in binaries.items():
                if binary in too_slow:
                    cells.append("| |")
                    continue
                out = os.path.join(folder, binary)
                seconds, peak = measure(command(path, log, out, args))
                report = json.load(open(os.path.join(out, "report.json"), encoding="utf-8"))
                of_step = next(timing["seconds"] for timing in report["timing"] if timing["step"].endswith(step))
                cells.append(f"{of_step:.2f} | {seconds:.2f} | {peak:.0f}")
                outcomes.append(fates(out, step))
                if seconds > args.limit:
                    too_slow.add(binary)
        if any(outcome != outcomes[0] for outcome in outcomes):
            sys.exit(f"{name}: the binaries differ at {n} rows")
        print(f"| {n:,} | {' | '.join(cells)} |", flush=True)


def cancel_table(name, step, rows, sizes, binaries, args):
    print(f"\n{name}: SIGINT\n\n| rows | binary | after s | lives on s | exit code |\n|---|---|---|---|---|", flush=True)
    for n in sizes[-1:]:
        with tempfile.TemporaryDirectory() as folder:
            log = write_log(folder, step, rows, n)
            for binary, path in binaries.items():
                for number, after in enumerate(args.after or [0.5, 1, 2, 4, 8, 12, 16, 20]):
                    out = os.path.join(folder, f"{binary}-{number}")
                    process = subprocess.Popen(command(path, log, out, args), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    try:
                        process.wait(after)
                        print(f"| {n:,} | {binary} | {after} | done before | {process.returncode} |", flush=True)
                        break
                    except subprocess.TimeoutExpired:
                        start = time.monotonic()
                        process.send_signal(signal.SIGINT)
                        process.wait()
                        lived = time.monotonic() - start
                        print(f"| {n:,} | {binary} | {after} | {lived:.2f} | {process.returncode} |", flush=True)


def write_log(folder, step, rows, n):
    """Returns the path of the log, or those of training set and benchmark."""
    if step == AUDIT:
        return tuple(write_rows(folder, f"{name}.jsonl", rows(n, seed)) for name, seed in (("train", SEED + 1), ("bench", SEED)))
    return write_rows(folder, "log.jsonl", rows(n))


def write_rows(folder, name, rows):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def command(path, log, out, args):
    if isinstance(log, tuple):
        return [path, "audit", "--quiet", "--fresh", "--out", out, "--train", log[0], "--bench", log[1],
                *(["--threads", str(args.threads)] if args.threads else [])]
    threads = ["--threads", str(args.threads)] if args.threads else []
    settings = [part for setting in args.set for part in ("--set", setting)]
    return [path, "run", "--quiet", "--fresh", "--out", out, "--input", log, *threads, *settings]


def measure(command):
    """Returns wall seconds and peak MiB of one process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        sys.exit(f"{command}: exit code {code}\n{said}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def fates(out, step):
    """Returns the file of the fates of a step; equal fates have equal bytes."""
    stages = os.path.join(out, "stages")
    folder = next(name for name in os.listdir(stages) if name.endswith(step))
    with open(os.path.join(stages, folder, "fates.parquet"), "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
