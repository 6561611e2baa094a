"""Executes calls of Python functions for callsieve, each program in a process that is forked for it.

The worker imports the modules once and waits for requests, one JSON text a line. For a program it forks: the child loads
the initial state, executes the calls, writes each result into a pipe, then its state, and is killed. So nothing that a
call does to the process is seen by another program. The pipes of the protocol are kept from the modules: their standard
output is standard error, and their standard input is empty.

It runs on Python 3.8 and later, and needs nothing else. It is the last of three files that are passed to Python as one text,
after values.py and docs.py.
"""

import gc
import hashlib
import importlib
import inspect
import json
import math
import os
import random
import select
import shutil
import signal
import sys
import time

CHUNK = 1 << 16
# Programs that one process explores.
MAX_EXPLORED = 200
READY = b'{"ready": true}'


class Functions:
    """The functions by name, and the classes whose instances they are methods of."""

    def __init__(self, settings):
        self.settings = settings
        self.classes = []
        self.plain = {}
        self.owner = {}
        for folder in reversed(settings["path"]):
            sys.path.insert(0, folder)
        for entry in settings["classes"]:
            cls = self.find(entry)
            if not inspect.isclass(cls):
                raise ValueError("%s is not a class" % entry)
            self.classes.append(cls)
            for name, _ in inspect.getmembers(cls, callable):
                if name.startswith("_") or name == settings["load"] or not callable(inspect.getattr_static(cls, name, None)) \
                        and not isinstance(inspect.getattr_static(cls, name, None), (staticmethod, classmethod)):
                    continue
                self.add(name, cls)
        load = settings["load"]
        if load and self.classes and not any(hasattr(cls, load) for cls in self.classes):
            raise ValueError("load: no class has a method %s" % load)
        for entry in settings["functions"]:
            function = self.find(entry)
            if not callable(function):
                raise ValueError("%s is not a function" % entry)
            name = entry.rsplit(":", 1)[-1].rsplit(".", 1)[-1]
            self.add(name, None)
            self.plain[name] = function

    def find(self, entry):
        module, _, name = entry.rpartition(":")
        base = self.settings["module"] or ""
        if not module:
            module = base
        elif module.startswith("."):
            module = base + module
        if not module:
            raise ValueError("%s: set `module`, or write MODULE:NAME" % entry)
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def add(self, name, owner):
        if name in self.owner:
            raise ValueError("two functions are called %s" % name)
        self.owner[name] = owner

    def load(self, state):
        """Makes the instances of an episode; returns the callables and the instances by the names of their classes."""
        instances = {}
        methods = dict(self.plain)
        load = self.settings["load"]
        for cls in self.classes:
            config = state.get(cls.__name__) if isinstance(state, dict) else None
            instance = cls()
            if load and hasattr(instance, load):
                getattr(instance, load)({} if config is None else config, **self.settings["load_arguments"])
            elif config:
                for name, value in config.items():
                    setattr(instance, name, value)
            instances[cls.__name__] = instance
        for name, owner in self.owner.items():
            if owner is not None:
                methods[name] = getattr(instances[owner.__name__], name)
        return methods, instances


class Child:
    """The process of one episode."""

    def __init__(self, functions, settings, write, read=None):
        self.functions = functions
        self.settings = settings
        self.write_fd = write
        self.read_fd = read
        self.rest = b""

    def write(self, answer):
        line = json.dumps(answer).encode("ascii") + b"\n"
        while line:
            line = line[os.write(self.write_fd, line):]

    def run(self, program):
        """Runs a program: calls of a list, or those that come through a pipe. Without one, runs those that come, in turn."""
        if program is None:
            for program in self.requests():
                self.run_listed(program)
            return
        program = json.loads(program)
        if "calls" in program:
            self.run_listed(program)
            return
        loaded = self.loaded(program["state"])
        if loaded is None:
            return
        methods, instances = loaded
        for request in self.requests():
            if request["op"] == "call":
                self.write(self.call(methods, request["name"], request["arguments"]))
            else:
                self.write(self.state(instances))

    def run_listed(self, program):
        loaded = self.loaded(program["state"])
        if loaded is not None:
            methods, instances = loaded
            for name, arguments in program["calls"]:
                self.write(self.call(methods, name, arguments))
            self.write(self.state(instances))

    def loaded(self, state):
        """Returns what `Functions.load` makes; `None`, after the answer, if it fails."""
        random.seed(0)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(0)
        try:
            loaded = self.functions.load(state)
        except BaseException as error:
            self.write({"error": words(error)})
            return None
        self.write({"ready": True})
        return loaded

    def requests(self):
        while True:
            while b"\n" not in self.rest:
                chunk = os.read(self.read_fd, CHUNK)
                if not chunk:
                    return
                self.rest += chunk
            line, self.rest = self.rest.split(b"\n", 1)
            yield json.loads(line)

    def call(self, methods, name, arguments):
        method = methods.get(name)
        if method is None:
            return {"result": "There is no function \"%s\"." % name, "failure": "unknown-function"}
        try:
            value = method(**arguments)
            if inspect.isawaitable(value):
                import asyncio
                value = asyncio.run(wait(value))
        except Refused as error:
            return {"result": str(error), "failure": error.failure}
        except BaseException as error:
            return {"result": words(error), "failure": "exception"}
        try:
            plain = Encoder(self.settings["max_result_bytes"], self.settings["max_depth"]).encode(value)
        except Refused as error:
            return {"result": str(error), "failure": error.failure}
        except BaseException as error:
            return {"result": words(error), "failure": "not-json"}
        failure = "error-result" if is_error(self.settings, name, plain) else None
        return {"result": plain, "failure": failure}

    def state(self, instances):
        settings = self.settings
        encoder = Encoder(settings["max_state_bytes"], settings["max_depth"], True, settings["private_attributes"])
        try:
            shown = {name: encoder.nested(instance) for name, instance in instances.items()}
            return {"state": shown}
        except BaseException as error:
            return {"state": None, "fault": words(error)}


async def wait(value):
    return await value


def is_error(settings, name, result):
    """Whether a result, or the only element of a list, is what the settings call an error."""
    if isinstance(result, list) and len(result) == 1:
        result = result[0]
    if isinstance(result, str):
        return result.startswith(tuple(settings["error_texts"]))
    if not isinstance(result, dict):
        return False
    if any(result.get(key) not in (None, False, "") for key in settings["error_keys"]):
        return True
    # 0 and False are equal in Python, and are not the same here.
    return any(
        rule["key"] in result and rule["function"] in (None, name)
        and any(type(value) is type(result[rule["key"]]) and value == result[rule["key"]] for value in rule["values"])
        for rule in settings["error_values"])


class Episode:
    """The worker's side of a child."""

    def __init__(self, worker, program, needs_requests):
        settings = worker.settings
        self.settings = settings
        worker.empty_home()
        read, write = os.pipe()
        into, out_of = os.pipe() if needs_requests else (None, None)
        self.set_deadline()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                os.close(read)
                if out_of is not None:
                    os.close(out_of)
                os.close(worker.read_fd)
                os.close(worker.write_fd)
                Child(worker.functions, settings, write, into).run(program)
            finally:
                os._exit(0)
        os.close(write)
        if into is not None:
            os.close(into)
        self.read_fd = read
        self.write_fd = out_of
        self.rest = bytearray()
        self.poll = select.poll()
        self.poll.register(read, select.POLLIN)

    def set_deadline(self):
        self.end = time.monotonic() + self.settings["program_deadline_ms"] / 1000

    def answer(self):
        """The next line of the child as bytes; otherwise `timeout`, `crashed` or `too-large` as a text."""
        limit = self.settings["max_state_bytes"] * 7 + CHUNK
        end = min(self.end, time.monotonic() + self.settings["call_deadline_ms"] / 1000)
        searched = 0
        while True:
            place = self.rest.find(b"\n", searched)
            if place >= 0:
                line = bytes(self.rest[:place])
                del self.rest[:place + 1]
                return line
            searched = len(self.rest)
            if searched > limit:
                return "too-large"
            left = end - time.monotonic()
            if left <= 0 or not self.poll.poll(math.ceil(left * 1000)):
                return "timeout"
            chunk = os.read(self.read_fd, CHUNK)
            if not chunk:
                return "crashed"
            self.rest += chunk

    def send(self, request):
        self.send_line(json.dumps(request).encode("ascii") + b"\n")

    def send_line(self, line):
        try:
            while line:
                line = line[os.write(self.write_fd, line):]
        except BrokenPipeError:
            pass

    def stop(self):
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, signal.SIGKILL)
            except OSError:
                pass
        os.waitpid(self.pid, 0)
        os.close(self.read_fd)
        if self.write_fd is not None:
            os.close(self.write_fd)


def failed(how):
    texts = {
        "timeout": "The call took longer than its deadline.",
        "crashed": "The process ended.",
        "too-large": "The result has too many bytes.",
    }
    return json.dumps({"result": texts[how], "failure": how}).encode("ascii")


class Worker:
    def __init__(self):
        self.read_fd = os.dup(0)
        self.write_fd = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        self.home = os.environ["HOME"]
        os.chdir(self.home)
        self.settings = None
        self.functions = None
        self.episode = None
        self.explorer = None
        self.n_explored = 0

    def serve(self):
        with os.fdopen(os.dup(self.read_fd), "rb") as requests:
            for line in requests:
                try:
                    request = json.loads(line)
                    # A program is passed on as it came: only the child reads it.
                    request["program"] = next(requests) if request.get("has_program") else None
                    answer = getattr(self, "on_" + request["op"])(request)
                except Exception as error:
                    answer = {"error": words(error)}
                self.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode("ascii"))

    def write(self, line):
        line += b"\n"
        while line:
            line = line[os.write(self.write_fd, line):]

    def empty_home(self):
        """Removes what an earlier episode left in the home folder."""
        with os.scandir(self.home) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)

    def on_open(self, request):
        self.settings = request["settings"]
        self.functions = Functions(self.settings)
        gc.collect()
        gc.freeze()
        return self.described() if request["describe"] else {"ok": True}

    def described(self):
        docs, hashes = {}, {}
        for place in self.settings["docs"]:
            path = locate(place)
            names = sorted(os.listdir(path)) if os.path.isdir(path) else [""]
            for name in names:
                if name and not name.endswith((".json", ".jsonl")):
                    continue
                file = os.path.join(path, name) if name else path
                hashes[place + ("/" + name if name else "")] = digest(file)
                for doc in records(file):
                    docs.setdefault(doc.get("name"), doc)
        functions = []
        for name, owner in self.functions.owner.items():
            doc = docs.get(name)
            if doc is None:
                static = owner is not None and isinstance(inspect.getattr_static(owner, name), staticmethod)
                function = self.functions.plain[name] if owner is None else getattr(owner, name)
                doc = doc_of(name, function, owner is not None and not static and not inspect.ismethod(function))
            functions.append({"doc": doc, "class": owner and owner.__name__})
        states = []
        if self.settings["states"]:
            path = locate(self.settings["states"])
            hashes[self.settings["states"]] = digest(path)
            states = records(path)
        for name in sorted({cls.__module__ for cls in self.functions.classes}
                           | {function.__module__ for function in self.functions.plain.values()}):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file:
                hashes[name] = digest(file)
        return {"functions": functions, "states": states, "hashes": hashes, "python": sys.version.split()[0],
                "versions": self.versions()}

    def versions(self):
        """The versions of the packages that the classes and functions are from."""
        try:
            from importlib import metadata
            owners = list(self.functions.classes) + list(self.functions.plain.values())
            tops = sorted({owner.__module__.split(".")[0] for owner in owners})
            of = metadata.packages_distributions() if hasattr(metadata, "packages_distributions") else {}
            return {name: metadata.version(name) for top in tops for name in sorted(set(of.get(top, ())))}
        except Exception:
            return {}

    def on_run(self, request):
        episode = Episode(self, request["program"], False)
        try:
            return self.observed(episode, request["n_calls"])[0]
        finally:
            episode.stop()

    def on_explore(self, request):
        """Runs a program in a process that ran others before, which costs no fork."""
        if self.explorer is None or self.n_explored >= MAX_EXPLORED:
            self.stop_explorer()
            self.explorer = Episode(self, None, True)
            self.n_explored = 0
        self.n_explored += 1
        self.empty_home()
        self.explorer.set_deadline()
        self.explorer.send_line(request["program"])
        answer, is_complete = self.observed(self.explorer, request["n_calls"])
        if not is_complete:
            self.stop_explorer()
        return answer

    def stop_explorer(self):
        if self.explorer is not None:
            self.explorer.stop()
            self.explorer = None

    def observed(self, episode, n_calls):
        """The answer to a program, and whether the child can go on."""
        ready = episode.answer()
        if ready != READY:
            return unready(ready), not isinstance(ready, str)
        observations = []
        while len(observations) < n_calls:
            answer = episode.answer()
            if isinstance(answer, str):
                observations.append(failed(answer))
                observations += [failed("crashed")] * (n_calls - len(observations))
                return b'{"observations":[' + b",".join(observations) + b'],"end":null}', False
            observations.append(answer)
        answer = episode.answer()
        is_complete = not isinstance(answer, str)
        end = answer if is_complete else failed(answer)
        return b'{"observations":[' + b",".join(observations) + b'],"end":' + end + b"}", is_complete

    def on_start(self, request):
        self.on_stop(request)
        self.episode = Episode(self, request["program"], True)
        ready = self.episode.answer()
        if ready != READY:
            self.on_stop(request)
            return unready(ready)
        return {"ok": True}

    def on_call(self, request):
        return self.relayed(request)

    def on_state(self, request):
        return self.relayed(request)

    def relayed(self, request):
        if self.episode is None:
            return failed("crashed")
        self.episode.send(request)
        answer = self.episode.answer()
        if isinstance(answer, str):
            self.on_stop(request)
            return failed(answer)
        return answer

    def on_stop(self, _):
        if self.episode is not None:
            self.episode.stop()
            self.episode = None
        return {"ok": True}


def unready(ready):
    """The answer if a child does not get ready: what it reports, or why it reports nothing."""
    return {"error": json.loads(failed(ready))["result"]} if isinstance(ready, str) else ready


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


if __name__ == "__main__":
    # The working folder, which is empty and may not be: modules are not searched in it.
    sys.path = [folder for folder in sys.path if folder]
    Worker().serve()
