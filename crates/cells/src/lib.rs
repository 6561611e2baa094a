//! Typed access to the cells that hold JSON.
//!
//! The engine does not know the names of columns or the types of their JSON. Here every JSON column of
//! [`callsieve_engine::columns`] has a getter, so that no stage can read it as another type.
//!
//! A getter decodes the cell on each call, in the thread that judges the row. A stage calls a getter once per row, and
//! decodes what it needs of doc lists once per list ([`View::parents`](callsieve_engine::view::View::parents)).

use serde_json::Value;

use callsieve_bfcl::conversation::Message;
use callsieve_docs::fix::renames::Rename;
use callsieve_engine::columns::{
    ANSWER, ANSWER_ONLY_PLACEHOLDERS, DOCS_PLACEHOLDERS, FOLLOWING_MESSAGES, FUNCTIONS, MESSAGES,
    RELEVANCE_BASIS, RENAMES, RESPONSE,
};
use callsieve_engine::view::Row;
use callsieve_privacy::NotedSpan;

/// The JSON cells of a request or of a doc list.
///
/// # Panics
/// All getters panic if the cell does not hold the type of its column: see [`Row::json`].
pub trait TypedCells {
    /// Returns the conversation as sent; empty if the cell is.
    fn messages(&self) -> Vec<Message>;
    /// Returns the logged model's answer.
    fn response(&self) -> Option<Message>;
    /// Returns the messages after the answer, if its line holds them.
    fn following_messages(&self) -> Option<Vec<Message>>;
    /// Returns the places of personal values in the docs of the request.
    fn docs_placeholders(&self) -> Option<Vec<NotedSpan>>;
    /// Returns the placeholders that only the recorded answer holds.
    fn answer_only_placeholders(&self) -> Option<Vec<String>>;
    /// Returns the answer as BFCL ground truth, one value per call.
    fn answer(&self) -> Option<Vec<Value>>;
    /// Returns the basis of the relevance.
    fn relevance_basis(&self) -> Option<Value>;
    /// Returns the functions of the doc list; empty if the cell is.
    fn functions(&self) -> Vec<Value>;
    /// Returns the names that fixes changed in the doc list.
    fn renames(&self) -> Option<Vec<Rename>>;
}

impl TypedCells for Row<'_> {
    fn messages(&self) -> Vec<Message> {
        self.json(MESSAGES).unwrap_or_default()
    }

    fn response(&self) -> Option<Message> {
        self.json(RESPONSE)
    }

    fn following_messages(&self) -> Option<Vec<Message>> {
        self.json(FOLLOWING_MESSAGES)
    }

    fn docs_placeholders(&self) -> Option<Vec<NotedSpan>> {
        self.json(DOCS_PLACEHOLDERS)
    }

    fn answer_only_placeholders(&self) -> Option<Vec<String>> {
        self.json(ANSWER_ONLY_PLACEHOLDERS)
    }

    fn answer(&self) -> Option<Vec<Value>> {
        self.json(ANSWER)
    }

    fn relevance_basis(&self) -> Option<Value> {
        self.json(RELEVANCE_BASIS)
    }

    fn functions(&self) -> Vec<Value> {
        self.json(FUNCTIONS).unwrap_or_default()
    }

    fn renames(&self) -> Option<Vec<Rename>> {
        self.json(RENAMES)
    }
}
