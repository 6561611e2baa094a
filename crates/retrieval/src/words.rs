//! The words of a text for retrieval: in lower case, parts of names apart, without words of grammar, plurals as singulars.

/// Words of grammar and of asking, which say nothing about a function; sorted.
const STOP_WORDS: &[&str] = &[
    "a",
    "additionally",
    "also",
    "am",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "by",
    "can",
    "could",
    "for",
    "from",
    "furthermore",
    "give",
    "how",
    "i",
    "if",
    "in",
    "is",
    "it",
    "m",
    "me",
    "moreover",
    "my",
    "need",
    "of",
    "on",
    "or",
    "our",
    "please",
    "provide",
    "s",
    "some",
    "that",
    "the",
    "this",
    "to",
    "want",
    "was",
    "we",
    "what",
    "when",
    "which",
    "with",
    "would",
    "you",
    "your",
];

/// Letters of a word whose last may be that of a plural.
const MIN_PLURAL: usize = 4;

/// Returns the words of a text: runs of letters and digits in lower case, with a cut before a capital inside of a word
/// (`getUserInfo`), without words of grammar; a plural is its singular. A character of a script without spaces is a word.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut end = |word: &mut String| {
        if !word.is_empty() && STOP_WORDS.binary_search(&word.as_str()).is_err() {
            found.push(singular(word));
        }
        word.clear();
    };
    for c in text.chars() {
        let is_cut = c.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        if !c.is_alphanumeric() || is_cut || is_unspaced(c) || is_unspaced(before) {
            end(&mut word);
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    end(&mut word);
    found
}

fn singular(word: &str) -> String {
    if word.chars().count() < MIN_PLURAL || !word.is_ascii() || word.ends_with("ss") {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// Han, Hiragana, Katakana, Thai: scripts without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_plurals_are_singulars() {
        assert_eq!(words("getUserInfo for the Cities"), ["get", "user", "info", "city"]);
        assert_eq!(
            words("list_pier_lamps: lists lamps, glass"),
            ["list", "pier", "lamp", "list", "lamp", "glass"]
        );
        assert_eq!(words("天气 API2Go"), ["天", "气", "api2", "go"]);
        assert_eq!(words("I want to"), [""; 0]);
        assert!(STOP_WORDS.is_sorted());
    }
}
