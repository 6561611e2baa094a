#!/usr/bin/env python3
"""Writes tests/privacy/{open,aside,people}.jsonl: sentences with labelled personal values, and look-alikes that must stay.

    make_privacy_set.py [--out tests/privacy]

A line is {"text", "spans": [[kind, start byte, end byte], …], "looks": what it looks like or null}. A third of the lines
is held out in aside.jsonl: recognisers are tuned only on open.jsonl. people.jsonl has names and street addresses, which only
a recogniser with a model finds; `looks` is "public figure" where only the reader knows that a name is no private person's. All values are invented: telephone numbers are in
ranges reserved for fiction if there are any, cards and accounts are random digits after made-up issuers, keys are random
letters.

Standard library only; the same bytes each time.
"""

import argparse
import base64
import json
import random
import string
from pathlib import Path

RNG = random.Random(20240226)
LOW, DIGIT = string.ascii_lowercase, string.digits
ALNUM = string.ascii_letters + string.digits


def pick(*choices):
    return RNG.choice(choices)


def take(alphabet, n):
    return "".join(RNG.choice(alphabet) for _ in range(n))


def shaped(pattern):
    """Returns a random text: d is any digit, D is 2 to 9, other characters stay."""
    return "".join(RNG.choice(DIGIT) if c == "d" else RNG.choice("23456789") if c == "D" else c for c in pattern)


def luhn(body):
    total = 0
    for i, c in enumerate(reversed(body)):
        d = int(c) * (2 if i % 2 == 0 else 1)
        total += d - 9 if d > 9 else d
    return body + str((10 - total % 10) % 10)


def grouped(text, sizes, by):
    out, at = [], 0
    for size in sizes:
        out.append(text[at:at + size])
        at += size
    return by.join(part for part in out + [text[at:]] if part)


FIRST = ["mira", "tomas", "aiko", "lena", "joao", "priya", "wei", "chloe", "samir", "ingrid", "owen", "zeynep"]
LAST = ["keller", "oduya", "tanaka", "brandt", "pereira", "nair", "zhao", "moreau", "haddad", "solberg", "pryce", "aydin"]
HOSTS = ["quillpost.net", "fernmail.org", "harbour-mail.com", "uni-tessen.de", "cs.lakeside.edu", "mail.brackwater.co.uk",
         "postfach.ch", "ortiga.com.br", "kiln.io", "nordlys.no"]


def email():
    first, last = RNG.choice(FIRST), RNG.choice(LAST)
    local = pick(f"{first}.{last}", f"{first}_{last}{RNG.randint(1, 99)}", f"{first[0]}{last}", f"{first}+{pick('news', 'bills', 'x1')}",
                 f"{last}{RNG.randint(1960, 2005)}", f"{first}-{last}", f"{first.title()}.{last.title()}", first)
    return f"{local}@{RNG.choice(HOSTS)}"


def odd_email():
    return pick(f"{RNG.choice(FIRST)}.{RNG.choice(LAST)}@bücher-{take(LOW, 3)}.de", f"jörg.{take(LOW, 5)}@post-{take(LOW, 4)}.at",
                f"{take(LOW, 6)}@mail.eu.{take(LOW, 7)}.com", f"o'{RNG.choice(LAST)}@{RNG.choice(HOSTS)}",
                f"{take(LOW, 4)}@xn--bcher-kva.{pick('de', 'ch')}", f"用户{take(DIGIT, 3)}@{take(LOW, 6)}.cn",
                f"{RNG.choice(FIRST).upper()}.{RNG.choice(LAST).upper()}@{RNG.choice(HOSTS).upper()}")


US_AREAS = ["202", "212", "303", "312", "404", "415", "503", "617", "702", "808"]
PHONES_PLUS = [
    ("US", lambda: f"+1 ({RNG.choice(US_AREAS)}) 555-{shaped('Dddd')}"), ("US", lambda: f"+1-{RNG.choice(US_AREAS)}-555-{shaped('Dddd')}"),
    ("US", lambda: f"+1{RNG.choice(US_AREAS)}555{shaped('Dddd')}"), ("US", lambda: f"+1.{RNG.choice(US_AREAS)}.555.{shaped('Dddd')}"),
    ("UK", lambda: f"+44 20 7946 0{shaped('ddd')}"), ("UK", lambda: f"+44 7700 900{shaped('ddd')}"), ("UK", lambda: f"+44 (0)20 7946 0{shaped('ddd')}"),
    ("DE", lambda: f"+49 30 23125{shaped('ddd')}"), ("DE", lambda: f"+49 171 39200{shaped('dd')}"), ("DE", lambda: f"+49 (0)30 23125-{shaped('ddd')}"),
    ("FR", lambda: f"+33 1 99 00 {shaped('dd dd')}"), ("FR", lambda: f"+33639980{shaped('ddd')}"), ("FR", lambda: f"+33 6 39 98 {shaped('dd dd')}"),
    ("IN", lambda: f"+91 98765 4{shaped('dddd')}"), ("IN", lambda: f"+91-9{shaped('8d7ddd5dd')}"),
    ("CN", lambda: f"+86 138 {shaped('Ddd5 dddd')}"), ("CN", lambda: f"+86 1{shaped('5dddd2dddd')}"),
    ("BR", lambda: f"+55 11 9{shaped('ddd5-dddd')}"), ("BR", lambda: f"+55 (21) 9{shaped('8dd5-dddd')}"),
    ("AU", lambda: f"+61 491 570 {shaped('1dd')}"), ("JP", lambda: f"+81 90-{shaped('Dddd')}-{shaped('dddd')}"), ("ES", lambda: f"+34 612 {shaped('ddd')} {shaped('ddd')}"),
]
PHONES_SHAPE = [lambda: f"({RNG.choice(US_AREAS)}) 555-{shaped('Dddd')}", lambda: f"{RNG.choice(US_AREAS)}-555-{shaped('Dddd')}",
                lambda: f"{RNG.choice(US_AREAS)}.555.{shaped('Dddd')}", lambda: f"1-{RNG.choice(US_AREAS)}-555-{shaped('Dddd')}"]
PHONES_NATIONAL = [
    ("US", lambda: f"{RNG.choice(US_AREAS)}555{shaped('Dddd')}"), ("US", lambda: f"{RNG.choice(US_AREAS)} 555 {shaped('Dddd')}"),
    ("UK", lambda: f"07700 900{shaped('ddd')}"), ("UK", lambda: f"020 7946 0{shaped('ddd')}"), ("DE", lambda: f"030 23125{shaped('ddd')}"),
    ("DE", lambda: f"0171 39200{shaped('dd')}"), ("DE", lambda: f"030/23125{shaped('ddd')}"), ("FR", lambda: f"06 39 98 {shaped('dd dd')}"),
    ("FR", lambda: f"01.99.00.{shaped('dd.dd')}"), ("IN", lambda: f"98765 4{shaped('dddd')}"), ("IN", lambda: f"9{shaped('87dd5dddd')}"),
    ("CN", lambda: f"138{shaped('Ddd5dddd')}"), ("CN", lambda: f"159 {shaped('Ddd5 dddd')}"), ("BR", lambda: f"(11) 9{shaped('8dd5-dddd')}"), ("BR", lambda: f"21 9{shaped('7dd5-dddd')}"),
]


def card():
    number = luhn(pick(lambda: "4" + take("123456789", 1) + take(DIGIT, 13), lambda: "5" + pick(*"1234") + take("6789", 1) + take(DIGIT, 12),
                       lambda: "37" + take("56789", 1) + take(DIGIT, 11), lambda: "6011" + take("23456789", 1) + take(DIGIT, 10),
                       lambda: "3528" + take(DIGIT, 11), lambda: "2221" + take("3456789", 1) + take(DIGIT, 10), lambda: "62" + take("12345678", 1) + take(DIGIT, 12))())
    if len(number) == 15:
        return pick(number, grouped(number, [4, 6, 5], " "), grouped(number, [4, 6, 5], "-"))
    return pick(number, number, grouped(number, [4, 4, 4, 4], " "), grouped(number, [4, 4, 4, 4], "-"))


IBANS = {"DE": "d" * 18, "FR": "d" * 10 + "d" * 11 + "dd", "GB": "LLLL" + "d" * 14, "NL": "LLLL" + "d" * 10, "ES": "d" * 20, "IT": "L" + "d" * 22,
         "CH": "d" * 17, "AT": "d" * 16, "PL": "d" * 24, "NO": "d" * 11, "BE": "d" * 12, "SE": "d" * 20}


def iban():
    country = RNG.choice(sorted(IBANS))
    bban = "".join(RNG.choice(DIGIT) if c == "d" else RNG.choice("BCFGKQTVZ") for c in IBANS[country])
    digits = "".join(str(int(c, 36)) for c in bban + country + "00")
    text = f"{country}{98 - int(digits) % 97:02d}{bban}"
    return pick(text, grouped(text, [4] * 9, " "))


def ssn():
    area = pick(*[f"{n:03d}" for n in range(201, 665, 7)])
    return f"{area}-{RNG.randint(11, 98)}-{RNG.randint(1001, 9998)}"


def hexes(n):
    return take("0123456789abcdef", n)


def mixed(n):
    """Returns random letters and digits with at least three digits."""
    while True:
        text = take(ALNUM, n)
        if sum(c.isdigit() for c in text) >= 3 and any(c.isupper() for c in text) and any(c.islower() for c in text):
            return text


KEYS_KNOWN = [lambda: "sk-" + mixed(48), lambda: "sk-proj-" + mixed(40), lambda: "sk-ant-api03-" + mixed(60), lambda: "AKIA" + take(string.ascii_uppercase + "234567", 16),
              lambda: "ghp_" + mixed(36), lambda: "github_pat_" + mixed(22) + "_" + mixed(40), lambda: f"xoxb-{take('123456789', 12)}-{mixed(24)}", lambda: "AIza" + mixed(35),
              lambda: hexes(10) + "msh" + hexes(15) + "p1" + hexes(6) + "jsn" + hexes(11), lambda: "hf_" + mixed(34), lambda: "glpat-" + mixed(20), lambda: "sk_live_" + mixed(24)]
KEYS_CONTEXT = [("api_key={}", lambda: hexes(32)), ("apikey: {}", lambda: mixed(24)), ("API key is {}", lambda: hexes(40)), ("X-API-Key: {}", lambda: mixed(32)),
                ('"api_key": "{}"', lambda: hexes(32)), ("?appid={}&units=metric", lambda: hexes(32)), ("client_secret = '{}'", lambda: mixed(40)), ("my access key is {}", lambda: mixed(20)),
                ("password: {}", lambda: pick("Tr0ub", "Gr8pe", "b1rdS", "Mos5y") + pick("dor&", "!ax", "#oak", "$fern") + take(DIGIT, 2)), ('"password": "{}"', lambda: take(LOW, 5) + "!" + take(DIGIT, 4)),
                ("secret={}", lambda: mixed(28)), ("pwd={};", lambda: mixed(12)), ("key={}", lambda: "k" + hexes(31))]


def b64(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt():
    return ".".join([b64({"alg": "HS256", "typ": "JWT"}), b64({"sub": take(DIGIT, 10), "n": take(LOW, 8)}), mixed(43)])


TOKENS = [("Bearer {}", lambda: mixed(40)), ("Authorization: Bearer {}", jwt), ("{}", jwt), ("access_token={}", lambda: mixed(36)), ("token: {}", lambda: hexes(40)), ("refresh token is {}", lambda: mixed(30)),
          ('"auth_token": "{}"', lambda: mixed(32)), ("bearer {}", lambda: hexes(32))]


def ipv4():
    return f"{pick(23, 45, 64, 81, 88, 104, 129, 142, 151, 176, 185, 193, 212)}.{RNG.randint(1, 254)}.{RNG.randint(1, 254)}.{RNG.randint(2, 254)}"


def ipv6():
    group = lambda: f"{RNG.randint(1, 0xffff):x}"
    start = pick("2a01:4f8", "2600:1f18", "2a02:8108", "2607:f8b0", "2400:cb00", "2804:14d")
    return pick(f"{start}:{group()}:{group()}::{group()}", f"{start}:{group()}:{group()}:{group()}:{group()}:{group()}:{group()}", f"{start}::{group()}", f"{start}:{group()}::{group()}:{group()}".upper())


LINES = []


def line(text, spans=(), looks=None):
    """`text` holds each value as {}; spans are (kind, value)."""
    out, labels = "", []
    parts = text.split("{}") if spans else [text]
    for part, span in zip(parts, list(spans) + [None]):
        out += part
        if span:
            start = len(out.encode())
            out += span[1]
            labels.append([span[0], start, len(out.encode())])
    LINES.append({"text": out, "spans": labels, "looks": looks})


def each(kind, n, make, templates):
    for at in range(n):
        line(templates[at % len(templates)], [(kind, make())])


def positives():
    each("email", 60, email, ["Send the invoice to {}.", "Forward this to {}, please", "Is {} a disposable address?", "mailto:{}", "Invite <{}> to the 3pm call", 'to="{}", subject="Hi"',
        "cc: {};", "Mein Kontakt ist {}!", "我的邮箱是{}，谢谢", "https://portal.kiln.io/u/{}/settings", "Dear team,\\n{}\\nwrote back", "({})", "(email='{}')", "Check reputation for {} now", "user {} cannot log in"])
    each("email", 24, odd_email, ["Schreib an {}.", "Add {} to the list", "from {} to all", "«{}»"])
    for at in range(10):
        line("Move everything from {} to {} by Friday.", [("email", email()), ("email", email())])
    plus = ["Call me at {}.", "text {} when done", "My number: {}, thanks", '"phone": "{}"', "WhatsApp {}", "{} is the hotline", "Ruf mich unter {} an", "请拨打{}。", "send_sms(to='{}', body='ok')", "reach us ({})"]
    for at in range(66):
        line(plus[at % len(plus)], [("phone", PHONES_PLUS[at % len(PHONES_PLUS)][1]())])
    each("phone", 24, lambda: PHONES_SHAPE[RNG.randrange(4)](), ["Call me at {}.", "Book a table, {} is my number", "Contact: {}", "Jo's desk: {}", "{} (mobile)", "ring {} after six"])
    national = ["My phone number is {}.", "Call {} tomorrow", "Handy: {}", "tel. {}", '"phone_number": "{}"', "mobile {} please", "WhatsApp: {}", "téléphone : {}", "电话：{}", "Meu telefone é {}", "contact no. {} for delivery", "Send an SMS to {}"]
    for at in range(60):
        line(national[(at * 5 + at // 15) % len(national)], [("phone", PHONES_NATIONAL[at % len(PHONES_NATIONAL)][1]())])
    each("card", 60, card, ["My card is {}.", "Pay with {} exp 04/27", "Is {} a valid card number?", '"card_number": "{}"', "charge {}, cvv 412", "Karte {} sperren", "validate_card(number='{}')", "card no: {};", "信用卡号{}", "{}"])
    each("iban", 50, iban, ["Transfer to {}.", "IBAN: {}", "Überweise 40 Euro auf {} bis morgen", '"iban": "{}"', "Is {} valid?", "({})", "my account {}, name Keller", "{}"])
    each("ssn", 45, ssn, ["My SSN is {}.", "SSN: {}", "social security number {}", '"ssn": "{}"', "Verify {} for the loan", "taxpayer {}, born 1984-02-03", "({})", "ssn={}"])
    for at in range(5):
        line(pick("My SSN is {}.", "Social Security: {}"), [("ssn", ssn().replace("-", ""))])
    each("key", 60, lambda: KEYS_KNOWN[RNG.randrange(len(KEYS_KNOWN))](), ["Use key {}", "api_key='{}'", "curl -H 'X-Key: {}'", "{} is my key, do not share", 'headers["X-RapidAPI-Key"] = "{}"', "export OPENAI={}", "key:{}", "Translate with {}."])
    for at in range(52):
        template, make = KEYS_CONTEXT[at % len(KEYS_CONTEXT)]
        line(pick("{}", "Please use {} now", "config: {}", "(I set {} )").replace("{}", template), [("key", make())])
    for at in range(6):
        line("git clone https://deploy:{}@git.kiln.io/app.git", [("key", mixed(14))])
    for at in range(48):
        template, make = TOKENS[at % len(TOKENS)]
        line(pick("{}", "curl -H '{}'", "Use {} for it").replace("{}", template), [("token", make())])
    each("ipv4", 50, ipv4, ["Where is {}?", "Ping {} three times", '"ip": "{}"', "Block {}, please", "ssh root@{}", "http://{}:8080/status", "geolocate({})", "from {}/24", "Is {} on a blacklist?", "{}"])
    each("ipv6", 45, ipv6, ["Where is {}?", "Ping {} three times", '"ip": "{}"', "Block {}, please", "http://[{}]:8080/", "{}/64", "resolve {}", "Is {} on a blacklist?", "{}"])
    for at in range(10):
        line("I am {}, call {} or pay with {}.", [("email", email()), ("phone", PHONES_PLUS[at * 2][1]()), ("card", card())])


def uuid():
    return f"{hexes(8)}-{hexes(4)}-4{hexes(3)}-{pick(*'89ab')}{hexes(3)}-{hexes(12)}"


def look_alikes():
    def stay(looks, n, *makes):
        for at in range(n):
            line(makes[at % len(makes)](), (), looks)

    day = lambda: f"{RNG.randint(1, 28):02d}"
    month = lambda: f"{RNG.randint(1, 12):02d}"
    year = lambda: str(RNG.randint(1960, 2030))
    stay("date", 36, lambda: f"Book it for {year()}-{month()}-{day()}.", lambda: f"Call me on {day()}.{month()}.{year()}", lambda: f"born {month()}/{day()}/{year()}", lambda: f"call on {year()}{month()}{day()} at noon",
         lambda: f"from {year()}-{month()}-{day()} to {year()}-{month()}-{day()}", lambda: f"phone me between {day()}/{month()}/{year()} and {day()}/{month()}/{year()}")
    stay("time", 22, lambda: f"at {RNG.randint(0, 23):02d}:{RNG.randint(0, 59):02d}:{RNG.randint(0, 59):02d}", lambda: f"{year()}-{month()}-{day()}T{RNG.randint(10, 23)}:{RNG.randint(10, 59)}:00Z", lambda: f"timestamp 17{take(DIGIT, 8)}",
         lambda: f"ts=17{take(DIGIT, 11)}", lambda: f"{year()}-{month()}-{day()} {RNG.randint(10, 23)}:{RNG.randint(10, 59)}:00.{take(DIGIT, 6)}", lambda: f"call at {RNG.randint(10, 23)}:{RNG.randint(10, 59)}")
    stay("zip", 14, lambda: f"weather in {take('123456789', 5)}", lambda: f"ZIP {take('123456789', 5)}-{take(DIGIT, 4)}", lambda: f"CEP 0{take(DIGIT, 4)}-{take(DIGIT, 3)}", lambda: f"ship to {take('123456789', 6)}, India")
    stay("place", 8, lambda: f"Take me to {RNG.randint(1, 999)} {RNG.choice(LAST).title()} Street, {RNG.choice(['Leeds', 'Porto', 'Pune'])}", lambda: f"Flight LH{RNG.randint(100, 4000)} to {pick('Lyon', 'Oslo', 'Quito')}")
    stay("uuid", 20, lambda: f"order {uuid()}", lambda: f"api_key id {uuid()}", lambda: f'"token": "{uuid()}"', lambda: uuid().upper(), lambda: f"key={uuid()}")
    stay("version", 26, lambda: f"upgrade to v{RNG.randint(1, 30)}.{RNG.randint(0, 30)}.{RNG.randint(0, 30)}.{RNG.randint(0, 200)}", lambda: f"version {RNG.randint(1, 220)}.{RNG.randint(0, 220)}.{RNG.randint(0, 50)}.{RNG.randint(0, 9)}",
         lambda: f"Chrome/{RNG.randint(80, 120)}.0.{RNG.randint(3000, 6000)}.{RNG.randint(10, 200)}", lambda: f"release 1.{RNG.randint(0, 9)}.{RNG.randint(0, 9)}.{RNG.randint(0, 9)}", lambda: f"lodash@4.17.{RNG.randint(1, 21)}", lambda: f"OID 1.3.6.1.4.1.{RNG.randint(100, 900)}.2.1",
         lambda: f"section {RNG.randint(1, 12)}.{RNG.randint(1, 9)}.{RNG.randint(1, 9)}.{RNG.randint(1, 9)}", lambda: f"Python 3.{RNG.randint(6, 13)}.{RNG.randint(0, 12)}")
    stay("order", 40, lambda: f"order {take('123456789', 10)}", lambda: f"order number 415-{take(DIGIT, 7)}-{take(DIGIT, 7)}", lambda: f"invoice #{take('123456789', 12)}", lambda: f"track 1Z{take(string.ascii_uppercase + DIGIT, 16)}",
         lambda: f"ticket INC{take(DIGIT, 7)}", lambda: f"case id 20{take(DIGIT, 8)}", lambda: f"tweet 17{take(DIGIT, 17)}", lambda: f"user_id: {take('123456789', 9)}", lambda: f"tracking number 9400{take(DIGIT, 18)}",
         lambda: f"EAN 40{take(DIGIT, 11)}", lambda: f"order 212-555-{shaped('Dddd')}", lambda: f"part no {take('23456789', 3)}-{take(DIGIT, 2)}-{take(DIGIT, 2)}")
    stay("coordinates", 22, lambda: f"lat {RNG.uniform(-90, 90):.6f}, lon {RNG.uniform(-180, 180):.6f}", lambda: f"({RNG.uniform(-90, 90):.7f}, {RNG.uniform(-180, 180):.7f})", lambda: f"at {RNG.uniform(10, 80):.14f} {RNG.uniform(10, 99):.13f}", lambda: f"call near {RNG.uniform(30, 50):.4f},-{RNG.uniform(70, 120):.4f}")
    stay("price", 18, lambda: f"costs ${RNG.randint(1, 9)},{take(DIGIT, 3)},{take(DIGIT, 3)}.00", lambda: f"€ {RNG.randint(100, 999)}.{take(DIGIT, 3)}.{take(DIGIT, 3)}", lambda: f"pay {take('123456789', 7)} JPY", lambda: f"₹{RNG.randint(10, 99)},{take(DIGIT, 2)},{take(DIGIT, 3)}", lambda: f"call option at 4{take(DIGIT, 3)}.25 strike {take('123456789', 10)}")
    stay("isbn", 16, lambda: f"ISBN 978-3-{take(DIGIT, 2)}-{take(DIGIT, 6)}-{take(DIGIT, 1)}", lambda: f"isbn {isbn13()}", lambda: f"book 0-{take(DIGIT, 3)}-{take(DIGIT, 5)}-X", lambda: f"ISBN-10: {take('123456789', 10)}")
    stay("colour", 8, lambda: f"paint it #{hexes(6)}", lambda: f"#{hexes(8).upper()} border")
    stay("hash", 20, lambda: f"commit {hexes(40)}", lambda: f"sha256:{hexes(64)}", lambda: f"md5 {hexes(32)}", lambda: f"at {hexes(7)}", lambda: f"index {hexes(7)}..{hexes(7)}")
    stay("identifier", 34, lambda: f"call_{take(DIGIT, 10)}", lambda: f"get_user_{take(DIGIT, 9)}()", lambda: f"SKU-415-555-{shaped('Dddd')}-B", lambda: f"device abc4111{take(DIGIT, 12)}", lambda: f"id=user{take('123456789', 11)}x",
         lambda: f"chatcmpl-{mixed(29)}", lambda: f"call the function f{take(DIGIT, 10)}", lambda: f"@app.route('/{take(LOW, 5)}')", lambda: f"icon@2x.png and logo@{pick(2, 3)}x.jpg", lambda: f"git@github.com:{take(LOW, 5)}/{take(LOW, 5)}.git",
         lambda: f"std::vec::{take(LOW, 5)}", lambda: f"dead::beef::cafe", lambda: f"aa:bb:{hexes(2)}:{hexes(2)}:{hexes(2)}:{hexes(2)}", lambda: f"task-{take(LOW, 6)}-key-{take(LOW, 8)}", lambda: f"talk to @{take(LOW, 7)}", lambda: f"IMEI 35{take(DIGIT, 13)}", lambda: f"AB{take(DIGIT, 2)}TESTCODE{take(DIGIT, 8)}")
    stay("placeholder", 46, lambda: f"mail {RNG.choice(FIRST)}@example.{pick('com', 'org', 'net')}", lambda: f"a.b@mail.example.com", lambda: f"call 555-555-01{take(DIGIT, 2)}", lambda: f"phone +1 (555) 555-01{take(DIGIT, 2)}",
         lambda: pick("ping 192.168.", "ip 10.0.") + f"{RNG.randint(0, 9)}.{RNG.randint(1, 200)}", lambda: f"host {pick('127.0.0.1', '0.0.0.0', '255.255.255.0', '172.16.4.9', '169.254.1.2')}", lambda: f"ip {pick('192.0.2', '198.51.100', '203.0.113')}.{RNG.randint(1, 254)}",
         lambda: pick("card 4111 1111 1111 1111", "card 4242424242424242", "card 5555-5555-5555-4444", "amex 378282246310005"), lambda: pick("api_key=YOUR_API_KEY", "api_key=<API_KEY>", "token={{token}}", "key: $API_KEY", "password: ********", "secret=xxxxxxxxxxxxxxxxxxxx"),
         lambda: "AKIAIOSFODNN7EXAMPLE", lambda: f"ssn 000-{RNG.randint(10, 99)}-{RNG.randint(1000, 9999)}", lambda: "ssn 123-45-6789", lambda: pick("IBAN GB82 WEST 1234 5698 7654 32", "iban DE89370400440532013000"), lambda: f"ip {pick('::1', 'fe80::1', '2001:db8::8a2e:370:7334', 'fc00::1')}",
         lambda: "Bearer YOUR_ACCESS_TOKEN", lambda: "Bearer <token>", lambda: "sk-...", lambda: pick("user1@example.com", "user12@example.com"), lambda: "phone: 123-456-7890")
    stay("prose", 22, lambda: pick("The password must be at least 8 characters.", "password: string, the user's password", "The api key is required.", "token: the access token of the account", "key: name of the setting"), lambda: pick('"password": {"type": "string"}', '"api_key": {"description": "API key", "type": "string"}', '"token": "string"', '"secret": null'),
         lambda: pick("Bearer authentication is needed", "bearer tokens expire after 3600 seconds", "primary_key=user_account_id", "sort_key: created_at_2024"), lambda: pick("call 3 functions with 12 arguments", "text 2000000000 rows", "phone model 5551234567890", "mobile app build 4155550000123"), lambda: f"contact {RNG.randint(1000, 9999)} of {RNG.randint(10000, 99999)}",
         lambda: pick("ip 999.12.3.4", "300.1.2.3 is no host", "1.2.3.4.5", "12.5.1"), lambda: f"{RNG.randint(1000, 9999)} {RNG.randint(1000, 9999)} {RNG.randint(1000, 9999)} {RNG.randint(1000, 9999)} tokens")


def macs(n):
    """Returns MAC addresses, generated separately so that the other sentences do not change."""
    rng, rows = random.Random(n), []
    templates = ["Block the device {}", "ether {} txqueuelen 1000", '"mac": "{}"', "reserve 10.0.0.7 for {}", "({})", "wake {} at six"]
    for at in range(n):
        pairs = ["3c"] + ["".join(rng.choice("0123456789abcdef") for _ in range(2)) for _ in range(5)]
        value = [":".join(pairs), "-".join(pairs).upper(), ".".join("".join(pairs[i:i + 2]) for i in (0, 2, 4))][at % 3]
        start = templates[at % len(templates)].index("{}")
        rows.append({"text": templates[at % len(templates)].replace("{}", value), "spans": [["mac", start, start + len(value)]], "looks": None})
    return rows


DIGIT_FORMS = ["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "০১২৩৪৫৬৭৮৯", "๐๑๒๓๔๕๖๗๘๙", "０１２３４５６７８９", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡",
               "⁰¹²³⁴⁵⁶⁷⁸⁹", "⓪①②③④⑤⑥⑦⑧⑨", "႐႑႒႓႔႕႖႗႘႙", "᠐᠑᠒᠓᠔᠕᠖᠗᠘᠙"]
CRYPT = ["$apr1$", "$1$", "$6$", "$2y$10$", "$2b$12$", "$5$", "{SHA}", "{SSHA}", "pbkdf2_sha256$600000$", "$argon2id$v=19$m=65536,t=3,p=4$"]


def other_forms(n):
    """Returns values in forms that people and programs write besides the usual one, and look-alikes; generated separately."""
    rng, rows = random.Random(n), []
    some = lambda alphabet, k: "".join(rng.choice(alphabet) for _ in range(k))
    hexes = lambda k: some("0123456789abcdef", k)

    def mixed(k, more=""):
        while True:
            text = some(ALNUM + more, k)
            if sum(c.isdigit() for c in text) >= 4 and any(c.isupper() for c in text) and any(c.islower() for c in text):
                return text

    def add(template, kind, value):
        start = len(template[:template.index("{}")].encode())
        rows.append({"text": template.replace("{}", value), "spans": [[kind, start, start + len(value.encode())]], "looks": None})

    def crypt(at):
        start = CRYPT[at % len(CRYPT)]
        length = {"$6$": 86, "{SHA}": 27, "{SSHA}": 38, "$5$": 43}.get(start, 53 if start.startswith("$2") else 43 if len(start) > 7 else 22)
        salt = "" if start.startswith(("$2", "{")) else mixed(8) + "$"
        return start + salt + mixed(length) + ("=" if start == "{SHA}" else "")

    hosts = ["quillpost.net", "fernmail.org", "nordlys.no", "harbour-mail.com"]
    for at in range(n):
        form = DIGIT_FORMS[at % len(DIGIT_FORMS)]
        digits = str.maketrans(DIGIT, form)
        local, host = f"{rng.choice(FIRST)}.{rng.choice(LAST)}", hosts[at % len(hosts)]
        number = luhn("4539" + some("123456789", 2) + some(DIGIT, 9))
        add(["Pay with {} today", "my card is {}", "card: {}"][at % 3], "card", grouped(number, [4] * 4, [" ", "", "-"][at % 3]).translate(digits))
        add(["Call {} please", "my phone number is {}"][at % 2], "phone", ("+49 151 " + some("23456789", 4) + some(DIGIT, 4)).translate(digits))
        add(["my ssn is {}", "SSN: {}"][at % 2], "ssn", f"{rng.choice(['312', '418', '527'])}-{rng.randint(11, 98)}-{rng.randint(1001, 9998)}".translate(digits))
        odd = [f"{local} @ {host}", f"{local} @{host}", f"{local}@ {host}", f"{local}@{host.replace('.', '․')}", f"{local}﹫{host}", f"{local}@{host.replace('-', chr(0x2010))}",
               f"{local}＠{host.replace('.', '．')}", f"{local}@{host.replace('.', ' .')}", f"{local} @ {host.replace('.', ' . ')}", f"\"{local.replace('.', ' ')}\"@{host}"][at % 10]
        add(["Send a note to {} about the plan", "Write to {}, please", "{} is my address"][at % 3], "email", odd)
        encoded = base64.b64encode(f"{local}@{host}".encode()).decode()
        add(["decode {} for me", "what is in data:text/plain;base64,{} ?", "base64: {}", "Is {} valid base64?"][at % 4], "email", encoded if at % 2 else encoded.rstrip("="))
        add(["my ethereum private key 0x{}", "wallet private key: 0x{}", "PRIVATE_KEY=0x{}", "my private key is 0x{}"][at % 4], "key", hexes(64))
        add(["Cookie: session={}; theme=dark", "Set-Cookie: PHPSESSID={}; path=/; HttpOnly", "curl -H 'Cookie: lang=en; JSESSIONID={}'", "document.cookie = \"sid={}\"", "Cookie: connect.sid=s%3A{}", "Set-Cookie: laravel_session={}; expires=Wed, 21 Oct 2026 07:28:00 GMT",
             "the request had JSESSIONID={}", "Cookie: ASP.NET_SessionId={}"][at % 8], "token", mixed(rng.choice([24, 26, 32])))
        add(["mira:{}", "user entry tomas:{}:19000:0:99999:7:::", "the hash in the database is {}", "password_hash = '{}'"][at % 4], "key", crypt(at))
    stay = [
        ("cookie", lambda: rng.choice(["Cookie: theme=dark; lang=en-GB", "Set-Cookie: consent=yes; path=/; Max-Age=3600", "accept the cookie policy", "bake cookies: flour=200 g, sugar=150 g", "document.cookie = 'a=b'", "sessions=12 users=40", "session=morning"])),
        ("hash", lambda: rng.choice([f"transaction 0x{hexes(64)}", f"block hash 0x{hexes(64)}", f"contract at 0x{hexes(40)}", f"storage key 0x{hexes(64)}", f"public key 0x{hexes(64)}", "costs $1$ or $6$ a piece", "$2y is a variable", "use {SHA} or {SSHA} as the scheme"])),
        ("sign", lambda: rng.choice(["dinner @ noon", f"{rng.randint(2, 9)} pcs @ 3.50 each", "talk to @mira.keller about it", "lodash @ 4.17.21", "icon @ 2x.png", "see you @ the office", "Follow @quillpost .net is our stack", "ssh mira@build-host .profile", "x.py @ main"])),
        ("digits", lambda: rng.choice(["x² + y³ = 10⁹", f"① Call ② Write ③ Wait {rng.randint(100, 999)}", "5 m² and 20 m³", f"the year {some('٠١٢٣٤٥٦٧٨٩', 4)}", "Chapter ⑫, note ⁴", f"order {some('０１２３４５６７８９', 10)}", f"{rng.randint(10, 99)}️⃣ steps"])),
        ("base64", lambda: "decode " + base64.b64encode(rng.choice(["the meeting is at noon", "hello world, again", "a @ b and so on", '{"city": "Oslo", "days": 3}']).encode()).decode()),
    ]
    for at in range(2 * n):
        looks, make = stay[at % len(stay)]
        rows.append({"text": make(), "spans": [], "looks": looks})
    return rows


# Names of persons who do not exist, as they are written in many languages.
PERSONS = ["Mira Keller", "Tomas Oduya", "Aiko Tanaka", "Lena Brandt", "João Pereira", "Priya Nair", "Wei Zhao", "Chloé Moreau",
           "Samir Haddad", "Ingrid Solberg", "Owen Pryce", "Zeynep Aydın", "Katarzyna Wójcik", "Siobhán O'Rourke", "Ngozi Eze",
           "Anh Trần", "Carlos Ibáñez", "Fatima Al-Masri", "Lars Lindqvist", "Marguerite Dubois-Laval", "Dmitri Sokolov", "Ji-woo Han"]
GIVEN = ["Mira", "Tomas", "Aiko", "Lena", "João", "Priya", "Chloé", "Samir", "Ingrid", "Owen", "Zeynep", "Siobhán", "Ngozi"]
NAME_LINES = [
    "Send an email to {} about the meeting on Friday", "Remind me to call {} tomorrow at 9", "my name is {} and I need a new card", "Book a table for two under the name {}",
    "Has {} answered my message yet?", "Schedule a call between {} and {} next Tuesday", "I am {}, born 1984-02-03, please update my profile",
    "Transfer 40 euros to {}", "Add {} as a passenger on flight LH 454", "Dear {},\nthank you for your order.\nKind regards\n{}",
    "The patient {} was admitted on 3 May with chest pain", "create a contact for {} in the CRM", "Ask Dr. {} for an appointment in Paris",
    "{}'s birthday is on 12 March, order flowers", "cc {} and my manager {}", "Who approved this? I think it was {}.", "Please share the folder with {} (read only)",
    "tell {} that the Berlin office is closed", "Mrs. {} lives next door", "user: {} role: admin, reset the password",
    "Schreib {} eine Nachricht, dass ich später komme", "Mein Name ist {} und ich möchte kündigen", "Envía un mensaje a {} por favor", "Je m'appelle {}, je cherche un hôtel à Lyon",
    "Meu nome é {} e quero cancelar o pedido", "Invia una mail a {} domani mattina",
]
GIVEN_LINES = ["Tell {} I'm running late", "Is {} free on Thursday?", "Text {}: see you at 8", "hey it's {}, what's the weather in Oslo", "Invite {} and {} to dinner", "Play the playlist that {} shared with me"]
STREETS = ["22 Acacia Avenue", "4410 Larkspur Lane, Apt 4", "7 Mill Road", "1189 North Harbor Drive, Unit 12", "903 Oakhurst Blvd", "15 Rosewood Crescent", "86 Quarry Hill Rd", "301 E 7th Street",
           "12 Old Station Close", "5540 Pine Ridge Ct", "Lindenweg 4b", "Gartenstraße 112", "Am Mühlbach 9", "12 rue des Tilleuls", "48 boulevard du Moulin", "Calle de los Olivos 23", "Rua das Acácias, 310",
           "Via dei Gelsomini 18", "Kastanjelaan 77", "Björkgatan 5", "ul. Lipowa 14/3"]
STREET_LINES = ["Deliver the parcel to {}, please", "I live at {}", "my new address is {}, change it in the account", "Send a taxi to {} at 6:30", "Pick me up from {} and drive to the airport",
                "ship_to: {}", "Update the billing address to {}", "The house at {} is for sale, is it worth it?", "Order a pizza with olives to {}", "meet at {}, second floor"]
LOWER_STREETS = ["22 acacia avenue", "4410 larkspur lane", "86 quarry hill rd", "903 oakhurst blvd"]
STAY_PEOPLE = {
    "month or day": ["What is on in May?", "Book a room from 3 April to 5 June", "Remind me every Sunday in August", "the may 2024 invoice", "Is Easter Monday a holiday?"],
    "city": ["What is the weather in Paris?", "weather in Berkeley, CA", "Find hotels in San Jose near the airport", "flights from Florence to Sydney", "Is it raining in Lincoln?", "Restaurants in Charlotte", "Time zone of Jackson, Mississippi",
             "Wie ist das Wetter in Magdeburg?", "Météo à Saint-Étienne", "trains from Victoria to Brighton", "best museums of Madrid", "House prices in Austin and Houston"],
    "company or product": ["Compare Jordan shoes under 100 dollars", "What is the stock price of Wells Fargo?", "Apple earnings of last quarter", "Open my Morgan Stanley account", "Is Tesla up today?", "Find a Mercedes dealer", "Ben & Jerry's flavours",
                           "Order a Margherita and a Caesar salad", "Search JPMorgan Chase news", "Levi's jeans size 32", "install Jenkins and Jupyter", "Update Siri and Alexa settings"],
    "code": ['{"name": "get_weather", "city": "Paris"}', "def mark_done(rose: str) -> None", "call send_mail with subject 'Hello'", 'enum: ["red", "amber", "jade"]', "SELECT name FROM users WHERE grace = 1", "class Will(Document): pass",
             "function: frank_check, version 3", '"type": "string", "description": "Name of the user"', "git checkout feature/bill-split", "python train.py --model bert-base"],
    "plain word": ["Will it rain?", "Mark the task as done", "Can you bill the client?", "I have faith and hope", "the rose is red", "Pay by cheque or cash, frank answer please", "Grace period of 14 days", "Order two art prints", "Set an alarm for dawn", "Dear Sir or Madam"],
    "place or sight": ["Opening hours of the Victoria and Albert Museum", "Is there a path around Lake Louise?", "What is Wall Street?", "the population of Saint Helena", "Directions to JFK airport", "traffic on Fifth Avenue", "Tickets for Madison Square Garden"],
    "number and words": ["5 Google Drive files", "12 months of data", "9 Supreme Court cases", "top 10 movies of 1999", "3 bedroom flats in Leeds", "20 minute drive", "42 Wallaby downloads", "2 way binding", "Route 66 trip", "page 7 of Chapter 3"],
    "public figure": ["play a song by Freddie Mercury", "Who is Albert Einstein?", "movies with Meryl Streep", "books by Agatha Christie", "When was Marie Curie born?", "latest news about Lionel Messi", "quotes of Oscar Wilde", "paintings by Frida Kahlo"],
}


def people():
    """Returns sentences with names and street addresses, and look-alikes; generated separately."""
    rng, rows = random.Random(77), []

    def labelled(template, kind, values):
        text, spans, parts = "", [], template.split("{}")
        for at, part in enumerate(parts):
            text += part
            if at + 1 < len(parts):
                value = values[at % len(values)]
                spans.append([kind, len(text.encode()), len((text + value).encode())])
                text += value
        rows.append({"text": text, "spans": spans, "looks": None})

    for at, template in enumerate(NAME_LINES * 3):
        labelled(template, "name", rng.sample(PERSONS, 2))
    for template in GIVEN_LINES * 4:
        labelled(template, "name", rng.sample(GIVEN, 2))
    for template in rng.sample(NAME_LINES, 20):
        labelled(template, "name", [name.lower() for name in rng.sample(PERSONS, 2)])
    for at in range(3 * len(STREETS)):
        labelled(STREET_LINES[(at * 3 + at // len(STREETS)) % len(STREET_LINES)], "street-address", [STREETS[at % len(STREETS)]])
    for at, street in enumerate(LOWER_STREETS * 2):
        labelled(STREET_LINES[at % len(STREET_LINES)].lower(), "street-address", [street])
    rows.extend({"text": text, "spans": [], "looks": looks} for looks, texts in STAY_PEOPLE.items() for text in texts)
    rng.shuffle(rows)
    return rows


def isbn13():
    body = "978" + take(DIGIT, 9)
    return body + str(-sum(int(c) * (1, 3)[i % 2] for i, c in enumerate(body)) % 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "tests" / "privacy")
    args = parser.parse_args()
    positives()
    look_alikes()
    args.out.mkdir(parents=True, exist_ok=True)
    RNG.shuffle(LINES)
    parts = {"aside": LINES[: len(LINES) // 3], "open": LINES[len(LINES) // 3:]}
    for rows in parts.values():
        rows.extend(macs(3 if rows is parts["aside"] else 6))
        rows.extend(other_forms(10 if rows is parts["aside"] else 24))
        for row in rows:
            if row["text"].startswith("aa:bb:"):
                row.update(spans=[["mac", 0, len(row["text"])]], looks=None)
    parts["people"] = people()
    for name, lines in parts.items():
        (args.out / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
