"""Opens the pages of a run in headless Chromium and uses them as a person does.

    python3 scripts/check_pages.py PROGRAM FOLDER

PROGRAM is the built callsieve; FOLDER is made and may be removed afterwards. Needs Chromium and nothing else: the browser is
driven over a pipe. Exit codes: 0 all checks passed; 1 one failed; 3 there is no Chromium.

Report, and two runs side by side: no error on the console, no request to anywhere, no text beside the page at 1,400 and 390
pixels, filter, enlarged figures, examples, size, time to open, A4 pages. Review: decide, undo, kill -9 of the server after a
decision, and nothing is lost. All with rows that hold markup. Two reviewers decide at once on the same rows.

axe-core checks each page if it is at hand: the file that AXE_CORE names, or axe-core/axe.min.js in node_modules of this folder or
of npm's global ones. Otherwise these checks are named as not run.
"""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MAX_PAGE_BYTES = 1_000_000
MAX_OPEN_MS = 500
MAX_PRINTED_PAGES = 6
HOSTILE = "</td><script>window.hit=1</script><img src=x onerror='window.hit=1'> \u202e\" onload=\"window.hit=1"


class Chromium:
    """A browser, driven by the DevTools protocol over a pipe."""

    def __init__(self, program):
        to_read, to_write = os.pipe(), os.pipe()
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        options = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.profile}"]
        # The browser reads from file 3 and writes to file 4.
        command = 'exec "$@" 3<&%d 4>&%d' % (to_read[0], to_write[1])
        self.process = subprocess.Popen(
            ["bash", "-c", command, "chromium", program, *options, "about:blank"],
            pass_fds=(to_read[0], to_write[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read[0])
        os.close(to_write[1])
        self.writer, self.reader = os.fdopen(to_read[1], "wb", 0), os.fdopen(to_write[0], "rb")
        self.buffer, self.number, self.events = b"", 0, []

    def message(self):
        while b"\0" not in self.buffer:
            read = os.read(self.reader.fileno(), 1 << 20)
            if not read:
                raise RuntimeError("the browser ended")
            self.buffer += read
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        self.writer.write(json.dumps(request).encode() + b"\0")
        number = self.number
        while True:
            message = self.message()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """A tab, with what it requested and the errors of its console."""

    def __init__(self, browser, width=1400, dark=False):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def js(self, code):
        result = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{code}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, condition, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            if self.js(condition):
                return
            time.sleep(0.02)
        raise RuntimeError(f"in {seconds} seconds it did not become true: {condition}")

    def key(self, key):
        named = {"Escape": 27, "Enter": 13}
        typed = {} if key in named else {"text": key}
        code = named.get(key, ord(key.upper()[0]))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def seen(self):
        """The addresses that the page requested, and the errors of its console."""
        requests, errors = [], []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            params = event.get("params", {})
            if event["method"] == "Network.requestWillBeSent":
                requests.append(params["request"]["url"])
            elif event["method"] == "Runtime.exceptionThrown":
                errors.append(params["exceptionDetails"].get("text", ""))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                errors.append(params["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] == "error":
                errors.append("console.error")
        return requests, errors


failed = []
AXE = None


def check(what, found, expected=True):
    if found == expected:
        print(f"ok      {what}")
    else:
        failed.append(what)
        print(f"FAILED  {what}: found {found!r}, expected {expected!r}")


def check_quiet(page, name, prefix):
    requests, errors = page.seen()
    check(f"{name}: no error on the console", errors, [])
    check(f"{name}: no request to anywhere else", [url for url in requests if not url.startswith((prefix, "data:"))], [])
    check(f"{name}: markup of rows does nothing", page.js("window.hit === undefined"))


def axe_core():
    """The source of axe-core; None if it is not at hand."""
    folders = ["node_modules"]
    if shutil.which("npm"):
        found = subprocess.run(["npm", "root", "--global"], capture_output=True, text=True)
        folders += [found.stdout.strip()] if found.returncode == 0 else []
    paths = [os.environ.get("AXE_CORE", "")] + [os.path.join(folder, "axe-core", "axe.min.js") for folder in folders]
    path = next((path for path in paths if path and os.path.isfile(path)), None)
    return open(path, encoding="utf-8").read() if path else None


def check_accessible(page, name):
    if AXE is None:
        print(f"not run {name}: axe-core is not there")
        return
    page.js(AXE + "; 0")
    found = page.js("axe.run(document).then((it) => it.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 120)).join(', ')))")
    check(f"{name}: axe-core finds no violation", found, [])


def check_report(browser, path, name, has_examples=True):
    url = "file://" + os.path.abspath(path)
    check(f"{name}: at most {MAX_PAGE_BYTES:,} bytes", os.path.getsize(path) <= MAX_PAGE_BYTES)
    for width, dark in [(1400, False), (390, True)]:
        page = Page(browser, width, dark)
        page.open(url)
        # The first tab also starts the browser's processes.
        page.open(url)
        check(f"{name}, {width} pixels: nothing beside the page", page.js("document.documentElement.scrollWidth") <= width)
        timing = "performance.getEntriesByType('navigation')[0]"
        page.wait(f"{timing}.loadEventEnd > 0")
        ms = page.js(f"{timing}.loadEventEnd")
        check(f"{name}, {width} pixels: opens in {ms:.0f} ms, at most {MAX_OPEN_MS}", ms <= MAX_OPEN_MS)
        check(f"{name}, {width} pixels: one script", page.js("document.scripts.length"), 1)
        check_quiet(page, f"{name}, {width} pixels", "file://")
        check_accessible(page, f"{name}, {width} pixels")
    page = Page(browser)
    page.open(url)
    page.js("document.querySelectorAll('details').forEach((it) => { it.open = true })")
    search = "document.querySelector('[data-filter] input[type=search]')"
    rows = f"[...{search}.closest('[data-filter]').querySelectorAll('tbody tr')]"
    if page.js(f"{search} !== null"):
        all_rows = page.js(f"{rows}.length")
        page.js(f"{search}.focus()")
        page.call("Input.insertText", text="no row has this text")
        check(f"{name}: a filter hides all {all_rows} rows", page.js(f"{rows}.every((row) => row.hidden)"))
        page.js(f"{search}.value = ''; {search}.dispatchEvent(new Event('input'))")
        check(f"{name}: without it all rows are there", page.js(f"{rows}.every((row) => !row.hidden)"))
    page.js("document.querySelector('.enlarge').click()")
    check(f"{name}: a figure is enlarged", page.js("document.querySelectorAll('dialog[open] svg').length > 0"))
    page.key("Escape")
    page.wait("document.querySelector('dialog') === null")
    if has_examples:
        check(f"{name}: examples have marked differences", page.js("document.querySelectorAll('.examples del, .examples ins').length > 0"))
    check_quiet(page, f"{name}, after its use", "file://")
    page = Page(browser)
    page.open(url)
    printed = base64.b64decode(page.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    n_pages = len(re.findall(rb"/Type\s*/Page[^s]", printed))
    print(f"        {name}: {n_pages} printed pages, {os.path.getsize(path):,} bytes")
    return n_pages


class Review:
    """A server of `callsieve review`."""

    def __init__(self, program, run, reviewer="kim"):
        self.process = subprocess.Popen([program, "review", run, "--reviewer", reviewer], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def decisions(run, reviewer="kim"):
    path = os.path.join(run, "decisions", f"{reviewer}.jsonl")
    return open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []


SHOWN = "(shown !== null && !isBusy ? JSON.stringify(shown).length + '/' + (shown.id || shown.item?.id || document.getElementById('about').textContent) : '')"


def decide(page, run, key):
    """Presses a key; returns when one more line is on disk and the next row is shown."""
    n_before, before = len(decisions(run)), page.js(SHOWN)
    # Keys that come sooner are taken for those of the row before.
    time.sleep(0.3)
    page.key(key)
    end = time.time() + 20
    while len(decisions(run)) == n_before and time.time() < end:
        time.sleep(0.01)
    page.wait("shown !== null && !isBusy")
    return before


def check_review(browser, program, run, name):
    server = Review(program, run)
    try:
        page = Page(browser)
        page.open(server.url)
        page.wait("shown !== null && !isBusy")
        first = page.js(SHOWN)
        decide(page, run, "d")
        check(f"{name}: a decision is on disk", len(decisions(run)), 1)
        second = page.js(SHOWN)
        check(f"{name}: the next row is shown", first != second)
        check_accessible(page, name)
        time.sleep(0.3)
        page.key("u")
        end = time.time() + 20
        while len(decisions(run)) == 1 and time.time() < end:
            time.sleep(0.01)
        page.wait("shown !== null && !isBusy")
        check(f"{name}: an undo is on disk, too", len(decisions(run)), 2)
        decide(page, run, "d")
        decide(page, run, "d")
        check_quiet(page, name, server.url.split("/?")[0].split("#")[0].rsplit("/", 1)[0])
        before = decisions(run)
        # In the middle of a decision: the key is pressed, the answer has not arrived.
        time.sleep(0.3)
        page.key("d")
        server.kill()
        after = decisions(run)
        check(f"{name}: after kill -9 no decision is lost", after[: len(before)], before)
        server = Review(program, run)
        page = Page(browser)
        page.open(server.url)
        page.wait("shown !== null && !isBusy")
        n_before = len(decisions(run))
        check(f"{name}: it goes on with another row", page.js(SHOWN) not in (first, ""))
        decide(page, run, "d")
        check(f"{name}: and decides again", len(decisions(run)), n_before + 1)
        for line in decisions(run):
            json.loads(line)
        check_quiet(page, f"{name}, after the restart", server.url.split("/?")[0].split("#")[0].rsplit("/", 1)[0])
    finally:
        server.kill()


def check_two_reviewers(browser, program, run, name):
    """Kim and Lee decide on the same rows at once, each on a page of their own."""
    n_rows = 6
    servers = {reviewer: Review(program, run, reviewer) for reviewer in ["kim", "lee"]}
    try:
        second = Review(program, run, "kim")
        check(f"{name}: nobody decides twice as kim at once", (second.process.wait(timeout=60), second.url), (2, ""))
        pages = {reviewer: Page(browser) for reviewer in servers}
        for reviewer, page in pages.items():
            page.open(servers[reviewer].url)
            page.wait("shown !== null && !isBusy")
        differing, rows = 0, []
        for at in range(n_rows):
            rows.append([page.js("shown.item.id") for page in pages.values()])
            check(f"{name}: row {at + 1} does not show what the other decided", "kim" in pages["lee"].js("document.body.innerText"), False)
            can_relabel = pages["lee"].js("shown.item.possible.includes('relabel')")
            time.sleep(0.3)
            # Neither waits for the other.
            pages["kim"].key("d")
            if at % 2 and can_relabel:
                pages["lee"].key("r")
                pages["lee"].wait("document.querySelector('[data-digit]') !== null")
                pages["lee"].key("1")
                differing += 1
            else:
                pages["lee"].key("d")
            end = time.time() + 20
            while min(len(decisions(run, reviewer)) for reviewer in servers) <= at and time.time() < end:
                time.sleep(0.01)
            for page in pages.values():
                page.wait("shown !== null && !isBusy")
        check(f"{name}: both had the same rows", all(kim == lee for kim, lee in rows) and len({kim for kim, _ in rows}) == n_rows)
        for reviewer in servers:
            lines = [json.loads(line) for line in decisions(run, reviewer)]
            found = [(line["seq"], line["reviewer"], line["id"]) for line in lines]
            check(f"{name}: the file of {reviewer} has all of {reviewer}'s decisions and no other", found,
                  [(at + 1, reviewer, row[0]) for at, row in enumerate(rows)])
        time.sleep(0.3)
        pages["lee"].key("c")
        pages["lee"].wait("document.getElementById('dialog').open")
        pages["lee"].wait("document.getElementById('dialog').innerText.includes('kim')")
        check_accessible(pages["lee"], f"{name}, the comparison")
        for reviewer, page in pages.items():
            check_quiet(page, f"{name}, {reviewer}", servers[reviewer].url.split("/?")[0])
    finally:
        for server in servers.values():
            server.kill()
    exported = os.path.join(run, "..", "two.jsonl")
    subprocess.run([program, "review", run, "--export", exported], check=True, stderr=subprocess.DEVNULL)
    with open(exported, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    check(f"{name}: {differing} rows on which they differ are left out", len(lines), n_rows - differing)
    check(f"{name}: the others name both", all(line["by"] == "kim, lee" for line in lines))
    check(f"{name}: some differ", differing > 0)


def hostile_log():
    """Rows whose every text holds markup."""
    rows = []
    for n in range(60):
        docs = [{"name": f"ring_bell_{n % 4}", "description": f"Rings a bell of the tower. {HOSTILE}", "parameters": {
            "type": "object", "required": ["bell"],
            "properties": {"bell": {"type": "string", "description": f"Which bell. {HOSTILE}"}}}}]
        rows.append({"id": f"{HOSTILE}{n}", "query": f"Please ring bell {n} of the old tower {HOSTILE} at noon", "function": docs,
                     "app": HOSTILE if n % 3 else f"app-{n % 5}", "user": HOSTILE, "ts": f"2026-03-0{1 + n % 5}T10:00:00Z"})
    return "".join(json.dumps(row) + "\n" for row in rows)


def ran(program, *arguments):
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    global AXE
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    names = ["chromium", "chromium-browser", "google-chrome"]
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        print("there is no Chromium")
        return 3
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    sample, hostile, log = (os.path.join(folder, name) for name in ["sample", "hostile", "hostile.jsonl"])
    with open(log, "w", encoding="utf-8") as file:
        file.write(hostile_log())
    ran(program, "run", "--quiet", "--out", sample)
    ran(program, "run", log, "--quiet", "--out", hostile)
    two = os.path.join(folder, "two")
    shutil.copytree(sample, two)
    pages = {"timing": ["report", sample, "--html", "--timing"], "compared": ["report", "--compare", sample, hostile, "--html"]}
    for page, arguments in pages.items():
        pages[page] = os.path.join(folder, f"{page}.html")
        with open(pages[page], "w", encoding="utf-8") as file:
            subprocess.run([program, *arguments], check=True, stdout=file)
    AXE = axe_core()
    browser = Chromium(found)
    try:
        n_pages = check_report(browser, os.path.join(sample, "report.html"), "report of the sample")
        check(f"report of the sample: at most {MAX_PRINTED_PAGES} printed pages", n_pages <= MAX_PRINTED_PAGES)
        check_report(browser, os.path.join(hostile, "report.html"), "report of hostile rows")
        check_report(browser, pages["timing"], "report with time and memory")
        check_report(browser, pages["compared"], "two runs", has_examples=False)
        check_review(browser, program, sample, "review of the sample")
        check_review(browser, program, hostile, "review of hostile rows")
        check_two_reviewers(browser, program, two, "two reviewers")
    finally:
        browser.close()
    if AXE is None:
        print("accessibility: not run, axe-core is not there")
    print(f"{len(failed)} checks failed" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
