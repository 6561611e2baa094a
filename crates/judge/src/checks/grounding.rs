//! Values of the answer without a source.
//!
//! An id without a source is certain, all else is a suspicion: an answer may compute, translate, or add common knowledge.

use super::claims::{Claim, claims};
use super::dates::Date;
use super::mentions::{Value, lower};
use super::path::Path;
use super::sources::Sources;
use super::{Finding, Level, Reason, ValueKind, arithmetic, names};

/// Days from a date of the sources that words such as "next Friday" reach.
const RELATIVE_DAYS: u64 = 8;

/// Characters of an id that no text contains by chance.
const MIN_UNIQUE: usize = 7;

/// Digits of an id that somebody writes without its letters.
const MIN_NUMBER: usize = 2;

const EXPECTED: &str = "a result, a text of the user or the system, or an argument of a call";

pub(super) fn findings(path: &Path) -> Vec<Finding> {
    let chars: Vec<char> = path.solution.answer.chars().collect();
    let claims = claims(&chars);
    let names = names::names(&chars);
    let ids = path.shapes.ids(&chars);
    if claims.is_empty() && names.is_empty() && ids.is_empty() {
        return Vec::new();
    }
    let sources = Sources::of(path);
    let in_id = |claim: &Claim| {
        ids.iter().any(|id| claim.mention.span.start < id.end && id.start < claim.mention.span.end)
    };
    let values = claims.iter().filter(|claim| !in_id(claim) && !is_grounded(claim, &sources));
    let values = values.map(|claim| (claim.mention.kind(), claim.mention.span.clone()));
    let shaped = ids.iter().filter(|id| !is_grounded_shape(&lower(&chars[(*id).clone()]), &sources));
    let values = values.chain(shaped.map(|id| (ValueKind::Id, id.clone())));
    let names = names.iter().filter(|name| !names::is_grounded(name, &sources));
    let names = names.map(|name| (ValueKind::Name, name.span.clone()));
    values
        .chain(names)
        .map(|(kind, span)| {
            let level = if kind == ValueKind::Id { Level::Certain } else { Level::Suspect };
            let evidence: String = chars[span.clone()].iter().collect();
            Finding {
                kind: Some(kind),
                ..Finding::of(Reason::UngroundedAnswer, level, evidence, EXPECTED).at(span)
            }
        })
        .collect()
}

/// Returns whether a value has a source.
pub(super) fn is_grounded(claim: &Claim, sources: &Sources) -> bool {
    match &claim.mention.value {
        Value::Url(url) => sources.text.contains(url.as_str()),
        Value::Email(email) => sources.text.contains(email.as_str()),
        Value::Id(id) => is_grounded_id(id, sources),
        Value::Date(dates) => dates.iter().any(|date| is_grounded_date(*date, sources)),
        Value::Time(minutes) => minutes.iter().any(|minutes| sources.times.contains(minutes)),
        Value::Number(number) => {
            arithmetic::is_grounded(number, claim.is_hedged, sources) || is_digits_of_a_token(claim, sources)
        }
    }
}

/// An id is a whole token of a source, a number of a source, or, if it is long, its parts with other separators.
fn is_grounded_id(id: &str, sources: &Sources) -> bool {
    let is_value =
        |value: f64| sources.sums.iter().chain(&sources.numbers).any(|source| (source - value).abs() < 0.5);
    sources.tokens.contains(id)
        || id.parse().is_ok_and(is_value)
        || (id.len() >= MIN_UNIQUE && sources.squeezed.contains(id))
}

/// An id of a known shape, in lower case, stands in a source as it is, or a source has its number alone.
pub(super) fn is_grounded_shape(id: &str, sources: &Sources) -> bool {
    let number: String = id.chars().filter(char::is_ascii_digit).collect();
    (number.len() >= MIN_NUMBER && sources.tokens.contains(&number)) || has_word(&sources.text, id)
}

/// Returns whether a text has another one that is no part of a longer word there.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_whole = |at: usize| {
        let joins = |c: char| c.is_alphanumeric();
        !text[..at].ends_with(joins) && !text[at + word.len()..].starts_with(joins)
    };
    !word.is_empty() && text.match_indices(word).any(|(at, _)| is_whole(at))
}

fn is_grounded_date(date: Date, sources: &Sources) -> bool {
    if sources.dates.iter().any(|source| date.agrees(*source)) {
        return true;
    }
    let Some(day) = date.day_number().filter(|_| sources.has_relative_date) else { return false };
    let near = |source: &Date| {
        let source = Date { year: source.year.or(date.year), ..*source };
        source.day_number().is_some_and(|source| source.abs_diff(day) <= RELATIVE_DAYS)
    };
    sources.dates.iter().any(near)
}

/// A small number may be a part of a name: 14 of `iPhone14`.
fn is_digits_of_a_token(claim: &Claim, sources: &Sources) -> bool {
    let Value::Number(number) = claim.mention.value else { return false };
    let digits = number.value.to_string();
    let has = |token: &String| token.split(|c: char| !c.is_ascii_digit()).any(|run| run == digits);
    !number.is_amount && sources.tokens.iter().any(has)
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::{Message, Role};

    use super::*;
    use crate::checks::Solution;

    fn found(result: &str, answer: &str) -> Vec<(String, Level)> {
        let messages = [
            Message::text(Role::User, "Ships from Oban on 5 March 2024 for three guests, please."),
            Message::text(Role::Tool, result),
        ];
        let solution = Solution { messages: &messages, answer, functions: &[], ..Solution::default() };
        findings(&Path::of(&solution)).into_iter().map(|finding| (finding.evidence, finding.level)).collect()
    }

    #[test]
    fn values_with_a_source_in_another_form_are_grounded() {
        for (result, answer) in [
            (r#"{"fare": "1200.00"}"#, "The fare is $1,200."),
            (r#"{"fare": 1200}"#, "It costs about 1.2k, for 3 guests on March 5, 2024."),
            (r#"{"day": "2024-03-05T14:00:00Z"}"#, "It leaves at 2 PM on 03/05/2024, the 5 March."),
            (r#"{"height": 12.345}"#, "The tide is about 12.3 m high."),
            (r#"{"rate": 0.45}"#, "That is 45% of all."),
            (
                r#"[{"ship": "Mara"}, {"ship": "Isla"}, {"ship": "Skua"}, {"ship": "Tern"}]"#,
                "I found four ships: mara, Isla.",
            ),
            (r#"[{"fare": 19.5}, {"fare": 20.25}]"#, "Together 39.75."),
            (
                r#"{"id": "ORD-20391", "mail": "Desk@Oban.example"}"#,
                "Order ord20391; write to desk@oban.example.",
            ),
            (r#"{"page": "https://www.oban.example/a/"}"#, "See http://oban.example/a."),
            (r#"{"harbour": "Port Ellen"}"#, "The ship sails to Port Ellen."),
        ] {
            assert_eq!(found(result, answer), [], "{answer}");
        }
    }

    #[test]
    fn values_without_a_source_are_found_with_their_level() {
        for (answer, evidence, level) in [
            ("Your order is ABC123.", "ABC123", Level::Certain),
            ("Your number is 4711234.", "4711234", Level::Certain),
            ("The fare is $731.20.", "731.20", Level::Suspect),
            ("It leaves on April 9, 2024.", "April 9, 2024", Level::Suspect),
            ("It leaves at 4:15 pm.", "4:15 pm", Level::Suspect),
            ("Write to desk@mull.example.", "desk@mull.example", Level::Suspect),
            ("See https://mull.example/x.", "https://mull.example/x", Level::Suspect),
            ("The captain is Mara Lindqvist.", "Mara Lindqvist", Level::Suspect),
        ] {
            assert_eq!(found("{\"fare\": 20}", answer), [(evidence.to_owned(), level)], "{answer}");
        }
    }

    #[test]
    fn spans_are_in_characters() {
        let messages = [];
        let answer = "Größe: ABC123";
        let solution = Solution { messages: &messages, answer, functions: &[], ..Solution::default() };
        assert_eq!(findings(&Path::of(&solution))[0].span, Some(7..13));
    }
}
