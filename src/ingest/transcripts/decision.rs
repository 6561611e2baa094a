//! Where the question of a finished conversation ends: one decision of the model.
//!
//! The decision is the first turn after a user's message in which the model called, or its
//! first answer where it never called. Turns of the model that follow one another are one
//! (text and calls, calls side by side). The first call, and not the last turn, because
//! conversations end in thanks and goodbyes; because the messages before it hold no calls,
//! so the row asks what a BFCL entry asks; and because what follows then shows whether the
//! call worked. Nothing after the decision is part of the question.

use std::ops::Range;

use serde_json::{Value, json};

use super::tags::{self, Notation};
use super::{Speaker, Turn, said};
use crate::conversation::{Message, Role};
use crate::ingest::messages::read_messages;
use crate::ingest::reasons::Fault;
use crate::ingest::response::FINISHED_UNREADABLE;

/// A conversation that was cut.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Decided {
    /// What was sent; empty where nobody asks.
    pub(super) messages: Vec<Message>,
    /// What the model did.
    pub(super) response: Option<Message>,
    /// Why there is no response although the model took its turn.
    pub(super) finish_reason: Option<String>,
    /// What came after it; empty where a part of it cannot be read.
    pub(super) following_messages: Vec<Message>,
}

/// A message, or a turn of the model whose calls cannot be read.
type Said = Result<Message, Fault>;

/// Cuts a conversation at its decision; a prompt that waits for the model is not cut.
pub(super) fn decide(turns: Vec<Turn>, notation: Notation, is_prompt: bool) -> Result<Decided, Fault> {
    cut(&read(turns, notation)?, is_prompt)
}

/// Cuts messages at their decision: what was sent, what the model did, what came after it.
pub(super) fn cut_messages(messages: &[Message]) -> Option<(Vec<Message>, Message, Vec<Message>)> {
    let said: Vec<Said> = messages.iter().cloned().map(Ok).collect();
    let Decided { messages, response, following_messages, .. } = cut(&said, false).ok()?;
    Some((messages, response?, following_messages))
}

fn cut(said: &[Said], is_prompt: bool) -> Result<Decided, Fault> {
    if !said.iter().any(|said| is_of(said, Role::User)) {
        return Ok(Decided::default());
    }
    let is_waiting = is_prompt && !said.last().is_some_and(|said| is_of(said, Role::Assistant));
    let own = if is_waiting { said.len()..said.len() } else { decision(said) };
    let (before, rest) = said.split_at(own.start);
    let messages = before.iter().cloned().collect::<Result<Vec<_>, _>>()?;
    let (own, after) = rest.split_at(own.len());
    let following_messages = after.iter().cloned().collect::<Result<Vec<_>, _>>().unwrap_or_default();
    let own: Result<Vec<_>, _> = own.iter().cloned().collect();
    let finish_reason = own.is_err().then(|| FINISHED_UNREADABLE.to_owned());
    Ok(Decided { messages, response: own.ok().and_then(merged), finish_reason, following_messages })
}

/// The model's turns that are the decision; empty at the end where it never took one.
fn decision(said: &[Said]) -> Range<usize> {
    let asked = said.iter().position(|said| is_of(said, Role::User)).unwrap_or(said.len());
    let is_own = |at: &usize| is_of(&said[*at], Role::Assistant);
    let calls = |at: &usize| said[*at].as_ref().map_or(true, |message| !message.calls.is_empty());
    let mut own = (asked..said.len()).filter(is_own);
    let Some(found) = own.clone().find(calls).or_else(|| own.next()) else { return said.len()..said.len() };
    let start = (0..found).rev().take_while(is_own).last().unwrap_or(found);
    let end = (found..said.len()).take_while(is_own).last().map_or(found, |last| last + 1);
    start..end
}

/// A turn that cannot be read is the model's: what others say is text.
fn is_of(said: &Said, role: Role) -> bool {
    said.as_ref().map_or(role == Role::Assistant, |message| message.role == role)
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

fn read(turns: Vec<Turn>, notation: Notation) -> Result<Vec<Said>, Fault> {
    let mut said = Vec::new();
    for turn in turns {
        match turn.speaker {
            Speaker::Calls => said.push(tags::calling(turn.value)),
            Speaker::Role(role) => match push_messages(role, turn.value, notation, &mut said) {
                Err(fault) if role == Role::Assistant => said.push(Err(fault)),
                pushed => pushed?,
            },
        }
    }
    Ok(said)
}

fn push_messages(role: Role, value: Value, notation: Notation, said: &mut Vec<Said>) -> Result<(), Fault> {
    let messages = match said::text_of(&value) {
        Some(text) if value.is_string() => vec![Message::text(role, text)],
        _ => {
            let mut message = value;
            message["role"] = json!(role);
            read_messages(json!([message]))?
        }
    };
    for message in messages {
        match message.role {
            Role::Assistant => said.push(tags::assistant(message, notation)),
            // Some templates hand results back in a user's turn.
            Role::Tool | Role::User => said.extend(tags::results(message).into_iter().map(Ok)),
            Role::System => said.push(Ok(message)),
        }
    }
    Ok(())
}
