//! Tests of declared environments: the sample, every operation, and faults of files.

use serde_json::{Value, json};

use super::*;
use crate::environment::{Effect, ValueSource};

const SAMPLE: &str = include_str!("../../../../raw/repair-shop.toml");

fn sample() -> Declared {
    Declared::read("raw/repair-shop.toml", SAMPLE).unwrap_or_else(|fault| panic!("{fault}"))
}

fn call(name: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Call::new(name, arguments)
}

/// Runs calls from the first state, and returns the results, failed ones as `{"failed": text}`.
fn results(environment: &Declared, calls: &[(&str, Value)]) -> Vec<Value> {
    let calls: Vec<Call> = calls.iter().map(|(name, arguments)| call(name, arguments.clone())).collect();
    let execution = environment.run(&environment.initial_states()[0], &calls).unwrap();
    assert_eq!(execution.state_hash, execution.end_state.as_ref().map(crate::canonical::state_hash));
    let failed = |seen: Observation| json!({"failed": seen.result});
    execution
        .observations
        .into_iter()
        .map(|seen| if seen.failure.is_some() { failed(seen) } else { seen.result })
        .collect()
}

#[test]
fn the_sample_has_what_it_promises() {
    let sample = sample();
    assert_eq!(sample.functions().len(), 25);
    let tables = &sample.shared.model.tables;
    assert_eq!(tables.len(), 5);
    assert_eq!(sample.initial_states().len(), 3);
    for state in sample.initial_states() {
        for table in tables {
            let n_rows = state.value[&table.name].as_array().unwrap().len();
            assert!((8..=20).contains(&n_rows), "{} of {} has {n_rows} rows", table.name, state.name);
        }
    }
    let writes = sample.functions().iter().filter(|function| function.effect == Some(Effect::Writes));
    assert_eq!(writes.count(), 14);
    let described = |function: &&Function| {
        function
            .parameters()
            .all(|(_, schema)| schema["description"].as_str().is_some_and(|text| text.len() > 5))
    };
    assert_eq!(sample.functions().iter().filter(described).count(), 25);
}

#[test]
fn a_repair_goes_from_booking_to_payment() {
    let seen = results(
        &sample(),
        &[
            (
                "register_bicycle",
                json!({"customer_id": "C-1007", "brand": "Velta", "model": "Pendler", "kind": "city", "year": 2022}),
            ),
            ("book_repair", json!({"bicycle_id": "B-1054", "service": "brake_service", "day": "2026-03-12"})),
            ("book_repair", json!({"bicycle_id": "B-1054", "service": "inspection", "day": "2026-03-13"})),
            ("start_repair", json!({"order_id": "R-2019"})),
            ("assign_mechanic", json!({"order_id": "R-2019", "mechanic": "Aylin"})),
            ("start_repair", json!({"order_id": "R-2019"})),
            ("use_part", json!({"order_id": "R-2019", "part_id": "P-303", "quantity": 1})),
            ("finish_repair", json!({"order_id": "R-2019"})),
            ("quote_repair", json!({"order_id": "R-2019"})),
            ("create_invoice", json!({"order_id": "R-2019"})),
            ("convert_currency", json!({"amount": 71.4, "to_currency": "USD"})),
            ("pay_invoice", json!({"invoice_id": "I-5009", "method": "card"})),
            ("pay_invoice", json!({"invoice_id": "I-5009", "method": "card"})),
        ],
    );
    assert_eq!(seen[0]["id"], "B-1054");
    assert_eq!(
        seen[1],
        json!({"id": "R-2019", "bicycle_id": "B-1054", "service": "brake_service", "status": "booked", "booked_for": "2026-03-12", "labour": 55.0})
    );
    assert_eq!(seen[2], json!({"failed": "Bicycle B-1054 already has an open repair order."}));
    assert_eq!(seen[3], json!({"failed": "Repair order R-2019 has no mechanic yet."}));
    assert_eq!(seen[5]["status"], "in_progress");
    assert_eq!(seen[6]["part_name"], "Disc rotor 180 mm");
    assert_eq!(seen[6]["parts_total"], json!(29.0));
    assert_eq!(
        seen[8],
        json!({"order_id": "R-2019", "labour": 55.0, "parts_total": 29.0, "discount_percent": 15, "total": 71.4})
    );
    assert_eq!(seen[9]["amount"], json!(71.4));
    assert_eq!((&seen[9]["due_on"], &seen[9]["customer_id"]), (&json!("2026-03-16"), &json!("C-1007")));
    assert_eq!(seen[10], json!({"amount": 77.11, "currency": "USD"}));
    assert_eq!(seen[11]["method"], "card");
    assert_eq!(seen[12], json!({"failed": "Invoice I-5009 is already paid."}));
}

#[test]
fn wrong_arguments_are_error_results() {
    let refused =
        |name: &str, arguments: Value| results(&sample(), &[(name, arguments)])[0]["failed"].clone();
    assert_eq!(refused("get_order", json!({})), "Missing required parameter \"order_id\".");
    assert_eq!(refused("get_order", json!({"order": "R-1"})), "Unknown parameter \"order\".");
    assert_eq!(refused("get_order", json!({"order_id": 7})), "Parameter \"order_id\" must be a string.");
    assert_eq!(refused("get_order", json!({"order_id": "R-1"})), "There is no repair order R-1.");
    assert_eq!(refused("find_orders", json!({"limit": 51})), "Parameter \"limit\" must be at most 50.");
    assert_eq!(
        refused("find_orders", json!({"from_day": "2026-02-30"})),
        "Parameter \"from_day\" must be a date of the form YYYY-MM-DD."
    );
    assert_eq!(
        refused("count_orders", json!({"status": "lost"})),
        "Parameter \"status\" must be one of: booked, in_progress, ready, collected, cancelled."
    );
    assert_eq!(refused("fly", json!({})), "There is no function \"fly\".");
}

/// A file with one table and the functions of a test.
fn small(functions: &str) -> String {
    format!(
        r#"
name = "small"
[tables.items.columns]
id = {{ type = "string", generate = "T-{{number}}" }}
name = {{ type = "string" }}
price = {{ type = "number", decimals = 2, minimum = 0 }}
parent = {{ type = "string", references = "items", optional = true }}
tags = {{ type = "strings", default = [] }}
[conversions.length]
factors = {{ m = 1, cm = 100 }}
[states.only]
today = 2026-01-31
[states.only.rows]
items = [
    ["T-1", "Saw", 20, "", ["steel"]],
    ["T-2", "Blade", 5.5, "T-1", []],
    {{ id = "T-9", name = "Box", price = 1 }},
]
{functions}
"#
    )
}

fn of(functions: &str) -> Declared {
    Declared::read("small.toml", &small(functions)).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn rows_are_found_sorted_and_cut() {
    let environment = of(r#"
[[functions]]
name = "f"
description = "d"
operation = "find"
table = "items"
where = [{ column = "price", less_than = "$below" }, { column = "tags", contains = "$tag" }]
sort = ["-price"]
limit = "$limit"
columns = ["name"]
parameters = { below = { type = "number", optional = true }, tag = { type = "string", optional = true }, limit = { type = "integer", optional = true } }
"#);
    let names = |arguments: Value| results(&environment, &[("f", arguments)])[0]["items"].clone();
    assert_eq!(names(json!({})), json!([{"name": "Saw"}, {"name": "Blade"}, {"name": "Box"}]));
    assert_eq!(names(json!({"below": 6, "limit": 1})), json!([{"name": "Blade"}]));
    assert_eq!(names(json!({"tag": "steel"})), json!([{"name": "Saw"}]));
    assert_eq!(names(json!({"below": 0})), json!([]));
}

#[test]
fn a_call_changes_everything_or_nothing() {
    let environment = of(r#"
[[functions]]
name = "take"
description = "d"
operation = "update"
table = "items"
key = "$id"
set = { price = { subtract = ["$row.price", "$by"] } }
also = [{ update = "items", where = [{ column = "parent", is = "$id" }], set = { price = { subtract = ["$it.price", "$by"] } } }]
parameters = { id = { column = "items.id" }, by = { type = "number" } }
[[functions]]
name = "remove"
description = "d"
operation = "delete"
table = "items"
key = "$id"
parameters = { id = { column = "items.id" } }
[[functions]]
name = "sell"
description = "d"
operation = "delete"
table = "items"
where = [{ column = "price", less_than = "$below" }]
parameters = { below = { type = "number" } }
"#);
    let start = environment.run(&environment.initial_states()[0], &[]).unwrap();
    let run = |name: &str, arguments: Value| {
        let execution = environment.run(&environment.initial_states()[0], &[call(name, arguments)]).unwrap();
        (
            execution.observations[0].result.clone(),
            execution.state_hash == start.state_hash,
            execution.end_state.unwrap(),
        )
    };
    let (result, is_same, _) = run("take", json!({"id": "T-1", "by": 10}));
    assert_eq!((result, is_same), (json!("items.price must be at least 0."), true));
    let (result, is_same, state) = run("take", json!({"id": "T-1", "by": 0.25}));
    assert_eq!(
        (&result["price"], is_same, &state["items"][1]["price"]),
        (&json!(19.75), false, &json!(5.25))
    );
    assert_eq!(run("remove", json!({"id": "T-1"})).0, "T-1 is still used in items.");
    assert_eq!(run("remove", json!({"id": "T-3"})).0, "No row of items has the id T-3.");
    let (_, _, state) = run("remove", json!({"id": "T-2"}));
    assert_eq!(state["items"].as_array().unwrap().len(), 2);
    let (_, _, state) = run("sell", json!({"below": 6}));
    assert_eq!(state["items"].as_array().unwrap().len(), 1);
}

#[test]
fn inserted_rows_have_ids_defaults_and_checked_references() {
    let environment = of(r#"
[[functions]]
name = "add"
description = "d"
operation = "insert"
table = "items"
values = { name = "$name", price = "$price", parent = "$parent" }
parameters = { name = { column = "items.name" }, price = { column = "items.price" }, parent = { column = "items.id", optional = true } }
[[functions]]
name = "total"
description = "d"
operation = "sum"
column = "items.price"
[[functions]]
name = "length"
description = "d"
operation = "convert"
conversion = "length"
amount = "$n"
from = "m"
to = "cm"
parameters = { n = { type = "number" } }
"#);
    let seen = results(
        &environment,
        &[
            ("add", json!({"name": "Nail", "price": 0.126})),
            ("add", json!({"name": "Nail", "price": 1, "parent": "T-77"})),
            ("add", json!({"name": "Nail", "price": 1, "parent": "T-10"})),
            ("total", json!({})),
            ("length", json!({"n": 1.5})),
        ],
    );
    assert_eq!(seen[0], json!({"id": "T-10", "name": "Nail", "price": 0.13, "parent": null, "tags": []}));
    assert_eq!(seen[1], json!({"failed": "No row of items has the id T-77."}));
    assert_eq!((&seen[2]["id"], &seen[2]["parent"]), (&json!("T-11"), &json!("T-10")));
    assert_eq!((&seen[3], &seen[4]), (&json!({"total": 27.63}), &json!({"amount": 150.0, "unit": "cm"})));
}

#[test]
fn docs_have_schemas_of_parameters_and_results() {
    let sample = sample();
    let doc = |name: &str| {
        let found = sample.functions().iter().find(|function| function.name() == name);
        Value::Object(found.unwrap().doc.clone())
    };
    let convert = doc("convert_currency");
    assert_eq!(convert["parameters"]["required"], json!(["amount", "to_currency"]));
    assert_eq!(convert["parameters"]["properties"]["from_currency"]["default"], "EUR");
    let quote = &doc("quote_repair")["response"]["properties"];
    assert_eq!(
        (&quote["total"], &quote["discount_percent"]),
        (&json!({"type": "number"}), &json!({"type": "integer"}))
    );
    let orders = &doc("find_orders")["response"]["properties"]["orders"];
    assert_eq!(orders["items"]["properties"]["mechanic"]["type"], json!(["string", "null"]));
}

#[test]
fn sources_follow_references_and_leave_out_what_is_only_written() {
    let sources = sample().value_sources();
    let of = |function: &str, parameter: &str| -> Vec<String> {
        let own =
            sources.iter().filter(|source| source.function == function && source.parameter == parameter);
        own.map(|source| match &source.source {
            ValueSource::State { path } => path.to_string(),
            ValueSource::Result { function, path } => format!("{function}: {path}"),
            ValueSource::Values(values) | ValueSource::Recorded(values) => format!("{} values", values.len()),
        })
        .collect()
    };
    let orders = of("cancel_order", "order_id");
    assert_eq!(orders[0], "orders[*].id");
    assert!(
        ["find_orders: orders[*].id", "book_repair: id", "find_invoices: invoices[*].order_id"]
            .iter()
            .all(|one| orders.iter().any(|other| other == one)),
        "{orders:?}"
    );
    assert_eq!(of("add_customer", "name"), ["5 values"]);
    assert_eq!(of("list_bicycles", "kind")[0], "bicycles[*].kind");
    assert!(of("convert_currency", "amount").contains(&"quote_repair: total".to_owned()));
}

#[test]
fn each_fault_of_a_file_has_its_place() {
    let with = |functions: &str| Declared::read("small.toml", &small(functions)).unwrap_err();
    let read = "[[functions]]\nname = \"f\"\ndescription = \"d\"\noperation = \"read\"\ntable = \"items\"\nkey = \"$id\"\nparameters = { id = { column = \"items.id\" } }\n";
    for (text, line, key, hint) in [
        ("", 1, "functions", None),
        (&read.replace("items\"\n", "item\"\n"), 23, "functions[0].table", Some("did you mean items?")),
        (&read.replace("$id", "$ident"), 24, "functions[0].key", Some("did you mean id?")),
        (
            &read.replace("items.id", "items.ids"),
            25,
            "functions[0].parameters.id.column",
            Some("did you mean id?"),
        ),
        (&read.replace("read", "fetch"), 22, "functions[0].operation", None),
        (
            &(read.to_owned() + "colums = [\"id\"]\n"),
            26,
            "functions[0].colums",
            Some("did you mean columns?"),
        ),
        (&(read.to_owned() + "missing = \"no {it}\"\n"), 26, "functions[0].missing", None),
        (
            &(read.to_owned() + "require = [{ value = 1, error = \"e\" }]\n"),
            26,
            "functions[0].require[0].is",
            None,
        ),
        (
            &read.replace("items.id\"", "items.id\", default = 3"),
            25,
            "functions[0].parameters.id.default",
            None,
        ),
        (&(read.to_owned() + read), 27, "functions[1].name", None),
        (&read.replace("name = \"f\"", "name = f"), 20, "the file", None),
    ] {
        let fault = with(text);
        assert_eq!((fault.line, fault.key.as_str()), (line, key), "{fault}");
        if hint.is_some() {
            assert_eq!(fault.hint.as_deref(), hint, "{fault}");
        }
    }
}

#[test]
fn rows_are_checked_when_the_file_is_read() {
    let good =
        small("[[functions]]\nname = \"f\"\ndescription = \"d\"\noperation = \"count\"\ntable = \"items\"\n");
    let with =
        |from: &str, to: &str| Declared::read("small.toml", &good.replace(from, to)).unwrap_err().to_string();
    assert_eq!(
        with("5.5", "-1"),
        "environment small.toml:16: states.only.rows.items[1].price: found -1, expected at least 0"
    );
    assert!(
        with("\"T-1\", []", "\"T-4\", []")
            .contains("expected the key of a row of items, found \"T-4\" in parent")
    );
    assert!(with("T-9", "T-1").contains("items[2]: found"));
    assert!(with("today = 2026-01-31", "today = \"soon\"").contains("expected a date such as"));
    assert!(with(", 20, \"\"", ", 20").contains("a list of 5 values: id, name, price, parent, tags"));
    assert!(with("name = \"Box\", ", "").contains("items[2].name: found no such key, expected a value"));
    assert!(with("references = \"items\"", "references = \"item\"").ends_with("hint: did you mean items?"));
}

#[test]
fn a_state_of_another_environment_is_refused() {
    let sample = sample();
    let mut state = sample.initial_states()[0].clone();
    assert!(sample.run(&state, &[]).is_ok());
    state.value["today"] = json!("2026-03-03");
    assert!(
        sample.run(&state, &[]).unwrap_err().to_string().ends_with("its content is not that of the file")
    );
    state.name = "other".to_owned();
    assert!(sample.start(&state).is_err());
}

use proptest::prelude::*;

/// What a person may write in place of something else.
const PIECES: [&str; 14] =
    ["", "\"", "[", "]", "{", "}", "=", "$row", "{x}", "1e999", "true", "\n", "references = \"items\"", "é"];

proptest! {
    #[test]
    fn a_damaged_file_is_read_or_has_a_fault(at in 0.0..1.0_f64, length in 0usize..30, piece in 0..PIECES.len()) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a text")]
        let mut start = (at * SAMPLE.len() as f64) as usize;
        while !SAMPLE.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + length).min(SAMPLE.len());
        while !SAMPLE.is_char_boundary(end) {
            end += 1;
        }
        let text = format!("{}{}{}", &SAMPLE[..start], PIECES[piece], &SAMPLE[end..]);
        match Declared::read("damaged.toml", &text) {
            Ok(environment) => {
                let state = &environment.initial_states()[0];
                let names = environment.functions().iter().map(|function| Call::new(function.name(), serde_json::Map::new()));
                let calls: Vec<Call> = names.collect();
                prop_assert_eq!(environment.run(state, &calls).unwrap().observations.len(), calls.len());
            }
            Err(fault) => prop_assert!(fault.line >= 1 && fault.line <= text.lines().count() + 1, "{fault}"),
        }
    }
}

#[test]
fn a_text_that_doubles_with_each_call_is_refused_in_time() {
    let environment = of(r#"
[[functions]]
name = "grow"
description = "d"
operation = "update"
table = "items"
key = "T-1"
set = { name = { text = "{row.name}{row.name}" } }
columns = ["id"]
"#);
    let calls = vec![("grow", json!({})); 40];
    let seen = results(&environment, &calls);
    assert_eq!(seen[39], json!({"failed": "The text is too long."}));
    assert_eq!(seen.iter().filter(|result| result.get("failed").is_none()).count(), 18);
}

#[test]
fn what_nests_without_end_is_a_fault() {
    for text in [
        "[".repeat(50_000),
        format!("name = {}", "{ a = ".repeat(50_000)),
        format!("a = {}", "[".repeat(50_000)),
    ] {
        assert!(Declared::read("deep.toml", &text).is_err());
    }
    let table = small("").replace("[tables.items", "[tables.today");
    let fault = Declared::read("small.toml", &table).unwrap_err();
    assert_eq!((fault.key.as_str(), fault.expected.as_str()), ("tables.today", "another name"));
}

/// An update of an item.
fn update(set: &str) -> String {
    format!(
        "[[functions]]\nname = \"f\"\ndescription = \"d\"\noperation = \"update\"\ntable = \"items\"\nkey = \"$id\"\nset = {{ {set} }}\nparameters = {{ id = {{ column = \"items.id\" }} }}\n"
    )
}

#[test]
fn constants_are_checked_against_their_columns() {
    for (set, key, expected, found) in [
        ("price = \"ten\"", "price", "a number", "\"ten\""),
        ("price = -1", "price", "at least 0", "-1"),
        ("name = 3", "name", "a string", "3"),
        ("name = true", "name", "a string", "true"),
        ("tags = [1]", "tags", "a list of strings", ""),
        (
            "price = { choose = \"$id\", cases = { T-1 = 1, T-2 = \"two\" } }",
            "price.cases.T-2",
            "a number",
            "\"two\"",
        ),
        (
            "price = { choose = \"$id\", cases = { T-1 = 1 }, otherwise = \"\" }",
            "price.otherwise",
            "a number",
            "\"\"",
        ),
    ] {
        let fault = Declared::read("small.toml", &small(&update(set))).unwrap_err();
        assert_eq!((fault.line, fault.key.as_str()), (25, &*format!("functions[0].set.{key}")), "{fault}");
        assert_eq!(fault.expected, expected, "{fault}");
        assert!(fault.found.contains(found), "{fault}");
    }
}

#[test]
fn an_empty_text_empties_an_optional_cell() {
    let one = json!({"id": "T-2"});
    assert_eq!(results(&of(&update("name = \"x\"")), &[("f", one.clone())])[0]["parent"], "T-1");
    assert_eq!(results(&of(&update("parent = \"\"")), &[("f", one.clone())])[0]["parent"], Value::Null);
    let chosen = "parent = { choose = \"$id\", cases = { T-2 = \"\" }, otherwise = \"T-1\" }";
    assert_eq!(results(&of(&update(chosen)), &[("f", one)])[0]["parent"], Value::Null);
    // Elsewhere it is a text.
    assert_eq!(results(&of(&update("name = \"\"")), &[("f", json!({"id": "T-2"}))])[0]["name"], "");
}

/// A find of items with one test.
fn find_where(test: &str) -> String {
    format!(
        "[[functions]]\nname = \"f\"\ndescription = \"d\"\noperation = \"find\"\ntable = \"items\"\nwhere = [{{ {test} }}]\n"
    )
}

#[test]
fn comparisons_that_never_differ_are_refused() {
    for (test, key, expected) in [
        ("column = \"price\", is = \"ten\"", "is", "a number"),
        ("column = \"price\", one_of = [1, \"two\"]", "one_of", "a number"),
        ("column = \"price\", at_least = \"ten\"", "at_least", "a number"),
        (
            "column = \"price\", contains = \"1\"",
            "contains",
            "another comparison: this one is for texts and lists",
        ),
        (
            "column = \"name\", at_least = 3",
            "at_least",
            "another comparison: this one is for numbers and dates",
        ),
        ("column = \"tags\", contains = 3", "contains", "a string"),
    ] {
        let fault = Declared::read("small.toml", &small(&find_where(test))).unwrap_err();
        assert_eq!(fault.key, format!("functions[0].where[0].{key}"), "{fault}");
        assert_eq!(fault.expected, expected, "{fault}");
    }
    let required = format!(
        "{}require = [{{ value = \"$row.price\", is = \"low\", error = \"No.\" }}]\n",
        update("name = \"x\"")
    );
    let fault = Declared::read("small.toml", &small(&required)).unwrap_err();
    assert_eq!((fault.key.as_str(), fault.expected.as_str()), ("functions[0].require[0].is", "a number"));
    for test in [
        "column = \"name\", contains = \"a\"",
        "column = \"price\", at_least = 3",
        "column = \"tags\", is = []",
    ] {
        assert!(Declared::read("small.toml", &small(&find_where(test))).is_ok(), "{test}");
    }
}

#[test]
fn cases_of_numbers_and_booleans_are_found() {
    let function = |parameter: &str, cases: &str| {
        format!(
            "[[functions]]\nname = \"f\"\ndescription = \"d\"\noperation = \"update\"\ntable = \"items\"\nkey = \"T-1\"\nset = {{ price = {{ choose = \"$x\", cases = {{ {cases} }} }} }}\ncolumns = [\"price\"]\nparameters = {{ x = {{ type = \"{parameter}\" }} }}\n"
        )
    };
    let price = |kind: &str, cases: &str, x: Value| {
        results(&of(&function(kind, cases)), &[("f", json!({"x": x}))])[0]["price"].clone()
    };
    assert_eq!(price("integer", "1 = 40, 2 = 60", json!(2)), 60.0);
    assert_eq!(price("number", "1 = 40, 2 = 60", json!(1.0)), 40.0);
    assert_eq!(price("boolean", "true = 3, false = 4", json!(false)), 4.0);
    assert_eq!(price("integer", "1 = 40", json!(2)), Value::Null);
}
