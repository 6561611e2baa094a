"""Near doc lists whose calls differ in one name, parameter, type, required parameter or choice.

A list with a different interface must not become the leader of the others, because their recorded calls would not fit it.
A single function of another name may be merged if its answer is renamed, but not one that does the opposite, or the same to
something else.
"""

import json

from mistakes.planted import Planted
from sample.domain import call, function, may, need

GROUP = "near-docs"

DRY_DOCK = (
    function("reserve_dry_dock", "Reserves the dry dock of the yard for a vessel, counted in whole days from the first morning on.",
             vessel=need("string", "Name of the vessel as it is painted on the bow."),
             days=need("integer", "How many whole days the vessel stays in the dry dock."),
             cradle=need("string", "Which cradle carries the vessel while the dock is empty.", enum=["keel", "flat", "twin"]),
             night_guard=may("boolean", "Whether a guard walks around the dock at night.", False)),
    function("order_hull_paint", "Orders paint for the hull from the stores of the yard, delivered to the edge of the dock.",
             colour=need("string", "Colour of the paint as the stores list it."),
             litres=need("float", "How much paint is wanted, in litres.")),
)
SLIPWAY = (
    function("haul_out_boat", "Hauls a boat out of the water on the slipway behind the boat house and puts it on trestles for the winter.",
             owner=need("string", "Surname of the member who owns the boat."),
             length=need("float", "Length of the boat over all, in metres."),
             cover=may("string", "What the boat is covered with until spring.", "tarpaulin", enum=["tarpaulin", "shed", "none"])),
)

# (case, docs, edit, [(text, calls)] under the docs as they are, [(text, calls)] under the edited ones)
DIFFERENT = (
    ("name of one of several", DRY_DOCK, ("reserve_dry_dock", "book_dry_dock"),
     [("Dry dock for the Havsula, 6 days on the keel cradle", call("reserve_dry_dock", vessel="Havsula", days=6, cradle="keel"))],
     [("The Nordkyn needs the dry dock for 11 days, flat cradle", call("book_dry_dock", vessel="Nordkyn", days=11, cradle="flat")),
      ("Book the Terna into dry dock for 3 days, twin cradle, guard at night",
       call("book_dry_dock", vessel="Terna", days=3, cradle="twin", night_guard=True))]),
    ("parameter renamed", DRY_DOCK, ('"litres"', '"volume"'),
     [("Order 40.5 litres of red hull paint", call("order_hull_paint", colour="red", litres=40.5))],
     [("We want 18.5 litres of white paint for the hull", call("order_hull_paint", colour="white", volume=18.5)),
      ("Hull paint in green please, 7.25 litres", call("order_hull_paint", colour="green", volume=7.25))]),
    ("required differs", DRY_DOCK, ('"required": ["vessel", "days", "cradle"]', '"required": ["vessel", "days"]'),
     [("The Lomvi gets the dry dock for 9 days with the twin cradle", call("reserve_dry_dock", vessel="Lomvi", days=9, cradle="twin"))],
     [("Reserve the dry dock 14 days for the Fjordgull", call("reserve_dry_dock", vessel="Fjordgull", days=14))]),
    ("choice differs", DRY_DOCK, ('"twin"', '"bilge"'),
     [("Put the Skarv on the twin cradle in dry dock for 4 days", call("reserve_dry_dock", vessel="Skarv", days=4, cradle="twin"))],
     [("Dry dock 8 days for the Alken, bilge cradle", call("reserve_dry_dock", vessel="Alken", days=8, cradle="bilge"))]),
    ("type differs", DRY_DOCK, ('"days": {"type": "integer"', '"days": {"type": "string"'),
     [("Keel cradle and 5 days of dry dock for the Teist", call("reserve_dry_dock", vessel="Teist", days=5, cradle="keel"))],
     [("Dry dock for the Krykkje from Monday to Thursday, keel cradle",
       call("reserve_dry_dock", vessel="Krykkje", days="Monday to Thursday", cradle="keel"))]),
    ("parameter of an only function", SLIPWAY, ('"owner"', '"member"'),
     [("Haul out the boat of Solvang, 7.4 metres, into the shed", call("haul_out_boat", owner="Solvang", length=7.4, cover="shed"))],
     [("Brekke wants her boat of 9.1 metres hauled out", call("haul_out_boat", member="Brekke", length=9.1)),
      ("Get Ystad's 5.8 metre boat out of the water, cover none", call("haul_out_boat", member="Ystad", length=5.8, cover="none"))]),
)

# (case, docs, edit, [(text, calls)] under either): an only function of another name.
RENAMED = (
    ("only function renamed", SLIPWAY, ("haul_out_boat", "lift_out_boat"),
     [("Take out the boat of Tangen for winter, 6.6 metres", call("haul_out_boat", owner="Tangen", length=6.6))],
     [("Lift out the 8.2 metre boat that Ruud owns", call("lift_out_boat", owner="Ruud", length=8.2)),
      ("Haugland's boat has 10.3 metres and goes into the shed", call("lift_out_boat", owner="Haugland", length=10.3, cover="shed"))]),
    ("only function with a dot", SLIPWAY, ("haul_out_boat", "slipway.haul_out"),
     [("Winter place for Dahle's boat, 4.9 metres, tarpaulin over it", call("haul_out_boat", owner="Dahle", length=4.9, cover="tarpaulin"))],
     [("The boat of Nygaard measures 12.7 metres, haul it out", call("slipway.haul_out", owner="Nygaard", length=12.7))]),
)


def flag(name, does):
    return (function(name, f"{does} the flag of the harbour office on one of its masts, as the harbour master orders.",
                     mast=need("string", "Which mast the order is for."),
                     at=need("string", "The time of day, as on a ship's clock.")),)


def board(name, lists):
    return (function(name, f"Lists {lists} of the day on the board beside the harbour office.",
                     quay=need("string", "Which quay the list is for.")),)


# (case, docs, other docs, [(text, calls)] under each)
OPPOSITE = (
    ("opposite of an only function", flag("raise_flag", "Raises"), flag("lower_flag", "Lowers"),
     [("Flag up on the fore mast at 08:00", call("raise_flag", mast="fore", at="08:00")),
      ("Raise it on the main mast at 09:30", call("raise_flag", mast="main", at="09:30"))],
     [("Flag down on the aft mast at 18:15", call("lower_flag", mast="aft", at="18:15")),
      ("Take it down from the side mast at 21:00", call("lower_flag", mast="side", at="21:00"))]),
    ("what an only function is about", board("list_arrivals", "the arrivals"), board("list_notices", "the notices"),
     [("What arrives at the coal quay today?", call("list_arrivals", quay="coal"))],
     [("Read me the notices for the timber quay", call("list_notices", quay="timber"))]),
)


def requests():
    for case, docs, other, plain, others in OPPOSITE:
        for side, asks in ((docs, plain), (other, others)):
            for text, right in asks:
                yield Planted(GROUP, case, text, list(side), (right,), family=docs[0]["name"], asks=text, renamed=False,
                              category="simple")
    for cases, renamed in ((DIFFERENT, False), (RENAMED, True)):
        for case, docs, edit, plain, edited in cases:
            sides = ((list(docs), plain), (edit_of(docs, edit), edited))
            for list_of_docs, asks in sides:
                for text, right in asks:
                    family = "slipway" if docs is SLIPWAY else "dry-dock"
                    yield Planted(GROUP, case, text, list_of_docs, (right,), family=family, asks=text, renamed=renamed,
                                  category="simple" if len(docs) == 1 else "multiple")


def edit_of(docs, edit):
    before = json.dumps(list(docs), ensure_ascii=False)
    assert edit[0] in before, f"{edit[0]!r} is not in the docs"
    return json.loads(before.replace(*edit))
