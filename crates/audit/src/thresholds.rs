//! When what overlaps: the settings of the rule by which a hit is contaminated or suspect.
//!
//! Every method has its own thresholds, and the surest hit of a row is its verdict. The defaults were chosen on planted rows of
//! one seed and measured on rows of another (`scripts/audit`). Higher thresholds always call fewer rows contaminated or suspect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When what overlaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Of user messages.
    pub query: QueryThresholds,
    /// Of functions and answers.
    pub docs: DocThresholds,
    /// Of the vectors of user messages, if they are compared.
    pub cosine: CosineThresholds,
}

/// When a message overlaps one of the benchmark. Shares are from 0 to 1. A word that is in one of *n* messages of the benchmark
/// weighs ln(1 + *n*); weights of messages are in such words.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueryThresholds {
    /// Least weight of the words of an equal message to be contaminated; “hi” and “thanks” are suspect.
    pub exact_weight: f64,
    /// Least weight of the words of a message that is part of a sentence of the row to be contaminated.
    pub contained_weight: f64,
    /// Fewest words of such a message; one with fewer is not looked for inside sentences.
    pub contained_words: usize,
    /// Least weight of the words of a message that is whole sentences or lines of the row to be contaminated; at 1, one
    /// word that no other message of the benchmark has is enough.
    pub sentence_weight: f64,
    /// Fewest plain words of a message whose numbers differ to be contaminated.
    pub template_words: usize,
    /// Fewest words of a message of which a part was changed to be contaminated.
    pub min_words: usize,
    /// Fewest words of such a message to be suspect, unless both are nearly equal.
    pub suspect_words: usize,
    /// Least weighted share of its words to be contaminated, with `rouge_l`.
    pub words: f64,
    /// Least ROUGE-L F1 to be contaminated, with `words`.
    pub rouge_l: f64,
    /// Least weighted share of its words in any order to be contaminated, with `ngram`.
    pub words_reordered: f64,
    /// Least weighted share of its runs of 3 words to be contaminated, with `words_reordered`.
    pub ngram: f64,
    /// Least weighted share of its words to be suspect.
    pub words_suspect: f64,
    /// Least ROUGE-L F1 to be suspect.
    pub rouge_l_suspect: f64,
    /// Least weighted share of its runs of 3 words to be suspect.
    pub ngram_suspect: f64,
    /// Least weighted share of its runs of 5, 8 or 13 words to be suspect.
    pub long_ngram_suspect: f64,
    /// Least weighted share of its words in the longest run that the row has to be suspect.
    pub longest_suspect: f64,
    /// Fewest words of a run to be suspect, whatever its share. From 5 on.
    pub longest_words: usize,
}

impl Default for QueryThresholds {
    fn default() -> Self {
        Self {
            exact_weight: 0.6,
            contained_weight: 1.83,
            contained_words: 3,
            sentence_weight: 1.0,
            template_words: 4,
            min_words: 8,
            suspect_words: 8,
            words: 0.8,
            rouge_l: 0.8,
            words_reordered: 0.9,
            ngram: 0.4,
            words_suspect: 0.8,
            rouge_l_suspect: 0.75,
            ngram_suspect: 0.6,
            long_ngram_suspect: 0.6,
            longest_suspect: 0.6,
            longest_words: 13,
        }
    }
}

/// A message is compared word by word if a part of the row has this share of the weight of its words.
const COMPARED: f64 = 0.6;

impl QueryThresholds {
    /// Returns the weighted share of words from which a message is compared; no threshold is below it.
    pub(super) fn compared(&self) -> f64 {
        [self.words, self.words_reordered, self.words_suspect].into_iter().fold(COMPARED, f64::min)
    }
}

/// When a function or an answer overlaps. Shares are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DocThresholds {
    /// Least Jaccard similarity of the parameter names of two functions with the same name.
    pub shared_parameters: f64,
    /// Least ROUGE-L F1 of the texts of two functions with the same parameters, under any name, to be contaminated.
    pub text: f64,
    /// The same to be suspect, and to be contaminated with `text_parameters` or more.
    pub text_suspect: f64,
    /// Fewest parameters for `text_suspect` to be enough.
    pub text_parameters: usize,
    /// Fewest words of such a text to be contaminated.
    pub text_words: usize,
    /// Most parameters of a function with a name that any set of examples has, such as `calculate_bmi`: up to so many,
    /// name and parameters are suspect, unless the texts are alike, too. 0: none is.
    pub example_parameters: usize,
    /// Fewest arguments of an answer, in all its calls.
    pub arguments: usize,
}

impl Default for DocThresholds {
    fn default() -> Self {
        Self {
            shared_parameters: 0.8,
            text: 0.95,
            text_suspect: 0.9,
            text_parameters: 3,
            text_words: 8,
            example_parameters: 3,
            arguments: 2,
        }
    }
}

/// When the vectors of two messages are near. They are compared only if an embedder is set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CosineThresholds {
    /// Least cosine to be contaminated, from 0 to 1.
    pub contaminated: f64,
    /// Least cosine to be suspect, from 0 to 1.
    pub suspect: f64,
    /// Fewest words of a message that is compared.
    pub min_words: usize,
}

impl Default for CosineThresholds {
    fn default() -> Self {
        Self { contaminated: 0.95, suspect: 0.8, min_words: 4 }
    }
}

/// Largest number of words in a setting.
const MAX_WORDS: usize = 1000;
/// Largest sum of weights in a setting.
const MAX_WEIGHT: f64 = 1000.0;

impl Thresholds {
    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// `key must be …, not …`.
    pub fn check(&self) -> Result<(), String> {
        let (query, docs, cosine) = (&self.query, &self.docs, &self.cosine);
        for (name, share) in [
            ("query.words", query.words),
            ("query.rouge_l", query.rouge_l),
            ("query.words_reordered", query.words_reordered),
            ("query.ngram", query.ngram),
            ("query.words_suspect", query.words_suspect),
            ("query.rouge_l_suspect", query.rouge_l_suspect),
            ("query.ngram_suspect", query.ngram_suspect),
            ("query.long_ngram_suspect", query.long_ngram_suspect),
            ("query.longest_suspect", query.longest_suspect),
            ("docs.shared_parameters", docs.shared_parameters),
            ("docs.text", docs.text),
            ("docs.text_suspect", docs.text_suspect),
            ("cosine.contaminated", cosine.contaminated),
            ("cosine.suspect", cosine.suspect),
        ] {
            if !(share > 0.0 && share <= 1.0) {
                return Err(format!("{name} must be above 0 and at most 1, not {share}"));
            }
        }
        for (name, weight) in [
            ("query.exact_weight", query.exact_weight),
            ("query.contained_weight", query.contained_weight),
            ("query.sentence_weight", query.sentence_weight),
        ] {
            if !(0.0..=MAX_WEIGHT).contains(&weight) {
                return Err(format!("{name} must be from 0 to {MAX_WEIGHT}, not {weight}"));
            }
        }
        for (name, words, least) in [
            ("query.contained_words", query.contained_words, 1),
            ("query.template_words", query.template_words, 1),
            ("query.min_words", query.min_words, 1),
            ("query.suspect_words", query.suspect_words, 1),
            ("query.longest_words", query.longest_words, 5),
            ("docs.text_parameters", docs.text_parameters, 1),
            ("docs.text_words", docs.text_words, 1),
            ("docs.example_parameters", docs.example_parameters, 0),
            ("docs.arguments", docs.arguments, 1),
            ("cosine.min_words", cosine.min_words, 1),
        ] {
            if !(least..=MAX_WORDS).contains(&words) {
                return Err(format!("{name} must be from {least} to {MAX_WORDS}, not {words}"));
            }
        }
        for (name, suspect, of, contaminated) in [
            ("docs.text_suspect", docs.text_suspect, "docs.text", docs.text),
            ("cosine.suspect", cosine.suspect, "cosine.contaminated", cosine.contaminated),
        ] {
            if suspect > contaminated {
                return Err(format!("{name} must be at most {of} ({contaminated}), not {suspect}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_in_range_and_other_settings_are_refused_by_their_key() {
        assert_eq!(Thresholds::default().check(), Ok(()));
        for (settings, expected) in [
            ("query = {words = 1.5}", "query.words must be above 0 and at most 1, not 1.5"),
            ("query = {words = nan}", "query.words must be above 0 and at most 1, not NaN"),
            ("query = {longest_words = 2}", "query.longest_words must be from 5 to 1000, not 2"),
            ("query = {contained_weight = -1.0}", "query.contained_weight must be from 0 to 1000, not -1"),
            ("docs = {arguments = 0}", "docs.arguments must be from 1 to 1000, not 0"),
            ("docs = {text = 0.8}", "docs.text_suspect must be at most docs.text (0.8), not 0.9"),
            (
                "cosine = {suspect = 0.99}",
                "cosine.suspect must be at most cosine.contaminated (0.95), not 0.99",
            ),
        ] {
            let thresholds: Thresholds = toml::from_str(settings).unwrap();
            assert_eq!(thresholds.check(), Err(expected.to_owned()), "{settings}");
        }
        let unknown = toml::from_str::<Thresholds>("query = {rouge = 0.5}").unwrap_err();
        assert!(unknown.message().contains("unknown field `rouge`"), "{unknown}");
    }
}
