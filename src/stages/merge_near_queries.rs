//! Merges requests that ask the same of the same functions.
//!
//! Two requests are compared only within a scope (the doc list, by default) and only when
//! everything but the last user message is equal: another system prompt or history can
//! change the right answer. Then the last user messages are held against each other:
//! equal after normalisation, else ROUGE-L, else cosine of embeddings, each with its own
//! gate. The earliest request stays; every merged one has a direct score with it.
//!
//! All measures see the normalised text, so requests that are equal after normalisation
//! have equal scores with everything else.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::Settings;
use crate::conversation::{Message, Role};
use crate::engine::columns::MESSAGES;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::{Context, Contract, Evidence, Metric, Reason, RowIx, Stage, TableId};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::similarity::embed::Embedder;
use crate::similarity::embed::name::Chosen;
use crate::similarity::embed::scopes::{Used, judge_scopes};
use crate::similarity::queries::{By, Gates, Near, merge_queries};
use crate::text::normal::normalise_query;
use crate::text::rouge::Threshold;

/// The reason code of queries that are equal after normalisation; their answers may stand for one another.
pub const SAME_CODE: &str = "query/same";
/// The reason code of queries of nearly the same words.
pub const NEAR_COPY_CODE: &str = "query/near-copy";
/// The reason code of queries of nearly the same embedding.
pub const SIMILAR_CODE: &str = "query/similar";

static SAME: Reason = Reason::policy(
    SAME_CODE,
    "An earlier request asks the same, but for case, blanks and final punctuation.",
);
static NEAR_COPY: Reason =
    Reason::policy(NEAR_COPY_CODE, "An earlier request asks the same in nearly the same words.");
static SIMILAR: Reason =
    Reason::policy(SIMILAR_CODE, "An earlier request's query has nearly the same embedding.");

/// Within what requests are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Requests of one doc list.
    DocList,
    /// All requests.
    Global,
}

/// A threshold, or `"off"`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number from 0 to 1 or \"off\"")]
pub enum Gate {
    /// Never opens.
    Word(Off),
    /// The threshold.
    At(f64),
}

/// The word `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Off {
    /// Off.
    Off,
}

impl Gate {
    pub(super) fn threshold(self) -> Option<f64> {
        match self {
            Self::Word(Off::Off) => None,
            Self::At(threshold) => Some(threshold),
        }
    }
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeNearQueries {
    /// Within what requests are compared.
    pub scope: Scope,
    /// Whether queries that are equal after normalisation merge.
    pub equal: bool,
    /// ROUGE-L F1 from 0 to 1 above which two queries are one, or "off". Higher keeps more requests.
    pub rouge_l: Gate,
    /// Cosine from 0 to 1 from which on two queries are one, or "off". Higher keeps more requests.
    pub cosine: Gate,
    /// What turns a query into a vector: `hashed`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]`, `endpoint:MODEL`
    /// (queries leave the machine) or `file:PATH.parquet`. The cosine must fit it.
    pub embedder: Chosen,
}

impl Default for MergeNearQueries {
    fn default() -> Self {
        Self {
            scope: Scope::DocList,
            equal: true,
            rouge_l: Gate::At(0.8),
            cosine: Gate::At(0.85),
            embedder: Chosen::default(),
        }
    }
}

impl Settings for MergeNearQueries {
    const NAME: &'static str = "merge-near-queries";
    const SUMMARY: &'static str =
        "Merges requests that ask the same of the same functions, by words and by embeddings.";
    const LEFT: &'static str = "after merging similar queries";
    fn examples() -> Vec<Example> {
        vec![
            Example::tables(
                SAME_CODE,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Ring the noon bell."}]}, {"messages": [{"role": "user", "content": "ring  the noon bell"}]}]}"#,
                r#"{"requests": [{"messages": [{"role": "system", "content": "It is May."}, {"role": "user", "content": "Ring the noon bell."}]}, {"messages": [{"role": "user", "content": "Ring the noon bell."}]}]}"#,
            ),
            Example::tables(
                NEAR_COPY.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Ring the noon bell of the old town church"}]}, {"messages": [{"role": "user", "content": "Please ring the noon bell of the old town church"}]}]}"#,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Ring the noon bell of the old town church"}]}, {"messages": [{"role": "user", "content": "Stop the bells, a baby sleeps next door"}]}]}"#,
            ),
            Example::tables(
                SIMILAR.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "noon bell, old town church: ring it three times"}]}, {"messages": [{"role": "user", "content": "ring it three times: noon bell, old town church"}]}]}"#,
                r#"{"requests": [{"messages": [{"role": "user", "content": "noon bell, old town church: ring it three times"}]}, {"messages": [{"role": "user", "content": "how tall is the tower of the harbour light?"}]}]}"#,
            ),
        ]
    }

    fn check(&self) -> Result<(), String> {
        check_gates(&[("rouge_l", self.rouge_l), ("cosine", self.cosine)])?;
        self.embedder.name().check_for_texts()
    }
}

/// What a request is compared by.
struct Asked {
    /// The scope and everything but the last user message.
    group: u128,
    /// The normalised last user message.
    query: String,
}

impl Stage for MergeNearQueries {
    fn contract(&self) -> Contract {
        Contract {
            table: TableId::Requests,
            reads: vec![MESSAGES],
            reads_if_there: vec![],
            writes: vec![],
            reasons: vec![&SAME, &NEAR_COPY, &SIMILAR],
            merges: true,
            idempotent: true,
            sends_rows_out: self.cosine.threshold().is_some() && self.embedder.name().sends_texts_out(),
        }
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        if let Some(embedder) = self.embedder()? {
            fingerprint.part("embedder", embedder.id().as_bytes());
        }
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let twins = self.twins(view, cx)?;
        let groups = self.groups(view, cx, &twins)?;
        let near = self.near(&groups, cx, out)?;
        for row in view.rows() {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let first = twins.get(&row).copied().unwrap_or(row);
            match near.get(&first) {
                Some(goes) => out.merge(row, goes.into, goes.reason, goes.evidence.clone())?,
                None if first != row => out.merge(row, first, &SAME, Evidence::default())?,
                None => {}
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

/// The words of a gate that is out of range, for a message.
pub(super) fn check_gates(gates: &[(&str, Gate)]) -> Result<(), String> {
    for (key, gate) in gates {
        if let Some(threshold) = gate.threshold().filter(|threshold| Threshold::try_from(*threshold).is_err())
        {
            return Err(format!("{key} must be from 0 to 1 or \"off\", not {threshold}"));
        }
    }
    Ok(())
}

/// Where a query goes, and why.
struct Goes {
    into: RowIx,
    reason: &'static Reason,
    evidence: Evidence,
}

impl MergeNearQueries {
    /// For each request that is equal to an earlier one: the earliest.
    fn twins(&self, view: &View<'_>, cx: &Context<'_>) -> Result<FxHashMap<RowIx, RowIx>> {
        let mut twins = FxHashMap::default();
        if !self.equal {
            return Ok(twins);
        }
        let mut keys: Vec<(u32, RowIx, u128)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let batch_keys = batch.map_rows(|row| {
                let asked = self.asked(row, view)?;
                let mut key = Xxh3::new();
                key.update(&asked.group.to_le_bytes());
                key.update(asked.query.as_bytes());
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

    /// The requests that are left, in groups within which they are compared, each in canonical order.
    fn groups(
        &self,
        view: &View<'_>,
        cx: &Context<'_>,
        twins: &FxHashMap<RowIx, RowIx>,
    ) -> Result<Vec<Vec<(RowIx, String)>>> {
        let mut by_key: FxHashMap<u128, Vec<(RowIx, String)>> = FxHashMap::default();
        view.for_each_batch(cx, |batch| {
            let asked = batch
                .map_rows(|row| if twins.contains_key(&row.ix()) { None } else { self.asked(row, view) })?;
            for (&row, asked) in batch.rows().iter().zip(asked) {
                if let Some(asked) = asked {
                    by_key.entry(asked.group).or_default().push((row, asked.query));
                }
            }
            Ok(())
        })?;
        let mut groups: Vec<Vec<(RowIx, String)>> =
            by_key.into_values().filter(|group| group.len() > 1).collect();
        for group in &mut groups {
            group.sort_unstable_by_key(|(row, _)| view.position(*row));
        }
        groups.sort_unstable_by_key(|group| view.position(group[0].0));
        Ok(groups)
    }

    /// What a request is compared by; nothing where the user says nothing.
    fn asked(&self, row: Row<'_>, view: &View<'_>) -> Option<Asked> {
        let (mut context, query) = asked(row.json(MESSAGES).unwrap_or_default())?;
        if self.scope == Scope::DocList {
            context.push_str(&format!(" {}", view.list_of(row.ix())));
        }
        Some(Asked { group: xxh3_128(context.as_bytes()), query })
    }

    /// What makes the vectors; nothing where no cosine is asked for.
    fn embedder(&self) -> Result<Option<&dyn Embedder>> {
        Ok(if self.cosine.threshold().is_some() { Some(self.embedder.open()?) } else { None })
    }

    /// Where the queries of the groups go.
    fn near(
        &self,
        groups: &[Vec<(RowIx, String)>],
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<FxHashMap<RowIx, Goes>> {
        let rouge_l = self.rouge_l.threshold().and_then(|threshold| Threshold::try_from(threshold).ok());
        let gates = Gates { rouge_l, cosine: self.cosine.threshold() };
        let scopes: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(|(_, query)| query.as_str()).collect()).collect();
        let cancelled = || cx.cancelled();
        let (merges, used) = judge_scopes(&scopes, self.embedder()?, &cancelled, |_, queries, vectors| {
            merge_queries(queries, vectors, gates, &cancelled)
        })?;
        if let Some(used) = used {
            out.note(Used::NOTE, used.note());
        }
        let goes = |group: &[(RowIx, String)], at: usize, near: Option<Near>| {
            let near = near?;
            let (reason, metric) = match near.by {
                By::Words(tokenizer) => (&NEAR_COPY, Metric::RougeLF1(tokenizer)),
                By::Vectors => (&SIMILAR, Metric::Cosine),
            };
            let evidence = Evidence::score(metric, near.score);
            Some((group[at].0, Goes { into: group[near.leader].0, reason, evidence }))
        };
        let of_group = |(group, merges): (&Vec<(RowIx, String)>, Vec<Option<Near>>)| {
            merges.into_iter().enumerate().filter_map(|(at, near)| goes(group, at, near)).collect::<Vec<_>>()
        };
        Ok(groups.iter().zip(merges).flat_map(of_group).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::stages::kind;

    #[test]
    fn rows_leave_the_machine_only_where_a_server_is_asked_for_vectors() {
        for stage in ["merge-near-queries", "drop-baseline-overlap"] {
            let sends = |settings| kind(stage).unwrap().with_settings(settings).contract().sends_rows_out;
            assert!(sends("embedder = 'endpoint:m'"));
            assert!(!sends("embedder = 'endpoint:m', cosine = 'off'"));
            assert!(!sends("embedder = 'local:m'") && !sends(""));
        }
    }

    #[test]
    fn an_embedder_that_no_stage_can_use_is_refused_with_its_settings() {
        let build = |settings: &str| {
            let table = format!("{{ embedder = '{settings}' }}");
            (kind("merge-near-queries").unwrap().build)(toml::de::ValueDeserializer::parse(&table).unwrap())
                .err()
        };
        assert!(build("file:rows.npy").unwrap().to_string().contains("by text, not by row"));
        assert!(build("word2vec").unwrap().to_string().contains("embedder must be `hashed`"));
        assert!(build("local:no/such/folder").is_none());
    }
}
