"""Writes calls as outputs of a model: in Python, Java, JavaScript, JSON and XML, each value in several ways."""

import json
from xml.sax.saxutils import escape, quoteattr

OMITTED = object()


def calls_of(rng, functions, ground_truth, first):
    """Returns [(name, {parameter: value})] with the first or random accepted alternatives."""
    docs = {doc["name"]: doc["parameters"]["properties"] for doc in functions}
    calls = []
    for call in ground_truth:
        (name, parameters), = call.items()
        values = {key: choose(rng, alternatives, docs.get(name, {}).get(key, {}), first)
                  for key, alternatives in parameters.items()}
        calls.append((name, {key: value for key, value in values.items() if value is not OMITTED}))
    return calls


def choose(rng, alternatives, schema, first):
    left = [one for one in alternatives if one != ""]
    if not left or (not first and "" in alternatives and rng.random() < 0.3):
        return OMITTED
    chosen = left[0] if first else rng.choice(left)
    if isinstance(chosen, dict) and schema.get("type") in ("dict", "HashMap", "Hashtable"):
        return members(rng, chosen, first)
    if isinstance(chosen, list) and schema.get("items", {}).get("type") == "dict":
        return [members(rng, one, first) if isinstance(one, dict) else one for one in chosen]
    return chosen


def members(rng, alternatives, first):
    chosen = {key: choose(rng, values, {}, first) if isinstance(values, list) else values
              for key, values in alternatives.items()}
    return {key: value for key, value in chosen.items() if value is not OMITTED}


def text(rng, syntax, calls, docs, plain=False):
    """Returns an output in a syntax; `plain` takes the usual form of each value."""
    if plain:
        rng = Plain()
    return {"python": python, "java": java, "javascript": javascript, "json": as_json, "verbose_xml": verbose_xml,
            "concise_xml": concise_xml}[syntax](rng, calls, docs)


class Plain:
    """Takes the first of all choices."""

    def choice(self, choices):
        return choices[0]

    def random(self):
        return 1.0


# --- Python ---------------------------------------------------------------------------------------------


def python(rng, calls, _docs):
    separator = rng.choice([", ", ",", ",\n", " , "])
    written = [f"{name}({separator.join(f'{key}={python_value(rng, value)}' for key, value in values.items())})"
               for name, values in calls]
    return rng.choice(["[{}]", "[{}]", "{}", "```\n[{}]\n```", "[{},]", "({})"]).format(", ".join(written))


def python_value(rng, value):
    if isinstance(value, str):
        return rng.choice([repr(value), json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value)])
    if isinstance(value, list):
        opening, closing = rng.choice(["[]", "[]", "[]", "()"])
        inner = ", ".join(python_value(rng, one) for one in value)
        return opening + inner + ("," if opening == "(" and len(value) == 1 else "") + closing
    if isinstance(value, dict):
        return "{" + ", ".join(f"{python_value(rng, key)}: {python_value(rng, one)}" for key, one in value.items()) + "}"
    if type(value) is int:
        return rng.choice([repr(value), repr(value), hex(value), f"{value:_}", f"{value}.0", f"{value} * 1"])
    return repr(value)


# --- Java -----------------------------------------------------------------------------------------------


def java(rng, calls, docs):
    return rng.choice(["[{}]", "[{};]", "{};", "{}", "[{};\n]"]).format(
        rng.choice([", ", "; "]).join(
            f"{name}({rng.choice([', ', ','] ).join(argument(rng, key, value, docs.get(name, {}).get(key, {}), java_value) for key, value in values.items())})"
            for name, values in calls))


def argument(rng, key, value, schema, write):
    return f"{key}{rng.choice(['=', '=', ' = '])}{write(rng, value, schema)}"


def java_value(rng, value, schema):
    declared, of_elements = schema.get("type", "any"), schema.get("items", {}).get("type", "any")
    if isinstance(value, bool):
        return rng.choice([str(value).lower(), str(value).lower(), f'"{str(value).lower()}"', str(value)])
    if isinstance(value, (int, float)):
        suffix = {"long": "L", "float": "f"}.get(declared, "")
        return rng.choice([f"{value}{suffix}", f"{value}{suffix}", f"{value}", f'"{value}"', f"{value}.0", f"{value}d",
                           f"(int) {value}", f"{value}{suffix.lower()}", f"Long.valueOf({value})"])
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        if declared == "any" or not value.isascii() or " " not in value:
            return rng.choice([value, quoted, value, f"'{value}'", f"new {value}()", f"this.{value}", f"{value}.get(0)"])
        return rng.choice([quoted, quoted, value, f"'{value}'"])
    if isinstance(value, list):
        return java_list(rng, value, of_elements)
    if isinstance(value, dict):
        return java_map(rng, value)
    return "null"


def java_list(rng, value, of_elements):
    item = {"type": of_elements}
    inner = ", ".join(java_value(rng, one, item) if not isinstance(one, str)
                      else rng.choice([json.dumps(one, ensure_ascii=False), json.dumps(one), one]) for one in value)
    kind = rng.choice(["String", of_elements if of_elements.isidentifier() else "Object", "int", "char"])
    adds = " ".join(f"add({one});" for one in inner.split(", "))
    form = rng.choice([f"new {kind}[]{{{inner}}}", f"new {kind}[] {{ {inner} }}", f"new ArrayList<>(Arrays.asList({inner}))",
                       f"new ArrayList<{kind}>(Arrays.asList({inner}))", f"new ArrayList<{kind}>() {{{{ {adds} }}}}",
                       f"new {kind}[{len(value)}]", f"new {kind}[][]{{{{{inner}}}}}", f"List.of({inner})",
                       f"Arrays.asList({inner})", f"{{{inner}}}", "new ArrayList<>()", f"new {kind}[]{{}}"])
    return rng.choice([form, form, json.dumps(form, ensure_ascii=False), json.dumps(form).replace('\\"', "'")])


def java_map(rng, value):
    puts = " ".join(f"put({json.dumps(key)}, {java_value(rng, one, {})});" for key, one in value.items())
    form = rng.choice([f"new HashMap<>() {{{{ {puts} }}}}", f"new HashMap<String, Object>() {{{{{puts}}}}}",
                       "new HashMap<>()", f"new HashMap<String, String>(){{ {puts} }}",
                       "Map.of(" + ", ".join(f'"{key}", {java_value(rng, one, {})}' for key, one in value.items()) + ")"])
    return rng.choice([form, f'"{form}"', json.dumps(form), f"'{form}'"])


# --- JavaScript -----------------------------------------------------------------------------------------


def javascript(rng, calls, docs):
    return rng.choice(["[{}]", "[{};]", "{};", "{}", "[{};\n]"]).format(
        rng.choice([", ", "; "]).join(
            f"{name}({rng.choice([', ', ','] ).join(argument(rng, key, value, docs.get(name, {}).get(key, {}), javascript_value) for key, value in values.items())})"
            for name, values in calls))


def javascript_value(rng, value, schema):
    declared = schema.get("type", "any")
    if isinstance(value, bool):
        return rng.choice([str(value).lower(), str(value).lower(), f'"{str(value).lower()}"', str(value), f"!{value}"])
    if isinstance(value, (int, float)):
        return rng.choice([f"{value}", f"{value}", f"{value}n", f'"{value}"', f"{value}.0", f"{value}e0", f"+{value}"])
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        choices = [quoted, f"'{value}'", f"`{value}`", json.dumps(value)]
        if declared == "any" or " " not in value:
            choices = [value, *choices, f"(x) => {value}", f"function() {{ return {value}; }}", f"{value}.sort()",
                       f"new {value}()", f"{value} || null"]
        return rng.choice(choices)
    if isinstance(value, list):
        inner = rng.choice([", ", ",", ",\n"]).join(javascript_value(rng, one, {}) for one in value)
        return rng.choice([f"[{inner}]", f"[{inner}]", f"new Array({inner})", f"[ {inner}, ]", f"Array.of({inner})", "[]",
                           f"[...{inner}]", f"'[{inner}]'"])
    if isinstance(value, dict):
        inner = rng.choice([", ", ",", ",\n  "]).join(
            f"{rng.choice([key, json.dumps(key), repr(key)])}{rng.choice([': ', ':'])}{javascript_value(rng, one, {})}"
            for key, one in value.items())
        return rng.choice([f"{{{inner}}}", f"{{{inner}}}", f"{{ {inner} }}", f"{{{inner},}}", "{}", f"'{{{inner}}}'"])
    return rng.choice(["null", "undefined"])


# --- JSON and XML ---------------------------------------------------------------------------------------


def as_json(rng, calls, _docs):
    written = [{"function": name, "parameters": values} for name, values in calls]
    return rng.choice(["{}", "```json\n{}\n```", "Here: {}", "<TOOLCALL>{}</TOOLCALL>", "{} [done]"]).format(
        json.dumps(written, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 2])))


def xml_type(rng, value):
    usual = {bool: "boolean", int: "integer", float: "float", str: "string", list: "array", dict: "dict"}
    return rng.choice([usual.get(type(value), "null")] * 5 + ["string", "tuple", "object", "any", "float", "integer"])


def xml_text(rng, value):
    if isinstance(value, str):
        return value
    return rng.choice([repr(value), json.dumps(value), str(value).lower()])


def verbose_xml(rng, calls, _docs):
    lines = []
    for name, values in calls:
        params = "\n".join(
            f"<param name={quoteattr(key)} value={quoteattr(xml_text(rng, value))} type={quoteattr(xml_type(rng, value))}/>"
            for key, value in values.items())
        lines.append(f'<function name={quoteattr(name)}>\n{rng.choice(["<params>{}</params>", "{}"]).format(params)}\n</function>')
    return xml_frame(rng, lines)


def concise_xml(rng, calls, _docs):
    lines = []
    for name, values in calls:
        params = "\n".join(
            f"<param name={quoteattr(key)} type={quoteattr(xml_type(rng, value))}>"
            f"{rng.choice([escape(xml_text(rng, value)), xml_text(rng, value), f'<![CDATA[{xml_text(rng, value)}]]>'])}</param>"
            for key, value in values.items())
        lines.append(f"<function name={quoteattr(name)}>{params}</function>")
    return xml_frame(rng, lines)


def xml_frame(rng, functions):
    inner = "\n".join(functions)
    return rng.choice(["<functions>{}</functions>", "```xml\n<functions>\n{}\n</functions>\n```",
                       "<TOOLCALL><functions>{}</functions></TOOLCALL>", "Sure:\n<functions>{}</functions>\nDone."]).format(inner)
