//! Drops or holds requests whose last user message is a query of a public set; calls `similarity::overlap`.
//!
//! Queries are normalised and compared by ROUGE-L. Short queries are not compared, because
//! many people write the same ones. Evidence and link name set and record, and quote nothing.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::drop_public_overlap::note;
use super::{Notes, Settings};
use crate::columns::MESSAGES;
use crate::conversation::{Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::link::{Link, Span};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Metric, Reason, RowIx, TableId};
use crate::environment::Environment;
use crate::public_sets::catalogue::recipe_sets;
use crate::public_sets::compared::{self, Missing, SETS_NOTE};
use crate::similarity::overlap;
use crate::text::normal::normalise_query;
use crate::text::rouge::Threshold;

static PUBLIC_QUERY: Reason =
    Reason::policy("overlap/public-query", "The last user message is a query of a public set.");

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropPublicQueries {
    /// Ids of public sets, as `callsieve sets list` shows them.
    pub sets: Vec<String>,
    /// The folder of sets [default: `$CALLSIEVE_SETS` or `~/.cache/callsieve/sets`].
    pub dir: Option<PathBuf>,
    #[serde(skip)]
    environment: Environment,
    /// What to do if a set is not on disk or cannot be read: "skip" continues without it and notes that, "error" stops.
    pub missing: Missing,
    /// ROUGE-L F1 from 0 to 1 above which a query counts as public. Higher keeps more requests.
    #[schemars(with = "f64")]
    pub threshold: Threshold,
    /// What to do with a request whose query is public: "drop" it, or "hold" it for a person to decide, since its docs
    /// may differ.
    pub action: OnOverlap,
    /// Minimum number of tokens of a query that is compared. Higher keeps more requests.
    pub min_tokens: usize,
}

/// The action for a request whose query is public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnOverlap {
    /// Drop the request.
    Drop,
    /// Hold the request for a person.
    Hold,
}

impl Default for DropPublicQueries {
    fn default() -> Self {
        Self {
            sets: recipe_sets(),
            dir: None,
            environment: Environment::default(),
            missing: Missing::default(),
            threshold: Threshold::try_from(0.8).expect("0.8 is a threshold"),
            action: OnOverlap::Drop,
            min_tokens: 10,
        }
    }
}

impl Settings for DropPublicQueries {
    const NAME: &'static str = "drop-public-queries";
    const SUMMARY: &'static str = "Drops or holds requests whose query is in public function-calling sets.";
    const FUNNEL_LABEL: &'static str = "no queries of public sets";
    fn funnel_label(&self, notes: &Notes) -> Cow<'static, str> {
        compared::compared_sets(notes.get(SETS_NOTE), "queries of")
            .map_or_else(|| Self::FUNNEL_LABEL.into(), Cow::from)
    }
    fn examples() -> Vec<Example> {
        vec![Example::query(
            PUBLIC_QUERY.code,
            "Please ring the great bell of the harbour tower three times at noon and log who asked for it!",
            "Ring the great bell of the harbour tower.",
        )]
    }
    fn set_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }
    fn check(&self) -> std::result::Result<(), String> {
        compared::check(&self.sets, self.dir(), self.missing).map_err(|error| error.to_string())
    }
}

impl DropPublicQueries {
    /// Returns the folder of sets.
    fn dir(&self) -> &Path {
        self.dir.as_deref().unwrap_or(self.environment.sets())
    }
}

impl Stage for DropPublicQueries {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([MESSAGES])
            .reasons([&PUBLIC_QUERY])
            .partition(Partition::Rows)
            .links()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        Ok(compared::fingerprint(&self.sets, self.dir(), fingerprint)?)
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let known = compared::open(&self.sets, self.dir(), self.missing)?;
        note(&known, cx, out);
        let known = known.queries();
        let mut distinct: Vec<String> = Vec::new();
        // For each row with a query: the index of its message, and the index of its text in `distinct`.
        let mut places: Vec<(RowIx, usize, usize)> = Vec::new();
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        view.for_each_batch(cx, |batch| {
            let queries = batch.map_rows(|row| {
                let messages = row.json::<Vec<Message>>(MESSAGES).unwrap_or_default();
                let last = messages.iter().rposition(|message| message.role == Role::User)?;
                Some((last, normalise_query(&messages[last].content)))
            })?;
            for (&row, query) in batch.rows().iter().zip(queries) {
                let Some((message, query)) = query else { continue };
                let at = *seen.entry(query).or_insert_with_key(|query| {
                    distinct.push(query.clone());
                    distinct.len() - 1
                });
                places.push((row, message, at));
            }
            Ok(())
        })?;
        let found =
            overlap::queries(&known.items, &distinct, self.min_tokens, self.threshold, &|| cx.cancelled())
                .ok_or(Error::Interrupted)?;
        for (row, message, at) in places {
            if let Some(near) = found[at] {
                let origin = &known.origins[near.known];
                let detail = json!({ "set": origin.set, "record": origin.record });
                let metric = Metric::RougeLF1(near.tokenizer);
                let evidence = Evidence { score: Some((metric, near.score)), detail: Some(Box::new(detail)) };
                let link = Link {
                    object: "query",
                    set: origin.set.clone(),
                    record: origin.record.clone(),
                    method: metric.name().to_owned(),
                    score: near.score,
                    verdict: None,
                    spans: vec![Span::value(MESSAGES, format!("/{message}/content"))],
                    record_spans: Vec::new(),
                    group: None,
                };
                out.link(row, &link)?;
                match self.action {
                    OnOverlap::Drop => out.drop(row, &PUBLIC_QUERY, evidence)?,
                    OnOverlap::Hold => out.hold(row, &PUBLIC_QUERY, evidence)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::judged;

    #[test]
    fn a_public_query_links_its_request_to_the_record_and_names_the_message() {
        let example = DropPublicQueries::examples().remove(0);
        let mut tables = example.fires.to_tables();
        let query = tables["requests"][0]["messages"][0].clone();
        tables["requests"][0]["messages"] = json!([{"role": "system", "content": "Be brief."}, query]);
        let links = judged(&DropPublicQueries::default(), &tables).delta.links;
        let [link] = &links[..] else { panic!("{links:?}") };
        assert_eq!(
            (link.row, &*link.object, &*link.set, &*link.method),
            (0, "query", "callsieve-sample", "rouge-l-f1")
        );
        let spans: Vec<Span> = serde_json::from_str(&link.spans).unwrap();
        assert_eq!(spans, [Span::value(MESSAGES, "/1/content")]);
        assert!(link.score > 0.8, "{}", link.score);
        assert!(judged(&DropPublicQueries::default(), &example.quiet.to_tables()).delta.links.is_empty());
    }
}
