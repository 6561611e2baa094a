//! International bank account numbers: the structure of the country, from the registry, and the check digits modulo 97.

use std::sync::LazyLock;

use iban::{Iban, IbanLike as _, ParseIbanError};

use super::context::is_joined_before;
use super::run::Run;
use super::{FoundValue, PrivacyKind, ValueStatus};

/// Countries that joined the registry after the crate's edition, and the length of their numbers.
const LATER: [(&str, usize); 1] = [("HN", 28)];
/// Letters and digits of the shortest and the longest account number.
const LENGTHS: std::ops::RangeInclusive<usize> = 15..=34;
/// Examples published by banks.
const EXAMPLES: [&str; 4] =
    ["GB82WEST12345698765432", "DE89370400440532013000", "FR1420041010050500013M02606", "NL91ABNA0417164300"];
/// Digits at the end for a placeholder's number; all digits before are zero.
const NUMBER_DIGITS: usize = 8;

/// Finds the account number that begins in a run.
pub(super) fn find(text: &str, run: &Run, found: &mut Vec<FoundValue>) {
    let bytes = text.as_bytes();
    for &(group, end) in &run.groups {
        if group < 2 || end - group < 2 {
            continue;
        }
        let start = group - 2;
        if !bytes[start..group].iter().all(u8::is_ascii_alphabetic) || is_joined_before(bytes, start) {
            continue;
        }
        let Some((end, value)) = read(text, start) else { continue };
        if bytes[start].is_ascii_uppercase() || text[start..end].contains(' ') || is_bank(&value) {
            let status = status(&value);
            found.push(FoundValue::new(PrivacyKind::Iban, start, end, value, status));
        }
    }
}

/// Returns true if two letters, in either case, are the code of a country with such numbers.
pub(super) fn is_country(letters: [u8; 2]) -> bool {
    let [first, second] = letters.map(|letter| letter.to_ascii_uppercase());
    COUNTRIES.contains(&[first, second])
}

/// The codes of all countries: the crate has no list, but can check the country of a number with valid check digits.
static COUNTRIES: LazyLock<Vec<[u8; 2]>> = LazyLock::new(|| {
    let pairs = (b'A'..=b'Z').flat_map(|first| (b'A'..=b'Z').map(move |second| [first, second]));
    let is_known = |letters: &[u8; 2]| {
        let country: String = letters.map(char::from).iter().collect();
        let number = with_check(&country, "00000000000");
        LATER.iter().any(|(later, _)| *later == country)
            || !matches!(number.parse::<Iban>(), Err(ParseIbanError::UnknownCountry(_)))
    };
    pairs.filter(is_known).collect()
});

/// Returns true for a number written as by banks: letters at the front or few; lower-case ids look like account
/// numbers.
fn is_bank(value: &str) -> bool {
    let account = value[4..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
    account.bytes().filter(u8::is_ascii_alphabetic).count() <= 2
}

/// Reads the account number at `start`, in capitals: letters and digits, with single spaces, dashes or dots between.
fn read(text: &str, start: usize) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let mut value = String::with_capacity(*LENGTHS.end());
    let mut was_gap = false;
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        if byte.is_ascii_alphanumeric() {
            value.push(char::from(byte.to_ascii_uppercase()));
            was_gap = false;
            let goes_on = bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !goes_on && LENGTHS.contains(&value.len()) && is_account(&value) {
                return Some((at + 1, value));
            }
        } else if matches!(byte, b' ' | b'-' | b'.') && !was_gap {
            was_gap = true;
        } else {
            return None;
        }
        if value.len() == *LENGTHS.end() {
            return None;
        }
    }
    None
}

/// Returns true for the structure of its country and valid check digits.
fn is_account(value: &str) -> bool {
    match value.parse::<Iban>() {
        Ok(_) => true,
        Err(ParseIbanError::UnknownCountry(number)) => LATER.contains(&(number.country_code(), value.len())),
        Err(_) => false,
    }
}

/// Returns the remainder of the text as a number, with letters counting from ten, divided by 97.
fn remainder(text: &str) -> u32 {
    text.chars().filter_map(|c| c.to_digit(36)).fold(0, |rest, digit| {
        let shift = if digit > 9 { 100 } else { 10 };
        (rest * shift + digit) % 97
    })
}

fn status(value: &str) -> ValueStatus {
    if EXAMPLES.contains(&value) {
        return ValueStatus::Placeholder(None);
    }
    let account = &value[4..];
    let digits: String = account.chars().filter(char::is_ascii_digit).collect();
    let (zeros, number) = digits.split_at(digits.len().saturating_sub(NUMBER_DIGITS));
    let is_ours =
        account.chars().all(|c| c.is_ascii_digit() || c == 'X') && zeros.bytes().all(|digit| digit == b'0');
    if is_ours { ValueStatus::Placeholder(number.parse().ok()) } else { ValueStatus::Personal }
}

/// Returns the placeholder: the same country, length and grouping, with valid check digits.
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
    let mut new = with_check(country, &account).chars().collect::<Vec<char>>().into_iter();
    let mut replaced = |c: char| {
        let new = new.next().unwrap_or(c);
        if c.is_ascii_lowercase() { new.to_ascii_lowercase() } else { new }
    };
    written.chars().map(|c| if c.is_ascii_alphanumeric() { replaced(c) } else { c }).collect()
}

/// Returns a number with its check digits.
fn with_check(country: &str, account: &str) -> String {
    let check = 98 - remainder(&format!("{account}{country}00"));
    format!("{country}{check:02}{account}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_from_the_registry() {
        for letters in [*b"DE", *b"de", *b"Gb", *b"XK", *b"HN"] {
            assert!(is_country(letters), "{letters:?}");
        }
        assert!(!is_country(*b"US") && !is_country(*b"ZZ"));
        assert_eq!(COUNTRIES.len(), 88);
    }

    #[test]
    fn the_structure_of_the_country_is_checked_and_not_only_its_length() {
        let british = with_check("GB", "WEST12345698765432");
        assert_eq!(british, "GB82WEST12345698765432");
        assert_eq!(read(&format!("{british}, please"), 0), Some((22, british)));
        // Digits at the place of the bank's letters.
        assert_eq!(read(&with_check("GB", "123412345698765432"), 0), None);
        let honduran = with_check("HN", "PRAH00000000005000008744");
        assert_eq!(read(&honduran, 0), Some((28, honduran.clone())));
        assert_eq!(read(&format!("{honduran}7"), 0), None);
    }
}
