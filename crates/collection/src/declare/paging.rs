//! Parameters that select a part of the rows, by their names.

/// Names of parameters for the most rows, without `_` and case.
const LIMITS: [&str; 9] =
    ["limit", "pagesize", "perpage", "size", "count", "maxresults", "top", "pagelimit", "maxitems"];

/// Names of parameters for the first row or the page.
const OFFSETS: [&str; 9] =
    ["offset", "page", "skip", "cursor", "after", "before", "start", "pagetoken", "pagenumber"];

/// Returns the letters and digits of a name in lower case, by which names are compared.
pub(super) fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns true for the most rows.
pub(super) fn is_limit(name: &str) -> bool {
    LIMITS.contains(&bare(name).as_str())
}

/// Returns true for the first row or the page.
pub(super) fn is_offset(name: &str) -> bool {
    OFFSETS.contains(&bare(name).as_str())
}
