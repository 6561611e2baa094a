//! Counts what an audit found: rows by verdict, entries by category, methods, and thresholds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::benchmark::{Benchmark, Thresholds};
use super::hit::{Hit, Method, Object, Verdict};
use super::{AuditError, CLEANED, Plan, Result};
use crate::engine::disk::write_output;
use crate::text::figures::{count, share_of, wilson};

/// The file of the report.
pub const REPORT: &str = "audit.json";
/// The file of the paragraph for a model card.
pub const STATEMENT: &str = "statement.md";
/// Thresholds of the curve of shared word triples.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The result of an audit.
#[derive(Debug, Clone, Serialize)]
pub struct AuditReport {
    /// The version of the program.
    pub version: &'static str,
    /// The training sets.
    pub train: Vec<TrainFile>,
    /// The categories of the benchmark.
    pub categories: Vec<CategoryCounts>,
    /// All categories together.
    pub total: CategoryCounts,
    /// Rows by verdict.
    pub rows: BTreeMap<&'static str, u64>,
    /// Rows with a hit of the object, by verdict of the object alone.
    pub objects: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Rows with a hit by the method, by verdict of the method alone.
    pub methods: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Rows that two methods find, by their names.
    pub agreement: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Rows with a message whose weighted share of word triples is at least this.
    pub curve: Vec<CurvePoint>,
    /// The number of hits.
    pub hits: u64,
    /// When what overlaps.
    pub thresholds: Thresholds,
    /// Whether suspect rows are left out of the cleaned sets, too.
    pub drop_suspects: bool,
}

/// A training set.
#[derive(Debug, Clone, Serialize)]
pub struct TrainFile {
    /// Its path.
    pub path: String,
    /// The path of its cleaned copy, from the output folder.
    pub cleaned: String,
    /// Its rows; blank lines do not count.
    pub rows: u64,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// Rows that are not in the cleaned copy.
    pub removed: u64,
    /// Lines too long to be copied; they are unreadable, too.
    pub not_copied: u64,
}

/// What was found of the entries of a category.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CategoryCounts {
    /// Its name.
    pub name: String,
    /// The SHA-256 of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its entries.
    pub entries: usize,
    /// Entries with a message, functions, or an answer that can be found.
    pub scorable: BTreeMap<&'static str, usize>,
    /// Entries that some row is contaminated with.
    pub contaminated: usize,
    /// Entries with suspect hits only.
    pub suspect: usize,
    /// Contaminated entries by object.
    pub by_object: BTreeMap<&'static str, usize>,
    /// Share of contaminated entries.
    pub rate: f64,
    /// Its Wilson 95 % interval.
    pub interval: (f64, f64),
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CurvePoint {
    /// The threshold, from 0 to 1.
    pub threshold: f64,
    /// The number of rows.
    pub rows: u64,
}

/// Counts while rows pass.
#[derive(Debug)]
pub(super) struct Counted {
    files: Vec<(u64, u64, u64, u64)>,
    rows: BTreeMap<Verdict, u64>,
    objects: BTreeMap<(Object, Verdict), u64>,
    methods: BTreeMap<(Method, Verdict), u64>,
    agreement: BTreeMap<(Method, Method), u64>,
    curve: [u64; CURVE.len()],
    hits: u64,
    /// By entry and object, the surest verdict.
    entries: Vec<BTreeMap<Object, Verdict>>,
    drop_suspects: bool,
}

impl Counted {
    pub(super) fn new(benchmark: &Benchmark, drop_suspects: bool) -> Self {
        Self {
            files: Vec::new(),
            rows: BTreeMap::new(),
            objects: BTreeMap::new(),
            methods: BTreeMap::new(),
            agreement: BTreeMap::new(),
            curve: [0; CURVE.len()],
            hits: 0,
            entries: vec![BTreeMap::new(); benchmark.entries.len()],
            drop_suspects,
        }
    }

    pub(super) fn begin_file(&mut self) {
        self.files.push((0, 0, 0, 0));
    }

    pub(super) fn lost_line(&mut self) {
        if let Some(file) = self.files.last_mut() {
            file.3 += 1;
        }
    }

    /// Counts a row with its hits.
    pub(super) fn add(&mut self, hits: &[Hit], verdict: Verdict, is_read: bool) {
        let is_removed =
            verdict == Verdict::Contaminated || (verdict == Verdict::Suspect && self.drop_suspects);
        if let Some(file) = self.files.last_mut() {
            file.0 += 1;
            file.1 += u64::from(!is_read);
            file.2 += u64::from(is_removed);
        }
        *self.rows.entry(verdict).or_default() += 1;
        self.hits += hits.len() as u64;
        let (mut objects, mut methods) = (BTreeMap::new(), BTreeMap::new());
        let mut ngram: f64 = 0.0;
        for hit in hits {
            let surest = |of: &mut Verdict| *of = (*of).max(hit.verdict);
            surest(objects.entry(hit.object).or_insert(hit.verdict));
            surest(methods.entry(hit.method).or_insert(hit.verdict));
            surest(self.entries[hit.entry as usize].entry(hit.object).or_insert(hit.verdict));
            if matches!(hit.method, Method::Ngram | Method::Exact | Method::Contained) {
                ngram = ngram.max(hit.score);
            }
        }
        for (object, verdict) in objects {
            *self.objects.entry((object, verdict)).or_default() += 1;
        }
        let found: Vec<Method> = methods.keys().copied().collect();
        for (method, verdict) in methods {
            *self.methods.entry((method, verdict)).or_default() += 1;
        }
        for (at, &method) in found.iter().enumerate() {
            for &other in &found[at..] {
                *self.agreement.entry((method, other)).or_default() += 1;
            }
        }
        for (point, threshold) in self.curve.iter_mut().zip(CURVE) {
            *point += u64::from(ngram >= threshold - 1e-9);
        }
    }

    pub(super) fn report(self, benchmark: &Benchmark, plan: &Plan, names: &[String]) -> AuditReport {
        let mut categories: Vec<CategoryCounts> = benchmark
            .categories
            .iter()
            .map(|category| CategoryCounts {
                name: category.name.clone(),
                sha256: Some(category.sha256.clone()),
                ..CategoryCounts::default()
            })
            .collect();
        let mut total = CategoryCounts { name: "all".to_owned(), ..CategoryCounts::default() };
        for ((entry, scorable), found) in benchmark.entries.iter().zip(&benchmark.scorable).zip(&self.entries)
        {
            for counts in [&mut categories[entry.category as usize], &mut total] {
                counts.entries += 1;
                for (name, is_scorable) in
                    [("query", scorable.query), ("functions", scorable.functions), ("call", scorable.call)]
                {
                    *counts.scorable.entry(name).or_default() += usize::from(is_scorable);
                }
                match found.values().max() {
                    Some(Verdict::Contaminated) => counts.contaminated += 1,
                    Some(Verdict::Suspect) => counts.suspect += 1,
                    _ => {}
                }
                for (object, verdict) in found {
                    *counts.by_object.entry(object_name(*object)).or_default() +=
                        usize::from(*verdict == Verdict::Contaminated);
                }
            }
        }
        for counts in categories.iter_mut().chain([&mut total]) {
            counts.rate = ratio(counts.contaminated, counts.entries);
            counts.interval = wilson(counts.contaminated, counts.entries);
        }
        let mut methods: BTreeMap<&'static str, BTreeMap<&'static str, u64>> = BTreeMap::new();
        for ((method, verdict), n) in self.methods {
            methods.entry(method.name()).or_default().insert(verdict.name(), n);
        }
        let mut objects: BTreeMap<&'static str, BTreeMap<&'static str, u64>> = BTreeMap::new();
        for ((object, verdict), n) in self.objects {
            objects.entry(object_name(object)).or_default().insert(verdict.name(), n);
        }
        let mut agreement: BTreeMap<&'static str, BTreeMap<&'static str, u64>> = BTreeMap::new();
        for ((method, other), n) in self.agreement {
            agreement.entry(method.name()).or_default().insert(other.name(), n);
        }
        let files = plan.train.iter().zip(names).zip(self.files);
        AuditReport {
            version: env!("CARGO_PKG_VERSION"),
            train: files
                .map(|((path, name), (rows, unreadable, removed, not_copied))| TrainFile {
                    path: path.display().to_string(),
                    cleaned: format!("{CLEANED}/{name}"),
                    rows,
                    unreadable,
                    removed,
                    not_copied,
                })
                .collect(),
            categories,
            total,
            rows: Verdict::ALL
                .iter()
                .map(|verdict| (verdict.name(), self.rows.get(verdict).copied().unwrap_or_default()))
                .collect(),
            objects,
            methods,
            agreement,
            curve: CURVE
                .iter()
                .zip(self.curve)
                .map(|(&threshold, rows)| CurvePoint { threshold, rows })
                .collect(),
            hits: self.hits,
            thresholds: *benchmark.thresholds(),
            drop_suspects: plan.drop_suspects,
        }
    }
}

/// Returns the name of an object in the output.
pub fn object_name(object: Object) -> &'static str {
    match object {
        Object::Query => "query",
        Object::Function => "function",
        Object::Functions => "functions",
        Object::Call => "call",
    }
}

#[allow(clippy::cast_precision_loss)] // Counts of entries.
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl AuditReport {
    /// The number of rows of all training sets.
    pub fn n_rows(&self) -> u64 {
        self.rows.values().sum()
    }

    /// Writes the report and the paragraph for a model card into the output folder.
    pub(super) fn write(&self, out: &Path) -> Result<()> {
        let write = |name: &str, text: &str| {
            let path = out.join(name);
            write_output(&path, text.as_bytes())
                .map_err(|error| AuditError::write(&path)(std::io::Error::other(error)))
        };
        write(STATEMENT, &self.statement())?;
        let json = serde_json::to_string_pretty(self).expect("counts and names are JSON");
        write(REPORT, &(json + "\n"))
    }

    /// Returns the paragraph for a model card: what was compared with what, and what was found.
    pub fn statement(&self) -> String {
        let mut text = String::new();
        let n = |verdict: Verdict| self.rows.get(verdict.name()).copied().unwrap_or_default();
        let files: BTreeSet<&str> = self.train.iter().map(|file| file.path.as_str()).collect();
        let _ = write!(
            text,
            "Contamination: {} training rows ({}) were compared with {} benchmark entries ({}) by toolsieve {}. ",
            count(self.n_rows()),
            files.into_iter().collect::<Vec<_>>().join(", "),
            count(self.total.entries as u64),
            self.categories.iter().map(|category| category.name.as_str()).collect::<Vec<_>>().join(", "),
            self.version,
        );
        let _ = write!(
            text,
            "{} of the entries ({}, 95 % interval {:.1} to {:.1} %) overlap a training row in a user message, a function doc or \
             all calls of an answer; {} more are suspect. ",
            count(self.total.contaminated as u64),
            share_of(self.total.contaminated as u64, self.total.entries as u64),
            self.total.interval.0 * 100.0,
            self.total.interval.1 * 100.0,
            count(self.total.suspect as u64),
        );
        let removed: u64 = self.train.iter().map(|file| file.removed).sum();
        let _ = writeln!(
            text,
            "{} rows are contaminated, {} suspect, {} unscorable; {} were removed. Not found are translations, paraphrases in other \
             words, and overlap in parts that were not compared, such as system prompts.",
            count(n(Verdict::Contaminated)),
            count(n(Verdict::Suspect)),
            count(n(Verdict::Unscorable)),
            count(removed),
        );
        text
    }
}
