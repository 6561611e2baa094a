//! The judgement of a language model: which requests it is asked about, and what its answers decide.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::{Judge, JudgeQueries, Judgement, Lists, Request};
use crate::columns::{RELEVANCE, RELEVANCE_BASIS};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, RowIx};
use crate::relevance::asked::{Asked, Ballot, Vote, ballot, basis};
use crate::relevance::operating::JudgedBy;
use crate::stages::asking::{Sample, ask};

pub(super) static OPEN_VOTE: Reason =
    Reason::policy("relevance/open-vote", "The answers of the language model disagree, or leave it open.");

pub(super) static NO_JUDGEMENT: Reason =
    Reason::fault("relevance/no-judgement", "The language model gave no usable answer about the request.");

/// Returns the examples of the two reasons.
pub(super) fn examples() -> [Example; 2] {
    macro_rules! replies {
        ($replies:literal) => {
            concat!(
                r#"{"doc_lists": [{"functions": [{"name": "ring_bell", "description": "Rings a bell of the tower.", "#,
                r#""parameters": {"type": "dict", "required": [], "properties": {}}}]}], "requests": [{"messages": ["#,
                r#"{"role": "user", "content": "Could you let the noon bell ring?"}]}], "replies": ["#,
                $replies,
                "]}"
            )
        };
    }
    const FITS: &str = replies!(
        r#"{"reason": "Ringing is asked.", "quote": "let the noon bell ring", "criterion": "function-fits", "verdict": "relevant"}"#
    );
    const UNSURE: &str = replies!(
        r#"{"reason": "Which bell?", "quote": "the noon bell", "criterion": "unsure", "verdict": "unsure"}"#
    );
    const SETTINGS: &str = "judge = \"llm\", model = \"m\"";
    [
        Example::tables(OPEN_VOTE.code, UNSURE, FITS).with_settings(SETTINGS),
        Example::tables(NO_JUDGEMENT.code, replies!("null"), FITS).with_settings(SETTINGS),
    ]
}

/// What the language model decided on a request.
pub(super) struct ByModel {
    ballot: Ballot,
    basis: Value,
}

impl ByModel {
    /// Writes the label, or holds the request.
    pub(super) fn apply(&self, row: RowIx, out: &mut Verdict<'_>) -> Result<()> {
        match &self.ballot {
            Ballot::Decided(relevance, _) => out.set(row, RELEVANCE, relevance.name())?,
            Ballot::Open => out.hold(row, &OPEN_VOTE, Evidence::detail(self.basis.clone()))?,
            Ballot::Failed(message) => out.fail(row, &NO_JUDGEMENT, message)?,
        }
        out.set(row, RELEVANCE_BASIS, self.basis.to_string())
    }
}

impl JudgeQueries {
    /// Asks about the requests that the settings leave to the language model, and returns what it decided by row.
    pub(super) fn ask(
        &self,
        judgements: &[(RowIx, Judgement)],
        requests: &FxHashMap<RowIx, Request>,
        lists: &Lists<'_>,
        view: &View<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<FxHashMap<RowIx, ByModel>> {
        let mut decided = FxHashMap::default();
        let Some(model) = self.model.as_deref().filter(|_| self.judge != Judge::Rules) else {
            return Ok(decided);
        };
        let is_open = |judgement: &Judgement| match self.judge {
            Judge::Rules => false,
            Judge::Llm => judgement.judged_by != JudgedBy::Person,
            Judge::RulesThenLlm => judgement.relevance.is_none(),
        };
        let rows: Vec<RowIx> =
            judgements.iter().filter(|(_, judgement)| is_open(judgement)).map(|(row, _)| *row).collect();
        let texts = |row: &RowIx| Asked::new(lists.functions(view.list_of(*row)), &requests[row].messages);
        let rows_without = (judgements.len() - rows.len()) as u64;
        let make = |row: &RowIx| {
            let samples =
                |asked: Asked| (0..self.samples).map(|at| asked.request(model, at, self.samples)).collect();
            texts(row).map(samples).unwrap_or_default()
        };
        let mut usage = ask(cx, &rows, make, |row, samples, usage| {
            let asked = texts(row);
            let votes: Vec<std::result::Result<Vote, String>> = match &asked {
                Some(asked) => samples.into_iter().map(|sample| vote(asked, sample, usage)).collect(),
                None => {
                    vec![Err("the functions and the conversation are too long to be asked about".to_owned())]
                }
            };
            let ballot = ballot(&votes);
            let mut basis = basis(model, &votes, &ballot);
            basis["evidence"] = json!(requests[row].evidence.to_json());
            decided.insert(*row, ByModel { ballot, basis });
            Ok(())
        })?;
        usage.rows_without = rows_without;
        out.note(USAGE_NOTE, json!(usage));
        Ok(decided)
    }
}

/// Reads the vote of one sample, and counts what cannot be used.
fn vote(asked: &Asked, (outcome, cost): Sample, usage: &mut ModelUsage) -> std::result::Result<Vote, String> {
    let answer = outcome.map_err(|why| why.describe())?;
    asked.vote(&answer).map_err(|why| {
        usage.unusable += 1;
        if let Some(cost) = cost {
            usage.wasted_cost = Some(usage.wasted_cost.unwrap_or(0.0) + cost);
        }
        why.to_owned()
    })
}
