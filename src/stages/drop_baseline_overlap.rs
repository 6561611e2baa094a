//! Drops requests that overlap with an entry of an earlier dataset.
//!
//! A request overlaps with an entry if the entry was made from the same record (or from one
//! that the earlier run merged it into), or if the two are duplicates for the same functions,
//! by the measures of `merge_near_queries`: equal context, and last user messages that are
//! equal after normalisation, else similar by words, else by vectors. Doc lists are the same if
//! their canonical JSON is equal, or if their ROUGE-L is above a threshold, because the log of
//! another month may have another version of a list. Without `run` nothing is dropped. The
//! export, not this stage, keeps the entries of the earlier dataset.

use std::borrow::Cow;
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::merge_near_queries::context_and_query;
use super::merge_near_queries::gates::{Gate, check_gates, finds_paraphrases};
use super::{Notes, Settings};
use crate::cells::TypedCells as _;
use crate::columns::{FUNCTIONS, MESSAGES};
use crate::content_hash::{ContentHasher, content_hash};
use crate::docs::canonical;
use crate::embed::Embedder;
use crate::embed::name::ChosenEmbedder;
use crate::embed::scopes::{ScopeVectors, UsedVectors, judge_scopes};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition, Role};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Metric, Reason, RowIx, TableId};
use crate::environment::Environment;
use crate::export::earlier::{Earlier, EarlierEntry, entry};
use crate::similarity::rouge::leaders;
use crate::similarity::rouge::texts::Texts;
use crate::stages::near_queries::{Gates, MatchMethod, QueryMatch, nearest_of_first};
use crate::text::profile::Profile;
use crate::text::rouge::Threshold;
use crate::text::specifics::{fixed_points, specifics};

static OVERLAP: Reason =
    Reason::policy("overlap/baseline", "An entry of an earlier dataset has the same query and functions.");

/// The entry of the earlier dataset in the examples.
macro_rules! earlier_entry {
    () => {
        r#"{"id": "live_simple_0-ts0-0", "question": [[{"role": "user", "content": "Ring the noon bell of the old town church"}]], "function": [{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": [], "properties": {}}}]}"#
    };
}

/// The tables of an example: the earlier entry, its functions, and a request with the same functions.
macro_rules! with_earlier_entry {
    ($content:literal) => {
        concat!(
            r#"{"baseline": ["#,
            earlier_entry!(),
            r#"], "doc_lists": [{"functions": [{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": [], "properties": {}}}]}], "requests": [{"messages": [{"role": "user", "content": ""#,
            $content,
            r#""}]}]}"#
        )
    };
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropBaselineOverlap {
    /// The folder of a finished run, or of files `BFCL_v4_live_<category>.json`. Without it nothing is dropped.
    pub run: Option<PathBuf>,
    /// Whether records that the earlier run merged into an entry overlap too. `false` keeps more requests.
    pub merged: bool,
    /// ROUGE-L F1 from 0 to 1 above which two doc lists are the same, or "off" for equal lists only. Higher keeps more
    /// requests.
    pub docs_rouge_l: Gate,
    /// ROUGE-L F1 from 0 to 1 above which two queries are the same, or "off". Higher keeps more requests.
    pub rouge_l: Gate,
    /// Cosine from 0 to 1 at or above which two queries are the same, or "off". Higher keeps more requests.
    pub cosine: Gate,
    /// The embedder of queries: `hashed`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]`, `endpoint:MODEL` (sends the
    /// queries to a server) or `file:PATH.parquet`. Choose `cosine` for the embedder.
    pub embedder: ChosenEmbedder,
    /// Whether the earlier dataset is the entry of the examples.
    #[serde(skip)]
    of_examples: bool,
}

impl Default for DropBaselineOverlap {
    fn default() -> Self {
        Self {
            run: None,
            merged: true,
            docs_rouge_l: Gate::At(0.8),
            rouge_l: Gate::At(0.8),
            cosine: Gate::At(0.85),
            embedder: ChosenEmbedder::default(),
            of_examples: false,
        }
    }
}

impl Settings for DropBaselineOverlap {
    const NAME: &'static str = "drop-baseline-overlap";
    const SUMMARY: &'static str = "Drops requests that overlap with an entry of an earlier dataset.";
    const FUNNEL_LABEL: &'static str = "not in the earlier dataset";

    fn funnel_label(&self, _: &Notes) -> Cow<'static, str> {
        if self.run.is_none() { "no earlier dataset compared" } else { Self::FUNNEL_LABEL }.into()
    }

    fn examples() -> Vec<Example> {
        vec![Example::tables(
            OVERLAP.code,
            with_earlier_entry!("Please ring the noon bell of the old town church"),
            with_earlier_entry!("Stop the bells, a baby sleeps next door"),
        )]
    }

    fn for_examples() -> Self {
        Self { of_examples: true, ..Self::default() }
    }

    fn set_environment(&mut self, environment: &Environment) {
        self.embedder.set_environment(environment);
    }
    fn check(&self) -> Result<(), String> {
        check_gates(&[
            ("docs_rouge_l", self.docs_rouge_l),
            ("rouge_l", self.rouge_l),
            ("cosine", self.cosine),
        ])?;
        self.embedder.name().check_for_texts()
    }
}

impl Stage for DropBaselineOverlap {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Rows)
            .reads([MESSAGES, FUNCTIONS])
            .reasons([&OVERLAP])
            .sends_rows_out(self.cosine.threshold().is_some() && self.embedder.name().sends_texts_out())
            .role(Role::Baseline)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(5);
        if let Some(embedder) = self.embedder()? {
            fingerprint.built_in("embedder", &embedder.id());
        }
        if let Some(run) = &self.run {
            for input in Earlier::open(run)?.inputs()? {
                fingerprint.add_part("baseline", input.sha256.as_bytes());
            }
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == UsedVectors::NOTE { UsedVectors::join(&notes) } else { None }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let baseline = self.baseline()?;
        if baseline.groups.is_empty() && baseline.records.is_empty() {
            return Ok(());
        }
        let lists = self.same_lists(&baseline, view, cx)?;
        let mut overlaps: FxHashMap<RowIx, Overlap> = FxHashMap::default();
        let mut groups: FxHashMap<usize, Vec<(RowIx, String)>> = FxHashMap::default();
        view.for_each_batch(cx, |batch| {
            let found = batch.map_rows(|row| {
                if let Some(entry) = baseline.records.get(&view.row_id(row.ix()).0) {
                    return Some(Err(entry.clone()));
                }
                let list = lists.get(&view.list_of(row.ix()))?;
                let (context, query) = context_and_query(row.messages())?;
                let key = group_key(list.earlier, &context, &self.shared_specifics(&query));
                let group = baseline.groups.get(&key)?;
                Some(Ok((*group, query)))
            })?;
            for (&row, found) in batch.rows().iter().zip(found) {
                match found {
                    Some(Err(entry)) => {
                        overlaps.insert(row, Overlap { entry, by: "record", score: None });
                    }
                    Some(Ok((group, query))) => groups.entry(group).or_default().push((row, query)),
                    None => {}
                }
            }
            Ok(())
        })?;
        let mut groups: Vec<(usize, Vec<(RowIx, String)>)> = groups.into_iter().collect();
        groups.sort_unstable_by_key(|(group, _)| *group);
        for (_, rows) in &mut groups {
            rows.sort_unstable_by_key(|(row, _)| view.position(*row));
        }
        self.compare(&baseline, &groups, &mut overlaps, cx, out)?;
        for row in view.rows() {
            let Some(overlap) = overlaps.get(&row) else { continue };
            let docs = if overlap.by == "record" { None } else { lists.get(&view.list_of(row)) };
            out.drop(row, &OVERLAP, overlap.evidence(docs.and_then(|list| list.score)))?;
        }
        Ok(())
    }
}

/// An earlier dataset, indexed for the comparison with requests.
#[derive(Default)]
struct Baseline {
    /// The entry of each record.
    records: FxHashMap<u128, String>,
    /// The distinct doc lists: canonical text and key.
    lists: Vec<(String, u128)>,
    /// The index in `entries` for each key of doc list, context and specifics.
    groups: FxHashMap<u128, usize>,
    /// The entries of each group: id and normalised query.
    entries: Vec<Vec<(String, String)>>,
}

impl Baseline {
    fn add(
        &mut self,
        lists: &mut FxHashMap<u128, usize>,
        entry: EarlierEntry,
        shared_specifics: impl Fn(&str) -> String,
    ) {
        let text = canonical::text(&entry.functions);
        let key = content_hash(&text);
        let list = *lists.entry(key).or_insert_with(|| {
            self.lists.push((text, key));
            self.lists.len() - 1
        });
        let Some((context, query)) = context_and_query(entry.messages) else { return };
        let group = group_key(list, &context, &shared_specifics(&query));
        let group = *self.groups.entry(group).or_insert(self.entries.len());
        if group == self.entries.len() {
            self.entries.push(Vec::new());
        }
        self.entries[group].push((entry.id, query));
    }
}

/// Returns the key of a group. A variant of an entry (similar words, other specifics) is in another group.
fn group_key(list: usize, context: &str, specifics: &str) -> u128 {
    let mut key = ContentHasher::default();
    key.add(&list.to_le_bytes()).add_part(context.as_bytes()).add_part(specifics.as_bytes());
    key.hash()
}

/// The list of the earlier dataset that is the same as a list of the run.
struct SameList {
    earlier: usize,
    /// The ROUGE-L F1 if they are not equal.
    score: Option<f64>,
}

/// The entry that a request overlaps with.
struct Overlap {
    entry: String,
    by: &'static str,
    score: Option<(Metric, f64)>,
}

impl Overlap {
    fn evidence(&self, docs: Option<f64>) -> Evidence {
        let mut detail = json!({"entry": self.entry, "by": self.by});
        if let Some(score) = docs {
            detail["docs_rouge_l_f1"] = json!(score);
        }
        Evidence { score: self.score, detail: Some(Box::new(detail)) }
    }
}

impl DropBaselineOverlap {
    /// Returns the specifics that a query must share with an entry to be its copy.
    fn shared_specifics(&self, query: &str) -> String {
        if finds_paraphrases(self.cosine, &self.embedder) { fixed_points(query) } else { specifics(query) }
    }

    fn baseline(&self) -> Result<Baseline> {
        let mut baseline = Baseline::default();
        let mut lists = FxHashMap::default();
        if self.of_examples {
            baseline.add(&mut lists, entry(earlier_entry!(), "examples".to_owned())?, |query| {
                self.shared_specifics(query)
            });
        }
        if let Some(run) = &self.run {
            let earlier = Earlier::open(run)?;
            baseline.records = earlier.entries_of_records(self.merged)?;
            earlier.for_each(|_, entry| {
                baseline.add(&mut lists, entry, |query| self.shared_specifics(query));
                Ok(())
            })?;
        }
        Ok(baseline)
    }

    /// Returns, for each kept list, the same list of the earlier dataset.
    fn same_lists(
        &self,
        baseline: &Baseline,
        view: &View<'_>,
        cx: &Context<'_>,
    ) -> Result<FxHashMap<RowIx, SameList>> {
        let mut same = FxHashMap::default();
        let equal: FxHashMap<u128, usize> =
            baseline.lists.iter().enumerate().map(|(at, &(_, key))| (key, at)).collect();
        let mut others: Vec<RowIx> = Vec::new();
        let mut compared: Vec<String> = baseline.lists.iter().map(|(text, _)| text.clone()).collect();
        view.parent().for_each_batch(cx, |batch| {
            let texts = batch.map_rows(|row| canonical::text(&row.functions()))?;
            for (&row, text) in batch.rows().iter().zip(texts) {
                if let Some(&earlier) = equal.get(&content_hash(&text)) {
                    same.insert(row, SameList { earlier, score: None });
                } else {
                    others.push(row);
                    compared.push(text);
                }
            }
            Ok(())
        })?;
        let Some(threshold) = threshold(self.docs_rouge_l) else { return Ok(same) };
        let cancelled = || cx.cancelled();
        let texts = Texts::encode_unless(&compared, Profile::Auto, &cancelled).ok_or(Error::Interrupted)?;
        let nearest = leaders::best_of(&texts, baseline.lists.len(), threshold, &cancelled);
        for (row, near) in others.into_iter().zip(nearest.ok_or(Error::Interrupted)?) {
            if let Some(near) = near {
                same.insert(row, SameList { earlier: near.leader, score: Some(near.score) });
            }
        }
        Ok(same)
    }

    /// Returns the embedder; `None` if the cosine is off.
    fn embedder(&self) -> Result<Option<&dyn Embedder>> {
        Ok(if self.cosine.threshold().is_some() { Some(self.embedder.open()?) } else { None })
    }

    /// Compares requests with the entries of the same functions and context: first for equality, then for similarity.
    fn compare(
        &self,
        baseline: &Baseline,
        groups: &[(usize, Vec<(RowIx, String)>)],
        overlaps: &mut FxHashMap<RowIx, Overlap>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<()> {
        let gates = Gates { rouge_l: threshold(self.rouge_l), cosine: self.cosine.threshold() };
        let unequal: Vec<UnequalRequests<'_>> = groups
            .iter()
            .map(|(group, rows)| UnequalRequests::of(&baseline.entries[*group], rows, overlaps))
            .collect();
        let scopes: Vec<Vec<&str>> = unequal.iter().map(UnequalRequests::texts).collect();
        let cancelled = || cx.cancelled();
        let nearest = |at: usize, texts: &[&str], vectors: &mut ScopeVectors<'_>| {
            // Without requests there are no texts either.
            let n_entries = unequal[at].entries.len().min(texts.len());
            nearest_of_first(n_entries, texts, vectors, gates, &cancelled)
        };
        let (near, used) = judge_scopes(&scopes, self.embedder()?, &cancelled, nearest)?;
        for (requests, near) in unequal.iter().zip(near) {
            overlaps.extend(requests.overlaps(near));
        }
        if let Some(used) = used {
            out.note(UsedVectors::NOTE, used.note());
        }
        Ok(())
    }
}

/// Requests of a group that are not equal to any entry.
struct UnequalRequests<'a> {
    entries: &'a [(String, String)],
    rows: Vec<&'a (RowIx, String)>,
}

impl<'a> UnequalRequests<'a> {
    /// Collects the requests of a group; those that are equal to an entry are added to `overlaps` instead.
    fn of(
        entries: &'a [(String, String)],
        rows: &'a [(RowIx, String)],
        overlaps: &mut FxHashMap<RowIx, Overlap>,
    ) -> Self {
        let mut equal: FxHashMap<&str, &str> = FxHashMap::default();
        for (id, query) in entries {
            equal.entry(query).or_insert(id);
        }
        let mut unequal = Vec::new();
        for row in rows {
            match equal.get(row.1.as_str()) {
                Some(&entry) => {
                    overlaps.insert(
                        row.0,
                        Overlap { entry: entry.to_owned(), by: "query/duplicate", score: None },
                    );
                }
                None => unequal.push(row),
            }
        }
        Self { entries, rows: unequal }
    }

    /// Returns the queries of the entries, then those of the requests; empty without requests.
    fn texts(&self) -> Vec<&'a str> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let of_entries = self.entries.iter().map(|(_, query)| query.as_str());
        of_entries.chain(self.rows.iter().map(|(_, query)| query.as_str())).collect()
    }

    /// Returns the requests that are near an entry; `near` has one element per request.
    fn overlaps(&self, near: Vec<Option<QueryMatch>>) -> impl Iterator<Item = (RowIx, Overlap)> {
        self.rows.iter().zip(near).filter_map(|(row, near)| {
            let near = near?;
            let (by, metric) = match near.by {
                MatchMethod::Words(tokenizer) => ("query/near-duplicate", Metric::RougeLF1(tokenizer)),
                MatchMethod::Vectors => ("query/similar", Metric::Cosine),
            };
            let entry = self.entries[near.leader].0.clone();
            Some((row.0, Overlap { entry, by, score: Some((metric, near.score)) }))
        })
    }
}

fn threshold(gate: Gate) -> Option<Threshold> {
    gate.threshold().and_then(|threshold| Threshold::try_from(threshold).ok())
}
