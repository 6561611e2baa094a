"""The definition of an invented service: functions, their doc lists, and the queries of people.

A request is sent with any of the domain's lists that hold every function it calls, so some requests are sent with two
lists. A request contains all values of its call, so that the right call is unambiguous.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ask:
    """One request: its text, and the calls that answer it (none if no function of the list fits)."""

    text: str
    calls: tuple = ()
    reworded: str | None = None  # the same request in another word order
    history: tuple = ()  # (role, content) of the messages before it
    then: tuple = ()  # calls of a second step, made with the result of the first
    unanswered: bool = False  # the model gave no usable call; a person did


@dataclass(frozen=True)
class Domain:
    name: str
    functions: tuple
    lists: tuple  # of tuples of function names
    asks: tuple
    near: tuple = ()  # (words, other words): the edits that make a near copy of the domain's first list
    system: str | None = None


def function(name, description, **parameters):
    return parameters_of(name, description, parameters)


def parameters_of(name, description, parameters):
    """Returns a doc in the BFCL schema, for parameter names that are not valid Python keyword arguments."""
    required = [key for key, schema in parameters.items() if "default" not in schema]
    return {"name": name, "description": description,
            "parameters": {"type": "dict", "required": required, "properties": parameters}}


def need(kind, description, **extra):
    return {"type": kind, "description": description, **extra}


def may(kind, description, default, **extra):
    return {"type": kind, "description": description, **extra, "default": default}


def strings(description, **extra):
    return {"type": "array", "items": {"type": "string"}, "description": description, **extra}


def call(function_name, /, **arguments):
    return function_name, arguments


def ask(text, *calls, **extra):
    return Ask(text, calls, **extra)
