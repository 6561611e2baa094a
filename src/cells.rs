//! The cells that hold JSON, each as the type it was written from.
//!
//! The engine knows no column by name and no type of a cell. Here every JSON column of [`crate::columns`] has a getter, so
//! that a stage names the column once, in its contract, and no stage can read it as another type.
//!
//! A cell is decoded where its getter is called, by the thread that judges the row, and let go there. A stage calls a getter
//! once a row, and what it needs of doc lists it decodes once a list ([`View::parents`](crate::engine::view::View::parents)).

use serde_json::Value;

use crate::columns::{
    ANSWER, ANSWER_ONLY_PLACEHOLDERS, DOCS_PLACEHOLDERS, FOLLOWING_MESSAGES, FUNCTIONS, MESSAGES,
    RELEVANCE_BASIS, RENAMES, RESPONSE,
};
use crate::conversation::Message;
use crate::docs::fix::renames::Rename;
use crate::engine::view::Row;
use crate::privacy::NotedSpan;

/// The JSON cells of a request or of a doc list.
///
/// # Panics
/// Every getter does where the cell does not hold what its column holds: see [`Row::json`].
pub trait TypedCells {
    /// The conversation as sent; empty where the cell is.
    fn messages(&self) -> Vec<Message>;
    /// What the logged model answered.
    fn response(&self) -> Option<Message>;
    /// What came after the answer, where its line tells.
    fn following_messages(&self) -> Option<Vec<Message>>;
    /// Where personal values are in the docs of the request.
    fn docs_placeholders(&self) -> Option<Vec<NotedSpan>>;
    /// The placeholders that only the recorded answer holds.
    fn answer_only_placeholders(&self) -> Option<Vec<String>>;
    /// The answer as BFCL ground truth, a call each.
    fn answer(&self) -> Option<Vec<Value>>;
    /// What the relevance rests on.
    fn relevance_basis(&self) -> Option<Value>;
    /// The functions of the doc list; empty where the cell is.
    fn functions(&self) -> Vec<Value>;
    /// The names that fixes changed in the doc list.
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
