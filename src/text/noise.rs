//! Text that was typed to type something.

/// Letters of the home row, without the vowel that makes words of them.
const HOME_ROW: &str = "sdfghjkl";
/// Rows of the keyboard, for runs along them.
const KEY_ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
/// Shorter words are words too often.
const SHORTEST_MASH: usize = 6;

/// Whether a lower-case word is one of home-row consonants, or of neighbours along a row of keys.
pub fn is_mash(word: &str) -> bool {
    let is_home_row = || word.chars().all(|c| HOME_ROW.contains(c));
    let is_run = |row: &&str| {
        word.len() <= row.len()
            && (row.contains(word) || row.contains(&word.chars().rev().collect::<String>()))
    };
    word.chars().count() >= SHORTEST_MASH && (is_home_row() || KEY_ROWS.iter().any(is_run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_along_the_keys_are_told_from_words() {
        for mash in ["sdkfjhsdkfjh", "qwerty", "lkjhgfd"] {
            assert!(is_mash(mash), "{mash}");
        }
        for word in ["saddles", "flash", "poetry", "asdf", "sdf fgh"] {
            assert!(!is_mash(word), "{word}");
        }
    }
}
