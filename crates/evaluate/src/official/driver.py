"""Scores outputs with the installed package bfcl-eval: JSON lines in, a verdict for each out, in order.

A line in: {"n", "category", "entry", "ground_truth", "output", "is_calls", "underscore_to_dot", "language", "format", "has_tag",
"handler"}. The handler, {"class", "is_function_calling"}, is a class of the package; null is what most models have. A line with "do"
is for the services of a model that is asked (environments.py).
A line out: {"n", "valid", "error_type", "error", "decoded"}, with the number of the line in; "aborted": true where the package
raises an exception, which ends an official evaluation. The first line out is {"version", "network", "files"}.

The multi-turn checker of the package evaluates the calls of the model as Python, on simulated services. So this process has
no network, bounded memory, and a folder of its own; where the system allows it, all other files are read-only. Programs that
it starts do not inherit where outputs are read and verdicts written.
"""

import atexit
import ctypes
import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import math
import os
import resource
import shutil
import socket
import struct
import sys
import tempfile
import types

MEMORY = 8 << 30
MODEL = "model"
DEPTH = 100


def main():
    jobs, out = own_streams()
    files, network = isolate()
    package = Package()
    environment = Environment(package)
    write(out, {"version": importlib.metadata.version("bfcl-eval"), "network": network, "files": files})
    for line in jobs:
        job = json.loads(line)
        try:
            if "do" in job:
                verdict = getattr(environment, job["do"])(job)
            else:
                verdict = package.verdict(job, f"{MODEL}{job['n']}")
        except Exception as error:  # the official runner would stop here
            verdict = {"valid": False, "aborted": True, "error": [f"{type(error).__name__}: {error}"]}
        write(out, {"n": job["n"]} | verdict)


def own_streams():
    """Returns where outputs are read and verdicts written, which no program inherits that is started from here.

    Afterwards standard input is empty, and what is printed goes to the error output.
    """
    jobs = os.fdopen(os.dup(0), encoding="utf-8")
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return jobs, out


def write(out, value):
    out.write(json.dumps(plain(value), default=str, allow_nan=False) + "\n")
    out.flush()


def plain(value, depth=0):
    """Returns a value that JSON can hold: infinite numbers as their text, halves of surrogate pairs as U+FFFD, and what nests
    deeper than readers of JSON allow as text."""
    if isinstance(value, (dict, list, tuple)) and depth >= DEPTH:
        return plain(repr(value))
    if isinstance(value, dict):
        return {plain(str(key)): plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element, depth + 1) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in value)
    return value


def isolate():
    """Takes the network, most of the memory and other files away; returns how files and network are kept from outputs."""
    folder, files = folder_in_memory()
    if folder is None:
        folder = tempfile.mkdtemp(prefix="callsieve-bfcl-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chdir(folder)
    tempfile.tempdir = folder
    os.environ["TMPDIR"] = folder
    os.environ["BFCL_PROJECT_ROOT"] = folder  # the package writes lock files there
    for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):  # some systems cannot limit memory, or have a lower limit already
            pass

    class NoSocket(socket.socket):
        def __init__(self, *args, **kwargs):
            raise OSError("the evaluation has no network")

    socket.socket = NoSocket
    socket.create_connection = NoSocket
    try:
        with open("/proc/net/dev", encoding="ascii") as devices:
            names = {line.split(":")[0].strip() for line in devices if ":" in line}
    except OSError:
        names = None
    return files, "none" if names is not None and names <= {"lo"} else "blocked in Python"


def folder_in_memory():
    """Makes all files read-only for this process, except in an empty folder in memory.

    Returns that folder and what files are now; the folder is `None` where the process has no mounts of its own. One that was
    started with mounts and processes of its own has the number 1.
    """
    if os.getpid() != 1 or not sys.platform.startswith("linux"):
        return None, "writable"
    libc = ctypes.CDLL(None, use_errno=True)
    own = {form(path) for path in (sys.prefix, sys.base_prefix) for form in (os.path.abspath, os.path.realpath)}
    for folder in ("/tmp", "/dev/shm", "/mnt", "/media"):
        is_free = os.path.isdir(folder) and not any(path.startswith(folder + "/") for path in own)
        if is_free and libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, b"size=1g") == 0:
            is_done = set_read_only(libc, "/", True)
            set_read_only(libc, folder, False)
            return folder, "read-only" if is_done else "writable"
    return None, "writable"


def set_read_only(libc, path, is_set):
    """Sets the mount at a path and those below it, or makes them writable again; returns whether that is done."""
    attributes = struct.pack("QQQQ", int(is_set), int(not is_set), 0, 0)  # struct mount_attr: MOUNT_ATTR_RDONLY is 1
    return libc.syscall(442, -100, path.encode(), 0x8000, attributes, len(attributes)) == 0  # mount_setattr(2)


class Package:
    """The modules of the package, without the SDKs of vendors that its list of models imports."""

    def __init__(self):
        config = types.ModuleType("bfcl_eval.constants.model_config")
        self.models = Models()
        config.MODEL_CONFIG_MAPPING = self.models
        sys.modules[config.__name__] = config
        for module, names in {"numpy": [], "pandas": ["DataFrame"], "dotenv": ["load_dotenv"], "tqdm": ["tqdm"],
                              "overrides": ["final", "override", "EnforceOverrides"]}.items():
            stub_unless_there(module, names)
        from bfcl_eval import utils
        from bfcl_eval.constants.enums import Language, ReturnFormat
        from bfcl_eval.eval_checker import eval_runner
        from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
        from bfcl_eval.model_handler import utils as decoding
        self.utils, self.runner, self.decoding = utils, eval_runner, decoding
        self.services = multi_turn_utils
        self.language, self.format = Language, ReturnFormat

    def verdict(self, job, name):
        """Returns the verdict on an output, by the functions of the package's runner."""
        self.models.underscore_to_dot = job["underscore_to_dot"]
        handler = Handler(self.decoding, job["is_calls"], self.official(job["handler"]))
        category, entry, output = job["category"], job["entry"], job["output"]
        scored = entry["id"], output, job["ground_truth"], entry, name, category
        if self.utils.is_multi_turn(category):
            result = self.multi_turn(handler, scored)
        elif self.utils.is_agentic(category):
            result = self.runner._evaluate_single_agentic_entry(handler, *scored)
        elif self.utils.is_relevance_or_irrelevance(category):
            result = self.runner._evaluate_single_relevance_entry(handler, entry["id"], output, entry, name, category)
        else:
            language = self.language(job["language"])
            result = self.runner._evaluate_single_ast_entry(handler, *scored, language, self.format(job["format"]),
                                                            job["has_tag"])
        verdict = flat(result)
        if verdict["decoded"] is None:
            verdict["decoded"] = handler.decoded(output)
        return verdict

    def official(self, handler):
        """Returns an object of a handler's class that can decode; its constructor would connect to a service."""
        if handler is None:
            return None
        if not any(isinstance(finder, Missing) for finder in sys.meta_path):
            sys.meta_path.append(Missing())
        module, _, name = handler["class"].rpartition(".")
        cls = getattr(importlib.import_module(f"bfcl_eval.model_handler.{module}"), name)
        made = cls.__new__(cls)
        made.is_fc_model = handler["is_function_calling"]
        return made

    def multi_turn(self, handler, scored):
        """Scores a multi-turn output; the services of each output are its own, and are removed."""
        known = set(vars(self.services))
        try:
            return self.runner._evaluate_single_multi_turn_entry(handler, *scored)
        finally:
            for name in set(vars(self.services)) - known:
                delattr(self.services, name)


class Models(dict):
    """A list of models that has all names."""

    underscore_to_dot = False

    def __missing__(self, name):
        return types.SimpleNamespace(underscore_to_dot=self.underscore_to_dot)


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives a module with all names in place of each module that is not installed, such as the SDKs of vendors."""

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] == "bfcl_eval":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = anything
        module.__all__ = []
        return module

    def exec_module(self, module):
        pass


class Anything(type):
    """A class of which each attribute is one, too; called as a decorator it changes nothing."""

    def __getattr__(cls, name):
        return anything(name)

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]
        return lambda function=None, **_: function


def anything(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything(name, (), {})


class Handler:
    """Decodes outputs as a handler of the package does, or as those of OpenAI-compatible models do, with or without function
    calling."""

    def __init__(self, decoding, is_calls, official):
        self.decoding, self.is_calls, self.official = decoding, is_calls, official
        self.calls = None
        self.steps = []

    def decoded(self, output):
        """Returns the calls of an output: of all, or of each turn and step. The package has them in its failures only."""
        if self.calls is not None or not self.steps:
            return self.calls
        steps = iter(self.steps)
        turns = [[next(steps, []) for _ in turn] for turn in output if isinstance(turn, list)] if isinstance(output, list) else []
        return turns if sum(map(len, turns)) == len(self.steps) else None

    def decode_ast(self, result, language, has_tool_call_tag):
        self.calls = self.decode(result, language, has_tool_call_tag)
        return self.calls

    def decode(self, result, language, has_tool_call_tag):
        if self.official is not None:
            return self.official.decode_ast(result, language, has_tool_call_tag)
        if not self.is_calls and not isinstance(result, list):
            return self.decoding.default_decode_ast_prompting(result, language, has_tool_call_tag)
        decoded = []
        for call in result:
            name = list(call.keys())[0]
            arguments = call[name]
            decoded.append({name: json.loads(arguments) if isinstance(arguments, str) else arguments})
        return decoded

    def decode_execute(self, result, has_tool_call_tag):
        self.steps.append([])
        if self.official is not None:
            self.steps[-1] = self.official.decode_execute(result, has_tool_call_tag)
        elif self.is_calls:
            self.steps[-1] = self.decoding.convert_to_function_call(result)
        else:
            self.steps[-1] = self.decoding.default_decode_execute_prompting(result)
        return self.steps[-1]


def flat(result):
    """Returns valid, error type, messages and decoded calls of a result of the runner."""
    error, error_type = result.get("error", []), result.get("error_type")
    if isinstance(error, dict):
        error_type = error.get("error_type", error_type)
        error = error.get("error_message", [])
    decoded = result.get("model_result_decoded", result.get("decoded_result"))
    return {"valid": result["valid"], "error_type": error_type, "error": error if isinstance(error, list) else [error],
            "decoded": decoded}


def stub_unless_there(module, names):
    try:
        __import__(module)
    except ImportError:
        stub = types.ModuleType(module)
        for name in names:
            is_base = name == "EnforceOverrides"
            setattr(stub, name, object if is_base else lambda *args, **kwargs: args[0] if args else None)
        sys.modules[module] = stub


if __name__ == "__main__":
    main()
