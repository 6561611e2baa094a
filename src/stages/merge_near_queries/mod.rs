//! Merges requests that ask the same of the same functions.
//!
//! Two requests are compared only within a scope (the doc list, by default) and only when
//! everything but the last user message is equal: another system prompt or history can
//! change the right answer. Then the last user messages are held against each other:
//! equal after normalisation, else ROUGE-L, else cosine of embeddings, each with its own
//! gate. Of copies the earliest whose record holds a call stays, else the earliest; every merged
//! one has a direct score with it.
//!
//! Near words can ask for something else: another city, 10 for 50, "not". Only requests with
//! the same specifics (`text::specifics`), and without recorded calls that differ, are copies;
//! with an embedder that knows meaning, other words with the same numbers and negations, too.
//! The others that are near are variants: they stay, up to so many of one request.
//!
//! All measures see the normalised text, so requests that are equal after normalisation
//! have equal scores with everything else.

mod examples;
pub mod gates;

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{Notes, Settings};
use crate::answers::recorded::{Recorded, recorded};
use crate::cells::TypedCells as _;
use crate::columns::{FINISH_REASON, LIST_VARIANT_OF, MESSAGES, RESPONSE, STATUS, VARIANT_OF};
use crate::conversation::{Message, Role};
use crate::docs::canonical;
use crate::embed::Embedder;
use crate::embed::name::Chosen;
use crate::embed::scopes::{Used, judge_scopes};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::estimate::Estimate;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Evidence, Likeness, Metric, Reason, RowIx, TableId};
use crate::environment::Environment;
use crate::similarity::queries::{By, Gates, Near, merge_queries};
use crate::text::normal::normalise_query;
use crate::text::rouge::Threshold;
use crate::text::specifics::{fixed_points, specifics};
use gates::{Gate, check_gates, goes_by_meaning};

/// The reason code of queries that are equal after normalisation; their answers may stand for one another.
const SAME_CODE: &str = "query/duplicate";
/// The reason code of queries of nearly the same words.
const NEAR_COPY_CODE: &str = "query/near-duplicate";
/// The reason code of queries that are near by their vectors.
const SIMILAR_CODE: &str = "query/similar";

/// The reason code of variants beyond the most that are kept.
const VARIANT_CODE: &str = "query/variant";

static SAME: Reason = Reason::policy(
    SAME_CODE,
    "An earlier request asks the same, but for case, blanks and final punctuation.",
)
.of_likeness(Likeness::Equal);
static NEAR_COPY: Reason =
    Reason::policy(NEAR_COPY_CODE, "Another request asks the same in nearly the same words.")
        .of_likeness(Likeness::NearCopy);
static SIMILAR: Reason = Reason::policy(
    SIMILAR_CODE,
    "Another request's query is near by vectors: similar wording (hashed n-grams), or nearly the same embedding (a model).",
)
.of_likeness(Likeness::Similar);

static VARIANT: Reason = Reason::policy(
    VARIANT_CODE,
    "Another request asks for something else in nearly the same words, and it has as many variants as are kept.",
);

/// What the vectors of `hashed` are called.
pub const N_GRAMS: &str = "hashed n-grams";

/// Within what requests are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Requests of one doc list.
    DocList,
    /// All requests.
    Global,
}

/// Variants of one request that are kept unless the settings say otherwise.
const MAX_VARIANTS: usize = 20;

/// What becomes of variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variants {
    /// They stay, up to `max_variants` of one request.
    Keep,
    /// They are merged like copies.
    Merge,
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeNearQueries {
    /// Within what requests are compared.
    pub scope: Scope,
    /// Whether queries that are equal after normalisation merge.
    pub exact: bool,
    /// ROUGE-L F1 from 0 to 1 above which two queries are one, or "off". Higher keeps more requests.
    pub rouge_l: Gate,
    /// Cosine from 0 to 1 from which on two queries are one, or "off". Higher keeps more requests.
    pub cosine: Gate,
    /// What turns a query into a vector: `hashed`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]`, `endpoint:MODEL`
    /// (queries leave the machine) or `file:PATH.parquet`. The cosine must fit it.
    pub embedder: Chosen,
    /// What becomes of requests of nearly the same words that ask for something else: "keep" or "merge".
    pub variants: Variants,
    /// Most variants of one request that are kept; the later ones are dropped.
    pub max_variants: usize,
}

impl Default for MergeNearQueries {
    fn default() -> Self {
        Self {
            scope: Scope::DocList,
            exact: true,
            rouge_l: Gate::At(0.8),
            cosine: Gate::At(0.85),
            embedder: Chosen::default(),
            variants: Variants::Keep,
            max_variants: MAX_VARIANTS,
        }
    }
}

impl Settings for MergeNearQueries {
    const NAME: &'static str = "merge-near-queries";
    const SUMMARY: &'static str =
        "Merges requests that ask the same of the same functions, by words and by embeddings.";
    const LEFT: &'static str = "similar queries merged";

    fn left(&self, _: &Notes) -> Cow<'static, str> {
        let is_compared = [self.cosine, self.rouge_l].map(|gate| gate.threshold().is_some());
        match (is_compared, self.embedder.name().model()) {
            ([true, _], Some(model)) => {
                format!("similar queries merged (wording or embedding: {model})").into()
            }
            ([true, _], None) => format!("similar queries merged ({N_GRAMS})").into(),
            ([false, true], _) => "similar queries merged (ROUGE-L)".into(),
            ([false, false], _) if self.exact => "equal queries merged".into(),
            ([false, false], _) => "queries not compared: every measure is off".into(),
        }
    }

    fn sentence(&self, reason: &'static Reason) -> Cow<'static, str> {
        match (reason.code, self.embedder.name().model()) {
            (SIMILAR_CODE, None) => "Another request's query is of similar wording (hashed n-grams).".into(),
            (SIMILAR_CODE, Some(model)) => {
                format!("Another request's query has nearly the same embedding ({model}).").into()
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
    /// What its vectors are: hashed n-grams, or embeddings of a model. Nothing where they are not asked for.
    pub fn vectors_told(&self) -> Option<String> {
        let told = || {
            let model = self.embedder.name().model();
            model.map_or_else(|| N_GRAMS.to_owned(), |model| format!("embeddings of {model}"))
        };
        self.cosine.threshold().map(|_| told())
    }
}

/// What a request is compared by.
struct Asked {
    /// The scope and everything but the last user message.
    group: u128,
    /// The normalised last user message.
    query: String,
    /// What it is about, and what its copies share of that, as hashes.
    specifics: u128,
    shared: u128,
    /// The calls of its record, as a hash; nothing where it holds none that can be read.
    calls: Option<u128>,
}

impl Stage for MergeNearQueries {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Key)
            .reads([MESSAGES])
            .reads_if_there([RESPONSE, FINISH_REASON, STATUS, LIST_VARIANT_OF])
            .writes([VARIANT_OF])
            .reasons([&SAME, &NEAR_COPY, &SIMILAR, &VARIANT])
            .merges()
            .sends_rows_out(self.cosine.threshold().is_some() && self.embedder.name().sends_texts_out())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(6);
        if let Some(embedder) = self.embedder()? {
            fingerprint.built_in("embedder", &embedder.id());
        }
        Ok(())
    }

    fn keys(&self, view: &View<'_>, cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
        let families = families(view, cx)?;
        let mut keys: Vec<(RowIx, u128)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let groups = batch.map_rows(|row| {
                self.group_and_query(row, view, Some(&families)).map(|(group, _, _)| group)
            })?;
            keys.extend(batch.rows().iter().zip(groups).filter_map(|(&row, group)| Some((row, group?))));
            Ok(())
        })?;
        Ok(Some(keys))
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name != VARIANTS_NOTE {
            return Used::join(&notes);
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
        // Each request is compared by one text, and a text that several have is sent once.
        let sends = self.contract().sends_rows_out;
        if sends { Estimate::one_call_a_row(view.rows().count()) } else { Estimate::default() }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let families = families(view, cx)?;
        let twins = self.twins(view, cx)?;
        let asked = self.all_asked(view, cx, &twins, &families)?;
        let keeps_variants = self.variants == Variants::Keep;
        let by_meaning = goes_by_meaning(self.cosine, &self.embedder);
        let key = |asked: &Asked| (asked.group, if keeps_variants { asked.shared } else { 0 });
        let mut vectors = Vec::new();
        let mut copies = self.near(&groups(&asked, |_| true, key), cx, &mut vectors)?;
        let mut over = FxHashMap::default();
        if keeps_variants {
            let calls: FxHashMap<RowIx, u128> =
                asked.iter().filter_map(|(row, asked)| Some((*row, asked.calls?))).collect();
            let are_answered_alike = |one: RowIx, other: RowIx| {
                let [own, others] = [one, other].map(|row| calls.get(&row));
                // Under other docs a request without a call may be one that they do not fit.
                let has_other_docs = view.list_of(one) != view.list_of(other);
                own == others || (!has_other_docs && (own.is_none() || others.is_none()))
            };
            let specifics: FxHashMap<RowIx, u128> =
                asked.iter().map(|(row, asked)| (*row, asked.specifics)).collect();
            copies.retain(|&row, near| {
                let is_paraphrase = by_meaning && matches!(near.by, By::Vectors);
                are_answered_alike(row, near.to) && (is_paraphrase || specifics[&row] == specifics[&near.to])
            });
            let left = groups(&asked, |row| !copies.contains_key(&row), |asked| (asked.group, 0));
            let near = self.near(&left, cx, &mut vectors)?;
            over = self.keep_variants(&left, &near, view, out)?;
        }
        // First those that copies were found by, then those of variants; the first name is the one that reports look for.
        for (name, note) in [Used::NOTE, VARIANTS_EMBEDDER].into_iter().zip(vectors) {
            out.note(name, note);
        }
        for row in view.rows() {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let first = twins.get(&row).copied().unwrap_or(row);
            let copy = copies.get(&first);
            // What is left out takes its copies with it.
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

/// Everything but the last user message, and that message in its normal form; nothing where the user says nothing.
pub(super) fn asked(mut messages: Vec<Message>) -> Option<(String, String)> {
    let last_user = messages.iter().rposition(|message| message.role == Role::User)?;
    let query = normalise_query(&messages.remove(last_user).content);
    let mut context = serde_json::to_string(&messages).expect("messages are plain data");
    // The place counts too: the same words said after the question are not said before it.
    context.push_str(&format!(" {last_user}"));
    Some((context, query))
}

/// A request that another is near to, and by what.
#[derive(Debug, Clone, Copy)]
struct NearTo {
    to: RowIx,
    by: By,
    score: f64,
}

impl NearTo {
    fn reason(&self) -> &'static Reason {
        match self.by {
            By::Words(_) => &NEAR_COPY,
            By::Vectors => &SIMILAR,
        }
    }

    fn evidence(&self) -> Evidence {
        let metric = match self.by {
            By::Words(tokenizer) => Metric::RougeLF1(tokenizer),
            By::Vectors => Metric::Cosine,
        };
        Evidence::score(metric, self.score)
    }
}

/// The family of each kept list, as a hash; nothing of a list that has none.
type Families<'a> = Parents<'a, Option<u128>>;

fn families<'a>(view: &View<'a>, cx: &Context<'_>) -> Result<Families<'a>> {
    view.parents(cx, |list| list.text(LIST_VARIANT_OF).map(|family| xxh3_128(family.as_bytes())))
}

/// The wanted requests of a table in groups within which they are compared: those with calls first, each half in canonical order.
fn groups<K: Eq + std::hash::Hash>(
    asked: &[(RowIx, Asked)],
    wanted: impl Fn(RowIx) -> bool,
    key: impl Fn(&Asked) -> K,
) -> Vec<Vec<&(RowIx, Asked)>> {
    let mut places: FxHashMap<K, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<&(RowIx, Asked)>> = Vec::new();
    for request in asked.iter().filter(|(row, _)| wanted(*row)) {
        let place = *places.entry(key(&request.1)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(request);
    }
    groups.retain(|group| group.len() > 1);
    for group in &mut groups {
        group.sort_by_key(|(_, asked)| asked.calls.is_none());
    }
    groups
}

impl MergeNearQueries {
    /// For each request that is equal to an earlier one: the earliest.
    fn twins(&self, view: &View<'_>, cx: &Context<'_>) -> Result<FxHashMap<RowIx, RowIx>> {
        let mut twins = FxHashMap::default();
        if !self.exact {
            return Ok(twins);
        }
        let mut keys: Vec<(u32, RowIx, u128)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let batch_keys = batch.map_rows(|row| {
                let (group, _, query) = self.group_and_query(row, view, None)?;
                let mut key = Xxh3::new();
                key.update(&group.to_le_bytes());
                key.update(query.as_bytes());
                Some(key.digest128())
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

    /// What the requests are compared by that are no twins, in canonical order.
    fn all_asked(
        &self,
        view: &View<'_>,
        cx: &Context<'_>,
        twins: &FxHashMap<RowIx, RowIx>,
        families: &Families<'_>,
    ) -> Result<Vec<(RowIx, Asked)>> {
        let mut all: Vec<(RowIx, Asked)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let asked = batch.map_rows(|row| {
                if twins.contains_key(&row.ix()) { None } else { self.asked(row, view, families) }
            })?;
            let rows = batch.rows().iter().copied();
            all.extend(rows.zip(asked).filter_map(|(row, asked)| Some((row, asked?))));
            Ok(())
        })?;
        all.sort_unstable_by_key(|(row, _)| view.position(*row));
        Ok(all)
    }

    /// The hash of the scope and of everything but the last user message, that message as sent, and in its normal form.
    fn group_and_query(
        &self,
        row: Row<'_>,
        view: &View<'_>,
        families: Option<&Families<'_>>,
    ) -> Option<(u128, String, String)> {
        let messages = row.messages();
        let last = messages.iter().rfind(|message| message.role == Role::User)?.content.clone();
        let (mut context, query) = asked(messages)?;
        if self.scope == Scope::DocList {
            let list = view.list_of(row.ix());
            let own = || xxh3_128(view.parent().row_id(list).to_string().as_bytes());
            let family = families.and_then(|families| *families.of_list(list)?).unwrap_or_else(own);
            context.push_str(&format!(" {family}"));
        }
        Some((xxh3_128(context.as_bytes()), last, query))
    }

    /// What a request is compared by; nothing where the user says nothing.
    fn asked(&self, row: Row<'_>, view: &View<'_>, families: &Families<'_>) -> Option<Asked> {
        let (group, last, query) = self.group_and_query(row, view, Some(families))?;
        let calls = match recorded(row.response().as_ref(), row.text(FINISH_REASON), row.int(STATUS)) {
            Recorded::Calls(calls) => {
                let arguments = calls.into_iter().map(|call| call.arguments).collect();
                Some(xxh3_128(canonical::value_text(&Value::Array(arguments)).as_bytes()))
            }
            _ => None,
        };
        let specifics = xxh3_128(specifics(&last).as_bytes());
        let by_meaning = goes_by_meaning(self.cosine, &self.embedder);
        let shared = if by_meaning { xxh3_128(fixed_points(&last).as_bytes()) } else { specifics };
        Some(Asked { group, query, specifics, shared, calls })
    }

    /// What makes the vectors; nothing where no cosine is asked for.
    fn embedder(&self) -> Result<Option<&dyn Embedder>> {
        Ok(if self.cosine.threshold().is_some() { Some(self.embedder.open()?) } else { None })
    }

    /// The requests of the groups that are near an earlier one of their group; `notes` gets what vectors were used.
    fn near(
        &self,
        groups: &[Vec<&(RowIx, Asked)>],
        cx: &Context<'_>,
        notes: &mut Vec<Value>,
    ) -> Result<FxHashMap<RowIx, NearTo>> {
        let rouge_l = self.rouge_l.threshold().and_then(|threshold| Threshold::try_from(threshold).ok());
        let gates = Gates { rouge_l, cosine: self.cosine.threshold() };
        let scopes: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.iter().map(|(_, asked)| asked.query.as_str()).collect())
            .collect();
        let cancelled = || cx.cancelled();
        let (merges, used) = judge_scopes(&scopes, self.embedder()?, &cancelled, |_, queries, vectors| {
            merge_queries(queries, vectors, gates, &cancelled)
        })?;
        notes.extend(used.map(|used| used.note()));
        let mut near = FxHashMap::default();
        for (group, merges) in groups.iter().zip(merges) {
            for (request, merge) in group.iter().zip(merges) {
                if let Some(Near { leader, by, score }) = merge {
                    near.insert(request.0, NearTo { to: group[leader].0, by, score });
                }
            }
        }
        Ok(near)
    }

    /// Notes the variants that stay; gives those that are too many.
    fn keep_variants(
        &self,
        groups: &[Vec<&(RowIx, Asked)>],
        near: &FxHashMap<RowIx, NearTo>,
        view: &View<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<FxHashMap<RowIx, NearTo>> {
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

/// How many variants were kept, of how many requests, and how many were too many.
#[derive(Debug, Default, Serialize, Deserialize)]
struct VariantCounts {
    kept: usize,
    of: usize,
    dropped: usize,
}

/// The note that says how many variants were kept, of how many requests, and how many were too many.
const VARIANTS_NOTE: &str = "variants";
/// The note of the vectors that variants were found by.
const VARIANTS_EMBEDDER: &str = "embedder_of_variants";

#[cfg(test)]
mod tests;
