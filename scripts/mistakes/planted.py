"""One request of the log of mistakes, its line, and its truth.

Besides the keys of every truth line, `planted` defines what a run must do with the request:
    class     its class of mistakes; figures are computed per class
    case      a short name, for examples of failing rows
    family    requests (and their doc lists) that a run may treat as near-duplicates; null if nothing is near
    asks      what it asks for: equal in two requests of a family if and only if one may represent the other
    leader    the others of its family are compared with this one
    human     the required fate of a person's answer: `out` or `held`; null if there is none
    facts     functions by name, each with facts about its parameters, as `sources.py` has them
    fault     start of the reason of the fault that the broken part of the docs must have
    pasted    the docs as text, if a part of them is broken
    renamed   its answer may be exported under the name of another single function
    record    the number of its record in its file, from 1
The key `bfcl` holds the docs if they were sent in the BFCL schema.
"""

import json
from dataclasses import dataclass, field

from sample.request import alternatives, key

START, STEP_SECONDS = 1717200000, 611
DECLINED = "Sorry, none of my functions can do that."


@dataclass
class Planted:
    group: str  # the class of mistakes
    case: str
    text: str
    docs: list | str  # in the BFCL schema, or as pasted text
    calls: tuple = ()  # the right calls
    response: str = "right"  # what was logged: right, wrong, declined, cut, none, unreadable or failed
    logged: tuple | None = None  # the calls that were logged, where they are not the right ones
    category: str = "simple"
    family: str | None = None
    asks: str | None = None
    leader: bool = False
    facts: dict | None = None
    fault: str | None = None
    renamed: bool = False
    source: str = "log"
    written: object = None  # the logged answer as it is, instead of `[f(a=1)]`
    human: list | None = None  # the line of a person's answer
    record: int | None = None
    id: str = field(default="", init=False)
    time: int = field(default=0, init=False)

    def number(self, place):
        self.id, self.time = f"m{place:04d}", START + place * STEP_SECONDS
        return self

    def row(self):
        return {"id": self.id, "ts": self.time, "model": "relay-functions-2", "prompt": self.text,
                "function": self.docs if isinstance(self.docs, str) else json.dumps(self.docs, ensure_ascii=False), "response": self.answered()}

    def answered(self):
        """`[f(a=1)]`, prose, None, or what `written` holds."""
        if self.written is not None:
            return self.written
        calls = self.calls if self.logged is None else self.logged
        if self.response == "none":
            return None
        if self.response == "declined" or not calls:
            return DECLINED
        written = ", ".join(f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})" for name, arguments in calls)
        return f"[{written}"[:-4] if self.response == "cut" else f"[{written}]"

    def truth(self):
        return {
            "id": self.id, "kind": "entry", "doc": key(self.docs), "base": key(self.docs), "doc_kind": "planted", "set": None,
            "entry": None, "category": self.category, "query": key(self.text), "query_kind": "exact",
            # Docs that are no JSON may be held for a part that is broken on purpose: no row that is good throughout.
            "mess": ["python-def"] if isinstance(self.docs, str) else [], "lossless": False,
            "bfcl": None if isinstance(self.docs, str) else self.docs, "pii": [],
            "response": self.response, "answer": self.ground_truth(), "outcome": False, "continues": None, "source": self.source,
            "planted": {"class": self.group, "case": self.case, "family": self.family, "asks": self.asks, "leader": self.leader,
                        "human": self.human and ("out" if self.calls else "held"), "facts": self.facts, "fault": self.fault,
                        "pasted": self.docs if self.fault else None, "renamed": self.renamed, "record": self.record},
        }

    def ground_truth(self):
        """Returns the right calls as BFCL answers; None if the docs are text, or there is nothing to call."""
        if isinstance(self.docs, str) or not self.calls:
            return None
        properties = {doc["name"]: doc["parameters"]["properties"] for doc in self.docs}
        return [{name: {parameter: alternatives(arguments.get(parameter), schema, parameter in arguments)
                        for parameter, schema in properties[name].items()}}
                for name, arguments in self.calls]
