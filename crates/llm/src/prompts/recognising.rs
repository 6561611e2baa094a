//! Recognising: the request for the names and street addresses in a text, and their places in it.
//!
//! An answer quotes the values. A quote that is not in the text, or that is no value of its kind, makes the whole answer
//! unusable: what a model makes up about one value, it may have left out about another.

use std::ops::Range;

use serde_json::{Value, json};

use super::texts::{Task, Texts};
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_privacy::PrivacyKind;
use callsieve_privacy::people::{Place, is_placeholder};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static PEOPLE: Task = Task {
    name: "values",
    prompt: include_str!("../../../../configs/prompts/recognise_people.md"),
    usual_output: 30,
    max_output: 1500,
};

/// Most characters of a piece of a text: a longer text is asked about in pieces.
const MAX_CHARS: usize = 6_000;

/// Returns the bytes of the pieces in which a text is asked about, in order. A piece ends with a line or a word if it can.
pub fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let most = rest.char_indices().nth(MAX_CHARS).map_or(rest.len(), |(at, _)| at);
        let end = if most == rest.len() {
            most
        } else {
            let after = |found: Option<usize>| found.map(|at| at + 1).filter(|&at| at > most / 2);
            let of_line = after(rest[..most].rfind('\n'));
            of_line.or_else(|| after(rest[..most].rfind(' '))).unwrap_or(most)
        };
        pieces.push(start..start + end);
        start += end;
    }
    pieces
}

/// Returns the question about a piece of a text.
pub fn question(piece: &str, model: &str) -> ChatRequest {
    let value = json!({
        "type": "object",
        "properties": {"quote": {"type": "string"}, "kind": {"type": "string", "enum": ["name", "street-address"]}},
        "required": ["quote", "kind"],
        "additionalProperties": false
    });
    let schema = json!({
        "type": "object",
        "properties": {"values": {"type": "array", "items": value}},
        "required": ["values"],
        "additionalProperties": false
    });
    PEOPLE.question(&Texts::plain(piece), &schema, model, 0, 1)
}

/// Reads the places of the values in an answer, in order.
///
/// # Errors
/// Why the answer cannot be used. It does not quote the text.
pub fn places_in(answer: &ChatAnswer, piece: &str) -> Result<Vec<Place>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let values = object.get("values").and_then(Value::as_array).ok_or("the answer has no list of values")?;
    let mut places: Vec<Place> = Vec::new();
    for value in values {
        let quote = value["quote"].as_str().map(str::trim).ok_or("a value has no quote")?;
        let kind = value["kind"].as_str().and_then(PrivacyKind::from_name);
        let kind = kind
            .filter(|kind| matches!(kind, PrivacyKind::Name | PrivacyKind::StreetAddress))
            .ok_or("a value has no kind")?;
        if is_placeholder(quote) {
            continue;
        }
        if !(Place { kind, start: 0, end: quote.len() }).is_sound(quote) {
            return Err("a quote is no name and no street address");
        }
        let before = places.len();
        let found =
            piece.match_indices(quote).map(|(start, _)| Place { kind, start, end: start + quote.len() });
        places.extend(found.filter(|place| is_whole(piece, place)));
        if places.len() == before {
            return Err("a quote is not in the text");
        }
    }
    // Of two quotes at a place, the longer one.
    places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut done = 0;
    places.retain(|place| {
        let is_apart = place.start >= done;
        if is_apart {
            done = place.end;
        }
        is_apart
    });
    Ok(places)
}

/// Returns true if no letter or digit is directly before or after the place. Scripts without spaces have no such borders.
fn is_whole(text: &str, place: &Place) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && u32::from(c) < 0x0e00);
    let (first, last) = (text[place.start..].chars().next(), text[..place.end].chars().next_back());
    let joins_before = is_part(first) && is_part(text[..place.start].chars().next_back());
    let joins_after = is_part(last) && is_part(text[place.end..].chars().next());
    !joins_before && !joins_after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, answer: &str) -> Result<Vec<String>, &'static str> {
        let answer = ChatAnswer::of_text(answer.to_owned());
        let places = places_in(&answer, text)?;
        Ok(places
            .iter()
            .map(|place| format!("{} {}", place.kind.name(), &text[place.start..place.end]))
            .collect())
    }

    #[test]
    fn quotes_are_found_wherever_they_stand_and_the_longer_one_counts() {
        let text = "Mira Keller asked Mira at 5 Old Mill Lane; Miranda did not. Person 2 too.";
        let answer = r#"{"values": [{"quote": "Mira", "kind": "name"}, {"quote": "Mira Keller", "kind": "name"},
            {"quote": "5 Old Mill Lane", "kind": "street-address"}, {"quote": "Person 2", "kind": "name"}]}"#;
        let expected = ["name Mira Keller", "name Mira", "street-address 5 Old Mill Lane"];
        assert_eq!(read(text, answer).unwrap(), expected);
        assert_eq!(read(text, r#"So: {"values": []}"#).unwrap(), [""; 0]);
    }

    #[test]
    fn an_answer_with_one_bad_value_is_not_used() {
        for (answer, expected) in [
            (
                r#"{"values": [{"quote": "Mira", "kind": "name"}, {"quote": "Mara", "kind": "name"}]}"#,
                "is not in the text",
            ),
            (r#"{"values": [{"quote": "ir", "kind": "name"}]}"#, "is not in the text"),
            (r#"{"values": [{"quote": "Lane", "kind": "street-address"}]}"#, "no name and no street address"),
            (r#"{"values": [{"quote": "5", "kind": "name"}]}"#, "no name and no street address"),
            (r#"{"values": [{"quote": "Mira", "kind": "city"}]}"#, "no kind"),
            (r#"{"values": [{"quote": "Mira", "kind": "phone"}]}"#, "no kind"),
            (r#"{"values": [{"kind": "name"}]}"#, "no quote"),
            (r#"{"people": []}"#, "no list of values"),
            ("Mira", "no JSON object"),
        ] {
            let error = read("Mira asked on Lane 5", answer).unwrap_err();
            assert!(error.contains(expected), "{answer}: {error}");
        }
        let cut = ChatAnswer::cut("{\"values\": [{".to_owned());
        assert_eq!(places_in(&cut, "Mira").unwrap_err(), "the answer is cut off");
    }

    #[test]
    fn a_long_text_is_cut_at_lines_and_words() {
        let text = format!("{}\n{} {}", "a".repeat(4000), "b".repeat(4000), "ü".repeat(7000));
        let pieces = pieces(&text);
        let lengths: Vec<usize> = pieces.iter().map(|piece| text[piece.clone()].chars().count()).collect();
        assert_eq!(lengths, [4001, 4001, 6000, 1000]);
        assert_eq!(pieces.iter().map(|piece| &text[piece.clone()]).collect::<String>(), text);
        assert!(super::pieces("").is_empty());
    }
}
