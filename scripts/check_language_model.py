"""Judges requests of the sample log with a model on a local server: check_language_model.py CALLSIEVE MODEL.gguf

Checks that a plan sends nothing, that a run asks and a second one does not, that a killed run asks only for what is missing, that
a batch file gives the same labels, and that the key is in no file. Then the same of an embedder on a server: vectors are stored,
a killed run continues, a wrong key is refused. And the judge of an audit: every suspect pair gets an answer or stays suspect.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

MODEL = "smollm2-135m"
LIMIT = "20"


def main():
    callsieve, model = sys.argv[1:]
    folder, key = tempfile.mkdtemp(prefix="callsieve-model-"), "sk-" + secrets.token_hex(16)
    try:
        for kind, checked in (([], check), ([], check_audit), (["embeddings"], check_embeddings)):
            port = free_port()
            server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "small_model.py"), model, str(port), key, *kind],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                wait_for(port, server)
                checked(Bench(os.path.abspath(callsieve), folder, f"http://127.0.0.1:{port}/v1", key), server)
            finally:
                server.kill()
                server.wait()
        assert_no_key(folder, key)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Bench:
    """Calls the program with a cache of its own."""

    def __init__(self, callsieve, folder, base, key):
        self.callsieve, self.folder, self.base, self.key = callsieve, folder, base, key

    def environment(self, cache):
        return os.environ | {"OPENAI_BASE_URL": self.base, "OPENAI_API_KEY": self.key, "NO_COLOR": "1",
                             "CALLSIEVE_CACHE": os.path.join(self.folder, cache)}

    def arguments(self, command, *more):
        log = [os.path.join("raw", name) for name in sorted(os.listdir("raw")) if name.startswith("openai")][:1]
        settings = ["--set", "judge-queries.judge=llm", "--set", f"judge-queries.model={MODEL}", "--set", "max_fault_share=1"]
        return [self.callsieve, *command, *log, *settings, *more]

    def call(self, cache, command, *more):
        done = subprocess.run(self.arguments(command, *more), env=self.environment(cache), capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        if self.key in done.stdout + done.stderr:
            sys.exit(f"{command}: the key is in what it prints")
        return done.stdout

    def run(self, cache, out, *more):
        path = os.path.join(self.folder, out)
        self.call(cache, ["run"], "--limit", LIMIT, "--quiet", "--concurrency", "2", "--out", path, *more)
        with open(os.path.join(path, "report.json"), encoding="utf-8") as report:
            return json.load(report)["language_models"]["judge-queries"]

    def labels(self, out):
        rows = subprocess.run([self.callsieve, "held", os.path.join(self.folder, out), "--format", "jsonl"], capture_output=True,
                              text=True, check=True).stdout
        with open(os.path.join(self.folder, out, "report.json"), encoding="utf-8") as report:
            report = json.load(report)
        return rows, report["requests"], report["entries"]


def check(bench, _):
    start = time.monotonic()
    usage = bench.run("one", "asked")
    seconds = time.monotonic() - start
    n = usage["requests"]
    print(f"asked: {n} requests in {seconds:.0f} s, {usage['input_tokens']} tokens in (estimated {usage['estimated_input_tokens']}), "
          f"{usage['output_tokens']} out (estimated {usage['estimated_output_tokens']}), {usage['unusable']} answers cannot be used")
    expect(n >= 8 and usage["arrived"] == n and usage["failed"] == 0, "every request has an answer", usage)
    # A small model gives answers that cannot be used, which a run that sends asks for again.
    again = bench.run("one", "again", "--cache-only")
    expect(again["cached"] == n and again["arrived"] == 0, "a second run asks nothing", again)
    expect(bench.labels("asked") == bench.labels("again"), "both runs decide the same", None)

    child = subprocess.Popen(bench.arguments(["run"], "--limit", LIMIT, "--quiet", "--concurrency", "2", "--out",
                                             os.path.join(bench.folder, "killed")), env=bench.environment("two"))
    time.sleep(min(20, seconds / 2))
    child.send_signal(signal.SIGKILL)
    child.wait()
    rest = bench.run("two", "killed")
    print(f"killed after {min(20, seconds / 2):.0f} s: {rest['cached']} answers were kept, {rest['arrived']} asked again")
    expect(rest["cached"] + rest["arrived"] == n and rest["cached"] > 0, "a killed run asks for what is missing", rest)

    subset = ["--set", "judge-queries.judge=rules-then-llm"]
    requests = bench.call("three", ["batch", "export"], *subset).splitlines()[:8]
    answers = [answer(bench, json.loads(line)) for line in requests]
    path = os.path.join(bench.folder, "answers.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in reversed(answers))
    done = subprocess.run([bench.callsieve, "batch", "import", path], env=bench.environment("three"), capture_output=True, text=True)
    expect(f"{len(answers)} answers into the cache" in done.stderr, "the answers of a batch are stored", done.stderr)
    from_batch = json.loads(bench.call("three", ["plan"], "--cost", "--json", *subset))["stages"][0]["usage"]
    expect(from_batch["cached"] == len(answers), "a plan finds the answers of the batch", from_batch)
    print(f"batch: {len(answers)} answers, all in the cache")


# Messages of a benchmark, and others of the same form.
ASKED_ALIKE = [
    ("Book a quiet room for two nights in Oban please", "Book a quiet room for two nights in Leith please"),
    ("What time is high tide in Kirkwall this Friday?", "What time is high tide in Stromness this Sunday?"),
    ("Show all ferries that go from Mallaig tomorrow", "Show all ferries that go from Ullapool tomorrow"),
]


def check_audit(bench, _):
    """Audits a training set with the judge: all suspect pairs are asked once, and the second time come from the cache."""
    def write(name, texts):
        path = os.path.join(bench.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"messages": [{"role": "user", "content": text}]}) + "\n" for text in texts)
        return path

    entries = write("bench.jsonl", [entry for entry, _ in ASKED_ALIKE])
    train = write("train.jsonl", [text for _, text in ASKED_ALIKE])

    def audit(out, *more):
        path = os.path.join(bench.folder, out)
        command = [bench.callsieve, "audit", "--train", train, "--bench", entries, "--judge", MODEL, "--out", path, *more]
        done = subprocess.run(command, env=bench.environment("audit"), capture_output=True, text=True)
        expect(done.returncode == 0 and bench.key not in done.stdout + done.stderr, "an audit with a judge ends", done.stderr)
        with open(os.path.join(path, "audit.json"), encoding="utf-8") as report:
            report = json.load(report)
        with open(os.path.join(path, "report.json"), encoding="utf-8") as usage:
            return report, json.load(usage)["language_models"]["drop-benchmark-overlap"]

    report, usage = audit("audited")
    expect(sum(report["judged"].values()) == len(ASKED_ALIKE) == usage["requests"] == usage["arrived"], "every suspect pair is asked", usage)
    again, from_cache = audit("audited-again", "--cache-only")
    expect(again["judged"] == report["judged"] and from_cache["arrived"] == 0, "the second audit asks nothing", from_cache)
    print(f"audit: {usage['requests']} suspect pairs, {report['judged']}")


def check_embeddings(bench, server):
    """Finds near-duplicate queries of the sample log by vectors of the server."""
    def merge(cache, out, key=bench.key):
        log = [os.path.join("raw", name) for name in sorted(os.listdir("raw")) if name.startswith("openai")][:1]
        arguments = [bench.callsieve, "run", *log, "--quiet", "--set", f"merge-near-queries.embedder=endpoint:{MODEL}",
                     "--set", "max_fault_share=1", "--out", os.path.join(bench.folder, out)]
        return subprocess.Popen(arguments, env=bench.environment(cache) | {"OPENAI_API_KEY": key}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def merged(cache, out):
        started = merge(cache, out)
        stdout, stderr = started.communicate()
        expect(started.returncode in (0, 1), "a run with vectors of the server ends", stderr)
        expect(bench.key not in stdout + stderr, "the key is in no output", out)
        with open(os.path.join(bench.folder, out, "ledger.parquet"), "rb") as ledger:
            return ledger.read()

    refused = merge("vectors", "refused", key="sk-" + "0" * 32)
    _, stderr = refused.communicate()
    expect(refused.returncode not in (0, 1) and "401" in stderr, "a wrong key is refused", stderr)
    start = time.monotonic()
    expected = merged("vectors", "first")
    seconds = time.monotonic() - start
    killed = merge("killed-vectors", "killed-merge")
    time.sleep(seconds / 2)
    killed.kill()
    killed.communicate()
    expect(merged("killed-vectors", "killed-merge") == expected, "a killed run continues with the same result", None)
    # Without the server: from the stored vectors.
    server.kill()
    server.wait()
    for cache, out in (("vectors", "second"), ("killed-vectors", "third")):
        expect(merged(cache, out) == expected, "stored vectors need no server", out)
    print(f"embeddings: a run in {seconds:.1f} s, then the same without the server; a wrong key is refused")


def answer(bench, line):
    request = urllib.request.Request(bench.base + "/chat/completions", json.dumps(line["body"]).encode(),
                                     {"Content-Type": "application/json", "Authorization": f"Bearer {bench.key}"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": json.load(reply)}, "error": None}


def expect(is_so, what, found):
    if not is_so:
        sys.exit(f"NOT TRUE: {what}: {found}")


def assert_no_key(folder, key):
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                expect(key.encode() not in file.read(), "the key is in no file", os.path.join(path, name))


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_for(port, server):
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(3)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    sys.exit(3)


if __name__ == "__main__":
    main()
