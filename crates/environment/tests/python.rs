//! Environments in Python: isolation, limits, JSON forms of values, and what is left of processes.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write small files to temporary folders"
)]
#![cfg(unix)]

mod common;

use std::path::Path;

use callsieve_environment::call::{Call, Failure};
use callsieve_environment::environment::{Environment, Execution, InitialState};
use callsieve_environment::python::{ErrorValue, Python, PythonSettings};
use serde_json::{Map, Value, json};

/// A module with everything that goes wrong.
const MODULE: &str = r#"
import datetime, decimal, enum, os, random, sys, time
from typing import List, Optional

print("noise of the import")

class Colour(enum.Enum):
    RED = "red"

class Point:
    def __init__(self):
        self.x, self.y, self._hidden = 1, 2, 3

class Shop:
    shared = []

    def __init__(self):
        self.items = {"a": 1}
        self.me = self

    def _load(self, state, loud=False):
        self.items = dict(state.get("items", {}))
        if "refuse" in state:
            raise ValueError("no such state")

    def add(self, name: str, price: float = 1.5, tags: Optional[List[str]] = None) -> dict:
        """Adds an item.

        Args:
            name (str): The name of the item.
            price (float): Its price in EUR.
        """
        print("noise of a call")
        os.write(1, b"{\"noise\": true}\n")
        self.items[name] = price
        Shop.shared.append(name)
        return {"count": len(self.items), "shared": len(Shop.shared)}

    def refuse(self):
        return {"error": "refused"}

    def echo(self, value):
        return value

    def fail(self):
        raise KeyError("gone")

    def quit(self):
        sys.exit(3)

    def die(self):
        os._exit(3)

    def kill_worker(self):
        os.kill(os.getppid(), 9)
        time.sleep(60)

    def wait(self, seconds: float):
        time.sleep(seconds)

    def spin(self):
        while True:
            pass

    def power(self, exponent: int):
        return 10 ** exponent

    def long(self, n: int):
        return "x" * n

    def deep(self, n: int):
        value = []
        for _ in range(n):
            value = [value]
        return value

    def memory(self):
        return len(bytearray(8 << 30))

    def draw(self):
        return [random.random(), hash("text")]

    def forms(self):
        return {"tuple": (1, 2), "set": {"b", "a"}, "date": datetime.date(2026, 3, 2), "decimal": decimal.Decimal("1.50"),
                "colour": Colour.RED, "point": Point(), 1: True, None: "\ud800"}

    def nan(self):
        return [float("nan")]

    def bytes(self):
        return b"x"

    def keys(self):
        return {1: "a", "1": "b"}

    def where(self):
        return {"variables": sorted(os.environ), "home": sorted(os.listdir(os.environ["HOME"])),
                "here": os.getcwd() == os.path.realpath(os.environ["HOME"])}

    def leave(self):
        open(os.path.join(os.environ["HOME"], "left"), "w").close()

    async def later(self):
        return "awaited"

def double(x: int) -> int:
    return 2 * x
"#;

/// Returns the environment of the module; `None` if there is no Python.
fn shop(folder: &Path, change: impl FnOnce(&mut PythonSettings)) -> Option<Python> {
    callsieve_testkit::tools::python3()?;
    std::fs::write(folder.join("shop.py"), MODULE).unwrap();
    let settings = json!({
        "name": "shop", "path": [folder], "module": "shop", "classes": ["Shop"], "functions": ["double"], "load": "_load",
        "call_deadline_ms": 3000, "max_result_bytes": 5000, "memory_bytes": 1_u64 << 30,
    });
    let mut settings: PythonSettings = serde_json::from_value(settings).unwrap();
    change(&mut settings);
    Some(Python::open(&settings, &common::supervisor()).unwrap_or_else(|error| panic!("{error}")))
}

fn state(value: Value) -> InitialState {
    InitialState { name: "s".to_owned(), value }
}

fn calls(calls: &[(&str, Value)]) -> Vec<Call> {
    let arguments = |value: &Value| value.as_object().cloned().unwrap_or_else(Map::new);
    calls.iter().map(|(name, value)| Call::new(*name, arguments(value))).collect()
}

fn run(shop: &Python, given: &[(&str, Value)]) -> Execution {
    shop.run(&state(json!({"Shop": {"items": {"b": 2}}})), &calls(given)).unwrap()
}

#[test]
fn programs_of_one_worker_do_not_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    let program =
        [("add", json!({"name": "c"})), ("leave", json!({})), ("draw", json!({})), ("where", json!({}))];
    let first = run(&shop, &program);
    assert_eq!(first.observations[0].result, json!({"count": 2, "shared": 1}));
    assert_eq!(first.observations[3].result["home"], json!(["left"]));
    assert_eq!(first.end_state, Some(json!({"Shop": {"items": {"b": 2, "c": 1.5}, "me": {"$ancestor": 1}}})));
    assert_eq!(first.observations[3].result["here"], true);
    let variables = first.observations[3].result["variables"].as_array().unwrap();
    // Python itself may set LC_CTYPE.
    let variables: Vec<&Value> = variables.iter().filter(|name| *name != "LC_CTYPE").collect();
    assert_eq!(variables, ["HOME", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8"]);
    assert_eq!(run(&shop, &program), first);
    assert_eq!(
        shop.run_fresh(&state(json!({"Shop": {"items": {"b": 2}}})), &calls(&program)).unwrap(),
        first
    );
}

#[test]
fn results_that_the_settings_call_errors_are_failures() {
    let folder = tempfile::tempdir().unwrap();
    let shop = shop(folder.path(), |settings| {
        settings.error_texts = vec!["Error:".to_owned()];
        let value = |key: &str, value: Value, function: Option<&str>| ErrorValue {
            key: key.to_owned(),
            values: vec![value],
            function: function.map(str::to_owned),
        };
        settings.error_values = vec![
            value("success", json!(false), None),
            value("symbol", json!("not found"), Some("echo")),
            value("count", json!(2), Some("add")),
        ];
    });
    let Some(shop) = shop else { return };
    let errors = [
        json!({"error": "gone"}),
        json!([{"error": "gone"}]),
        json!("Error: gone"),
        json!(["Error: gone"]),
        json!({"success": false}),
        json!([{"success": false, "id": 1}]),
        json!({"symbol": "not found"}),
    ];
    let results = [
        json!([{"error": "gone"}, {"error": "gone"}]),
        json!("No Error: all is well"),
        json!([["Error: inside"]]),
        json!({"success": 0}),
        json!({"success": true}),
        json!({"login": {"success": false}}),
        json!({"count": 2}),
        json!([]),
    ];
    for (value, failure) in errors
        .into_iter()
        .map(|value| (value, Some(Failure::ErrorResult)))
        .chain(results.into_iter().map(|value| (value, None)))
    {
        let seen = run(&shop, &[("echo", json!({"value": value}))]);
        let [seen] = &seen.observations[..] else { panic!("{seen:?}") };
        assert_eq!((seen.failure, &seen.result), (failure, &value));
    }
    let seen = run(&shop, &[("add", json!({"name": "x"}))]);
    let [seen] = &seen.observations[..] else { panic!("{seen:?}") };
    assert_eq!((seen.failure, &seen.result["count"]), (Some(Failure::ErrorResult), &json!(2)));
}

#[test]
fn each_failure_has_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    for (name, arguments, failure, text) in [
        ("refuse", json!({}), Failure::ErrorResult, json!({"error": "refused"})),
        ("fail", json!({}), Failure::Exception, json!("KeyError: 'gone'")),
        ("quit", json!({}), Failure::Exception, json!("SystemExit: 3")),
        ("die", json!({}), Failure::Crashed, json!("The process ended.")),
        ("kill_worker", json!({}), Failure::Crashed, json!("The process ended.")),
        ("wait", json!({"seconds": 30}), Failure::Timeout, json!("The call took longer than its deadline.")),
        ("spin", json!({}), Failure::Timeout, json!("The call took longer than its deadline.")),
        (
            "power",
            json!({"exponent": 5000}),
            Failure::TooLarge,
            json!("an integer has more than 4300 digits"),
        ),
        ("long", json!({"n": 6000}), Failure::TooLarge, json!("the value has too many bytes")),
        ("deep", json!({"n": 70}), Failure::TooDeep, json!("the value nests deeper than 64 levels")),
        ("nan", json!({}), Failure::NotJson, json!("nan has no JSON form")),
        ("bytes", json!({}), Failure::NotJson, json!("bytes has no JSON form")),
        ("keys", json!({}), Failure::NotJson, json!("two keys have the text '1'")),
        ("memory", json!({}), Failure::Exception, json!("MemoryError")),
        ("steal", json!({}), Failure::UnknownFunction, json!("There is no function \"steal\".")),
    ] {
        let seen = run(&shop, &[("double", json!({"x": 4})), (name, arguments), ("double", json!({"x": 5}))]);
        let seen = &seen.observations;
        assert_eq!((seen[1].failure, &seen[1].result), (Some(failure), &text), "{name}");
        let after =
            if matches!(failure, Failure::Timeout | Failure::Crashed) { None } else { Some(json!(10)) };
        assert_eq!(Some(&seen[2].result).filter(|_| seen[2].failure.is_none()), after.as_ref(), "{name}");
        assert_eq!(seen[0].failure.is_none(), name != "kill_worker", "{name}");
    }
}

#[test]
fn values_have_documented_forms() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    let seen = run(&shop, &[("forms", json!({})), ("power", json!({"exponent": 30})), ("later", json!({}))]);
    let results: Vec<&Value> = seen.observations.iter().map(|one| &one.result).collect();
    assert_eq!(
        *results[0],
        json!({"tuple": [1, 2], "set": ["a", "b"], "date": "2026-03-02", "decimal": "1.50", "colour": "red",
               "point": {"x": 1, "y": 2}, "1": true, "null": "?"})
    );
    assert_eq!(results[1].to_string(), format!("1{}", "0".repeat(30)));
    assert_eq!(results[2], "awaited");
}

#[test]
fn docs_come_from_signatures_and_docstrings() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    let doc = |name: &str| {
        let found = shop.functions().iter().find(|function| function.name() == name);
        Value::Object(found.unwrap().doc.clone())
    };
    assert_eq!(
        doc("add"),
        json!({"name": "add", "description": "Adds an item.", "parameters": {"type": "object", "properties": {
            "name": {"type": "string", "description": "The name of the item."},
            "price": {"type": "number", "description": "Its price in EUR.", "default": 1.5},
            "tags": {"type": "array", "items": {"type": "string"}, "default": null},
        }, "required": ["name"]}})
    );
    assert_eq!(doc("double")["parameters"]["required"], json!(["x"]));
}

#[test]
fn an_episode_is_a_program_call_by_call() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    let program = calls(&[("add", json!({"name": "c"})), ("add", json!({"name": "d"})), ("fail", json!({}))]);
    let start = state(json!({"Shop": {"items": {}}}));
    let mut episode = shop.start(&start).unwrap();
    let observations = program.iter().map(|call| episode.call(call).unwrap()).collect();
    let stepped = Execution::new(observations, episode.state().unwrap());
    episode.stop().unwrap();
    assert_eq!(stepped, shop.run(&start, &program).unwrap());
    let refused = shop.run(&state(json!({"Shop": {"refuse": 1}})), &program).unwrap_err().to_string();
    assert_eq!(refused, "environment shop: initial state s: ValueError: no such state");
    let mut episode = shop.start(&start).unwrap();
    assert_eq!(episode.call(&calls(&[("die", json!({}))])[0]).unwrap().failure, Some(Failure::Crashed));
    assert_eq!(
        episode.call(&calls(&[("double", json!({"x": 1}))])[0]).unwrap().failure,
        Some(Failure::Crashed)
    );
    assert_eq!(episode.state().unwrap(), None);
    episode.stop().unwrap();
}

#[test]
fn what_cannot_be_opened_has_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    if shop(folder.path(), |_| ()).is_none() {
        return;
    }
    let fault = |change: Value| {
        let mut settings =
            json!({"name": "shop", "path": [folder.path()], "module": "shop", "classes": ["Shop"]});
        settings.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let settings: PythonSettings = serde_json::from_value(settings).unwrap();
        Python::open(&settings, &common::supervisor())
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        fault(json!({"classes": ["Store"]})),
        "environment shop: AttributeError: module 'shop' has no attribute 'Store'"
    );
    assert_eq!(
        fault(json!({"module": "shopp"})),
        "environment shop: ModuleNotFoundError: No module named 'shopp'"
    );
    assert_eq!(
        fault(json!({"classes": []})),
        "environment shop: expected classes or functions, found neither"
    );
    assert!(
        fault(json!({"python": "/nowhere/python"}))
            .starts_with("environment shop: cannot run /nowhere/python")
    );
    assert!(fault(json!({"docs": ["package:nowhere/x"]})).contains("there is no package nowhere"));
    assert!(fault(json!({"max_depth": 0})).contains("max_depth is from 1 to 100"));
}

#[test]
fn exploring_is_the_same_except_for_what_earlier_programs_left() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    let start = state(json!({"Shop": {"items": {"b": 2}}}));
    let program = calls(&[
        ("draw", json!({})),
        ("leave", json!({})),
        ("where", json!({})),
        ("double", json!({"x": 4})),
    ]);
    let run = shop.run(&start, &program).unwrap();
    for _ in 0..3 {
        assert_eq!(shop.explore(&start, &program).unwrap(), run);
    }
    // The module keeps a list that every program adds to, so that two explorations differ and two runs do not.
    let add = calls(&[("add", json!({"name": "c"}))]);
    let shared = |execution: Execution| execution.observations[0].result["shared"].clone();
    assert_eq!(shared(shop.explore(&start, &add).unwrap()), 1);
    assert_eq!(shared(shop.explore(&start, &add).unwrap()), 2);
    assert_eq!(shared(shop.run(&start, &add).unwrap()), 1);
    let die = calls(&[("double", json!({"x": 1})), ("die", json!({})), ("double", json!({"x": 1}))]);
    assert_eq!(shop.explore(&start, &die).unwrap(), shop.run(&start, &die).unwrap());
    assert_eq!(shared(shop.explore(&start, &add).unwrap()), 1, "a new process goes on");
    assert!(shop.explore(&state(json!({"Shop": {"refuse": 1}})), &add).is_err());
    assert_eq!(shop.explore(&start, &program).unwrap(), run);
}

#[test]
fn programs_run_on_many_threads_at_once() {
    use rayon::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let Some(shop) = shop(folder.path(), |_| ()) else { return };
    let results: Vec<Value> = (0..40)
        .into_par_iter()
        .map(|n| run(&shop, &[("double", json!({"x": n}))]).observations[0].result.clone())
        .collect();
    assert_eq!(results, (0..40).map(|n| json!(2 * n)).collect::<Vec<_>>());
}
