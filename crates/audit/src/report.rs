//! Counts what an audit found: rows by verdict, entries by category, methods, and thresholds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::benchmark::Thresholds;
use super::facts::{BenchmarkFacts, CategoryFacts};
use super::frequent::FrequentEntry;
use super::hit::{Compared, Method, Object, Verdict};
use super::read_rows::{ReadOfFile, SharedText};
use super::shuffle::CleanShuffle;
use callsieve_text::figures::wilson;

/// Thresholds of the curves.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The result of an audit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// The version of the program.
    pub version: String,
    /// The training sets.
    pub train: Vec<TrainFile>,
    /// The categories of the benchmark.
    pub categories: Vec<CategoryCounts>,
    /// All categories together.
    pub total: CategoryCounts,
    /// Rows by verdict.
    pub rows: BTreeMap<String, u64>,
    /// Contaminated rows that are in the cleaned sets: a person decided to keep them, or the run removes none for what was found.
    #[serde(default)]
    pub contaminated_kept: u64,
    /// Rows with a hit of the object, by verdict of the object alone.
    pub objects: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rows with a hit by the method, by verdict of the method alone.
    pub methods: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rows that two methods find, by their names.
    pub agreement: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rows with a hit of at least this score, by method. Hits below the thresholds of suspect are not in it.
    pub curves: BTreeMap<String, Vec<CurvePoint>>,
    /// The number of hits.
    pub hits: u64,
    /// The entries of all hits: a hit of a group counts each of its entries.
    #[serde(default)]
    pub pairs: u64,
    /// Entries that each method cannot find, by method and category; they are too short for it, or have nothing to compare.
    pub unscorable: BTreeMap<String, BTreeMap<String, usize>>,
    /// Messages whose words are shuffled across all of them, and how many are called contaminated by chance.
    pub clean_shuffle: CleanShuffle,
    /// Entries whose message is a phrase of the training set; inside longer messages it is clean.
    pub frequent_entries: Vec<FrequentEntry>,
    /// What a language model said about suspect pairs; empty if none was asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judged: BTreeMap<String, u64>,
    /// When what overlaps.
    pub thresholds: Thresholds,
    /// What of the rows was compared.
    #[serde(default)]
    pub compared: Vec<Compared>,
    /// Texts that many rows share, and that hold a message of the benchmark. They are compared once, and no row counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_texts: Vec<SharedText>,
}

/// A training set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrainFile {
    /// Its path.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// The path of its cleaned copy, from the run folder; `None` if none was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleaned: Option<String>,
    /// It is a file of the benchmark: its rows were compared with the entries before them, for duplicates.
    #[serde(default)]
    pub is_benchmark: bool,
    /// Its rows.
    pub rows: u64,
    /// Lines that could not be read; they are in the cleaned copy as they are.
    pub unreadable: u64,
    /// Rows that are not in the cleaned copy.
    pub removed: u64,
    /// Lines that could not be copied, because they are too long or cut; they are unreadable, too.
    pub not_copied: u64,
    /// What of its rows was read.
    #[serde(default)]
    pub read: ReadOfFile,
}

/// What was found of the entries of a category.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CategoryCounts {
    /// Its name.
    pub name: String,
    /// Its file; none for all categories together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The SHA-256 of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its entries.
    pub entries: usize,
    /// Entries with a message, functions, or an answer that can be found.
    pub scorable: BTreeMap<String, usize>,
    /// Entries that some row is contaminated with.
    pub contaminated: usize,
    /// Entries with suspect hits only.
    pub suspect: usize,
    /// Entries with a function doc, or all of them, that some row is contaminated with.
    pub docs: usize,
    /// Contaminated entries by object.
    pub by_object: BTreeMap<String, usize>,
    /// Share of contaminated entries.
    pub rate: f64,
    /// Its Wilson 95 % interval.
    pub interval: (f64, f64),
}

impl CategoryCounts {
    fn of(facts: &CategoryFacts) -> Self {
        Self {
            name: facts.name.clone(),
            path: Some(facts.path.clone()),
            sha256: Some(facts.sha256.clone()),
            entries: facts.entries,
            scorable: facts.scorable.clone(),
            ..Self::default()
        }
    }

    fn add_entry(&mut self, found: &BTreeMap<Object, Verdict>) {
        match found.values().max() {
            Some(Verdict::Contaminated) => self.contaminated += 1,
            Some(Verdict::Suspect) => self.suspect += 1,
            _ => {}
        }
        let is_doc = |(object, verdict): (&Object, &Verdict)| {
            matches!(object, Object::Function | Object::Functions) && *verdict == Verdict::Contaminated
        };
        self.docs += usize::from(found.iter().any(is_doc));
        for (object, verdict) in found {
            *self.by_object.entry(object.name().to_owned()).or_default() +=
                usize::from(*verdict == Verdict::Contaminated);
        }
    }

    fn add_category(&mut self, other: &Self) {
        self.entries += other.entries;
        for (name, n) in &other.scorable {
            *self.scorable.entry(name.clone()).or_default() += n;
        }
    }

    pub(super) fn rate(&mut self) {
        self.rate = ratio(self.contaminated, self.entries);
        self.interval = wilson(self.contaminated, self.entries);
    }
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The threshold, from 0 to 1.
    pub threshold: f64,
    /// The number of rows.
    pub rows: u64,
}

/// A hit, as it is counted.
#[derive(Debug, Clone)]
pub(super) struct CountedHit<'a> {
    pub(super) category: &'a str,
    pub(super) entry: &'a str,
    pub(super) object: Object,
    pub(super) method: Method,
    pub(super) score: f64,
    pub(super) verdict: Verdict,
    pub(super) n_entries: u32,
}

/// Counts while rows pass.
#[derive(Debug, Default)]
pub(super) struct Counted {
    rows: BTreeMap<Verdict, u64>,
    objects: BTreeMap<(Object, Verdict), u64>,
    methods: BTreeMap<(Method, Verdict), u64>,
    agreement: BTreeMap<(Method, Method), u64>,
    curves: BTreeMap<Method, [u64; CURVE.len()]>,
    hits: u64,
    pairs: u64,
    /// By category and entry: the surest verdict of each object.
    entries: BTreeMap<(String, String), BTreeMap<Object, Verdict>>,
}

impl Counted {
    /// Counts a row that no hit names.
    pub(super) fn add_row(&mut self, verdict: Verdict) {
        *self.rows.entry(verdict).or_default() += 1;
    }

    /// Counts an entry that is in a group of hits.
    pub(super) fn add_entry(&mut self, category: &str, entry: &str, object: Object, verdict: Verdict) {
        let entry = self.entries.entry((category.to_owned(), entry.to_owned())).or_default();
        let known = entry.entry(object).or_insert(verdict);
        *known = (*known).max(verdict);
    }

    /// Counts the hits of a row.
    pub(super) fn add_hits(&mut self, hits: &[CountedHit<'_>]) {
        self.hits += hits.len() as u64;
        self.pairs += hits.iter().map(|hit| u64::from(hit.n_entries)).sum::<u64>();
        let (mut objects, mut methods) = (BTreeMap::new(), BTreeMap::new());
        let mut scores: BTreeMap<Method, f64> = BTreeMap::new();
        for hit in hits {
            let surest = |of: &mut Verdict| *of = (*of).max(hit.verdict);
            surest(objects.entry(hit.object).or_insert(hit.verdict));
            surest(methods.entry(hit.method).or_insert(hit.verdict));
            let entry = self.entries.entry((hit.category.to_owned(), hit.entry.to_owned())).or_default();
            surest(entry.entry(hit.object).or_insert(hit.verdict));
            let best = scores.entry(hit.method).or_default();
            *best = best.max(hit.score);
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
        for (method, best) in scores {
            let curve = self.curves.entry(method).or_default();
            for (point, threshold) in curve.iter_mut().zip(CURVE) {
                *point += u64::from(best >= threshold - 1e-9);
            }
        }
    }

    pub(super) fn report(self, facts: &BenchmarkFacts, train: Vec<TrainFile>) -> AuditReport {
        let mut categories: Vec<CategoryCounts> = facts.categories.iter().map(CategoryCounts::of).collect();
        let mut total = CategoryCounts { name: "all".to_owned(), ..CategoryCounts::default() };
        for category in &categories {
            total.add_category(category);
        }
        for ((category, _), found) in &self.entries {
            total.add_entry(found);
            if let Some(counts) = categories.iter_mut().find(|counts| counts.name == *category) {
                counts.add_entry(found);
            }
        }
        categories.iter_mut().chain([&mut total]).for_each(CategoryCounts::rate);
        let by_verdict = |counts: &mut dyn Iterator<Item = (&'static str, Verdict, u64)>| {
            let mut table: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
            for (name, verdict, n) in counts {
                table.entry(name.to_owned()).or_default().insert(verdict.name().to_owned(), n);
            }
            table
        };
        let mut agreement: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for ((method, other), n) in self.agreement {
            agreement.entry(method.name().to_owned()).or_default().insert(other.name().to_owned(), n);
        }
        let points = |rows: [u64; CURVE.len()]| {
            CURVE.iter().zip(rows).map(|(&threshold, rows)| CurvePoint { threshold, rows }).collect()
        };
        let rows = |verdict: &Verdict| self.rows.get(verdict).copied().unwrap_or_default();
        AuditReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            train,
            categories,
            total,
            rows: Verdict::ALL.iter().map(|verdict| (verdict.name().to_owned(), rows(verdict))).collect(),
            contaminated_kept: 0,
            objects: by_verdict(
                &mut self.objects.into_iter().map(|((object, verdict), n)| (object.name(), verdict, n)),
            ),
            methods: by_verdict(
                &mut self.methods.into_iter().map(|((method, verdict), n)| (method.name(), verdict, n)),
            ),
            agreement,
            curves: self
                .curves
                .into_iter()
                .map(|(method, rows)| (method.name().to_owned(), points(rows)))
                .collect(),
            hits: self.hits,
            pairs: self.pairs,
            unscorable: facts.unscorable.clone(),
            clean_shuffle: CleanShuffle::default(),
            frequent_entries: Vec::new(),
            judged: BTreeMap::new(),
            thresholds: facts.thresholds,
            compared: facts.objects.clone(),
            shared_texts: Vec::new(),
        }
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

    /// The number of rows with a verdict.
    pub fn n_rows_of(&self, verdict: Verdict) -> u64 {
        self.rows.get(verdict.name()).copied().unwrap_or_default()
    }

    /// Returns the training sets of which no message, no function doc or no call was read although it is compared, with the name of
    /// that.
    pub fn not_read(&self) -> Vec<(&TrainFile, &'static str)> {
        let mut not_read = Vec::new();
        for file in self.train.iter().filter(|file| file.read.rows > 0) {
            let kinds = [
                (Compared::Query, "no message of a user was", file.read.queries),
                (Compared::Docs, "no function doc was", file.read.docs),
                (Compared::Calls, "no call was", file.read.calls),
            ];
            let missing = kinds.into_iter().filter(|(kind, _, n)| *n == 0 && self.compared.contains(kind));
            not_read.extend(missing.map(|(_, what, _)| (file, what)));
        }
        not_read
    }

    /// The number of rows that are in no cleaned set.
    pub fn n_removed(&self) -> u64 {
        self.train.iter().map(|file| file.removed).sum()
    }
}
