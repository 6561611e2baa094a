//! The functions that rows are offered, for stages that ask about many rows.
//!
//! Doc lists are made of few functions: ten thousand lists of an environment hold the same twenty. Each distinct doc is parsed and
//! written once, and lists share it.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::answers::called::CallableFunctions;
use crate::cells::TypedCells as _;
use crate::columns::FUNCTIONS;
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::RowIx;
use crate::prompts::texts::OfferedFunctions;
use crate::text::memo::Memo;

/// The doc of a function.
#[derive(Debug)]
pub(super) struct Doc {
    /// Parsed.
    pub(super) value: Value,
    /// As JSON.
    text: String,
}

impl Doc {
    /// Its name.
    pub(super) fn name(&self) -> Option<&str> {
        self.value["name"].as_str()
    }
}

/// The docs of all doc lists.
pub(super) struct OfferedDocs<'a>(Parents<'a, Vec<Arc<Doc>>>);

impl OfferedDocs<'_> {
    /// Reads the docs of all doc lists, each distinct one once.
    ///
    /// # Errors
    /// As [`View::all_parents`].
    pub(super) fn read<'a>(view: &View<'a>, cx: &Context<'_>) -> Result<OfferedDocs<'a>> {
        let known: Mutex<FxHashMap<Box<str>, Arc<Doc>>> = Mutex::default();
        let docs = view.all_parents(cx, |list| {
            let text = list.text(FUNCTIONS).unwrap_or("[]");
            elements(text).into_iter().map(|doc| shared(doc, &known)).collect()
        })?;
        Ok(OfferedDocs(docs))
    }

    /// Returns the docs that a request is offered.
    pub(super) fn of(&self, request: RowIx) -> &[Arc<Doc>] {
        self.0.of(request).map_or(&[][..], Vec::as_slice)
    }

    /// Returns the docs that a request is offered as values of its own.
    pub(super) fn values_of(&self, request: RowIx) -> Vec<Value> {
        self.of(request).iter().map(|doc| doc.value.clone()).collect()
    }
}

/// Returns what calls can be of a list. Lists that were merged as equal have the same functions, so these are read once.
pub(super) fn callable(list: Row<'_>, known: &Memo<u128, Arc<CallableFunctions>>) -> Arc<CallableFunctions> {
    known.get_or(list.hash_of(&[FUNCTIONS]), || Arc::new(CallableFunctions::new(&list.functions())))
}

/// Writes docs for requests to a model.
pub(super) fn written(docs: &[Arc<Doc>]) -> OfferedFunctions {
    OfferedFunctions::written(docs.iter().map(|doc| (doc.text.as_str(), doc.name())))
}

/// Returns the one copy of a doc.
fn shared(text: &str, known: &Mutex<FxHashMap<Box<str>, Arc<Doc>>>) -> Arc<Doc> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(doc) = known.get(text) {
        return Arc::clone(doc);
    }
    let value: Value = serde_json::from_str(text).expect("a column that callsieve wrote is JSON");
    let doc = Arc::new(Doc { text: value.to_string(), value });
    known.insert(text.into(), Arc::clone(&doc));
    doc
}

/// Returns the texts of the elements of a JSON array, without parsing them.
fn elements(array: &str) -> Vec<&str> {
    let bytes = array.as_bytes();
    let (mut elements, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_text(bytes, at),
            b'[' | b'{' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            sign @ (b']' | b'}' | b',') => {
                if depth == 1 {
                    elements.push(array[start..at].trim());
                    start = at + 1;
                }
                depth -= usize::from(sign != b',').min(depth);
            }
            _ => {}
        }
        at += 1;
    }
    // An array without elements has an empty text.
    elements.retain(|text| !text.is_empty());
    elements
}

/// Returns the place of the closing quotation mark of a text of JSON.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_cut_into_its_elements() {
        for list in [
            json!([]),
            json!([{}]),
            json!([{"name": "a", "b": [1, {"c": "],[ \" \\ }"}]}, "x,\"y", [[], {}], 1.50, null]),
            json!([{"é\u{2028}": "[\"日\\\""}, {"name": "b"}]),
        ] {
            for text in [list.to_string(), format!("{list:#}")] {
                let parsed: Vec<Value> =
                    elements(&text).into_iter().map(|one| serde_json::from_str(one).unwrap()).collect();
                assert_eq!(Value::Array(parsed), list, "{text}");
            }
        }
    }

    #[test]
    fn a_doc_of_several_lists_is_parsed_once_and_written_as_a_list_would_be() {
        let known = Mutex::default();
        let docs = [json!({"name": "b", "x": 1}), json!({"name": "a"})];
        let text = json!(docs).to_string();
        let read = || elements(&text).into_iter().map(|doc| shared(doc, &known)).collect::<Vec<_>>();
        let (one, other) = (read(), read());
        assert!(one.iter().zip(&other).all(|(one, other)| Arc::ptr_eq(one, other)));
        assert_eq!(written(&one), OfferedFunctions::of(&docs));
    }
}
