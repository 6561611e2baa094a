//! Rows in memory, and a validator that only parses: for tests and examples.

use serde_json::{Value, json};

use super::{Checked, Checker, Edit, Head, Note, Source, SourceError};
use crate::item::{CategoryCount, Item, sort};

/// Rows in memory.
#[derive(Debug, Clone, Default)]
pub struct MemorySource {
    items: Vec<Item>,
    categories: Vec<CategoryCount>,
}

impl MemorySource {
    /// Returns a source with these items, sorted for review.
    pub fn new(mut items: Vec<Item>, categories: Vec<CategoryCount>) -> Self {
        sort(&mut items);
        Self { items, categories }
    }
}

impl Source for MemorySource {
    fn heads(&self) -> Result<Vec<Head>, SourceError> {
        Ok(self.items.iter().map(Head::of).collect())
    }

    fn page(&self, from: usize, count: usize) -> Result<Vec<Item>, SourceError> {
        Ok(self.items.iter().skip(from).take(count).cloned().collect())
    }

    fn categories(&self) -> Vec<CategoryCount> {
        self.categories.clone()
    }
}

/// Accepts any text of a query, and any JSON list of objects otherwise. Warns of functions that are not on offer.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonChecker;

impl Checker for JsonChecker {
    fn check(&self, item: &Item, edit: Edit, text: &str) -> Checked {
        let error = |place: Option<String>, text: &str| Checked {
            value: None,
            notes: vec![Note { is_error: true, place, text: text.to_owned() }],
        };
        if edit == Edit::EditQuery {
            let is_empty = text.trim().is_empty();
            return if is_empty {
                error(None, "the query is empty")
            } else {
                Checked { value: Some(Value::from(text)), notes: Vec::new() }
            };
        }
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(fault) => {
                let message = fault.to_string();
                let end = message.rfind(" at line ").unwrap_or(message.len());
                let place = format!("line {}, column {}", fault.line(), fault.column());
                return error(Some(place), &message[..end]);
            }
        };
        let Some(objects) = value.as_array().filter(|all| all.iter().all(Value::is_object)) else {
            return error(None, "expected a list of objects");
        };
        if edit == Edit::EditDoc {
            return Checked { value: Some(json!({"functions": value})), notes: Vec::new() };
        }
        let names = objects.iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys);
        let unknown = names.filter(|name| !item.functions.iter().any(|known| known.name == **name));
        let note = |name: &String| Note {
            is_error: false,
            place: Some(name.clone()),
            text: "no function on offer has this name".to_owned(),
        };
        Checked { notes: unknown.map(note).collect(), value: Some(value) }
    }
}
