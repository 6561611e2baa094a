//! Agreement of a finished run with labels of people, for requests that were judged by rules, a language model or the log.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::labelled::{groups, read_labels};
use crate::columns::{CATEGORY, EXTERNAL_ID, FUNCTIONS, LANGUAGE, RELEVANCE, RELEVANCE_BASIS};
use crate::engine::context::{Context, Quiet};
use crate::engine::contract::Contract;
use crate::engine::view::View;
use crate::engine::vocabulary::TableId;
use crate::prompts::judging::QUERIES;
use crate::relevance::Relevance;
use crate::relevance::calibrate::is_test_group;
use crate::relevance::measure::roc_auc;
use crate::relevance::soft_votes::{SoftLabel, SoftVotes};
use crate::run::error::refuse;
use crate::run::{Error, open};
use crate::stages::Registry;
use crate::stages::asking::SOFT;
use crate::text::figures::counted;

/// Labelled requests by their label and what the run decided. Low quality counts as irrelevant, as in the dataset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Relevant, and judged so.
    pub relevant: u64,
    /// Relevant, and judged irrelevant.
    pub missed: u64,
    /// Irrelevant, and judged so.
    pub irrelevant: u64,
    /// Irrelevant, and judged relevant.
    pub wrong: u64,
    /// Without a judgement: held, or without an answer of the model.
    pub open: u64,
}

impl Agreement {
    /// Returns the number of labelled requests.
    pub fn n(&self) -> u64 {
        self.decided() + self.open
    }

    /// Returns the number of those with a judgement.
    pub fn decided(&self) -> u64 {
        self.relevant + self.missed + self.irrelevant + self.wrong
    }

    /// Returns the number of judgements that are as labelled.
    pub fn right(&self) -> u64 {
        self.relevant + self.irrelevant
    }

    /// Returns Cohen's kappa over the requests with a judgement: the agreement beyond that of chance, at most 1. `None` if
    /// labels and judgements are all the same.
    #[allow(clippy::cast_precision_loss)] // Counts of rows.
    pub fn kappa(&self) -> Option<f64> {
        let n = self.decided() as f64;
        let share = |part: u64| part as f64 / n;
        let observed = share(self.right());
        let (labelled, judged) = (share(self.relevant + self.missed), share(self.relevant + self.wrong));
        let chance = labelled * judged + (1.0 - labelled) * (1.0 - judged);
        (n > 0.0 && chance < 1.0).then(|| (observed - chance) / (1.0 - chance))
    }

    fn add(&mut self, is_relevant: bool, judged: Option<Relevance>) {
        let judged = judged.map(|relevance| relevance == Relevance::Relevant);
        *match (is_relevant, judged) {
            (true, Some(true)) => &mut self.relevant,
            (true, Some(false)) => &mut self.missed,
            (false, Some(false)) => &mut self.irrelevant,
            (false, Some(true)) => &mut self.wrong,
            (_, None) => &mut self.open,
        } += 1;
    }
}

/// The agreement of a run with labels: of all requests, by who judged them, and by language.
#[derive(Debug, Default)]
pub struct RunAgreement {
    /// All labelled requests of the run.
    pub all: Agreement,
    /// By who judged: `rules`, the name of a language model, or `a person`.
    pub by_judge: BTreeMap<String, Agreement>,
    /// By the category that the run gave; requests that are held have none.
    pub by_category: BTreeMap<String, Agreement>,
    /// By language, if a stage detects it.
    pub by_language: BTreeMap<String, Agreement>,
    /// The area under the ROC curve of the probabilities that the rules gave; `None` if they gave none to one of the labels.
    pub auc: Option<f64>,
    /// Labelled requests that the rules gave a probability, over which the area is, and the relevant ones among them.
    pub scored: (u64, u64),
    /// Labels of no request that was judged.
    pub unused: usize,
    /// The soft votes on labelled requests, by model and label.
    pub soft_votes: BTreeMap<String, BTreeMap<String, SoftLabel>>,
}

/// Compares the labels that a run gave with those of a file.
///
/// # Errors
/// The run or the file cannot be read, no stage judged queries, or no label is of a request of the run.
pub fn agreement(run: &Path, labels: &Path, registry: &Registry) -> Result<RunAgreement, Error> {
    let labels = read_labels(labels)?;
    let corpus = open(run, registry)?.corpus;
    if !corpus.requests.has(RELEVANCE_BASIS) {
        return refuse(format!(
            "{}: no stage judged queries\nhint: run a pipeline with a judge-queries stage",
            run.display()
        ));
    }
    let reads = [EXTERNAL_ID, RELEVANCE, RELEVANCE_BASIS, CATEGORY, LANGUAGE, FUNCTIONS];
    let contract = Contract::of(TableId::Requests).reads(reads);
    let (view, cancel) = (View::new(&corpus, &contract), AtomicBool::new(false));
    let cx = Context::new(0, &cancel, &Quiet);
    let groups = groups(&view, &cx)?;
    let (mut found, mut n_used, mut scored) = (RunAgreement::default(), 0, Vec::new());
    view.stream(
        &cx,
        |_| true,
        |batch| {
            for &ix in batch.rows() {
                let row = batch.row(ix);
                let Some(basis) = row.json::<Value>(RELEVANCE_BASIS) else { continue };
                let own = row.text(EXTERNAL_ID).and_then(|id| labels.get(id));
                let Some(&is_relevant) = own.or_else(|| labels.get(&view.row_id(ix).to_string())) else {
                    continue;
                };
                n_used += 1;
                let judged = row.text(RELEVANCE).and_then(Relevance::from_name);
                let is_by_person = ["labelled_by", "answered_by"].iter().any(|key| basis.get(key).is_some());
                let judge = match basis["asked"].as_str() {
                    Some(model) => model.to_owned(),
                    None if is_by_person => "a person".to_owned(),
                    None => "rules".to_owned(),
                };
                let is_second_fold =
                    groups.get(&view.list_of(ix)).is_some_and(|group| is_test_group(group, FOLDS_SEED));
                for verdict in soft_votes(&basis) {
                    let labels = found.soft_votes.entry(judge.clone()).or_default();
                    let is_right = (verdict == Relevance::Relevant) == is_relevant;
                    labels.entry(verdict.name().to_owned()).or_default().add(is_second_fold, is_right);
                }
                found.all.add(is_relevant, judged);
                found.by_judge.entry(judge).or_default().add(is_relevant, judged);
                scored.extend(basis["probability"].as_f64().map(|probability| (probability, is_relevant)));
                if let Some(category) = row.text(CATEGORY) {
                    found.by_category.entry(category.to_owned()).or_default().add(is_relevant, judged);
                }
                if let Some(language) = row.text(LANGUAGE) {
                    found.by_language.entry(language.to_owned()).or_default().add(is_relevant, judged);
                }
            }
            Ok(())
        },
    )?;
    if n_used == 0 {
        return refuse(format!(
            "{}: none of the {} labels is of a request that was judged\nhint: ids are those of the log, or those of `callsieve held`",
            run.display(),
            labels.len()
        ));
    }
    found.auc = roc_auc(&scored);
    let n_relevant = scored.iter().filter(|(_, is_relevant)| *is_relevant).count();
    found.scored = (scored.len() as u64, n_relevant as u64);
    found.unused = labels.len().saturating_sub(n_used);
    Ok(found)
}

/// The seed of the two folds of the doc lists in which soft votes are measured.
const FOLDS_SEED: u64 = 1;

/// Returns the labels that the soft votes of a judgement are for.
fn soft_votes(basis: &Value) -> impl Iterator<Item = Relevance> {
    let votes = basis["votes"].as_array().into_iter().flatten();
    votes.filter_map(|vote| {
        let name = vote[SOFT].as_str()?;
        let criterion = QUERIES.criteria.iter().find(|criterion| criterion.name == name)?;
        Relevance::from_name(criterion.verdict)
    })
}

impl RunAgreement {
    /// Returns what was measured of the soft votes of the one model that has some.
    ///
    /// # Errors
    /// No model has soft votes on labelled requests, or several have.
    pub fn measured_soft_votes(&self, run: &Path, labels: &Path) -> Result<SoftVotes, Error> {
        let mut models = self.soft_votes.iter();
        let Some((model, measured)) = models.next() else {
            return refuse(format!(
                "{}: no soft vote on a labelled request\nhint: answers of a language model that could not be used and name a criterion are soft votes; run with judge-queries.judge=llm",
                run.display()
            ));
        };
        if models.next().is_some() {
            let names: Vec<&str> = self.soft_votes.keys().map(String::as_str).collect();
            return refuse(format!(
                "{}: soft votes of several models: {}; expected one\nhint: measure runs that ask one model",
                run.display(),
                names.join(", ")
            ));
        }
        let measured_on = format!(
            "{}: {} of {}",
            labels.display(),
            counted(self.all.n(), "request", "requests"),
            run.display()
        );
        Ok(SoftVotes::new(model.clone(), measured_on, measured.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_is_the_agreement_beyond_chance() {
        let close = |agreement: Agreement, expected: f64| {
            let kappa = agreement.kappa().unwrap();
            assert!((kappa - expected).abs() < 1e-9, "{agreement:?}: {kappa}");
        };
        close(Agreement { relevant: 20, irrelevant: 15, missed: 10, wrong: 5, open: 9 }, 0.4);
        close(Agreement { relevant: 5, irrelevant: 5, ..Agreement::default() }, 1.0);
        close(Agreement { relevant: 1, irrelevant: 1, missed: 1, wrong: 1, open: 0 }, 0.0);
        assert_eq!(Agreement { relevant: 5, ..Agreement::default() }.kappa(), None);
        assert_eq!(Agreement { open: 5, ..Agreement::default() }.kappa(), None);
    }
}
