//! International bank account numbers: the length of their country, and the check digits modulo 97.

use super::context::is_joined_before;
use super::run::Run;
use super::{Found, Kind, Standing};

/// Countries and the length of their numbers.
const LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];
/// The examples that banks print.
const EXAMPLES: [&str; 4] =
    ["GB82WEST12345698765432", "DE89370400440532013000", "FR1420041010050500013M02606", "NL91ABNA0417164300"];
/// Digits at the end that hold a placeholder's number; all before are zero.
const NUMBER_DIGITS: usize = 8;

/// Finds the account number that a run is the start of.
pub(super) fn find(text: &str, run: &Run, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for &(group, end) in &run.groups {
        if group < 2 || end - group < 2 {
            continue;
        }
        let start = group - 2;
        if !bytes[start..group].iter().all(u8::is_ascii_alphabetic) || is_joined_before(bytes, start) {
            continue;
        }
        let Some(length) = length_of(&bytes[start..group]) else { continue };
        let Some((end, value)) = read(text, start, length) else { continue };
        if is_checked(&value)
            && (bytes[start].is_ascii_uppercase() || text[start..end].contains(' ') || is_bank(&value))
        {
            let standing = standing(&value);
            found.push(Found::new(Kind::Iban, start, end, value, standing));
        }
    }
}

/// The length of the numbers of a country, whatever the case of its letters.
pub(super) fn length_of(country: &[u8]) -> Option<usize> {
    let is_country = |known: &&(&str, usize)| known.0.as_bytes().eq_ignore_ascii_case(country);
    LENGTHS.iter().find(is_country).map(|&(_, length)| length)
}

/// Its letters are where banks have them, at the front, or few: in small letters ids look like account numbers.
fn is_bank(value: &str) -> bool {
    let account = value[4..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
    account.bytes().filter(u8::is_ascii_alphabetic).count() <= 2
}

/// So many letters and digits, with single blanks, dashes or dots between; in capitals.
fn read(text: &str, start: usize, length: usize) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let mut value = String::with_capacity(length);
    let mut at = start;
    let mut was_gap = false;
    while value.len() < length {
        let byte = *bytes.get(at)?;
        if byte.is_ascii_alphanumeric() {
            value.push(char::from(byte.to_ascii_uppercase()));
            was_gap = false;
        } else if matches!(byte, b' ' | b'-' | b'.') && !was_gap {
            was_gap = true;
        } else {
            return None;
        }
        at += 1;
    }
    let goes_on = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    (!goes_on).then_some((at, value))
}

fn is_checked(value: &str) -> bool {
    remainder(&format!("{}{}", &value[4..], &value[..4])) == 1
}

/// Of the text as a number, letters counting from ten, divided by 97.
fn remainder(text: &str) -> u32 {
    text.chars().filter_map(|c| c.to_digit(36)).fold(0, |rest, digit| {
        let shift = if digit > 9 { 100 } else { 10 };
        (rest * shift + digit) % 97
    })
}

fn standing(value: &str) -> Standing {
    if EXAMPLES.contains(&value) {
        return Standing::Placeholder(None);
    }
    let account = &value[4..];
    let digits: String = account.chars().filter(char::is_ascii_digit).collect();
    let (zeros, number) = digits.split_at(digits.len().saturating_sub(NUMBER_DIGITS));
    let is_ours =
        account.chars().all(|c| c.is_ascii_digit() || c == 'X') && zeros.bytes().all(|digit| digit == b'0');
    if is_ours { Standing::Placeholder(number.parse().ok()) } else { Standing::Personal }
}

/// The placeholder: of the same country, length and grouping, with right check digits.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let plain: String = written.chars().filter(char::is_ascii_alphanumeric).collect();
    let (country, account) = (&plain[..2], &plain[4..]);
    let n_digits = account.bytes().filter(u8::is_ascii_digit).count();
    let capacity = 10_u64.pow(u32::try_from(n_digits.min(NUMBER_DIGITS)).unwrap_or(0));
    let digits = format!("{:0n_digits$}", number % capacity);
    let mut digits = digits.chars();
    let account: String = account
        .chars()
        .map(|c| if c.is_ascii_digit() { digits.next().unwrap_or('0') } else { 'X' })
        .collect();
    let check = 98 - remainder(&format!("{account}{country}00"));
    let mut new = format!("{country}{check:02}{account}").chars().collect::<Vec<char>>().into_iter();
    let mut replaced = |c: char| {
        let new = new.next().unwrap_or(c);
        if c.is_ascii_lowercase() { new.to_ascii_lowercase() } else { new }
    };
    written.chars().map(|c| if c.is_ascii_alphanumeric() { replaced(c) } else { c }).collect()
}
