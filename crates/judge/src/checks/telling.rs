//! Whether an answer tells what was asked for.
//!
//! What a good answer tells is known where an instruction's own calls were executed. An answer that has none of these values is a fault
//! if it has another value instead, which has no source, or if the calls change nothing, because then the values are all that the
//! user gets. Words such as a status have many forms, so without a false value they are only suspicions, and so are values that the
//! answer may put in words, such as noon or none.

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::Role;
use serde_json::Value as Json;

use super::grounding::is_grounded;
use super::mentions::{Value, mentions};
use super::numbers::Number;
use super::path::Path;
use super::sources::Sources;
use super::{
    Finding, Level, Reason, ValueKind,
    claims::{Claim, claims},
};

/// Numbers up to this are often words: none, one, both.
const MOST_IN_WORDS: f64 = 2.0;
/// Words of answers that stand for days and times, in lower case.
const RELATIVE: [&str; 12] = [
    "today",
    "tomorrow",
    "tonight",
    "yesterday",
    "noon",
    "midday",
    "midnight",
    "half",
    "quarter",
    "hour",
    "next",
    "ago",
];
/// The share by which a number after "about" may differ.
const NEAR: f64 = 0.05;
/// Characters of a word that says something by itself.
const MIN_CHARS: usize = 4;
/// An answer with a text has at least one of so many of its words.
const MAX_PARTS: usize = 2;

/// Returns the finding of an answer. `ungrounded`: the values of the answer without a source.
pub(super) fn findings(path: &Path, ungrounded: &[Finding]) -> Option<Finding> {
    let said = Said::of(path);
    let told: Vec<&Json> = path.solution.told.iter().filter(|value| said.is_news(value)).collect();
    let answer = Answer::of(path.solution.answer);
    if told.is_empty() || path.solution.answer.trim().is_empty() || told.iter().any(|value| answer.has(value))
    {
        return None;
    }
    // "Done!" says nothing at all.
    let is_bare = || answer.words.len() <= MOST_BARE_WORDS;
    let is_plain = || told.iter().all(|value| answer.must_show(value));
    // An answer may tell other values of the same results: what was ordered instead of its number.
    let tells_others = || leaves(path).iter().any(|value| said.is_news(value) && answer.has(value));
    let is_empty = path.solution.changes_nothing && (is_bare() || is_plain()) && !tells_others();
    let is_false = |kind: ValueKind| match kind {
        ValueKind::Name => false,
        ValueKind::Date | ValueKind::Time => !answer.is_relative,
        ValueKind::Id | ValueKind::Number | ValueKind::Email | ValueKind::Url => true,
    };
    let instead = ungrounded.iter().find(|finding| finding.kind.is_some_and(is_false));
    let level = if is_empty || instead.is_some() { Level::Certain } else { Level::Suspect };
    let expected = told.iter().map(|value| shown(value)).collect::<Vec<_>>().join(", ");
    let finding = Finding::of(Reason::AnswerLacksResult, level, "", &expected);
    Some(match instead.and_then(|value| value.span.clone().map(|span| (value, span))) {
        Some((value, span)) => Finding { evidence: value.evidence.clone(), ..finding.at(span) },
        None => finding,
    })
}

/// Words of an answer that says nothing.
const MOST_BARE_WORDS: usize = 2;
/// Values of the results of the last turn that are looked for.
const MOST_LEAVES: usize = 200;

/// The texts and numbers in the results of the last turn, without those that are in any answer by chance.
fn leaves(path: &Path) -> Vec<Json> {
    let results = path.exchanges.iter().filter(|exchange| exchange.is_last_turn && exchange.succeeded());
    let mut open: Vec<Json> =
        results.filter_map(|exchange| serde_json::from_str(&exchange.result?.content).ok()).collect();
    let mut found = Vec::new();
    while let Some(value) = open.pop().filter(|_| found.len() < MOST_LEAVES) {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(members) => open.extend(members.into_iter().map(|(_, value)| value)),
            Json::String(text) if text.chars().count() >= MIN_CHARS => found.push(Json::String(text)),
            Json::Number(number) if number.as_f64().is_some_and(|n| n.abs() > 10.0) => {
                found.push(Json::Number(number));
            }
            _ => {}
        }
    }
    found
}

/// A value as a person reads it.
fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What the user said, which an answer may repeat without having looked.
struct Said {
    text: String,
    numbers: Vec<f64>,
}

impl Said {
    fn of(path: &Path) -> Self {
        let of_user = path.solution.messages.iter().filter(|message| message.role == Role::User);
        let text = of_user.map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
        let chars: Vec<char> = text.chars().collect();
        let numbers = mentions(&chars).into_iter().filter_map(|mention| match mention.value {
            Value::Number(number) => Some(number.value),
            _ => None,
        });
        Self { numbers: numbers.collect(), text: squeezed(&text) }
    }

    /// Whether a value can be looked for, and is none that the user gave.
    fn is_news(&self, value: &Json) -> bool {
        match value {
            Json::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                !self.numbers.iter().any(|said| (said - number).abs() < f64::EPSILON)
            }
            Json::String(text) => {
                let text = squeezed(text);
                !text.is_empty() && !self.text.contains(&text)
            }
            _ => false,
        }
    }
}

/// An answer as values are looked for in it.
struct Answer {
    claims: Vec<Claim>,
    squeezed: String,
    words: BTreeSet<String>,
    is_relative: bool,
}

impl Answer {
    fn of(answer: &str) -> Self {
        let words: BTreeSet<String> = words(answer).collect();
        let is_relative = RELATIVE.iter().any(|word| words.contains(*word));
        let chars: Vec<char> = answer.chars().collect();
        Self { claims: claims(&chars), squeezed: squeezed(answer), words, is_relative }
    }

    /// Whether the answer has a value in any form that reads back to it.
    fn has(&self, value: &Json) -> bool {
        let text = shown(value);
        let plain = squeezed(&text);
        if value.is_string() && self.squeezed.contains(&plain) {
            return true;
        }
        let sources = Sources::of_text(&text);
        let tells = |claim: &Claim| match &claim.mention.value {
            // Nothing is computed from one value: every number would follow from it.
            Value::Number(number) => {
                sources.numbers.iter().any(|of| is_written(number, claim.is_hedged, *of))
            }
            _ => is_grounded(claim, &sources),
        };
        if self.claims.iter().any(tells) {
            return true;
        }
        let wanted: Vec<String> = words(&text).filter(|word| word.chars().count() >= MIN_CHARS).collect();
        let found = wanted.iter().filter(|word| self.words.contains(*word)).count();
        value.is_string() && found > 0 && found * MAX_PARTS >= wanted.len()
    }

    /// Whether an answer that tells a value shows it in one of the forms that are read.
    fn must_show(&self, value: &Json) -> bool {
        let text = shown(value);
        let chars: Vec<char> = text.chars().collect();
        let found = mentions(&chars);
        let [only] = &found[..] else { return false };
        let is_whole = only.span == (0..chars.len()) || matches!(only.value, Value::Date(_));
        is_whole
            && match &only.value {
                Value::Number(number) => number.value.abs() > MOST_IN_WORDS,
                Value::Date(_) | Value::Time(_) => !self.is_relative,
                Value::Id(_) | Value::Url(_) | Value::Email(_) => true,
            }
    }
}

/// Whether a number is a value as people write it: exactly, rounded or cut to its digits, as a percentage, or near it after "about".
fn is_written(number: &Number, is_hedged: bool, value: f64) -> bool {
    let is_near = |value: f64| {
        let apart = (number.value - value).abs();
        let step = number.resolution;
        let is_cut = (value / step).trunc() * step;
        let is_rounded = step > 1.0 || value.fract() != 0.0;
        apart <= 1e-9 * value.abs().max(1.0)
            || is_rounded && (apart <= step / 2.0 || (number.value - is_cut).abs() < step * 1e-6)
            || is_hedged && apart <= value.abs() * NEAR
    };
    is_near(value) || number.is_percent && is_near(value * 100.0)
}

/// The letters and digits of a text in lower case.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::Message;
    use serde_json::json;

    use super::*;
    use crate::checks::Solution;

    fn found(told: &[Json], changes_nothing: bool, answer: &str) -> Option<Level> {
        let messages = [Message::text(Role::User, "What does ferry 7 to Mull cost, and when does it go?")];
        let solution = Solution { told, changes_nothing, answer, messages: &messages, ..Solution::default() };
        let path = Path::of(&solution);
        findings(&path, &super::super::grounding::findings(&path)).map(|finding| finding.level)
    }

    #[test]
    fn an_answer_with_one_of_the_values_in_any_form_has_no_finding() {
        for (told, answer) in [
            (json!([1200.5]), "It is $1,200.50."),
            (json!([45]), "The fare is forty-five pounds."),
            (json!([41.65]), "It is about 42."),
            (json!([41.65]), "It is 41.7, or 41."),
            (json!([0.45]), "It is 45%."),
            (json!([216.5]), "The price is about 220."),
            (json!(["2026-03-05"]), "It goes on 5 March."),
            (json!(["14:30"]), "At 2:30 pm."),
            (json!(["12:00"]), "It goes at noon."),
            (json!(["FR-20391"]), "Your ticket is fr 20391."),
            (json!(["in_transit"]), "It's in transit."),
            (json!(["ready for pickup"]), "You can pick it up, it's ready."),
            (json!([45, "Mara"]), "The Mara will take you."),
            (json!(["Port Ellen harbour"]), "From Port Ellen."),
        ] {
            assert_eq!(found(told.as_array().unwrap(), true, answer), None, "{answer}");
        }
    }

    #[test]
    fn an_answer_without_any_of_them_is_a_fault_if_nothing_changes_and_they_have_one_form() {
        for (told, answer) in [
            (json!([45]), "It has a fare."),
            (json!([41.65]), "That is 0 pounds."),
            (json!(["2026-03-05"]), "It goes in spring."),
            (json!(["14:30"]), "It goes later."),
            (json!(["FR-20391"]), "You have a ticket."),
        ] {
            let told = told.as_array().unwrap();
            assert_eq!(found(told, true, answer), Some(Level::Certain), "{answer}");
            assert_eq!(found(told, false, answer), Some(Level::Suspect), "{answer}");
        }
    }

    #[test]
    fn an_answer_with_a_value_without_a_source_instead_is_a_fault() {
        for (told, answer) in [
            (json!([45]), "The fare is 39."),
            (json!(["2026-03-05"]), "It goes on 6 March."),
            (json!(["14:30"]), "It goes at 3 pm."),
            (json!(["shipped"]), "There are 812 of them."),
        ] {
            assert_eq!(found(told.as_array().unwrap(), false, answer), Some(Level::Certain), "{answer}");
        }
        assert_eq!(found(&[json!("shipped")], false, "It is with Mara Lindqvist."), Some(Level::Suspect));
    }

    #[test]
    fn a_number_near_the_right_one_or_computed_from_it_is_another_one() {
        for (told, answer) in [
            (41.65, "It is 41.66."),
            (41.65, "It is 58.35."),
            (41.65, "It is 83.30."),
            (41.65, "It costs about 50."),
            (216.5, "The price is about 300."),
            (216.5, "The price is 100."),
        ] {
            assert_eq!(found(&[json!(told)], true, answer), Some(Level::Certain), "{answer}");
        }
    }

    #[test]
    fn words_and_what_may_be_put_in_words_are_suspicions() {
        for (told, answer) in [
            (json!(["shipped"]), "It is on its way."),
            (json!([0]), "There are none."),
            (json!(["12:30"]), "It goes half an hour after noon."),
            (json!(["2026-03-05"]), "It goes tomorrow."),
            (json!([45, "closed"]), "You can't go in."),
        ] {
            assert_eq!(found(told.as_array().unwrap(), true, answer), Some(Level::Suspect), "{answer}");
        }
    }

    #[test]
    fn what_the_user_said_and_what_cannot_be_looked_for_is_no_value_to_tell() {
        for told in [json!([7]), json!(["Mull"]), json!([true]), json!([null]), json!([""]), json!([])] {
            assert_eq!(found(told.as_array().unwrap(), true, "Fine."), None, "{told}");
        }
    }
}
