//! Merges the steps of each agent loop into its decision point.
//!
//! After each call, an agent sends the conversation again, extended by the call and its
//! result. Those rows contain no new question: they are merged into the row that ends with the
//! user's message. They show whether the recorded call worked, was corrected, or needed further
//! calls; that row gets this in the column `outcome`. A row with a new user message is a new
//! question and is kept, and also shows the outcome of the previous turn. A row with
//! `following_messages` shows its own outcome.
//!
//! A log may have the last step of a loop only, as many tracers write it. Its messages hold the decision: the first such row is cut
//! back to the user's message, its answer is the call that follows, and what comes after shows the outcome.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::answers::outcome::{Outcome, outcome};
use crate::cells::TypedCells as _;
use crate::columns::{FINISH_REASON, FOLLOWING_MESSAGES, MESSAGES, OUTCOME, RESPONSE, SESSION, STATUS, USER};
use crate::content_hash::ContentHasher;
use crate::conversation::{Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{ColumnSpec, Edit, Evidence, Reason, RowIx, Safety, TableId};
use crate::text::memo::Memo;

static CONTINUES: Reason = Reason::policy(
    "conversation/continues",
    "The row repeats an earlier conversation plus a call and its result, without a new user message.",
);
static NO_FIRST_STEP: Reason = Reason::policy(
    "conversation/no-first-step",
    "The row goes on from an assistant's message without a call, and the request that it belongs to is not in the log.",
);
static FIRST_STEP_RESTORED: Reason = Reason::policy(
    "conversation/first-step-restored",
    "The log has a later step of an agent loop only; the row is cut back to its first step, which its messages hold.",
);
static NO_USER_MESSAGE: Reason =
    Reason::policy("conversation/no-user-message", "The conversation has no user message.");

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CollapseConversations {}

impl Settings for CollapseConversations {
    const NAME: &'static str = "collapse-conversations";
    const SUMMARY: &'static str = "Merges the later steps of an agent loop into the row with the decision.";
    const FUNNEL_LABEL: &'static str = "one request per agent loop";
    fn examples() -> Vec<Example> {
        vec![
            Example::tables(
                CONTINUES.code,
                r#"{"requests": [
                {"messages": [{"role": "user", "content": "Close the gate."}], "response": {"role": "assistant", "content": "", "calls": [{"id": "c1", "name": "close_gate", "arguments": {}}]}},
                {"messages": [{"role": "user", "content": "Close the gate."}, {"role": "assistant", "content": "", "calls": [{"id": "c1", "name": "close_gate", "arguments": {}}]}, {"role": "tool", "content": "{\"ok\": true}", "call_id": "c1"}]}]}"#,
                r#"{"requests": [
                {"messages": [{"role": "user", "content": "Close the gate."}], "response": {"role": "assistant", "content": "Done."}},
                {"messages": [{"role": "user", "content": "Close the gate."}, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Now open it."}]}]}"#,
            ),
            Example::tables(
                NO_FIRST_STEP.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Close the gate."}, {"role": "assistant", "content": "Then I will"}]}]}"#,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Close the gate."}]}]}"#,
            ),
            Example::tables(
                FIRST_STEP_RESTORED.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Close the gate."}, {"role": "assistant", "content": "", "calls": [{"id": "c1", "name": "close_gate", "arguments": {}}]}, {"role": "tool", "content": "ok", "call_id": "c1"}], "response": {"role": "assistant", "content": "It is closed."}}]}"#,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Close the gate."}]}]}"#,
            ),
            Example::tables(
                NO_USER_MESSAGE.code,
                r#"{"requests": [{"messages": [{"role": "system", "content": "You run the harbour."}]}]}"#,
                r#"{"requests": [{"messages": [{"role": "system", "content": "You run the harbour."}, {"role": "user", "content": "Close the gate."}]}]}"#,
            ),
        ]
    }
}

/// The evidence in a row about a turn (the conversation up to a user message).
#[derive(Clone)]
struct TurnEvidence {
    turn: u128,
    /// The hash of the assistant message right after the turn.
    step: u128,
    /// The outcome that the messages after that show.
    outcome: Outcome,
    /// The step has calls.
    has_calls: bool,
    /// Further calls were made for the same user message.
    goes_on: bool,
    /// The position of the turn in the row.
    source: EvidenceSource,
}

/// The position of a turn in the row that has evidence about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EvidenceSource {
    /// The turn is followed by a later user message in the row.
    EarlierTurn,
    /// The turn is the last of the row, and its decision was made before: the row is a later step of the loop.
    LaterStep,
    /// The row is the decision itself, and its line has the following messages.
    OwnLine,
}

/// The compared parts of a row, which depend on its list, its messages and its answer.
#[derive(Clone)]
struct RowSummary {
    /// The last turn of the row; `None` if there is no user message.
    turn: Option<u128>,
    /// The row ends with the user's message, so its response is the decision.
    is_head: bool,
    /// The hash of the logged answer; [`NO_ANSWER`] if the log has none.
    answer: u128,
    evidence: Vec<TurnEvidence>,
}

impl Stage for CollapseConversations {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Key)
            .reads([MESSAGES, RESPONSE, FOLLOWING_MESSAGES, USER, SESSION, STATUS])
            .writes([OUTCOME, MESSAGES, RESPONSE, FOLLOWING_MESSAGES, FINISH_REASON, STATUS])
            .reasons([&CONTINUES, &NO_FIRST_STEP, &FIRST_STEP_RESTORED, &NO_USER_MESSAGE])
            .merges()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(10);
        Ok(())
    }

    /// Returns the hash of the conversation up to the first user message, which all rows of a conversation share.
    fn keys(&self, view: &View<'_>, cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
        let mut keys: Vec<(RowIx, u128)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let found = batch.map_rows(|row| first_turn(row, view.list_of(row.ix())))?;
            keys.extend(batch.rows().iter().zip(found).filter_map(|(&row, key)| Some((row, key?))));
            Ok(())
        })?;
        Ok(Some(keys))
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut heads: Vec<Head> = Vec::new();
        let mut evidence: Vec<(RowIx, u128, TurnEvidence)> = Vec::new();
        let known = Memo::default();
        view.for_each_batch(cx, |batch| {
            let summaries = batch.map_rows(|row| {
                let list = view.list_of(row.ix());
                let key = (row.hash_of(&[MESSAGES, RESPONSE, FOLLOWING_MESSAGES]), list);
                (who(row), known.get_or(key, || summary(row, list)))
            })?;
            for (&row, (who, summary)) in batch.rows().iter().zip(summaries) {
                let Some(turn) = summary.turn else {
                    out.hold(row, &NO_USER_MESSAGE, Evidence::default())?;
                    continue;
                };
                if summary.is_head {
                    let (answer, position) = (summary.answer, view.position(row));
                    heads.push(Head { turn, answer, who, position, row });
                }
                evidence.extend(summary.evidence.into_iter().map(|of_turn| (row, who, of_turn)));
            }
            Ok(())
        })?;
        let heads = Heads::new(heads);
        let restored = restored(&heads, &evidence, view);
        let rows: FxHashSet<RowIx> = restored.values().map(|first| first.1).collect();
        restore(&rows, view, cx, out)?;
        let mut outcomes: FxHashMap<RowIx, JointOutcome> = FxHashMap::default();
        for (row, who, of_turn) in evidence {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let head = match of_turn.source {
                EvidenceSource::OwnLine => Some(row),
                _ => heads
                    .find(of_turn.turn, of_turn.step, who, view.position(row))
                    .or_else(|| restored.get(&(of_turn.turn, of_turn.step)).map(|first| first.1)),
            };
            if of_turn.source == EvidenceSource::LaterStep && head != Some(row) {
                match head {
                    Some(head) => out.merge(row, head, &CONTINUES, Evidence::default())?,
                    None => out.hold(row, &NO_FIRST_STEP, Evidence::default())?,
                }
            }
            if let Some(head) = head {
                let joint = outcomes
                    .entry(head)
                    .or_insert(JointOutcome { outcome: Outcome::Unknown, goes_on: false });
                joint.outcome = worse(joint.outcome, of_turn.outcome);
                joint.goes_on |= of_turn.goes_on;
            }
        }
        for (&row, joint) in sorted(&outcomes) {
            match joint {
                JointOutcome { outcome: Outcome::Failed, .. } => out.set(row, OUTCOME, "failed")?,
                JointOutcome { goes_on: true, .. } => out.set(row, OUTCOME, "goes-on")?,
                JointOutcome { outcome: Outcome::Worked, .. } => out.set(row, OUTCOME, "worked")?,
                JointOutcome { outcome: Outcome::Unknown, .. } => {}
            }
        }
        Ok(())
    }
}

/// Returns the rows to be cut back to their first step: by turn and step the first row of a loop whose first step is not in the log,
/// with its position.
fn restored(
    heads: &Heads,
    evidence: &[(RowIx, u128, TurnEvidence)],
    view: &View<'_>,
) -> FxHashMap<(u128, u128), (u32, RowIx)> {
    let mut restored: FxHashMap<(u128, u128), (u32, RowIx)> = FxHashMap::default();
    for (row, who, of_turn) in evidence {
        let TurnEvidence { turn, step, has_calls, source, .. } = *of_turn;
        let position = view.position(*row);
        if source == EvidenceSource::LaterStep
            && has_calls
            && heads.find(turn, step, *who, position).is_none()
        {
            let own = (position, *row);
            restored.entry((turn, step)).and_modify(|first| *first = own.min(*first)).or_insert(own);
        }
    }
    restored
}

/// Cuts rows back to their last user message and the answer that follows it.
fn restore(rows: &FxHashSet<RowIx>, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    view.for_each_batch(cx, |batch| {
        let found = batch.map_rows(|row| rows.contains(&row.ix()).then(|| FirstStep::of(row)).flatten())?;
        for (&row, step) in batch.rows().iter().zip(found) {
            if let Some(step) = step {
                step.write(row, out)?;
            }
        }
        Ok(())
    })
}

/// The first step of a loop, as the messages of a later one hold it.
struct FirstStep {
    /// What the row gets, each with its patch.
    cells: [(ColumnSpec, Value, Value); 3],
    has_status: bool,
}

impl FirstStep {
    fn of(row: Row<'_>) -> Option<Self> {
        let (mut before, response) = (row.messages(), row.response());
        let last_user = before.iter().rposition(|message| message.role == Role::User)?;
        let after = before.split_off(last_user + 1);
        let removed = after.iter().enumerate().rev().flat_map(|(at, message)| {
            let path = format!("/{}", last_user + 1 + at);
            [json!({"op": "test", "path": path, "value": message}), json!({"op": "remove", "path": path})]
        });
        let removed: Value = removed.collect();
        let replaced = |old: &Value, new: &Value| json!([{"op": "test", "path": "", "value": old}, {"op": "replace", "path": "", "value": new}]);
        let mut after = after.into_iter();
        let (old_response, new_response) = (json!(response), json!(after.next()?));
        let old_following = row.following_messages();
        let (was, rest) =
            (json!(old_following), after.chain(response).chain(old_following.into_iter().flatten()));
        let following = json!(rest.collect::<Vec<Message>>());
        let cells = [
            (MESSAGES, json!(before), removed),
            (RESPONSE, new_response.clone(), replaced(&old_response, &new_response)),
            (FOLLOWING_MESSAGES, following.clone(), replaced(&was, &following)),
        ];
        Some(Self { cells, has_status: row.int(STATUS).is_some() })
    }

    /// The end of the reply and the status of the response were those of the last step: a model that was called again had made its call.
    fn write(self, row: RowIx, out: &mut Verdict<'_>) -> Result<()> {
        for (column, new, patch) in self.cells {
            let patch = patch.to_string();
            out.edit(row, Edit { column, reason: &FIRST_STEP_RESTORED, safety: Safety::Safe, patch })?;
            out.set(row, column, new.to_string())?;
        }
        out.set(row, FINISH_REASON, "tool_calls")?;
        if self.has_status { out.set(row, STATUS, 200) } else { Ok(()) }
    }
}

/// The outcome of a decision from all evidence about it.
struct JointOutcome {
    outcome: Outcome,
    goes_on: bool,
}

/// A row that ends with a user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    /// The conversation up to that message.
    turn: u128,
    /// The hash of the logged answer; [`NO_ANSWER`] if the log has none.
    answer: u128,
    /// The hash of user and session.
    who: u128,
    position: u32,
    row: RowIx,
}

/// The hash of a missing answer.
const NO_ANSWER: u128 = 0;

/// All heads, sorted so that the head of a later step is found without a scan over its turn: a log may contain the same
/// prompt a million times.
struct Heads {
    /// Sorted by turn, answer, user and position.
    by_who: Vec<Head>,
    /// Sorted by turn, answer and position.
    of_all: Vec<Head>,
}

impl Heads {
    fn new(mut heads: Vec<Head>) -> Self {
        let mut of_all = heads.clone();
        heads.par_sort_unstable_by_key(|head| (head.turn, head.answer, head.who, head.position));
        of_all.par_sort_unstable_by_key(|head| (head.turn, head.answer, head.position));
        Self { by_who: heads, of_all }
    }

    /// Returns the row with the decision that a row at `position` continues: its answer is `step`, or it has no
    /// recorded answer. Of several, prefers the same user, then the latest before `position`, then the earliest after
    /// it.
    fn find(&self, turn: u128, step: u128, who: u128, position: u32) -> Option<RowIx> {
        let found = [step, NO_ANSWER].into_iter().find_map(|answer| {
            let of_who = self.by_who.binary_search_by_key(&(turn, answer, who, position), |head| {
                (head.turn, head.answer, head.who, head.position)
            });
            let is_of_who = |head: &Head| (head.turn, head.answer, head.who) == (turn, answer, who);
            nearest(&self.by_who, of_who, is_of_who).or_else(|| {
                let of_all = self.of_all.binary_search_by_key(&(turn, answer, position), |head| {
                    (head.turn, head.answer, head.position)
                });
                nearest(&self.of_all, of_all, |head| (head.turn, head.answer) == (turn, answer))
            })
        });
        found.map(|head| head.row)
    }
}

/// Returns the wanted head just before a place in a sorted slice, else the one at that place.
fn nearest(
    heads: &[Head],
    place: std::result::Result<usize, usize>,
    is_wanted: impl Fn(&Head) -> bool,
) -> Option<&Head> {
    let at = place.unwrap_or_else(|at| at);
    let before = at.checked_sub(1).and_then(|before| heads.get(before)).filter(|head| is_wanted(head));
    before.or_else(|| heads.get(at).filter(|head| is_wanted(head)))
}

fn worse(a: Outcome, b: Outcome) -> Outcome {
    match (a, b) {
        (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
        (Outcome::Worked, _) | (_, Outcome::Worked) => Outcome::Worked,
        _ => Outcome::Unknown,
    }
}

fn sorted(outcomes: &FxHashMap<RowIx, JointOutcome>) -> Vec<(&RowIx, &JointOutcome)> {
    let mut sorted: Vec<_> = outcomes.iter().collect();
    sorted.sort_unstable_by_key(|(row, _)| **row);
    sorted
}

/// Returns the hash of user and session.
fn who(row: Row<'_>) -> u128 {
    row.hash_of(&[USER, SESSION])
}

fn summary(row: Row<'_>, list: RowIx) -> RowSummary {
    let (messages, response) = (row.messages(), row.response());
    let mut summary = RowSummary {
        turn: None,
        is_head: messages.last().is_some_and(|message| message.role == Role::User),
        answer: response.as_ref().map_or(NO_ANSWER, step_key),
        evidence: Vec::new(),
    };
    let last_user = messages.iter().rposition(|message| message.role == Role::User);
    let mut conversation = ContentHasher::default();
    conversation.add(&list.to_le_bytes());
    for (at, message) in messages.iter().enumerate() {
        add(&mut conversation, message);
        if message.role != Role::User {
            continue;
        }
        let turn = conversation.hash();
        let is_last_turn = Some(at) == last_user;
        if is_last_turn {
            summary.turn = Some(turn);
        }
        if let [step, after @ ..] = &messages[at + 1..]
            && step.role == Role::Assistant
        {
            // After the last message stands what the model answers to it: a repeated call may show a correction.
            let outcome = outcome(&messages[..=at], &step.calls, after, response.as_ref());
            let final_response = if is_last_turn { response.as_ref() } else { None };
            let same_turn = after.iter().take_while(|message| message.role != Role::User);
            let goes_on = same_turn.chain(final_response).any(|message| !message.calls.is_empty());
            let source = if is_last_turn { EvidenceSource::LaterStep } else { EvidenceSource::EarlierTurn };
            let has_calls = !step.calls.is_empty();
            summary.evidence.push(TurnEvidence {
                turn,
                step: step_key(step),
                outcome,
                has_calls,
                goes_on,
                source,
            });
        }
    }
    summary.evidence.extend(own_evidence(row, &summary, &messages, response.as_ref()));
    summary
}

/// Hashes the conversation up to the first user message.
fn first_turn(row: Row<'_>, list: RowIx) -> Option<u128> {
    let messages = row.messages();
    let first_user = messages.iter().position(|message| message.role == Role::User)?;
    let mut conversation = ContentHasher::default();
    conversation.add(&list.to_le_bytes());
    messages[..=first_user].iter().for_each(|message| add(&mut conversation, message));
    Some(conversation.hash())
}

/// Returns the evidence about the row's own answer, if its line has the rest of the conversation.
fn own_evidence(
    row: Row<'_>,
    summary: &RowSummary,
    messages: &[Message],
    response: Option<&Message>,
) -> Option<TurnEvidence> {
    let after = row.following_messages()?;
    let (turn, response) = (summary.turn.filter(|_| summary.is_head)?, response?);
    let outcome = outcome(messages, &response.calls, &after, None);
    let mut same_turn = after.iter().take_while(|message| message.role != Role::User);
    let goes_on = same_turn.any(|message| !message.calls.is_empty());
    let has_calls = !response.calls.is_empty();
    Some(TurnEvidence {
        turn,
        step: summary.answer,
        outcome,
        has_calls,
        goes_on,
        source: EvidenceSource::OwnLine,
    })
}

/// Adds a message to a hash without call ids, because a gateway may change the id of a call between the answer and the
/// next request.
fn add(hasher: &mut ContentHasher, message: &Message) {
    if message.call_id.is_none() && message.calls.iter().all(|call| call.id.is_none()) {
        return add_unchanged(hasher, message);
    }
    let mut message = Message { call_id: None, ..message.clone() };
    message.calls.iter_mut().for_each(|call| call.id = None);
    add_unchanged(hasher, &message);
}

fn add_unchanged(hasher: &mut ContentHasher, message: &Message) {
    // The typed form is the same for all APIs.
    let text = serde_json::to_string(message).expect("a message is plain data");
    hasher.add_part(text.as_bytes());
}

/// Hashes an assistant message; the result is never [`NO_ANSWER`].
fn step_key(message: &Message) -> u128 {
    let mut hasher = ContentHasher::default();
    add(&mut hasher, message);
    hasher.hash().max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fixture::judged;

    #[test]
    fn a_call_is_the_same_under_another_id() {
        let asks = json!({"role": "user", "content": "Close the gate."});
        let called = |id: &str| json!({"role": "assistant", "content": "", "calls": [{"id": id, "name": "close_gate", "arguments": {}}]});
        let result = json!({"role": "tool", "content": "{\"ok\": true}", "call_id": "call_1"});
        let done = json!({"role": "assistant", "content": "It is closed."});
        let tables = json!({"requests": [
            {"messages": [asks], "response": called("chatcmpl-tool-9f")},
            {"messages": [asks, called("call_1"), result], "response": done},
        ]});
        let judged = judged(&CollapseConversations::default(), &tables);
        let fates: Vec<_> = judged.delta.fates.iter().map(|fate| (fate.row, fate.reason.code)).collect();
        assert_eq!(fates, [(1, CONTINUES.code)]);
        assert_eq!(judged.cell(0, OUTCOME), Some("worked"));
    }

    #[test]
    fn a_loop_without_its_first_step_is_cut_back_to_it_once() {
        let asks = json!({"role": "user", "content": "Close the gate and lock it."});
        let called = |name: &str| json!({"role": "assistant", "content": "", "calls": [{"id": "c", "name": name, "arguments": {}}]});
        let result = json!({"role": "tool", "content": "{\"ok\": true}", "call_id": "c"});
        let done = json!({"role": "assistant", "content": "Done."});
        // The second and the third step; the first is missing.
        let tables = json!({"requests": [
            {"messages": [asks, called("close"), result, called("lock"), result], "response": done, "status": 500, "finish_reason": "length"},
            {"messages": [asks, called("close"), result], "response": called("lock")},
        ]});
        let judged = judged(&CollapseConversations::default(), &tables);
        let fates: Vec<_> = judged.delta.fates.iter().map(|fate| (fate.row, fate.reason.code)).collect();
        assert_eq!(fates, [(1, CONTINUES.code)]);
        let cell = |column| serde_json::from_str::<Value>(judged.cell(0, column).unwrap()).unwrap();
        assert_eq!(cell(MESSAGES).as_array().unwrap().len(), 1);
        assert_eq!(cell(RESPONSE)["calls"][0]["name"], "close");
        assert_eq!(cell(FOLLOWING_MESSAGES).as_array().unwrap().len(), 4);
        assert_eq!(judged.cell(0, FINISH_REASON), Some("tool_calls"));
        assert_eq!(judged.cell(0, OUTCOME), Some("goes-on"));
    }

    /// The reference implementation: scans all heads of the turn.
    fn find_by_scan(heads: &[Head], turn: u128, step: u128, who: u128, position: u32) -> Option<RowIx> {
        heads
            .iter()
            .filter(|head| head.turn == turn && (head.answer == step || head.answer == NO_ANSWER))
            .max_by_key(|head| {
                let before = head.position < position;
                let nearness = if before { i64::from(head.position) } else { -i64::from(head.position) };
                (head.answer == step, head.who == who, before, nearness)
            })
            .map(|head| head.row)
    }

    proptest! {
        #[test]
        fn the_head_of_a_later_step_is_the_one_that_a_scan_finds(
            heads in prop::collection::vec((0_u128..3, 0_u128..4, 0_u128..3), 0..60),
            shuffled in any::<prop::sample::Index>(),
            wanted in (0_u128..3, 1_u128..5, 0_u128..4, 0_u32..62),
        ) {
            let n_heads = heads.len().max(1);
            let heads: Vec<Head> = (0..).zip(heads).map(|(row, (turn, answer, who))| {
                // Rows are not read in canonical order.
                let position = (row + u32::try_from(shuffled.index(n_heads)).unwrap()) % u32::try_from(n_heads).unwrap();
                Head { turn, answer, who, position, row }
            }).collect();
            let (turn, step, who, position) = wanted;
            let expected = find_by_scan(&heads, turn, step, who, position);
            prop_assert_eq!(Heads::new(heads).find(turn, step, who, position), expected);
        }
    }
}
