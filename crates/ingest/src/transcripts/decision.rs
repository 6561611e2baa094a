//! Splits a finished conversation at one decision of the model, where the question ends.
//!
//! The decision is the first turn after a user's message in which the model made calls, or its first answer if it made
//! none. Consecutive turns of the model count as one (text and calls, parallel calls). It is the first call, not the
//! last turn, for three reasons: conversations end in thanks and goodbyes; the messages before the first call hold no
//! calls, as in a BFCL entry; and the messages after it show whether the call worked. Nothing after the decision is
//! part of the question.

use std::ops::Range;

use serde_json::{Value, json};

use super::tags::{self, Notation};
use super::{Speaker, Turn, turns};
use crate::messages::read_messages;
use crate::reasons::ItemFault;
use crate::response::FINISHED_UNREADABLE;
use callsieve_bfcl::conversation::{Message, Role};

/// A conversation, split at its decision.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Decided {
    /// The messages as sent; empty if there is no question.
    pub(super) messages: Vec<Message>,
    /// The model's response.
    pub(super) response: Option<Message>,
    /// Why there is no response although the model had a turn.
    pub(super) finish_reason: Option<String>,
    /// The messages after it; empty if a part of them cannot be read.
    pub(super) following_messages: Vec<Message>,
}

/// A message, or a turn of the model whose calls cannot be read.
type ReadTurn = Result<Message, ItemFault>;

/// Splits a conversation at its decision; a prompt that waits for the model is not split.
pub(super) fn decide(turns: Vec<Turn>, notation: Notation, is_prompt: bool) -> Result<Decided, ItemFault> {
    cut(&read(turns, notation)?, is_prompt)
}

/// Splits messages at their decision into question, response and following messages.
pub(super) fn cut_messages(messages: &[Message]) -> Option<(Vec<Message>, Message, Vec<Message>)> {
    let turns: Vec<ReadTurn> = messages.iter().cloned().map(Ok).collect();
    let Decided { messages, response, following_messages, .. } = cut(&turns, false).ok()?;
    Some((messages, response?, following_messages))
}

fn cut(turns: &[ReadTurn], is_prompt: bool) -> Result<Decided, ItemFault> {
    if !turns.iter().any(|turn| is_of(turn, Role::User)) {
        return Ok(Decided::default());
    }
    let is_waiting = is_prompt && !turns.last().is_some_and(|turn| is_of(turn, Role::Assistant));
    let own = if is_waiting { turns.len()..turns.len() } else { decision(turns) };
    let (before, rest) = turns.split_at(own.start);
    let messages = before.iter().cloned().collect::<Result<Vec<_>, _>>()?;
    let (own, after) = rest.split_at(own.len());
    let following_messages = after.iter().cloned().collect::<Result<Vec<_>, _>>().unwrap_or_default();
    let own: Result<Vec<_>, _> = own.iter().cloned().collect();
    let finish_reason = own.is_err().then(|| FINISHED_UNREADABLE.to_owned());
    Ok(Decided { messages, response: own.ok().and_then(merged), finish_reason, following_messages })
}

/// Returns the range of the model's turns that are the decision; empty, at the end, if there is none.
fn decision(turns: &[ReadTurn]) -> Range<usize> {
    let asked = turns.iter().position(|turn| is_of(turn, Role::User)).unwrap_or(turns.len());
    let is_own = |at: &usize| is_of(&turns[*at], Role::Assistant);
    let calls = |at: &usize| turns[*at].as_ref().map_or(true, |message| !message.calls.is_empty());
    let mut own = (asked..turns.len()).filter(is_own);
    let Some(found) = own.clone().find(calls).or_else(|| own.next()) else { return turns.len()..turns.len() };
    let start = (0..found).rev().take_while(is_own).last().unwrap_or(found);
    let end = (found..turns.len()).take_while(is_own).last().map_or(found, |last| last + 1);
    start..end
}

/// Returns `true` if an unreadable turn is the model's; the turns of others are plain text.
fn is_of(turns: &ReadTurn, role: Role) -> bool {
    turns.as_ref().map_or(role == Role::Assistant, |message| message.role == role)
}

fn merged(turns: Vec<Message>) -> Option<Message> {
    turns.into_iter().reduce(|mut whole, next| {
        if !whole.content.is_empty() && !next.content.is_empty() {
            whole.content.push('\n');
        }
        whole.content.push_str(&next.content);
        whole.calls.extend(next.calls);
        whole
    })
}

fn read(turns: Vec<Turn>, notation: Notation) -> Result<Vec<ReadTurn>, ItemFault> {
    let mut read = Vec::new();
    for turn in turns {
        match turn.speaker {
            Speaker::Calls => read.push(tags::calling(turn.value)),
            Speaker::Role(role) => match push_messages(role, turn.value, notation, &mut read) {
                Err(fault) if role == Role::Assistant => read.push(Err(fault)),
                pushed => pushed?,
            },
        }
    }
    Ok(read)
}

fn push_messages(
    role: Role,
    value: Value,
    notation: Notation,
    turns: &mut Vec<ReadTurn>,
) -> Result<(), ItemFault> {
    let messages = match turns::text_of(&value) {
        Some(text) if value.is_string() => vec![Message::text(role, text)],
        _ => {
            let mut message = value;
            message["role"] = json!(role);
            read_messages(json!([message]))?
        }
    };
    for message in messages {
        match message.role {
            Role::Assistant => turns.push(tags::assistant(message, notation)),
            // Some templates return results in a user's turn.
            Role::Tool | Role::User => turns.extend(tags::results(message).into_iter().map(Ok)),
            Role::System => turns.push(Ok(message)),
        }
    }
    Ok(())
}
