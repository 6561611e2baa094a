//! Counts of a source and of what was read from it, with what was lost on the way.

use std::ops::AddAssign;

use serde::Serialize;

use crate::census::{Census, Kind, Missing};

/// The most missing items that are listed.
const MAX_MISSING: usize = 20;

/// The number of items of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// In the source, counted without the reader.
    pub source: usize,
    /// In what was read.
    pub read: usize,
    /// Items of the source that are not in what was read, compared by content.
    pub lost: usize,
}

/// Counts of one or several sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Tools.
    pub tools: Count,
    /// Functions.
    pub functions: Count,
    /// Parameters at all depths.
    pub parameters: Count,
    /// Defaults.
    pub defaults: Count,
    /// Examples of parameters.
    pub examples: Count,
    /// Lists of allowed values.
    pub enums: Count,
    /// Descriptions.
    pub descriptions: Count,
    /// Functions of sources that cannot be counted without their reader: damaged text and program source. They are in no
    /// other count.
    pub uncounted_functions: usize,
    /// The first missing items.
    pub missing: Vec<Missing>,
}

impl Counts {
    /// Compares a source with what was read from it.
    pub fn compare(source: &Census, read: &Census) -> Self {
        let missing = source.missing_in(read);
        let lost =
            |kind| missing.iter().filter(|missing| missing.kind == kind).map(|missing| missing.n).sum();
        let count = |kind| Count { source: source.count(kind), read: read.count(kind), lost: lost(kind) };
        Self {
            tools: count(Kind::Tools),
            functions: count(Kind::Functions),
            parameters: count(Kind::Parameters),
            defaults: count(Kind::Defaults),
            examples: count(Kind::Examples),
            enums: count(Kind::Enums),
            descriptions: count(Kind::Descriptions),
            uncounted_functions: 0,
            missing: missing.into_iter().take(MAX_MISSING).collect(),
        }
    }

    /// Returns the counts of a source that cannot be counted without its reader.
    pub fn uncounted(n_functions: usize) -> Self {
        Self { uncounted_functions: n_functions, ..Self::default() }
    }

    /// Returns all counts with their names.
    pub fn named(&self) -> [(&'static str, Count); 7] {
        [
            ("tools", self.tools),
            ("functions", self.functions),
            ("parameters", self.parameters),
            ("defaults", self.defaults),
            ("examples", self.examples),
            ("enums", self.enums),
            ("descriptions", self.descriptions),
        ]
    }

    /// Returns the number of lost items of all kinds.
    pub fn lost(&self) -> usize {
        self.named().iter().map(|(_, count)| count.lost).sum()
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.source += other.source;
        self.read += other.read;
        self.lost += other.lost;
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.tools += other.tools;
        self.functions += other.functions;
        self.parameters += other.parameters;
        self.defaults += other.defaults;
        self.examples += other.examples;
        self.enums += other.enums;
        self.descriptions += other.descriptions;
        self.uncounted_functions += other.uncounted_functions;
        let room = MAX_MISSING.saturating_sub(self.missing.len());
        self.missing.extend(other.missing.iter().take(room).cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_losses_are_by_kind() {
        let mut source = Census::default();
        source.function("ring", Some("Rings."));
        source.parameter();
        source.parameter();
        let mut read = Census::default();
        read.function("ring", Some("Rings."));
        read.parameter();
        let mut counts = Counts::compare(&source, &read);
        assert_eq!(counts.parameters, Count { source: 2, read: 1, lost: 1 });
        assert_eq!((counts.functions.lost, counts.descriptions.lost, counts.lost()), (0, 0, 1));
        assert_eq!(counts.missing[0].item, "ring: ring");
        counts += &counts.clone();
        counts += &Counts::uncounted(3);
        assert_eq!((counts.parameters.source, counts.lost(), counts.uncounted_functions), (4, 2, 3));
    }
}
