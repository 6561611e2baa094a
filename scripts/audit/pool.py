#!/usr/bin/env python3
"""Bring public function-calling sets into one clean pool.

Reads the sets that exist below DATA (the data for tests, see CONTRIBUTING) and writes one JSON line for each query:
{"source", "query", "functions": [{name, description, parameters}], "calls": [{name, arguments}]}.
A line with an empty query only offers functions.
"""
import argparse
import ast
import csv
import json
import re
from pathlib import Path

TYPES = {"str": "string", "string": "string", "enum": "string", "date": "string", "int": "integer",
         "integer": "integer", "int32": "integer", "number": "number", "float": "number",
         "bool": "boolean", "boolean": "boolean", "list": "array", "array": "array",
         "dict": "object", "object": "object"}


def kind(name):
    return TYPES.get(str(name).lower().split("[")[0].split("(")[0].strip(), "string")


def fix(schema):
    """Give a JSON schema the type names of JSON Schema."""
    if isinstance(schema, list):
        return [fix(x) for x in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: fix(v) for k, v in schema.items() if k not in ("$schema", "additionalProperties")}
    if isinstance(out.get("type"), str):
        out["type"] = kind(out["type"])
    return out


def function(name, description, properties, required):
    return {"name": name, "description": str(description or "").strip(),
            "parameters": {"type": "object", "properties": properties, "required": sorted(set(required))}}


def snake(*words):
    return re.sub(r"\W+", "_", "_".join(words)).strip("_").lower()[:64]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def text(content):
    if isinstance(content, str):
        return content
    return " ".join(part.get("value") or part.get("text") or "" for part in content if part.get("type") == "text")


def unwrap(tools):
    tools = json.loads(tools) if isinstance(tools, str) else tools
    out = []
    for tool in tools or []:
        tool = tool.get("function", tool)
        if "name" in tool:
            params = fix(tool.get("parameters") or {})
            out.append({"name": tool["name"], "description": tool.get("description", ""),
                        "parameters": {"type": "object", "properties": params.get("properties") or {},
                                       "required": params.get("required") or []}})
    return out


def glaive(root):
    for path in sorted(root.glob("public/glaive-llamafactory/data/glaive_*.json")):
        for row in load(path):
            said = ""
            for turn in row["conversations"]:
                if turn["from"] == "human":
                    said = turn["value"]
                elif turn["from"] == "function_call" and said:
                    calls = json.loads(turn["value"])
                    yield said, unwrap(row["tools"]), calls if isinstance(calls, list) else [calls]
                    said = ""
    for path in root.glob("public/glaive-llamafactory/data/reason_tool_use_demo_50.jsonl"):
        for row in lines(path):
            users = [text(m["content"]) for m in row["messages"] if m["role"] == "user"]
            yield users[0], unwrap(row["tools"]), []


def fireworks(root):
    for path in sorted(root.glob("public/fireworks-eval-v0/*_turn-*.jsonl")):
        for row in lines(path):
            users = [m["content"] for m in row["prompt"] if m["role"] == "user"]
            said = users[-1].rsplit("\n]\n", 1)[-1]
            calls = [{"name": g["function"]["name"], "arguments": g["function"]["arguments"]} for g in row["gold"]]
            yield said, unwrap(row["tools"]), calls


def toolalpaca(root):
    for path in sorted(root.glob("public/toolalpaca/data/eval_*.json")):
        for api in load(path):
            api = {k: ast.literal_eval(v) if isinstance(v, str) and v[:1] in "[{" and k != "Documentation" else v
                   for k, v in api.items()}
            functions = []
            for name, told in api["Function_Description"].items():
                if "\nParameters: " not in told:
                    continue
                description, rest = told.split("\nParameters: ", 1)
                props, required = {}, []
                for key, note in json.loads(rest.split("\n")[0]).items():
                    words = [w.strip() for w in str(note).split(".", 2)]
                    if words[0] == "Required":
                        required.append(key)
                        words = words[1:]
                    props[key] = {"type": kind(words[0]), "description": ". ".join(words[1:]).strip()}
                functions.append(function(name, description, props, required))
            for said, gold in zip(api["Instructions"], api.get("Golden_Answers") or [[]] * 99):
                calls = []
                for step in gold:
                    try:
                        calls.append({"name": step["Action"], "arguments": json.loads(step["Action_Input"])})
                    except (ValueError, KeyError, TypeError):
                        pass
                yield said, functions, calls


def raven(root):
    for path in root.glob("public/nexusraven-v2/functions.jsonl"):
        for row in lines(path):
            node = next((n for n in ast.walk(ast.parse(row["definition"].strip()))
                         if isinstance(n, ast.FunctionDef)), None)
            if node:
                names = [a.arg for a in node.args.args if a.arg != "self"]
                told = (ast.get_docstring(node) or "").split("\n\n")[0]
                yield "", [function(node.name, told, {n: {"type": "string", "description": ""} for n in names},
                                    names[:len(names) - len(node.args.defaults)])], []


def apibank(root):
    docs = {}
    for path in root.glob("apis/api-bank/data/all_apis.csv"):
        for row in csv.DictReader(open(path, encoding="utf-8")):
            try:
                scope = {n.targets[0].id: ast.literal_eval(n.value) for n in ast.parse(row["api_info"]).body}
            except SyntaxError:
                continue
            if not isinstance(scope.get("input_parameters"), dict):
                continue
            props = {k: {"type": kind(v["type"]), "description": v["description"]}
                     for k, v in scope["input_parameters"].items()}
            docs[row["类名"]] = function(row["类名"], scope["description"], props, props)
    for path in sorted(root.glob("apis/api-bank/lv1-lv2-samples/level-1*/*.jsonl")):
        turns = lines(path)
        used = [docs[t["api_name"]] for t in turns if t["role"] == "API" and t["api_name"] in docs]
        used = list({f["name"]: f for f in used}.values())
        said = []
        for turn in turns:
            if turn["role"] == "User":
                said.append(turn["text"])
            elif turn["role"] == "API" and said:
                yield " ".join(said), used, [{"name": turn["api_name"], "arguments": turn["param_dict"]}]
                said = []


def nestful(root):
    for path in sorted(root.glob("apis/nestful/data/*/*-data.json")):
        docs = {}
        for spec in load(path.with_name(path.name.replace("-data", "-spec"))):
            props = spec.get("query_parameters") or spec.get("arguments") or {}
            docs[spec["name"]] = function(
                spec["name"], spec.get("description"),
                {k: {"type": kind(v.get("type", "string")), "description": v.get("description", "")}
                 for k, v in props.items()}, [k for k, v in props.items() if v.get("required")])
        for row in load(path):
            out = row["output"] if isinstance(row["output"], list) else json.loads(row["output"])
            calls = [{"name": c["name"], "arguments": c["arguments"]} for c in out if c["name"] in docs]
            yield row["input"], [docs[n] for n in dict.fromkeys(c["name"] for c in calls)], calls
        yield "", list(docs.values()), []


def restgpt(root):
    for name in ("spotify", "tmdb"):
        path = root / f"apis/restgpt/datasets/{name}.json"
        if not path.exists():
            continue
        docs = {}
        for route, item in load(root / f"apis/restgpt/specs/{name}_oas.json")["paths"].items():
            for verb, op in item.items():
                if verb not in ("get", "post", "put", "delete"):
                    continue
                params = [p for p in op.get("parameters") or [] if "name" in p]
                docs[f"{verb.upper()} {route}"] = function(
                    snake(name, verb, route), op.get("description") or op.get("summary"),
                    {p["name"]: {"type": kind(p.get("schema", {}).get("type", "string")),
                                 "description": p.get("description", "")} for p in params},
                    [p["name"] for p in params if p.get("required")])
        for row in load(path):
            used = [docs[s] for s in row["solution"] if s in docs]
            yield row["query"], used, [{"name": f["name"], "arguments": {}} for f in used[:1]]
        yield "", list(docs.values()), []


def sealtools(root):
    folder = root / "apis/seal-tools/Seal-Tools_Dataset"
    if not folder.exists():
        return
    docs = {}
    for tool in lines(folder / "tool.jsonl"):
        props = {k: {"type": kind(v["type"]), "description": v["description"]} for k, v in tool["parameters"].items()}
        docs[tool["api_name"]] = function(tool["api_name"], tool["api_description"], props, tool["required"])
    for part in ("dev", "test_in_domain", "test_out_domain"):
        for row in lines(folder / f"{part}.jsonl"):
            calls = [{"name": c["api"], "arguments": c["parameters"]} for c in row["calling"] if c["api"] in docs]
            yield row["query"], [docs[n] for n in dict.fromkeys(c["name"] for c in calls)], calls
    for name in docs:
        yield "", [docs[name]], []


def toolbench(root):
    paths = list(root.glob("apis/stabletoolbench/solvable_queries/test_instruction/*.json"))
    paths += root.glob("apis/toolbench/data_example/instruction/G*.json")
    for path in sorted(paths):
        for row in load(path):
            functions, calls = [], []
            wanted = {tuple(x) for x in row.get("relevant APIs") or []}
            for api in row["api_list"]:
                both = api["required_parameters"] + api["optional_parameters"]
                made = function(snake(api["tool_name"], api["api_name"]), api["api_description"],
                                {p["name"]: {"type": kind(p["type"]), "description": p["description"]} for p in both},
                                [p["name"] for p in api["required_parameters"]])
                functions.append(made)
                if (api["tool_name"], api["api_name"]) in wanted:
                    calls.append({"name": made["name"],
                                  "arguments": {p["name"]: p["default"] for p in api["required_parameters"]}})
            yield row["query"], functions, calls


def livemcp(root):
    path = root / "apis/livemcpbench/tools/LiveMCPTool/tools.json"
    if not path.exists():
        return
    docs = {}
    for server in load(path):
        for part in server["tools"].values():
            for tool in part["tools"]:
                docs[tool["name"]] = unwrap([{**tool, "parameters": tool.get("inputSchema")}])[0]
    for row in load(root / "apis/livemcpbench/annotated_data/all_annotations.json"):
        names = re.findall(r"\d+\.\s*([\w-]+)", row["Annotator Metadata"]["Tools"])
        used = [docs[n] for n in dict.fromkeys(names) if n in docs]
        yield row["Question"], used, []
    for doc in docs.values():
        yield "", [doc], []


READERS = {f.__name__: f for f in (glaive, fireworks, toolalpaca, raven, apibank, nestful, restgpt, sealtools,
                                   toolbench, livemcp)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    seen = set()
    with open(args.out, "w", encoding="utf-8") as out:
        for source, reader in READERS.items():
            rows = queries = docs = 0
            for query, functions, calls in reader(args.data):
                query = " ".join(query.split())
                key = (query.lower(), "" if query else json.dumps(functions))
                if key in seen or (query and len(query.split()) < 3 and query.isascii()) or not (query or functions):
                    continue
                seen.add(key)
                names = {f["name"] for f in functions}
                calls = [c for c in calls if c["name"] in names and isinstance(c["arguments"], dict)]
                row = {"source": source, "query": query, "functions": functions, "calls": calls}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                rows, queries, docs = rows + 1, queries + bool(query), docs + len(functions)
            print(f"{source:12} lines {rows:6} queries {queries:6} functions {docs:6}")


if __name__ == "__main__":
    main()
