//! An instruction: what the user writes turn by turn, the gold calls, what they returned, and the answers.

use std::ops::Range;

use crate::answer::Answer;
use crate::execute::Executed;
use crate::program::Program;
use crate::stratum::Stratum;
use crate::wording::templates::Style;
use crate::wording::text::Text;

/// An accepted candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Its kind.
    pub stratum: Stratum,
    /// How its first turn is put.
    pub style: Style,
    /// The name of the initial state.
    pub state: String,
    /// The calls. Of an instruction without a right call, those that would be made if their functions were offered.
    pub program: Program,
    /// The program as it ran.
    pub executed: Executed,
    /// The turns.
    pub turns: Vec<Turn>,
    /// The names of the functions that are offered, in the order of the environment.
    pub offered: Vec<String>,
    /// The function that the request needs and that is not offered.
    pub withheld: Option<String>,
}

/// A message of the user, and what follows before the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// What the user writes.
    pub user: Text,
    /// The steps that are executed.
    pub steps: Range<usize>,
    /// What the assistant answers at the end.
    pub answer: Answer,
}

impl Instruction {
    /// Returns the first turn of the user.
    pub fn text(&self) -> &str {
        self.turns.first().map_or("", |turn| &turn.user.text)
    }

    /// Returns `true` if no call is right.
    pub fn has_no_call(&self) -> bool {
        self.stratum.has_no_call()
    }
}
