//! The weights of the relevance model, and the probability and label that they assign to a request.
//!
//! The weights of the text and those of the recorded answers are separate: without evidence from
//! recorded answers the text decides alone, with its own thresholds. The effect of the answers is
//! capped, because the logged model may be wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::evidence::{self, LogEvidence};
use super::features;
use super::fit::{Linear, logistic};
use super::measure::{Point, Thresholds};
use callsieve_system::side_file;
use callsieve_text::os_error::cause_of;
use callsieve_text::suggestion::did_you_mean;

/// The weights built into the program.
static EMBEDDED: LazyLock<Model> = LazyLock::new(|| {
    Model::parse(include_str!("../../../configs/relevance.toml")).expect("the built-in weights are tested")
});

/// The version of the weights; raised when the same weights have other results. Other versions are refused.
const VERSION: u32 = 3;

/// Weights and thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The weights of the text.
    pub text: ModelPart,
    /// The weights of the recorded answers; the first feature is the log-odds of the text.
    pub evidence: ModelPart,
    /// The maximum change of the log-odds by the recorded answers.
    pub cap: f64,
}

/// A weighted sum with its thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPart {
    /// A description of the data it was fitted on.
    pub fitted_on: String,
    /// Bias and weights.
    pub linear: Linear,
    /// The thresholds.
    pub thresholds: Thresholds,
    /// The thresholds for other target precisions; may be empty.
    pub curve: Vec<Point>,
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
}

impl ModelJudgement {
    /// Compares the probability with the thresholds.
    pub fn side(&self) -> Side {
        if self.probability >= self.thresholds.relevant_from {
            Side::Relevant
        } else if self.probability <= self.thresholds.irrelevant_to {
            Side::Irrelevant
        } else {
            Side::Unsure
        }
    }

    /// Returns the value of the column `relevance_basis`: the probabilities, the evidence, and the features that are
    /// not 0.
    pub fn basis(&self, features: &[f64], evidence: LogEvidence) -> Value {
        let features: Map<String, Value> = features::names()
            .zip(features)
            .filter(|(_, x)| x.abs() >= SMALLEST)
            .map(|(name, x)| (name.to_owned(), json!(rounded(*x))))
            .collect();
        json!({
            "probability": rounded(self.probability),
            "by_text": rounded(self.by_text),
            "evidence": evidence.to_json(),
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

/// Returns the features of the evidence part: the log-odds of the text, then those of the recorded answers.
pub fn evidence_features(text_log_odds: f64, evidence: LogEvidence) -> Vec<f64> {
    let mut features = vec![text_log_odds];
    features.extend(evidence.features());
    features
}

impl Model {
    /// Returns the weights built into the program.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Judges a request by its features and the evidence from recorded answers.
    pub fn judge(&self, features: &[f64], evidence: LogEvidence) -> ModelJudgement {
        self.judge_log_odds(self.text.linear.log_odds(features), evidence)
    }

    /// Judges a request by the log-odds of its text and the evidence from recorded answers.
    pub fn judge_log_odds(&self, text: f64, evidence: LogEvidence) -> ModelJudgement {
        let by_text = logistic(text);
        if evidence.is_empty() {
            return ModelJudgement { probability: by_text, by_text, thresholds: self.text.thresholds };
        }
        let Linear { bias, weights } = &self.evidence.linear;
        let (of_text, of_answers) =
            weights.split_first().map_or((1.0, [].as_slice()), |(w, rest)| (*w, rest));
        let by_answers: f64 = of_answers.iter().zip(evidence.features()).map(|(weight, x)| weight * x).sum();
        let log_odds = of_text * text + (bias + by_answers).clamp(-self.cap, self.cap);
        ModelJudgement { probability: logistic(log_odds), by_text, thresholds: self.evidence.thresholds }
    }

    /// Returns the same weights with the thresholds of the text chosen from its curve by target precision.
    ///
    /// The thresholds of the evidence do not change: it has no curve, because its labels may be synthetic.
    ///
    /// # Errors
    /// If there is no curve, or neither label reaches the precision.
    pub fn at_precision(mut self, precision: f64) -> Result<Self, ModelError> {
        let curve = &self.text.curve;
        if curve.is_empty() {
            return Err(ModelError::new(format!(
                "precision = {precision} needs a curve, and the weights have none\nhint: `callsieve calibrate --write FILE` writes weights with a curve; or set relevant_from and irrelevant_to"
            )));
        }
        self.text.thresholds = Thresholds::of_curve(curve, precision).ok_or_else(|| {
            let highest = curve.iter().map(|point| point.precision).fold(0.0, f64::max);
            ModelError::new(format!(
                "precision = {precision} is not reached for either label\nhint: the highest on the curve is {highest}"
            ))
        })?;
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
        let file: File =
            toml::from_str(text).map_err(|error| ModelError::new(error.to_string().trim_end()))?;
        if file.version != VERSION {
            return Err(ModelError::new(format!(
                "version is {}, expected {VERSION}\nhint: fit the weights again with `callsieve calibrate`",
                file.version
            )));
        }
        let evidence_names: Vec<&str> =
            std::iter::once(TEXT).chain(evidence::NAMES.iter().copied()).collect();
        if !(file.evidence.cap.is_some_and(|cap| cap > 0.0 && cap.is_finite())) {
            return Err(ModelError::new("evidence.cap must be a number above 0"));
        }
        if !file.evidence.curve.is_empty() {
            return Err(ModelError::new("unknown key evidence.curve: only the text has a curve"));
        }
        Ok(Self {
            cap: file.evidence.cap.unwrap_or_default(),
            text: file.text.model_part("text", &features::names().collect::<Vec<_>>())?,
            evidence: file.evidence.model_part("evidence", &evidence_names)?,
        })
    }

    /// Returns the weights as the text of a file.
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "# Weights by which judge-queries separates relevant requests from irrelevant ones; written by `callsieve calibrate`.\n\
             # A weight times its feature is added to the log-odds: above 0 speaks for relevant. Between the two thresholds,\n\
             # probabilities, a request is held.\n\nversion = {VERSION}\n"
        );
        let text_names: Vec<&str> = features::names().collect();
        let evidence_names: Vec<&str> =
            std::iter::once(TEXT).chain(evidence::NAMES.iter().copied()).collect();
        self.text.write("text", &text_names, None, &mut text);
        self.evidence.write("evidence", &evidence_names, Some(self.cap), &mut text);
        text
    }
}

/// The name of the feature for the text's log-odds in the evidence part.
const TEXT: &str = "text";

impl ModelPart {
    fn write(&self, key: &str, names: &[&str], cap: Option<f64>, out: &mut String) {
        let ModelPart { fitted_on, linear, thresholds, curve } = self;
        let fitted_on = toml::Value::String(fitted_on.clone());
        write!(
            out,
            "\n[{key}]\nfitted_on = {fitted_on}\nrelevant_from = {}\nirrelevant_to = {}\n",
            number(thresholds.relevant_from),
            number(thresholds.irrelevant_to)
        )
        .expect("writing to a string cannot fail");
        if let Some(cap) = cap {
            *out += &format!("cap = {}\n", number(cap));
        }
        *out += &format!("bias = {}\n\n[{key}.weights]\n", number(linear.bias));
        for (name, weight) in names.iter().zip(&linear.weights) {
            *out += &format!("{name} = {}\n", number(*weight));
        }
        for point in curve {
            *out += &format!("\n[[{key}.curve]]\n{}", written(point));
        }
    }
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
    text: Section,
    evidence: Section,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default)]
    fitted_on: String,
    relevant_from: f64,
    irrelevant_to: f64,
    cap: Option<f64>,
    bias: f64,
    weights: BTreeMap<String, f64>,
    #[serde(default)]
    curve: Vec<Point>,
}

impl Section {
    fn model_part(self, key: &str, names: &[&str]) -> Result<ModelPart, ModelError> {
        if let Some(unknown) = self.weights.keys().find(|name| !names.contains(&name.as_str())) {
            let did_you_mean = did_you_mean(unknown, names.iter().copied());
            return Err(ModelError::new(format!(
                "{key}.weights.{unknown}: unknown feature\nhint: {did_you_mean}the features are {}",
                names.join(", ")
            )));
        }
        if self.irrelevant_to >= self.relevant_from {
            return Err(ModelError::new(format!(
                "{key}.irrelevant_to must be below {key}.relevant_from, not {} and {}",
                self.irrelevant_to, self.relevant_from
            )));
        }
        let is_share = |number: f64| (0.0..=1.0).contains(&number);
        if let Some(point) = self.curve.iter().find(|point| {
            ![point.precision, point.threshold, point.coverage, point.recall].into_iter().all(is_share)
        }) {
            return Err(ModelError::new(format!(
                "{key}.curve: precision, threshold, coverage and recall must be from 0 to 1, not {}, {}, {} and {}",
                point.precision, point.threshold, point.coverage, point.recall
            )));
        }
        let weight = |name: &&str| {
            let weight = self.weights.get(*name).copied().filter(|weight| weight.is_finite());
            weight.ok_or_else(|| ModelError::new(format!("{key}.weights.{name} must be a number")))
        };
        let weights = names.iter().map(weight).collect::<Result<_, _>>()?;
        let thresholds = Thresholds { relevant_from: self.relevant_from, irrelevant_to: self.irrelevant_to };
        let linear = Linear { bias: self.bias, weights };
        Ok(ModelPart { fitted_on: self.fitted_on, linear, thresholds, curve: self.curve })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::AnswerSignal;
    use crate::measure::Label;

    #[test]
    fn the_built_in_weights_survive_a_round_trip() {
        let model = Model::embedded();
        assert_eq!(&Model::parse(&model.to_toml()).unwrap(), model);
    }

    /// Returns the built-in weights with a curve of two points.
    fn with_curve() -> Model {
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
        model.text.curve = vec![point(Label::Relevant, 0.925, 0.8), point(Label::Irrelevant, 0.8, 0.125)];
        model
    }

    #[test]
    fn weights_with_and_without_a_curve_survive_a_round_trip() {
        let model = with_curve();
        assert_eq!(Model::parse(&model.to_toml()).unwrap(), model);
        let text = model.to_toml();
        let (before, _) = text.split_once("\n[[text.curve]]").unwrap();
        let (_, evidence) = text.split_once("\n[evidence]").unwrap();
        assert!(Model::parse(&format!("{before}\n[evidence]{evidence}")).unwrap().text.curve.is_empty());
        let wrong = model.to_toml().replace("threshold = 0.8000", "threshold = 80");
        assert!(Model::parse(&wrong).unwrap_err().to_string().contains("text.curve: precision, threshold"));
        let wrong = model.to_toml().replace("text.curve", "evidence.curve");
        assert!(Model::parse(&wrong).unwrap_err().to_string().contains("only the text has a curve"));
    }

    #[test]
    fn thresholds_are_chosen_by_precision_if_there_is_a_curve() {
        let model = with_curve();
        let chosen = model.clone().at_precision(0.8).unwrap();
        assert_eq!(chosen.text.thresholds, Thresholds { relevant_from: 0.8, irrelevant_to: 0.125 });
        assert_eq!(chosen.evidence, model.evidence);
        let error = model.clone().at_precision(0.95).unwrap_err().to_string();
        assert!(
            error.contains("not reached for either label\nhint: the highest on the curve is 0.925"),
            "{error}"
        );
        let mut without = model;
        without.text.curve.clear();
        let error = without.at_precision(0.8).unwrap_err().to_string();
        assert!(error.contains("needs a curve") && error.contains("hint: `callsieve calibrate"), "{error}");
    }

    #[test]
    fn answers_move_the_probability_and_no_further_than_the_cap() {
        let model = Model::embedded();
        let features = vec![0.0; features::names().count()];
        let judge = |signals: &[AnswerSignal]| {
            let mut evidence = LogEvidence::default();
            for &signal in signals {
                evidence.add(signal);
            }
            model.judge(&features, evidence)
        };
        let without = judge(&[]);
        assert_eq!(without.probability.to_bits(), without.by_text.to_bits());
        assert!(judge(&[AnswerSignal::Called]).probability > judge(&[AnswerSignal::Declined]).probability);
        let log_odds = |judged: ModelJudgement| (judged.probability / (1.0 - judged.probability)).ln();
        let text = model.evidence.linear.weights[0] * log_odds(without);
        for signals in [[AnswerSignal::Worked; 50], [AnswerSignal::Declined; 50]] {
            assert!((log_odds(judge(&signals)) - text).abs() <= model.cap + 1e-9);
        }
    }

    #[test]
    fn features_survive_a_round_trip_through_the_basis() {
        let features: Vec<f64> =
            (0..features::names().count()).map(|n| if n == 2 { 0.25 } else { 0.0 }).collect();
        let basis = Model::embedded()
            .judge(&features, LogEvidence::default())
            .basis(&features, LogEvidence::default());
        assert_eq!(features_of(&basis), Some(features));
        assert_eq!(features_of(&json!({"low_quality": "empty"})), None);
    }

    #[test]
    fn errors_about_weights_name_the_key() {
        let good = Model::embedded().to_toml();
        for (old, new, why) in [
            ("version = 3", "version = 7", "version is 7"),
            ("\nmarkup =", "\nmarkdown =", "text.weights.markdown: unknown feature"),
            ("relevant_from = ", "relevant_from = -", "irrelevant_to must be below"),
            ("cap = ", "cap = -", "evidence.cap"),
        ] {
            let error = Model::parse(&good.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let without = good.lines().filter(|line| !line.starts_with("markup")).collect::<Vec<_>>().join("\n");
        assert!(
            Model::parse(&without).unwrap_err().to_string().contains("text.weights.markup must be a number")
        );
    }
}
