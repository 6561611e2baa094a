"""Queries of nearly the same words that ask for something else, and copies with other courtesy and grammar.

Each line is a family under one doc list: the first query, its copies, and its variants. One value, unit, ending, name,
negation or direction makes a variant, whose right call is another one.
"""

from mistakes.planted import Planted
from sample.domain import call, function, may, need

GROUP = "near-queries"

HARBOUR_DESK = [
    function("ferry_seats", "Tells how many seats are free on the ferry between two towns on a day.",
             origin=need("string", "Town the ferry leaves."), destination=need("string", "Town the ferry goes to."),
             day=need("string", "Day as YYYY-MM-DD.")),
    function("hire_kayaks", "Hires kayaks out at a beach.",
             beach=need("string", "Beach where they are taken over."), kayaks=need("integer", "How many kayaks."),
             hours=need("integer", "For how many hours.")),
    function("measure_depth", "Measures the depth of the water beside a pier.",
             pier=need("string", "Name of the pier."), unit=need("string", "Unit of the result.", enum=["metres", "feet", "fathoms"])),
    function("convert_chart", "Converts a sea chart into another format of file.",
             file=need("string", "Name of the file."), resolution=may("integer", "Dots an inch.", 300)),
    function("show_boats", "Lists the boats of the guest harbour.",
             paid=need("boolean", "True for those that have paid their berth, false for those that have not.")),
    function("paint_name", "Has a name painted on the stern of a boat.",
             berth=need("integer", "Berth of the boat."), letters=need("string", "What is painted, letter by letter.")),
    function("mail_tide_table", "Mails the tide table of a month to a group of readers.",
             month=need("string", "Month of the table."), readers=need("string", "Who gets it.", enum=["us", "them"])),
]


def ferry(origin, destination, day):
    return call("ferry_seats", origin=origin, destination=destination, day=day)


def kayaks(beach, number, hours):
    return call("hire_kayaks", beach=beach, kayaks=number, hours=hours)


def depth(pier, unit):
    return call("measure_depth", pier=pier, unit=unit)


# (what differs, query, call, copies, [(variant, call)])
FAMILIES = (
    ("town", "How many seats are free on the morning ferry from Brekstad to Valset on 2024-08-03?", ferry("Brekstad", "Valset", "2024-08-03"),
     ["Please tell me how many seats are free on the morning ferry from Brekstad to Valset on 2024-08-03",
      "how many seats are free on the morning ferry from brekstad to valset on 2024-08-03",
      "On 2024-08-03, how many seats are free on the morning ferry from Brekstad to Valset?"],
     [("How many seats are free on the morning ferry from Brekstad to Storfosna on 2024-08-03?", ferry("Brekstad", "Storfosna", "2024-08-03"))]),
    ("date", "Are there any seats left on the ferry that goes from Lysvik to Harsund on 2024-09-14?", ferry("Lysvik", "Harsund", "2024-09-14"),
     ["Hello, are there any seats left on the ferry that goes from Lysvik to Harsund on 2024-09-14, please?"],
     [("Are there any seats left on the ferry that goes from Lysvik to Harsund on 2024-09-15?", ferry("Lysvik", "Harsund", "2024-09-15"))]),
    ("direction", "Check the evening ferry from Rørvik to Leka for free seats on 2024-07-21 in the summer table",
     ferry("Rørvik", "Leka", "2024-07-21"),
     ["Could you check the evening ferry from Rørvik to Leka for free seats on 2024-07-21 in the summer table?"],
     [("Check the evening ferry from Leka to Rørvik for free seats on 2024-07-21 in the summer table", ferry("Leka", "Rørvik", "2024-07-21"))]),
    ("number", "We would like to hire 4 kayaks at the northern sandy beach for 3 hours this afternoon", kayaks("northern sandy beach", 4, 3),
     ["Hi, we would like to hire 4 kayaks at the northern sandy beach for 3 hours this afternoon, thanks!",
      "We need to hire 4 kayaks at the northern sandy beach for 3 hours this afternoon"],
     [("We would like to hire 6 kayaks at the northern sandy beach for 3 hours this afternoon", kayaks("northern sandy beach", 6, 3)),
      ("We would like to hire 3 kayaks at the northern sandy beach for 4 hours this afternoon", kayaks("northern sandy beach", 3, 4))]),
    ("number in words", "Reserve two kayaks at the beach below the old lighthouse for five hours on Sunday", kayaks("below the old lighthouse", 2, 5),
     ["Can you reserve two kayaks at the beach below the old lighthouse for five hours on Sunday, please"],
     [("Reserve two kayaks at the beach below the old lighthouse for six hours on Sunday", kayaks("below the old lighthouse", 2, 6))]),
    ("unit", "Measure how deep the water beside the coal pier is right now and give it in metres", depth("coal pier", "metres"),
     ["Please measure how deep the water beside the coal pier is right now and give it to me in metres",
      "  MEASURE HOW DEEP THE WATER BESIDE THE COAL PIER IS RIGHT NOW AND GIVE IT IN METRES"],
     [("Measure how deep the water beside the coal pier is right now and give it in fathoms", depth("coal pier", "fathoms")),
      ("Measure how deep the water beside the coal pier is right now and give it in feet", depth("coal pier", "feet"))]),
    ("name", "I need the depth of the water at the outer end of Gunhild pier in feet", depth("Gunhild pier", "feet"),
     ["I need to know the depth of the water at the outer end of Gunhild pier in feet, thank you"],
     [("I need the depth of the water at the outer end of Sverre pier in feet", depth("Sverre pier", "feet"))]),
    ("file ending", "Convert the scanned sea chart in the file inner_leads.tif for printing at 600 dots an inch",
     call("convert_chart", file="inner_leads.tif", resolution=600),
     ["Would you convert the scanned sea chart in the file inner_leads.tif for printing at 600 dots an inch?",
      "Convert the scanned sea charts in the file inner_leads.tif for printing at 600 dots an inch"],
     [("Convert the scanned sea chart in the file inner_leads.png for printing at 600 dots an inch",
       call("convert_chart", file="inner_leads.png", resolution=600))]),
    ("negation", "List the boats in the guest harbour whose skippers have paid for their berth this week", call("show_boats", paid=True),
     ["Please list for me the boats in the guest harbour whose skippers have paid for their berth this week"],
     [("List the boats in the guest harbour whose skippers have not paid for their berth this week", call("show_boats", paid=False))]),
    ("quoted text", "Have the sign painter write the words 'Queen Maud' on the stern of the boat at berth 17",
     call("paint_name", berth=17, letters="Queen Maud"),
     ["Please have the sign painter write the words 'Queen Maud' on the stern of the boat at berth 17"],
     [("Have the sign painter write the words 'Queen Anne' on the stern of the boat at berth 17", call("paint_name", berth=17, letters="Queen Anne")),
      ("Have the sign painter write the words 'Queen Maud II' on the stern of the boat at berth 17",
       call("paint_name", berth=17, letters="Queen Maud II"))]),
    # A word of grammar is the value here: only the recorded calls show that they ask for something else.
    ("word of grammar", "Mail the printed tide table for the month of October to us before the holidays begin",
     call("mail_tide_table", month="October", readers="us"),
     ["Please mail the printed tide table for the month of October to us before the holidays begin"],
     [("Mail the printed tide table for the month of October to them before the holidays begin",
       call("mail_tide_table", month="October", readers="them"))]),
)


def requests():
    for case, query, right, copies, variants in FAMILIES:
        shared = {"docs": HARBOUR_DESK, "category": "multiple", "family": f"query {case}"}
        yield Planted(GROUP, case, query, calls=(right,), asks=query, leader=True, **shared)
        for text in copies:
            yield Planted(GROUP, f"{case}, copy", text, calls=(right,), asks=query, **shared)
        for text, other in variants:
            yield Planted(GROUP, f"{case}, variant", text, calls=(other,), asks=text, **shared)
