//! Fits the weights of judge-queries on labelled requests, and measures how good they are.
//!
//! Labels come from BFCL files, by category, or from a file for a finished run, whose features and evidence were noted
//! by judge-queries. Figures of what was fitted are of doc lists that were not fitted on.

mod agreement;
mod labelled;

use std::collections::BTreeMap;

use super::Error;
use super::error::refuse;
use crate::relevance::calibrate::{
    fit_evidence, fit_text, judge_all, log_odds_by, log_odds_unseen, model_by_category, test_model,
    test_text, text_by_category, text_curve,
};
use crate::relevance::features::{FAMILIES, names};

pub use crate::relevance::calibrate::{Findings, FitPlan, LabelledExample, TargetCounts, TextFindings};
pub use crate::relevance::language_group::LanguageGroup;
pub use crate::relevance::measure::{DecisionCounts, Label, Point, TARGETS};
pub use crate::relevance::model::Model;
pub use agreement::{Agreement, RunAgreement, agreement};
pub use labelled::Labelled;

/// Which weights are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Those of query and docs.
    Text,
    /// Those of the log's answers.
    Evidence,
    /// First the text's, then the answers'.
    Both,
}

/// The minimum number of requests of the rarer side to fit final weights on.
const FEWEST_OF_A_SIDE: usize = 20;

/// What weights are fitted on, and how.
#[derive(Debug)]
pub struct Calibration<'l> {
    /// The labelled requests.
    pub labelled: &'l Labelled,
    /// What is fitted.
    pub fit: Fit,
    /// The weights to begin with, for the part that is not fitted.
    pub begin: Model,
    /// The most that the log's answers may add to the log-odds or take from them; lower trusts them less.
    pub cap: f64,
    /// How to fit and test.
    pub plan: FitPlan,
}

/// What weights decide that were fitted on one fold and tested on the other.
#[derive(Debug)]
pub struct Tested {
    /// By part of the requests, with what it is called.
    pub parts: Vec<(&'static str, Findings)>,
    /// Thresholds of the text for each target precision, and what they decide in the folds, by languages; none if the
    /// text was not fitted.
    pub curves: Vec<LanguageCurve>,
}

/// The thresholds for queries in some languages, and what they decide in the folds.
#[derive(Debug)]
pub struct LanguageCurve {
    /// The languages.
    pub languages: LanguageGroup,
    /// The number of labelled requests in these languages, and how many of them are relevant.
    pub n_requests: (usize, usize),
    /// The thresholds for each target precision.
    pub curve: Vec<Point>,
    /// What they decide in the folds.
    pub findings: Findings,
}

/// How well a family of features does without the others, or one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// The family.
    pub family: &'static str,
    /// The feature; `None` for all of the family.
    pub feature: Option<&'static str>,
    /// The mean area under the ROC curve; none if no fold had both sides.
    pub auc: Option<f64>,
}

impl Calibration<'_> {
    fn examples(&self) -> &[LabelledExample] {
        &self.labelled.examples
    }

    /// How the initial weights judge the labelled requests, by the evidence of the log's answers.
    pub fn judged(&self) -> Vec<(&'static str, Findings)> {
        judge_all(&self.begin, self.examples())
    }

    /// Fits on one fold and tests on the other.
    pub fn tested(&self) -> Tested {
        let (examples, plan) = (self.examples(), self.plan);
        let mut tested = Tested { parts: Vec::new(), curves: Vec::new() };
        if self.fit != Fit::Evidence {
            let found = test_text(examples, plan, |_| true);
            tested.parts.push(("text alone", found.all.clone()));
            tested.parts.push(("English", found.english.clone()));
            tested.parts.push(("other languages", found.other.clone()));
            tested.curves = LanguageGroup::ALL.map(|languages| self.curve(languages, &found)).into();
        }
        if self.fit != Fit::Text {
            let text = (self.fit == Fit::Evidence).then_some(&self.begin.text);
            tested.parts.extend(test_model(examples, text, self.cap, plan));
        }
        tested
    }

    fn curve(&self, languages: LanguageGroup, found: &TextFindings) -> LanguageCurve {
        let of_group = || self.examples().iter().filter(|example| example.languages == languages);
        let n_relevant = of_group().filter(|example| example.is_relevant).count();
        LanguageCurve {
            languages,
            n_requests: (of_group().count(), n_relevant),
            curve: text_curve(self.examples(), languages, self.plan),
            findings: found.of(languages).clone(),
        }
    }

    /// What the weights to begin with decide of each category.
    pub fn judged_by_category(&self) -> BTreeMap<String, DecisionCounts> {
        model_by_category(&self.begin, self.examples())
    }

    /// What weights of the text decide of each category that were fitted on other doc lists.
    pub fn tested_by_category(&self) -> BTreeMap<String, DecisionCounts> {
        text_by_category(self.examples(), self.plan)
    }

    /// Tests each family of features and each feature alone.
    pub fn by_feature(&self) -> Vec<Alone> {
        let auc = |keep: &dyn Fn(usize) -> bool| test_text(self.examples(), self.plan, keep).all.mean_auc();
        let mut all = Vec::new();
        let mut at = 0;
        for &(family, features) in FAMILIES {
            let range = at..at + features.len();
            all.push(Alone { family, feature: None, auc: auc(&|at| range.contains(&at)) });
            for &feature in features {
                all.push(Alone { family, feature: Some(feature), auc: auc(&|kept| kept == at) });
                at += 1;
            }
        }
        debug_assert_eq!(at, names().count(), "every feature belongs to a family");
        all
    }

    /// The weights, fitted on all requests.
    ///
    /// # Errors
    /// One of the two labels has too few requests.
    pub fn fitted(&self) -> Result<Model, Error> {
        let (examples, plan, source) = (self.examples(), self.plan, &self.labelled.source);
        let n_relevant = self.labelled.n_relevant();
        let n_fewer = n_relevant.min(examples.len() - n_relevant);
        if n_fewer < FEWEST_OF_A_SIDE {
            return refuse(format!(
                "{source}: {n_fewer} requests of the rarer side are too few to fit weights on, {FEWEST_OF_A_SIDE} are needed; nothing was written"
            ));
        }
        let fitted_on = format!("{source}: {} requests", examples.len());
        let mut model = self.begin.clone();
        if self.fit != Fit::Evidence {
            model.text = fit_text(examples, plan, fitted_on.clone());
        }
        if self.fit != Fit::Text {
            // Text that was fitted on these examples is too sure of them.
            let log_odds = if self.fit == Fit::Both {
                log_odds_unseen(examples, plan)
            } else {
                log_odds_by(&model.text, examples)
            };
            model = fit_evidence(examples, &log_odds, &model.text, self.cap, plan, fitted_on);
        }
        Ok(model)
    }
}
