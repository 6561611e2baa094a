//! Tests that reading adversarial texts ends with a value or a fault, never with a panic.
//!
//! Nothing is timed; quadratic parsing of these texts would hang.

use callsieve::docs::parse::fault::ParseFaultKind;
use callsieve::docs::parse::parse;

const MIB: usize = 1 << 20;

/// The repeated text, and the number of mebibytes; fewer for parsers that are slow without optimisation.
const MARKS: [(&str, usize); 16] = [
    ("[", 10),
    ("{\"a\":", 10),
    ("(", 10),
    ("<tools>", 10),
    ("\\", 10),
    (",", 10),
    ("- ", 10),
    ("\"", 2),
    ("'", 2),
    ("{", 2),
    ("#", 2),
    ("/*", 2),
    ("&quot;", 2),
    ("a: ", 2),
    ("@", 2),
    ("{\"a\": \"b\" c ", 1),
];

#[test]
fn mebibytes_of_one_character_are_read_to_the_end() {
    for (mark, n_mib) in MARKS {
        let text = mark.repeat(n_mib * MIB / mark.len());
        assert!(parse(&text).is_err(), "{mark}");
    }
}

#[test]
fn values_that_would_become_too_large_are_refused_with_their_reason() {
    for (prefix, unit, suffix) in [("[", "0,", "0]"), ("", "- a: 1\n", ""), ("", "f(a: int)\n", "")] {
        let text = format!("{prefix}{}{suffix}", unit.repeat(MIB / unit.len()));
        assert_eq!(parse(&text).unwrap_err().kind, ParseFaultKind::TooLarge, "{unit}");
    }
}

#[test]
fn json_in_json_in_json_ends_at_the_bound() {
    let mut text = "[{\"name\": \"f\"}]".to_owned();
    for _ in 0..16 {
        text = serde_json::to_string(&text).unwrap();
    }
    assert_eq!(parse(&text).unwrap_err().kind, ParseFaultKind::TooDeep);
}

#[test]
fn a_list_of_thousands_of_functions_is_read() {
    let function = "{\"name\":\"f\",\"description\":\"Says what time it is.\",\"parameters\":{\"type\":\"dict\",\
        \"properties\":{\"zone\":{\"type\":\"string\",\"enum\":[\"utc\",\"cet\"]}},\"required\":[\"zone\"]}},";
    let text = format!("[{}{{\"name\":\"g\"}}]", function.repeat(2 * MIB / function.len()));
    assert!(parse(&text).unwrap().functions.len() > 10_000);
}
