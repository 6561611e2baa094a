//! Official or strict.

/// Whether verdicts follow the official code or its documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The verdict of the official code, also where it surprises.
    #[default]
    Official,
    /// The verdict by the documentation of the leaderboard.
    Strict,
}
