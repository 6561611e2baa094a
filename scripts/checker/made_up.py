"""Entries and calls made up for the checker: arguments for the converters of Java and JavaScript, and rules of Python."""

import copy

import mutate

JAVA_TYPES = ["byte", "short", "integer", "float", "double", "long", "boolean", "char", "Array", "ArrayList", "Set", "HashMap",
              "Hashtable", "Queue", "Stack", "String", "any"]
JAVASCRIPT_TYPES = ["String", "integer", "float", "Bigint", "Boolean", "dict", "array", "any"]
PYTHON_TYPES = ["string", "integer", "float", "boolean", "array", "tuple", "dict", "any"]
CATEGORIES = ["convert_java", "convert_javascript", "rules_simple", "rules_multiple", "rules_parallel"]

SCALARS = ["5", "-5", "+5", "5.0", "5.", ".5", "5L", "5l", "-5L", "5.0f", "5F", "5e3", "5E-3f", "5e", "0x1F", "1_000", "٣", "5٣L",
           "²", "true", "false", "True", "null", "'a'", "''", "'ab'", "'\n'", '"a"', '"a', 'a"', '"', "", " ", "a b", "nan", "inf",
           "-Infinity", "5n", "-5n", "5\n", "5L\n", "5.0\n", "5n\n", "1e400", "1e400f", "9" * 30, " 5 ", "5 ", "\u00a05", "\x1c5",
           "1__0", "_1", "1e5_0", "٣.٣", "५", "0" * 20 + "1", "infinity", "1e-400", "\u20035\u2003", "--5", "\u2028"]
JAVA_FORMS = ["new int[]{{{}}}", "new String[] {{ {} }}", "new ArrayList<>(Arrays.asList({}))", "new ArrayList<Integer>(Arrays.asList({}))",
              "new ArrayList<String>() {{{{ {} }}}}", "new ArrayList<>(){{{{{}}}}}", "new ArrayList<>()", "new HashMap<>() {{{{ {} }}}}",
              "new HashMap<String, List<Integer>>() {{ {} }}", "new HashMap<>()", "new HashMap<String, Integer>();{}", "new  int[]\t{{{}}}",
              "x = new int[]{{{}}}; new int[]{{2}}", "new ArrayList<Map<String>>({})", "List.of({})", "new É[]{{{}}}", "new int[] {{{}"]
JAVASCRIPT_FORMS = ["[{}]", "[ {} ]", "new Array({})", " [{}] ", "[{}].sort()", "[[{}]]", "[[{}], [{}]]", "new Array([{}], [{}])", "{{{}}}",
                    "{{ {} }}", "{{a: {}}}", "{{a: [{}]}}", "{{'a': {{{}}}}}", "{{a: {}, b: {}}}", "[{}", "{{{}", "xnew Array({})",
                    "[{{a: {}}}, {{b: 1}}]", "[\n{}\n]", "{{\n{}\n}}", "new  Array( {} )", "[{}] [{}]", "{{}}", "[]", "[[], []]", "[[{}],]"]
SEPARATORS = [", ", ",", ",,", ";", " , ", ": ", ":", "\n", ",\n", " "]


def cases(official, rng, category):
    """Yields rows with an entry of their own."""
    while True:
        if category == "convert_java":
            function, truth, calls = java(rng)
        elif category == "convert_javascript":
            function, truth, calls = javascript(rng)
        else:
            function, truth, calls = rules(rng)
        yield {"id": "made-up", "category": category, "mutation": "made_up", "underscore_to_dot": False, "function": function,
               "ground_truth": truth, "calls": calls, "entry": (None, function, truth)}


def one_parameter(rng, types, text, truths):
    schema = {"type": rng.choice(types)}
    if rng.random() < 0.95:
        schema["items"] = {"type": rng.choice(types)}
    function = [{"name": "f", "parameters": {"type": "dict", "properties": {"x": schema}, "required": ["x"]}}]
    # An alternative that no value equals puts the converted value into the message.
    return function, [{"f": {"x": rng.choice(truths)}}], [{"f": {"x": text}}]


def java(rng):
    inner = rng.choice(SEPARATORS).join(item(rng) for _ in range(rng.choice([0, 1, 1, 2, 3])))
    text = rng.choice([rng.choice(SCALARS), rng.choice(SCALARS), rng.choice(JAVA_FORMS).replace("{}", inner, 1).replace("{{", "{")
                       .replace("}}", "}"), rng.choice(JAVA_FORMS).replace("{}", inner).replace("{{", "{").replace("}}", "}")])
    return one_parameter(rng, JAVA_TYPES + ["Array", "ArrayList", "HashMap"] * 5, edited(rng, text, "java"),
                         [[None], [None], ["zz"], [["zz"]], [5], [{"a": [1]}], [["a", 5]], [""], [None, ""]])


def item(rng):
    scalar = rng.choice(SCALARS)
    return rng.choice([scalar, scalar, f"add({scalar});", f'put("{scalar}", {rng.choice(SCALARS)});', f"a: {scalar}", f"'a': {scalar}",
                       f'"b":{scalar}', f"[{scalar}]", f"{{a: {scalar}}}", f"add( {scalar})", f'put("k",  {scalar} )'])


def javascript(rng):
    inner = rng.choice(SEPARATORS).join(item(rng) for _ in range(rng.choice([0, 1, 1, 2, 3])))
    form = rng.choice(JAVASCRIPT_FORMS).replace("{}", inner).replace("{{", "{").replace("}}", "}")
    text = rng.choice([rng.choice(SCALARS), form, form])
    return one_parameter(rng, JAVASCRIPT_TYPES + ["array", "dict"] * 3, edited(rng, text, "javascript"),
                         [[None], [None], ["zz"], [["zz"]], [5], [{"a": [1]}], [["a", 5]], [""], [None, ""], [[[1, 2]]]])


def edited(rng, text, syntax):
    return mutate.source(rng, text, syntax)[0] if rng.random() < 0.3 else text


# --- rules of Python ------------------------------------------------------------------------------------


def rules(rng):
    """Returns docs, a ground truth and calls, each right or with a fault."""
    functions = [doc(rng, name) for name in rng.sample(["f", "g", "a.b"], rng.choice([1, 1, 2]))]
    truth, calls = [], []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        function = rng.choice(functions)
        properties = function["parameters"]["properties"]
        answer = {name: alternatives(rng, schema) for name, schema in properties.items() if rng.random() < 0.95}
        truth.append({function["name"] if rng.random() < 0.98 else "zz": answer})
        given = {name: argument(rng, accepted, properties[name]) for name, accepted in answer.items() if rng.random() < 0.95}
        if rng.random() < 0.05:
            given["zz"] = 1
        calls.append({function["name"]: given})
    if rng.random() < 0.2:
        rng.shuffle(calls)
    if rng.random() < 0.05:
        calls.append(copy.deepcopy(calls[0]))
    return functions, truth, calls


def doc(rng, name):
    properties = {}
    for parameter in rng.sample(["x", "y", "z"], rng.choice([1, 1, 2])):
        properties[parameter] = {"type": rng.choice(PYTHON_TYPES)}
        if rng.random() < 0.9:
            properties[parameter]["items"] = {"type": rng.choice(PYTHON_TYPES + ["dict"] * 3)}
        if rng.random() < 0.02:
            properties[parameter]["type"] = "number"
    required = [one for one in properties if rng.random() < 0.6]
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": required}}


def alternatives(rng, schema):
    found = [fitting(rng, schema.get("type"), schema.get("items", {}).get("type", "any"), True) for _ in range(rng.choice([1, 1, 2, 3]))]
    if rng.random() < 0.3:
        found.insert(rng.randrange(len(found) + 1), "")
    if rng.random() < 0.08:
        found.insert(rng.randrange(len(found) + 1), rng.choice([None, 5, "v", [], {}, True, 1.5, ["a"], {"a": 1}]))
    if rng.random() < 0.03:
        return rng.choice([[], "text", {"a": 1}, None, 5, [[]], ""])
    return found


def fitting(rng, declared, of_elements, is_answer):
    """Returns a value of a declared type; the members of a dict in an answer are lists of alternatives."""
    if declared in ("array", "tuple"):
        return [fitting(rng, of_elements, "any", is_answer) for _ in range(rng.choice([0, 1, 2]))]
    if declared == "dict":
        names = rng.sample(["a", "b", "c"], rng.choice([0, 1, 2]))
        if not is_answer:
            return {name: scalar(rng) for name in names}
        members = {name: [scalar(rng) for _ in range(rng.choice([1, 1, 2]))] + ([""] if rng.random() < 0.3 else []) for name in names}
        if members and rng.random() < 0.05:
            members[rng.choice(list(members))] = rng.choice(["ab", 5, None, {"a": 1}])
        return members
    return {"integer": rng.choice([0, 1, 5]), "float": rng.choice([0.0, 1.0, 5.5, 5]), "boolean": rng.choice([True, False])}.get(
        declared, rng.choice(["a", "A b", "O'N", "x-y", "5", "é"]))


def scalar(rng):
    return rng.choice(["a", "B c", 1, 1.0, True, None, ["a"], ["A"], {"a": "b"}, [], 5, "5", ""])


def argument(rng, accepted, schema):
    """Returns a value like an alternative, or any other."""
    if rng.random() < 0.15 or not isinstance(accepted, list) or not accepted:
        return fitting(rng, schema.get("type"), schema.get("items", {}).get("type", "any"), False)
    value = plain(rng, rng.choice(accepted))
    value = copy.deepcopy(value)
    if rng.random() < 0.35:
        value = mutate.inside(rng, value) if rng.random() < 0.5 else mutate.other(rng, value)
    # JSON has no tuples: they are left to the outputs with a text.
    return without_tuples(value)


def without_tuples(value):
    if isinstance(value, (list, tuple)):
        return [without_tuples(one) for one in value]
    if isinstance(value, dict):
        return {key: without_tuples(one) for key, one in value.items()}
    return value


def plain(rng, alternative):
    if isinstance(alternative, dict):
        return {name: rng.choice(values) if isinstance(values, list) and values else values for name, values in alternative.items()}
    if isinstance(alternative, list):
        return [plain(rng, one) if isinstance(one, dict) else one for one in alternative]
    return alternative
