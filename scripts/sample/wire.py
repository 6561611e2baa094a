"""The requests in the formats of the log's four files, with agent loops."""

import json
from datetime import datetime, timezone

from sample.mess import wrapped
from sample.request import key

MODELS = ("relay-large", "relay-small-2", "heron-1")
DECLINED = ("I'm sorry, none of my functions can help with that.", "I can't do that with the tools I have.",
            "Could you tell me a little more about what you need?")
RESULTS = {"confirmed": ({"status": "ok"}, {"ok": True, "reference": "K-4471"}, {"result": "done", "took_ms": 41}),
           "refuted": ({"error": "unknown function or argument"}, {"status": "error", "message": "invalid request"}),
           "corrected": ({"status": "ok"},)}
FINAL = {"confirmed": "All done.", "refuted": "That did not work, sorry.", "corrected": "I have taken care of it."}


# --- pasted text --------------------------------------------------------------------------------------------


def hosted_row(request):
    messages = request.messages()
    prompt = request.text if len(messages) == 1 else repr(messages)
    return {"id": request.id, "ts": request.time, "user": request.user, "model": "relay-functions-1",
            "prompt": prompt, "function": request.pasted, "response": call_syntax(request)}


def pairs_row(request):
    messages = request.messages()
    query = request.text if len(messages) == 1 else json.dumps(messages, ensure_ascii=False)
    time = datetime.fromtimestamp(request.time, timezone.utc).isoformat().replace("+00:00", "Z")
    return [request.id, time, query, request.pasted, call_syntax(request) or ""]


def call_syntax(request):
    """`[f(a=1), g(b='x')]`, prose, or None."""
    if request.response == "none":
        return None
    if request.response == "declined":
        return DECLINED[request.time % len(DECLINED)]
    written = ", ".join(f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
                        for name, arguments in request.calls)
    return f"[{written}"[: len(written) // 2] if request.response == "cut" else f"[{written}]"


# --- chat completions ---------------------------------------------------------------------------------------


def openai_rows(request, number):
    """Returns (row, truth) of a request and of the following steps."""
    legacy = number % 6 == 1 and len(request.calls) < 2 and not request.ask.then
    body = openai_body(request, number, legacy)
    status = 500 if request.response == "none" and number % 2 else 200
    first = openai_message(request, request.calls, legacy)
    yield openai_row(request, request.id, body, first, status), request.truth()
    if request.loop is None:
        return
    for step, (grown, message, truth) in enumerate(openai_steps(request, body["messages"], first, legacy), 1):
        row_id = f"{request.id}-{step + 1}"
        before = request.id if step == 1 else f"{request.id}-{step}"
        yield (openai_row(request, row_id, {**body, "messages": grown}, message, 200, step),
               next_truth(request, row_id, before, grown, truth))


def openai_body(request, number, legacy):
    messages = request.messages()
    if number % 5 == 2:
        messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}]
    offered = {"functions": request.sent} if legacy else {"tools": wrapped(request.sent)}
    body = {"model": MODELS[number % 2], "messages": messages, **offered}
    if request.loop is None and request.response == "right" and not legacy and number % 3 == 0:
        named = {"type": "function", "function": {"name": request.calls[0][0]}}
        body["tool_choice"] = named if number % 2 and len(request.calls) == 1 else "required"
    elif number % 2:
        body["tool_choice" if not legacy else "function_call"] = "auto"
    if len(request.calls) > 1:
        body["parallel_tool_calls"] = True
    return body


def openai_message(request, calls, legacy, step=0):
    message = {"role": "assistant", "content": None}
    if request.response in ("declined", "none") and step == 0:
        return {**message, "content": DECLINED[request.time % len(DECLINED)]}
    written = [{"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)} for name, arguments in calls]
    if request.response == "cut":
        written[-1]["arguments"] = written[-1]["arguments"][:-9]
    if legacy:
        return {**message, "function_call": written[0]}
    return {**message, "tool_calls": [{"id": f"call_{request.id}_{step}{place}", "type": "function", "function": function}
                                      for place, function in enumerate(written)]}


def openai_steps(request, messages, message, legacy):
    """Returns (messages, response, truth kind) of each request after the first."""
    grown = [*messages, message, *openai_results(request, message, legacy)]
    if request.ask.then:
        message = openai_message(request, request.ask.then, legacy, step=1)
        yield grown, message, "continuation"
        grown = [*grown, message, *openai_results(request, message, legacy)]
    final = {"role": "assistant", "content": FINAL[request.loop]}
    yield grown, final, "continuation"
    if request.loop == "corrected":
        correction = {"role": "user", "content": f"No, that is not what I asked for. {request.text}"}
        yield [*grown, final, correction], openai_message(request, request.ask.calls, legacy, step=2), "correction"


def openai_results(request, message, legacy):
    if legacy:
        return [{"role": "function", "name": message["function_call"]["name"], "content": json.dumps(result(request, 0))}]
    return [{"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result(request, place))}
            for place, call in enumerate(message["tool_calls"])]


def openai_row(request, row_id, body, message, status, step=0):
    reason = "stop"
    if "tool_calls" in message or "function_call" in message:
        reason = "length" if request.response == "cut" else "tool_calls" if "tool_calls" in message else "function_call"
    time = request.time + 3 * step
    response = {"id": f"chatcmpl-{row_id}", "object": "chat.completion", "created": time, "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    if step == 0 and request.response == "none":
        response = {"error": {"type": "server_error", "message": "The server had an error."}} if status == 500 else None
    return {"id": row_id, "ts": time, "user": request.user, "session": f"s-{request.id}", "status": status,
            "request": body, "response": response}


# --- messages -----------------------------------------------------------------------------------------------


def anthropic_rows(request, number):
    """Returns (row, truth) of a request and, in a loop, of the following step."""
    system = [message["content"] for message in request.messages() if message["role"] == "system"]
    messages = [message for message in request.messages() if message["role"] != "system"]
    if number % 2:
        messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}]
    tools = [{**{name: value for name, value in doc.items() if name != "parameters"}, "input_schema": doc["parameters"]}
             for doc in request.sent]
    body = {"model": MODELS[2], "max_tokens": 1024, "messages": messages, "tools": tools}
    if system:
        body["system"] = system[0] if number % 2 else [{"type": "text", "text": system[0]}]
    content = anthropic_content(request)
    reason = "max_tokens" if request.response == "cut" else "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
    yield anthropic_row(request, request.id, body, content, reason), request.truth()
    if request.loop is None:
        return
    grown = [*messages, {"role": "assistant", "content": content}, {"role": "user", "content": anthropic_results(request, content)}]
    final = [{"type": "text", "text": FINAL[request.loop]}]
    row_id = f"{request.id}-2"
    yield (anthropic_row(request, row_id, {**body, "messages": grown}, final, "end_turn", step=1),
           next_truth(request, row_id, request.id, grown, "continuation"))


def anthropic_content(request):
    if request.response in ("declined", "none"):
        return [{"type": "text", "text": DECLINED[request.time % len(DECLINED)]}]
    if request.response == "cut":
        return [{"type": "text", "text": "Let me see. I will"}]
    return [{"type": "text", "text": "I will do that."},
            *({"type": "tool_use", "id": f"toolu_{request.id}_{place}", "name": name, "input": arguments}
              for place, (name, arguments) in enumerate(request.calls))]


def anthropic_results(request, content):
    uses = [block for block in content if block["type"] == "tool_use"]
    failed = {"is_error": True} if request.loop == "refuted" else {}
    return [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(result(request, place)), **failed}
            for place, use in enumerate(uses)]


def anthropic_row(request, row_id, body, content, reason, step=0):
    response = {"id": f"msg_{row_id}", "type": "message", "role": "assistant", "model": body["model"], "content": content,
                "stop_reason": reason, "usage": {"input_tokens": 300 + request.time % 97, "output_tokens": 20 + request.time % 31}}
    return {"id": row_id, "ts": request.time + 3 * step, "user": request.user, "request": body,
            "response": None if request.response == "none" and step == 0 else response}


# --- both ---------------------------------------------------------------------------------------------------


def result(request, place):
    results = RESULTS[request.loop]
    return results[(request.time + place) % len(results)]


def next_truth(request, row_id, before, messages, kind):
    """Returns the truth of a later request: a continuation belongs to the request it continues, a correction is separate."""
    correction = kind == "correction"
    return {**request.truth(), "id": row_id, "query": key(messages), "query_kind": kind, "outcome": False,
            "response": "right" if correction else "none", "continues": None if correction else before}
