//! Text of random keystrokes.

/// Letters of the home row, except the vowel.
const HOME_ROW: &str = "sdfghjkl";
/// Rows of the keyboard.
const KEY_ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
/// The minimum length: shorter ones are too often words.
const SHORTEST_MASH: usize = 6;

/// The minimum length of a run of neighbouring keys that is repeated, or that is a word of several.
const SHORTEST_RUN: usize = 3;

/// Returns true for a lower-case word of only home-row consonants, or of neighbouring keys in one row, possibly
/// repeated.
pub fn is_mash(word: &str) -> bool {
    let is_home_row = || word.chars().all(|c| HOME_ROW.contains(c));
    word.chars().count() >= SHORTEST_MASH && (is_home_row() || is_run(word) || is_repeated_run(word))
}

/// Returns true for several lower-case words, separated by blanks, that are all neighbouring keys: `asdf asdf`.
pub fn is_mashed(text: &str) -> bool {
    let is_noise = |word: &str| word.len() >= SHORTEST_RUN && is_run(word) || is_repeated_run(word);
    text.len() >= SHORTEST_MASH && text.contains(' ') && text.split(' ').all(is_noise)
}

/// Returns true for neighbouring keys of one row, from left to right or from right to left.
fn is_run(word: &str) -> bool {
    let reversed: String = word.chars().rev().collect();
    KEY_ROWS.iter().any(|row| row.contains(word) || row.contains(&reversed))
}

/// Returns true for a run that is repeated: `asdfasdf`.
fn is_repeated_run(word: &str) -> bool {
    word.is_ascii()
        && (SHORTEST_RUN..=word.len() / 2).any(|len| {
            let run = &word[..len];
            word.len().is_multiple_of(len) && is_run(run) && run.repeat(word.len() / len) == word
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_keystrokes_are_distinguished_from_words() {
        for mash in ["sdkfjhsdkfjh", "qwerty", "lkjhgfd", "asdfasdf", "qweqweqwe"] {
            assert!(is_mash(mash), "{mash}");
        }
        for mashed in ["asdfasdf asdf", "asdf asdf", "qwe asd zxc"] {
            assert!(is_mashed(mashed), "{mashed}");
        }
        for text in ["hdl ldl", "asdf is what I typed", "we were", "asdf", "as we"] {
            assert!(!is_mashed(text), "{text}");
        }
        for word in ["saddles", "flash", "poetry", "asdf", "sdf fgh"] {
            assert!(!is_mash(word), "{word}");
        }
    }
}
