//! Drafts the answer of each request from what the log recorded, and says how sure it is.
//!
//! A recorded call is read through the doc list as it stands now: renamed names follow,
//! values are cast where nothing is lost, and what does not fit the docs is held with the
//! fault. The tier tells where an answer comes from: `human` (a file), `outcome` (the log
//! shows that the call worked), `recorded` (just what the logged model said). Requests
//! that are equal after normalisation answer for one another; the best tier wins.
//!
//! A request that was judged to need no call gets no recorded answer, and is not held for one
//! that does not fit; what a person answered stands, and `split` sees the contradiction.
//!
//! Not here: whether a request without a call should have had one. That is for the judges.

mod candidate;
mod docs;
mod examples;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::merge_near_queries::{ASKS_ALIKE, SAME_CODE};
use crate::answers::fault::{CarryFault, Uncarried};
use crate::answers::human::{HumanAnswers, Unfit};
use crate::engine::columns::{
    ANSWER, ANSWER_FROM, EXTERNAL_ID, FINISH_REASON, FUNCTIONS, OUTCOME, RECORDED, RELEVANCE, RENAMES,
    RESPONSE, STATUS, TIER, UNSOURCED,
};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::partition::Partition;
use crate::engine::stage::{Context, Contract, Evidence, Reason, RowIx, Stage, TableId};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::relevance::Relevance;
use candidate::{Best, Candidate, Rank, recorded_candidate};
use docs::Docs;

static REFUTED: Reason = Reason::policy(
    "answer/refuted",
    "The log shows that the recorded call failed or was corrected, and holds no better one.",
);
static SEVERAL_STEPS: Reason = Reason::policy(
    "answer/several-steps",
    "The loop went on with further calls for the same question, so the recorded ones are not the whole answer.",
);
static UNSOURCED_VALUE: Reason = Reason::policy(
    "answer/value-not-in-request",
    "The recorded call holds a personal value that neither the conversation nor the docs hold, so no model could give it.",
);
static CARRY: LazyLock<Vec<(CarryFault, Reason)>> = LazyLock::new(|| {
    // The reader of recorded answers has seen to these two: there is a call, and its arguments are an object.
    let is_left =
        |fault: &CarryFault| !matches!(fault, CarryFault::NoCall | CarryFault::ArgumentsNotAnObject);
    let reason = |fault: CarryFault| (fault, Reason::policy(fault.code(), fault.what()));
    CarryFault::ALL.into_iter().filter(is_left).map(reason).collect()
});

/// The stage and its settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DraftAnswers {
    /// A JSONL file of answers by people, `{"request": id, "ground_truth": […]}` a line. The id is the log's own or
    /// the request id. They win over what the log recorded.
    pub answers: Option<PathBuf>,
    #[serde(skip)]
    #[schemars(skip)]
    human: OnceLock<HumanAnswers>,
}

impl Settings for DraftAnswers {
    const NAME: &'static str = "draft-answers";
    const SUMMARY: &'static str =
        "Drafts each request's answer from the recorded calls, with a tier for how sure it is.";
    const LEFT: &'static str = "after holding recorded answers that fail";

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn check(&self) -> std::result::Result<(), String> {
        // Read here too, so that a bad file is told before the run begins.
        self.answers
            .as_ref()
            .map_or(Ok(()), |path| HumanAnswers::read(path).map(|_| ()).map_err(|error| error.to_string()))
    }
}

impl Stage for DraftAnswers {
    fn contract(&self) -> Contract {
        Contract {
            table: TableId::Requests,
            reads: vec![EXTERNAL_ID, RESPONSE, FINISH_REASON, STATUS, OUTCOME, FUNCTIONS, RENAMES],
            reads_if_there: vec![RELEVANCE, UNSOURCED],
            writes: vec![RECORDED, ANSWER, TIER, ANSWER_FROM],
            reasons: CARRY
                .iter()
                .map(|(_, reason)| reason)
                .chain([&REFUTED, &SEVERAL_STEPS, &UNSOURCED_VALUE])
                .collect(),
            merges: false,
            idempotent: true,
            partition: Partition::Whole,
            sends_rows_out: false,
        }
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(6);
        self.answers.as_ref().map_or(Ok(()), |path| fingerprint.file(path))
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let docs = Docs::read(view, cx)?;
        let mut unused: BTreeSet<String> = self.human()?.requests().map(str::to_owned).collect();
        let shared = self.shared_ids(view, cx)?;
        let mut best: FxHashMap<RowIx, Best> = FxHashMap::default();
        let mut needs_no_call: FxHashSet<RowIx> = FxHashSet::default();
        let mut unsourced: FxHashMap<RowIx, Vec<String>> = FxHashMap::default();
        let wanted = |row: RowIx| view.head_of(row, &ASKS_ALIKE).is_some_and(|head| view.is_kept(head));
        view.stream(cx, wanted, |batch| {
            let candidates = batch.map_rows(|row| self.candidates(row, &docs, &shared, view))?;
            for (&row, candidates) in batch.rows().iter().zip(candidates) {
                let Candidates { head, kind, recorded, human } = candidates.map_err(Error::Setting)?;
                if head == row {
                    out.set(row, RECORDED, kind)?;
                    if is_judged_to_need_none(batch.row(row)) {
                        needs_no_call.insert(row);
                    }
                }
                if let Some(placeholders) = batch.row(row).json(UNSOURCED) {
                    unsourced.insert(row, placeholders);
                }
                let human = human.map(|(id, candidate)| {
                    unused.remove(&id);
                    candidate
                });
                for candidate in human.into_iter().chain(recorded) {
                    best.entry(head).or_default().hear(candidate);
                }
            }
            Ok(())
        })?;
        for row in view.rows() {
            if let Some(candidate) = best.remove(&row).and_then(Best::answer)
                && (candidate.rank == Rank::Human || !needs_no_call.contains(&row))
            {
                let noted = unsourced.get(&candidate.from).filter(|_| candidate.is_from_the_log());
                let placeholders = noted.map_or_else(Vec::new, |noted| candidate.holding(noted));
                if placeholders.is_empty() {
                    state(row, candidate, view, out)?;
                } else {
                    let evidence = Evidence::detail(json!({ "placeholders": placeholders.join(", ") }));
                    out.hold(row, &UNSOURCED_VALUE, evidence)?;
                }
            }
        }
        for request in unused {
            warn_of_unused(&request, &shared, cx);
        }
        Ok(())
    }
}

/// Requests answer for the one they are equal to.
const EQUAL: [&str; 1] = [SAME_CODE];

/// An answer under the names that the docs have now, or why it does not fit them.
type Carried = std::result::Result<Vec<Value>, Uncarried>;

/// What one row has to say.
struct Candidates {
    head: RowIx,
    /// What kind of answer the log has; see the column `recorded`.
    kind: &'static str,
    /// The log's answer; none of a request that only asks alike.
    recorded: Option<Candidate>,
    /// A person's answer, with the id by which the file names the request.
    human: Option<(String, Candidate)>,
}

fn is_judged_to_need_none(row: Row<'_>) -> bool {
    let relevance = row.text(RELEVANCE).and_then(Relevance::from_name);
    matches!(relevance, Some(Relevance::Irrelevant | Relevance::LowQuality))
}

fn warn_of_unused(request: &str, shared: &BTreeSet<String>, cx: &Context<'_>) {
    let why = if shared.contains(request) {
        "is the id of several rows, name the request id instead"
    } else {
        "is not among the kept ones"
    };
    cx.progress.warn(&format!("answers: request {request} {why}; its answer is not used"));
}

/// Writes the answer of a request, or holds it.
fn state(row: RowIx, candidate: Candidate, view: &View<'_>, out: &mut Verdict<'_>) -> Result<()> {
    let tier = match candidate.rank {
        Rank::Human => "human",
        Rank::Worked => "outcome",
        Rank::Recorded => "recorded",
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
        Some(Err(uncarried)) => {
            let (_, reason) = CARRY
                .iter()
                .find(|(fault, _)| *fault == uncarried.fault)
                .expect("every fault that is left has a reason");
            out.hold(row, reason, Evidence::detail(json!({ "at": uncarried.at, "found": uncarried.message })))
        }
    }
}

impl DraftAnswers {
    fn human(&self) -> Result<&HumanAnswers> {
        if self.human.get().is_none() {
            let read = match &self.answers {
                Some(path) => HumanAnswers::read(path).map_err(|error| Error::Setting(error.to_string()))?,
                None => HumanAnswers::default(),
            };
            return Ok(self.human.get_or_init(|| read));
        }
        Ok(self.human.get_or_init(HumanAnswers::default))
    }

    /// The ids in the file of answers that several kept requests have: such an answer could be meant for any.
    fn shared_ids(&self, view: &View<'_>, cx: &Context<'_>) -> Result<BTreeSet<String>> {
        let mut n_rows: BTreeMap<String, usize> =
            self.human()?.requests().map(|id| (id.to_owned(), 0)).collect();
        if !n_rows.is_empty() {
            view.for_each_batch(cx, |batch| {
                for id in batch.rows().iter().filter_map(|&row| batch.row(row).text(EXTERNAL_ID)) {
                    if let Some(n) = n_rows.get_mut(id) {
                        *n += 1;
                    }
                }
                Ok(())
            })?;
        }
        Ok(n_rows.into_iter().filter(|(_, n)| *n > 1).map(|(id, _)| id).collect())
    }

    fn candidates(
        &self,
        row: Row<'_>,
        docs: &Docs,
        shared: &BTreeSet<String>,
        view: &View<'_>,
    ) -> std::result::Result<Candidates, String> {
        let head = view.head_of(row.ix(), &ASKS_ALIKE).unwrap_or(row.ix());
        // Of a copy only an answer that fits the docs of the request it stands for.
        let human = self.human_answer(row, view, docs, shared)?;
        let human = human.filter(|(_, answer)| head == row.ix() || answer.is_ok());
        let by_a_person = |answer: Carried| Candidate {
            rank: Rank::Human,
            // An answer to the request itself counts before those to its copies.
            position: if head == row.ix() { 0 } else { view.position(row.ix()).saturating_add(1) },
            from: row.ix(),
            answer: Some(answer),
        };
        let (kind, recorded) = recorded_candidate(row, head, docs, view);
        let recorded = view.head_of(row.ix(), &EQUAL).map(|_| recorded);
        Ok(Candidates { head, kind, recorded, human: human.map(|(id, answer)| (id, by_a_person(answer))) })
    }

    /// A person's answer to a request, with the id by which the file names it.
    fn human_answer(
        &self,
        row: Row<'_>,
        view: &View<'_>,
        docs: &Docs,
        shared: &BTreeSet<String>,
    ) -> std::result::Result<Option<(String, Carried)>, String> {
        let human = self.human().map_err(|error| error.to_string())?;
        let own_id = row.text(EXTERNAL_ID).filter(|&id| !shared.contains(id)).map(str::to_owned);
        let ids = [own_id, Some(view.row_id(row.ix()).to_string())];
        for id in ids.into_iter().flatten() {
            let carry = |name: &str, parameters| docs.carried(name, parameters, row.ix(), view);
            if let Some(answer) = human.ground_truth(&id, docs.of(row.ix(), view), carry) {
                let at = format!("answer of a person for {id}");
                let unfit = |unfit: Unfit| Uncarried { fault: unfit.fault, at, message: unfit.message };
                return Ok(Some((id, answer.map_err(unfit))));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::judged;

    #[test]
    fn a_request_that_needs_no_call_gets_no_answer_and_is_not_held_for_one() {
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
        assert!((0..5).all(|row| judged.cell(row, RECORDED) == Some("calls")));
    }
}
