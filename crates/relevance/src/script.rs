//! The script of the query, compared with the docs, and its share of English words.

use std::collections::BTreeMap;

use super::docs::PreparedDocs;
use super::query::PreparedQuery;
use super::words::ratio;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["other_script", "english"];

/// The most common English words.
const ENGLISH: &[&str] = &[
    "a", "and", "at", "can", "for", "i", "in", "is", "me", "my", "of", "on", "please", "the", "to", "with",
    "you",
];

/// Returns the share of the query's letters whose script the docs do not have, and the share of its words that are
/// common English words.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let (other, all) = letters_outside(&query.text, docs);
    let n_english = query.plain_words.iter().filter(|word| ENGLISH.contains(&word.as_str())).count();
    vec![ratio(other, all), ratio(n_english, query.plain_words.len())]
}

/// Returns whether most letters of the query are in a script that the docs do not have, so that the two can share no
/// words.
pub(super) fn is_unread(query: &PreparedQuery, docs: &PreparedDocs) -> bool {
    let (other, all) = letters_outside(&query.text, docs);
    2 * other > all
}

/// Returns the approximate number of Latin letters for the letters whose script the docs do not have, and for all letters.
fn letters_outside(text: &str, docs: &PreparedDocs) -> (usize, usize) {
    let scripts = text.chars().filter_map(Script::of);
    scripts.fold((0, 0), |(other, all), script| {
        let weight = script.weight();
        (if docs.scripts.contains(&script) { other } else { other + weight }, all + weight)
    })
}

/// The script of a letter. Scripts that are written together, such as Han and Kana, are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Script(u32);

const LATIN: Script = Script(0);
const GREEK: Script = Script(1);
const CYRILLIC: Script = Script(2);
const ARABIC: Script = Script(3);
const ETHIOPIC: Script = Script(4);
const HANGUL: Script = Script(5);
const HAN: Script = Script(6);
/// The scripts of other blocks, which have 128 characters, are numbered from here.
const FIRST_BLOCK: u32 = 16;
const BLOCK_SIZE: u32 = 128;

impl Script {
    /// Returns the script of a letter; `None` for other characters.
    fn of(c: char) -> Option<Self> {
        if !c.is_alphabetic() {
            return None;
        }
        Some(match c {
            '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}' => LATIN,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => GREEK,
            '\u{400}'..='\u{52f}' => CYRILLIC,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{fb50}'..='\u{feff}' => ARABIC,
            '\u{1200}'..='\u{139f}' => ETHIOPIC,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7ff}' => HANGUL,
            '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'.. => HAN,
            c => Self(FIRST_BLOCK + u32::from(c) / BLOCK_SIZE),
        })
    }

    /// Returns the approximate number of Latin letters for a letter: one for a syllable or a word counts more than one.
    fn weight(self) -> usize {
        if matches!(self, HANGUL | HAN) { 3 } else { 1 }
    }
}

/// The scripts of docs have at least one in this many of the letters in the descriptions.
const LEAST_SHARE: usize = 3;

/// Returns the scripts in which some descriptions are written; names are always Latin, so they do not count. Docs
/// without a description are Latin.
pub(super) fn scripts_of<'t>(descriptions: impl Iterator<Item = &'t str>) -> Vec<Script> {
    let mut counts: BTreeMap<Script, usize> = BTreeMap::new();
    for script in descriptions.flat_map(str::chars).filter_map(Script::of) {
        *counts.entry(script).or_default() += script.weight();
    }
    let n_letters: usize = counts.values().sum();
    if n_letters == 0 {
        return vec![LATIN];
    }
    counts.into_iter().filter(|(_, n)| LEAST_SHARE * n >= n_letters).map(|(script, _)| script).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_is_unread_if_its_script_is_not_that_of_the_docs() {
        let docs = |description: &str| {
            PreparedDocs::new(&[json!({"name": "get_tide", "description": description,
                "parameters": {"type": "dict", "required": ["place"], "properties": {"place": {"type": "string"}}}})])
        };
        let (english, chinese) =
            ("Tells the tide at a place.", "查询某个港口的潮汐时间。参数 place 为港口。");
        let (both, russian) =
            ("查询某个港口的潮汐时间。Tells the tide at a place.", "Время прилива в порту.");
        for (query, description, expected) in [
            ("When is high tide in Bergen?", english, false),
            ("卑尔根什么时候涨潮", english, true),
            ("卑尔根什么时候涨潮", chinese, false),
            ("卑尔根 (Bergen, Norway) 什么时候涨潮", english, true),
            ("ベルゲンの満潮はいつ", chinese, false),
            ("When is high tide in Bergen?", chinese, true),
            ("When is high tide in Bergen?", both, false),
            ("卑尔根什么时候涨潮", both, false),
            ("Когда прилив в Бергене?", russian, false),
            ("Когда прилив в Бергене?", chinese, true),
            ("Wann ist in Ålesund Flut?", english, false),
            ("Wann ist Flut?", "", false),
            ("12:30 ?", chinese, false),
        ] {
            assert_eq!(
                is_unread(&PreparedQuery::new(&[query]), &docs(description)),
                expected,
                "{query} {description}"
            );
        }
    }
}
