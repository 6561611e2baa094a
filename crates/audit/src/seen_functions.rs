//! What is like the functions of rows that were looked for: training sets offer a function in many lists, and it is read and compared
//! once.
//!
//! A function is known by its exact JSON, or by its text in a list, so that a list of known functions is not even parsed. Only one that
//! is read without the others of its list is known, so a hit is that of a comparison of each list by itself.

use std::sync::{Arc, Mutex, PoisonError};

use memchr::memchr2;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::functions::Alike;
use callsieve_docs::parse::parse;
use callsieve_docs::parse::step::ParseStep;
use callsieve_docs::signature::{Signature, plain_signature};
use callsieve_text::content_hash::content_hash;

/// The most functions that are known; others are compared each time.
const MOST_KNOWN: usize = 1 << 16;
/// The longest list that is read function by function, in bytes: none of this length takes more memory than `parse` allows for a list.
const LONGEST_LIST: usize = 1 << 18;

/// What is like a function.
#[derive(Debug, Default)]
pub(super) struct Like {
    /// Functions of entries.
    pub(super) docs: Vec<Alike>,
    /// Functions of environments.
    pub(super) environments: Vec<Alike>,
}

/// Functions that were looked for.
#[derive(Debug, Default)]
pub(super) struct SeenFunctions {
    /// By the hash of their JSON.
    by_json: Mutex<FxHashMap<u128, Arc<Like>>>,
    /// By the hash of their text in a list; nothing for one that is not read by itself.
    by_text: Mutex<FxHashMap<u128, Option<Arc<Like>>>>,
}

impl SeenFunctions {
    /// Returns what is like each function of a list; `None` if one of them is read only with the others. `like` compares a function that
    /// is not known.
    pub(super) fn of_list(
        &self,
        functions: &[Value],
        like: impl Fn(&Signature) -> Like,
    ) -> Option<Vec<Arc<Like>>> {
        functions.iter().map(|function| self.of(function, &like)).collect()
    }

    /// Returns the same for a list as it was sent; `None` if it must be parsed as a whole.
    pub(super) fn of_text(&self, list: &str, like: impl Fn(&Signature) -> Like) -> Option<Vec<Arc<Like>>> {
        let found: Option<Vec<Arc<Like>>> =
            elements(list)?.into_iter().map(|element| self.of_element(element, &like)).collect();
        found.filter(|found| !found.is_empty())
    }

    fn of(&self, function: &Value, like: &impl Fn(&Signature) -> Like) -> Option<Arc<Like>> {
        let known = || self.by_json.lock().unwrap_or_else(PoisonError::into_inner);
        let key = content_hash(serde_json::to_vec(function).ok()?);
        if let Some(found) = known().get(&key) {
            return Some(Arc::clone(found));
        }
        let found = Arc::new(like(&plain_signature(function)?));
        let mut known = known();
        if known.len() < MOST_KNOWN {
            known.insert(key, Arc::clone(&found));
        }
        Some(found)
    }

    fn of_element(&self, element: &str, like: &impl Fn(&Signature) -> Like) -> Option<Arc<Like>> {
        let known = || self.by_text.lock().unwrap_or_else(PoisonError::into_inner);
        let key = content_hash(element);
        {
            let known = known();
            if let Some(found) = known.get(&key) {
                return found.clone();
            }
            // Of a function that cannot be remembered, the whole list is parsed, as if there were no memory.
            if known.len() >= MOST_KNOWN {
                return None;
            }
        }
        let found = function_of(element).and_then(|function| self.of(&function, like));
        known().insert(key, found.clone());
        found
    }
}

/// Returns the function that an element of a list is, if it is strict JSON and exactly one.
fn function_of(element: &str) -> Option<Value> {
    let parsed = parse(&format!("[{element}]")).ok()?;
    let [function] = <[Value; 1]>::try_from(parsed.functions).ok()?;
    parsed.steps.contains(&ParseStep::StrictJson).then_some(function)
}

/// Splits a list of objects into the texts of its elements; `None` if it is something else, is longer than [`LONGEST_LIST`], or does
/// not look like JSON. An element need not be JSON: that is for its parser to decide.
fn elements(list: &str) -> Option<Vec<&str>> {
    let inside = list.strip_prefix('[')?.strip_suffix(']')?;
    if list.len() > LONGEST_LIST {
        return None;
    }
    let bytes = inside.as_bytes();
    let (mut found, mut start, mut depth, mut at) = (Vec::new(), None, 0_usize, 0);
    let mut is_separated = true;
    while let Some(byte) = bytes.get(at) {
        match (byte, start) {
            (b'"', Some(_)) => at = string_end(bytes, at)?,
            (b'{' | b'[', Some(_)) => depth += 1,
            (b'{', None) if is_separated => (start, depth) = (Some(at), 1),
            (b'}' | b']', Some(from)) => {
                depth -= 1;
                if depth == 0 {
                    found.push(&inside[from..=at]);
                    (start, is_separated) = (None, false);
                }
            }
            (b',', None) if !is_separated => is_separated = true,
            (b' ' | b'\n' | b'\r' | b'\t', None) | (_, Some(_)) => {}
            (_, None) => return None,
        }
        at += 1;
    }
    // A comma is before another element.
    (start.is_none() && !is_separated).then_some(found)
}

/// Returns the place of the quote that closes the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_function_is_compared_once_and_not_without_its_list_if_that_matters() {
        let function = |name: &str, kind: &str| json!({"name": name, "parameters": {"type": "object", "properties": {"bell": {"type": kind}}}});
        let seen = SeenFunctions::default();
        let n_compared = Cell::new(0);
        let like = |signature: &Signature| {
            n_compared.set(n_compared.get() + 1);
            assert_eq!(signature.parameters.len(), 1);
            Like::default()
        };
        let (ring, mend) = (function("ring", "string"), function("mend", "string"));
        for (list, n) in [
            (vec![ring.clone()], 1),
            (vec![ring.clone(), mend.clone(), ring.clone()], 2),
            (vec![function("ring", "integer"), mend], 3),
        ] {
            assert_eq!(seen.of_list(&list, like).map(|found| found.len()), Some(list.len()));
            assert_eq!(n_compared.get(), n, "{list:?}");
        }
        let not_plain = json!({"name": "toll", "inputs": {"bell": "str"}});
        assert!(seen.of_list(&[ring, not_plain], like).is_none());
        assert_eq!(seen.of_list(&[], like).map(|found| found.len()), Some(0));
    }

    fn of_text(seen: &SeenFunctions, list: &str) -> Option<usize> {
        seen.of_text(list, |_| Like::default()).map(|found| found.len())
    }

    #[test]
    fn a_list_of_plain_functions_is_read_by_the_texts_of_its_elements() {
        let seen = SeenFunctions::default();
        let function = |name: &str| {
            format!(
                "{{\"name\": \"{name}\", \"description\": \"a \\\" ] }} b\\\\\", \"parameters\": {{\"type\": \"object\", \"properties\": {{}}}}}}"
            )
        };
        let (ring, mend) = (function("ring"), function("mend"));
        for (list, expected) in [
            (format!("[{ring}]"), Some(1)),
            (format!("[ {ring},\n{mend} ,{ring}]"), Some(3)),
            (format!("[{{\"type\": \"function\", \"function\": {ring}}},{mend}]"), Some(2)),
            ("[]".to_owned(), None),
            (format!("[{ring},]"), None),
            (format!("[,{ring}]"), None),
            (format!("[{ring} {mend}]"), None),
            (format!("[{ring},{{]"), None),
            (format!("[{ring},{{}}}}]"), None),
            (format!("[{ring},[{mend}]]"), None),
            (
                format!(
                    "[{ring},{{'name': 'mend', 'parameters': {{'type': 'object', 'properties': {{}}}}}}]"
                ),
                None,
            ),
            (format!("[{ring},{{\"name\": \"toll\", \"inputs\": {{\"bell\": \"str\"}}}}]"), None),
            (format!("[{ring},{{\"name\": \"mend\"]"), None),
            (format!("[{ring},{{\"functions\": [{ring},{mend}]}}]"), None),
            (ring.clone(), None),
            (String::new(), None),
        ] {
            assert_eq!(of_text(&seen, &list), expected, "{list}");
            // What is known of an element does not change what is found.
            assert_eq!(of_text(&seen, &list), expected, "{list}");
        }
        assert_eq!(
            of_text(&seen, &format!("[{}]", vec![ring.clone(); LONGEST_LIST / ring.len() + 1].join(","))),
            None
        );
    }
}
