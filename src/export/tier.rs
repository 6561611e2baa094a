//! Tiers: what confirms the answer or label of an entry.

/// The tier of answers and labels by people.
pub const HUMAN: &str = "human";
/// The tier of an entry without an answer whose label nothing but the text confirms, or a recorded call; not in the
/// scored files.
pub const JUDGED: &str = "judged";
/// The tier of an answer on which the drafts of several language models agree; not in the scored files.
pub const AGREED: &str = "agreed";
/// The tier of answers that the log has and nothing confirms; not in the scored files.
pub const RECORDED: &str = "recorded";
