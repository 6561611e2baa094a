"""Files whose records are not lines: a JSON array on one line, and a table with line breaks in its cells.

A row of such a file is identified by its record number, from 1; the header of a table is not a record.
"""

from mistakes.planted import Planted
from sample.domain import call, function, need

GROUP = "record-numbers"
ARRAY, TABLE = "array", "breaks"

FISH_AUCTION = [
    function("sell_lot", "Puts a lot of fish up at the auction hall.",
             fish=need("string", "Kind of fish in the lot."), crates=need("integer", "How many crates the lot has.")),
]
LOTS = (("saithe", 14), ("redfish", 3), ("tusk", 27), ("wolffish", 6), ("ling", 19))


def requests():
    for source, wording in ((ARRAY, "Sell {crates} crates of {fish} at the auction"), (TABLE, "At the hall, please:\nput up a lot of {fish},\n{crates} crates")):
        for record, (fish, crates) in enumerate(LOTS, 1):
            crates += source == TABLE
            yield Planted(GROUP, source, wording.format(fish=fish, crates=crates), FISH_AUCTION, (call("sell_lot", fish=fish, crates=crates),),
                          source=source, record=record)
