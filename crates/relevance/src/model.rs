//! The weights of the relevance model, and the probability and label that they assign to a request.
//!
//! The weights of the text and those of the recorded answers are separate: without evidence from
//! recorded answers the text decides alone, with thresholds for each group of languages. Answers add
//! to the log-odds of the text or take from them; the change is capped, because the logged model may
//! be wrong. A call never lowers the probability and a declined answer never raises it, and neither
//! moves a decision against what it says, whatever the weights: files whose weights have the wrong
//! sign are refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::evidence::{self, LogEvidence};
use super::features;
use super::fit::{Linear, logistic};
use super::language_group::LanguageGroup;
use super::measure::{Point, Thresholds};
use callsieve_system::side_file;
use callsieve_text::os_error::cause_of;
use callsieve_text::suggestion::did_you_mean;

/// The weights built into the program.
static EMBEDDED: LazyLock<Model> = LazyLock::new(|| {
    Model::parse(include_str!("../../../configs/relevance.toml")).expect("the built-in weights are tested")
});

/// The version of the weights; raised when the same weights have other results. Other versions are refused.
const VERSION: u32 = 4;

/// Weights and thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The weights of the text.
    pub text: TextPart,
    /// The weights of the recorded answers.
    pub evidence: EvidencePart,
}

/// The weights of the text, with thresholds for each group of languages.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPart {
    /// A description of the data it was fitted on.
    pub fitted_on: String,
    /// Bias and weights.
    pub linear: Linear,
    /// The thresholds of English queries.
    pub english: Operating,
    /// The thresholds of queries in other languages.
    pub other: Operating,
}

impl TextPart {
    /// Returns the thresholds of a group of languages.
    pub fn operating(&self, group: LanguageGroup) -> &Operating {
        match group {
            LanguageGroup::English => &self.english,
            LanguageGroup::Other => &self.other,
        }
    }

    fn operating_mut(&mut self, group: LanguageGroup) -> &mut Operating {
        match group {
            LanguageGroup::English => &mut self.english,
            LanguageGroup::Other => &mut self.other,
        }
    }
}

/// Thresholds, and the curve they were chosen from.
#[derive(Debug, Clone, PartialEq)]
pub struct Operating {
    /// The thresholds.
    pub thresholds: Thresholds,
    /// The thresholds for other target precisions; may be empty.
    pub curve: Vec<Point>,
}

/// The weights of the recorded answers.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidencePart {
    /// A description of the data it was fitted on.
    pub fitted_on: String,
    /// One weight per feature of the answers, none against what its answer says; see [`evidence::LOWERS`].
    pub weights: Vec<f64>,
    /// The thresholds.
    pub thresholds: Thresholds,
    /// A request that was only declined is irrelevant if the probability by its text is below this; with calls too, it is
    /// never irrelevant from this on.
    pub declined_below: f64,
    /// The maximum change of the log-odds by the recorded answers.
    pub cap: f64,
}

/// The result of a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Some function fits.
    Relevant,
    /// No function fits.
    Irrelevant,
    /// Between the thresholds.
    Unsure,
}

/// The judgement of the model on a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelJudgement {
    /// The probability that some function fits.
    pub probability: f64,
    /// The probability from the text alone.
    pub by_text: f64,
    /// The thresholds that apply.
    pub thresholds: Thresholds,
    /// Whether the logged models declined the request.
    pub declined: Declined,
}

/// Whether the logged models declined a request, and whether its text allows that no function fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declined {
    /// No answer declined it.
    Never,
    /// All answers declined it.
    Only {
        /// The probability by its text is low.
        text_is_low: bool,
    },
    /// Some answers declined it, others called.
    WithCalls {
        /// The probability by its text is low.
        text_is_low: bool,
    },
}

impl ModelJudgement {
    /// Compares the probability with the thresholds. A request that was only declined is irrelevant if its text allows
    /// it.
    pub fn side(&self) -> Side {
        let is_low = self.probability <= self.thresholds.irrelevant_to;
        let is_irrelevant = match self.declined {
            Declined::Never => is_low,
            Declined::Only { text_is_low } => text_is_low,
            Declined::WithCalls { text_is_low } => is_low && text_is_low,
        };
        if self.probability >= self.thresholds.relevant_from {
            Side::Relevant
        } else if is_irrelevant {
            Side::Irrelevant
        } else {
            Side::Unsure
        }
    }

    /// Returns the value of the column `relevance_basis`: the probabilities, the evidence, the group of languages, and
    /// the features that are not 0.
    pub fn basis(&self, features: &[f64], evidence: LogEvidence, group: LanguageGroup) -> Value {
        let features: Map<String, Value> = features::names()
            .zip(features)
            .filter(|(_, x)| x.abs() >= SMALLEST)
            .map(|(name, x)| (name.to_owned(), json!(rounded(*x))))
            .collect();
        json!({
            "probability": rounded(self.probability),
            "by_text": rounded(self.by_text),
            "evidence": evidence.to_json(),
            "languages": group.key(),
            "features": features,
        })
    }
}

/// Features smaller than this are not written.
const SMALLEST: f64 = 0.0005;

/// Rounds to three digits.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Reads the features back from a basis; `None` for one without.
pub fn features_of(basis: &Value) -> Option<Vec<f64>> {
    let features = basis.get("features")?.as_object()?;
    Some(
        features::names()
            .map(|name| features.get(name).and_then(Value::as_f64).unwrap_or_default())
            .collect(),
    )
}

/// Reads the group of languages back from a basis.
pub fn language_group_of(basis: &Value) -> LanguageGroup {
    basis["languages"].as_str().and_then(LanguageGroup::from_key).unwrap_or_default()
}

impl Model {
    /// Returns the weights built into the program.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Judges a request by its features and the evidence from recorded answers.
    pub fn judge(&self, features: &[f64], evidence: LogEvidence, group: LanguageGroup) -> ModelJudgement {
        self.judge_log_odds(self.text.linear.log_odds(features), evidence, group)
    }

    /// Judges a request by the log-odds of its text and the evidence from recorded answers.
    pub fn judge_log_odds(&self, text: f64, evidence: LogEvidence, group: LanguageGroup) -> ModelJudgement {
        let part = &self.evidence;
        let by_answers: f64 =
            part.weights.iter().zip(evidence.features()).map(|(weight, x)| weight * x).sum();
        ModelJudgement {
            probability: logistic(text + by_answers.clamp(-part.cap, part.cap)),
            by_text: logistic(text),
            thresholds: self.thresholds(evidence, group),
            declined: self.declined(logistic(text), evidence, group),
        }
    }

    fn declined(&self, by_text: f64, evidence: LogEvidence, group: LanguageGroup) -> Declined {
        // What the text shows alone, no declined answer refutes.
        let text_is_low = by_text < self.evidence.declined_below
            || by_text <= self.text.operating(group).thresholds.irrelevant_to;
        match (evidence.supports(false), evidence.supports(true)) {
            (false, _) => Declined::Never,
            (true, false) => Declined::Only { text_is_low },
            (true, true) => Declined::WithCalls { text_is_low },
        }
    }

    /// Returns the thresholds for some evidence. More calls never raise them, and more declined answers never lower them,
    /// so no answer moves a decision against what it says.
    fn thresholds(&self, evidence: LogEvidence, group: LanguageGroup) -> Thresholds {
        let (by_text, by_answers) = (self.text.operating(group).thresholds, self.evidence.thresholds);
        match (evidence.supports(false), evidence.supports(true)) {
            _ if evidence.is_empty() => by_text,
            (true, false) => by_answers.higher(by_text),
            (true, true) => by_answers,
            (false, true) => by_answers.lower(by_text),
            // Calls of functions that the list does not have.
            (false, false) => Thresholds {
                relevant_from: by_text.relevant_from,
                irrelevant_to: by_answers.lower(by_text).irrelevant_to,
            },
        }
    }

    /// Returns the same weights with the thresholds of the text chosen from its curves by target precision.
    ///
    /// The thresholds of the evidence do not change: it has no curve, because its labels may be synthetic.
    ///
    /// # Errors
    /// If there is no curve, or neither label of any group of languages reaches the precision.
    pub fn at_precision(mut self, precision: f64) -> Result<Self, ModelError> {
        let curve = || LanguageGroup::ALL.into_iter().flat_map(|group| &self.text.operating(group).curve);
        let Some(highest) = curve().map(|point| point.precision).reduce(f64::max) else {
            return Err(ModelError::new(format!(
                "precision = {precision} needs a curve, and the weights have none\nhint: `callsieve calibrate --write FILE` writes weights with a curve; or set relevant_from and irrelevant_to"
            )));
        };
        if precision > highest {
            return Err(ModelError::new(format!(
                "precision = {precision} is not reached for either label\nhint: the highest on the curve is {highest}"
            )));
        }
        for group in LanguageGroup::ALL {
            let operating = self.text.operating_mut(group);
            operating.thresholds =
                Thresholds::of_curve(&operating.curve, precision).unwrap_or(Thresholds::NEVER);
        }
        Ok(self)
    }

    /// Reads a file of weights.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = side_file::read_text(path)
            .map_err(|error| ModelError { path: Some(path.to_owned()), what: cause_of(&error) })?;
        Self::parse(&text).map_err(|error| ModelError { path: Some(path.to_owned()), ..error })
    }

    /// Parses weights.
    ///
    /// # Errors
    /// If the text is not TOML, or a key is missing, unknown or out of range.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let unreadable = |error: toml::de::Error| ModelError::new(error.to_string().trim_end());
        // First, because other versions have other keys.
        let version = toml::from_str::<FileVersion>(text).map_err(unreadable)?.version;
        if let Some(version) = version.filter(|version| *version != VERSION) {
            return Err(ModelError::new(format!(
                "version is {version}, expected {VERSION}\nhint: fit the weights again with `callsieve calibrate`"
            )));
        }
        let file: File = toml::from_str(text).map_err(unreadable)?;
        debug_assert_eq!(file.version, VERSION, "it is checked above");
        Ok(Self { text: file.text.text_part()?, evidence: file.evidence.evidence_part()? })
    }

    /// Returns the weights as the text of a file.
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "# Weights by which judge-queries separates relevant requests from irrelevant ones; written by `callsieve calibrate`.\n\
             # A weight times its feature is added to the log-odds: above 0 speaks for relevant. Between the two thresholds,\n\
             # probabilities, a request is held. English and other languages have their own thresholds.\n\nversion = {VERSION}\n"
        );
        self.text.write(&mut text);
        self.evidence.write(&mut text);
        text
    }
}

impl TextPart {
    fn write(&self, out: &mut String) {
        let fitted_on = toml::Value::String(self.fitted_on.clone());
        *out += &format!("\n[text]\nfitted_on = {fitted_on}\nbias = {}\n", number(self.linear.bias));
        *out += &weights("text", features::names(), &self.linear.weights);
        for group in LanguageGroup::ALL {
            let (key, operating) = (group.key(), self.operating(group));
            *out += &format!("\n[text.{key}]\n{}", both(operating.thresholds));
            for point in &operating.curve {
                *out += &format!("\n[[text.{key}.curve]]\n{}", written(point));
            }
        }
    }
}

impl EvidencePart {
    fn write(&self, out: &mut String) {
        let fitted_on = toml::Value::String(self.fitted_on.clone());
        write!(
            out,
            "\n[evidence]\nfitted_on = {fitted_on}\n{}declined_below = {}\ncap = {}\n",
            both(self.thresholds),
            number(self.declined_below),
            number(self.cap)
        )
        .expect("writing to a string cannot fail");
        *out += &weights("evidence", evidence::NAMES.iter().copied(), &self.weights);
    }
}

fn both(Thresholds { relevant_from, irrelevant_to }: Thresholds) -> String {
    format!("relevant_from = {}\nirrelevant_to = {}\n", number(relevant_from), number(irrelevant_to))
}

fn weights(key: &str, names: impl Iterator<Item = &'static str>, weights: &[f64]) -> String {
    let lines: String =
        names.zip(weights).map(|(name, weight)| format!("{name} = {}\n", number(*weight))).collect();
    format!("\n[{key}.weights]\n{lines}")
}

fn written(point: &Point) -> String {
    let Point { side, precision, threshold, coverage, recall, n_decided, n_right } = point;
    let [precision, threshold, coverage, recall] =
        [precision, threshold, coverage, recall].map(|x| number(*x));
    format!(
        "side = \"{}\"\nprecision = {precision}\nthreshold = {threshold}\ncoverage = {coverage}\nrecall = {recall}\n\
         n_decided = {n_decided}\nn_right = {n_right}\n",
        side.name()
    )
}

/// Formats a number with four digits.
fn number(number: f64) -> String {
    let text = format!("{number:.4}");
    if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) { "0.0".to_owned() } else { text }
}

/// The error for weights that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("weights{}: {what}", path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default())]
pub struct ModelError {
    path: Option<PathBuf>,
    what: String,
}

impl ModelError {
    fn new(what: impl Into<String>) -> Self {
        Self { path: None, what: what.into() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    text: TextSection,
    evidence: EvidenceSection,
}

/// The part of a file that is the same in every version.
#[derive(Deserialize)]
struct FileVersion {
    version: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextSection {
    #[serde(default)]
    fitted_on: String,
    bias: f64,
    weights: BTreeMap<String, f64>,
    english: GroupSection,
    other: GroupSection,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupSection {
    relevant_from: f64,
    irrelevant_to: f64,
    #[serde(default)]
    curve: Vec<Point>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceSection {
    #[serde(default)]
    fitted_on: String,
    relevant_from: f64,
    irrelevant_to: f64,
    declined_below: f64,
    cap: f64,
    weights: BTreeMap<String, f64>,
}

impl TextSection {
    fn text_part(self) -> Result<TextPart, ModelError> {
        let weights = listed("text", &self.weights, &features::names().collect::<Vec<_>>())?;
        Ok(TextPart {
            linear: Linear { bias: self.bias, weights },
            english: self.english.operating("text.english")?,
            other: self.other.operating("text.other")?,
            fitted_on: self.fitted_on,
        })
    }
}

impl GroupSection {
    fn operating(self, key: &str) -> Result<Operating, ModelError> {
        let thresholds = in_order(key, self.relevant_from, self.irrelevant_to)?;
        if let Some(point) = self.curve.iter().find(|point| {
            ![point.precision, point.threshold, point.coverage, point.recall].into_iter().all(is_share)
        }) {
            return Err(ModelError::new(format!(
                "{key}.curve: precision, threshold, coverage and recall must be from 0 to 1, not {}, {}, {} and {}",
                point.precision, point.threshold, point.coverage, point.recall
            )));
        }
        Ok(Operating { thresholds, curve: self.curve })
    }
}

impl EvidenceSection {
    fn evidence_part(self) -> Result<EvidencePart, ModelError> {
        let weights = listed("evidence", &self.weights, evidence::NAMES)?;
        let signed = evidence::NAMES.iter().zip(&weights).zip(evidence::LOWERS);
        for ((name, weight), lowers) in signed {
            let (is_wrong, limit, why) = if *lowers {
                (*weight > 0.0, "above", "a declined answer never speaks for relevant")
            } else {
                (*weight < 0.0, "below", "a call never speaks for irrelevant")
            };
            if is_wrong {
                return Err(ModelError::new(format!(
                    "evidence.weights.{name} must not be {limit} 0, as {why}, not {weight}"
                )));
            }
        }
        if !(self.cap > 0.0 && self.cap.is_finite()) {
            return Err(ModelError::new("evidence.cap must be a number above 0"));
        }
        if !is_share(self.declined_below) {
            return Err(ModelError::new(format!(
                "evidence.declined_below must be from 0 to 1, not {}",
                self.declined_below
            )));
        }
        Ok(EvidencePart {
            thresholds: in_order("evidence", self.relevant_from, self.irrelevant_to)?,
            weights,
            declined_below: self.declined_below,
            cap: self.cap,
            fitted_on: self.fitted_on,
        })
    }
}

fn is_share(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

fn in_order(key: &str, relevant_from: f64, irrelevant_to: f64) -> Result<Thresholds, ModelError> {
    if irrelevant_to < relevant_from {
        return Ok(Thresholds { relevant_from, irrelevant_to });
    }
    Err(ModelError::new(format!(
        "{key}.irrelevant_to must be below {key}.relevant_from, not {irrelevant_to} and {relevant_from}"
    )))
}

/// Returns the weights in the order of the names.
fn listed(key: &str, weights: &BTreeMap<String, f64>, names: &[&str]) -> Result<Vec<f64>, ModelError> {
    if let Some(unknown) = weights.keys().find(|name| !names.contains(&name.as_str())) {
        let did_you_mean = did_you_mean(unknown, names.iter().copied());
        return Err(ModelError::new(format!(
            "{key}.weights.{unknown}: unknown feature\nhint: {did_you_mean}the features are {}",
            names.join(", ")
        )));
    }
    let weight = |name: &&str| {
        let weight = weights.get(*name).copied().filter(|weight| weight.is_finite());
        weight.ok_or_else(|| ModelError::new(format!("{key}.weights.{name} must be a number")))
    };
    names.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evidence::AnswerSignal;
    use crate::measure::Label;

    #[test]
    fn the_built_in_weights_survive_a_round_trip() {
        let model = Model::embedded();
        assert_eq!(&Model::parse(&model.to_toml()).unwrap(), model);
    }

    /// Returns the built-in weights with a curve of two points for English and of one for other languages.
    fn with_curves() -> Model {
        let point = |side, precision, threshold| Point {
            side,
            precision,
            threshold,
            coverage: 0.25,
            recall: 0.5,
            n_decided: 10,
            n_right: 9,
        };
        let mut model = Model::embedded().clone();
        model.text.english.curve =
            vec![point(Label::Relevant, 0.925, 0.8), point(Label::Irrelevant, 0.8, 0.125)];
        model.text.other.curve = vec![point(Label::Irrelevant, 0.9, 0.0625)];
        model
    }

    #[test]
    fn weights_with_and_without_a_curve_survive_a_round_trip() {
        let mut model = with_curves();
        assert_eq!(Model::parse(&model.to_toml()).unwrap(), model);
        let wrong = model.to_toml().replace("threshold = 0.8000", "threshold = 80");
        assert!(
            Model::parse(&wrong)
                .unwrap_err()
                .to_string()
                .contains("text.english.curve: precision, threshold")
        );
        let wrong = model.to_toml().replace("text.other.curve", "evidence.curve");
        assert!(Model::parse(&wrong).unwrap_err().to_string().contains("unknown field `curve`"));
        model.text.english.curve.clear();
        model.text.other.curve.clear();
        assert_eq!(Model::parse(&model.to_toml()).unwrap(), model);
    }

    #[test]
    fn thresholds_of_each_group_of_languages_are_chosen_by_precision_if_there_is_a_curve() {
        let model = with_curves();
        let chosen = model.clone().at_precision(0.8).unwrap();
        let thresholds = |relevant_from, irrelevant_to| Thresholds { relevant_from, irrelevant_to };
        assert_eq!(chosen.text.english.thresholds, thresholds(0.8, 0.125));
        assert_eq!(chosen.text.other.thresholds, thresholds(Thresholds::NEVER.relevant_from, 0.0625));
        assert_eq!(chosen.evidence, model.evidence);
        // A group that does not reach the precision is never decided; another one may be.
        let chosen = model.clone().at_precision(0.925).unwrap();
        assert_eq!(chosen.text.english.thresholds, thresholds(0.8, Thresholds::NEVER.irrelevant_to));
        assert_eq!(chosen.text.other.thresholds, Thresholds::NEVER);
        let error = model.clone().at_precision(0.95).unwrap_err().to_string();
        assert!(
            error.contains("not reached for either label\nhint: the highest on the curve is 0.925"),
            "{error}"
        );
        let mut without = model;
        without.text.english.curve.clear();
        without.text.other.curve.clear();
        let error = without.at_precision(0.8).unwrap_err().to_string();
        assert!(error.contains("needs a curve") && error.contains("hint: `callsieve calibrate"), "{error}");
    }

    const SIGNALS: [AnswerSignal; 5] = [
        AnswerSignal::Worked,
        AnswerSignal::Called,
        AnswerSignal::Refuted,
        AnswerSignal::Stray,
        AnswerSignal::Declined,
    ];

    fn evidence_of(counts: [usize; 5]) -> LogEvidence {
        let mut evidence = LogEvidence::default();
        for (signal, count) in SIGNALS.into_iter().zip(counts) {
            (0..count).for_each(|_| evidence.add(signal));
        }
        evidence
    }

    #[test]
    fn answers_move_the_probability_and_no_further_than_the_cap() {
        let model = Model::embedded();
        let features = vec![0.0; features::names().count()];
        let judge = |counts| model.judge(&features, evidence_of(counts), LanguageGroup::English);
        let without = judge([0; 5]);
        assert_eq!(without.probability.to_bits(), without.by_text.to_bits());
        assert!(judge([0, 1, 0, 0, 0]).probability > without.probability);
        assert!(judge([0, 0, 0, 0, 1]).probability < without.probability);
        let log_odds = |judged: ModelJudgement| (judged.probability / (1.0 - judged.probability)).ln();
        for counts in [[50, 0, 0, 0, 0], [0, 0, 0, 0, 50]] {
            let moved = log_odds(judge(counts)) - log_odds(without);
            assert!(moved.abs() <= model.evidence.cap + 1e-9, "{moved}");
        }
    }

    /// Returns weights that a file may have, with the right signs.
    fn any_evidence() -> impl Strategy<Value = Model> {
        let weights = prop::collection::vec(0.0_f64..4.0, evidence::NAMES.len());
        let share = || 0.0_f64..1.0;
        (weights, share(), share(), share(), share(), 0.1_f64..5.0).prop_map(
            |(sizes, from, to, other_from, below, cap)| {
                let mut model = Model::embedded().clone();
                let signed = sizes.iter().zip(evidence::LOWERS);
                model.evidence.weights =
                    signed.map(|(size, lowers)| if *lowers { -size } else { *size }).collect();
                model.evidence.thresholds =
                    Thresholds { relevant_from: from.max(to) + 0.001, irrelevant_to: from.min(to) };
                model.text.other.thresholds =
                    Thresholds { relevant_from: other_from + 0.001, irrelevant_to: other_from * to };
                (model.evidence.declined_below, model.evidence.cap) = (below, cap);
                model
            },
        )
    }

    /// Returns the place of a decision on the way from irrelevant to relevant.
    fn rank(judged: &ModelJudgement) -> u8 {
        match judged.side() {
            Side::Irrelevant => 0,
            Side::Unsure => 1,
            Side::Relevant => 2,
        }
    }

    proptest! {
        #[test]
        fn no_answer_speaks_against_what_it_says(
            model in any_evidence(), text in -8.0_f64..8.0, counts in prop::array::uniform5(0_usize..4), added in 0_usize..5
        ) {
            // Weights of any file that is not refused.
            let model = Model::parse(&model.to_toml()).unwrap();
            let mut more = counts;
            more[added] += 1;
            for languages in LanguageGroup::ALL {
                let before = model.judge_log_odds(text, evidence_of(counts), languages);
                let after = model.judge_log_odds(text, evidence_of(more), languages);
                if SIGNALS[added] == AnswerSignal::Declined {
                    prop_assert!(after.probability <= before.probability);
                    prop_assert!(rank(&after) <= rank(&before));
                } else {
                    prop_assert!(after.probability >= before.probability);
                    prop_assert!(rank(&after) >= rank(&before));
                }
            }
        }
    }

    #[test]
    fn a_declined_request_is_irrelevant_unless_its_text_speaks_for_relevant() {
        let model = Model::embedded();
        let side = |text: f64, counts| {
            model.judge_log_odds(text, evidence_of(counts), LanguageGroup::English).side()
        };
        let below = model.evidence.declined_below;
        let log_odds = |probability: f64| (probability / (1.0 - probability)).ln();
        let (just_below, just_above) = (log_odds(below - 0.01), log_odds(below + 0.01));
        assert_eq!(side(just_below, [0, 0, 0, 0, 0]), Side::Unsure);
        assert_eq!(side(just_below, [0, 0, 0, 0, 1]), Side::Irrelevant);
        assert_eq!(
            side(just_below, [0, 0, 0, 1, 1]),
            Side::Irrelevant,
            "a stray call is of no function here"
        );
        assert_eq!(side(just_above, [0, 0, 0, 0, 1]), Side::Unsure);
        assert_ne!(side(just_below, [0, 1, 0, 0, 1]), Side::Irrelevant);
    }

    #[test]
    fn features_survive_a_round_trip_through_the_basis() {
        let features: Vec<f64> =
            (0..features::names().count()).map(|n| if n == 2 { 0.25 } else { 0.0 }).collect();
        let basis = Model::embedded().judge(&features, LogEvidence::default(), LanguageGroup::Other).basis(
            &features,
            LogEvidence::default(),
            LanguageGroup::Other,
        );
        assert_eq!(features_of(&basis), Some(features));
        assert_eq!(language_group_of(&basis), LanguageGroup::Other);
        assert_eq!(features_of(&json!({"low_quality": "empty"})), None);
    }

    #[test]
    fn errors_about_weights_name_the_key() {
        let good = Model::embedded().to_toml();
        for (old, new, why) in [
            ("version = 4", "version = 7", "version is 7"),
            ("\nmarkup =", "\nmarkdown =", "text.weights.markdown: unknown feature"),
            ("relevant_from = ", "relevant_from = -", "irrelevant_to must be below"),
            ("cap = ", "cap = -", "evidence.cap"),
            (
                "\nany_call = ",
                "\nany_call = -",
                "evidence.weights.any_call must not be below 0, as a call never",
            ),
            (
                "\ndeclined = -",
                "\ndeclined = ",
                "evidence.weights.declined must not be above 0, as a declined answer",
            ),
            (
                "declined_below = 0",
                "declined_below = 4",
                "evidence.declined_below must be from 0 to 1, not 4",
            ),
        ] {
            let error = Model::parse(&good.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let old = "version = 3\n[text]\nrelevant_from = 0.9\n";
        let error = Model::parse(old).unwrap_err().to_string();
        assert!(error.contains("version is 3, expected 4\nhint: fit the weights again"), "{error}");
        let without = good.lines().filter(|line| !line.starts_with("markup")).collect::<Vec<_>>().join("\n");
        assert!(
            Model::parse(&without).unwrap_err().to_string().contains("text.weights.markup must be a number")
        );
    }
}
