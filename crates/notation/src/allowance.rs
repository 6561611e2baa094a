//! Limits the memory of the values that are parsed from one text.
//!
//! Two bytes of text (`0,`) become a value of many times their size, so a text of brackets and commas could fill the
//! memory of any machine. Parsers take memory from the allowance before they create a value; values that would become
//! too large are refused. All parts and layers of one text share an allowance. A failed attempt returns its memory. The
//! figures are upper bounds for `serde_json` on a 64-bit machine, with the slack of growing lists and maps; the
//! characters of strings are not counted, because they are never more than the text.

use std::cell::Cell;

use serde_json::Value;

/// The bytes that the values of any text may take: far more than lists of functions need.
///
/// The largest lists in use (about a megabyte) take four to seven bytes per byte; a text with twenty of them is still
/// read.
const FIXED_BYTES: usize = 56 << 20;

/// The additional bytes for each byte of a text.
const TIMES: usize = 4;

/// The memory of one element of a list.
pub const ELEMENT_BYTES: usize = 144;

/// The memory of one member of an object, without the characters of its key.
pub const MEMBER_BYTES: usize = 224;

/// The memory of a list or object that is not empty, without its elements.
pub const BRACKET_BYTES: usize = 200;

/// The remaining memory for the values of one text.
#[derive(Debug)]
pub struct Allowance {
    left: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl Allowance {
    /// Returns the allowance of an original text.
    pub fn of(text: &str) -> Self {
        Self::of_length(text.len())
    }

    /// Returns the allowance of an original text of this many bytes.
    pub fn of_length(n_bytes: usize) -> Self {
        let bytes = FIXED_BYTES.saturating_add(TIMES.saturating_mul(n_bytes));
        Self { left: Cell::new(bytes), is_exceeded: Cell::new(false) }
    }

    /// Takes bytes for a new value; `false` if too few remain.
    pub fn take(&self, n_bytes: usize) -> bool {
        match self.left.get().checked_sub(n_bytes) {
            Some(left) => self.left.set(left),
            None => self.is_exceeded.set(true),
        }
        !self.is_exceeded.get()
    }

    /// Runs a rule, and takes back its memory if it fails.
    ///
    /// # Errors
    /// That of the attempt.
    pub fn attempt<T, E>(&self, rule: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let left = self.left.get();
        let read = rule();
        if read.is_err() {
            self.left.set(left);
        }
        read
    }

    /// Returns the remaining bytes.
    pub fn left(&self) -> usize {
        self.left.get()
    }

    /// Takes back the bytes of a dropped value.
    pub fn give_back(&self, n_bytes: usize) {
        self.left.set(self.left.get() + n_bytes);
    }

    /// Returns `true` if a request for memory was refused.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }
}

/// Returns the maximum memory of a copy of a value.
pub fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) if !items.is_empty() => {
            BRACKET_BYTES + items.iter().map(|item| ELEMENT_BYTES + bytes_of(item)).sum::<usize>()
        }
        Value::Object(map) if !map.is_empty() => {
            BRACKET_BYTES + map.iter().map(bytes_of_member).sum::<usize>()
        }
        _ => 0,
    }
}

/// Returns the maximum memory of a copy of a member.
pub fn bytes_of_member((key, value): (&String, &Value)) -> usize {
    MEMBER_BYTES + key.len() + bytes_of(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_attempt_returns_its_memory() {
        let allowance = Allowance::of("");
        assert!(allowance.take(FIXED_BYTES - 1));
        assert_eq!(
            allowance.attempt(|| if allowance.take(1) { Err("no value") } else { Ok(()) }),
            Err("no value")
        );
        assert!(allowance.take(1) && !allowance.is_exceeded());
        assert!(!allowance.take(1) && allowance.is_exceeded());
    }

    #[test]
    fn an_exceeded_allowance_grants_nothing_more() {
        let allowance = Allowance::of("[]");
        assert!(!allowance.take(usize::MAX));
        assert!(!allowance.take(1));
    }
}
