//! The keywords with which JSON Schema combines schemas.
//!
//! Each shorter list is a part of the longest. Other modules have similar lists with another meaning (keys that hold a
//! list of schemas, keys that distinguish a schema from a bare map); these are documented there.

/// All combining keywords; none can be dropped without losing information.
pub(super) const COMBINING: [&str; 8] = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"];

/// The keywords that refer to or contain other schemas in place of this one.
pub(super) const SUBSTITUTES: &[&str] = COMBINING.split_at(4).0;

/// The keywords whose value is a list of schemas.
pub(super) const BRANCHING: &[&str] = SUBSTITUTES.split_at(1).1;

/// The keywords whose value is a list of alternatives, one of which applies.
pub(super) const ALTERNATIVES: &[&str] = BRANCHING.split_at(2).0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_is_part_of_the_previous_one() {
        assert_eq!(SUBSTITUTES, ["$ref", "anyOf", "oneOf", "allOf"]);
        assert_eq!(BRANCHING, ["anyOf", "oneOf", "allOf"]);
        assert_eq!(ALTERNATIVES, ["anyOf", "oneOf"]);
    }
}
