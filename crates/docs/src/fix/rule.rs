//! The definition of a rule.

use serde::Serialize;

use super::opinion::Opinion;

/// How certain an edit is to preserve the meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// The meaning is the same in BFCL's words; always made.
    Safe,
    /// The edit fills a gap with a guess or loses something; made on request.
    Unsafe,
    /// The edit is only shown.
    Suggest,
}

/// A fault of functions, with its detection and fix.
#[derive(Debug)]
pub struct FixRule {
    /// The reason code, named for the fault.
    pub code: &'static str,
    /// The fault, in one sentence.
    pub what: &'static str,
    /// Why it matters and how it is fixed.
    pub why: &'static str,
    /// The safety of the edit; findings are suggestions.
    pub safety: Safety,
    /// A function on which the rule fires, as JSON.
    pub fires: &'static str,
    /// A function on which the rule does not fire, as JSON.
    pub quiet: &'static str,
    /// Finds the fault and proposes the change.
    pub(super) judge: fn(&mut Opinion<'_>),
}
