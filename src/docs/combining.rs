//! The keys by which JSON Schema puts schemas together.
//!
//! One table, of which each shorter list is a part. Lists of other rooms that mean something else (whatever holds a
//! list of schemas, whatever tells a schema from a bare map) say so where they stand.

/// Keys that say what nothing else says, so they wait for a rule or a reader.
pub(super) const COMBINING: [&str; 8] = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"];

/// Those of them that stand for other schemas.
pub(super) const STANDING_FOR_OTHERS: &[&str] = COMBINING.split_at(4).0;

/// Those that hold a list of schemas.
pub(super) const BRANCHING: &[&str] = STANDING_FOR_OTHERS.split_at(1).1;

/// Those that hold alternatives, of which one is meant.
pub(super) const ALTERNATIVES: &[&str] = BRANCHING.split_at(2).0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_is_a_part_of_the_one_before() {
        assert_eq!(STANDING_FOR_OTHERS, ["$ref", "anyOf", "oneOf", "allOf"]);
        assert_eq!(BRANCHING, ["anyOf", "oneOf", "allOf"]);
        assert_eq!(ALTERNATIVES, ["anyOf", "oneOf"]);
    }
}
