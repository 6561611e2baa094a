//! One decision point stays of each agent loop.
//!
//! An agent sends the conversation again after each call, grown by the call and its
//! result. Those rows ask nothing new: they merge into the row that ended with the user's
//! message. What they show about the recorded call (did its result come back fine, was it
//! corrected, were further calls needed) is noted on that row as `outcome`. A row with a new user message asks
//! something new and stays, and is still a witness for the turn before. A row whose line told what came after its
//! answer is a witness for itself.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Settings;
use crate::answers::outcome::{Outcome, outcome};
use crate::cells::TypedCells as _;
use crate::columns::{FOLLOWING_MESSAGES, MESSAGES, OUTCOME, RESPONSE, SESSION, USER};
use crate::conversation::{Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Evidence, Reason, RowIx, TableId};

static CONTINUES: Reason = Reason::policy(
    "conversation/continues",
    "The same conversation grown by the call, its result and nothing the user said: the decision was made in the row before.",
);
static NO_FIRST_STEP: Reason = Reason::policy(
    "conversation/no-first-step",
    "The row is a later step of an agent loop whose first step the log does not hold.",
);
static NO_USER_MESSAGE: Reason =
    Reason::policy("conversation/no-user-message", "No message is the user's, so nothing is asked.");

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CollapseConversations {}

impl Settings for CollapseConversations {
    const NAME: &'static str = "collapse-conversations";
    const SUMMARY: &'static str =
        "Merges the later steps of an agent loop into the row that made the decision.";
    const LEFT: &'static str = "one request per agent loop";
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
                r#"{"requests": [{"messages": [{"role": "user", "content": "Close the gate."}, {"role": "assistant", "content": "", "calls": [{"id": "c1", "name": "close_gate", "arguments": {}}]}, {"role": "tool", "content": "ok", "call_id": "c1"}]}]}"#,
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

/// What a row tells about a turn: the conversation up to a user message, and what came after.
struct Witness {
    turn: u128,
    /// The assistant message right after the turn.
    step: u64,
    /// What the messages after that show.
    outcome: Outcome,
    /// Further calls were made for the same user message.
    goes_on: bool,
    /// What the row is to the turn.
    standing: Standing,
}

/// What a witness is to the turn it tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The turn is an earlier one of the row's conversation.
    Earlier,
    /// The user message is the row's last, and the decision was made before it: the row adds nothing of its own.
    Later,
    /// The row is the decision, and its line told the rest.
    Own,
}

/// One row, reduced to what is compared.
struct Told {
    /// The turn the row ends with; `None` where there is no user message.
    turn: Option<u128>,
    /// The row ends with the user's message: a decision is asked for.
    is_head: bool,
    /// What the logged model answered; [`NO_ANSWER`] where the log has none.
    answer: u64,
    /// Who asked.
    who: u64,
    witnesses: Vec<Witness>,
}

impl Stage for CollapseConversations {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Key)
            .reads([MESSAGES, RESPONSE, FOLLOWING_MESSAGES, USER, SESSION])
            .writes([OUTCOME])
            .reasons([&CONTINUES, &NO_FIRST_STEP, &NO_USER_MESSAGE])
            .merges()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        Ok(())
    }

    /// Rows of one conversation begin alike, up to the first message of the user.
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
        let mut witnesses: Vec<(RowIx, u64, Witness)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let told = batch.map_rows(|row| tell(row, view.list_of(row.ix())))?;
            for (&row, told) in batch.rows().iter().zip(told) {
                let Some(turn) = told.turn else {
                    out.hold(row, &NO_USER_MESSAGE, Evidence::default())?;
                    continue;
                };
                if told.is_head {
                    let (answer, who, position) = (told.answer, told.who, view.position(row));
                    heads.push(Head { turn, answer, who, position, row });
                }
                witnesses.extend(told.witnesses.into_iter().map(|witness| (row, told.who, witness)));
            }
            Ok(())
        })?;
        let heads = Heads::new(heads);
        let mut outcomes: FxHashMap<RowIx, Known> = FxHashMap::default();
        for (row, who, witness) in witnesses {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let head = match witness.standing {
                Standing::Own => Some(row),
                _ => heads.find(witness.turn, witness.step, who, view.position(row)),
            };
            if witness.standing == Standing::Later {
                match head {
                    Some(head) => out.merge(row, head, &CONTINUES, Evidence::default())?,
                    None => out.hold(row, &NO_FIRST_STEP, Evidence::default())?,
                }
            }
            if let Some(head) = head {
                let known =
                    outcomes.entry(head).or_insert(Known { outcome: Outcome::Unknown, goes_on: false });
                known.outcome = worse(known.outcome, witness.outcome);
                known.goes_on |= witness.goes_on;
            }
        }
        for (&row, known) in sorted(&outcomes) {
            match known {
                Known { outcome: Outcome::Failed, .. } => out.set(row, OUTCOME, "failed")?,
                Known { goes_on: true, .. } => out.set(row, OUTCOME, "goes-on")?,
                Known { outcome: Outcome::Worked, .. } => out.set(row, OUTCOME, "worked")?,
                Known { outcome: Outcome::Unknown, .. } => {}
            }
        }
        Ok(())
    }
}

/// What all witnesses of a decision say together.
struct Known {
    outcome: Outcome,
    goes_on: bool,
}

/// A row that ends with a user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    /// The conversation up to that message.
    turn: u128,
    /// What the logged model answered; [`NO_ANSWER`] where the log has none.
    answer: u64,
    /// Who asked.
    who: u64,
    position: u32,
    row: RowIx,
}

/// The answer of a row whose answer is not on record.
const NO_ANSWER: u64 = 0;

/// All heads, so that the one a witness saw is found without looking at the others of its turn: a log may hold one
/// prompt a million times.
struct Heads {
    /// By turn and answer, then by who asked, in canonical order.
    by_who: Vec<Head>,
    /// By turn and answer, in canonical order.
    of_all: Vec<Head>,
}

impl Heads {
    fn new(mut heads: Vec<Head>) -> Self {
        let mut of_all = heads.clone();
        heads.par_sort_unstable_by_key(|head| (head.turn, head.answer, head.who, head.position));
        of_all.par_sort_unstable_by_key(|head| (head.turn, head.answer, head.position));
        Self { by_who: heads, of_all }
    }

    /// The row whose decision a witness at `position` saw: its answer is the step taken, or it has none on record. Of
    /// several the same user's, then the latest before the witness, then the earliest.
    fn find(&self, turn: u128, step: u64, who: u64, position: u32) -> Option<RowIx> {
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

/// The head just before the place of a witness among some sorted ones, else the one at it or after it.
fn nearest(
    heads: &[Head],
    place: std::result::Result<usize, usize>,
    is_meant: impl Fn(&Head) -> bool,
) -> Option<&Head> {
    let at = place.unwrap_or_else(|at| at);
    let before = at.checked_sub(1).and_then(|before| heads.get(before)).filter(|head| is_meant(head));
    before.or_else(|| heads.get(at).filter(|head| is_meant(head)))
}

fn worse(a: Outcome, b: Outcome) -> Outcome {
    match (a, b) {
        (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
        (Outcome::Worked, _) | (_, Outcome::Worked) => Outcome::Worked,
        _ => Outcome::Unknown,
    }
}

fn sorted(outcomes: &FxHashMap<RowIx, Known>) -> Vec<(&RowIx, &Known)> {
    let mut sorted: Vec<_> = outcomes.iter().collect();
    sorted.sort_unstable_by_key(|(row, _)| **row);
    sorted
}

fn tell(row: Row<'_>, list: RowIx) -> Told {
    let (messages, response) = (row.messages(), row.response());
    let mut told = Told {
        turn: None,
        is_head: messages.last().is_some_and(|message| message.role == Role::User),
        answer: response.as_ref().map_or(NO_ANSWER, step_key),
        who: xxh3_64(format!("{:?}{:?}", row.text(USER), row.text(SESSION)).as_bytes()),
        witnesses: Vec::new(),
    };
    let last_user = messages.iter().rposition(|message| message.role == Role::User);
    let mut conversation = Xxh3::new();
    conversation.update(&list.to_le_bytes());
    for (at, message) in messages.iter().enumerate() {
        add(&mut conversation, message);
        if message.role != Role::User {
            continue;
        }
        let turn = conversation.digest128();
        let is_last_turn = Some(at) == last_user;
        if is_last_turn {
            told.turn = Some(turn);
        }
        if let [step, after @ ..] = &messages[at + 1..]
            && step.role == Role::Assistant
        {
            let final_response = if is_last_turn { response.as_ref() } else { None };
            let outcome = outcome(&step.calls, after, final_response);
            let same_turn = after.iter().take_while(|message| message.role != Role::User);
            let goes_on = same_turn.chain(final_response).any(|message| !message.calls.is_empty());
            let standing = if is_last_turn { Standing::Later } else { Standing::Earlier };
            told.witnesses.push(Witness { turn, step: step_key(step), outcome, goes_on, standing });
        }
    }
    told.witnesses.extend(own_witness(row, &told, response.as_ref()));
    told
}

/// The conversation up to the first message of the user: what all rows of it begin with.
fn first_turn(row: Row<'_>, list: RowIx) -> Option<u128> {
    let messages = row.messages();
    let first_user = messages.iter().position(|message| message.role == Role::User)?;
    let mut conversation = Xxh3::new();
    conversation.update(&list.to_le_bytes());
    messages[..=first_user].iter().for_each(|message| add(&mut conversation, message));
    Some(conversation.digest128())
}

/// What a row tells of its own answer, where its line holds the rest of the conversation.
fn own_witness(row: Row<'_>, told: &Told, response: Option<&Message>) -> Option<Witness> {
    let after = row.following_messages()?;
    let (turn, response) = (told.turn.filter(|_| told.is_head)?, response?);
    let outcome = outcome(&response.calls, &after, None);
    let mut same_turn = after.iter().take_while(|message| message.role != Role::User);
    let goes_on = same_turn.any(|message| !message.calls.is_empty());
    Some(Witness { turn, step: told.answer, outcome, goes_on, standing: Standing::Own })
}

/// Ids of calls are left out: a gateway gives a call one id when it answers and another when the conversation comes back.
fn add(hasher: &mut Xxh3, message: &Message) {
    if message.call_id.is_none() && message.calls.iter().all(|call| call.id.is_none()) {
        return add_as_it_is(hasher, message);
    }
    let mut message = Message { call_id: None, ..message.clone() };
    message.calls.iter_mut().for_each(|call| call.id = None);
    add_as_it_is(hasher, &message);
}

fn add_as_it_is(hasher: &mut Xxh3, message: &Message) {
    // The typed form is the same whatever API the message came through.
    let text = serde_json::to_string(message).expect("a message is plain data");
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

/// What an assistant did: never [`NO_ANSWER`].
fn step_key(message: &Message) -> u64 {
    let mut hasher = Xxh3::new();
    add(&mut hasher, message);
    hasher.digest().max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fixture::judged;

    #[test]
    fn a_call_is_the_same_whatever_id_the_conversation_brings_it_back_with() {
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

    /// The definition: all heads of the turn are looked at.
    fn find_by_hand(heads: &[Head], turn: u128, step: u64, who: u64, position: u32) -> Option<RowIx> {
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
        fn the_head_that_a_witness_saw_is_the_one_that_looking_at_all_finds(
            heads in prop::collection::vec((0_u128..3, 0_u64..4, 0_u64..3), 0..60),
            shuffled in any::<prop::sample::Index>(),
            witness in (0_u128..3, 1_u64..5, 0_u64..4, 0_u32..62),
        ) {
            let n_heads = heads.len().max(1);
            let heads: Vec<Head> = (0..).zip(heads).map(|(row, (turn, answer, who))| {
                // Rows are not read in canonical order.
                let position = (row + u32::try_from(shuffled.index(n_heads)).unwrap()) % u32::try_from(n_heads).unwrap();
                Head { turn, answer, who, position, row }
            }).collect();
            let (turn, step, who, position) = witness;
            let expected = find_by_hand(&heads, turn, step, who, position);
            prop_assert_eq!(Heads::new(heads).find(turn, step, who, position), expected);
        }
    }
}
