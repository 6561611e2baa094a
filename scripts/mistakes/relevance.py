"""Requests that clearly have nothing to do with the single function, and requests to tools that accept anything.

Half of each kind have a recorded answer and half have none, so that the text alone is judged too.
"""

from mistakes.planted import Planted
from sample.domain import call, function, may, need

IRRELEVANT, ANYTHING = "irrelevant-plain", "tools-for-anything"

# (an only function, queries about something else)
NARROW = (
    (function("book_sleeper", "Reserves a berth in the sleeping car of a night train.",
              train=need("string", "Number of the night train."), night=need("string", "Night of departure as YYYY-MM-DD.")),
     ("Explain the offside rule of football to a child", "How do I get red wine out of a woollen carpet?")),
    (function("inspect_chimney", "Puts an address on the round of the chimney sweep.",
              address=need("string", "Street and number."), week=need("integer", "Week of the year.")),
     ("Write a haiku about a snail in the rain", "Which chemical element has the symbol W?")),
    (function("convert_knots", "Converts a speed from knots into kilometres an hour.", knots=need("float", "Speed in knots.")),
     ("Suggest three names for a hamster", "Summarise the plot of Hamlet in two sentences")),
    (function("grade_eggs", "Sorts a delivery of eggs into the grades of the dairy.", crates=need("integer", "Crates delivered.")),
     ("What is the capital of Mongolia?", "Prove that the square root of two is irrational")),
    (function("rent_accordion", "Rents out an accordion of the music school.",
              pupil=need("string", "Name of the pupil."), months=need("integer", "For how many months.")),
     ("Calculate the interest on 2000 euros at four percent", "Who won the second battle of El Alamein?")),
    (function("plough_street", "Sends a snow plough into a street.", street=need("string", "Name of the street.")),
     ("Translate 'good luck' into Hungarian", "Recommend a crime novel for a long flight")),
)

# (a tool that takes anything, [(query, arguments)])
WIDE = (
    (function("web_search", "Searches the web and returns the best pages.", query=need("string", "What is searched for.")),
     (("Who invented the zip fastener?", {"query": "inventor of the zip fastener"}),
      ("Latest results of the Norwegian curling league", {"query": "Norwegian curling league results"}))),
    (function("run_command", "Runs a command in the shell of the user's computer and returns what it prints.",
              command=need("string", "The command line."), timeout=may("integer", "Seconds after which it is stopped.", 60)),
     (("How much space is left on my disk?", {"command": "df -h"}),
      ("Delete all log files in the folder build", {"command": "rm build/*.log"}))),
    (function("execute_python", "Executes Python code and returns its output.", code=need("string", "The code.")),
     (("What is the 40th Fibonacci number?", {"code": "a, b = 0, 1\nfor _ in range(40):\n    a, b = b, a + b\nprint(a)"}),
      ("Sort the words pear, fig and apple by their length", {"code": "print(sorted(['pear', 'fig', 'apple'], key=len))"}))),
    (function("reply_to_user", "Sends a chat reply to the user, on whatever topic.", message=need("string", "Text of the reply.")),
     (("Good morning, how are you today?", {"message": "Good morning! I am fine, thank you."}),
      ("Cheer me up, I lost my keys", {"message": "They are surely somewhere silly. Shall we go through your pockets?"}))),
    (function("http_get", "Fetches any address of the web and returns the body of the response.", url=need("string", "The address.")),
     (("Does the site of our rowing club still answer?", {"url": "https://gullrock-rowing.example"}),
      ("Get me the headlines of the morning paper", {"url": "https://morning-paper.example"}))),
    (function("ask_expert", "Puts a question of any kind to a person who knows, and returns what they say.",
              question=need("string", "The question.")),
     (("Why do cats purr?", {"question": "Why do cats purr?"}),
      ("Is my lease void if the landlord never signed it?", {"question": "Is a lease void without the landlord's signature?"}))),
)


def requests():
    for doc, texts in NARROW:
        for place, text in enumerate(texts):
            yield Planted(IRRELEVANT, doc["name"], text, [doc], response="none" if place % 2 else "declined", category="irrelevance")
    for doc, asks in WIDE:
        for place, (text, arguments) in enumerate(asks):
            # The model words the arguments itself, so no list holds every right call.
            yield Planted(ANYTHING, doc["name"], text, [doc], (call(doc["name"], **arguments),), response="none" if place % 2 else "right",
                          category="relevance")
