//! What is like the functions of rows that were looked for: training sets offer a function in many lists, and it is read and compared
//! once.
//!
//! A function is known by its exact JSON. Only one that is read without the others of its list is known, so a hit is that of a
//! comparison of each list by itself.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::functions::Alike;
use callsieve_docs::signature::{Signature, plain_signature};
use callsieve_text::content_hash::content_hash;

/// The most functions that are known; others are compared each time.
const MOST_KNOWN: usize = 1 << 16;

/// What is like a function.
#[derive(Debug, Default)]
pub(super) struct Like {
    /// Functions of entries.
    pub(super) docs: Vec<Alike>,
    /// Functions of environments.
    pub(super) environments: Vec<Alike>,
}

/// Functions by the hash of their JSON.
#[derive(Debug, Default)]
pub(super) struct SeenFunctions(Mutex<FxHashMap<u128, Arc<Like>>>);

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

    fn of(&self, function: &Value, like: &impl Fn(&Signature) -> Like) -> Option<Arc<Like>> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
}
