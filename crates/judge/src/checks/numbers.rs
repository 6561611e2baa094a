//! Numbers in digits or English words, and the precision that their form implies.

use super::mentions::{digit, digits_end, lower, run_end};

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Marks of a form, in any combination.
pub(super) struct Number {
    pub(super) value: f64,
    /// The value of the last digit that is written: .01 of `12.34`, 100,000 of `1.2 million`.
    pub(super) resolution: f64,
    pub(super) is_percent: bool,
    /// `5th`.
    pub(super) is_ordinal: bool,
    /// The number is written in words.
    pub(super) is_word: bool,
    /// A sign of a currency is before it, or a decimal point in it.
    pub(super) is_amount: bool,
}

const MAGNITUDES: [(&str, f64); 9] = [
    ("hundred", 1e2),
    ("k", 1e3),
    ("thousand", 1e3),
    ("million", 1e6),
    ("mn", 1e6),
    ("m", 1e6),
    ("billion", 1e9),
    ("bn", 1e9),
    ("trillion", 1e12),
];
/// Nouns after a number that is a quantity and no id, in lower case.
const UNITS: [&str; 26] = [
    "usd",
    "eur",
    "gbp",
    "inr",
    "jpy",
    "cny",
    "dollars",
    "euros",
    "pounds",
    "yen",
    "rupees",
    "people",
    "users",
    "views",
    "points",
    "meters",
    "metres",
    "km",
    "miles",
    "steps",
    "followers",
    "likes",
    "shares",
    "bytes",
    "units",
    "percent",
];
const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Returns whether a character is the sign of a currency.
pub(super) fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹' | '₩' | '₽')
}

/// Returns whether a unit or magnitude is the word after a place.
pub(super) fn has_unit(chars: &[char], at: usize) -> bool {
    let (word, _) = word_after(chars, at);
    UNITS.contains(&word.as_str()) || MAGNITUDES.iter().any(|(name, _)| *name == word && word.len() > 1)
}

/// Returns the word after spaces, in lower case, and its end.
fn word_after(chars: &[char], at: usize) -> (String, usize) {
    let start = at + chars[at..].iter().take_while(|c| **c == ' ').count();
    let end = run_end(chars, start);
    (lower(&chars[start..end]), end)
}

/// Returns the number at a place, and its end.
pub(super) fn number(chars: &[char], at: usize) -> Option<(Number, usize)> {
    let is_start = digit(chars, at)
        || (chars[at] == '.' && digit(chars, at + 1) && (at == 0 || !chars[at - 1].is_alphanumeric()));
    if is_start { digits(chars, at) } else { words(chars, at) }
}

fn digits(chars: &[char], at: usize) -> Option<(Number, usize)> {
    let mut end = digits_end(chars, at);
    let first = end - at;
    let mut text: String = chars[at..end].iter().collect();
    while first <= 3 && chars.get(end) == Some(&',') && digits_end(chars, end + 1) == end + 4 {
        text.extend(&chars[end + 1..end + 4]);
        end += 4;
    }
    let mut resolution = 1.0;
    if chars.get(end) == Some(&'.') && digit(chars, end + 1) {
        let after = digits_end(chars, end + 1);
        text.extend(&chars[end..after]);
        resolution = 0.1_f64.powi(i32::try_from(after - end - 1).unwrap_or(i32::MAX));
        end = after;
    }
    let is_amount = resolution < 1.0 || at.checked_sub(1).is_some_and(|before| is_currency(chars[before]));
    let value: f64 = text.parse().ok()?;
    let number =
        Number { value, resolution, is_percent: false, is_ordinal: false, is_word: false, is_amount };
    Some(with_suffix(number, chars, end))
}

/// Reads a percent sign, an ordinal suffix, a magnitude or a unit after a number.
fn with_suffix(mut number: Number, chars: &[char], end: usize) -> (Number, usize) {
    let run = run_end(chars, end);
    let attached = lower(&chars[end..run]);
    let (word, word_end) = word_after(chars, end);
    number.is_percent = matches!(chars.get(end), Some('%' | '％')) || word == "percent";
    number.is_ordinal = ["st", "nd", "rd", "th"].contains(&attached.as_str());
    // A letter alone is a magnitude of an amount only: `$3m`, but not `3 m`.
    let is_magnitude =
        |name: &str| name.len() > 1 || (!attached.is_empty() && (name == "k" || number.is_amount));
    if let Some((_, by)) = MAGNITUDES.iter().find(|(name, _)| *name == word && is_magnitude(name)) {
        number.value *= by;
        number.resolution *= by;
        return (number, word_end);
    }
    (number, run)
}

/// Reads `three`, `twenty-five`, `two hundred thousand`, `a dozen`.
fn words(chars: &[char], at: usize) -> Option<(Number, usize)> {
    let (mut total, mut group, mut end) = (0.0, 0.0, None);
    let mut next = at;
    loop {
        let run = run_end(chars, next);
        let word = lower(&chars[next..run]);
        let is_first = end.is_none();
        if let Some(small) = SMALL.iter().position(|name| *name == word) {
            group += f64::from(u32::try_from(small).ok()?);
        } else if let Some(tens) = TENS.iter().position(|name| *name == word) {
            group += f64::from(u32::try_from(tens).ok()? * 10 + 20);
        } else if is_first && word == "dozen" {
            group = 12.0;
        } else if let Some((_, by)) =
            MAGNITUDES.iter().find(|(name, _)| !is_first && name.len() > 2 && *name == word)
        {
            group *= by;
            if *by > 100.0 {
                total += group;
                group = 0.0;
            }
        } else {
            break;
        }
        end = Some(run);
        if !matches!(chars.get(run), Some(' ' | '-')) {
            break;
        }
        next = run + 1;
    }
    let value = total + group;
    let number = Number {
        value,
        resolution: 1.0,
        is_percent: false,
        is_ordinal: false,
        is_word: true,
        is_amount: false,
    };
    end.map(|end| (number, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (f64, f64) {
        let chars: Vec<char> = text.chars().collect();
        let (number, _) = number(&chars, 0).expect(text);
        (number.value, number.resolution)
    }

    #[test]
    fn forms_of_a_number_are_one_number() {
        for text in ["1200", "1,200", "1.2k", "twelve hundred", "one thousand two hundred"] {
            assert!((read(text).0 - 1200.0).abs() < 1e-6, "{text}: {:?}", read(text));
        }
        let expected = [(3.0, 1.0), (25.0, 1.0), (2e6, 1e6)];
        assert_eq!(["three", "twenty-five", "2 million"].map(read), expected);
        assert_eq!(read("12.50"), (12.5, 0.1_f64.powi(2)));
        assert_eq!(read("1,20"), (1.0, 1.0));
    }

    #[test]
    fn suffixes_are_read_and_units_are_skipped() {
        let of = |text: &str| number(&text.chars().collect::<Vec<_>>(), 0).unwrap();
        assert!(of("45%").0.is_percent && of("45 percent").0.is_percent && of("5th").0.is_ordinal);
        assert_eq!((of("12km away").1, of("3 m").0.value), (4, 3.0));
        assert!(has_unit(&" people".chars().collect::<Vec<_>>(), 0));
    }
}
