//! Values of an answer that claim something, without numbers of its own structure.
//!
//! Left out: numbers of a list ("1."), of steps and options, ordinals, numbers in words below three, "24/7", "100 %".

use super::mentions::{Mention, Value, lower, mentions};
use super::numbers::Number;

/// A value of the answer that should have a source.
pub(super) struct Claim {
    pub(super) mention: Mention,
    /// "about", "over" or a similar word is before the value.
    pub(super) is_hedged: bool,
}

/// Words before a number of the answer's own structure, in lower case.
const LABELS: [&str; 17] = [
    "step", "option", "tip", "part", "phase", "section", "question", "note", "item", "point", "top",
    "example", "figure", "table", "chapter", "no", "number",
];
/// Words before a number that is not exact, in lower case.
const HEDGES: [&str; 19] = [
    "about",
    "around",
    "approximately",
    "approx",
    "roughly",
    "nearly",
    "almost",
    "over",
    "under",
    "than",
    "least",
    "most",
    "to",
    "circa",
    "some",
    "estimated",
    "near",
    "close",
    "~",
];
/// Numbers in words below are articles and pronouns.
const MIN_WORD: f64 = 3.0;
/// Highest number of a list that is no claim.
const MAX_ITEM: f64 = 99.0;

/// Returns the claims of an answer in order.
pub(super) fn claims(chars: &[char]) -> Vec<Claim> {
    let mut last_item = 0.0;
    let mut claims = Vec::new();
    for mention in mentions(chars) {
        if let Value::Number(number) = mention.value {
            if is_item(chars, &mention, &number, last_item) {
                last_item = number.value;
                continue;
            }
            if is_structure(chars, &mention, &number) {
                continue;
            }
        }
        let is_hedged = HEDGES.contains(&word_before(chars, mention.span.start).as_str());
        claims.push(Claim { mention, is_hedged });
    }
    claims
}

/// Returns whether a number begins an item: `1.`, `2)`, `(3)`, `4:` at the start of a line, or next after the last item.
fn is_item(chars: &[char], mention: &Mention, number: &Number, last_item: f64) -> bool {
    let is_marked = matches!(chars.get(mention.span.end), Some('.' | ')' | ':' | '*'));
    let before =
        chars[..mention.span.start].iter().rev().find(|c| !matches!(c, ' ' | '*' | '#' | '-' | '(' | '\t'));
    let is_line = before.is_none_or(|c| *c == '\n');
    let is_next = (number.value - last_item - 1.0).abs() < f64::EPSILON;
    is_marked
        && !number.is_word
        && number.value <= MAX_ITEM
        && number.resolution >= 1.0
        && (is_line || is_next)
}

fn is_structure(chars: &[char], mention: &Mention, number: &Number) -> bool {
    let after = |text: &str| chars[mention.span.end..].iter().take(text.len()).collect::<String>() == text;
    let before = mention.span.start.checked_sub(1).map(|at| chars[at]);
    let is_always = (number.value - 24.0).abs() < f64::EPSILON && after("/7");
    let is_all = number.is_percent && (number.value - 100.0).abs() < f64::EPSILON;
    let is_second_half = before == Some('/')
        && mention.span.start >= 3
        && chars[mention.span.start - 3..].starts_with(&['2', '4']);
    let is_label = before == Some('#') || LABELS.contains(&word_before(chars, mention.span.start).as_str());
    let is_small_label = is_label && number.value <= MAX_ITEM && number.resolution >= 1.0;
    number.is_ordinal
        || (number.is_word && number.value < MIN_WORD)
        || is_always
        || is_all
        || is_second_half
        || is_small_label
}

/// Returns the word before a place on its line in lower case, or the sign `~`.
pub(super) fn word_before(chars: &[char], at: usize) -> String {
    let is_gap = |c: &&char| matches!(c, ' ' | '$' | '€' | '£' | '*' | '(');
    let gap = chars[..at].iter().rev().take_while(is_gap).count();
    let rest = &chars[..at - gap];
    if rest.last() == Some(&'~') {
        return "~".to_owned();
    }
    let length = rest.iter().rev().take_while(|c| c.is_alphanumeric() || **c == '\'').count();
    lower(&rest[rest.len() - length..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(answer: &str) -> Vec<String> {
        let chars: Vec<char> = answer.chars().collect();
        claims(&chars).iter().map(|claim| chars[claim.mention.span.clone()].iter().collect()).collect()
    }

    #[test]
    fn numbers_of_the_structure_are_no_claims() {
        let answer = "Here are two:\n1. Pier\n2) Mole\n**3.** Quay\nStep 4: go, open 24/7, 100% sure, the 5th, option 2.";
        assert_eq!(texts(answer), [""; 0]);
        assert_eq!(texts("Choose (1) Pier or (2) Mole"), [""; 0]);
    }

    #[test]
    fn values_are_claims() {
        assert_eq!(
            texts("The fare is 45. You have three boats on May 5 at 2pm."),
            ["45", "three", "May 5", "2pm"]
        );
        let chars: Vec<char> = "about $12.3 of 14".chars().collect();
        assert_eq!(claims(&chars).iter().map(|claim| claim.is_hedged).collect::<Vec<_>>(), [true, false]);
    }
}
