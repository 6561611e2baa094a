"""JSON values of Python values, within limits of bytes and depth.

docs/environments.md lists the forms. The file is the first part of the worker.
"""

import datetime
import decimal
import enum
import json
import math
import pathlib
import random
import types

# Python refuses to write longer integers as text.
MAX_DIGITS = 4300
MAX_BITS = int(MAX_DIGITS * 3.321928094887362)
MAX_ERROR_CHARS = 2000


class Refused(Exception):
    """A value without a JSON form within the limits."""

    def __init__(self, failure, text):
        super().__init__(text)
        self.failure = failure


class Encoder:
    """Makes plain JSON values of Python values, within limits of bytes and depth."""

    def __init__(self, max_bytes, max_depth, for_state=False, private=()):
        self.left = max_bytes
        self.max_depth = max_depth
        self.for_state = for_state
        self.private = private
        self.above = []

    def take(self, n_bytes):
        self.left -= n_bytes
        if self.left < 0:
            raise Refused("too-large", "the value has too many bytes")

    def text(self, text):
        self.take(len(text) + 2)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-8", "replace").decode("utf-8")
        # A subclass of `str` is a text like others.
        return str.__str__(text)

    def encode(self, value):
        kind = type(value)
        if value is None or kind is bool:
            self.take(5)
            return value
        if kind is str:
            return self.text(value)
        if isinstance(value, enum.Enum):
            return self.encode(value.value)
        if isinstance(value, bool):
            return bool(value)
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise Refused("too-large", "an integer has more than %d digits" % MAX_DIGITS)
            self.take(value.bit_length() // 3 + 2)
            return int(value)
        if isinstance(value, float):
            self.take(24)
            if math.isfinite(value):
                return float(value)
            if self.for_state:
                return str(float(value))
            raise Refused("not-json", "%r has no JSON form" % float(value))
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (datetime.date, datetime.time)):
            return self.text(value.isoformat())
        if isinstance(value, datetime.timedelta):
            return self.encode(value.total_seconds())
        if isinstance(value, (decimal.Decimal, pathlib.PurePath)):
            return self.text(str(value))
        return self.nested(value)

    def nested(self, value):
        for levels, other in enumerate(reversed(self.above), 1):
            if other is value:
                if self.for_state:
                    return {"$ancestor": levels}
                raise Refused("not-json", "the value contains itself")
        if len(self.above) >= self.max_depth:
            raise Refused("too-deep", "the value nests deeper than %d levels" % self.max_depth)
        self.above.append(value)
        try:
            self.take(2)
            if isinstance(value, dict):
                return self.mapping(value.items())
            if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
                return [self.item(item) for item in value]
            if isinstance(value, (set, frozenset)):
                return sorted((self.item(item) for item in value), key=order)
            if hasattr(value, "_asdict"):
                return self.mapping(value._asdict().items())
            return self.attributes(value)
        finally:
            self.above.pop()

    def item(self, value):
        self.take(1)
        return self.encode(value)

    def mapping(self, items):
        members = {}
        for key, value in items:
            name = key if type(key) is str else self.key(key)
            name = self.text(name)
            if name in members:
                raise Refused("not-json", "two keys have the text %r" % name[:100])
            members[name] = self.item(value)
        return members

    def key(self, key):
        plain = self.encode(key)
        return plain if isinstance(plain, str) else json.dumps(plain)

    def attributes(self, value):
        """The public attributes of an object, other than functions and modules."""
        if isinstance(value, (types.ModuleType, type, bytes, bytearray, memoryview)) or callable(value):
            if self.for_state:
                return "<%s>" % type(value).__name__
            raise Refused("not-json", "%s has no JSON form" % type(value).__name__)
        try:
            members = dict(vars(value))
        except TypeError:
            members = {}
            for base in reversed(type(value).__mro__):
                slots = base.__dict__.get("__slots__", ())
                for name in (slots,) if isinstance(slots, str) else slots:
                    if hasattr(value, name):
                        members[name] = getattr(value, name)
            if not members:
                if self.for_state:
                    return "<%s>" % type(value).__name__
                raise Refused("not-json", "%s has no JSON form" % type(value).__name__)
        shown = [(name, member) for name, member in members.items() if self.is_shown(name, member)]
        return self.mapping(shown)

    def is_shown(self, name, member):
        if not isinstance(name, str) or (name.startswith("_") and name not in self.private):
            return False
        return not isinstance(member, (types.ModuleType, types.FunctionType, types.MethodType, random.Random))


def order(plain):
    return json.dumps(plain, sort_keys=True)


def words(error):
    """The text of an exception, whatever it does."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    name = type(error).__name__
    text = "%s: %s" % (name, text) if text else name
    return text.encode("utf-8", "replace").decode("utf-8")[:MAX_ERROR_CHARS]
