//! Base32 (RFC 4648), in either case, with and without padding.

/// The letters, in the order of their five bits.
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// Letters are padded to a multiple of this.
const GROUP: usize = 8;
/// Bits of a letter.
pub const BITS: u32 = 5;

/// Returns the bytes that a word encodes; `None` if it is no base32, or mixes its cases.
pub fn decoded(word: &str) -> Option<Vec<u8>> {
    let bare = word.trim_end_matches('=');
    let is_mixed = bare.bytes().any(|byte| byte.is_ascii_lowercase())
        && bare.bytes().any(|byte| byte.is_ascii_uppercase());
    // These lengths end within a byte.
    if is_mixed || matches!(bare.len() % GROUP, 1 | 3 | 6) {
        return None;
    }
    let (mut bytes, mut bits, mut n_bits) = (Vec::new(), 0_u32, 0_u32);
    for byte in bare.bytes() {
        let value = ALPHABET.iter().position(|&letter| letter == byte.to_ascii_uppercase())?;
        bits = bits << BITS | u32::try_from(value).ok()?;
        n_bits += BITS;
        if n_bits >= u8::BITS {
            n_bits -= u8::BITS;
            bytes.push(u8::try_from(bits >> n_bits).ok()?);
            bits &= (1 << n_bits) - 1;
        }
    }
    Some(bytes)
}

/// Returns the base32 of bytes in capital letters, without padding.
pub fn encoded(bytes: &[u8]) -> String {
    let mut letters = String::new();
    let (mut bits, mut n_bits) = (0_u32, 0_u32);
    let letter = |bits: u32| char::from(ALPHABET[(bits & 31) as usize]);
    for &byte in bytes {
        bits = bits << u8::BITS | u32::from(byte);
        n_bits += u8::BITS;
        while n_bits >= BITS {
            n_bits -= BITS;
            letters.push(letter(bits >> n_bits));
        }
        bits &= (1 << n_bits) - 1;
    }
    if n_bits > 0 {
        letters.push(letter(bits << (BITS - n_bits)));
    }
    letters
}

/// Returns the base32 of bytes in the case of a word, padded if the word is or if its length does not show whether it is.
pub fn encoded_like(word: &str, bytes: &[u8]) -> String {
    let mut letters = encoded(bytes);
    if word.bytes().any(|byte| byte.is_ascii_lowercase()) {
        letters.make_ascii_lowercase();
    }
    if word.len().is_multiple_of(GROUP) {
        letters.extend(std::iter::repeat_n('=', (GROUP - letters.len() % GROUP) % GROUP));
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_are_decoded_and_encoded() {
        for (text, word) in [
            ("f", "MY======"),
            ("fo", "MZXQ===="),
            ("foo", "MZXW6==="),
            ("foob", "MZXW6YQ="),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI======"),
        ] {
            for word in [word.to_owned(), word.to_lowercase()] {
                assert_eq!(decoded(&word).as_deref(), Some(text.as_bytes()), "{word}");
                assert_eq!(encoded_like(&word, text.as_bytes()), word);
            }
        }
        assert_eq!(encoded_like("mzxw6yq", b"foobar"), "mzxw6ytboi");
        for word in ["Mzxw6yq=", "M1======", "MZXW6Y", "M"] {
            assert_eq!(decoded(word), None, "{word}");
        }
    }
}
