//! Merges duplicate and near-duplicate requests for the same functions.
//!
//! Two requests are compared only within a scope (the doc list, by default) and only if
//! everything except the last user message is equal, because another system prompt or history
//! can change the correct answer; values in it may differ if nothing depends on them
//! (`compared`). The last user messages are then compared: equal after
//! normalisation, else ROUGE-L, else cosine of embeddings, each with its own threshold. Of a
//! group of copies the earliest with a recorded call is kept, else the earliest; every merged
//! request has a direct score with it.
//!
//! Queries with similar words can differ in meaning: another city, 10 for 50, "not". Requests are
//! merged only if they have the same specifics (`text::specifics`) and no different recorded
//! calls. With a semantic embedder, queries in other words with the same numbers and negations
//! merge, too. Other similar requests are variants, which are kept up to a maximum number per
//! request.
//!
//! A request with a typing error in one word, and one that puts the task of equal recorded calls in similar words, is merged
//! as well (`typos`).
//!
//! All measures use the normalised text, so requests that are equal after normalisation
//! have equal scores with everything else.

mod compared;
mod examples;
pub mod gates;
mod typos;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Notes, Settings};
use crate::cells::TypedCells as _;
use crate::columns::{FINISH_REASON, FUNCTIONS, LIST_VARIANT_OF, MESSAGES, RESPONSE, STATUS, VARIANT_OF};
use crate::content_hash::{ContentHasher, content_hash};
use crate::embed::Embedder;
use crate::embed::name::ChosenEmbedder;
use crate::embed::scopes::{UsedVectors, judge_scopes};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::corpus::RowId;
use crate::engine::error::{Error, Result};
use crate::engine::estimate::Estimate;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Evidence, Likeness, Metric, Reason, RowIx, TableId};
use crate::environment::Environment;
use crate::stages::near_queries::{Gates, MatchMethod, QueryMatch, f1_of_words, merge_queries};
use crate::text::memo::Memo;
use crate::text::rouge::Threshold;
use crate::text::tokens::Tokenizer;
pub(super) use compared::context_and_query;
use compared::{Asked, ComparedRequest};
use gates::{Gate, check_gates, finds_paraphrases};

/// The reason code of queries that are equal after normalisation; an answer to one is an answer to all.
const SAME_CODE: &str = "query/duplicate";
/// The reason code of queries with nearly the same words.
const NEAR_COPY_CODE: &str = "query/near-duplicate";
/// The reason code of queries with similar vectors.
const SIMILAR_CODE: &str = "query/similar";

/// The reason code of variants beyond the maximum number per request.
const VARIANT_CODE: &str = "query/variant";

static SAME: Reason = Reason::policy(
    SAME_CODE,
    "The query equals that of an earlier request except for case, blanks and final punctuation.",
)
.of_likeness(Likeness::Equal);
static NEAR_COPY: Reason =
    Reason::policy(NEAR_COPY_CODE, "Another request has a query with nearly the same words.")
        .of_likeness(Likeness::NearCopy);
static SIMILAR: Reason = Reason::policy(
    SIMILAR_CODE,
    "Another request has a query with a similar vector: similar wording (hashed n-grams) or a similar embedding (a model).",
)
.of_likeness(Likeness::Similar);

static VARIANT: Reason = Reason::policy(
    VARIANT_CODE,
    "The query is a variant of another request (similar words, other specifics) that has the maximum number of variants.",
);

/// The description of the vectors of `hashed`.
pub const N_GRAMS: &str = "hashed n-grams";

/// The scope within which requests are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Requests of one doc list.
    DocList,
    /// All requests.
    Global,
}

/// Default of [`MergeNearQueries::max_variants`].
const MAX_VARIANTS: usize = 20;

/// The action for variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variants {
    /// Keep them, up to `max_variants` per request.
    Keep,
    /// Merge them like copies.
    Merge,
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeNearQueries {
    /// The scope within which requests are compared.
    pub scope: Scope,
    /// Whether to merge queries that are equal after normalisation.
    pub exact: bool,
    /// ROUGE-L F1 from 0 to 1 above which two queries are merged, or "off". Higher keeps more requests.
    pub rouge_l: Gate,
    /// Cosine from 0 to 1 at or above which two queries are merged, or "off". Higher keeps more requests.
    pub cosine: Gate,
    /// The embedder of queries: `hashed`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]`, `endpoint:MODEL` (sends the
    /// queries to a server) or `file:PATH.parquet`. Choose `cosine` for the embedder.
    pub embedder: ChosenEmbedder,
    /// What to do with variants (requests with nearly the same words but other specifics): "keep" or "merge".
    pub variants: Variants,
    /// Maximum number of variants kept per request; later ones are dropped.
    pub max_variants: usize,
}

impl Default for MergeNearQueries {
    fn default() -> Self {
        Self {
            scope: Scope::DocList,
            exact: true,
            rouge_l: Gate::At(0.8),
            cosine: Gate::At(0.85),
            embedder: ChosenEmbedder::default(),
            variants: Variants::Keep,
            max_variants: MAX_VARIANTS,
        }
    }
}

impl Settings for MergeNearQueries {
    const NAME: &'static str = "merge-near-queries";
    const SUMMARY: &'static str =
        "Merges duplicate and near-duplicate requests for the same functions, by words and by embeddings.";
    const FUNNEL_LABEL: &'static str = "similar queries merged";

    fn funnel_label(&self, notes: &Notes) -> Cow<'static, str> {
        let counts = notes.get(VARIANTS_NOTE).and_then(|note| VariantCounts::deserialize(note).ok());
        let is_compared = [self.cosine, self.rouge_l].map(|gate| gate.threshold().is_some());
        let label: Cow<'static, str> = match (is_compared, self.embedder.name().model()) {
            ([true, _], Some(model)) => {
                format!("similar queries merged (wording or embedding: {model})").into()
            }
            ([true, _], None) => format!("similar queries merged ({N_GRAMS})").into(),
            ([false, true], _) => "similar queries merged (ROUGE-L)".into(),
            ([false, false], _) if self.exact => "equal queries merged".into(),
            ([false, false], _) => "queries not compared: every measure is off".into(),
        };
        match counts {
            Some(counts) if counts.dropped > 0 => {
                format!("{label}, variants above {} dropped", self.max_variants).into()
            }
            _ => label,
        }
    }

    fn sentence(&self, reason: &'static Reason) -> Cow<'static, str> {
        match (reason.code, self.embedder.name().model()) {
            (SIMILAR_CODE, None) => {
                "Another request has a query with similar wording (hashed n-grams).".into()
            }
            (SIMILAR_CODE, Some(model)) => {
                format!("Another request has a query with a similar embedding ({model}).").into()
            }
            _ => reason.sentence.into(),
        }
    }

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn set_environment(&mut self, environment: &Environment) {
        self.embedder.set_environment(environment);
    }
    fn check(&self) -> Result<(), String> {
        check_gates(&[("rouge_l", self.rouge_l), ("cosine", self.cosine)])?;
        self.embedder.name().check_for_texts()
    }
}

impl MergeNearQueries {
    /// Describes the vectors: hashed n-grams, or embeddings of a model; `None` if the cosine is off.
    pub fn vectors_description(&self) -> Option<String> {
        let description = || {
            let model = self.embedder.name().model();
            model.map_or_else(|| N_GRAMS.to_owned(), |model| format!("embeddings of {model}"))
        };
        self.cosine.threshold().map(|_| description())
    }
}

impl Stage for MergeNearQueries {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Key)
            .reads([MESSAGES])
            .reads_if_there([RESPONSE, FINISH_REASON, STATUS, LIST_VARIANT_OF, FUNCTIONS])
            .writes([VARIANT_OF])
            .reasons([&SAME, &NEAR_COPY, &SIMILAR, &VARIANT])
            .merges()
            .sends_rows_out(self.cosine.threshold().is_some() && self.embedder.name().sends_texts_out())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(14);
        if let Some(embedder) = self.embedder()? {
            fingerprint.built_in("embedder", &embedder.id());
        }
        Ok(())
    }

    fn keys(&self, view: &View<'_>, cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
        let variant_leaders = variant_leaders(view, cx)?;
        let mut keys: Vec<(RowIx, u128)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let groups = batch.map_rows(|row| {
                let asked = Asked::read(row)?;
                Some(asked.group(self.list_of(row, view, Some(&variant_leaders))))
            })?;
            keys.extend(batch.rows().iter().zip(groups).filter_map(|(&row, group)| Some((row, group?))));
            Ok(())
        })?;
        Ok(Some(keys))
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name != VARIANTS_NOTE {
            return UsedVectors::join(&notes);
        }
        let counts: Vec<VariantCounts> =
            notes.into_iter().map(|note| serde_json::from_value(note).ok()).collect::<Option<_>>()?;
        let sum = counts.into_iter().fold(VariantCounts::default(), |sum, part| VariantCounts {
            kept: sum.kept + part.kept,
            of: sum.of + part.of,
            dropped: sum.dropped + part.dropped,
        });
        Some(json!(sum))
    }

    fn estimate(&self, view: &View<'_>) -> Estimate {
        // Each request has one text to embed; a text that several requests share is sent once.
        let sends = self.contract().sends_rows_out;
        if sends { Estimate::one_call_a_row(view.rows().count()) } else { Estimate::default() }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let variant_leaders = variant_leaders(view, cx)?;
        let twins = self.twins(view, cx)?;
        let requests = self.compared_requests(view, cx, &twins, &variant_leaders)?;
        let keeps_variants = self.variants == Variants::Keep;
        let by_meaning = finds_paraphrases(self.cosine, &self.embedder);
        let shared = |request: &ComparedRequest| if keeps_variants { request.shared } else { 0 };
        let key = |request: &ComparedRequest| (request.context, shared(request));
        let mut vectors = Vec::new();
        let mut copies = self.near(&groups(&requests, |_| true, key), cx, &mut vectors)?;
        self.add_copies_in_other_contexts(&requests, shared, cx, &mut copies)?;
        let mut over = FxHashMap::default();
        if keeps_variants {
            let calls: FxHashMap<RowIx, u128> =
                requests.iter().filter_map(|(row, request)| Some((*row, request.calls?))).collect();
            let have_equal_calls = |one: RowIx, other: RowIx| {
                let [own, others] = [one, other].map(|row| calls.get(&row));
                // With other docs, a request without a call may be one that no function fits.
                let has_other_docs = view.list_of(one) != view.list_of(other);
                own == others || (!has_other_docs && (own.is_none() || others.is_none()))
            };
            let specifics: FxHashMap<RowIx, u128> =
                requests.iter().map(|(row, request)| (*row, request.specifics)).collect();
            copies.retain(|&row, near| {
                let is_paraphrase = by_meaning && matches!(near.by, MatchMethod::Vectors);
                have_equal_calls(row, near.to) && (is_paraphrase || specifics[&row] == specifics[&near.to])
            });
            self.add_typos(&requests, view, cx, &mut copies)?;
            let rest = groups(&requests, |row| !copies.contains_key(&row), |request| (request.group, 0));
            let mut near = self.near(&rest, cx, &mut vectors)?;
            let of_row: FxHashMap<RowIx, &ComparedRequest> =
                requests.iter().map(|(row, request)| (*row, request)).collect();
            // Similar words, equal calls and a value in common: one task, put differently.
            let leads: FxHashSet<RowIx> = copies.values().map(|near| near.to).collect();
            let is_task = |row: RowIx, near: &NearRequest| {
                let (own, other) = (of_row[&row], of_row[&near.to]);
                !leads.contains(&row) && typos::share_a_value(own, other) && own.has_context_of(other)
            };
            let tasks: Vec<(RowIx, NearRequest)> = near
                .iter()
                .filter(|(row, near)| is_task(**row, near))
                .map(|(row, near)| (*row, *near))
                .collect();
            for (row, task) in tasks {
                // A leader of a task is no variant of another.
                if !near.contains_key(&task.to) {
                    near.remove(&row);
                    copies.insert(row, task);
                }
            }
            over = self.keep_variants(&rest, &near, view, out)?;
        }
        // The first note is about the search for copies, the second about variants; reports read the first.
        for (name, note) in [UsedVectors::NOTE, VARIANTS_EMBEDDER].into_iter().zip(vectors) {
            out.note(name, note);
        }
        for row in view.rows() {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let first = twins.get(&row).copied().unwrap_or(row);
            let copy = copies.get(&first);
            // The copies of a dropped variant are dropped with it.
            if let Some(near) = over.get(&copy.map_or(first, |copy| copy.to)) {
                out.drop(row, &VARIANT, near.evidence())?;
            } else if let Some(copy) = copy {
                out.merge(row, copy.to, copy.reason(), copy.evidence())?;
            } else if first != row {
                out.merge(row, first, &SAME, Evidence::default())?;
            }
        }
        Ok(())
    }
}

/// The request that another is near to, with the measure and the score.
#[derive(Debug, Clone, Copy)]
struct NearRequest {
    to: RowIx,
    by: MatchMethod,
    score: f64,
}

impl NearRequest {
    fn reason(&self) -> &'static Reason {
        match self.by {
            MatchMethod::Words(_) => &NEAR_COPY,
            MatchMethod::Vectors => &SIMILAR,
        }
    }

    fn evidence(&self) -> Evidence {
        let metric = match self.by {
            MatchMethod::Words(tokenizer) => Metric::RougeLF1(tokenizer),
            MatchMethod::Vectors => Metric::Cosine,
        };
        Evidence::score(metric, self.score)
    }
}

/// For each kept list that is a variant: the id of the list that it is a variant of.
type VariantLeaders<'a> = Parents<'a, Option<u128>>;

fn variant_leaders<'a>(view: &View<'a>, cx: &Context<'_>) -> Result<VariantLeaders<'a>> {
    view.parents(cx, |list| {
        list.text(LIST_VARIANT_OF).map(|id| RowId::number(id).unwrap_or_else(|| content_hash(id)))
    })
}

/// Whether a list has at most one function, or cannot be read.
fn has_one_function(functions: Option<&str>) -> bool {
    let functions = functions.and_then(|text| serde_json::from_str::<Vec<IgnoredAny>>(text).ok());
    functions.is_none_or(|functions| functions.len() < 2)
}

/// Groups the wanted requests by key; each group has the requests with calls first, then the others, both in canonical
/// order.
fn groups<K: Eq + std::hash::Hash>(
    requests: &[(RowIx, ComparedRequest)],
    wanted: impl Fn(RowIx) -> bool,
    key: impl Fn(&ComparedRequest) -> K,
) -> Vec<Vec<&(RowIx, ComparedRequest)>> {
    let mut places: FxHashMap<K, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<&(RowIx, ComparedRequest)>> = Vec::new();
    for request in requests.iter().filter(|(row, _)| wanted(*row)) {
        let place = *places.entry(key(&request.1)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(request);
    }
    groups.retain(|group| group.len() > 1);
    for group in &mut groups {
        group.sort_by_key(|(_, request)| request.calls.is_none());
    }
    groups
}

impl MergeNearQueries {
    /// Returns, for each request that is equal to an earlier one, the earliest.
    fn twins(&self, view: &View<'_>, cx: &Context<'_>) -> Result<FxHashMap<RowIx, RowIx>> {
        let mut twins = FxHashMap::default();
        if !self.exact {
            return Ok(twins);
        }
        let mut keys: Vec<(u32, RowIx, u128)> = Vec::new();
        let known = Memo::default();
        view.for_each_batch(cx, |batch| {
            let batch_keys = batch.map_rows(|row| {
                let list = self.list_of(row, view, None);
                known.get_or((row.hash_of(&[MESSAGES]), list), || {
                    let asked = Asked::read(row)?;
                    let mut key = ContentHasher::default();
                    key.add(&asked.exact(list).to_le_bytes()).add(asked.query.as_bytes());
                    Some(key.hash())
                })
            })?;
            let keyed = batch.rows().iter().zip(batch_keys);
            keys.extend(keyed.filter_map(|(&row, key)| Some((view.position(row), row, key?))));
            Ok(())
        })?;
        keys.sort_unstable();
        let mut first: FxHashMap<u128, RowIx> = FxHashMap::default();
        for (_, row, key) in keys {
            let earliest = *first.entry(key).or_insert(row);
            if earliest != row {
                twins.insert(row, earliest);
            }
        }
        Ok(twins)
    }

    /// Returns the requests that are not twins of another, in canonical order.
    fn compared_requests(
        &self,
        view: &View<'_>,
        cx: &Context<'_>,
        twins: &FxHashMap<RowIx, RowIx>,
        variant_leaders: &VariantLeaders<'_>,
    ) -> Result<Vec<(RowIx, ComparedRequest)>> {
        let mut all: Vec<(RowIx, ComparedRequest)> = Vec::new();
        let of_one_function = view.parents(cx, |list| has_one_function(list.text(FUNCTIONS)))?;
        let by_meaning = finds_paraphrases(self.cosine, &self.embedder);
        view.for_each_batch(cx, |batch| {
            let requests = batch.map_rows(|row| {
                if twins.contains_key(&row.ix()) {
                    return None;
                }
                let list = self.list_of(row, view, Some(variant_leaders));
                let of_one_function = of_one_function.of_list(view.list_of(row.ix())).is_none_or(|one| *one);
                ComparedRequest::read(row, list, by_meaning, of_one_function)
            })?;
            let rows = batch.rows().iter().copied();
            all.extend(rows.zip(requests).filter_map(|(row, request)| Some((row, request?))));
            Ok(())
        })?;
        all.sort_unstable_by_key(|(row, _)| view.position(*row));
        compared::leave_out_what_all_share(&mut all);
        Ok(all)
    }

    /// Returns the list within which a request is compared: the leader of its list among variants if those are given, else
    /// its own; `None` if lists make no difference.
    fn list_of(
        &self,
        row: Row<'_>,
        view: &View<'_>,
        variant_leaders: Option<&VariantLeaders<'_>>,
    ) -> Option<u128> {
        let list = view.list_of(row.ix());
        let own = || view.parent().row_id(list).0;
        (self.scope == Scope::DocList)
            .then(|| variant_leaders.and_then(|leaders| *leaders.of_list(list)?).unwrap_or_else(own))
    }

    /// Returns the embedder; `None` if the cosine is off.
    fn embedder(&self) -> Result<Option<&dyn Embedder>> {
        Ok(if self.cosine.threshold().is_some() { Some(self.embedder.open()?) } else { None })
    }

    /// Returns the requests that are near an earlier one of their group, and adds a note about the vectors to `notes`.
    fn near(
        &self,
        groups: &[Vec<&(RowIx, ComparedRequest)>],
        cx: &Context<'_>,
        notes: &mut Vec<Value>,
    ) -> Result<FxHashMap<RowIx, NearRequest>> {
        let rouge_l = self.rouge_l.threshold().and_then(|threshold| Threshold::try_from(threshold).ok());
        let gates = Gates { rouge_l, cosine: self.cosine.threshold() };
        let scopes: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.iter().map(|(_, request)| request.query.as_str()).collect())
            .collect();
        let cancelled = || cx.cancelled();
        let (merges, used) = judge_scopes(&scopes, self.embedder()?, &cancelled, |_, queries, vectors| {
            merge_queries(queries, vectors, gates, &cancelled)
        })?;
        notes.extend(used.map(|used| used.note()));
        let mut near = FxHashMap::default();
        for (group, merges) in groups.iter().zip(merges) {
            for (request, merge) in group.iter().zip(merges) {
                if let Some(QueryMatch { leader, by, score }) = merge {
                    near.insert(request.0, NearRequest { to: group[leader].0, by, score });
                }
            }
        }
        Ok(near)
    }

    /// Adds the requests that are near another whose context differs only in values, if the values make no difference.
    fn add_copies_in_other_contexts(
        &self,
        requests: &[(RowIx, ComparedRequest)],
        shared: impl Fn(&ComparedRequest) -> u128,
        cx: &Context<'_>,
        copies: &mut FxHashMap<RowIx, NearRequest>,
    ) -> Result<()> {
        let leads: FxHashSet<RowIx> = copies.values().map(|near| near.to).collect();
        let is_open = |row: RowIx| !copies.contains_key(&row) && !leads.contains(&row);
        let mut open = groups(requests, is_open, |request| (request.group, shared(request)));
        open.retain(|group| group.iter().any(|(_, request)| request.context != group[0].1.context));
        if open.is_empty() {
            return Ok(());
        }
        let of_row: FxHashMap<RowIx, &ComparedRequest> =
            open.iter().flatten().map(|(row, request)| (*row, request)).collect();
        let near = self.near(&open, cx, &mut Vec::new())?;
        copies.extend(near.into_iter().filter(|(row, near)| of_row[row].has_context_of(of_row[&near.to])));
        Ok(())
    }

    /// Adds the requests that are a typing error apart from an earlier one of their group.
    fn add_typos(
        &self,
        requests: &[(RowIx, ComparedRequest)],
        view: &View<'_>,
        cx: &Context<'_>,
        copies: &mut FxHashMap<RowIx, NearRequest>,
    ) -> Result<()> {
        if self.rouge_l.threshold().is_none() {
            return Ok(());
        }
        let is_open = |row: RowIx, copies: &FxHashMap<RowIx, NearRequest>| !copies.contains_key(&row);
        let mut groups = groups(requests, |_| true, |request| request.group);
        // Without a pair of open questions that differ in one word, the words of the docs are not needed.
        groups.retain(|group| {
            let open = group.iter().filter(|(row, _)| is_open(*row, copies));
            typos::may_have_some(open.map(|(_, request)| request))
        });
        let lists: FxHashSet<RowIx> = groups.iter().map(|group| view.list_of(group[0].0)).collect();
        let docs = words_of_lists(&lists, view, cx)?;
        let none = FxHashSet::default();
        for group in groups {
            let row_of = |at: usize| group[at].0;
            let open: Vec<usize> = (0..group.len()).filter(|&at| is_open(row_of(at), copies)).collect();
            let list = view.list_of(row_of(0));
            let typos =
                typos::Group { requests: &group, docs: docs.get(&list).unwrap_or(&none) }.typos(&open);
            let mut leads: FxHashSet<RowIx> = copies.values().map(|near| near.to).collect();
            for (one, other) in typos {
                let [first, second] = [row_of(one), row_of(other)];
                // A request that others are merged into stays.
                let (merged, to) = if leads.contains(&second) { (first, second) } else { (second, first) };
                let is_free = |row: RowIx| !copies.contains_key(&row);
                if is_free(merged) && is_free(to) && !leads.contains(&merged) {
                    let score = f1_of_words(&group[one].1.query, &group[other].1.query).unwrap_or_default();
                    let by = MatchMethod::Words(Tokenizer::Unicode);
                    copies.insert(merged, NearRequest { to, by, score });
                    leads.insert(to);
                }
            }
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// Writes the variants that are kept, and returns those beyond the maximum.
    fn keep_variants(
        &self,
        groups: &[Vec<&(RowIx, ComparedRequest)>],
        near: &FxHashMap<RowIx, NearRequest>,
        view: &View<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<FxHashMap<RowIx, NearRequest>> {
        let mut n_kept: FxHashMap<RowIx, usize> = FxHashMap::default();
        let mut over = FxHashMap::default();
        let mut total = 0;
        for (row, _) in groups.iter().flatten() {
            let Some(variant) = near.get(row) else { continue };
            let kept = n_kept.entry(variant.to).or_default();
            if *kept < self.max_variants {
                *kept += 1;
                total += 1;
                out.set(*row, VARIANT_OF, view.row_id(variant.to).to_string())?;
            } else {
                over.insert(*row, *variant);
            }
        }
        let counts = VariantCounts { kept: total, of: n_kept.len(), dropped: over.len() };
        out.note(VARIANTS_NOTE, json!(counts));
        Ok(over)
    }
}

/// The words of the docs of some lists.
fn words_of_lists(
    lists: &FxHashSet<RowIx>,
    view: &View<'_>,
    cx: &Context<'_>,
) -> Result<FxHashMap<RowIx, FxHashSet<String>>> {
    let mut words = FxHashMap::default();
    if lists.is_empty() {
        return Ok(words);
    }
    view.parent().stream(
        cx,
        |list| lists.contains(&list),
        |batch| {
            words.extend(batch.map_rows(|list| (list.ix(), words_of_docs(&list.functions())))?);
            Ok(())
        },
    )?;
    Ok(words)
}

/// The words of docs, in lower case.
fn words_of_docs(functions: &[Value]) -> FxHashSet<String> {
    let text = Value::Array(functions.to_vec()).to_string().to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Counts of variants: kept, requests that have some, and dropped.
#[derive(Debug, Default, Serialize, Deserialize)]
struct VariantCounts {
    kept: usize,
    of: usize,
    dropped: usize,
}

/// The name of the note with [`VariantCounts`].
const VARIANTS_NOTE: &str = "variants";
/// The name of the note about the vectors in the search for variants.
const VARIANTS_EMBEDDER: &str = "embedder_of_variants";

#[cfg(test)]
mod tests;
