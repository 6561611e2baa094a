"""One request of the sample log, with its truth."""

import hashlib
import json
import keyword
from dataclasses import dataclass, field

from sample.domain import Ask, Domain
from sample.mess import spoil


@dataclass
class Request:
    domain: Domain
    ask: Ask
    docs: list  # the doc list in the BFCL schema
    text: str | None = None  # the user's words; the ask's own unless said
    kind: str = "entry"
    query_kind: str = "exact"
    doc_kind: str = "original"
    base_docs: list | None = None  # what a near copy was made from
    pasted: str | None = None  # the doc list as text
    pii: list = field(default_factory=list)
    fault: str = "none"
    spelling: str | None = None
    sent: list | None = None  # the doc list with its fault
    bfcl: list | None = None  # what fixing should bring back
    lossless: bool = False
    id: str = ""
    time: int = 0
    user: str = ""
    response: str = "none"
    calls: list = field(default_factory=list)
    source: str = ""
    loop: str | None = None  # confirmed, refuted or corrected
    set: str | None = None  # the public set its docs are in
    official: str | None = None  # the category where it is not told by docs and calls

    def __post_init__(self):
        if self.text is None:
            self.text = self.ask.text
        self.base = key(self.base_docs or self.docs)

    @property
    def category(self):
        if self.official:
            return self.official
        if not self.ask.calls:
            return "irrelevance"
        many_docs, many_calls = len(self.docs) > 1, len(self.ask.calls) > 1
        return {(False, False): "simple", (True, False): "multiple",
                (False, True): "parallel", (True, True): "parallel_multiple"}[many_docs, many_calls]

    def messages(self):
        system = [("system", self.domain.system)] if self.domain.system else []
        said = [*system, *self.ask.history, ("user", self.text)]
        return [{"role": role, "content": content} for role, content in said]

    def has_keyword_arguments(self):
        return any(keyword.iskeyword(name) for _, arguments in self.ask.calls for name in arguments)

    def send_as_json(self):
        """Drops the spelling: the API receives the docs as JSON, with JSON Schema's type names."""
        self.spelling = None
        if self.fault == "none":
            self.fault = "openai-types"
            self.sent, self.bfcl, self.lossless = spoil(self.docs, self.fault)

    def ground_truth(self):
        """Returns the right calls as BFCL answers: alternatives, with "" for optional values."""
        properties = {doc["name"]: doc["parameters"]["properties"] for doc in self.docs}
        return [{name: {parameter: alternatives(arguments.get(parameter), schema, parameter in arguments)
                        for parameter, schema in properties[name].items()}}
                for name, arguments in self.ask.calls]

    def truth(self):
        usable = self.kind != "unusable-doc"
        return {
            "id": self.id, "kind": self.kind, "doc": key(self.pasted if self.spelling or not usable else self.sent),
            "base": self.base if usable else None, "doc_kind": self.doc_kind if usable else None, "set": self.set, "entry": None,
            "category": self.category if self.kind == "entry" else None, "query": key(self.messages()),
            "query_kind": self.query_kind,
            "mess": [part for part in (self.fault, self.spelling) if part not in (None, "none", "compact")],
            "lossless": self.lossless, "bfcl": self.bfcl, "pii": self.pii, "response": self.response,
            "answer": self.ground_truth() if self.kind == "entry" and self.ask.calls and not self.official else None,
            "outcome": self.loop == "confirmed", "continues": None, "source": self.source,
        }


def alternatives(value, schema, given):
    if not given:
        return ["", schema.get("default")]
    if isinstance(value, dict):
        return [{name: [inner] for name, inner in value.items()}]
    return [value]


def key(value):
    """Returns a short name of a JSON value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), digest_size=8).hexdigest()
