"""Sources of answers: near-duplicates of which only one has a usable answer, and answers of people.

Of near-duplicates, one with a usable recorded call must be the leader, in any order of sending. A person's answer uses
the names of the docs as sent, which a fix may have changed; a faulty line causes only its own request to be held.
"""

from mistakes.planted import Planted
from sample.domain import call, function, may, need, parameters_of

LEADERS, HUMAN = "leaders", "human-answers"

BELL_ROPE = [
    function("order_bell_rope", "Orders a new bell rope from the rope maker.",
             tower=need("string", "Tower that the rope is for."), metres=need("integer", "Length of the rope in metres."),
             fibre=need("string", "What the rope is made of.", enum=["hemp", "sisal", "nylon"])),
]


def rope(tower, metres, fibre):
    return call("order_bell_rope", tower=tower, metres=metres, fibre=fibre)


UNUSABLE = {
    "no answer": ("none", None), "prose": ("declined", None), "cut off": ("cut", None),
    "unknown function": ("wrong", (call("order_rope", tower="x", metres=3, fibre="hemp"),)),
    "unknown parameter": ("wrong", (call("order_bell_rope", tower="x", length=3, fibre="hemp"),)),
    "required left out": ("wrong", (call("order_bell_rope", metres=3),)),
    "wrong type": ("wrong", (call("order_bell_rope", tower="x", metres="a few", fibre="hemp"),)),
    "not among the choices": ("wrong", (call("order_bell_rope", tower="x", metres=3, fibre="silk"),)),
}
# (what is wrong with the first answer, the first query, its copy, the right call)
FIRST_UNUSABLE = (
    ("no answer", "Order 18 metres of hemp bell rope for the church tower of Nesset", "Please order 18 metres of hemp bell rope for the church tower of Nesset",
     rope("church tower of Nesset", 18, "hemp")),
    ("prose", "The town hall tower needs a nylon bell rope of 24 metres, order one", "The town hall tower needs a nylon bell rope of 24 metres, please order one!",
     rope("town hall tower", 24, "nylon")),
    ("cut off", "Order a bell rope made of sisal with 31 metres for the castle tower", "Can you order a bell rope made of sisal with 31 metres for the castle tower",
     rope("castle tower", 31, "sisal")),
    ("unknown function", "Order a 12 metre bell rope of hemp for the school tower", "order a 12 metre bell rope of hemp for the school tower.",
     rope("school tower", 12, "hemp")),
    ("unknown parameter", "For the harbour tower order 27 metres of bell rope, nylon fibre", "For the harbour tower order 27 metres of bell rope, nylon fibre, thanks",
     rope("harbour tower", 27, "nylon")),
    ("required left out", "We need the rope maker to make 40 metres of hemp bell rope for the abbey tower",
     "Hello, we need the rope maker to make 40 metres of hemp bell rope for the abbey tower", rope("abbey tower", 40, "hemp")),
    ("wrong type", "Ask the rope maker for a sisal bell rope of 15 metres for the mill tower", "Could you ask the rope maker for a sisal bell rope of 15 metres for the mill tower?",
     rope("mill tower", 15, "sisal")),
    ("not among the choices", "Order 22 metres of sisal bell rope for the watch tower by the gate", "Please order 22 metres of sisal bell rope for the watch tower by the gate",
     rope("watch tower by the gate", 22, "sisal")),
)


def leaders():
    for case, first, copy, right in FIRST_UNUSABLE:
        response, logged = UNUSABLE[case]
        shared = {"docs": BELL_ROPE, "calls": (right,), "family": f"leader {case}", "asks": first}
        yield Planted(LEADERS, case, first, response=response, logged=logged, leader=True, **shared)
        yield Planted(LEADERS, f"{case}, copy", copy, **shared)
    yield from more_leaders()


def more_leaders():
    """Returns cases: a usable answer after two unusable ones, one by a person, and one to a single function of another name."""
    first, right = "Order 35 metres of nylon bell rope for the tower of the fire station", rope("tower of the fire station", 35, "nylon")
    shared = {"docs": BELL_ROPE, "calls": (right,), "family": "leader third", "asks": first}
    yield Planted(LEADERS, "third of three", first, response="none", leader=True, **shared)
    yield Planted(LEADERS, "third of three, second", f"Please {first[:1].lower()}{first[1:]}", response="cut", **shared)
    yield Planted(LEADERS, "third of three, copy", f"{first}, thanks!", **shared)
    first, right = "Have a hemp bell rope of 29 metres made for the customs tower", rope("customs tower", 29, "hemp")
    line = {"order_bell_rope": {"tower": ["customs tower"], "metres": [29], "fibre": ["hemp"]}}
    shared = {"docs": BELL_ROPE, "calls": (right,), "response": "none", "family": "leader human", "asks": first}
    yield Planted(LEADERS, "answered by a person", first, leader=True, **shared)
    yield Planted(LEADERS, "answered by a person, copy", f"Please {first[:1].lower()}{first[1:]}", human=[line], **shared)
    first, right = "Order 16 metres of sisal bell rope for the tower of the old mint", rope("tower of the old mint", 16, "sisal")
    shared = {"family": "leader renamed", "asks": first, "renamed": True}
    yield Planted(LEADERS, "other name", first, BELL_ROPE, (right,), response="none", leader=True, **shared)
    yield Planted(LEADERS, "other name, copy", f"Please {first[:1].lower()}{first[1:]}", [{**BELL_ROPE[0], "name": "buy_bell_rope"}],
                  (("buy_bell_rope", right[1]),), **shared)


SCHOOL_BOAT = [
    parameters_of("enrol_sailor", "Enrols a child in a class of the sailing school.", {
        "sailor": need("string", "Name of the child."),
        "class": need("string", "Class of boats that is sailed, such as Optimist."),
        "from": may("string", "Day of the first lesson as YYYY-MM-DD.", "2024-06-01")}),
]

# (case, query, the line's answer, the answer as it must come out; None where the line is at fault)
ANSWERS = (
    ("keyword as name", "Enrol Ingrid in the Optimist class", {"enrol_sailor": {"sailor": ["Ingrid"], "class": ["Optimist"], "from": ["", "2024-06-01"]}},
     call("enrol_sailor", sailor="Ingrid", **{"class": "Optimist"})),
    ("two keywords", "Jonas sails Laser from 2024-07-08 on, enrol him", {"enrol_sailor": {"sailor": ["Jonas"], "class": ["Laser"], "from": ["2024-07-08"]}},
     call("enrol_sailor", sailor="Jonas", **{"class": "Laser", "from": "2024-07-08"})),
    ("keyword, alternatives", "A place in the Europe class of the sailing school for Mathilde",
     {"enrol_sailor": {"sailor": ["Mathilde"], "class": ["Europe", "europe"], "from": ["", "2024-06-01"]}},
     call("enrol_sailor", sailor="Mathilde", **{"class": "Europe"})),
    ("name as fixed", "Put Henrik into the 29er class of the sailing school", {"enrol_sailor": {"sailor": ["Henrik"], "_class": ["29er"], "_from": ["", "2024-06-01"]}},
     call("enrol_sailor", sailor="Henrik", **{"class": "29er"})),
    ("faulty line, function", "Enrol Sunniva in the Topaz class", {"enrol_child": {"sailor": ["Sunniva"], "class": ["Topaz"]}}, None),
    ("faulty line, parameter", "Oskar wants into the Zoom8 class, enrol him", {"enrol_sailor": {"sailor": ["Oskar"], "boat": ["Zoom8"]}}, None),
)


def human():
    for case, query, line, right in ANSWERS:
        yield Planted(HUMAN, case, query, SCHOOL_BOAT, (right,) if right else (), response="none", human=[line])


def requests():
    yield from leaders()
    yield from human()
