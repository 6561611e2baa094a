//! Street addresses by rule: a house number next to a word for a street.
//!
//! A rule reads capitals as the language writes them, so an address in lower case is left to a model, as are streets
//! without such a word. Words that are also others (`Drive`, `Court`, `Place`) need a unit or a comma after them.

use std::sync::LazyLock;

use regex::Regex;

use super::Place;
use crate::PrivacyKind;

/// A word with a capital, and up to three of them.
const WORD: &str = r"\p{Lu}[\p{L}'’.-]*";
const UNIT: &str = r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\.? ?#?[0-9A-Za-z-]{1,5})";

/// The forms of an address, with `<W>` for a word with a capital and `<U>` for a unit.
const FORMS: [&str; 9] = [
    // English.
    r"[0-9]{1,5}[A-Za-z]?(?:-[0-9]{1,4})? (?:(?:N|S|E|W|NE|NW|SE|SW)\.? )?(?:(?:<W>|[0-9]{1,3}(?:st|nd|rd|th)) ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Boulevard|Blvd|Terrace|Crescent|Parkway|Pkwy)<U>?",
    r"[0-9]{1,5}[A-Za-z]? (?:(?:N|S|E|W|NE|NW|SE|SW)\.? )?(?:<W> ){1,3}(?:Drive|Dr|Court|Ct|Place|Pl|Way|Square|Close|Circle|Trail)<U>",
    r"(?:P\. ?O\. |PO |P\.O\.)Box [0-9]{1,6}",
    // German, Dutch.
    r"(?:\p{Lu}[\p{L}-]+(?:straße|strasse|str\.|gasse|allee|weg|damm|ufer)|<W> (?:Straße|Strasse|Str\.|Allee|Weg|Gasse|Damm|Ufer)) [0-9]{1,4}[a-z]?",
    r"\p{Lu}[\p{L}-]+(?:straat|laan|gracht|kade|plein) [0-9]{1,4}[a-zA-Z]?",
    // French.
    r"[0-9]{1,4}(?: ?(?:bis|ter))?,? (?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Ii]mpasse|[Aa]llée|[Cc]hemin|[Qq]uai)(?: (?:de la|des|du|de|de l['’]|d['’]))? ?<W>(?: <W>){0,3}",
    // Spanish, Portuguese, Italian.
    r"(?:Calle|Avenida|Avda\.|Av\.|Paseo|Carrera|Rua|Travessa|Via|Viale|Corso|Vicolo)(?: (?:de las|de los|de la|del|della|dei|das|dos|de|di|da|do))? <W>(?: (?:de |da |do )?<W>){0,3},? (?:n[.º°]? ?)?[0-9]{1,5}[a-zA-Z]?",
    // Swedish, Danish, Norwegian.
    r"\p{Lu}\p{L}+(?:gatan|vägen|gaten|gata|veien|vej) [0-9]{1,4}[A-Za-z]?",
    // Polish.
    r"(?:ul|al)\. <W>(?: <W>){0,2} [0-9]{1,4}(?:/[0-9]{1,4}|[a-z])?",
];

/// German words that end like a street and are none.
const NO_STREETS: [&str; 8] =
    ["Umweg", "Heimweg", "Rückweg", "Hinweg", "Schulweg", "Arbeitsweg", "Ausweg", "Radweg"];

/// Returns the places of street addresses, in order.
pub(super) fn find(text: &str) -> Vec<Place> {
    static ADDRESSES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let written = |form: &str| form.replace("<W>", WORD).replace("<U>", UNIT);
        FORMS.map(|form| Regex::new(&written(form)).expect("it is a pattern")).into()
    });
    // All forms have a number.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let mut found: Vec<Place> = Vec::new();
    for address in &*ADDRESSES {
        for hit in address.find_iter(text) {
            let (start, end) = (hit.start(), hit.end());
            if is_whole(text, start, end) && !NO_STREETS.iter().any(|word| hit.as_str().starts_with(word)) {
                found.push(Place { kind: PrivacyKind::StreetAddress, start, end });
            }
        }
    }
    found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    found
}

fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_part =
        |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '€' | '£'));
    let before = text[..start].trim_end_matches(['.', ',', ':', '/']);
    // A number with a sign between its digits: `3.5 Mile Road` begins with 5.
    let is_number = before.len() < start && before.ends_with(|c: char| c.is_ascii_digit());
    !is_part(text[..start].chars().next_back()) && !is_part(text[end..].chars().next()) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_many_languages_are_found() {
        for (text, expected) in [
            ("Send it to 22 Acacia Avenue, Apt 4, please", "22 Acacia Avenue, Apt 4"),
            ("at 1600 W 5th St.", "1600 W 5th St"),
            ("I live at 7 Maple Drive, Unit 12", "7 Maple Drive, Unit 12"),
            ("PO Box 4411, Tessen", "PO Box 4411"),
            ("Lindenweg 4b ist neu", "Lindenweg 4b"),
            ("Meine Adresse: Berliner Straße 112", "Berliner Straße 112"),
            ("naar Prinsengracht 263", "Prinsengracht 263"),
            ("au 12 bis, rue de la Gare", "12 bis, rue de la Gare"),
            ("Avenida Paulista, 1578", "Avenida Paulista, 1578"),
            ("in Via del Corso 18", "Via del Corso 18"),
            ("Drottninggatan 55", "Drottninggatan 55"),
            ("ul. Marszałkowska 10/16", "ul. Marszałkowska 10/16"),
        ] {
            let places = find(text);
            assert!(
                places.iter().any(|place| &text[place.start..place.end] == expected),
                "{text}: {:?}",
                places.iter().map(|place| &text[place.start..place.end]).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn similar_texts_are_no_addresses() {
        for text in [
            "Upload 5 Google Drive files",
            "9 Supreme Court cases",
            "a 20 minute road trip",
            "$5 Main Street bonus and 3.5 Mile Road",
            "Wall Street fell by 3",
            "12 streets in Paris",
            "ein Umweg 5 km lang",
            "the Milky Way, 3 stars",
            "version 2 Roadmap",
            "Flight 22 to Avenue",
        ] {
            let places = find(text);
            let found: Vec<&str> = places.iter().map(|place| &text[place.start..place.end]).collect();
            assert_eq!(found, [""; 0], "{text}");
        }
    }
}
