//! The judgement of a language model: which requests it is asked about, and what its answers decide.

use rustc_hash::FxHashMap;
use serde_json::json;

use super::{Judge, JudgeQueries, Lists, Request};
use crate::columns::{RELEVANCE, RELEVANCE_BASIS};
use crate::engine::context::Context;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::language_model::USAGE_NOTE;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, RowIx};
use crate::prompts::judging::{Asked, Ballot};
use crate::relevance::operating::JudgedBy;
use crate::stages::asking::{Asking, Judgement, judge};

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

/// Writes what the language model decided on a request: its label, or that it is held.
pub(super) fn apply(row: RowIx, judgement: &Judgement, out: &mut Verdict<'_>) -> Result<()> {
    match &judgement.ballot {
        Ballot::Decided(criterion) => out.set(row, RELEVANCE, criterion.verdict)?,
        Ballot::Open => out.hold(row, &OPEN_VOTE, Evidence::detail(judgement.basis.clone()))?,
        Ballot::Failed(message) => out.fail(row, &NO_JUDGEMENT, message)?,
    }
    out.set(row, RELEVANCE_BASIS, judgement.basis.to_string())
}

impl JudgeQueries {
    /// Asks about the requests that the settings leave to the language model, and returns what it decided by row.
    pub(super) fn ask(
        &self,
        by_rules: &[(RowIx, super::Judgement)],
        requests: &FxHashMap<RowIx, Request>,
        lists: &Lists<'_>,
        view: &View<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<FxHashMap<RowIx, Judgement>> {
        let mut decided = FxHashMap::default();
        let Some(model) = self.model.as_deref().filter(|_| self.judge != Judge::Rules) else {
            return Ok(decided);
        };
        let is_open = |judgement: &super::Judgement| match self.judge {
            Judge::Rules => false,
            Judge::Llm => judgement.judged_by != JudgedBy::Person,
            Judge::RulesThenLlm => judgement.relevance.is_none(),
        };
        let rows = by_rules.iter().filter(|(_, judgement)| is_open(judgement)).map(|(row, _)| *row);
        let rows: Vec<RowIx> = rows.collect();
        let texts =
            |row: &RowIx| Asked::request(lists.functions(view.list_of(*row)), &requests[row].messages);
        let measured = self.measured_soft_votes(model).map_err(Error::Setting)?;
        let asking = Asking { model, samples: self.samples, soft_votes: measured.as_ref() };
        let mut usage = judge(cx, &rows, asking, texts, |row, mut judgement| {
            judgement.basis["evidence"] = requests[row].evidence.to_json();
            decided.insert(*row, judgement);
        })?;
        usage.rows_without = (by_rules.len() - rows.len()) as u64;
        out.note(USAGE_NOTE, json!(usage));
        Ok(decided)
    }
}
