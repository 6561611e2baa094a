//! Arguments of calls without a source: an id that stands in no text of the user or the system and in no result before the call, or a
//! value that good calls look up and this one does not.
//!
//! Only calls that succeeded count. A guess that failed does no harm.

use serde_json::Value as Json;

use super::claims::claims;
use super::grounding::{has_word, is_grounded, is_grounded_shape};
use super::mentions::mentions;
use super::path::{Exchange, Path};
use super::shapes::is_id_key;
use super::sources::Sources;
use super::{Finding, Level, Reason, ValueKind};

/// Numbers below are no ids: they are also counted, or chosen from a short list.
const MIN_NUMBER: f64 = 100.0;
/// Whole numbers below that are looked up are also right by chance.
const MIN_LOOKED_UP: f64 = 10.0;
/// Characters of a text that is looked up.
const MIN_CHARS: usize = 3;

/// Beginnings of functions to which a caller gives a new id.
const MAKERS: [&str; 8] = ["create", "add", "register", "new", "insert", "make", "start", "open"];

const EXPECTED: &str = "a text of the user or the system, or a result before the call";

pub(super) fn findings(path: &Path) -> Vec<Finding> {
    let messages = path.solution.messages;
    let mut sources = Sources::default();
    let mut found = Vec::<Finding>::new();
    let mut exchanges = path.exchanges.iter();
    // Arguments without a source of calls that failed: the error may repeat them.
    let mut failed = Vec::<String>::new();
    for (at, message) in messages.iter().enumerate() {
        if !failed.iter().any(|guess| message.content.contains(guess)) {
            sources.add_message(messages, at);
        }
        for exchange in exchanges.by_ref().take(message.calls.len()) {
            for (key, value) in leaves(&exchange.call.arguments) {
                let Some((level, kind)) =
                    exchange.is_last_turn.then(|| guessed(path, exchange, (key, value), &sources)).flatten()
                else {
                    continue;
                };
                let text = text_of(value);
                if !exchange.succeeded() {
                    failed.push(text);
                } else if !found.iter().any(|finding| finding.evidence == text) {
                    found.push(Finding {
                        kind,
                        ..Finding::of(Reason::GuessedArgument, level, text, EXPECTED)
                    });
                }
            }
            if !exchange.is_last_turn {
                sources.add_text(&exchange.call.arguments.to_string());
            }
        }
    }
    found
}

/// Returns how sure it is that the value of an argument was guessed, and what it is; `None` if it has a source or is no such value.
fn guessed(
    path: &Path,
    exchange: &Exchange,
    (key, value): (&str, &Json),
    sources: &Sources,
) -> Option<(Level, Option<ValueKind>)> {
    let text = text_of(value);
    let is_one_of = |values: &[Json]| {
        values.iter().flat_map(leaves).any(|(_, other)| text_of(other).eq_ignore_ascii_case(&text))
    };
    let solution = path.solution;
    let is_id = is_id(path, key, value, &text);
    let is_there = stands_in(value, &text, sources)
        || (!path.shapes.has(&text) && follows(value, &text, is_id, sources));
    if is_there || is_one_of(solution.given) {
        return None;
    }
    let kind = is_id.then_some(ValueKind::Id);
    if (is_id || is_particular(key, value)) && is_one_of(solution.looked_up) {
        return Some((Level::Certain, kind));
    }
    // Nobody looked it up, so it may be put together: `ORD-1234` for "order 1234".
    if path.shapes.has(&text) && is_grounded_shape(&text.to_lowercase(), sources) {
        return None;
    }
    let is_made = MAKERS.iter().any(|word| exchange.call.name.to_lowercase().starts_with(word));
    let level = if is_id_key(key) && !is_made { Level::Certain } else { Level::Suspect };
    is_id.then_some((level, kind))
}

/// Returns whether a value is an id: by its shape, or as a number of several digits whose key says so.
fn is_id(path: &Path, key: &str, value: &Json, text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let is_mention = || matches!(&mentions(&chars)[..], [only] if only.span == (0..chars.len()) && only.kind() == ValueKind::Id);
    let is_number = text.parse().is_ok_and(|number: f64| number >= MIN_NUMBER && number.fract() == 0.0);
    path.shapes.has(text) || (is_number && is_id_key(key)) || (value.is_string() && is_mention())
}

/// Returns whether a value says so much that two calls do not have it by chance.
fn is_particular(key: &str, value: &Json) -> bool {
    match value {
        Json::String(text) => text.chars().count() >= MIN_CHARS,
        Json::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            is_id_key(key) || number.abs() >= MIN_LOOKED_UP || number.fract() != 0.0
        }
        _ => false,
    }
}

/// Returns whether a source has a value as it is.
fn stands_in(value: &Json, text: &str, sources: &Sources) -> bool {
    let folded = text.to_lowercase();
    match value.as_f64() {
        Some(number) => sources.tokens.contains(&folded) || sources.numbers.contains(&number),
        None => has_word(&sources.text, &folded),
    }
}

/// Returns whether a whole value is one of a source in another form, or is computed from some.
fn follows(value: &Json, text: &str, is_id: bool, sources: &Sources) -> bool {
    if value.is_number() && is_id {
        return false;
    }
    let chars: Vec<char> = text.chars().collect();
    let values = claims(&chars);
    let is_whole = match &values[..] {
        [only] => value.is_number() || only.mention.span == (0..chars.len()),
        [] => false,
        // A day with its time, or a text of several values.
        _ => true,
    };
    is_whole && values.iter().all(|claim| is_grounded(claim, sources))
}

/// Returns the texts and numbers of a value, each with the key that it has or that its list has.
fn leaves(value: &Json) -> Vec<(&str, &Json)> {
    let (mut found, mut open) = (Vec::new(), vec![("", value)]);
    while let Some((key, value)) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items.iter().rev().map(|item| (key, item))),
            Json::Object(entries) => {
                open.extend(entries.iter().rev().map(|(key, value)| (key.as_str(), value)));
            }
            Json::String(_) | Json::Number(_) => found.push((key, value)),
            Json::Bool(_) | Json::Null => {}
        }
    }
    found
}

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::{Call, Message, Role};
    use serde_json::json;

    use super::*;
    use crate::checks::{Solution, check};

    fn calling(arguments: Json) -> Message {
        let call = Call { id: None, name: "track".to_owned(), arguments };
        Message { calls: vec![call], ..Message::text(Role::Assistant, "") }
    }

    fn found(messages: &[Message], looked_up: &[Json], given: &[Json]) -> Vec<(String, Level)> {
        let functions = [json!({"name": "track"})];
        let solution = Solution {
            messages,
            answer: "Done.",
            functions: &functions,
            looked_up,
            given,
            ..Solution::default()
        };
        let findings = check(&solution).findings.into_iter();
        findings.filter(|it| it.reason == Reason::GuessedArgument).map(|it| (it.evidence, it.level)).collect()
    }

    fn path(before: &str, arguments: Json, result: &str) -> Vec<Message> {
        vec![
            Message::text(Role::User, "Where is my parcel? The order was 88 and I am Ann."),
            calling(json!({"name": "Ann"})),
            Message::text(Role::Tool, before),
            calling(arguments),
            Message::text(Role::Tool, result),
        ]
    }

    #[test]
    fn ids_without_a_source_are_found() {
        let before = r#"{"parcel_id": "P-7"}"#;
        for (arguments, evidence, level) in [
            (json!({"parcel_id": "P-9"}), "P-9", Level::Certain),
            (json!({"of": {"ids": ["P-7", "PARCEL-20391"]}}), "PARCEL-20391", Level::Certain),
            (json!({"user_id": 4711}), "4711", Level::Certain),
            (json!({"text": "ABC12345"}), "ABC12345", Level::Suspect),
        ] {
            assert_eq!(
                found(&path(before, arguments.clone(), "{}"), &[], &[]),
                [(evidence.to_owned(), level)],
                "{arguments}"
            );
        }
    }

    #[test]
    fn ids_with_a_source_and_other_values_are_no_guesses() {
        let before = r#"{"parcel_id": "P-7", "carrier": {"number": 4711}}"#;
        for arguments in [
            json!({"parcel_id": "p-7"}),
            json!({"parcel_id": "P-88"}),
            json!({"carrier_id": 4711}),
            json!({"carrier_id": "4711"}),
            json!({"to": "Bob", "limit": 20, "page": 4711.5, "is_fast": true}),
            json!({"user_id": 3}),
        ] {
            assert_eq!(found(&path(before, arguments.clone(), "{}"), &[], &[]), [], "{arguments}");
        }
        let own = json!({"parcel_id": "ZX-20391"});
        assert_eq!(found(&path(before, own.clone(), "{}"), &[], &[json!("ZX-20391")]), []);
        assert_eq!(found(&path(before, own, r#"{"error": "no such parcel"}"#), &[], &[]), []);
    }

    #[test]
    fn a_value_that_good_calls_look_up_needs_a_source_of_whatever_kind() {
        let call = json!({"depot": "Northgate", "n": 3});
        for (looked_up, before, is_found) in [
            (json!({"room": "AB-7"}), r#"{"seats": 7}"#, true),
            (json!({"member_id": 6}), r#"{"seats": 7}"#, true),
            (json!({"member_id": 6}), r#"{"member": 6}"#, false),
            (json!({"shelf_id": "KX-14"}), r#"{"shelf_id": "KX-15", "n": 14}"#, true),
            (json!({"day": "2026-04-02"}), r#"{"day": "April 2, 2026"}"#, false),
            (json!({"at": "2026-04-02 14:00"}), r#"{"day": "April 2, 2026", "time": "2 pm"}"#, false),
        ] {
            let found = found(&path(before, looked_up.clone(), "{}"), std::slice::from_ref(&looked_up), &[]);
            assert_eq!(found.len(), usize::from(is_found), "{looked_up} {found:?}");
        }
        let looked_up = [json!(["Northgate"]), json!(3)];
        let certain = [("Northgate".to_owned(), Level::Certain)];
        assert_eq!(found(&path("{}", call.clone(), "{}"), &looked_up, &[]), certain);
        assert_eq!(found(&path(r#"["northgate"]"#, call, "{}"), &looked_up, &[]), []);
    }

    #[test]
    fn an_error_that_repeats_a_guess_is_no_source_of_it() {
        let mut messages = path("{}", json!({"id": "QQ-20391"}), r#"{"error": "QQ-20391 is locked"}"#);
        messages.extend([calling(json!({"id": "QQ-20391"})), Message::text(Role::Tool, "{}")]);
        assert_eq!(found(&messages, &[], &[]), [("QQ-20391".to_owned(), Level::Certain)]);
    }

    #[test]
    fn calls_of_earlier_turns_are_a_source() {
        let mut messages = path("{}", json!({"id": "QQ-20391"}), "{}");
        messages.extend([
            Message::text(Role::User, "Once more."),
            calling(json!({"id": "QQ-20391"})),
            Message::text(Role::Tool, "{}"),
        ]);
        assert_eq!(found(&messages, &[], &[]), []);
    }
}
