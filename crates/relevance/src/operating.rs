//! The number of requests that the thresholds in use decide in a run, and that other thresholds would decide.
//!
//! Covers requests that are judged by the text alone, including held ones; requests with evidence
//! from recorded answers have their own thresholds. A stage writes the operating point as a note,
//! and the report shows it.

use serde::{Deserialize, Serialize};

use super::language_group::LanguageGroup;
use super::measure::{Label, Point, Thresholds};
use super::model::{ModelJudgement, Operating};

/// The name of the note in the manifest of the stage.
pub const OPERATING_POINT: &str = "operating_point";

/// The method by which a request was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JudgedBy {
    /// An answer or label by a person.
    Person,
    /// A rule about low quality.
    Rule,
    /// The model, with evidence from recorded answers.
    Answers,
    /// The model, by the text alone.
    Text {
        /// The probability that some function fits.
        probability: f64,
        /// Whether it is never judged irrelevant, because its text could not be read or a function takes any text.
        is_barred: bool,
        /// The languages of its query.
        languages: LanguageGroup,
    },
}

impl JudgedBy {
    /// Returns the method of a judgement by the model.
    pub fn of_model(
        judged: &ModelJudgement,
        by_text_alone: bool,
        is_barred: bool,
        languages: LanguageGroup,
    ) -> Self {
        if !by_text_alone {
            return Self::Answers;
        }
        Self::Text { probability: judged.probability, is_barred, languages }
    }
}

/// The thresholds in use, the curves they were chosen from, and the distribution of the requests of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperatingPoint {
    /// The target precision of the settings; `None` if they have none.
    pub precision: Option<f64>,
    /// Number of requests that a person answered or labelled.
    pub by_person: u64,
    /// Number of requests that a rule found to be of low quality.
    pub by_rule: u64,
    /// Number of requests with evidence from recorded answers.
    pub by_answers: u64,
    /// Requests judged by the text alone, by probability in tenths.
    pub bins: Vec<Bin>,
    /// The thresholds of English queries.
    pub english: LanguagePoint,
    /// The thresholds of queries in other languages.
    pub other: LanguagePoint,
}

/// The thresholds in use for a group of languages, and the curve they were chosen from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LanguagePoint {
    /// The probability at or above which a request is relevant by its text; above 1, none is.
    pub relevant_from: f64,
    /// The probability at or below which a request is irrelevant by its text; below 0, none is.
    pub irrelevant_to: f64,
    /// Number of requests judged by the text alone, including held ones.
    pub requests: u64,
    /// The effect of each point of the curve on them; empty for weights without a curve.
    pub curve: Vec<PointEffect>,
}

/// Counts of requests with a probability in one tenth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The lower bound, inclusive.
    pub from: f64,
    /// The upper bound, exclusive except in the last bin.
    pub to: f64,
    /// Judged relevant.
    pub relevant: u64,
    /// Judged irrelevant.
    pub irrelevant: u64,
    /// Held.
    pub held: u64,
}

/// A point of the curve, and the number of requests that its threshold would decide in a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointEffect {
    /// The label.
    pub side: Label,
    /// The target precision.
    pub precision: f64,
    /// The threshold.
    pub threshold: f64,
    /// The share of the labelled requests in these languages that it decides.
    pub coverage: f64,
    /// Number of requests of the run that would get this label.
    pub requests: u64,
    /// Difference to the number at the thresholds in use.
    pub additional: i64,
}

const TENTHS: u8 = 10;

/// Counts the requests of a run at the thresholds of each group of languages.
pub fn operating_point(
    means: &[JudgedBy],
    english: &Operating,
    other: &Operating,
    precision: Option<f64>,
) -> OperatingPoint {
    let n = |wanted: JudgedBy| means.iter().filter(|means| **means == wanted).count() as u64;
    let texts_of = |wanted: LanguageGroup| -> Vec<(f64, bool)> {
        let texts = means.iter().filter_map(|means| match means {
            JudgedBy::Text { probability, is_barred, languages } if *languages == wanted => {
                Some((*probability, *is_barred))
            }
            _ => None,
        });
        texts.collect()
    };
    let (english_texts, other_texts) = (texts_of(LanguageGroup::English), texts_of(LanguageGroup::Other));
    let both = bins(&english_texts, english.thresholds).into_iter().zip(bins(&other_texts, other.thresholds));
    OperatingPoint {
        precision,
        by_person: n(JudgedBy::Person),
        by_rule: n(JudgedBy::Rule),
        by_answers: n(JudgedBy::Answers),
        bins: both.map(|(one, other)| one.and(other)).collect(),
        english: language_point(&english_texts, english),
        other: language_point(&other_texts, other),
    }
}

fn language_point(texts: &[(f64, bool)], operating: &Operating) -> LanguagePoint {
    let lines = operating.thresholds;
    let reach = |point: &Point| {
        let (now, requests) = match point.side {
            Label::Relevant => (
                n_relevant(texts, lines),
                n_relevant(texts, Thresholds { relevant_from: point.threshold, ..lines }),
            ),
            Label::Irrelevant => (
                n_irrelevant(texts, lines),
                n_irrelevant(texts, Thresholds { irrelevant_to: point.threshold, ..lines }),
            ),
        };
        let Point { side, precision, threshold, coverage, .. } = *point;
        PointEffect {
            side,
            precision,
            threshold,
            coverage,
            requests,
            additional: requests.cast_signed() - now.cast_signed(),
        }
    };
    LanguagePoint {
        relevant_from: lines.relevant_from,
        irrelevant_to: lines.irrelevant_to,
        requests: texts.len() as u64,
        curve: operating.curve.iter().map(reach).collect(),
    }
}

/// Counts the requests that are relevant and not irrelevant.
fn n_relevant(texts: &[(f64, bool)], lines: Thresholds) -> u64 {
    let is_relevant = |p: f64| p >= lines.relevant_from && p > lines.irrelevant_to;
    texts.iter().filter(|(p, _)| is_relevant(*p)).count() as u64
}

/// Counts the requests that are irrelevant and not relevant.
fn n_irrelevant(texts: &[(f64, bool)], lines: Thresholds) -> u64 {
    let is_irrelevant = |p: f64| p <= lines.irrelevant_to && p < lines.relevant_from;
    texts.iter().filter(|(p, is_barred)| is_irrelevant(*p) && !is_barred).count() as u64
}

fn bins(texts: &[(f64, bool)], lines: Thresholds) -> Vec<Bin> {
    let tenth = |at: u8| f64::from(at) / f64::from(TENTHS);
    let bin = |at: u8| {
        let is_inside = |p: f64| p >= tenth(at) && (p < tenth(at + 1) || at + 1 == TENTHS);
        let inside: Vec<(f64, bool)> = texts.iter().copied().filter(|(p, _)| is_inside(*p)).collect();
        let (relevant, irrelevant) = (n_relevant(&inside, lines), n_irrelevant(&inside, lines));
        let held = inside.len() as u64 - relevant - irrelevant;
        Bin { from: tenth(at), to: tenth(at + 1), relevant, irrelevant, held }
    };
    (0..TENTHS).map(bin).collect()
}

impl OperatingPoint {
    /// Adds the counts of another part of the run with the same thresholds.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.by_person += other.by_person;
        self.by_rule += other.by_rule;
        self.by_answers += other.by_answers;
        self.bins = self.bins.into_iter().zip(other.bins).map(|(bin, more)| bin.and(more)).collect();
        self.english = self.english.and(other.english);
        self.other = self.other.and(other.other);
        self
    }

    /// Returns the thresholds of a group of languages.
    pub fn of(&self, languages: LanguageGroup) -> &LanguagePoint {
        match languages {
            LanguageGroup::English => &self.english,
            LanguageGroup::Other => &self.other,
        }
    }

    /// Returns the number of requests judged by the text alone, including held ones.
    pub fn by_text(&self) -> u64 {
        self.bins.iter().map(|bin| bin.relevant + bin.irrelevant + bin.held).sum()
    }
}

impl Bin {
    fn and(self, more: Self) -> Self {
        Self {
            relevant: self.relevant + more.relevant,
            irrelevant: self.irrelevant + more.irrelevant,
            held: self.held + more.held,
            ..self
        }
    }
}

impl LanguagePoint {
    fn and(mut self, other: Self) -> Self {
        self.requests += other.requests;
        for (reach, more) in self.curve.iter_mut().zip(other.curve) {
            reach.requests += more.requests;
            reach.additional += more.additional;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_counted_once_and_other_thresholds_by_their_difference() {
        let text = |probability, is_barred| JudgedBy::Text {
            probability,
            is_barred,
            languages: LanguageGroup::English,
        };
        let means = [
            JudgedBy::Person,
            JudgedBy::Rule,
            JudgedBy::Answers,
            text(0.02, false),
            text(0.15, false),
            text(0.15, true),
            text(0.5, false),
            text(0.95, false),
            text(1.0, false),
            JudgedBy::Text { probability: 0.6, is_barred: false, languages: LanguageGroup::Other },
        ];
        let point = |side, precision, threshold| Point {
            side,
            precision,
            threshold,
            coverage: 0.1,
            recall: 0.1,
            n_decided: 1,
            n_right: 1,
        };
        let curve = [
            point(Label::Relevant, 0.8, 0.4),
            point(Label::Relevant, 0.99, 0.99),
            point(Label::Irrelevant, 0.8, 0.2),
            point(Label::Irrelevant, 0.99, 0.01),
        ];
        let lines = Thresholds { relevant_from: 0.9, irrelevant_to: 0.1 };
        let other = Operating {
            thresholds: Thresholds { relevant_from: 0.6, irrelevant_to: 0.05 },
            curve: vec![point(Label::Relevant, 0.9, 0.6)],
        };
        let english = Operating { thresholds: lines, curve: curve.to_vec() };
        let found = operating_point(&means, &english, &other, None);
        assert_eq!([found.by_person, found.by_rule, found.by_answers, found.by_text()], [1, 1, 1, 7]);
        let reached: Vec<(u64, i64)> =
            found.english.curve.iter().map(|reach| (reach.requests, reach.additional)).collect();
        assert_eq!(reached, [(3, 1), (1, -1), (2, 1), (0, -1)]);
        let bin = |at: usize| [found.bins[at].relevant, found.bins[at].irrelevant, found.bins[at].held];
        assert_eq!(
            [bin(0), bin(1), bin(5), bin(6), bin(9)],
            [[0, 1, 0], [0, 0, 2], [0, 0, 1], [1, 0, 0], [2, 0, 0]]
        );
        assert_eq!([found.english.requests, found.other.requests], [6, 1]);
        let reach = found.of(LanguageGroup::Other).curve[0];
        assert_eq!((reach.requests, reach.additional), (1, 0));
        let twice = found.clone().and(found);
        assert_eq!((twice.by_text(), twice.bins[6].relevant, twice.other.curve[0].requests), (14, 2, 2));
    }
}
