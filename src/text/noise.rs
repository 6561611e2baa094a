//! Text of random keystrokes.

/// Letters of the home row, except the vowel.
const HOME_ROW: &str = "sdfghjkl";
/// Rows of the keyboard.
const KEY_ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
/// The minimum length: shorter ones are too often words.
const SHORTEST_MASH: usize = 6;

/// Returns true for a lower-case word of only home-row consonants, or of neighbouring keys in one row.
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
    fn random_keystrokes_are_distinguished_from_words() {
        for mash in ["sdkfjhsdkfjh", "qwerty", "lkjhgfd"] {
            assert!(is_mash(mash), "{mash}");
        }
        for word in ["saddles", "flash", "poetry", "asdf", "sdf fgh"] {
            assert!(!is_mash(word), "{word}");
        }
    }
}
