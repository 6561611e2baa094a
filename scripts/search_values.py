#!/usr/bin/env python3
"""Generates requests with personal values, runs callsieve on them, and searches every file of the run for the values.

    python3 scripts/search_values.py --program target/release/callsieve --requests 1000 --seed 7

The words of its question identify every value. It occurs again, in the same or another spelling, in the recorded call
under a neutral name, in the history of the next row, and in some doc lists. The tables are decoded. The values are
invented. Prints a line for each value found outside `ingest/`, and after `purge` for each found anywhere. Exit code 1 if
there is one.
Needs pyarrow or polars.
"""

import argparse
import json
import random
import re
import string
import subprocess
import sys
import tempfile
from pathlib import Path

from score.run import read_table

NAMES = ("to", "x", "value", "first", "target", "ref", "body", "subject")
TOPICS = ("the tide at Rognan", "a stall permit", "lane five", "the night ferry", "the observatory", "a swing bridge", "the fog bell", "a bee hive")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/callsieve")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep log and run here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        rows, planted = generate(args.requests, random.Random(args.seed))
        (folder / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
        run = folder / "run"
        command = [args.program, "run", "--quiet", "--fresh", "--input", str(folder / "log.jsonl"), "--out", str(run),
                   # The functions are alike on purpose; no call is to be lost to a merge.
                   "--set", "merge-near-docs.threshold=1", "--set", "merge-near-queries.rouge_l=1", "--set", "merge-near-queries.cosine=off"]
        subprocess.run(command, check=False)
        if not (run / "report.json").exists():
            sys.exit("the run did not finish")
        found = search(run, planted, lambda name: not name.startswith("ingest/"))
        subprocess.run([args.program, "purge", str(run), "--raw"], check=True, stdout=subprocess.DEVNULL)
        found |= {(kind, value, f"{name} after a purge") for kind, value, name in search(run, planted, lambda name: True)}
        held = sum(row["fate"] == "held" and row["reason"] == "answer/value-not-in-request" for row in read_table(run / "rows.parquet"))
    for kind, value, name in sorted(found):
        print(f"{kind}: {value} in {name}")
    kinds = sorted({kind for kind, _ in planted})
    for kind in kinds:
        values = {value for of, value in planted if of == kind}
        left = {value for of, value, _ in found if of == kind}
        print(f"{kind:10} {len(values):5} spellings planted, {len(left):4} found")
    print(f"{len(rows)} rows, {held} held for a value that nobody gave, {len({value for _, value, _ in found})} spellings found")
    sys.exit(1 if found else 0)


# --- values -------------------------------------------------------------------------------------------------


def digits(draw, pattern):
    return "".join(str(draw.randint(2, 8)) if c == "#" else c for c in pattern)


def secret(draw, length, alphabet=string.ascii_letters + string.digits):
    return "Qz7" + "".join(draw.choice(alphabet) for _ in range(length - 3))


def phone(draw):
    """Returns (as asked, as called): a national number with a word that identifies it, and the same in another spelling."""
    kind = draw.randrange(4)
    if kind == 0:
        national = digits(draw, "079## ### ###")
        return f"whatsapp {national} about", national, [national.replace(" ", ""), "+44" + national.replace(" ", "")[1:], national]
    if kind == 1:
        national = digits(draw, "06 ## ## ## ##")
        return f"Appelle le numéro de téléphone {national} pour", national, [national.replace(" ", "."), national.replace(" ", ""), national]
    if kind == 2:
        national = digits(draw, "(415) 5##-####")
        plain = re.sub(r"\D", "", national)
        return f"Call me at {national} about", national, [plain, f"+1{plain}", f"{plain[:3]}-{plain[3:6]}-{plain[6:]}"]
    national = digits(draw, "0171 39#####")
    return f"Meine Handynummer ist {national}, es geht um", national, [national.replace(" ", ""), national.replace(" ", "-"), national]


def ssn(draw):
    number = digits(draw, "5## ## ####")
    return f"my social security number is {number}, I need", number, [number.replace(" ", ""), number.replace(" ", "-"), number]


def card(draw):
    body = digits(draw, "4539 14## #### ###")
    plain = body.replace(" ", "")
    total = sum(sum(divmod(int(d) * (2 - at % 2), 10)) for at, d in enumerate(plain))
    number = body + str(-total % 10)
    return f"charge {number} for", number, [number.replace(" ", ""), number.replace(" ", "-"), number]


def email(draw):
    local, host = secret(draw, 7).lower(), secret(draw, 6).lower()
    address = f"{local}@{host}.quaymail.no"
    return f"write to {address} about", address, [address, address.upper(), address.replace("@", "%40")]


def password(draw):
    word = secret(draw, draw.randint(9, 14))
    shown = draw.choice((f"the password is {word}, open", f"connect to postgresql://app:{word}@db.quaymail.no/x and look up",
                         f"password: {word} and then", f"pwd={word} for"))
    return shown, word, [word]


def key(draw):
    word = "sk-" + secret(draw, 30)
    return f"use the key {word} for", word, [word]


def address(draw):
    number = f"81.{draw.randint(20, 250)}.{draw.randint(20, 250)}.{draw.randint(20, 250)}"
    return f"look up the IP {number} for", number, [number]


KINDS = {"phone": phone, "ssn": ssn, "card": card, "email": email, "password": password, "key": key, "ipv4": address}


# --- rows ---------------------------------------------------------------------------------------------------


def escaped(draw, text):
    """Returns the text as an encoder may write it in JSON, with one character as an escape."""
    at = draw.randrange(len(text))
    return text[:at] + f"\\u{ord(text[at]):04x}" + text[at + 1:]


def generate(n_requests, draw):
    rows, planted = [], set()
    for n in range(n_requests):
        kind = draw.choice(sorted(KINDS))
        shown, written, spellings = KINDS[kind](draw)
        called = draw.choice(spellings)
        planted |= {(kind, value) for value in (written, called)}
        name = draw.choice(NAMES)
        topic = f"{draw.choice(TOPICS)} {n}"
        desk = f"Desk {n % 40}."
        if draw.random() < 0.1:
            desk += f" On duty: {called}."
        docs = json.dumps([{"name": f"note_{n % 40}", "description": f"Takes a note. {desk}", "parameters": {"type": "object",
                "required": [name], "properties": {name: {"type": "string", "description": "What to take down."},
                                                   "again": {"type": "integer", "description": "How often."}}}}])
        if draw.random() < 0.2 and called in docs:
            docs = docs.replace(called, escaped(draw, called))
        arguments = json.dumps({name: called})
        if draw.random() < 0.3:
            arguments = arguments.replace(called, escaped(draw, called))
        asked = {"role": "user", "content": f"{shown} {topic}"}
        message = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": f"note_{n % 40}", "arguments": arguments}}]}
        rows.append(row(n, [asked], docs, message))
        if draw.random() < 0.3:
            history = [asked, message, {"role": "tool", "tool_call_id": "a", "content": json.dumps({"taken": called})},
                       {"role": "user", "content": f"And now {draw.choice(TOPICS)}, number {n}"}]
            rows.append(row(f"{n}b", history, docs, {"role": "assistant", "content": "Done.", "tool_calls": []}))
    return rows, planted


def row(name, messages, docs, answer):
    choices = [{"message": answer, "finish_reason": "stop"}]
    if "\\u00" in docs:
        # As pasted text, the docs keep their escapes.
        return {"id": f"r{name}", "messages": messages, "functions": docs, "response": {"choices": choices}}
    functions = [{"type": "function", "function": doc} for doc in json.loads(docs)]
    return {"id": f"r{name}", "request": {"messages": messages, "tools": functions},
            "response": {"choices": choices}}


# --- search -------------------------------------------------------------------------------------------------


def search(run, planted, is_searched):
    """Returns (kind, value, file) of each spelling in a file, unchanged or with other characters between its digits."""
    found = set()
    plain = {(kind, value): bare(value) for kind, value in planted}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.is_dir() or not is_searched(name):
            continue
        if path.suffix == ".parquet":
            text = "\n".join(str(cell) for row in read_table(path) for cell in row.values() if isinstance(cell, str))
        else:
            text = path.read_text(encoding="utf-8", errors="replace")
        # Hashes hold any digits.
        text = re.sub(r"\b[0-9a-f]{32,}\b", " ", text)
        numbers = bare(text)
        for (kind, value), digits in plain.items():
            if value in text or (digits.isdigit() and len(digits) >= 9 and digits in numbers):
                found.add((kind, value, name))
    return found


def bare(text):
    return re.sub(r"(?<=\d)[ .()-]{1,3}(?=\d)|[()+]", "", text)


if __name__ == "__main__":
    main()
