"""Function docs by signatures and docstrings, and the records of files.

The file is the second part of the worker.
"""

import enum
import importlib.util
import inspect
import json
import os
import re
import types
import typing

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", tuple: "array",
         set: "array", dict: "object", type(None): "null"}


def schema_of(annotation):
    """The JSON Schema of an annotation; without a type where it is not one of the plain ones."""
    if annotation in TYPES:
        return {"type": TYPES[annotation]}
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is typing.Union or origin is getattr(types, "UnionType", ()):
        kinds = [schema_of(argument) for argument in arguments if argument is not type(None)]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin is typing.Literal:
        return {"type": TYPES.get(type(arguments[0]), "string"), "enum": list(arguments)}
    if origin in TYPES:
        schema = {"type": TYPES[origin]}
        if schema["type"] == "array" and arguments and arguments[0] is not Ellipsis:
            schema["items"] = schema_of(arguments[0])
        return schema
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        return {"enum": [member.value for member in annotation]}
    return {}


def doc_of(name, function, is_method):
    """The doc of a function by its signature and its docstring."""
    text = inspect.getdoc(function) or ""
    description = re.split(r"\n\s*(?:Args|Arguments|Parameters|Returns?|Raises)\s*:|\n\s*:param", "\n" + text)[0]
    described = dict(re.findall(r"(?m)^[ \t]*(?::param[ \t]+)?(\w+)[ \t]*(?:\([^)\n]*\))?[ \t]*:[ \t]*(\S.*)$", text))
    properties, required = {}, []
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters[1 if is_method else 0:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        schema = schema_of(hints.get(parameter.name, parameter.annotation))
        if parameter.name in described:
            schema["description"] = described[parameter.name].strip()
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            try:
                schema["default"] = Encoder(10000, 8).encode(parameter.default)
            except Refused:
                pass
        properties[parameter.name] = schema
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": " ".join(description.split()), "parameters": schema}


def locate(place):
    """The path of a file or folder; `package:NAME/...` is inside an installed package, which is not imported."""
    if not place.startswith("package:"):
        return place
    package, _, rest = place[len("package:"):].partition("/")
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise ValueError("there is no package %s" % package)
    return os.path.join(folders[0], rest)


def records(path):
    """The values of a JSON or JSONL file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
