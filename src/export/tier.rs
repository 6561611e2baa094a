//! Tiers: what confirms the answer or label of an entry.

/// The tier of answers and labels by people.
pub const HUMAN: &str = "human";
/// The tier of an entry without an answer whose label is based on the text alone; not in the scored files.
pub const JUDGED: &str = "judged";
/// The tier of an answer on which the drafts of several language models agree; not in the scored files.
pub const AGREED: &str = "agreed";
