"""Requests that show single stages at work: personal values, public docs, poor docs, poor queries, free text, languages.

They come after the others in the log, so that those keep their ids, lines and faults.
"""

from itertools import cycle

from sample import home, noise, town
from sample.domain import Domain, ask, call, function, may, need
from sample.mess import SPELLINGS, spell, spoil
from sample.request import Request, key

SOURCES = ("hosted", "pairs", "hosted", "openai", "hosted", "anthropic", "pairs")
PUBLIC_SET = "callsieve-sample"


def extra_requests(others):
    """Returns the requests without id, time and user; a list that the others have keeps its fault."""
    fault_of = {key(request.docs): request.fault for request in others if request.sent is not None}
    requests = [*personal(), *public(), *poor_docs(), *python_docs(), *foreign_asks(), *poor_queries(), *open_text(), *languages()]
    sources, spellings = cycle(SOURCES), cycle(SPELLINGS)
    for request in requests:
        if request.response == "right":
            request.calls = list(request.ask.calls)
        request.source = request.source or ("openai" if request.loop else next(sources))
        if request.pasted is None:
            request.fault = fault_of.get(key(request.docs), "none")
            request.sent, request.bfcl, request.lossless = spoil(request.docs, request.fault)
            request.spelling = next(spelling for spelling in spellings if spell(request.sent, spelling) is not None)
            request.pasted = spell(request.sent, request.spelling)
        if request.doc_kind in ("public", "low-quality") or any(value in request.pasted for value in request.pii):
            request.bfcl, request.lossless = None, False
    return requests


def made(domain, response="right", docs=None, **extra):
    """Returns a request for each ask of the domain, under its first list."""
    by_name = {doc["name"]: doc for doc in domain.functions}
    for asked in domain.asks:
        yield Request(domain, asked, docs or [by_name[name] for name in domain.lists[0]], response=response, **extra)


def existing(name):
    return next(domain for domain in (*home.DOMAINS, *town.DOMAINS) if domain.name == name)


def under(name, *asks, **extra):
    """Returns requests under the first list of a service that is already in the log."""
    domain = existing(name)
    docs = [doc for doc in domain.functions if doc["name"] in domain.lists[0]]
    for asked in asks:
        yield Request(domain, asked, docs, **extra)


# --- personal values ----------------------------------------------------------------------------------------


TIDE_DESK = Domain("tide_desk", (
    function("mail_tide_table", "Mails the tide table of a harbour to a subscriber.",
             address=need("string", "E-mail address of the subscriber."), harbour=need("string", "Harbour the table is for."),
             month=may("integer", "Month of the table; left out, the present one.", 0)),
    function("call_back", "Has a tide keeper ring a subscriber.",
             telephone=need("string", "Number to ring, with the country code."), topic=need("string", "What it is about.")),
), (("mail_tide_table", "call_back"),), (
    ask(f"Mail the tide table of Rognan to {noise.EMAIL}", call("mail_tide_table", address=noise.EMAIL, harbour="Rognan")),
    ask(f"A tide keeper should ring {noise.PHONE} about spring tides", call("call_back", telephone=noise.PHONE, topic="spring tides")),
    ask(f"July's tides at Kabelvåg for {noise.OTHER_EMAIL}, copy them there",
        call("mail_tide_table", address=noise.OTHER_EMAIL, harbour="Kabelvåg", month=7)),
))

# The address of the desk stands in the doc itself.
PERMIT_DESK = Domain("permit_desk", (
    function("renew_permit", f"Renews a stall permit of the market square; questions go to {noise.DESK_EMAIL}.",
             permit=need("string", "Number of the permit."), months=need("integer", "For how many months.")),
), (("renew_permit",),), (
    ask("Renew stall permit MS-204 for 6 months", call("renew_permit", permit="MS-204", months=6)),
    ask("My permit MS-311 should run on for another 12 months", call("renew_permit", permit="MS-311", months=12)),
))


# A value that only its question shows: the call has it under a name that says nothing.
HARBOUR_OFFICE = Domain("harbour_office", (
    function("leave_word", "Leaves a short message for a member of the crew.",
             to=need("string", "Who it is for."), words=need("string", "The message.")),
    function("file_toll_form", "Files the yearly toll form of a boat owner.",
             filer=need("string", "Who files it."), year=may("integer", "Year of the form.", 2024)),
    function("open_locker", "Opens a locker on the quay.", code=need("string", "What opens it.")),
), (("leave_word", "file_toll_form", "open_locker"),), (
    ask(f"whatsapp {noise.NATIONAL} that the late ferry runs", call("leave_word", to=noise.NATIONAL_AS_CALLED, words="The late ferry runs.")),
    ask(f"My toll form, please: ssn {noise.SPACED_SSN}", call("file_toll_form", filer=noise.SPACED_SSN)),
    ask(f"Open the locker. The password is {noise.PASSWORD}", call("open_locker", code=noise.PASSWORD)),
))
IN_QUESTION_AND_CALL = ([noise.NATIONAL, noise.NATIONAL_AS_CALLED], [noise.SPACED_SSN], [noise.PASSWORD])


def personal():
    sources = iter(("hosted", "openai", "anthropic"))
    for request, values in zip(made(HARBOUR_OFFICE, response="right", source="openai"), IN_QUESTION_AND_CALL, strict=True):
        request.pii = values
        yield request
    for request in made(TIDE_DESK):
        request.pii = [value for value in noise.VALUES if value in request.text]
        request.source = next(sources)
        yield request
    yield from made(PERMIT_DESK, pii=[noise.DESK_EMAIL], source="hosted")
    for (name, asked), (sentence, value) in zip(BESIDE_PERSONAL, noise.MORE_PERSONAL, strict=True):
        yield from under(name, ask(f"{asked.text} {sentence}", *asked.calls), response="right", pii=[value])


BESIDE_PERSONAL = (
    ("pool", ask("Reserve lane 5 at 06:30.", call("reserve_lane", lane=5, start="06:30"))),
    ("money_desk", ask("Convert 310.5 NOK to DKK.", call("convert_money", amount=310.5, source="NOK", target="DKK"))),
    ("ski_resort", ask("Is the Havsdal lift running today?", call("lift_status", lift="Havsdal"))),
    ("observatory", ask("Phase of the moon on 2025-03-09?", call("moon_phase", night="2025-03-09"))),
)


# --- public sets --------------------------------------------------------------------------------------------


def bell(description, bell_text, ordered_text):
    return function("ring_harbour_bell", description, bell=need("string", bell_text),
                    times=need("integer", "How often the bell is struck, from 1 to 12."),
                    ordered_by=need("string", ordered_text))


PUBLIC_BELL = bell("Rings one of the bells of the harbour tower and writes the order into the log book of the tower.",
                   "Which bell of the tower: great, small or fog.", "Who gave the order, as it is to stand in the log book.")

# All of its functions are public: dropped.
BELL_TOWER = Domain("bell_tower", (PUBLIC_BELL,), (("ring_harbour_bell",),), (
    ask("Sound the fog bell 5 times, by order of the pilot", call("ring_harbour_bell", bell="fog", times=5, ordered_by="pilot")),
    ask("Small bell twice for the harbour master", call("ring_harbour_bell", bell="small", times=2, ordered_by="harbour master")),
    ask("Strike the great one 12 times; Captain Osei wants it",
        call("ring_harbour_bell", bell="great", times=12, ordered_by="Captain Osei")),
))

# One of its functions is public, three are not: held.
BELL_AND_MORE = Domain("bell_and_more", (
    PUBLIC_BELL,
    function("open_swing_bridge", "Opens the swing bridge so that masts can pass.",
             vessel=need("string", "Vessel that wants to pass."), clearance=need("float", "Height of its mast in metres.")),
    function("light_beacon", "Switches a beacon of the breakwater on or off.",
             beacon=need("string", "Colour of the beacon.", enum=["red", "green"]), lit=need("boolean", "Whether it burns.")),
    function("order_pilot", "Orders a pilot to come aboard at the outer buoy.",
             ship=need("string", "Ship to be guided."), hour=need("integer", "Hour of the day, 0 to 23.")),
), (("ring_harbour_bell", "open_swing_bridge", "light_beacon", "order_pilot"),), (
    ask("Open the bridge for the Havørn, mast 17.5 metres", call("open_swing_bridge", vessel="Havørn", clearance=17.5)),
    ask("Pilot for the Sigyn at 14 o'clock", call("order_pilot", ship="Sigyn", hour=14)),
))

# Name and parameters of a public function, described anew: held.
LAMP_ROUND = Domain("lamp_round", (
    function("list_pier_lamps", "Gives the warden's round: which lanterns burn along a jetty, and since when their wick is in use.",
             pier=need("string", "Jetty the warden walks along."),
             min_hours=may("integer", "Leaves out lanterns whose wick is newer than this.", 24)),
), (("list_pier_lamps",),), (
    ask("Lanterns on the coal jetty with more than 300 hours", call("list_pier_lamps", pier="coal", min_hours=300)),
))

# Queries of the public set, word for word and nearly, under docs of another kind: held.
PIER_STORES = Domain("pier_stores", (
    function("overdue_lights", "Reports lights that should be replaced, for the buyer of the stores.",
             place=need("string", "Where the lights hang."), burnt_over=need("integer", "Burning time from which a light is overdue.")),
    function("note_signal", "Puts a sound signal down for the watch on duty.",
             signal=need("string", "What is to sound."), count=need("integer", "How many times."), at=need("string", "When.")),
), (("overdue_lights", "note_signal"),), (
    ask("Which of the lamps on the northern pier have burnt for more than nine hundred hours?",
        call("overdue_lights", place="northern pier", burnt_over=900)),
    ask("Please ring the great bell of the harbour tower three times at noon and log who asked for it.",
        call("note_signal", signal="great bell", count=3, at="noon")),
))


def public():
    yield from made(BELL_TOWER, doc_kind="public", set=PUBLIC_SET)
    yield from made(BELL_AND_MORE)
    yield from made(LAMP_ROUND)
    yield from made(PIER_STORES)


# --- poor docs ----------------------------------------------------------------------------------------------


def bare(name, description, *parameters):
    return {"name": name, "description": description,
            "parameters": {"type": "dict", "required": list(parameters), "properties": {name: {"type": "string"} for name in parameters}}}


POOR_DOCS = (
    (bare("func1", "A function.", "x"), ask("Use it with the value 40", call("func1", x="40"))),
    (bare("book_stall", "TODO: add description", "stall", "day"),
     ask("Book stall 9 on the fish market for Friday", call("book_stall", stall="9", day="Friday"))),
    (bare("move_crane", "Moves a crane.", "crane", "quay", "load"),
     ask("Crane 2 to quay B with the timber", call("move_crane", crane="2", quay="B", load="timber"))),
)


def poor_docs():
    for doc, asked in POOR_DOCS:
        yield from made(Domain(doc["name"], (doc,), ((doc["name"],),), (asked,)), doc_kind="low-quality")


# Python source in the place of docs can be read.
PYTHON_DOCS = '''def weigh_catch(kilos: float, species: str):
    """Enters a landed catch into the book of the fish hall.

    Args:
        kilos: Weight of the catch in kilograms.
        species: What was caught.
    """
    book.append((species, kilos))
'''
FISH_HALL = Domain("fish_hall", (
    function("weigh_catch", "Enters a landed catch into the book of the fish hall.",
             kilos=need("float", "Weight of the catch in kilograms."), species=need("string", "What was caught.")),
), (("weigh_catch",),), (ask("Enter a catch of 84.5 kilograms of haddock", call("weigh_catch", kilos=84.5, species="haddock")),))


def python_docs():
    yield from made(FISH_HALL, pasted=PYTHON_DOCS, spelling="python-def", source="hosted")


# --- what no function fits ----------------------------------------------------------------------------------


# Some are as near to the docs as what fits, and cannot be decided.
FOREIGN_ASKS = (
    ("pool", "Who wrote the poem about the drowned sailor?"),
    ("heating", "Was ist die Hauptstadt von Portugal?"),
    ("tennis", "¿Quién pintó las Meninas?"),
    ("kitchen", "How long should the bell in the kitchen ring before it is too loud?"),
    ("heating", "Which room temperature do people find pleasant in the study?"),
    ("ski_resort", "Name of the lift that was built first?"),
)


def foreign_asks():
    for name, text in FOREIGN_ASKS:
        yield from under(name, ask(text), response="declined")


# What asks nothing sensible, and is no spam by the rules of `drop-spam`.
POOR_QUERIES = (("library", "[object Object]"), ("weather_station", "undefined"), ("museum", "{{user_query}}"),
                ("parcel", "lkjhgf sdkfjh"), ("vet_clinic", "The user did not provide a query."))


def poor_queries():
    for name, text in POOR_QUERIES:
        yield from under(name, ask(text), response="declined")


# --- free text ----------------------------------------------------------------------------------------------


LETTER_DESK = Domain("letter_desk", (
    function("send_letter", "Sends a letter of the town hall by post.",
             recipient=need("string", "Whom the letter goes to."), body=need("string", "Full text of the letter."),
             registered=may("boolean", "Whether it is sent registered.", False)),
    function("letter_state", "Tells where a letter is.", letter=need("string", "Number of the letter.")),
), (("send_letter", "letter_state"), ("send_letter",)), (
    ask("Send a letter to the Lindqvist family and apologise that their street was closed on Monday",
        call("send_letter", recipient="Lindqvist family", body="Dear neighbours, we sincerely regret any inconvenience caused "
             "when workers blocked your road without warning. Your patience means much to us.")),
    ask("Letter to the rowing club please: thank them kindly for cleaning the river bank",
        call("send_letter", recipient="rowing club", body="Dear members, what splendid effort! Thousands enjoy those tidy "
             "shores again because you gave up a free weekend.")),
    ask("Write to Mr Okonkwo by registered letter that his moped has to leave the square",
        call("send_letter", recipient="Mr Okonkwo", registered=True, body="Sir, kindly remove your vehicle within seven days; "
             "otherwise municipal staff shall tow it away.")),
))


def open_text():
    requests = list(made(LETTER_DESK, official="relevance"))
    requests[0].loop = "confirmed"
    yield from requests


# --- languages ----------------------------------------------------------------------------------------------


def languages():
    yield from under("kitchen", ask("Stelle den Küchenwecker auf 35 Minuten, Aufschrift Brot",
                                    call("start_timer", minutes=35, label="Brot")), response="right")
    yield from under("heating", ask("请把书房加热到22.5度", call("set_room", room="书房", celsius=22.5)), response="right")
    yield from under("ski_resort", ask("¿Funciona ahora el telesilla Fonnfjell?", call("lift_status", lift="Fonnfjell")),
                     response="right")
    yield from under("money_desk", ask("Wie viel sind 75.5 EUR in PLN?", call("convert_money", amount=75.5, source="EUR", target="PLN")),
                     response="right")
    yield from under("observatory", ask("2025年5月12日的月相是什么？", call("moon_phase", night="2025-05-12")), response="right")
    yield from under("ferry", ask("Salidas de la línea Lavik el 2024-09-14", call("ferry_timetable", line="Lavik", day="2024-09-14")),
                     response="right")
