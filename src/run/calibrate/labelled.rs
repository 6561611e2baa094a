//! Labelled requests: from BFCL files by category, or from a run with a file of labels.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::bfcl::entry::Entry;
use crate::bfcl::files::{QuestionFile, in_folder, lines};
use crate::columns::{CATEGORY, EXTERNAL_ID, FUNCTIONS, RELEVANCE_BASIS};
use crate::engine::context::{Context, Quiet};
use crate::engine::contract::Contract;
use crate::engine::corpus::Corpus;
use crate::engine::error::At as _;
use crate::engine::view::View;
use crate::engine::vocabulary::{RowIx, TableId};
use crate::relevance::benchmark::{background_of, example, group};
use crate::relevance::calibrate::{LabelledExample, is_test_group};
use crate::relevance::evidence::LogEvidence;
use crate::relevance::model::{features_of, language_group_of};
use crate::run::error::refuse;
use crate::run::{Error, Observer, open};
use crate::side_file;
use crate::stages::Registry;

/// Labelled requests.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Labelled {
    /// Those that a model must judge.
    pub examples: Vec<LabelledExample>,
    /// Those that a rule finds of low quality, and how many of them are labelled irrelevant.
    pub by_rule: (usize, usize),
    /// Where they come from, for people.
    pub source: String,
}

impl Labelled {
    /// Reads BFCL question files, or all of them in a folder: irrelevance is irrelevant, all else relevant.
    ///
    /// # Errors
    /// A file cannot be read, or there is none.
    pub fn of_bfcl(paths: &[PathBuf]) -> Result<Self, Error> {
        from_bfcl(paths)
    }

    /// Reads what judge-queries noted on the requests of a run that have a label, kept or not. `labels` is a file of
    /// JSON lines `{"id": …, "label": "relevant" or "irrelevant"}`.
    ///
    /// # Errors
    /// The run or the labels cannot be read, no stage of it judged queries, or no label is of a request of it.
    pub fn of_run(
        run: &Path,
        labels: &Path,
        registry: &Registry,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        from_run(run, labels, registry, observer)
    }

    /// Keeps the doc lists of one fold, as a seed draws it.
    pub fn keep_fold(&mut self, is_first: bool, seed: u64) {
        self.examples.retain(|example| is_test_group(&example.group, seed) == is_first);
    }

    /// How many of those that a model must judge are relevant.
    pub fn n_relevant(&self) -> usize {
        self.examples.iter().filter(|example| example.is_relevant).count()
    }

    /// Checks that there are requests of both labels.
    ///
    /// # Errors
    /// There are not.
    pub fn check_sides(&self) -> Result<(), Error> {
        let (n_relevant, n_all, source) = (self.n_relevant(), self.examples.len(), &self.source);
        if n_relevant == 0 || n_relevant == n_all {
            return refuse(format!(
                "{source}: {n_relevant} of {n_all} requests are relevant; both sides are needed"
            ));
        }
        Ok(())
    }

    /// Checks that the log's answers are evidence about one of the requests.
    ///
    /// # Errors
    /// They do not.
    pub fn check_evidence(&self) -> Result<(), Error> {
        if self.examples.iter().all(|example| example.evidence.is_empty()) {
            return refuse(format!(
                "{}: the log's answers say nothing about any of the requests\nhint: --fit text",
                self.source
            ));
        }
        Ok(())
    }
}

/// A request, or one that a rule has judged, with its label.
type Read = Result<LabelledExample, bool>;

fn labelled(read: Vec<Read>, source: String) -> Labelled {
    let (mut examples, mut by_rule) = (Vec::new(), (0, 0));
    for read in read {
        match read {
            Ok(example) => examples.push(example),
            Err(is_relevant) => by_rule = (by_rule.0 + 1, by_rule.1 + usize::from(!is_relevant)),
        }
    }
    Labelled { examples, by_rule, source }
}

fn from_bfcl(paths: &[PathBuf]) -> Result<Labelled, Error> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(in_folder(path).at("reading", path)?);
        } else {
            files.extend(QuestionFile::of(path));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() {
        return refuse(
            "no BFCL question file among them\nhint: their names begin with BFCL_ and end in .json",
        );
    }
    let mut records: Vec<(String, Value, &str)> = Vec::new();
    for file in &files {
        let path = file.path.display();
        let text = side_file::read_text(&file.path).at("reading", &file.path)?;
        for (at, line) in lines(&text) {
            let place = format!("{path}:{at}");
            let record = serde_json::from_str(line)
                .map_err(|error| Error::Request(format!("{place}: not a JSON object: {error}")))?;
            records.push((place, record, &file.category));
        }
    }
    let entries = records.par_iter().map(|(place, record, category)| {
        let entry = Entry::read(record)
            .map_err(|error| Error::Request(format!("{place}: no BFCL question: {error}")))?;
        Ok((entry, *category))
    });
    let entries: Vec<(Entry<'_>, &str)> = entries.collect::<Result<_, Error>>()?;
    let background = background_of(entries.iter().map(|(entry, _)| entry));
    let read = entries.par_iter().map(|(entry, category)| example(entry, category, &background)).collect();
    let names: Vec<String> = files.iter().map(|file| file.name().replace(".json", "")).collect();
    Ok(labelled(read, names.join(", ")))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    id: String,
    label: Word,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Word {
    Relevant,
    Irrelevant,
}

pub(super) fn read_labels(file: &Path) -> Result<BTreeMap<String, bool>, Error> {
    let text = side_file::read_text(file).at("reading", file)?;
    let mut labels = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}:{}", file.display(), at + 1);
        let label: Label =
            serde_json::from_str(line).map_err(|error| Error::Request(format!("{}: {error}", place())))?;
        let is_relevant = label.label == Word::Relevant;
        if labels.insert(label.id.clone(), is_relevant).is_some_and(|known| known != is_relevant) {
            return refuse(format!("{}: id {} has two labels", place(), label.id));
        }
    }
    Ok(labels)
}

fn from_run(
    run: &Path,
    labels: &Path,
    registry: &Registry,
    observer: &dyn Observer,
) -> Result<Labelled, Error> {
    let labels = read_labels(labels)?;
    let corpus = open(run, registry)?.corpus;
    let shown = run.display();
    if !corpus.requests.has(RELEVANCE_BASIS) {
        return refuse(format!(
            "{shown}: no stage judged queries\nhint: run a pipeline with a judge-queries stage"
        ));
    }
    let read = read_rows(&corpus, &labels)?;
    if read.len() < labels.len() {
        observer.warn(&format!(
            "{} of {} labels are of no request that was judged in {shown}",
            labels.len() - read.len().min(labels.len()),
            labels.len(),
        ));
    }
    if read.is_empty() {
        return refuse(format!(
            "{shown}: none of the {} labels is of a request that was judged",
            labels.len()
        ));
    }
    Ok(labelled(read, shown.to_string()))
}

fn read_rows(corpus: &Corpus, labels: &BTreeMap<String, bool>) -> Result<Vec<Read>, Error> {
    let reads = [EXTERNAL_ID, RELEVANCE_BASIS, CATEGORY, FUNCTIONS];
    let contract = Contract::of(TableId::Requests).reads(reads);
    let (view, cancel) = (View::new(corpus, &contract), AtomicBool::new(false));
    let cx = Context::new(0, &cancel, &Quiet);
    let groups = groups(&view, &cx)?;
    let mut read = Vec::new();
    let every = |_| true;
    view.stream(&cx, every, |batch| {
        let labelled = batch.rows().iter().map(|&row| (row, batch.row(row)));
        read.extend(labelled.filter_map(|(ix, row)| {
            let basis = row.json::<Value>(RELEVANCE_BASIS)?;
            let own = row.text(EXTERNAL_ID).and_then(|id| labels.get(id));
            let is_relevant = *own.or_else(|| labels.get(&view.row_id(ix).to_string()))?;
            let group = groups.get(&view.list_of(ix)).cloned().unwrap_or_default();
            let category = row.text(CATEGORY).unwrap_or_default().to_owned();
            Some(judged_example(&basis, is_relevant, group, category))
        }));
        Ok(())
    })?;
    Ok(read)
}

/// The group of each list.
pub(super) fn groups(view: &View<'_>, cx: &Context<'_>) -> Result<BTreeMap<RowIx, String>, Error> {
    let mut groups = BTreeMap::new();
    let every = |_| true;
    view.parent().stream(cx, every, |batch| {
        let found = batch.map_rows(|row| {
            let functions: Vec<Value> = row.json(FUNCTIONS).unwrap_or_default();
            group(functions.iter().filter_map(|function| function["name"].as_str()))
        })?;
        groups.extend(batch.rows().iter().copied().zip(found));
        Ok(())
    })?;
    Ok(groups)
}

/// What judge-queries noted on a request; without features if a rule judged it.
fn judged_example(basis: &Value, is_relevant: bool, group: String, category: String) -> Read {
    let features = features_of(basis).ok_or(is_relevant)?;
    let evidence = LogEvidence::from_json(&basis["evidence"]);
    let (languages, is_barred) = (language_group_of(basis), basis["barred"] == true);
    Ok(LabelledExample { features, evidence, is_relevant, group, category, languages, is_barred })
}
