"""Counts the keystrokes of the same 100 decisions, on the page of `callsieve review` and in CSV files.

    python3 scripts/count_keystrokes.py PROGRAM FOLDER

PROGRAM is the built callsieve; FOLDER is made and may be removed afterwards. The decisions on the first 100 rows of the sample's
page (held rows, then unverified entries) alternate between what is possible: accept, drop, label irrelevant. On the page, in
headless Chromium, each key is pressed and counted. In the files of `held --out` the cells of the column `decision` are written:
a key for each letter, and one to go to the next row. Both ways then make the same dataset, or the script fails.

It counts keys. It measures neither how long people read a row nor how well they decide: in a spreadsheet the same row is a
line of wide cells. Exit codes: 0 counted; 1 the datasets differ; 3 there is no Chromium.
"""

import csv
import json
import os
import shutil
import sys

from check_pages import Chromium, Page, Review, decide, ran

N_ROWS = 100


def choice(number, item):
    """The decision on a row: the next of the possible ones."""
    possible = [decision for decision in ["accept", "drop", "relabel"] if decision in item["possible"]]
    if item["accept"] is None and "accept" in possible:
        possible.remove("accept")
    if "irrelevant" not in item["labels"] and "relabel" in possible:
        possible.remove("relabel")
    return possible[number % len(possible)]


def on_the_page(browser, program, run):
    """Decides on rows; returns the decisions by id, and the number of keys."""
    server = Review(program, run)
    try:
        page = Page(browser)
        page.open(server.url)
        decided, n_keys = {}, 0
        for number in range(N_ROWS):
            page.wait("shown !== null && !isBusy")
            item = page.js("shown.item")
            decision = choice(number, item)
            if decision == "relabel":
                page.key("r")
                page.wait("document.getElementById('dialog').open")
                decide(page, run, str(item["labels"].index("irrelevant") + 1))
                n_keys += 2
            else:
                decide(page, run, decision[0])
                n_keys += 1
            decided[item["id"]] = decision
        return decided, n_keys
    finally:
        server.kill()


def in_the_file(path, decided):
    """Fills in the decisions of a review file; returns the number of keys, and of rows that got a decision."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    n_keys = n_filled = n_passed = 0
    for row in rows:
        decision = decided.get(row["id"])
        if decision is None:
            n_passed += 1
            continue
        possible = row["possible_decisions"].split(", ")
        words = {"accept": ["accept", "answer", "keep"], "drop": ["drop"], "relabel": ["irrelevant"]}[decision]
        found = [word for word in words if word in possible]
        if not found:
            raise SystemExit(f"{decision} on the page, and possible in the file is only {possible}: {row['reason']} {row['id']}")
        row["decision"] = found[0]
        # The word, one key to the next row, and one for each row before it that is passed over.
        n_keys += len(row["decision"]) + 1 + n_passed
        n_filled, n_passed = n_filled + 1, 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return n_keys, n_filled


def figures(run):
    with open(os.path.join(run, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    return {key: report[key] for key in ["requests", "doc_lists", "exported", "entries"]}


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    chromium = next((path for path in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if path), None)
    if chromium is None:
        print("there is no Chromium")
        return 3
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    page_run, file_run = os.path.join(folder, "by-page"), os.path.join(folder, "by-file")
    held, unverified = os.path.join(folder, "held.csv"), os.path.join(folder, "unverified.csv")
    ran(program, "run", "--quiet", "--out", page_run)
    ran(program, "held", page_run, "--out", held)
    ran(program, "held", page_run, "--unverified", "--out", unverified)
    n_bytes = os.path.getsize(held)
    browser = Chromium(chromium)
    try:
        decided, n_page = on_the_page(browser, program, page_run)
    finally:
        browser.close()
    n_file, n_filled = map(sum, zip(in_the_file(held, decided), in_the_file(unverified, decided)))
    ran(program, "run", "--quiet", "--out", page_run)
    ran(program, "run", "--quiet", "--out", file_run, "--decisions", held, "--decisions", unverified)
    print(f"decisions: {len(decided)} on the page, {n_filled} in the files")
    print(f"keystrokes: {n_page} on the page, {n_file} in the files (the held one has {n_bytes:,} bytes)")
    one, other = figures(page_run), figures(file_run)
    for key in one:
        if one[key] != other[key]:
            print(f"{key} differs:\n  page {one[key]}\n  file {other[key]}")
    return int(one != other or n_filled != len(decided))


if __name__ == "__main__":
    sys.exit(main())
