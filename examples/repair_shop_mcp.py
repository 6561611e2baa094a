"""The bicycle workshop of raw/repair-shop.toml as an MCP server, written by hand in plain Python.

It has the same functions, results and errors as the declared environment, so that one can be compared with the other, and
it shows how an environment of your own may look. The state is a JSON file that REPAIR_SHOP_STATE names: it is read for each
call and written after each change, so the server itself remembers nothing and can be used for many episodes.
examples/repair-shop/ has the list of tools and the settings of the environment.

It needs Python 3.8 and nothing else. Messages are JSON-RPC 2.0, one a line, on standard input and output.
"""

import datetime
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PRICES = {
    "inspection": 39.0,
    "brake_service": 55.0,
    "gear_service": 62.5,
    "wheel_truing": 28.0,
    "tyre_change": 18.5,
    "battery_check": 45.0,
}
RATES = {"EUR": 1.0, "USD": 1.08, "GBP": 0.85, "CHF": 0.94, "DKK": 7.46}
DISCOUNTS = {"gold": (15, 0.85), "silver": (5, 0.95), "standard": (0, 1.0)}
OPEN = ("booked", "in_progress")
MAX_BOOKED = 3


class Refusal(Exception):
    """A request that the desk refuses, with the reason for the caller."""


class Workshop:
    """The desk: one method for each tool."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.today = self.data["today"]

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.data, file, ensure_ascii=False)

    # ---- rows

    def get(self, table, key, what):
        for row in self.data[table]:
            if row["id"] == key:
                return row
        raise Refusal("There is no %s %s." % (what, key))

    def next_id(self, table, prefix, start):
        numbers = [int(row["id"][len(prefix):]) for row in self.data[table]]
        return "%s%d" % (prefix, max([start - 1] + numbers) + 1)

    def owner(self, order):
        bicycle = self.get("bicycles", order["bicycle_id"], "bicycle")
        return self.get("customers", bicycle["customer_id"], "customer")

    def has_open_order(self, bicycle_id):
        return any(order["bicycle_id"] == bicycle_id and order["status"] in OPEN for order in self.data["orders"])

    def check_day(self, day):
        booked = [o for o in self.data["orders"] if o["booked_for"] == day and o["status"] == "booked"]
        if len(booked) >= MAX_BOOKED:
            raise Refusal("The day %s is fully booked." % day)

    # ---- customers

    def find_customers(self, name=None, city=None, membership=None):
        found = [
            pick(row, "id", "name", "city", "membership")
            for row in self.data["customers"]
            if (name is None or name.lower() in row["name"].lower())
            and (city is None or row["city"] == city)
            and (membership is None or row["membership"] == membership)
        ]
        return {"customers": sorted(found, key=lambda row: row["name"])}

    def get_customer(self, customer_id):
        row = self.get("customers", customer_id, "customer")
        count = sum(bicycle["customer_id"] == customer_id for bicycle in self.data["bicycles"])
        return dict(row, bicycle_count=count)

    def add_customer(self, name, city, membership):
        row = {
            "id": self.next_id("customers", "C-", 1001),
            "name": name,
            "city": city,
            "membership": membership,
            "member_since": self.today,
        }
        self.data["customers"].append(row)
        return row

    def change_membership(self, customer_id, membership):
        row = self.get("customers", customer_id, "customer")
        if row["membership"] == membership:
            raise Refusal("Customer %s already has the membership %s." % (customer_id, membership))
        row["membership"] = membership
        return pick(row, "id", "name", "membership")

    # ---- bicycles

    def list_bicycles(self, customer_id, kind=None):
        customer = self.get("customers", customer_id, "customer")
        found = [
            pick(row, "id", "brand", "model", "kind", "year")
            for row in self.data["bicycles"]
            if row["customer_id"] == customer_id and (kind is None or row["kind"] == kind)
        ]
        return {"owner": customer["name"], "bicycles": sorted(found, key=lambda row: (-row["year"], row["id"]))}

    def register_bicycle(self, customer_id, brand, model, kind, year):
        self.get("customers", customer_id, "customer")
        row = {
            "id": self.next_id("bicycles", "B-", 1040),
            "customer_id": customer_id,
            "brand": brand,
            "model": model,
            "kind": kind,
            "year": year,
        }
        self.data["bicycles"].append(row)
        return row

    def transfer_bicycle(self, bicycle_id, new_customer_id):
        row = self.get("bicycles", bicycle_id, "bicycle")
        customer = self.get("customers", new_customer_id, "customer")
        if row["customer_id"] == new_customer_id:
            raise Refusal("Bicycle %s already belongs to customer %s." % (bicycle_id, new_customer_id))
        if self.has_open_order(bicycle_id):
            raise Refusal("Bicycle %s has an open repair order." % bicycle_id)
        row["customer_id"] = new_customer_id
        return {"id": bicycle_id, "customer_id": new_customer_id, "owner": customer["name"]}

    def remove_bicycle(self, bicycle_id):
        row = self.get("bicycles", bicycle_id, "bicycle")
        if any(order["bicycle_id"] == bicycle_id for order in self.data["orders"]):
            raise Refusal("Bicycle %s has repair orders and cannot be removed." % bicycle_id)
        self.data["bicycles"].remove(row)
        return {"removed": bicycle_id, "customer_id": row["customer_id"]}

    # ---- repair orders

    def find_orders(self, limit, bicycle_id=None, status=None, mechanic=None, from_day=None, to_day=None):
        found = [
            row
            for row in self.data["orders"]
            if (bicycle_id is None or row["bicycle_id"] == bicycle_id)
            and (status is None or row["status"] == status)
            and (mechanic is None or row["mechanic"] == mechanic)
            and (from_day is None or row["booked_for"] >= from_day)
            and (to_day is None or row["booked_for"] <= to_day)
        ]
        found.sort(key=lambda row: (row["booked_for"], row["id"]))
        columns = ("id", "bicycle_id", "service", "status", "booked_for", "mechanic")
        return {"orders": [pick(row, *columns) for row in found[:limit]]}

    def get_order(self, order_id):
        return self.get("orders", order_id, "repair order")

    def book_repair(self, bicycle_id, service, day):
        self.get("bicycles", bicycle_id, "bicycle")
        if day < self.today:
            raise Refusal("The day %s is in the past." % day)
        if self.has_open_order(bicycle_id):
            raise Refusal("Bicycle %s already has an open repair order." % bicycle_id)
        self.check_day(day)
        row = {
            "id": self.next_id("orders", "R-", 2001),
            "bicycle_id": bicycle_id,
            "service": service,
            "status": "booked",
            "booked_for": day,
            "mechanic": None,
            "labour": PRICES[service],
            "parts_total": 0.0,
        }
        self.data["orders"].append(row)
        return pick(row, "id", "bicycle_id", "service", "status", "booked_for", "labour")

    def reschedule_order(self, order_id, new_day):
        row = self.get("orders", order_id, "repair order")
        if row["status"] != "booked":
            raise Refusal("Repair order %s is %s and cannot be moved." % (order_id, row["status"]))
        if new_day < self.today:
            raise Refusal("The day %s is in the past." % new_day)
        if row["booked_for"] == new_day:
            raise Refusal("Repair order %s is already booked for %s." % (order_id, new_day))
        self.check_day(new_day)
        row["booked_for"] = new_day
        return pick(row, "id", "status", "booked_for")

    def assign_mechanic(self, order_id, mechanic):
        row = self.get("orders", order_id, "repair order")
        if row["status"] not in OPEN:
            raise Refusal("Repair order %s is %s; no mechanic can be assigned." % (order_id, row["status"]))
        if row["mechanic"] == mechanic:
            raise Refusal("%s is already assigned to repair order %s." % (mechanic, order_id))
        row["mechanic"] = mechanic
        return pick(row, "id", "service", "status", "mechanic")

    def start_repair(self, order_id):
        row = self.get("orders", order_id, "repair order")
        if row["status"] != "booked":
            raise Refusal("Repair order %s is %s and cannot be started." % (order_id, row["status"]))
        if row["mechanic"] is None:
            raise Refusal("Repair order %s has no mechanic yet." % order_id)
        row["status"] = "in_progress"
        return pick(row, "id", "status", "mechanic")

    def finish_repair(self, order_id):
        row = self.get("orders", order_id, "repair order")
        if row["status"] != "in_progress":
            raise Refusal("Repair order %s is %s, not in_progress." % (order_id, row["status"]))
        row["status"] = "ready"
        return pick(row, "id", "bicycle_id", "status")

    def cancel_order(self, order_id):
        row = self.get("orders", order_id, "repair order")
        if row["status"] == "cancelled":
            raise Refusal("Repair order %s is already cancelled." % order_id)
        if row["status"] != "booked":
            raise Refusal("Repair order %s is %s and can no longer be cancelled." % (order_id, row["status"]))
        row["status"] = "cancelled"
        return pick(row, "id", "bicycle_id", "status")

    def count_orders(self, status=None, mechanic=None):
        found = [
            row
            for row in self.data["orders"]
            if (status is None or row["status"] == status) and (mechanic is None or row["mechanic"] == mechanic)
        ]
        return {"count": len(found)}

    # ---- parts

    def find_parts(self, min_stock, category=None, name=None, max_price=None):
        found = [
            row
            for row in self.data["parts"]
            if (category is None or row["category"] == category)
            and (name is None or name.lower() in row["name"].lower())
            and (max_price is None or row["price"] <= max_price)
            and row["stock"] >= min_stock
        ]
        return {"parts": sorted(found, key=lambda row: (row["price"], row["id"]))}

    def use_part(self, order_id, part_id, quantity):
        order = self.get("orders", order_id, "repair order")
        part = self.get("parts", part_id, "part")
        if order["status"] != "in_progress":
            text = "Repair order %s is %s; parts can only be used while it is in_progress."
            raise Refusal(text % (order_id, order["status"]))
        if part["stock"] < quantity:
            raise Refusal("Only %d of part %s in stock." % (part["stock"], part_id))
        order["parts_total"] = round(order["parts_total"] + part["price"] * quantity, 2)
        part["stock"] -= quantity
        return {
            "order_id": order_id,
            "part_id": part_id,
            "part_name": part["name"],
            "stock_left": part["stock"],
            "parts_total": order["parts_total"],
        }

    # ---- prices and invoices

    def price(self, order):
        _, factor = DISCOUNTS[self.owner(order)["membership"]]
        return round((order["labour"] + order["parts_total"]) * factor, 2)

    def quote_repair(self, order_id):
        order = self.get("orders", order_id, "repair order")
        if order["status"] == "cancelled":
            raise Refusal("Repair order %s is cancelled." % order_id)
        percent, _ = DISCOUNTS[self.owner(order)["membership"]]
        return {
            "order_id": order_id,
            "labour": order["labour"],
            "parts_total": order["parts_total"],
            "discount_percent": percent,
            "total": self.price(order),
        }

    def create_invoice(self, order_id):
        order = self.get("orders", order_id, "repair order")
        if order["status"] != "ready":
            raise Refusal("Repair order %s is %s, not ready." % (order_id, order["status"]))
        if any(invoice["order_id"] == order_id for invoice in self.data["invoices"]):
            raise Refusal("Repair order %s already has an invoice." % order_id)
        due_on = datetime.date.fromisoformat(self.today) + datetime.timedelta(days=14)
        row = {
            "id": self.next_id("invoices", "I-", 5001),
            "order_id": order_id,
            "amount": self.price(order),
            "issued_on": self.today,
            "due_on": due_on.isoformat(),
            "status": "open",
            "method": None,
        }
        self.data["invoices"].append(row)
        named = dict(row, customer_id=self.owner(order)["id"])
        return pick(named, "id", "order_id", "customer_id", "amount", "due_on", "status")

    def find_invoices(self, status=None, order_id=None, due_until=None):
        found = [
            row
            for row in self.data["invoices"]
            if (status is None or row["status"] == status)
            and (order_id is None or row["order_id"] == order_id)
            and (due_until is None or row["due_on"] <= due_until)
        ]
        return {"invoices": sorted(found, key=lambda row: (row["due_on"], row["id"]))}

    def pay_invoice(self, invoice_id, method):
        row = self.get("invoices", invoice_id, "invoice")
        if row["status"] != "open":
            raise Refusal("Invoice %s is already paid." % invoice_id)
        row.update(status="paid", method=method)
        return pick(row, "id", "order_id", "amount", "status", "method")

    def total_outstanding(self, due_until=None):
        total = 0.0
        for row in self.data["invoices"]:
            if row["status"] == "open" and (due_until is None or row["due_on"] <= due_until):
                total += row["amount"]
        return {"total": round(total, 2), "currency": "EUR"}

    def convert_currency(self, amount, from_currency, to_currency):
        converted = round(amount * RATES[to_currency] / RATES[from_currency], 2)
        return {"amount": converted, "currency": to_currency}


def pick(row, *columns):
    return {column: row[column] for column in columns}


# ---- arguments


def is_date(value):
    try:
        return len(value) == 10 and datetime.date.fromisoformat(value) is not None
    except (TypeError, ValueError):
        return False


def fault(schema, value):
    """What a value should be, or None if it is right."""
    kind = schema["type"]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if schema.get("format") == "date":
        if not is_date(value):
            return "a date of the form YYYY-MM-DD"
    elif kind == "string" and not isinstance(value, str):
        return "a string"
    elif kind == "integer" and not (is_number and isinstance(value, int) and -(2**63) <= value < 2**63):
        return "an integer"
    elif kind == "number" and not is_number:
        return "a number"
    if "enum" in schema and value not in schema["enum"]:
        return "one of: " + ", ".join(schema["enum"])
    if "minimum" in schema and value < schema["minimum"]:
        return "at least %s" % schema["minimum"]
    if "maximum" in schema and value > schema["maximum"]:
        return "at most %s" % schema["maximum"]
    return None


def checked(schema, arguments):
    """The arguments with defaults."""
    for name in arguments:
        if name not in schema["properties"]:
            raise Refusal('Unknown parameter "%s".' % name)
    read = {}
    for name, property_schema in schema["properties"].items():
        if name in arguments:
            expected = fault(property_schema, arguments[name])
            if expected:
                raise Refusal('Parameter "%s" must be %s.' % (name, expected))
            read[name] = arguments[name]
        elif name in schema["required"]:
            raise Refusal('Missing required parameter "%s".' % name)
        elif "default" in property_schema:
            read[name] = property_schema["default"]
    return read


# ---- the protocol


class Server:
    def __init__(self):
        with open(os.path.join(FOLDER, "repair-shop", "tools.json"), encoding="utf-8") as file:
            self.tools = json.load(file)
        self.by_name = {tool["name"]: tool for tool in self.tools}
        self.path = os.environ["REPAIR_SHOP_STATE"]

    def result(self, method, parameters):
        if method == "initialize":
            return {
                "protocolVersion": parameters.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "repair-shop", "version": "1.0.0"},
            }
        if method == "tools/list":
            # In pages, as servers with many tools do.
            start = int(parameters.get("cursor", 0))
            page = {"tools": self.tools[start:start + 10]}
            if start + 10 < len(self.tools):
                page["nextCursor"] = str(start + 10)
            return page
        if method == "tools/call":
            return self.call(parameters["name"], parameters.get("arguments") or {})
        if method == "ping":
            return {}
        raise LookupError(method)

    def call(self, name, arguments):
        try:
            tool = self.by_name.get(name)
            if tool is None:
                raise Refusal('There is no function "%s".' % name)
            workshop = Workshop(self.path)
            answer = getattr(workshop, name)(**checked(tool["inputSchema"], arguments))
        except Refusal as refusal:
            return {"content": [{"type": "text", "text": str(refusal)}], "isError": True}
        if not tool["annotations"]["readOnlyHint"]:
            workshop.save()
        return {"content": [{"type": "text", "text": json.dumps(answer)}], "structuredContent": answer}

    def serve(self):
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message:
                continue
            reply = {"jsonrpc": "2.0", "id": message["id"]}
            try:
                reply["result"] = self.result(message["method"], message.get("params") or {})
            except LookupError as error:
                reply["error"] = {"code": -32601, "message": "unknown method %s" % error}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    Server().serve()
