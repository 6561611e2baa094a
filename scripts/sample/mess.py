"""Faults of function docs: faults of the schema, and spellings of a doc list as text."""

import copy
import json
import re

JSON_SCHEMA_TYPES = {"dict": "object", "tuple": "array", "float": "number"}
PYTHON_TYPES = {"array": "list", "boolean": "bool", "integer": "int", "string": "str"}


def spoil(docs, fault):
    """Returns the docs with a fault, the expected fixed docs, and whether these can be restored: (sent, wanted, lossless).

    None if the fault does not apply to the docs.
    """
    sent = copy.deepcopy(docs)
    return FAULTS[fault](sent, docs)


def schemas(docs):
    """Returns all schema nodes of the docs, parameters first."""
    nodes = [doc["parameters"] for doc in docs]
    for node in nodes:
        nodes += node.get("properties", {}).values()
        nodes += [node["items"]] if "items" in node else []
    return nodes


def no_fault(sent, docs):
    return sent, docs, True


def openai_types(sent, docs):
    for node in schemas(sent):
        node["type"] = JSON_SCHEMA_TYPES.get(node["type"], node["type"])
    return sent, docs, not any(node["type"] == "tuple" for node in schemas(docs))


def python_types(sent, docs):
    for node in schemas(sent):
        node["type"] = PYTHON_TYPES.get(node["type"], node["type"])
    return sent, docs, True


def upper_case_types(sent, docs):
    sent, docs, lossless = openai_types(sent, docs)
    for node in schemas(sent):
        node["type"] = node["type"].upper()
    return sent, docs, lossless


def no_parameters_type(sent, docs):
    for doc in sent:
        del doc["parameters"]["type"]
    return sent, docs, True


def required_per_parameter(sent, docs):
    for doc in sent:
        required = doc["parameters"].pop("required")
        for name, schema in doc["parameters"]["properties"].items():
            schema["required"] = name in required
    return sent, docs, True


def required_names_missing(sent, docs):
    sent[0]["parameters"]["required"].append("request_context")
    return sent, docs, True


def optional_without_default(sent, _):
    optional = [node for node in schemas(sent) if "default" in node]
    for node in optional:
        del node["default"]
    return (sent, copy.deepcopy(sent), True) if optional else None


def extra_keys(sent, docs):
    for doc in sent:
        doc["strict"] = True
        doc["parameters"]["additionalProperties"] = False
    return sent, docs, True


def missing_description(sent, docs):
    del next(iter(sent[0]["parameters"]["properties"].values()))["description"]
    return sent, docs, False


def array_without_items(sent, docs):
    arrays = [node for node in schemas(sent) if node["type"] == "array"]
    for node in arrays:
        del node["items"]
    return (sent, docs, False) if arrays else None


FAULTS = {
    "none": no_fault, "openai-types": openai_types, "python-types": python_types, "upper-case-types": upper_case_types,
    "no-parameters-type": no_parameters_type, "required-per-parameter": required_per_parameter,
    "required-names-missing": required_names_missing, "optional-without-default": optional_without_default,
    "extra-keys": extra_keys, "missing-description": missing_description, "array-without-items": array_without_items,
}


def spell(docs, spelling):
    """Returns the doc list as pasted text; None if the spelling does not apply."""
    return SPELLINGS[spelling](docs)


def compact(docs):
    return json.dumps(docs, ensure_ascii=False)


def pretty(docs):
    return json.dumps(docs, indent=2, ensure_ascii=False)


def wrapped(docs):
    return [{"type": "function", "function": doc} for doc in docs]


def backwards(value):
    """Returns the value with the keys of every object in reverse order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


SPELLINGS = {
    "compact": compact,
    "pretty": pretty,
    "python-repr": repr,
    "key-order": lambda docs: compact(backwards(docs)),
    "wrapped": lambda docs: compact(wrapped(docs)),
    "trailing-comma": lambda docs: re.sub(r"(?<=[^\s,{\[])(?=\n *[}\]])", ",", pretty(docs), count=3),
    "fence": lambda docs: f"```json\n{pretty(docs)}\n```",
    "bare-object": lambda docs: compact(docs[0]) if len(docs) == 1 else None,
    "wrapped-python-repr": lambda docs: repr(wrapped(docs)),
    "fence-prose": lambda docs: f"These are the tools you may use:\n\n```\n{compact(docs)}\n```\nUse no others.",
    "double-encoded": lambda docs: json.dumps(compact(docs)),
    "comment": lambda docs: "// as of version 2\n" + pretty(docs).replace('"name": ', '/* called by */ "name": ', 1),
    "assignment": lambda docs: f"functions = {pretty(docs)}",
    "concatenated": lambda docs: "\n".join(map(compact, docs)) if len(docs) > 1 else None,
    "byte-order-mark": lambda docs: "\ufeff" + compact(docs),
    "in-object": lambda docs: compact({"tools": wrapped(docs)}),
}
