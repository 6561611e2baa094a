//! Tests of accepted and refused texts, and of the round trip through Python's printer.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{calls, literal};

/// Returns the error message for a literal.
fn refusal(text: &str) -> String {
    literal(text).unwrap_err().to_string()
}

fn names_and_arguments(text: &str) -> Vec<(String, Value)> {
    calls(text).unwrap().into_iter().map(|call| (call.name, Value::Object(call.arguments))).collect()
}

#[test]
fn containers_become_arrays_and_objects() {
    for (text, value) in [
        ("[]", json!([])),
        ("[1, 'a', None,]", json!([1, "a", null])),
        ("()", json!([])),
        ("(1,)", json!([1])),
        ("(1, 2)", json!([1, 2])),
        ("(1)", json!(1)),
        ("{}", json!({})),
        ("{'a': {\"b\": ()}, }", json!({"a": {"b": []}})),
        ("{1, 2}", json!([1, 2])),
        ("set()", json!([])),
        ("set(['a'])", json!(["a"])),
        ("tuple()", json!([])),
        ("list((1, 2),)", json!([1, 2])),
        ("dict(a=1, b = dict())", json!({"a": 1, "b": {}})),
    ] {
        assert_eq!(literal(text), Ok(value), "{text}");
    }
}

#[test]
fn keys_keep_their_order_and_the_last_of_equal_keys_counts() {
    let value = literal("{'z': 1, 'a': 2, 'z': 3}").unwrap();
    assert_eq!(value.to_string(), r#"{"z":3,"a":2}"#);
}

#[test]
fn the_words_of_python_and_of_json_are_read() {
    let value = literal("[True, true, False, false, None, null]");
    assert_eq!(value, Ok(json!([true, true, false, false, null, null])));
}

#[test]
fn blanks_comments_and_joined_lines_are_skipped() {
    let text = " # the doc\n{ 'a' : # one\r\n 1 , \\\n 'b':\t2 } # end";
    assert_eq!(literal(text), Ok(json!({"a": 1, "b": 2})));
}

#[test]
fn numbers_keep_every_digit() {
    for (text, json) in [
        ("0", "0"),
        ("00", "0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("+7", "7"),
        ("- 7", "-7"),
        ("1_000", "1000"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.10000000000000000000001", "0.10000000000000000000001"),
        ("1.", "1.0"),
        (".5", "0.5"),
        ("1_0.2_5", "10.25"),
        ("007.5", "7.5"),
        ("2E-3", "2e-3"),
        ("1.e5", "1.0e+5"),
        ("0xff", "255"),
        ("0XdeadE_1", "14593505"),
        ("0x_1e", "30"),
        ("0o17", "15"),
        ("-0b101", "-5"),
        ("0x100000000000000000000000000000000", "340282366920938463463374607431768211456"),
        ("0x3b9aca00", "1000000000"),
    ] {
        assert_eq!(literal(text).map(|value| value.to_string()), Ok(json.to_owned()), "{text}");
    }
}

#[test]
fn values_that_are_not_json_numbers_are_refused() {
    for (text, error) in [
        ("2j", "complex number `2j` at byte 0"),
        ("[1, 1e999]", "number beyond any float `1e999` at byte 4"),
        ("012", "malformed number `012` at byte 0"),
        ("1.2.3", "malformed number `1.2.3` at byte 0"),
        (".", "malformed number `.` at byte 0"),
        ("1e", "malformed number `1e` at byte 0"),
        ("0x", "malformed number `0x` at byte 0"),
        ("0b2", "malformed number `0b2` at byte 0"),
        ("12px", "malformed number `12px` at byte 0"),
        ("1__0", "misplaced `_` in `1__0` at byte 0"),
        ("1_e5", "misplaced `_` in `1_e5` at byte 0"),
        ("1_", "misplaced `_` in `1_` at byte 0"),
        ("--1", "expected a number after its sign, found `-` at byte 1"),
        ("nan", "`nan` is a name, not a literal at byte 0"),
        ("-inf", "expected a number after its sign, found `i` at byte 1"),
        ("1 + 2j", "expected the end, found `+` at byte 2"),
    ] {
        assert_eq!(refusal(text), error);
    }
    assert!(refusal(&format!("0x{}", "f".repeat(5_000))).starts_with("malformed number `0xffff"));
}

#[test]
fn strings_of_every_quote_and_prefix_are_read() {
    for (text, value) in [
        (r#"'it "is"'"#, "it \"is\""),
        (r#""it's""#, "it's"),
        ("'''it's\ntwo'''", "it's\ntwo"),
        (r#""""a "quoted" word""""#, "a \"quoted\" word"),
        ("''", ""),
        ("''''''", ""),
        ("'''a\r\nb\rc'''", "a\nb\nc"),
        ("u'é'", "é"),
        ("U\"é\"", "é"),
        (r"r'\d+\'s'", r"\d+\'s"),
        (r"R'\\'", r"\\"),
    ] {
        assert_eq!(literal(text), Ok(json!(value)), "{text}");
    }
}

#[test]
fn escapes_are_read_as_python_does() {
    for (text, value) in [
        (r"'\\ \' \x41 \101 \60 \0'", "\\ ' A A 0 \0"),
        (r"'\a\b\f\n\r\t\v'", "\x07\x08\x0c\n\r\t\x0b"),
        (r"'\u00e9 \U0001F600 \ud83d\ude00'", "é 😀 😀"),
        ("'one \\\nline'", "one line"),
        ("'one \\\r\nline'", "one line"),
        (r"'\d \/ \é'", r"\d \/ \é"),
    ] {
        assert_eq!(literal(text), Ok(json!(value)), "{text}");
    }
}

#[test]
fn strings_that_json_cannot_hold_or_that_do_not_end_are_refused() {
    for (text, error) in [
        ("b'x'", "a string with the prefix `b` is not plain text at byte 0"),
        ("['a' f'{x}']", "a string with the prefix `f` is not plain text at byte 5"),
        (r"'\N{BULLET}'", "character names (`\\N{…}`) are not supported at byte 1"),
        (r"'\x4'", "escape with fewer than 2 hexadecimal digits at byte 1"),
        (r"'\u12é'", "escape with fewer than 4 hexadecimal digits at byte 1"),
        (r"'a\ud83d'", "half of a surrogate pair at byte 2"),
        (r"'\ud83d\u0041'", "half of a surrogate pair at byte 1"),
        (r"'\ude00'", "half of a surrogate pair at byte 1"),
        (r"'\U00110000'", "escape beyond the last character at byte 1"),
        ("'abc", "string without an end at byte 0"),
        ("'abc\\", "string without an end at byte 4"),
        ("'a\nb'", "string without an end on its line at byte 0"),
        ("'''a''", "string without an end at byte 0"),
    ] {
        assert_eq!(refusal(text), error);
    }
}

#[test]
fn adjacent_strings_join_across_lines_only_inside_brackets() {
    assert_eq!(literal("'a' \"b\" r'\\c'"), Ok(json!("ab\\c")));
    assert_eq!(literal("('a'  # first\n 'b')"), Ok(json!("ab")));
    assert_eq!(literal("{'a' 'b': 'c'\n'd'}"), Ok(json!({"ab": "cd"})));
    assert_eq!(literal("'a' \\\n 'b'"), Ok(json!("ab")));
    assert_eq!(refusal("'a'\n'b'"), "expected the end, found `'` at byte 4");
}

#[test]
fn text_that_is_not_one_literal_is_refused_at_its_place() {
    for (text, error) in [
        ("", "expected a value, found the end at byte 0"),
        ("[1 2]", "expected `,` or `]`, found `2` at byte 3"),
        ("[,]", "expected a value, found `,` at byte 1"),
        ("[1", "expected `,` or `]`, found the end at byte 2"),
        ("1, 2", "expected the end, found `,` at byte 1"),
        ("{1: 2}", "dict key is not a string at byte 1"),
        ("{'a': 1, 'b'}", "expected `:`, found `}` at byte 12"),
        ("{'a', 'b': 1}", "expected `,` or `}`, found `:` at byte 9"),
        ("{{'a': 1}}", "dict inside a set at byte 1"),
        ("{**a}", "expected a value, found `*` at byte 1"),
        ("['é', x]", "`x` is a name, not a literal at byte 7"),
        ("open('f')", "a call of `open` is not a literal at byte 0"),
        ("list('ab')", "`list` of anything but one list at byte 0"),
        ("list([1], [2])", "`list` of anything but one list at byte 0"),
        ("dict([1])", "a pair is not a tuple at byte 5"),
        ("dict(f)", "positional argument, only `name=value` is read at byte 5"),
    ] {
        assert_eq!(refusal(text), error);
    }
}

#[test]
fn brackets_nest_up_to_the_limit_and_no_deeper() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(literal(&nested(128)).is_ok());
    assert_eq!(refusal(&nested(129)), "more than 128 brackets deep at byte 129");
    assert!(refusal(&"(".repeat(1_000_000)).starts_with("more than 128"));
    assert!(refusal(&"dict(a=".repeat(1_000)).starts_with("more than 128"));
}

#[test]
fn calls_are_read_with_and_without_brackets() {
    let f = || ("f".to_owned(), json!({"a": 1}));
    let g = || ("g.h".to_owned(), json!({"b": "x"}));
    for (text, expected) in [
        ("[]", vec![]),
        ("[f(a=1), g.h(b='x')]", vec![f(), g()]),
        (" f(a=1) ", vec![f()]),
        ("f(a=1), g . h(\n  b='x',\n),", vec![f(), g()]),
        ("[\n  f(a=1),  # first\n  g.h(b='x'),\n]", vec![f(), g()]),
        ("now()", vec![("now".to_owned(), json!({}))]),
    ] {
        assert_eq!(names_and_arguments(text), expected, "{text}");
    }
}

#[test]
fn arguments_are_literals_under_any_name() {
    let text = "trip(from='Oslo', año=2_024, legs=[{'to': ('a' 'b')}], opts=dict(x=True), from='Rome')";
    let expected = json!({"from": "Rome", "año": 2024, "legs": [{"to": "ab"}], "opts": {"x": true}});
    assert_eq!(names_and_arguments(text), [("trip".to_owned(), expected)]);
}

#[test]
fn text_that_is_not_a_call_with_keywords_is_refused() {
    for (text, error) in [
        ("", "expected a function's name, found the end at byte 0"),
        ("[f(1)]", "positional argument, only `name=value` is read at byte 3"),
        ("f(x)", "positional argument, only `name=value` is read at byte 2"),
        ("f(**{})", "positional argument, only `name=value` is read at byte 2"),
        ("f(a=g())", "a call of `g` is not a literal at byte 4"),
        ("f(a==1)", "expected a value, found `=` at byte 4"),
        ("f", "expected `(`, found the end at byte 1"),
        ("f.(a=1)", "expected a function's name, found `(` at byte 2"),
        ("f()()", "expected the end, found `(` at byte 3"),
        ("[f()] g()", "expected the end, found `g` at byte 6"),
        ("I would call f(a=1)", "expected `(`, found `w` at byte 2"),
    ] {
        assert_eq!(calls(text).unwrap_err().to_string(), error);
    }
}

/// Returns a value as Python would print it, except for the choice of quotes and escapes.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => repr_of_string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{}: {}", repr_of_string(key), repr(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn repr_of_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\\' => "\\\\".to_owned(),
            c if c == quote => format!("\\{c}"),
            c if c.is_control() && c.is_ascii() => format!("\\x{:02x}", c as u32),
            c if c.is_control() => format!("\\u{:04x}", c as u32),
            c if c > '\u{ffff}' && (c as u32).is_multiple_of(2) => format!("\\U{:08x}", c as u32),
            c => c.to_string(),
        })
        .collect();
    format!("{quote}{escaped}{quote}")
}

fn any_json() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_filter("finite", |float| float.is_finite());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Through text, so that the exponent has the sign that serde_json writes.
        float.prop_map(|float| json!(float).to_string().parse().unwrap()),
        any::<String>().prop_map(Value::from),
        "['\"\\\\a\n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        let _ = (literal(&text), calls(&text));
    }

    #[test]
    fn no_text_of_python_s_own_characters_makes_the_reader_panic(
        text in r#"([\[\](){},:=.+\-_#\\'"rufbxNoejé0-9 \n]|True|dict\(|f\(a=|'''){0,40}"#
    ) {
        for error in [literal(&text).err(), calls(&text).err()].into_iter().flatten() {
            prop_assert!(text.is_char_boundary(error.offset));
        }
    }

    #[test]
    fn values_printed_by_python_are_parsed_to_the_same_values(value in any_json()) {
        prop_assert_eq!(literal(&repr(&value)), Ok(value.clone()));
        let call = format!("[f(a={}, b = {})]", repr(&value), repr(&json!([value])));
        let read = calls(&call).unwrap();
        prop_assert_eq!(&read[0].arguments["a"], &value);
        prop_assert_eq!(&read[0].arguments["b"][0], &value);
    }
}

#[test]
fn an_ordered_dict_is_read_like_the_dict_it_prints() {
    let value = json!({"name": "f", "n": {"type": "object"}});
    for text in [
        "OrderedDict([('name', 'f'), ('n', OrderedDict({'type': 'object'}))])",
        "collections.OrderedDict([('name', 'f'), ('n', dict(type='object'))])",
        "dict([('name', 'f')], n=dict([['type', 'object']]))",
        "dict({'name': 'f'}, n={'type': 'object'})",
    ] {
        assert_eq!(literal(text), Ok(value.clone()), "{text}");
    }
}

#[test]
fn doubtful_parts_of_a_literal_are_reported() {
    let joint = |text: &str| super::read(text).unwrap().doubtful_joint;
    assert_eq!(joint("[\"a\" \"b\"]"), Some(1));
    assert_eq!(joint("['a' 'b']"), Some(1));
    assert_eq!(joint("[\"a\" \"b\", None]"), Some(1));
    assert_eq!(joint("['a'\n 'b', None]"), None);
    assert_eq!(joint("{'a': ('b' 'c')}"), None);
    assert_eq!(joint("('a' 'b', 'c')"), Some(1));
    assert_eq!(joint("{\"a\": \"b\" \"c\"}"), None);
    assert_eq!(joint("{'a': 'b''c'}"), Some(9));
    let repeated = super::read("{'a': 1, 'b': {'c': 2, 'c': 2}, 'a': 3}").unwrap().repeated;
    assert_eq!(repeated.iter().map(|key| (key.key.as_str(), key.at)).collect::<Vec<_>>(), [("a", 32)]);
}
