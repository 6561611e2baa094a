//! The labels of a model: which of them mark a person's name or a part of a street address.
//!
//! Labels may have a prefix of the schemes BIO, BIOES or BILOU, or none. Cities, countries, companies and all other labels
//! are ignored: requests are about these.

use std::collections::BTreeMap;

use callsieve_privacy::PrivacyKind;

/// Labels of names, without prefix and separators, in capitals.
const NAMES: [&str; 17] = [
    "PER",
    "PERSON",
    "NAME",
    "GIVENNAME",
    "FIRSTNAME",
    "MIDDLENAME",
    "LASTNAME",
    "SURNAME",
    "FAMILYNAME",
    "FULLNAME",
    "PERSONNAME",
    "PRIVATEPERSON",
    "PATIENT",
    "DOCTOR",
    "STAFF",
    "NAMEGIVEN",
    "NAMEFAMILY",
];
/// Labels of street addresses and their parts.
const STREETS: [&str; 13] = [
    "STREET",
    "STREETNAME",
    "STREETADDRESS",
    "ADDRESS",
    "PRIVATEADDRESS",
    "BUILDINGNUMBER",
    "BUILDINGNUM",
    "BUILDING",
    "HOUSENUMBER",
    "SECONDARYADDRESS",
    "ADDRESSLINE",
    "LOCATIONADDRESS",
    "LOCATIONADDRESSSTREET",
];

/// What a label says about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    /// The kind of value that the word is a part of.
    pub(super) kind: PrivacyKind,
    /// The number of the label without its prefix: `B-PER` and `I-PER` have the same.
    pub(super) entity: usize,
    /// The word begins a value (`B-`, `S-`, `U-`).
    pub(super) begins: bool,
}

/// Returns what each label says, by its number; `None` for labels that are ignored.
///
/// # Errors
/// The numbers have gaps, or no label is one of a name or a street address.
pub(super) fn read(id2label: &BTreeMap<String, String>) -> Result<Vec<Option<Label>>, String> {
    let mut entities: Vec<String> = Vec::new();
    let labels: Vec<Option<Label>> = (0..id2label.len())
        .map(|id| {
            let label = id2label.get(&id.to_string()).ok_or(format!("id2label has no label {id}"))?;
            Ok(of(label, &mut entities))
        })
        .collect::<Result<_, String>>()?;
    if labels.iter().flatten().next().is_none() {
        let all: Vec<&str> = id2label.values().map(String::as_str).collect();
        return Err(format!(
            "id2label has no label of a name or a street address; its labels are {}",
            all.join(", ")
        ));
    }
    Ok(labels)
}

fn of(label: &str, entities: &mut Vec<String>) -> Option<Label> {
    let (prefix, entity) = match label.split_once(['-', '_']) {
        Some((prefix @ ("B" | "I" | "E" | "S" | "L" | "U"), entity)) => (prefix, entity),
        _ => ("I", label),
    };
    let entity: String =
        entity.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    let kind = if NAMES.contains(&&*entity) {
        PrivacyKind::Name
    } else if STREETS.contains(&&*entity) {
        PrivacyKind::StreetAddress
    } else {
        return None;
    };
    let at = entities.iter().position(|known| *known == entity).unwrap_or_else(|| {
        entities.push(entity);
        entities.len() - 1
    });
    Some(Label { kind, entity: at, begins: matches!(prefix, "B" | "S" | "U") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(labels: &[&str]) -> Result<Vec<Option<Label>>, String> {
        read(&labels.iter().enumerate().map(|(id, label)| (id.to_string(), (*label).to_owned())).collect())
    }

    #[test]
    fn labels_of_all_schemes_are_read_and_places_are_ignored() {
        let labels = read_all(&[
            "O",
            "B-PER",
            "I-PER",
            "B-LOC",
            "S-street_name",
            "PERSON",
            "private_address",
            "U-CITY",
        ]);
        let label = |kind, entity, begins| Some(Label { kind, entity, begins });
        let expected = vec![
            None,
            label(PrivacyKind::Name, 0, true),
            label(PrivacyKind::Name, 0, false),
            None,
            label(PrivacyKind::StreetAddress, 1, true),
            label(PrivacyKind::Name, 2, false),
            label(PrivacyKind::StreetAddress, 3, false),
            None,
        ];
        assert_eq!(labels, Ok(expected));
    }

    #[test]
    fn a_model_without_such_labels_is_refused() {
        let error = read_all(&["O", "B-LOC"]).unwrap_err();
        assert!(error.ends_with("its labels are O, B-LOC"), "{error}");
        let gap =
            read(&BTreeMap::from([("0".to_owned(), "O".to_owned()), ("2".to_owned(), "PER".to_owned())]));
        assert_eq!(gap, Err("id2label has no label 1".to_owned()));
    }
}
