//! How much memory the values of one text may take.
//!
//! Two bytes of text (`0,`) become a value of many times their size, so a text of brackets and commas
//! could fill the memory of any machine. Readers ask here before they make a value; what would become too
//! large is refused. An allowance is shared by all that is read out of one text, part by part and layer by
//! layer. What an attempt took that came to nothing is given back. The figures are upper bounds of what
//! `serde_json` takes on a 64-bit machine, slack of growing lists and maps included; the characters of
//! strings are not counted, since they are never more than the text.

use std::cell::Cell;

use serde_json::Value;

/// What any text may become, in bytes: far more than lists of functions do.
///
/// The largest lists in use (a megabyte or so) take four to seven bytes a byte; twenty of them in one text are still read.
const FIXED_BYTES: usize = 56 << 20;

/// What a text may become beyond that, in bytes for each of its own.
const TIMES: usize = 4;

/// What one place in a list takes.
pub(crate) const ELEMENT_BYTES: usize = 144;

/// What one member of an object takes, its key's characters aside.
pub(crate) const MEMBER_BYTES: usize = 224;

/// What a list or an object with anything in it takes beside its places.
pub(crate) const BRACKET_BYTES: usize = 200;

/// What is left for the values of one text.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl Allowance {
    /// The allowance of a text as it came.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = FIXED_BYTES.saturating_add(TIMES.saturating_mul(text.len()));
        Self { left: Cell::new(bytes), is_exceeded: Cell::new(false) }
    }

    /// Takes bytes for a value that is about to be made; false where they are not there.
    pub(crate) fn take(&self, n_bytes: usize) -> bool {
        match self.left.get().checked_sub(n_bytes) {
            Some(left) => self.left.set(left),
            None => self.is_exceeded.set(true),
        }
        !self.is_exceeded.get()
    }

    /// Reads with a rule, and gets back what that took if it made nothing.
    pub(crate) fn attempt<T, E>(&self, rule: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let left = self.left.get();
        let read = rule();
        if read.is_err() {
            self.left.set(left);
        }
        read
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.left.get()
    }

    /// Takes bytes back that a value had which is no more.
    pub(crate) fn give_back(&self, n_bytes: usize) {
        self.left.set(self.left.get() + n_bytes);
    }

    /// Whether more was asked for than there was.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }
}

/// What a copy of a value takes, at most.
pub(crate) fn bytes_of(value: &Value) -> usize {
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

/// What a copy of a member takes, at most.
pub(crate) fn bytes_of_member((key, value): (&String, &Value)) -> usize {
    MEMBER_BYTES + key.len() + bytes_of(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_to_nothing_is_given_back() {
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
    fn once_exceeded_nothing_more_is_given() {
        let allowance = Allowance::of("[]");
        assert!(!allowance.take(usize::MAX));
        assert!(!allowance.take(1));
    }
}
