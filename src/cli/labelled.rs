//! Labelled requests for `calibrate`: from BFCL files by category, or from a run with a file of labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, bail};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::open::open;
use crate::bfcl::entry::Entry;
use crate::bfcl::files::{QuestionFile, in_folder, lines};
use crate::console;
use crate::conversation::Role;
use crate::engine::columns::{EXTERNAL_ID, FUNCTIONS, RELEVANCE_BASIS};
use crate::engine::corpus::Corpus;
use crate::engine::stage::{Context, Contract, Quiet, RowIx, TableId};
use crate::engine::view::View;
use crate::relevance::asked::Asked;
use crate::relevance::calibrate::Example;
use crate::relevance::evidence::Evidence;
use crate::relevance::features::features;
use crate::relevance::low_quality;
use crate::relevance::model::features_of;
use crate::relevance::offer::Offer;

/// Labelled requests.
pub(super) struct Labelled {
    /// Those that a model must judge.
    pub(super) examples: Vec<Example>,
    /// Those that a rule finds of low quality, and how many of them are labelled irrelevant.
    pub(super) by_rule: (usize, usize),
    /// Where they come from, for people.
    pub(super) source: String,
}

/// A request, or one that a rule has judged, with its label.
type Read = Result<Example, bool>;

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

/// Lists with the same function names are one group.
fn group<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<BTreeSet<&str>>().into_iter().collect::<Vec<_>>().join("\n")
}

/// Reads BFCL question files, or all of them in a folder.
pub(super) fn from_bfcl(paths: &[PathBuf]) -> anyhow::Result<Labelled> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(in_folder(path).with_context(|| format!("reading {}", path.display()))?);
        } else {
            files.extend(QuestionFile::of(path));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() {
        bail!("no BFCL question file among them\nhint: their names begin with BFCL_ and end in .json");
    }
    let mut records: Vec<(String, Value, bool)> = Vec::new();
    for file in &files {
        let is_relevant = !file.category.contains("irrelevance");
        let path = file.path.display();
        let text = std::fs::read_to_string(&file.path).with_context(|| format!("reading {path}"))?;
        for (at, line) in lines(&text) {
            let place = format!("{path}:{at}");
            let record = serde_json::from_str(line).with_context(|| format!("{place}: not a JSON object"))?;
            records.push((place, record, is_relevant));
        }
    }
    let read = records.par_iter().map(|(place, record, is_relevant)| {
        let entry = Entry::read(record).with_context(|| format!("{place}: no BFCL question"))?;
        Ok(example(entry, *is_relevant))
    });
    let read = read.collect::<anyhow::Result<_>>()?;
    let names: Vec<String> = files.iter().map(|file| file.name().replace(".json", "")).collect();
    Ok(labelled(read, names.join(", ")))
}

/// What the first turn asks, of which functions.
fn example(entry: Entry<'_>, is_relevant: bool) -> Read {
    let functions = entry.functions();
    let first = entry.turns.into_iter().next().unwrap_or_default();
    let users = first.iter().filter(|message| message.role == Role::User);
    let queries: Vec<&str> = users.map(|message| message.content.as_str()).collect();
    let offer = Offer::new(functions);
    let asked = Asked::new(&queries);
    if low_quality::fault(&asked, &offer).is_some() {
        return Err(is_relevant);
    }
    let features = features(&asked, &offer);
    Ok(Example { features, evidence: Evidence::default(), is_relevant, group: group(offer.names()) })
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

fn read_labels(file: &Path) -> anyhow::Result<BTreeMap<String, bool>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let mut labels = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let label: Label =
            serde_json::from_str(line).with_context(|| format!("{}:{}", file.display(), at + 1))?;
        let is_relevant = label.label == Word::Relevant;
        if labels.insert(label.id.clone(), is_relevant).is_some_and(|known| known != is_relevant) {
            bail!("{}:{}: id {} has two labels", file.display(), at + 1, label.id);
        }
    }
    Ok(labels)
}

/// Reads what judge-queries noted on the rows of a run that have a label, kept or not.
pub(super) fn from_run(run: &Path, labels: &Path) -> anyhow::Result<Labelled> {
    let labels = read_labels(labels)?;
    let corpus = open(run)?.corpus;
    if !corpus.requests.columns().contains(&RELEVANCE_BASIS) {
        bail!("{}: no stage judged queries\nhint: run a pipeline with a judge-queries stage", run.display());
    }
    let read = read_rows(&corpus, &labels)?;
    if read.len() < labels.len() {
        console::talk(&format!(
            "warning: {} of {} labels are of no request that was judged in {}",
            labels.len() - read.len().min(labels.len()),
            labels.len(),
            run.display()
        ));
    }
    if read.is_empty() {
        bail!("{}: none of the {} labels is of a request that was judged", run.display(), labels.len());
    }
    Ok(labelled(read, run.display().to_string()))
}

fn read_rows(corpus: &Corpus, labels: &BTreeMap<String, bool>) -> anyhow::Result<Vec<Read>> {
    let contract =
        Contract { reads: vec![EXTERNAL_ID, RELEVANCE_BASIS, FUNCTIONS], ..Contract::new(TableId::Requests) };
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
            Some(judged_example(&basis, is_relevant, group))
        }));
        Ok(())
    })?;
    Ok(read)
}

/// The group of each list.
fn groups(view: &View<'_>, cx: &Context<'_>) -> anyhow::Result<BTreeMap<RowIx, String>> {
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

/// What judge-queries noted on a request; where a rule judged it there are no features.
fn judged_example(basis: &Value, is_relevant: bool, group: String) -> Read {
    let features = features_of(basis).ok_or(is_relevant)?;
    let evidence = Evidence::from_json(&basis["evidence"]);
    Ok(Example { features, evidence, is_relevant, group })
}
