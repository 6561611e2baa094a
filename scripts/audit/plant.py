#!/usr/bin/env python3
"""Make a training set with known benchmark contamination.

Reads benchmark entries (JSON lines with "id", "question", "function"; gold calls in possible_answer/) and a
clean pool (JSON lines with "query", "functions", "calls"), and writes

  OUT/train.jsonl  chat rows {"id", "messages", "tools"}, most of them clean, some planted,
  OUT/truth.jsonl  one line a row {"id", "kind", "bench_id", "line", ...}.

A planted row comes from one benchmark entry by one kind of change; no entry is used twice in one kind.
The same arguments give the same bytes. The planted rows depend on --seed and --rate-per-kind, not on --rows.
"""
import argparse
import json
import math
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

KINDS = ("verbatim", "case", "number", "synonyms", "reorder", "embedded", "translated", "docs_verbatim",
         "docs_described", "functions_renamed", "call_only", "conversation")

SYNONYM_PAIRS = """
find locate; get obtain; calculate compute; need require; want wish; help assist; could might; show display;
provide supply; current present; latest newest; weather climate; movie film; movies films; information details;
details particulars; please kindly; search look; looking searching; book reserve; create make;
retrieve fetch; fetch retrieve; tell inform; check verify; name title; number count; using employing;
house home; home residence; game match; event occasion; events happenings; trip journey;
price cost; size extent; add insert; buy purchase; purchase buy; start begin;
starting beginning; quickly rapidly; big large; large big; small little; good fine; best finest; top leading;
free complimentary; cheap inexpensive; available obtainable; planning arranging; plan scheme; planned arranged;
generate produce; determine establish; update refresh; remove delete; delete erase; send dispatch;
specific particular; following subsequent; different distinct; multiple several; also additionally;
then afterwards; between amid; under below; including containing; interested keen; assistance aid;
location place; place spot; city town; company firm; song track; songs tracks; picture image; image picture;
car automobile; flight plane; hotel inn; restaurant eatery; recipe formula; doctor physician; student pupil;
work labour; working labouring; format layout; convert transform; analyze examine; compare contrast;
forecast prediction; temperature warmth; height tallness; distance span; speed pace; initial starting;
final last; total overall; average mean; annual yearly; daily everyday; today now; user member;
username login; password passphrase; server host; domain site; project undertaking; function routine; value amount;
object item; file document; message note; text wording; order sequence; request ask; return yield;
suggest recommend; recommend suggest; give hand; know learn; see view; watch view; play perform; like fancy
"""
SYNONYMS = dict(pair.split() for pair in SYNONYM_PAIRS.replace("\n", " ").split(";"))

OPENERS = ("Hi there.", "Hello,", "Hey,", "Quick question:", "Good morning.", "Thanks for helping.",
           "I have a small task for you.", "When you have a minute:", "For my notes:", "One more thing:")
CLOSERS = ("Thanks!", "Thank you in advance.", "No hurry.", "Keep the answer short.", "That is all for now.",
           "Let me know if something is missing.", "I appreciate it.", "Please be exact.")
JOINERS = ("Also,", "After that,", "And then,", "In addition,", "Besides that,", "Next,")
CALL_QUERIES = ("Use {what} with {args}.", "Run {what} for me; {args}.", "For the task of {what}: {args}.",
                "My input for {what} is this: {args}.", "Do {what} now, taking {args}.")
FUNCTION_TEXTS = ("Performs the operation {}.", "Endpoint for {}.", "Call this for {}.", "Handles requests about {}.",
                  "Service routine: {}.")
PARAM_TEXTS = ("The {} to work with.", "Input {}.", "Value passed as {}.", "{}, as given by the caller.", "Sets the {}.")
VERBS = ("run", "handle", "process", "resolve", "serve", "execute", "submit", "load")
NOUNS = ("task", "job", "record", "step", "routine", "action", "unit", "service", "workflow", "module")
WORDS = ("amber", "river", "delta", "orchid", "falcon", "maple", "quartz", "summit", "harbor", "willow", "copper",
         "meadow", "lantern", "saffron", "cobalt", "juniper")


NUMBER = r"(?<![A-Za-z_\d])(\d+)(st\b|nd\b|rd\b|th\b)?"


def normal(text):
    """Lower-case words only."""
    return " ".join(re.findall(r"\w+", text.lower().replace("_", " ")))


def name_key(name):
    """A function's or parameter's name without spelling: getUserInfo and get_user_info are one."""
    return "".join(c for c in name.lower() if c.isalnum())


def masked(text):
    return re.sub(r"\d+", "0", normal(text))


def signature(function):
    return name_key(function["name"]), tuple(sorted(map(name_key, function["parameters"]["properties"])))


# ---------------------------------------------------------------- what a clean row may not have

NEAR = 0.75      # share of a benchmark query's words, in order, from which a text repeats it
CONTENT = 0.8    # share of its words outside FUNCTION_WORDS that must be among them
SPREAD = 1.5     # the stretch of the text in which they are, in lengths of the query
MIN_WORDS = 5    # shorter queries, from 3 words on, and those with fewer words of content than MIN_CONTENT repeat
MIN_CONTENT = 3  # only as a whole sentence: "Hi there" and "I want to watch a movie" are in many texts by chance
FUNCTION_WORDS = frozenset("""
a about all am an and any are as at be been but by can could d did do does for from get give had has have help how i if in
into is it its know like ll m make me my need no not now of on or our please provide re s show should so some t tell than
that the their them then there these they this those to up us ve want was we were what when where which who will with
would you your find
""".split())


def lcs(a, b):
    """Length of the longest common subsequence of two lists of words (bit-parallel, in one integer)."""
    places = {}
    for i, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << i
    row = full = (1 << len(a)) - 1
    for word in b:
        found = row & places.get(word, 0)
        row = (row + found | row - found) & full
    return len(a) - row.bit_count() if a else 0


def content(words):
    return [w for w in words if w not in FUNCTION_WORDS]


class Overlap:
    """Says which benchmark query a text repeats, by comparing it with every one of them.

    Independent of the audit: a text repeats a query of MIN_WORDS words or more if some stretch of at most SPREAD
    times its words has NEAR of its words in the same order and CONTENT of those that are no function words; another
    query if a whole sentence of the text equals it. Only queries are skipped that cannot reach NEAR, because too many
    of their words are nowhere in the text.
    """

    def __init__(self, queries):
        self.queries = sorted(q.split() for q in queries)
        long = [len(q) >= MIN_WORDS and len(content(q)) >= MIN_CONTENT for q in self.queries]
        self.short = {" ".join(q) for q, is_long in zip(self.queries, long) if not is_long and len(q) > 2}
        count = Counter(w for q in self.queries for w in set(q))
        self.index, self.seen = defaultdict(list), {}
        for number, (query, is_long) in enumerate(zip(self.queries, long)):
            # A text with NEAR of the words has one of any more than 1 - NEAR of them; the rarest make short lists.
            spare = len(query) - math.ceil(NEAR * len(query))
            if is_long:
                for word in sorted(query, key=lambda w: (count[w], w))[:spare + 1]:
                    self.index[word].append(number)

    def of(self, text):
        if text not in self.seen:
            self.seen[text] = self.look(text)
        return self.seen[text]

    def look(self, text):
        for part in re.split(r"[.?!:;\n\"]+", text):
            if normal(part) in self.short:
                return normal(part)
        words = normal(text).split()
        have = set(words)
        for number in sorted({n for w in have for n in self.index.get(w, ())}):
            query = self.queries[number]
            needed, width = math.ceil(NEAR * len(query)), round(SPREAD * len(query))
            of_query = Counter(content(query))
            if sum(w in have for w in query) < needed or lcs(query, words) < needed:
                continue
            for start in range(max(1, len(words) - width + 1)):
                part = words[start:start + width]
                shared = (of_query & Counter(part)).total()
                if shared >= CONTENT * of_query.total() and lcs(query, part) >= needed:
                    return " ".join(query)
        return None


# ---------------------------------------------------------------- input

def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def schema(value):
    """Benchmark type names to those of JSON Schema, at any depth."""
    names = {"dict": "object", "float": "number", "double": "number", "tuple": "array", "list": "array",
             "int": "integer", "long": "integer", "any": "string", "hashmap": "object", "arraylist": "array",
             "bool": "boolean", "char": "string"}
    if isinstance(value, list):
        return [schema(v) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: schema(v) for k, v in value.items()}
    if isinstance(value.get("type"), str):
        out["type"] = names.get(value["type"].lower(), value["type"].lower())
    return out


def pick(options):
    """The first accepted value; None where the argument may be left out."""
    options = options if isinstance(options, list) else [options]
    value = options[0] if options else ""
    return None if value == "" else plain(value)


def plain(value):
    if isinstance(value, dict):
        return {k: got for k, v in value.items() if (got := pick(v)) is not None}
    return [plain(v) for v in value] if isinstance(value, list) else value


def gold_calls(truth):
    return [{"name": name, "arguments": plain(args)} for call in truth for name, args in call.items()]


def read_bench(folders):
    """Entries with one user message, and all queries and functions of the benchmark.

    Functions are the sets of parameter names by function name, and under None all descriptions.
    """
    entries, queries, functions = [], set(), defaultdict(set)
    for folder in folders:
        for path in sorted(Path(folder).glob("*.json")):
            answers = path.parent / "possible_answer" / path.name
            gold = {r["id"]: r["ground_truth"] for r in read_lines(answers)} if answers.exists() else {}
            for row in read_lines(path):
                turns = row["question"] if isinstance(row["question"][0], list) else [row["question"]]
                said = [m["content"] for turn in turns for m in turn if m["role"] == "user"]
                docs = []
                for doc in row.get("function") or []:
                    params = schema(doc.get("parameters") or {})
                    params.setdefault("properties", {})
                    params["type"] = "object"
                    docs.append({"name": doc["name"], "description": doc.get("description", ""), "parameters": params})
                queries.update(map(normal, said))
                for doc in docs:
                    name, params = signature(doc)
                    functions[name].add(frozenset(params))
                    functions[None].add(normal(doc["description"]))
                if len(said) == 1 and normal(said[0]):
                    entries.append({"id": row["id"], "query": said[0], "functions": docs,
                                    "calls": gold_calls(gold.get(row["id"], []))})
    return entries, queries - {""}, functions


def known(function, functions):
    """Is this one of the benchmark's functions (name and four fifths of the parameters, or description)?"""
    name, params = signature(function)
    text = normal(function["description"])
    return (len(text.split()) > 2 and text in functions[None]) or \
        any(len(have.intersection(params)) >= .8 * len(have.union(params)) for have in functions.get(name, ()))


def read_pool(paths, queries, functions, overlap, dropped):
    """Clean queries with their functions, and further short functions, none of them the benchmark's."""
    shapes = {masked(q) for q in queries}
    pool, spare = [], []
    for path in paths:
        for row in read_lines(path):
            for function in row["functions"]:
                function["description"] = function.get("description") or ""
            kept = [f for f in row["functions"] if not known(f, functions)]
            dropped["function in the benchmark"] += len(row["functions"]) - len(kept)
            spare.extend(kept)
            if not row["query"]:
                continue
            if normal(row["query"]) in queries:
                dropped["query in the benchmark"] += 1
            elif masked(row["query"]) in shapes:
                dropped["query in the benchmark but for numbers"] += 1
            elif overlap and overlap.of(row["query"]):
                dropped["query with most words of one of the benchmark's, in order"] += 1
            elif len(kept) < len(row["functions"]) or not kept:
                dropped["query whose functions are in the benchmark"] += 1
            else:
                called = {c["name"] for c in row["calls"]}
                kept.sort(key=lambda f: f["name"] not in called)
                pool.append({**row, "functions": kept[:max(len(called), 4)]})
    return pool, [f for text, f in {json.dumps(f, sort_keys=True): f for f in spare}.items() if len(text) < 1000]


# ---------------------------------------------------------------- changes of a query

def whole_word(value):
    return r"(?<!\w)" + re.escape(value) + r"(?![\w'])"


def change_case(rng, text, **_):
    """Another case and other punctuation at word edges; the words stay."""
    out = rng.choice((str.upper, str.lower, str.swapcase, str.title))(text)
    out = re.sub(r"(?<=\w)[.?!,;:]+(?=\s|$)", lambda _: rng.choice(("", "!", " ...", ";", " -")), out)
    out = re.sub(r"[\"'`](?=\s|$)|(?<=\s)[\"'`]", lambda _: rng.choice(("", "*", "\u201d")), out)
    out += rng.choice(("", "!!", " ...", "??"))
    return out if normal(out) == normal(text) and out != text else None


def other_number(rng, digits):
    """Another whole number of the same size (a year stays a year, a day a day); 00 and 000 stay."""
    value = int(digits)
    if value == 0 and len(digits) > 1:
        return digits
    if 1900 <= value <= 2099 and len(digits) == 4:
        low, high = 1950, 2060
    else:
        low, high = next(((a, b) for a, b in ((0, 12), (13, 28), (29, 31), (32, 59), (60, 99), (100, 255)) if a <= value <= b),
                         (10 ** (len(str(value)) - 1), 10 ** len(str(value)) - 1))
        low = max(low, 1)
    while (new := rng.randint(low, high)) == value:
        pass
    return str(new).zfill(len(digits)) if digits[0] == "0" else str(new)


def ordinal(digits):
    if digits[-2:] in ("11", "12", "13"):
        return "th"
    return {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th")


def renumber(text, new):
    """Numbers outside words replaced as NEW says, with the right ordinal ending."""
    def swap(match):
        digits = new.get(match.group(1), match.group(1))
        return digits + (ordinal(digits) if match.group(2) else "")

    return re.sub(NUMBER, swap, text)


def number_map(rng, text):
    return {digits: other_number(rng, digits) for digits, _ in dict.fromkeys(re.findall(NUMBER, text))}


def change_numbers(rng, text, **_):
    """Every number outside a word becomes another, equal ones alike."""
    new = number_map(rng, text)
    return renumber(text, new) if new else None


def change_synonyms(rng, text, **_):
    """Two words of the table become synonyms; quoted text is left alone."""
    quoted = [m.span() for m in re.finditer(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)", text)]
    seen, spots = set(), []
    for match in re.finditer(r"[A-Za-z]+", text):
        word = match.group().lower()
        inside = any(a <= match.start() < b for a, b in quoted)
        joined = text[match.end():match.end() + 1] in ("'", "_", "\u2019") or text[match.start() - 1:match.start()] == "_"
        if word in SYNONYMS and word not in seen and not inside and not joined:
            seen.add(word)
            spots.append(match)
    if len(spots) < 2:
        return None
    for match in sorted(rng.sample(spots, 2), key=lambda m: -m.start()):
        word = SYNONYMS[match.group().lower()]
        word = word.capitalize() if match.group()[0].isupper() else word
        text = text[:match.start()] + word + text[match.end():]
    return text


def change_order(rng, text, **_):
    """Sentences, or else clauses, in another order."""
    for cut, glue in ((r"(?<=[.?!])\s+", " "), (r",\s+(?:and\s+)?|\s+and\s+", ", ")):
        parts = [p for p in re.split(cut, text.strip()) if p]
        if len(parts) < 2 or any(len(p.split()) < 3 for p in parts):
            continue
        if glue == ", ":
            end = parts[-1][-1] if parts[-1][-1] in ".?!" else ""
            parts = [p.strip().rstrip(".?!") for p in parts]
            parts = [p[:1].lower() + p[1:] if re.match(r"[A-Z][a-z]*\s", p) and p[:2] != "I " and i == 0 else p
                     for i, p in enumerate(parts)]
        order = list(range(len(parts)))
        while order == sorted(order):
            rng.shuffle(order)
        out = glue.join(parts[i] for i in order)
        if glue == ", ":
            out = out[:1].upper() + out[1:] + end
        return out if normal(out) != normal(text) else None
    return None


def embed(rng, text, clean, **_):
    """The query between clean sentences of 60 to 200 words."""
    wanted = rng.randint(60, 185)
    before, after, size = [], [], 0
    while size < wanted:
        sentence = clean.sentence(rng)
        if size + len(sentence.split()) <= 200:
            (before if size < wanted / 2 else after).append(sentence)
            size += len(sentence.split())
    return " ".join(before + [text] + after)


# ---------------------------------------------------------------- clean material

class Clean:
    """The clean pool, and rows made from it."""

    def __init__(self, pool, spare, bench_queries, overlap):
        self.pool, self.spare, self.bench_queries, self.overlap = pool, spare, bench_queries, overlap
        self.values = defaultdict(list)
        for row in pool:
            for call in row["calls"]:
                for key, value in call["arguments"].items():
                    if isinstance(value, str) and 2 < len(value) < 60 and not re.search(r"\$|API_call", value):
                        self.values[normal(key)].append(value)
        self.sentences = sorted({s for row in pool for s in re.split(r"(?<=[.?!])\s+", row["query"])
                                 if 6 <= len(s.split()) <= 30 and normal(s) not in bench_queries})

    def sentence(self, rng):
        return change_numbers(rng, s) or s if (s := rng.choice(self.sentences)) and rng.random() < .5 else s

    def base(self, rng):
        """A pool row with other values in its query and calls."""
        row = rng.choice(self.pool)
        query, swaps, numbers = row["query"], {}, {}
        for call in row["calls"]:
            for key, value in call["arguments"].items():
                choices = self.values.get(normal(key), ())
                if isinstance(value, str) and len(value) > 2 and len(choices) > 3 \
                        and len(re.findall(whole_word(value), query)) == 1:
                    swaps[value] = rng.choice(choices)
        if rng.random() < .2:
            swaps = {}
        for old, new in swaps.items():
            query = re.sub(whole_word(old), lambda _: new, query, count=1)
        if rng.random() < .7:
            numbers = number_map(rng, query)

        def changed(value):
            if isinstance(value, str):
                return renumber(swaps.get(value, value), numbers)
            return int(numbers.get(str(value), value)) if type(value) is int else value

        calls = [{"name": c["name"], "arguments": {k: changed(v) for k, v in c["arguments"].items()}}
                 for c in row["calls"]]
        return renumber(query, numbers), row["functions"], calls

    def docs(self, rng, own, low=0, high=3):
        """Functions of a row with some others around them."""
        out = list(own) + rng.sample(self.spare, rng.randint(low, high))
        out = list({f["name"]: f for f in reversed(out)}.values())
        rng.shuffle(out)
        return out

    def row(self, rng):
        """Messages and tools of a clean row, or None where chance made a benchmark query or most of one."""
        query, functions, calls = self.base(rng)
        style = rng.random()
        messages = []
        if style < .25:
            more, others, extra = self.base(rng)
            more = more if re.match(r"I\b", more) else more[:1].lower() + more[1:]
            query = f"{query} {rng.choice(JOINERS)} {more}"
            functions, calls = functions + others, calls + extra
        elif style < .45:
            query = f"{rng.choice(OPENERS)} {query}"
        elif style < .6:
            query = f"{query} {rng.choice(CLOSERS)}"
        elif style < .68:
            query = embed(rng, query, self)
        elif style < .8:
            for _ in range(rng.randint(1, 2)):
                earlier, others, made = self.base(rng)
                messages += turn(earlier, made, finished=True)
                functions = functions + others
        if any(normal(m.get("content") or "") in self.bench_queries for m in messages) \
                or normal(query) in self.bench_queries:
            return None
        said = [m["content"] for m in messages if m["role"] == "user"] + [query]
        if self.overlap and any(map(self.overlap.of, said)):
            return None
        functions = self.docs(rng, functions)
        if rng.random() < .08:
            functions = [describe(rng, f) for f in functions]
        return messages + turn(query, calls), functions


def turn(query, calls, finished=False):
    """A user message and the assistant's answer to it."""
    out = [{"role": "user", "content": query}]
    if not calls:
        out.append({"role": "assistant", "content": "None of the given functions can do this."})
        return out
    made = [{"id": f"call_{i}", "type": "function",
             "function": {"name": c["name"], "arguments": json.dumps(c["arguments"], ensure_ascii=False)}}
            for i, c in enumerate(calls)]
    out.append({"role": "assistant", "tool_calls": made})
    if finished:
        out += [{"role": "tool", "tool_call_id": m["id"], "content": '{"status": "ok"}'} for m in made]
        out.append({"role": "assistant", "content": "Done."})
    return out


# ---------------------------------------------------------------- changes of functions and calls

def spoken(name):
    return " ".join(re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", name)).lower() or name


def describe(rng, function):
    """The same function with new descriptions."""
    params = json.loads(json.dumps(function["parameters"]))

    def visit(node):
        for name, prop in (node.get("properties") or {}).items():
            if isinstance(prop, dict):
                prop["description"] = rng.choice(PARAM_TEXTS).format(spoken(name))
                visit(prop)
                visit(prop.get("items") if isinstance(prop.get("items"), dict) else {})

    visit(params)
    return {"name": function["name"], "description": rng.choice(FUNCTION_TEXTS).format(spoken(function["name"])),
            "parameters": params}


def rename(rng, function):
    name = f"{rng.choice(VERBS)}_{rng.choice(WORDS)}_{rng.choice(NOUNS)}"
    return {**function, "name": f"{name}_{rng.randint(2, 99)}"}


def filler(rng, prop):
    kind = prop.get("type") if isinstance(prop, dict) else "string"
    if kind == "integer":
        return rng.randint(1, 999)
    if kind == "number":
        return round(rng.uniform(1, 99), 2)
    if kind == "boolean":
        return rng.random() < .5
    if kind == "array":
        return [filler(rng, prop.get("items") or {})]
    if kind == "object":
        return {}
    return rng.choice(WORDS)


def filler_call(rng, function):
    params = function["parameters"]
    return {"name": function["name"], "arguments": {k: filler(rng, params["properties"][k])
                                                    for k in params.get("required") or []
                                                    if k in params["properties"]}}


def shuffled(rng, call):
    items = list(call["arguments"].items())
    order = list(items)
    while len(items) > 1 and order == items:
        rng.shuffle(order)
    return {"name": call["name"], "arguments": dict(order)}


def call_query(rng, calls):
    """A new text that asks for the calls."""
    parts = []
    for call in calls:
        args = [f"{spoken(k)} {v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}"
                for k, v in call["arguments"].items()]
        parts.append(rng.choice(CALL_QUERIES).format(what=spoken(call["name"]), args=", ".join(args)))
    return " ".join(parts)


# ---------------------------------------------------------------- planted rows

REWRITE = {"verbatim": lambda rng, text, **_: text, "case": change_case, "number": change_numbers,
           "synonyms": change_synonyms, "reorder": change_order, "embedded": embed,
           "conversation": lambda rng, text, **_: text}


def params_of(functions):
    return sum(len(f["parameters"]["properties"]) for f in functions)


def plant(rng, kind, entry, clean, translations):
    """Messages and tools of one planted row, or None where the kind does not fit the entry."""
    query, functions, calls = clean.base(rng)
    if kind in REWRITE or kind == "translated":
        text = translations.get(entry["id"]) if kind == "translated" \
            else REWRITE[kind](rng, entry["query"], clean=clean)
        if text is None or (kind in ("number", "synonyms", "reorder") and normal(text) in clean.bench_queries):
            return None
        before = []
        if kind == "conversation":
            for _ in range(rng.randint(1, 2)):
                earlier, others, made = clean.base(rng)
                before += turn(earlier, made, finished=True)
                functions = functions + others
        return before + turn(text, calls), clean.docs(rng, functions)
    own = [dict(f) for f in entry["functions"]]
    if kind == "call_only":
        calls = [shuffled(rng, c) for c in entry["calls"]]
        if sum(len(c["arguments"]) for c in calls) < 2:
            return None
        text = call_query(rng, calls)
        # Only the calls are the benchmark's: the docs are those of a clean row.
        return (turn(text, calls), clean.docs(rng, functions, 1, 3)) if normal(text) != normal(entry["query"]) else None
    if not own or (kind != "docs_verbatim" and not params_of(own)):
        return None
    if kind == "docs_described":
        own = [describe(rng, f) for f in own]
    elif kind == "functions_renamed":
        own = [rename(rng, f) for f in own]
    return turn(query, [filler_call(rng, rng.choice(own))]), own


def same_as(entries):
    """For each entry, those that have the same query, the same functions, the same calls."""
    keys = {"query": lambda e: normal(e["query"]),
            "functions": lambda e: tuple(sorted(map(signature, e["functions"]))),
            "calls": lambda e: json.dumps([[c["name"], sorted(c["arguments"].items())] for c in e["calls"]])}
    out = {}
    for part, key in keys.items():
        groups = defaultdict(list)
        for entry in entries:
            groups[key(entry)].append(entry["id"])
        out[part] = {i: group for group in groups.values() for i in group}
    return out


def plant_all(entries, clean, translations, seed, rate):
    """All planted rows: (kind, entry id, same ids, words of the query, messages, tools)."""
    same, out = same_as(entries), []
    for kind in KINDS:
        rng = random.Random(f"{seed}-{kind}")
        part = {"docs_verbatim": "functions", "docs_described": "functions", "functions_renamed": "functions",
                "call_only": "calls"}.get(kind, "query")
        done, used = 0, set()
        for entry in rng.sample(entries, len(entries)):
            if done == rate:
                break
            if entry["id"] in used or (kind == "translated" and entry["id"] not in translations):
                continue
            row = plant(rng, kind, entry, clean, translations)
            if row:
                used.update(same[part][entry["id"]])
                others = [i for i in same[part][entry["id"]] if i != entry["id"]]
                out.append((kind, entry["id"], others, len(normal(entry["query"]).split()), *row))
                done += 1
        print(f"{kind:18} {done:6} rows", file=sys.stderr)
    return out


def write(args, planted, clean):
    """Both files, row by row."""
    args.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(f"{args.seed}-rows")
    spots = dict(zip(rng.sample(range(args.rows), len(planted)), planted))
    width, drawn_again = len(str(args.rows)), 0
    with open(args.out / "train.jsonl", "w", encoding="utf-8") as train, \
            open(args.out / "truth.jsonl", "w", encoding="utf-8") as truth:
        for index in range(args.rows):
            name = f"t{index + 1:0{width}}"
            fact = {"id": name, "kind": "clean", "bench_id": None, "line": index + 1}
            if index in spots:
                kind, bench_id, others, words, messages, tools = spots[index]
                fact.update(kind=kind, bench_id=bench_id, same=others, words=words)
            else:
                while not (row := clean.row(rng)):
                    drawn_again += 1
                messages, tools = row
            tools = [{"type": "function", "function": f} for f in tools]
            train.write(json.dumps({"id": name, "messages": messages, "tools": tools}, ensure_ascii=False) + "\n")
            truth.write(json.dumps(fact, ensure_ascii=False) + "\n")
    print(f"clean rows drawn again because of a query of the benchmark: {drawn_again}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", nargs="+", required=True, metavar="DIR")
    parser.add_argument("--clean", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--translations", metavar="FILE", help='JSON lines {"bench_id", "lang", "text"}')
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--rate-per-kind", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-overlap", action="store_true",
                        help="keep clean rows that have most words of a benchmark query in order (class Overlap)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    args = parser.parse_args()

    entries, queries, functions = read_bench(args.bench)
    dropped = Counter()
    overlap = None if args.keep_overlap else Overlap(queries)
    pool, spare = read_pool(args.clean, queries, functions, overlap, dropped)
    for reason, number in sorted(dropped.items()):
        print(f"dropped from the pool, {reason}: {number}", file=sys.stderr)
    print(f"benchmark entries {len(entries)}, clean queries {len(pool)}, clean functions {len(spare)}", file=sys.stderr)
    translations = {r["bench_id"]: r["text"] for r in read_lines(args.translations)} if args.translations else {}
    clean = Clean(pool, spare, queries, overlap)
    planted = plant_all(entries, clean, translations, args.seed, args.rate_per_kind)
    if len(planted) > args.rows:
        parser.error(f"{len(planted)} planted rows do not fit into {args.rows}")
    write(args, planted, clean)


if __name__ == "__main__":
    main()
