"""Mutations of values and of texts, as mistakes of models and as attacks on a parser."""

import copy

COMMON = ["(", ")", "[", "]", "{", "}", ",", ";", "=", ".", "'", '"', "`", "\\", "\n", "\t", " ", "é", "中", "😀", "\u00a0",
          "\u2028", "\ufeff", "\x00", "\r", "/", "//", "/* c */", "#", "-", "+", "!", "<", ">", "&", "|", "?", ":", "@", "$",
          "%", "^", "~", "0", "1", "9", "true", "false", "null", "x", "x=1", '"a"', "'b'", "=>", "1e5", "0x1F", "1_000", "٣"]
TOKENS = {
    "java": ["new ", "int[]", "String", "char", "<>", "{{", "}}", "class ", "return ", "->", "x -> x", "::", "a.b", "f()",
             "f(x=1)", "1L", "1.5f", "'c'", '"""', "@A", "...", "? a : b", "instanceof ", "(int)", "++", "new int[]{1}",
             "new A() { }", "Map<String, Integer>", "import a;", "if (a) {}", "x[0]", "A.class", "\\u0041", "1.0e3d"],
    "javascript": ["new ", "await ", "async ", "() => {}", "x => x", "function(){}", "...a", "`t${a}`", "/re/g", "?.", "??",
                   "{a: 1}", "[1,2]", "typeof ", "void 0", "1n", "let x = ", "return ", "class A {}", "import a", "import.meta",
                   "for(;;){}", "f()", "f(x=1)", "<a>b</a>", "=== ", "**", "a?b:c", "undefined", "NaN", "yield ", "#p", "\\u0041",
                   "a.b", "a[0]", "if(a){}", "new.target", "export default ", "using x = "],
    "python": ["None", "True", "lambda: 1", "f()", "f(x=1)", "*a", "**b", "x for x in y", "not ", "~", "b'x'", "f'{x}'", "1j",
               "if a else b", "...", "a[1:2]", ":=", "await ", "and ", "in ", "r'\\'", "'''", "0o17", "1e400", "class", "\\N{DASH}",
               "2**3", "{1}", "{1:2}", "(1,)", "1 if 1 else 2", "is ", "3**4", "%s", "'a' 'b'", "a.b"],
    "json": ["[", "]", "{", "}", "NaN", "Infinity", "-0", "1.0", "1E5", "\\u00e9", "\\ud83d", '"function"', "[1]", "[{}]", "{},",
             '"parameters": {}', "// c", "True", "'a'", "\\x", "null", "12345678901234567890", "1e999"],
    "xml": ["<", ">", "&amp;", "&lt;", "&#233;", "&#x1F600;", "&nope;", "&", "<!-- c -->", "<![CDATA[x]]>", "<?pi x?>", "</param>",
            "<param>", "<param name='q'>1</param>", "<params>", "</params>", "<function name='g'/>", "type='array'", "x='1'",
            "<!DOCTYPE a>", "]]>", "<b/>", "</functions>", "<functions>", "xmlns:a='b'", "<a:b/>", "--", "value=\"[1, 'a']\""],
}


def values(rng, calls, docs):
    """Returns a mutated copy of the calls, and the name of the mutation."""
    calls = copy.deepcopy(calls)
    kinds = ["wrong_name", "drop_call", "extra_call", "reverse_calls"]
    slots = [(at, key) for at, (_, parameters) in enumerate(calls) for key in parameters]
    if slots and rng.random() < 0.85:
        at, key = rng.choice(slots)
        parameters = calls[at][1]
        kind = rng.choice(["drop_param", "extra_param", "null", "value", "value", "value", "value", "inside", "inside"])
        if kind == "drop_param":
            del parameters[key]
        elif kind == "extra_param":
            parameters["zz"] = 1
        elif kind == "null":
            parameters[key] = None
        elif kind == "inside":
            parameters[key] = inside(rng, parameters[key])
        else:
            parameters[key] = other(rng, parameters[key])
        return calls, kind
    kind = rng.choice(kinds)
    if kind == "wrong_name" and calls:
        calls[0] = (rng.choice([calls[0][0] + "x", calls[0][0].replace(".", "_"), calls[0][0].upper()]), calls[0][1])
    elif kind == "drop_call" and calls:
        calls.pop()
    elif kind == "extra_call":
        calls.append(("g", {"x": 1}) if rng.random() < 0.5 or not calls else copy.deepcopy(calls[0]))
    else:
        calls.reverse()
    return calls, kind


def other(rng, value):
    """Returns a value near to a value, or of another type."""
    choices = [None, True, False, 0, 5, 5.0, -1.5, "", " ", "zz", "5", "true", [], {}, [value], (value,), {"a": value}, [None],
               10**20, 1e20]
    if isinstance(value, str):
        choices += [value.upper(), value + "\t", value.replace(" ", ""), value + ".", value.replace("'", '"'), f" {value} ",
                    value + "zz", list(value), value.replace("a", "á"), value + "\u00a0", f'"{value}"'] * 2
    elif isinstance(value, bool):
        choices += [not value, int(value), str(value), str(value).lower()] * 2
    elif isinstance(value, (int, float)):
        choices += [value + 1, float(value), str(value), -value, value + 1e-9, int(value)] * 2
    elif isinstance(value, list):
        choices += [value[::-1], value + value[:1], value[1:], tuple(value), [str(one) for one in value], str(value),
                    [[one] for one in value], [one.upper() if isinstance(one, str) else one for one in value]] * 2
    elif isinstance(value, dict):
        choices += [{**value, "zz": 1}, dict(list(value.items())[1:]), list(value), [value],
                    {key: str(one) for key, one in value.items()}, {key: None for key in value}, dict(reversed(value.items()))] * 2
    return rng.choice(choices)


def inside(rng, value):
    """Mutates an element of a list or a member of a dict."""
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return value[:at] + [inside(rng, value[at])] + value[at + 1:]
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        return {**value, key: inside(rng, value[key])}
    return other(rng, value)


def source(rng, text, syntax):
    """Returns a text with one to three edits, and the name of the last one."""
    tokens = TOKENS["xml" if syntax.endswith("xml") else syntax]
    kind = "none"
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice([1, 1, 1, 2, 5, 20]))
        kind = rng.choice(["insert", "insert", "token", "token", "token", "delete", "delete", "replace", "repeat", "cut", "start",
                           "wrap", "swap", "comment"])
        if kind == "insert":
            text = text[:at] + rng.choice(COMMON) + text[at:]
        elif kind == "token":
            text = text[:at] + rng.choice(tokens) + text[at:]
        elif kind == "delete":
            text = text[:at] + text[end:]
        elif kind == "replace":
            text = text[:at] + rng.choice(COMMON + tokens) + text[end:]
        elif kind == "repeat":
            text = text[:end] + text[at:]
        elif kind == "cut":
            text = text[:at]
        elif kind == "start":
            text = text[at:]
        elif kind == "swap":
            found = [place for place, char in enumerate(text) if char in "()[]{},;=\"'<>/:."]
            if found:
                place = rng.choice(found)
                text = text[:place] + rng.choice(COMMON[:15]) + text[place + 1:]
        elif kind == "comment":
            text = text[:at] + rng.choice(["/* é */", "// c\n", "# c\n", "<!-- c -->", "/** d */"]) + text[at:]
        else:
            text = rng.choice(["Sure! {}", "{} // done", "```java\n{}\n```", "`{}`", "({})", "{}\n\nDone.", "[[{}]]", "{}{}", "{}, g()",
                               "return {}", "var r = {}", "'{}'", '"{}"', "{};", "[{}];", "new {}", "await {}", "a.{}", "f(x={})"]
                              ).replace("{}", text)
    return text, kind
