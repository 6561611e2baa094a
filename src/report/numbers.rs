//! Numbers as people read them.

/// A number with thousands set apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        assert_eq!(
            [0, 999, 1_000, 64_517, 1_234_567].map(count),
            ["0", "999", "1,000", "64,517", "1,234,567"]
        );
    }
}
