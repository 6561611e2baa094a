//! One small example for each error type, each surprise and each fault of the rules.

use serde_json::{Value, json};

use super::{Case, Checker, Kind, Language, Matching};
use crate::decode::{OutputFormat, decode_text};
use crate::mode::Mode;
use crate::verdict::{EvaluatorException, Verdict};

/// Returns a doc whose required parameters are the first ones.
fn function(name: &str, required: &[&str], properties: &Value) -> Value {
    json!({"name": name, "parameters": {"type": "dict", "required": required, "properties": properties}})
}

fn verdict(
    checker: Checker,
    kind: Kind,
    functions: &Value,
    truth: &Value,
    output: &str,
) -> Result<Verdict, EvaluatorException> {
    let decoded = decode_text(output, OutputFormat::Python, false).unwrap();
    checker.check(&Case::new(functions, truth, kind, Language::Python), &decoded)
}

/// Returns the error type, `valid`, or the exception.
fn name(verdict: Result<Verdict, EvaluatorException>) -> String {
    match verdict {
        Ok(Verdict::Valid) => "valid".to_owned(),
        Ok(Verdict::Invalid(failure)) => failure.error_type.name().to_owned(),
        Err(fault) => fault.exception.to_owned(),
    }
}

/// Checks a call of a function with the one parameter `x`.
fn of_one(schema: &Value, alternatives: &Value, value: &str) -> String {
    let functions = json!([function("water", &[], &json!({"x": schema}))]);
    let truth = json!([{"water": {"x": alternatives}}]);
    name(verdict(Checker::default(), Kind::Simple, &functions, &truth, &format!("water(x={value})")))
}

fn typed(declared: &str, alternatives: &Value, value: &str) -> String {
    of_one(&json!({"type": declared}), alternatives, value)
}

fn array(of: &str, alternatives: &Value, value: &str) -> String {
    of_one(&json!({"type": "array", "items": {"type": of}}), alternatives, value)
}

#[test]
fn the_evaluator_stops_where_a_message_has_a_long_integer() {
    let long = "10**4300";
    let numbers = json!([1, 2]);
    for (declared, value, expected) in [
        ("integer", "10**4300", "ValueError"),
        ("integer", "10**4299", "value_error:others"),
        ("integer", "0-10**4300", "ValueError"),
        ("string", "1<<100000", "ValueError"),
        ("float", "[10**4300]", "ValueError"),
    ] {
        assert_eq!(typed(declared, &numbers, value), expected, "{declared} {value}");
    }
    assert_eq!(array("integer", &json!([[1]]), "[10**4300]"), "ValueError");
    // The message has no value.
    assert_eq!(typed("dict", &json!([{"b": [1]}]), "{'a': 10**4300}"), "value_error:dict_key");
    let functions = json!([function("water", &[], &json!({"x": {"type": "integer"}}))]);
    let strict = Checker { mode: Mode::Strict, ..Checker::default() };
    let truth = json!([{"water": {"x": [1]}}]);
    let found = verdict(strict, Kind::Simple, &functions, &truth, &format!("water(x={long})")).unwrap();
    let Verdict::Invalid(failure) = &found else { panic!("{found:?}") };
    assert!(
        failure.errors[0].as_str().unwrap().contains("<an integer of more than 4300 digits>"),
        "{failure:?}"
    );
    let decoded = decode_text(&format!("water(x={long}, y=1)"), OutputFormat::Python, false).unwrap();
    assert_eq!(decoded.to_json()[0]["water"]["x"], "<an integer of more than 4300 digits>");
}

#[test]
fn calls_are_compared_by_name_and_parameters() {
    let functions = json!([function(
        "bay.water",
        &["bay"],
        &json!({"bay": {"type": "integer"}, "note": {"type": "string"}, "dry": {"type": "boolean"}})
    )]);
    let truth = json!([{"any name": {"bay": [4], "note": ["", "slowly"]}}]);
    let plain = Checker::default();
    let underscored = Checker { underscore_to_dot: true, ..plain };
    for (checker, output, expected) in [
        (plain, "bay.water(bay=4)", "valid"),
        (plain, "bay.water(bay=4, note='Slowly.')", "valid"),
        (plain, "bay_water(bay=4)", "simple_function_checker:wrong_func_name"),
        (underscored, "bay_water(bay=4)", "valid"),
        (underscored, "bay.water(bay=4)", "simple_function_checker:wrong_func_name"),
        (plain, "bay.water(note='slowly')", "simple_function_checker:missing_required"),
        (plain, "bay.water(bay=4, size=1)", "simple_function_checker:unexpected_param"),
        (plain, "bay.water(bay=4, dry=True)", "simple_function_checker:unexpected_param"),
        (plain, "bay.water(bay=4, **x)", "simple_function_checker:unexpected_param"),
        (plain, "bay.water(bay=4), bay.water(bay=4)", "simple_function_checker:wrong_count"),
        (plain, "[]", "simple_function_checker:wrong_count"),
    ] {
        assert_eq!(name(verdict(checker, Kind::Simple, &functions, &truth, output)), expected, "{output}");
    }
    let needed = json!([{"water": {"bay": [4], "note": ["slowly"]}}]);
    let verdict = verdict(plain, Kind::Simple, &functions, &needed, "bay.water(bay=4)");
    assert_eq!(name(verdict), "simple_function_checker:missing_optional");
}

#[test]
fn types_are_exact_but_for_the_first_alternative() {
    for (declared, alternatives, value, expected) in [
        ("integer", json!([1]), "True", "type_error:simple"),
        ("integer", json!([5]), "5.0", "type_error:simple"),
        ("boolean", json!([true]), "1", "type_error:simple"),
        ("float", json!([5.0]), "5", "valid"),
        ("float", json!([5]), "5", "valid"),
        ("float", json!([1.0]), "True", "type_error:simple"),
        ("string", json!(["5"]), "5", "type_error:simple"),
        ("any", json!(["5"]), "5", "type_error:simple"),
        ("any", json!([5]), "5", "valid"),
        ("integer", json!(["", "5", 5]), "'5'", "valid"),
        ("integer", json!([5, "5"]), "'5'", "type_error:simple"),
        ("boolean", json!(["dontcare"]), "'dontcare'", "valid"),
        ("boolean", json!(["dontcare"]), "'DontCare'", "value_error:others"),
        ("string", json!(["", null]), "None", "valid"),
        ("string", json!(["x", null]), "None", "type_error:simple"),
        ("string", json!([null, "x"]), "'X'", "value_error:others"),
        ("integer", json!([5]), "6", "value_error:others"),
    ] {
        assert_eq!(typed(declared, &alternatives, value), expected, "{declared} {alternatives} {value}");
    }
}

#[test]
fn texts_are_compared_without_case_spaces_and_some_punctuation() {
    for (alternatives, value, expected) in [
        (json!(["New York, NY"]), "'new-york ny'", "valid"),
        (json!(["it's"]), "'it\"s'", "valid"),
        (json!(["New York"]), "'New York!'", "value_error:string"),
        (json!(["", "x"]), "' -.'", "valid"),
        (json!(["a\tb"]), "'a b'", "value_error:string"),
        (json!(["Straße"]), "'STRASSE'", "value_error:string"),
    ] {
        assert_eq!(typed("string", &alternatives, value), expected, "{alternatives} {value}");
    }
}

#[test]
fn lists_are_compared_in_order() {
    for (of, alternatives, value, expected) in [
        ("string", json!([["a", "b"]]), "['A', 'b.']", "valid"),
        ("string", json!([["a", "b"]]), "['b', 'a']", "value_error:list/tuple"),
        ("string", json!([["a"]]), "['a', 'a']", "value_error:list/tuple"),
        ("string", json!([["a"]]), "[1]", "type_error:nested"),
        ("string", json!(["", ["a"]]), "[1]", "value_error:list/tuple"),
        ("string", json!(["", ["a"]]), "[]", "valid"),
        ("string", json!([["c"], "ab"]), "['a', 'b']", "valid"),
        ("string", json!(["ab"]), "[1]", "value_error:others"),
        ("string", json!([["a"]]), "('a',)", "type_error:simple"),
        ("float", json!([[1.0, 2.0]]), "[1, 2]", "type_error:nested"),
        ("float", json!([[1, 2]]), "[1.0, 2]", "valid"),
        ("array", json!([[["a"]]]), "[['A']]", "value_error:list/tuple"),
        ("integer", json!([]), "[1]", "type_error:simple"),
    ] {
        assert_eq!(array(of, &alternatives, value), expected, "{of} {alternatives} {value}");
    }
    let pair = json!({"type": "tuple", "items": {"type": "integer"}});
    assert_eq!(of_one(&pair, &json!([[1, 2]]), "(1, 2)"), "valid");
    assert_eq!(of_one(&pair, &json!([[1, 2]]), "[1, 2]"), "valid");
}

#[test]
fn dicts_are_compared_by_key_and_the_last_alternative_is_reported() {
    let truth = json!([{"bay": [4], "note": ["", "x"]}]);
    for (alternatives, value, expected) in [
        (truth.clone(), "{'bay': 4}", "valid"),
        (truth.clone(), "{'bay': 4, 'note': 'X'}", "valid"),
        (truth.clone(), "{'bay': 5}", "value_error:dict_value"),
        (truth.clone(), "{'note': 'x'}", "value_error:dict_key"),
        (truth.clone(), "{'bay': 4, 'size': 1}", "value_error:dict_key"),
        // A wrong value and a missing key: the missing key is reported.
        (json!([{"bay": [4], "row": [1]}]), "{'bay': 5}", "value_error:dict_key"),
        (json!([{"bay": [4]}, {"row": [1]}]), "{'bay': 5}", "value_error:dict_key"),
        (json!([""]), "{}", "dict_checker:unclear"),
        (json!([{}]), "{}", "valid"),
        (json!([{"in": [{"a": ["x"]}]}]), "{'in': {'a': 'x'}}", "value_error:dict_value"),
        (json!([{"in": [{"a": "x"}]}]), "{'in': {'a': 'x'}}", "valid"),
        (json!([{"bay": [4]}, null]), "{'bay': 5}", "TypeError"),
        (json!([{"bay": [4]}, [1]]), "{'bay': 5}", "AttributeError"),
    ] {
        assert_eq!(typed("dict", &alternatives, value), expected, "{alternatives} {value}");
    }
}

#[test]
fn lists_of_dicts_are_compared_dict_by_dict() {
    let truth = json!([[{"bay": [4]}, {"bay": [5]}]]);
    for (alternatives, value, expected) in [
        (truth.clone(), "[{'bay': 4}, {'bay': 5}]", "valid"),
        (truth.clone(), "[{'bay': 5}, {'bay': 4}]", "value_error:dict_value"),
        (truth.clone(), "[{'bay': 4}]", "value_error:list_dict_count"),
        (json!(["", [{"bay": [4]}]]), "[]", "valid"),
        (json!([[{"bay": [4]}], ""]), "[]", "valid"),
        (json!(["", [{"bay": [4]}]]), "[1]", "AttributeError"),
    ] {
        assert_eq!(array("dict", &alternatives, value), expected, "{alternatives} {value}");
    }
}

#[test]
fn parallel_outputs_are_assigned_greedily_or_as_well_as_possible() {
    let functions = json!([function("water", &["bay"], &json!({"bay": {"type": "integer"}}))]);
    let truth = json!([{"water": {"bay": [1, 2]}}, {"water": {"bay": [1]}}]);
    let greedy = Checker::default();
    let maximum = Checker { matching: Matching::Maximum, ..greedy };
    for (checker, output, expected) in [
        (greedy, "water(bay=2), water(bay=1)", "valid"),
        (greedy, "water(bay=1), water(bay=2)", "parallel_function_checker_no_order:cannot_find_match"),
        (maximum, "water(bay=1), water(bay=2)", "valid"),
        (maximum, "water(bay=2), water(bay=2)", "parallel_function_checker_no_order:cannot_find_match"),
        (greedy, "water(bay=1)", "parallel_function_checker_no_order:wrong_count"),
    ] {
        assert_eq!(name(verdict(checker, Kind::Parallel, &functions, &truth, output)), expected, "{output}");
    }
}

#[test]
fn an_output_fails_only_if_no_assignment_of_its_calls_passes() {
    let schema = json!({"bay": {"type": "string"}, "rows": {"type": "array", "items": {"type": "integer"}}, "part": {"type": "float"}});
    let functions = json!([function("water", &["bay"], &schema)]);
    let maximum = Checker { matching: Matching::Maximum, ..Checker::default() };
    let bays = [json!(["East Bay", "2"]), json!(["east-bay"]), json!(["2", "north"]), json!(["north"])];
    let calls =
        ["bay='EAST BAY'", "bay='2'", "bay='North', part=1", "bay='north', rows=[1, 2]", "bay='2', part=1.0"];
    let mut numbers = 0_usize;
    let mut next = |n: usize| {
        numbers = numbers.wrapping_mul(25_214_903_917).wrapping_add(11) & 0xffff_ffff_ffff;
        (numbers >> 20) % n
    };
    let mut n_valid = 0;
    for _ in 0..400 {
        let answer = |next: &mut dyn FnMut(usize) -> usize| json!({"water": {"bay": bays[next(4)], "rows": [[1, 2], ""], "part": ["", 1]}});
        let truth: Vec<Value> = (0..4).map(|_| answer(&mut next)).collect();
        let output: Vec<String> = (0..4).map(|_| format!("water({})", calls[next(calls.len())])).collect();
        let is_valid = |kind, truth: &[Value], output: &str| {
            name(verdict(maximum, kind, &functions, &json!(truth), output)) == "valid"
        };
        let fits: Vec<Vec<bool>> = truth
            .iter()
            .map(|one| {
                output.iter().map(|call| is_valid(Kind::Simple, std::slice::from_ref(one), call)).collect()
            })
            .collect();
        let orders = (0..256).map(|at| [at % 4, at / 4 % 4, at / 16 % 4, at / 64]);
        let expected = orders
            .filter(|order| (0..4).all(|at| order.contains(&at)))
            .any(|order| (0..4).all(|at| fits[at][order[at]]));
        assert_eq!(is_valid(Kind::Parallel, &truth, &output.join(", ")), expected, "{truth:?} {output:?}");
        n_valid += usize::from(expected);
    }
    assert!((50..350).contains(&n_valid), "{n_valid}");
}

#[test]
fn thousands_of_parallel_calls_are_assigned_in_any_order_and_the_first_that_cannot_be_is_named() {
    let n = 3000;
    let functions = json!([function("water", &["bay"], &json!({"bay": {"type": "string"}}))]);
    let maximum = Checker { matching: Matching::Maximum, ..Checker::default() };
    let output =
        |bays: &[String]| bays.iter().map(|bay| format!("water(bay='{bay}')")).collect::<Vec<_>>().join(", ");
    let bays: Vec<String> = (0..n).map(|at| format!("bay{at}")).collect();
    let turned: Vec<String> = bays.iter().rev().cloned().collect();
    let each = |alternatives: &dyn Fn(usize) -> Vec<String>| -> Value {
        (0..n).map(|at| json!({"water": {"bay": alternatives(at)}})).collect()
    };
    let own = each(&|at| vec![bays[at].clone()]);
    let chain = each(&|at| vec![bays[at.saturating_sub(1)].clone(), bays[at].clone()]);
    let same = each(&|_| vec!["bay".to_owned()]);
    let start = std::time::Instant::now();
    for (truth, output) in
        [(&own, output(&turned)), (&chain, output(&bays)), (&same, output(&vec!["bay".to_owned(); n]))]
    {
        assert_eq!(name(verdict(maximum, Kind::Parallel, &functions, truth, &output)), "valid");
    }
    // A comparison of all pairs would take minutes in this build.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    let few = json!(
        (0..4).map(|at| json!({"water": {"bay": [if at < 2 { "a" } else { "b" }]}})).collect::<Vec<_>>()
    );
    let failed = verdict(
        maximum,
        Kind::Parallel,
        &functions,
        &few,
        "water(bay='b'), water(bay='a'), water(bay='c'), water(bay='b')",
    );
    let failure = failed.unwrap();
    let message = failure.failure().unwrap().errors[0].as_str().unwrap().to_owned();
    assert_eq!(
        message,
        "Could not find a matching function among index [0, 2, 3] of model output for index 1 of possible answers."
    );
}

#[test]
fn a_call_of_several_functions_is_checked_by_the_doc_that_the_answer_names() {
    let parameters = json!({"bay": {"type": "integer"}});
    let functions = json!([function("water", &[], &parameters), function("ring", &[], &parameters)]);
    let check =
        |truth: Value, output| name(verdict(Checker::default(), Kind::Multiple, &functions, &truth, output));
    assert_eq!(check(json!([{"ring": {"bay": [1]}}]), "ring(bay=1)"), "valid");
    assert_eq!(check(json!([{"ring": {"bay": [1]}}]), "[]"), "multiple_function_checker:wrong_count");
    assert_eq!(check(json!([{"sing": {"bay": [1]}}]), "ring(bay=1)"), "TypeError");
}

#[test]
fn faults_of_an_entry_are_named() {
    for (schema, alternatives, value, expected) in [
        (json!({"type": "number"}), json!([1]), "1", "KeyError"),
        (json!({}), json!([1]), "1", "KeyError"),
        (json!({"type": "array"}), json!([[1]]), "[1]", "KeyError"),
        (json!({"type": "integer"}), json!(5), "5", "TypeError"),
        (json!({"type": "array", "items": {"type": "string"}}), json!([["a"], null]), "['a']", "TypeError"),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!([["a"], {"b": 1}]),
            "['a']",
            "KeyError",
        ),
        (json!({"type": "dict"}), json!([{"a": [1]}, ["b"]]), "{'b': 1}", "TypeError"),
        (json!({"type": "dict"}), json!([{"a": [1]}, ["b"]]), "{'c': 1}", "AttributeError"),
        (json!({"type": "dict"}), json!({"a": 1}), "{'a': 1}", "TypeError"),
    ] {
        assert_eq!(of_one(&schema, &alternatives, value), expected, "{schema} {alternatives} {value}");
    }
    assert_eq!(typed("float", &json!([1.0]), &"9".repeat(400)), "OverflowError");
}

#[test]
fn alternatives_that_are_a_text_are_read_character_by_character() {
    // `value in "slowly"` of Python finds a part of the text, and every text contains "".
    assert_eq!(typed("integer", &json!("slowly"), "'low'"), "valid");
    assert_eq!(typed("integer", &json!("slowly"), "'x'"), "value_error:others");
    assert_eq!(typed("string", &json!("slowly"), "'s'"), "valid");
    assert_eq!(typed("string", &json!("slowly"), "'slowly'"), "value_error:string");
}

#[test]
fn any_call_counts_as_relevance() {
    let checker = Checker::default();
    for (output, has_call) in
        [("print('hi')", true), ("[]", false), ("1", false), ("Sorry, no.", false), ("f()", true)]
    {
        let decoded = decode_text(output, OutputFormat::Python, false).ok();
        let check =
            |expects_call| checker.check_relevance(&json!([]), decoded.as_ref(), expects_call).is_valid();
        assert_eq!((check(true), check(false)), (has_call, !has_call), "{output}");
    }
    let strict = Checker { mode: Mode::Strict, ..checker };
    let functions = json!([{"name": "water"}]);
    for (output, has_call) in [("print('hi')", false), ("water()", true)] {
        let decoded = decode_text(output, OutputFormat::Python, false).ok();
        assert_eq!(
            strict.check_relevance(&functions, decoded.as_ref(), true).is_valid(),
            has_call,
            "{output}"
        );
    }
}

#[test]
fn strict_mode_names_the_fault_of_an_entry_instead_of_stopping() {
    let strict = Checker { mode: Mode::Strict, ..Checker::default() };
    let functions = json!([function("water", &[], &json!({}))]);
    let verdict = verdict(strict, Kind::Multiple, &functions, &json!([{"ring": {}}]), "water()");
    assert_eq!(name(verdict), "strict:entry");
}

#[test]
fn strict_mode_is_right_where_the_official_code_surprises() {
    let strict = Checker { mode: Mode::Strict, ..Checker::default() };
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let floats = json!({"type": "array", "items": {"type": "float"}});
    let place = json!({"type": "dict", "properties": {"row": {"type": "string"}, "at": {"type": "dict"}}});
    for (schema, alternatives, value, official, expected) in [
        (json!({"type": "integer"}), json!([5, "5"]), "'5'", "type_error:simple", "valid"),
        (json!({"type": "string"}), json!(["x", null]), "None", "type_error:simple", "valid"),
        (json!({"type": "string"}), json!([null, "x"]), "'X'", "value_error:others", "valid"),
        (json!({"type": "string"}), json!(["", "x"]), "' -.'", "valid", "value_error:string"),
        (json!({"type": "string"}), json!(["", "x"]), "''", "valid", "valid"),
        (floats, json!([[1.0, 2.0]]), "[1, 2]", "type_error:nested", "valid"),
        (integers.clone(), json!([[1]]), "(1,)", "type_error:simple", "valid"),
        (integers.clone(), json!(["", [1]]), "['a']", "value_error:list/tuple", "type_error:nested"),
        (integers, json!(["", [1]]), "[]", "valid", "value_error:list/tuple"),
        (place.clone(), json!([{"row": [5]}]), "{'row': 5}", "valid", "type_error:nested"),
        (
            place.clone(),
            json!([{"row": ["a"], "at": [{"b": ["X"]}]}]),
            "{'row': 'a', 'at': {'b': 'x'}}",
            "value_error:dict_value",
            "valid",
        ),
        (place, json!([{"row": ["a"]}, null]), "{'row': 'b'}", "TypeError", "value_error:dict_value"),
        (json!({"type": "dict"}), json!([{"dry": [1]}]), "{'dry': True}", "valid", "value_error:dict_value"),
    ] {
        let functions = json!([function("water", &[], &json!({"x": schema}))]);
        let truth = json!([{"water": {"x": alternatives}}]);
        let output = format!("water(x={value})");
        let check = |checker| name(verdict(checker, Kind::Simple, &functions, &truth, &output));
        assert_eq!(check(Checker::default()), official, "{schema} {alternatives} {value}");
        assert_eq!(check(strict), expected, "strict {schema} {alternatives} {value}");
    }
}
