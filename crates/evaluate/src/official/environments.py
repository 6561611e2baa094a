"""The services of multi-turn entries for a model that is asked, in the same process as driver.py: docs first, then calls.

A line in has "do": "docs" and an entry, "open" and an entry, or "step" and an output of the model. A line out has the docs, nothing,
or the decoded calls, their results, and the message that a model without function calling gets about them.

What a call returns is sent to the server of the model, and the package evaluates calls as Python. So that no output can read a file
and send it away, only calls of the services with plain values are evaluated, and only plain values are computed; anything else has
the error of an unknown name. Scoring needs no such rule, because there nothing is sent.
"""

import ast
import builtins

VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


class Environment:
    """The services of one entry."""

    def __init__(self, package):
        self.package = package
        self.entry = None
        self.methods = {}

    def docs(self, job):
        """Returns the docs of an entry's functions, those that a later turn adds with its message, and the limit of steps."""
        from bfcl_eval.constants import default_prompts as texts
        entry = job["entry"]
        self.package.utils.populate_test_cases_with_predefined_functions([entry])
        text = texts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING
        added = {turn: {"functions": functions, "prompt": text.format(functions=functions),
                        "calls": texts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC}
                 for turn, functions in entry.get("missed_function", {}).items()}
        return {"functions": entry["function"], "added": added, "max_steps": texts.MAXIMUM_STEP_LIMIT}

    def open(self, job):
        """Starts the services of an entry."""
        self.entry, self.model = job["entry"], job["model"]
        services = self.package.services
        services.eval, self.package.decoding.eval = self.evaluated, computed
        known = set(vars(services))
        self.execute([])
        for name in set(vars(services)) - known:
            service = getattr(services, name)
            self.methods[name] = {method for method in dir(service) if not method.startswith("_")}
        return {}

    def step(self, job):
        """Decodes an output and executes its calls. `calls` is null if there is none, which ends the turn."""
        output = job["output"]
        try:
            if job["is_calls"]:
                calls = self.package.decoding.convert_to_function_call(output)
            else:
                calls = self.package.decoding.default_decode_execute_prompting(output)
            if self.package.services.is_empty_execute_response(calls):
                calls = None
        except Exception:  # the package ends the turn
            calls = None
        if calls is None:
            return {"calls": None}
        results = self.execute(calls)
        message = self.package.decoding.format_execution_results_prompting({}, results, {"model_responses_decoded": calls})
        return {"calls": calls, "results": results, "message": message}

    def execute(self, calls):
        category = self.entry["id"].rsplit("_", 1)[0]
        is_long = "long_context" in category or "composite" in category
        results, _ = self.package.services.execute_multi_turn_func_call(
            calls, self.entry.get("initial_config", {}), self.entry["involved_classes"], self.model, self.entry["id"],
            long_context=is_long, is_evaL_run=False)
        return results

    def evaluated(self, text):
        """Stands for `eval` where the package executes a call."""
        tree = ast.parse(text.lstrip(" \t"), "<string>", "eval")
        self.check_value(tree.body)
        return builtins.eval(compile(tree, "<string>", "eval"), vars(self.package.services))

    def check(self, node):
        """Raises an error unless this is a call of a service, with values and such calls in it."""
        service = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not isinstance(service, ast.Name) or node.func.attr not in self.methods.get(service.id, ()):
            raise unknown(node.func)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.check_value(argument)

    def check_value(self, node):
        """Raises an error unless this is a plain value or such a call."""
        if isinstance(node, ast.Call):
            self.check(node)
        elif isinstance(node, ast.Starred):
            self.check_value(node.value)
        elif isinstance(node, VALUES):
            for inner in ast.iter_child_nodes(node):
                self.check_value(inner)
        else:
            raise unknown(node)


def unknown(node):
    """Returns the error of Python for a name that is not there."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return NameError(f"name {node.id!r} is not defined" if isinstance(node, ast.Name) else "this is no call of a function")


def computed(text):
    """Stands for `eval` where the package computes a value that a model writes as `1 + 1`."""
    tree = ast.parse(text, "<string>", "eval")
    for node in ast.walk(tree.body):
        if not isinstance(node, VALUES):
            raise unknown(node)
    return builtins.eval(compile(tree, "<string>", "eval"), {"__builtins__": {}})


