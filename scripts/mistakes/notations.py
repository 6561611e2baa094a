"""Answers in the notations of APIs and agent libraries, and errors of servers where an answer should be.

Such a text is no prose. A call that reads surely is the answer; any other call is held; an error is no evidence. None of
them may make a request irrelevant that a function fits.
"""

import json

from mistakes.planted import Planted
from sample.domain import call, function, need

GROUP = "notations"

PIANO = [
    function("book_piano_tuning", "Books a piano tuner for a hall on a day.",
             hall=need("string", "Hall in which the piano is."), day=need("string", "Day as YYYY-MM-DD.")),
]


def openai(name, arguments):
    return [{"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]


def tagged(name, arguments):
    return f"I book it.\n<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def react(name, arguments):
    return f"Thought: The piano needs a tuner.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


# (case, query, arguments, how the call is written)
READ = (
    ("tool_calls", "Book the piano tuner for Grieghallen on 2024-06-11", ("Grieghallen", "2024-06-11"), openai),
    ("tool_calls as text", "Troldsalen needs its piano tuned on 2024-07-02, book it", ("Troldsalen", "2024-07-02"), lambda name, arguments: json.dumps(openai(name, arguments))),
    ("tool and args", "Have the piano in Logen tuned on 2024-08-19", ("Logen", "2024-08-19"), lambda name, arguments: {"tool": name, "args": arguments}),
    ("function and parameters", "A tuner for the piano of Ole Bull Scene, please, on 2024-09-03", ("Ole Bull Scene", "2024-09-03"), lambda name, arguments: {"function": name, "parameters": arguments}),
    ("tool_name and tool_input", "On 2024-10-21 the tuner should come to the piano in Festsalen", ("Festsalen", "2024-10-21"), lambda name, arguments: {"tool_name": name, "tool_input": arguments}),
    ("action", "Can a piano tuner come to Teglverket on 2024-11-05?", ("Teglverket", "2024-11-05"), react),
    ("ground truth", "Piano tuning in Kulturhuset for 2024-12-01, book that", ("Kulturhuset", "2024-12-01"), lambda name, arguments: [{name: {key: [value] for key, value in arguments.items()}}]),
    ("tags after prose", "Get someone to tune the piano at Bryggen Scene on 2024-05-30", ("Bryggen Scene", "2024-05-30"), tagged),
)
# (case, query, the logged text, what it is)
NOT_READ = (
    ("other keys", "The keys sound awful at Nordahl Rolfsen, get somebody", {"do": "book_piano_tuning", "with": {"hall": "Nordahl Rolfsen"}}, "unreadable"),
    ("action without object", "Who can make the black one sing again at Lille Ole?", "Action: book_piano_tuning\nAction Input: Lille Ole", "unreadable"),
    ("function tag", "Half of the strings are off at Peer Gynt Salen, please send the man with the fork", '<function=book_piano_tuning>{"hall": "Peer Gynt Salen"}</function>', "unreadable"),
    ("error of a gateway", "Our Steinway sounds terrible since the winter, fix that", "Error: 503 upstream timeout", "failed"),
    ("error page", "Middle C is flat again, we have a concert on Friday", "Internal Server Error", "failed"),
)


def requests():
    for case, query, (hall, day), write in READ:
        right = call("book_piano_tuning", hall=hall, day=day)
        yield Planted(GROUP, case, query, PIANO, (right,), family=f"notation {case}", asks=query, written=write(*right))
    for case, query, written, kind in NOT_READ:
        yield Planted(GROUP, case, query, PIANO, (call("book_piano_tuning", hall="x", day="2024-01-01"),), family=f"notation {case}", asks=query,
                      response=kind, written=written)
