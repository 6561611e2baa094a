//! When failed requests show that further ones cannot do better.

use super::Error;

/// Failed requests in a row after which no other is sent, if the server fails or cannot be reached.
const MAX_FAILING: usize = 5;
/// The same if the server refuses single requests: a few can be too long for a model.
const MAX_REFUSED: usize = 20;

/// Counts failed requests in a row.
#[derive(Debug, Default)]
pub struct Failures {
    in_a_row: usize,
}

/// Why no further request can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hopeless {
    /// The server refuses the key, the credit, the model or the address.
    Refused,
    /// The limit of requests or the credit is used up: the server refuses all attempts.
    Limited,
    /// Several requests in a row failed.
    Failing,
}

impl Failures {
    /// Counts a reply that arrived.
    pub fn ended(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a failed request, and returns whether further ones make no sense.
    pub fn after(&mut self, error: &Error) -> Option<Hopeless> {
        self.in_a_row += 1;
        let limit = match error {
            Error::Refused { status: 401..=405, .. } | Error::Redirected { .. } | Error::Setting(_) => {
                return Some(Hopeless::Refused);
            }
            Error::Refused { status: 429, .. } => return Some(Hopeless::Limited),
            Error::Refused { status: 400..=499, .. } => MAX_REFUSED,
            _ => MAX_FAILING,
        };
        (self.in_a_row >= limit).then_some(Hopeless::Failing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16) -> Error {
        Error::Refused { url: String::new(), status, message: String::new() }
    }

    #[test]
    fn a_wrong_key_ends_at_once_and_other_failures_after_several_in_a_row() {
        assert_eq!(Failures::default().after(&refused(401)), Some(Hopeless::Refused));
        assert_eq!(Failures::default().after(&refused(429)), Some(Hopeless::Limited));
        for (status, limit) in [(400, MAX_REFUSED), (503, MAX_FAILING)] {
            let mut failures = Failures::default();
            assert!((1..limit).all(|_| failures.after(&refused(status)).is_none()));
            failures.ended();
            assert!((1..limit).all(|_| failures.after(&refused(status)).is_none()));
            assert_eq!(failures.after(&refused(status)), Some(Hopeless::Failing), "{status}");
        }
    }
}
