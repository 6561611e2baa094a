//! From the labels of words to places in a text.
//!
//! A word has the label of its first token: most models are trained so. Words of one kind next to each other are one value,
//! unless a label begins a new one; a given name and a surname, or a house number and a street, are one value. A street
//! address needs a digit, so a street or a quarter alone stays.

use std::ops::Range;

use super::labels::Label;
use callsieve_privacy::PrivacyKind;
use callsieve_privacy::people::Place;

/// A word of a text with its label.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    pub(super) label: Option<Label>,
}

/// Returns the places of names and street addresses, in order.
pub(super) fn places(text: &str, words: &[Word]) -> Vec<Place> {
    let mut found: Vec<(Place, Label)> = Vec::new();
    for word in words {
        let Some(label) = word.label else { continue };
        if let Some((open, last)) = found.last_mut()
            && continues(text, open, *last, word, label)
        {
            open.end = word.bytes.end;
            *last = label;
        } else {
            let place = Place { kind: label.kind, start: word.bytes.start, end: word.bytes.end };
            found.push((place, label));
        }
    }
    found.into_iter().filter_map(|(place, _)| trimmed(text, place)).collect()
}

/// Whether a word belongs to the value before it.
fn continues(text: &str, open: &Place, last: Label, word: &Word, label: Label) -> bool {
    let between = text.get(open.end..word.bytes.start).unwrap_or("\n");
    let is_new = label.begins && label.entity == last.entity && !between.is_empty();
    let may_be_between = |c: char| match label.kind {
        PrivacyKind::StreetAddress => matches!(c, ' ' | ',' | '.' | '#' | '\u{a0}'),
        _ => matches!(c, ' ' | '.' | '\u{a0}'),
    };
    label.kind == open.kind && !is_new && between.len() <= 3 && between.chars().all(may_be_between)
}

/// Trims a place to letters and digits; `None` if nothing of a value is left.
fn trimmed(text: &str, place: Place) -> Option<Place> {
    let written = text.get(place.start..place.end)?;
    let is_edge = |c: char| !c.is_alphanumeric();
    let trimmed = written.trim_start_matches(is_edge);
    let start = place.start + (written.len() - trimmed.len());
    let mut trimmed = trimmed.trim_end_matches(is_edge);
    if place.kind == PrivacyKind::Name {
        trimmed = trimmed.strip_suffix("'s").or_else(|| trimmed.strip_suffix("’s")).unwrap_or(trimmed);
    }
    let place = Place { start, end: start + trimmed.len(), ..place };
    place.is_sound(trimmed).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: Label = Label { kind: PrivacyKind::Name, entity: 0, begins: true };
    const SURNAME: Label = Label { kind: PrivacyKind::Name, entity: 1, begins: true };
    const NUMBER: Label = Label { kind: PrivacyKind::StreetAddress, entity: 2, begins: true };
    const STREET: Label = Label { kind: PrivacyKind::StreetAddress, entity: 3, begins: true };
    const INSIDE: Label = Label { kind: PrivacyKind::StreetAddress, entity: 3, begins: false };

    /// Returns the values of a text whose words are labelled in order.
    fn values<'t>(text: &'t str, labels: &[(&str, Label)]) -> Vec<&'t str> {
        let mut done = 0;
        let words: Vec<Word> = labels
            .iter()
            .map(|(word, label)| {
                let start = done + text[done..].find(word).unwrap();
                done = start + word.len();
                Word { bytes: start..done, label: Some(*label) }
            })
            .collect();
        places(text, &words).iter().map(|place| &text[place.start..place.end]).collect()
    }

    #[test]
    fn parts_of_a_value_are_joined_and_two_values_are_not() {
        let names = [("Mira", GIVEN), ("Keller", SURNAME), ("Tomas", GIVEN)];
        assert_eq!(values("Mira Keller and Tomas", &names), ["Mira Keller", "Tomas"]);
        assert_eq!(values("Mira, Tomas", &[("Mira", GIVEN), ("Tomas", GIVEN)]), ["Mira", "Tomas"]);
        assert_eq!(values("Mira Tomas", &[("Mira", GIVEN), ("Tomas", GIVEN)]), ["Mira", "Tomas"]);
        let address = [("22", NUMBER), ("Acacia", STREET), ("Avenue", INSIDE), ("4", NUMBER)];
        assert_eq!(values("at 22 Acacia Avenue, #4.", &address), ["22 Acacia Avenue, #4"]);
    }

    #[test]
    fn a_street_without_a_number_and_a_sign_are_no_values() {
        assert_eq!(values("on Acacia Avenue", &[("Acacia", STREET), ("Avenue", INSIDE)]), [""; 0]);
        assert_eq!(values("- Mira's", &[("-", GIVEN), ("Mira's", GIVEN)]), ["Mira"]);
    }
}
