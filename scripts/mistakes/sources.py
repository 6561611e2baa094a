"""Docs as Python modules, and docs whose marks and texts define what is optional.

What reading and fixing must find is given as facts: the functions by name, and of each its parameters with `required`,
`type`, `default`, `enum` and `says`, a text that its description must hold. A function that is not named must not be there.
"""

from mistakes.planted import Planted
from sample.domain import call, need

PYTHON, OPTIONAL = "python-docs", "optional-docs"

TIDE_STATION = '''"""Helpers of the tide station."""

import math
from datetime import date

MAX_READINGS = 24
DEFAULT_GAUGE = "inner"

print("tide station loaded")


def read_gauge(day: str, gauge: str = DEFAULT_GAUGE, readings: int = MAX_READINGS) -> list:
    """Reads the water level of a tide gauge on a day.

    Args:
        day: Day of the readings as YYYY-MM-DD.
        gauge: Which gauge is read.
        readings: Most readings that are returned.
    """
    return _load(day, gauge)[:readings]


def _load(day, gauge):
    """Loads the raw readings."""
    return []
'''
SIGNAL_MAST = '''"""Flags of the signal station."""

from dataclasses import dataclass
from enum import Enum
import functools


class Flag(Enum):
    STORM = "storm"
    CALM = "calm"


@dataclass
class Mast:
    """A mast of the signal station."""

    name: str
    height: float = 12.5


def logged(work):
    """Notes each use in the log book."""
    @functools.wraps(work)
    def inner(*args, **kwargs):
        return work(*args, **kwargs)
    return inner


@tool
@logged
def hoist_flag(flag: Flag, mast: Mast, minutes: int = 30):
    """Hoists a signal flag on a mast.

    Args:
        flag: Flag to hoist.
        mast: Mast that carries it.
        minutes: How long the flag stays up.
    """
'''
HARBOUR_LIGHTS = '''"""Lights of the harbour mouth."""

COLOURS = ("red", "green")


def switch_light(colour: str, on: bool = True):
    """Switches a light of the harbour mouth.

    Args:
        colour: Colour of the light.
        on: Whether it burns.
    """


{broken}
    """Dims a light of the harbour mouth."""
    return percent


def blink_light(colour: str, times: int):
    """Lets a light of the harbour mouth blink.

    Args:
        colour: Colour of the light.
        times: How often it blinks.
    """
'''
STAMP_OFFICE = '''def stamp_papers(ship: str, *args, copies: int = 1, **kwargs):
    """Stamps the papers of a ship.

    Args:
        ship: Name of the ship.
        copies: How many copies get a stamp.
    """
    return [ship, *args]
'''
QUAY_CRANE = '''import asyncio
import os

if os.name == "posix":
    TIMEOUT = 5

RETRIES: int = 3


async def lift_load(tonnes: float, quay: str, retries: int = RETRIES):
    """Lifts a load with the quay crane.

    :param tonnes: Weight of the load in tonnes.
    :param quay: Letter of the quay.
    :param retries: How often a failed lift is tried again.
    """
    await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(lift_load(2.5, "B"))
'''


def known(required, **more):
    return {"required": required, **more}


MODULES = (
    ("docstring, imports, constants, helper", TIDE_STATION, "Water level at the outer gauge on 2024-05-17, 12 readings at most",
     call("read_gauge", day="2024-05-17", gauge="outer", readings=12),
     {"read_gauge": {"day": known(True, type="string", says="Day of the readings"), "gauge": known(False, default="inner"),
                     "readings": known(False, type="integer", default=24)}}),
    ("decorator, Enum, dataclass", SIGNAL_MAST, "Hoist the storm flag on the 12.5 metre mast Vardø for 45 minutes",
     call("hoist_flag", flag="storm", mast={"name": "Vardø"}, minutes=45),
     {"hoist_flag": {"flag": known(True, enum=["storm", "calm"]), "mast": known(True, type="dict"),
                     "minutes": known(False, type="integer", default=30)}}),
    ("*args and **kwargs", STAMP_OFFICE, "Stamp the papers of the Sjøblomst in 3 copies", call("stamp_papers", ship="Sjøblomst", copies=3),
     {"stamp_papers": {"ship": known(True, type="string"), "copies": known(False, type="integer", default=1)}}),
    ("async, blocks, annotated constant", QUAY_CRANE, "Lift 4.5 tonnes at quay C with the crane, 6 retries",
     call("lift_load", tonnes=4.5, quay="C", retries=6),
     {"lift_load": {"tonnes": known(True, type="float"), "quay": known(True, says="Letter of the quay"),
                    "retries": known(False, default=3)}}),
)

# Each is broken, and what stands before and behind it is not.
BROKEN = (
    ("a parameter without a colon", "def dim_light(colour: str, percent int):"),
    ("a name that is none", "def 2nd_light(colour: str, percent: int):"),
    ("brackets that stay open", "def dim_light(colour: str, percent: int"),
)
AROUND_BROKEN = {"switch_light": {"colour": known(True), "on": known(False, default=True)},
                 "blink_light": {"colour": known(True), "times": known(True, says="How often")}}


def raw(name, description, properties, required=None):
    """Returns a doc outside the BFCL schema, with `required` only if it is given."""
    parameters = {"type": "object", "properties": properties}
    return [{"name": name, "description": description, "parameters": parameters | ({} if required is None else {"required": required})}]


# (case, docs, query, call, facts)
MARKS = (
    ("Optional. at the start, in the list", raw("book_sauna", "Books the sauna of the bathing house.", {
        "evening": need("string", "Evening of the visit as YYYY-MM-DD."),
        "guests": need("integer", "Optional. How many guests come along.")}, ["evening", "guests"]),
     "Book the bathing house sauna on 2024-11-08", call("book_sauna", evening="2024-11-08"),
     {"book_sauna": {"evening": known(True), "guests": known(False)}}),
    ("(optional) at the end, in the list", raw("rent_locker", "Rents out a locker of the bathing house.", {
        "locker": need("integer", "Number of the locker."),
        "padlock": need("string", "Kind of padlock (optional)")}, ["locker", "padlock"]),
     "I want to rent locker 52", call("rent_locker", locker=52),
     {"rent_locker": {"locker": known(True), "padlock": known(False)}}),
    ("optional as an adjective", raw("sew_flag", "Sews a flag for a club.", {
        "club": need("string", "Club that the flag is for."),
        "motto": need("string", "The optional second line under the crest.")}, ["club", "motto"]),
     "Sew a flag for the Rorbu club with the line Fair Winds", call("sew_flag", club="Rorbu", motto="Fair Winds"),
     {"sew_flag": {"club": known(True), "motto": known(True)}}),
    ("(default: 10)", raw("search_wrecks", "Searches the register of wrecks.", {
        "area": need("string", "Sea area that is searched."),
        "limit": need("integer", "Most wrecks listed (default: 10)")}, ["area"]),
     "Search the wreck register for Skagerrak", call("search_wrecks", area="Skagerrak"),
     {"search_wrecks": {"area": known(True), "limit": known(False, default=10, says="Most wrecks listed")}}),
    ("Default: text", raw("print_chart", "Prints a chart of the leads.", {
        "sheet": need("string", "Sheet of the chart."),
        "paper": need("string", "Size of the paper. Default: 'A3'.")}, ["sheet"]),
     "Print chart sheet 41 North", call("print_chart", sheet="41 North"),
     {"print_chart": {"sheet": known(True), "paper": known(False, default="A3")}}),
    ("optional: true and false", raw("tune_organ", "Has a rank of the organ tuned.", {
        "rank": {"type": "string", "description": "Rank of pipes.", "optional": False},
        "hertz": {"type": "number", "description": "Pitch of the A.", "optional": True}}),
     "Tune the Trumpet rank of the organ", call("tune_organ", rank="Trumpet"),
     {"tune_organ": {"rank": known(True), "hertz": known(False, type="float")}}),
    ("optional: true beside unmarked", raw("wind_clock", "Winds up the clock of a tower.", {
        "tower": {"type": "string", "description": "Which tower."},
        "turns": {"type": "integer", "description": "Turns of the crank."},
        "oil": {"type": "boolean", "description": "Whether the works are oiled too.", "optional": True}}),
     "Wind the clock of the south tower with 60 turns", call("wind_clock", tower="south tower", turns=60),
     {"wind_clock": {"tower": known(True), "turns": known(True), "oil": known(False, type="boolean")}}),
    ("exclusiveMinimum: true", raw("mix_mortar", "Mixes mortar for the harbour wall.", {
        "kilos": {"type": "number", "description": "Kilograms of mortar.", "minimum": 5, "exclusiveMinimum": True}}, ["kilos"]),
     "Mix 82.5 kilograms of mortar for the wall", call("mix_mortar", kilos=82.5),
     {"mix_mortar": {"kilos": known(True, type="float", says="xclusive minimum value: 5")}}),
    ("exclusiveMaximum: number", raw("sand_deck", "Sands the deck of a boat.", {
        "square_metres": {"type": "number", "description": "Area that is sanded.", "exclusiveMaximum": 90}}, ["square_metres"]),
     "Sand 37.5 square metres of the deck", call("sand_deck", square_metres=37.5),
     {"sand_deck": {"square_metres": known(True, type="float", says="xclusive maximum value: 90")}}),
    ("exclusiveMinimum: false", raw("salt_pier", "Strews salt on an icy pier.", {
        "bags": {"type": "integer", "description": "Bags of salt.", "minimum": 1, "exclusiveMinimum": False}}, ["bags"]),
     "Strew 8 bags of salt on the pier", call("salt_pier", bags=8),
     {"salt_pier": {"bags": known(True, type="integer", says=". Minimum value: 1")}}),
)


def requests():
    for case, module, text, right, facts in MODULES:
        yield Planted(PYTHON, case, text, module, (right,), facts=facts)
    for place, (case, broken) in enumerate(BROKEN, 3):
        yield Planted(PYTHON, f"broken: {case}", f"Let the green light of the harbour mouth blink {place} times",
                      HARBOUR_LIGHTS.replace("{broken}", broken), (call("blink_light", colour="green", times=place),),
                      facts=AROUND_BROKEN, fault="parse/")
    for case, docs, text, right, facts in MARKS:
        yield Planted(OPTIONAL, case, text, docs, (right,), facts=facts)
