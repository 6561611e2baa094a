//! Proper names of an answer: capitalised words inside of a sentence.
//!
//! A single capitalised word after a word in lower case, or several in a row. The first word of a sentence, line or item, and
//! words of [`COMMON`], are no names. English only: other languages capitalise other words.

use std::ops::Range;

use super::mentions::lower;
use super::sources::Sources;

/// A name and its words in lower case.
pub(super) struct Name {
    pub(super) words: Vec<String>,
    pub(super) span: Range<usize>,
}

/// Words that are capitalised and name nothing that needs a source, in lower case.
const COMMON: &[&str] = &[
    "i",
    "i'm",
    "i've",
    "i'll",
    "i'd",
    "none",
    "null",
    "api",
    "apis",
    "id",
    "ids",
    "ok",
    "url",
    "json",
    "ai",
    "mr",
    "mrs",
    "ms",
    "dr",
    "prof",
    "sir",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "english",
    "spanish",
    "french",
    "german",
    "chinese",
    "japanese",
    "italian",
    "american",
    "european",
    "british",
    "celsius",
    "fahrenheit",
    "usd",
    "eur",
    "gbp",
    "us",
    "usa",
    "uk",
    "eu",
    "gmt",
    "utc",
    "est",
    "pst",
    "internet",
    "christmas",
    "easter",
    "god",
    "earth",
    "pin",
    "tv",
    "pm",
    "am",
    "http",
    "https",
    "email",
    "e-mail",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "great",
    "what",
    "which",
    "how",
    "when",
    "where",
    "who",
    "why",
    "please",
    "thanks",
    "thank",
    "sure",
    "hello",
    "sorry",
    "dear",
    "note",
    "yes",
    "no",
];
/// Words in lower case that join the words of one name.
const LINKS: [&str; 5] = ["of", "de", "la", "van", "von"];
/// Shortest word that is compared by its beginning: `Peruvian`, `Peru`.
const MIN_STEM: usize = 4;

/// A word and what is around it.
struct Word {
    text: String,
    span: Range<usize>,
    is_capital: bool,
    /// It begins a sentence, line, item, quotation or bold part.
    is_start: bool,
}

/// Returns the names of an answer in order.
pub(super) fn names(chars: &[char]) -> Vec<Name> {
    let words = words(chars);
    let mut names = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let end = run_end(chars, &words, at);
        let run = &words[at..end.max(at)];
        at = end.max(at + 1);
        // The first word of a sentence is capitalised for its place.
        let run = run.get(usize::from(run.first().is_some_and(|word| word.is_start))..).unwrap_or_default();
        let named: Vec<&Word> = run.iter().filter(|word| !is_common(word)).collect();
        if let (Some(first), Some(last)) = (named.first(), named.last()) {
            let words = named.iter().map(|word| word.text.clone()).collect();
            names.push(Name { words, span: first.span.start..last.span.end });
        }
    }
    names
}

/// Returns the end of the run of capitalised words from a word.
fn run_end(chars: &[char], words: &[Word], start: usize) -> usize {
    let mut end = start;
    while let Some(word) = words.get(end) {
        let is_joined = end == start || is_near(chars, &words[end - 1], word);
        let next_is_capital =
            words.get(end + 1).is_some_and(|next| next.is_capital && is_near(chars, word, next));
        let is_link = end > start && LINKS.contains(&word.text.as_str()) && next_is_capital;
        if !is_joined || !(word.is_capital || is_link) || (end > start && word.is_start) {
            break;
        }
        end += 1;
    }
    end
}

/// Returns whether only one space, hyphen or the full stop of a title is between two words.
fn is_near(chars: &[char], one: &Word, other: &Word) -> bool {
    let gap: String = chars[one.span.end..other.span.start].iter().collect();
    matches!(gap.as_str(), " " | "-" | ". " | "'" | "&" | " & ") && (gap != ". " || one.text.len() <= 3)
}

fn is_common(word: &Word) -> bool {
    !word.is_capital
        || word.text.chars().count() < 2
        || COMMON.contains(&word.text.as_str())
        || !word.text.chars().all(char::is_alphabetic)
}

fn words(chars: &[char]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let end = word_end(chars, at);
        if end == at {
            at += 1;
            continue;
        }
        let before = chars[words.last().map_or(0, |word| word.span.end)..at].iter().filter(|c| **c != ' ');
        let is_title = words.last().is_some_and(|word| word.is_capital && word.text.len() <= 3);
        let starts = |c: &char| !(matches!(c, ',' | '\'' | '-' | '&' | '/') || *c == '.' && is_title);
        let is_start = words.is_empty() || before.clone().any(starts);
        let is_capital = chars[at].is_uppercase() && chars[at + 1..end].iter().any(|c| c.is_lowercase());
        words.push(Word { text: lower(&chars[at..end]), span: at..end, is_capital, is_start });
        at = end;
    }
    words
}

/// Returns the end of a word of letters and digits, with apostrophes inside but without a possessive.
fn word_end(chars: &[char], at: usize) -> usize {
    at + chars[at..].iter().take_while(|c| c.is_alphanumeric()).count()
}

/// Returns whether each word of a name is in the sources, as it is or with another ending.
pub(super) fn is_grounded(name: &Name, sources: &Sources) -> bool {
    name.words.iter().all(|word| {
        let stem: String = word.chars().take(word.chars().count().saturating_sub(3).max(MIN_STEM)).collect();
        let has_stem =
            sources.words.range(stem.clone()..).next().is_some_and(|found| found.starts_with(&stem));
        sources.words.contains(word)
            || (word.chars().count() >= MIN_STEM && has_stem)
            || sources.squeezed.contains(word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(answer: &str) -> Vec<String> {
        let chars: Vec<char> = answer.chars().collect();
        names(&chars).iter().map(|name| chars[name.span.clone()].iter().collect()).collect()
    }

    #[test]
    fn names_are_inside_of_sentences() {
        assert_eq!(
            texts("Your visit to Dr. Lindqvist in Port Ellen is booked. Thanks, Mara!"),
            ["Lindqvist", "Port Ellen", "Mara"]
        );
        assert_eq!(
            texts("Done. Great news! I have it.\n- Fare: 3\n**Total:** 4 on Monday, OK? \"Yes\""),
            [""; 0]
        );
        assert_eq!(texts("We sail to the Isle of Skye"), ["Isle of Skye"]);
    }
}
