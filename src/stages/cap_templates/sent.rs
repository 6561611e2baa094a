//! A request as templates and rhythm need it.

use crate::content_hash::content_hash;
use crate::conversation::{Message, Role};
use crate::similarity::templates::Sent;
use crate::text::normal::normalise_query;
use crate::text::template::{Values, masked};

/// Reads a request that was sent with a list, by nobody at no time; `None` if there is no user message.
pub fn sent(messages: Vec<Message>, list: u128) -> Option<Sent> {
    let (context, query) = context_and_query(messages)?;
    let form = masked(&query, Values::NumbersAndNames).form;
    Some(Sent {
        source: content_hash(format!("{} {list}", masked(&context, Values::Numbers).form)),
        form: short(&normalise_query(&form)),
        filling: short(&format!("{query}\n{context}")),
        user: None,
        time_ms: None,
    })
}

/// Adds who sent a request, and when.
pub fn sent_by(sent: Sent, user: Option<&str>, time_ms: Option<i64>) -> Sent {
    Sent { user: user.map(short), time_ms, ..sent }
}

/// Returns the last user message without its values.
pub fn template_of(messages: Vec<Message>) -> Option<String> {
    let (_, query) = context_and_query(messages)?;
    Some(normalise_query(&masked(&query, Values::NumbersAndNames).form))
}

/// The other messages as text, and the last user message as sent.
fn context_and_query(mut messages: Vec<Message>) -> Option<(String, String)> {
    let last_user = messages.iter().rposition(|message| message.role == Role::User)?;
    let query = messages.remove(last_user).content;
    Some((serde_json::to_string(&messages).expect("messages are plain data"), query))
}

/// Half of a text's hash: among the requests of a log no two differ by accident.
#[allow(clippy::cast_possible_truncation)] // Meant.
fn short(text: &str) -> u64 {
    content_hash(text) as u64
}
