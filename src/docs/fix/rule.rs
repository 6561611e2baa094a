//! What a rule is.

use serde::Serialize;

use super::opinion::Opinion;

/// How sure an edit is to say what the writer meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// It only says the same in BFCL's words; made always.
    Safe,
    /// It fills a gap with a guess or loses something; made when asked for.
    Unsafe,
    /// It is only shown.
    Suggest,
}

/// One thing that can be wrong with a function.
#[derive(Debug)]
pub struct Rule {
    /// The reason code, named for the fault.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub what: &'static str,
    /// Why it matters and what is done about it.
    pub why: &'static str,
    /// How sure the edit is; findings are suggestions.
    pub safety: Safety,
    /// A function, as JSON, on which the rule fires.
    pub fires: &'static str,
    /// A function, as JSON, on which it does not.
    pub quiet: &'static str,
    /// What finds the fault and proposes the change.
    pub(super) judge: fn(&mut Opinion<'_>),
}
