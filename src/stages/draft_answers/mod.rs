//! Drafts the answer of each request from the recorded calls, with a tier for its reliability.
//!
//! A recorded call is matched with the current docs of the request: names are mapped to the
//! current ones, values are converted if that is lossless, and a request whose call does not fit
//! the docs is held with the fault. The tier is the source of an answer: `human` (a decision),
//! `outcome` (the log shows that the call worked), `recorded` (only the logged model supports
//! it). Requests that are equal after normalisation share their answers; the best tier wins.
//!
//! A request that was judged to need no call gets no recorded answer, and is not held if its
//! recorded call does not fit. An answer by a person is always used; `split` reports the
//! contradiction.
//!
//! Where equal requests have different answers that fit, the others are suggested: as further alternatives, or as another
//! answer. A suggestion changes nothing; `held --candidates` lists them for people.
//!
//! Where the log has no answer to a request that was judged relevant, language models can draft it: see `by_model`.
//!
//! Deliberately absent: whether a request without a call needs one. See `judge_queries`.

mod asked_for;
mod by_model;
mod candidate;
mod docs;
mod examples;
mod other_answers;

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Settings, asking};
use crate::answers::fault::{AnswerError, AnswerFault};
use crate::answers::human;
use crate::cells::TypedCells as _;
use crate::columns::{
    ANSWER, ANSWER_BASIS, ANSWER_FROM, ANSWER_ONLY_PLACEHOLDERS, FINISH_REASON, FUNCTIONS, MESSAGES, OUTCOME,
    RELEVANCE, RELEVANCE_BASIS, RENAMES, RESPONSE, RESPONSE_KIND, STATUS, TIER, TIME_MS,
};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::decision::{Decision, DecisionKind, Ruling};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Edit, Evidence, Likeness, Reason, RowIx, Safety, TableId};
use crate::export::tier::RECORDED;
use crate::prompts::drafting::DRAFTS;
use crate::relevance::Relevance;
use candidate::{Best, Candidate, KnownAnswers, Rank, recorded_candidate};
use docs::CurrentDocs;
use other_answers::{OTHER_ALTERNATIVES, OTHER_ANSWER, OtherAnswer, Suggestion};

static REFUTED: Reason = Reason::policy(
    "answer/refuted",
    "The log shows that the recorded call failed or was corrected, and has no better one.",
);
static SEVERAL_STEPS: Reason = Reason::policy(
    "answer/several-steps",
    "The agent made further calls for the same question, so the recorded calls are not the complete answer.",
);
static VALUE_NOT_IN_REQUEST: Reason = Reason::policy(
    "answer/value-not-in-request",
    "The recorded call contains a personal value that is neither in the conversation nor in the docs, so no model can produce it.",
);
static CARRY: LazyLock<Vec<(AnswerFault, Reason)>> = LazyLock::new(|| {
    // The parser of recorded answers excludes these two: there is a call, and its arguments are an object.
    let is_possible =
        |fault: &AnswerFault| !matches!(fault, AnswerFault::NoCall | AnswerFault::ArgumentsNotAnObject);
    let reason = |fault: AnswerFault| (fault, Reason::policy(fault.code(), fault.what()));
    AnswerFault::ALL.into_iter().filter(is_possible).map(reason).collect()
});

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DraftAnswers {
    /// Names of language models on the server in `OPENAI_BASE_URL`, at least two and best of different families. They draft the
    /// answers of relevant requests that the log has none for; an answer counts if all drafts agree. Without models, such
    /// requests are held.
    pub models: Vec<String>,
    /// Drafts by each model, 1 to 15. More holds more.
    pub samples: u32,
}

impl Default for DraftAnswers {
    fn default() -> Self {
        Self { models: Vec::new(), samples: asking::SAMPLES }
    }
}

impl Settings for DraftAnswers {
    const NAME: &'static str = "draft-answers";
    const SUMMARY: &'static str =
        "Drafts each request's answer from the recorded calls, with a tier for its reliability.";
    const FUNNEL_LABEL: &'static str = "failing answers held";

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.check_models()
    }
}

impl Stage for DraftAnswers {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([RESPONSE, FINISH_REASON, STATUS, OUTCOME, MESSAGES, FUNCTIONS, RENAMES])
            .reads_if_there([RELEVANCE, ANSWER_ONLY_PLACEHOLDERS, TIME_MS])
            .reads_if_there(self.asks().then_some(RELEVANCE_BASIS))
            .writes([RESPONSE_KIND, ANSWER, TIER, ANSWER_FROM, ANSWER_BASIS])
            .reasons(CARRY.iter().map(|(_, reason)| reason).chain([
                &REFUTED,
                &SEVERAL_STEPS,
                &VALUE_NOT_IN_REQUEST,
                &OTHER_ALTERNATIVES,
                &OTHER_ANSWER,
                &by_model::DRAFTS_DIFFER,
                &by_model::NO_CALL_DRAFTED,
                &by_model::NOT_ASKED_FOR,
                &by_model::ONE_MODEL,
                &by_model::NO_DRAFT,
            ]))
            .decisions([DecisionKind::Answer])
            .asks(self.models.iter().map(String::as_str))
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(21);
        if self.asks() {
            DRAFTS.fingerprint("prompt", fingerprint);
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        Self::join(name, notes)
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let docs = CurrentDocs::read(view, cx)?;
        let mut best: FxHashMap<RowIx, Best> = FxHashMap::default();
        let mut needs_no_call: FxHashSet<RowIx> = FxHashSet::default();
        let mut answer_only: FxHashMap<RowIx, Vec<String>> = FxHashMap::default();
        let wanted =
            |row: RowIx| view.head_of(row, Likeness::NearCopy).is_some_and(|head| view.is_kept(head));
        let known = KnownAnswers::default();
        view.stream(cx, wanted, |batch| {
            let candidates = batch.map_rows(|row| candidates(row, &docs, view, &known))?;
            for (&row, candidates) in batch.rows().iter().zip(candidates) {
                let Candidates { head, kind, recorded, human } = candidates;
                if head == row {
                    out.set(row, RESPONSE_KIND, kind)?;
                    if is_judged_to_need_none(batch.row(row)) {
                        needs_no_call.insert(row);
                    }
                }
                if let Some(placeholders) = batch.row(row).answer_only_placeholders() {
                    answer_only.insert(row, placeholders);
                }
                if let Some(answer) = human
                    && let Some(decision) = batch.row(row).decision(DecisionKind::Answer)
                {
                    out.ruling(row, ruling(decision, &answer))?;
                    // An answer to a copy counts only if it fits the docs of the head.
                    if head == row || answer.is_ok() {
                        best.entry(head).or_default().add(by_a_person(row, head, answer, view));
                    }
                }
                if let Some(candidate) = recorded {
                    best.entry(head).or_default().add(candidate);
                }
            }
            Ok(())
        })?;
        let mut without: Vec<RowIx> = Vec::new();
        for row in view.rows() {
            let candidate = best.remove(&row).and_then(Best::answer);
            if candidate.as_ref().is_none_or(|(candidate, _)| candidate.rank == Rank::None) {
                without.push(row);
            } else if let Some((candidate, mut others)) = candidate
                && (candidate.rank == Rank::Human || !needs_no_call.contains(&row))
            {
                let noted = answer_only.get(&candidate.from).filter(|_| candidate.is_from_the_log());
                let placeholders = noted.map_or_else(Vec::new, |noted| candidate.used_placeholders(noted));
                if placeholders.is_empty() {
                    // No model can produce a value that is neither in the conversation nor in the docs.
                    others.retain(|other| other.of.iter().all(|(_, from)| !answer_only.contains_key(from)));
                    suggest(row, &candidate, &others, docs.of(row), view, out)?;
                    write_answer(row, candidate, view, out)?;
                } else {
                    let evidence = Evidence::detail(json!({ "placeholders": placeholders.join(", ") }));
                    out.hold(row, &VALUE_NOT_IN_REQUEST, evidence)?;
                }
            }
        }
        self.draft(&without, &docs, view, cx, out)
    }
}

/// An answer under the current names, or why it does not fit the docs.
type Carried = std::result::Result<Vec<Value>, AnswerError>;

/// The candidate answers from one row, for the request that it is or was merged into.
struct Candidates {
    head: RowIx,
    /// The kind of the response; see the column `response_kind`.
    kind: &'static str,
    /// The recorded answer; `None` if the row is a near-duplicate only.
    recorded: Option<Candidate>,
    /// An answer by a person.
    human: Option<Carried>,
}

fn is_judged_to_need_none(row: Row<'_>) -> bool {
    let relevance = row.text(RELEVANCE).and_then(Relevance::from_name);
    matches!(relevance, Some(Relevance::Irrelevant | Relevance::LowQuality))
}

/// Writes the answer of a request, or holds the request.
fn write_answer(row: RowIx, candidate: Candidate, view: &View<'_>, out: &mut Verdict<'_>) -> Result<()> {
    let tier = match candidate.rank {
        Rank::Human => "human",
        Rank::Worked => "outcome",
        Rank::Recorded => RECORDED,
        Rank::Refuted => return out.hold(row, &REFUTED, Evidence::default()),
        Rank::SeveralSteps => return out.hold(row, &SEVERAL_STEPS, Evidence::default()),
        Rank::None => return Ok(()),
    };
    match candidate.answer {
        None => Ok(()),
        Some(Ok(answer)) => {
            out.set(row, ANSWER, Value::Array(answer).to_string())?;
            out.set(row, TIER, tier)?;
            out.set(row, ANSWER_FROM, view.row_id(candidate.from).to_string())
        }
        Some(Err(error)) => {
            let (_, reason) = CARRY
                .iter()
                .find(|(fault, _)| *fault == error.fault)
                .expect("every possible fault has a reason");
            let mut detail = json!({ "at": error.at, "found": error.message });
            if candidate.rank == Rank::Human {
                detail["answer_of"] = json!("a person");
            }
            out.hold(row, reason, Evidence::detail(detail))
        }
    }
}

/// Suggests what other answers to equal requests add to the answer of a request.
fn suggest(
    row: RowIx,
    candidate: &Candidate,
    others: &[OtherAnswer],
    functions: &[Value],
    view: &View<'_>,
    out: &mut Verdict<'_>,
) -> Result<()> {
    let Some(Ok(chosen)) = &candidate.answer else { return Ok(()) };
    let id = |row| view.row_id(row).to_string();
    let (reason, patch) = match other_answers::suggestion(functions, chosen, others, id) {
        None => return Ok(()),
        Some(Suggestion::Alternatives(patch)) => (&OTHER_ALTERNATIVES, patch),
        Some(Suggestion::Answer(patch)) => (&OTHER_ANSWER, patch),
    };
    let patch = Value::Array(patch).to_string();
    out.edit(row, Edit { column: ANSWER, reason, safety: Safety::Suggest, patch })
}

fn candidates(row: Row<'_>, docs: &CurrentDocs<'_>, view: &View<'_>, known: &KnownAnswers) -> Candidates {
    let head = view.head_of(row.ix(), Likeness::NearCopy).unwrap_or(row.ix());
    let (kind, recorded) = recorded_candidate(row, head, docs, view, known);
    // Only requests that are equal after normalisation share a recorded answer.
    let recorded = view.head_of(row.ix(), Likeness::Equal).map(|_| recorded);
    Candidates { head, kind, recorded, human: human_answer(row, view, docs) }
}

/// Returns a person's answer to a request.
fn human_answer(row: Row<'_>, view: &View<'_>, docs: &CurrentDocs<'_>) -> Option<Carried> {
    let decision = row.decision(DecisionKind::Answer)?;
    let carry = |name: &str, parameters| docs.carried(name, parameters, row.ix(), view);
    Some(human::carried(decision.body.as_array()?, docs.of(row.ix()), carry))
}

/// Returns the ruling on a person's answer.
fn ruling(decision: &Decision, answer: &Carried) -> Ruling {
    match answer {
        Ok(_) => Ruling::of(decision, Value::Null),
        Err(unfit) => Ruling::refused(
            decision,
            format!("the answer does not fit the docs: {}: {unfit}", unfit.fault.code()),
        ),
    }
}

fn by_a_person(row: RowIx, head: RowIx, answer: Carried, view: &View<'_>) -> Candidate {
    Candidate {
        rank: Rank::Human,
        // An answer to the request itself takes precedence over those to its copies.
        position: if head == row { 0 } else { view.position(row).saturating_add(1) },
        from: row,
        answer: Some(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::judged;

    #[test]
    fn a_request_that_needs_no_call_gets_no_answer_and_is_not_held() {
        let functions = json!([{"name": "ring", "description": "Rings a bell.",
            "parameters": {"type": "dict", "required": [], "properties": {}}}]);
        let request = |relevance: &str, name: &str, outcome: &str| {
            json!({"relevance": relevance, "outcome": outcome,
                "response": {"role": "assistant", "content": "", "calls": [{"name": name, "arguments": {}}]}})
        };
        let requests = [
            request("relevant", "ring", ""),
            request("irrelevant", "ring", ""),
            request("relevant", "toll", ""),
            request("irrelevant", "toll", ""),
            request("low-quality", "ring", "failed"),
        ];
        let judged = judged(
            &DraftAnswers::default(),
            &json!({"doc_lists": [{"functions": functions}], "requests": requests}),
        );
        let fates: Vec<_> = (0..5).map(|row| judged.fate(row)).collect();
        assert_eq!(fates, [None, None, Some("answer/unknown-function"), None, None]);
        let answered: Vec<_> = (0..5).map(|row| judged.cell(row, ANSWER)).collect();
        assert_eq!(answered, [Some(r#"[{"ring":{}}]"#), None, None, None, None]);
        assert!((0..5).all(|row| judged.cell(row, RESPONSE_KIND) == Some("calls")));
    }
}
