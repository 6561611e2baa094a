//! Suggests the known name that is closest to a misspelt one.

/// The least similarity, from 0 to 1, of a name that is suggested.
const MIN_SIMILARITY: f64 = 0.8;

/// Returns the known name that is most similar to a misspelt one; `None` if none is similar enough.
///
/// A reason code may be given without its topic: `not-in-enum` is compared with the end of `answer/not-in-enum` too.
pub fn closest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |known: &str| {
        let whole = similarity(name, known);
        match known.rsplit_once('/') {
            Some((_, end)) if !name.contains('/') => whole.max(similarity(name, end)),
            _ => whole,
        }
    };
    let similar = known.into_iter().map(|known| (likeness(known), known));
    let similar = similar.filter(|(likeness, _)| *likeness >= MIN_SIMILARITY);
    similar.max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| other.cmp(one))).map(|(_, known)| known)
}

/// Returns how similar two names are, from 0 to 1 (Jaro-Winkler).
pub fn similarity(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(one, other)
}

/// Returns `did you mean "NAME"? ` with a space at the end, for a hint that goes on; empty if no name is similar.
pub fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    closest(name, known).map(|known| format!("did you mean \"{known}\"? ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_name_is_suggested_with_or_without_its_topic() {
        let known = ["answer/not-in-enum", "docs/near-duplicate", "privacy/email", "query/near-duplicate"];
        for (name, expected) in [
            ("not-in-enum", Some("answer/not-in-enum")),
            ("privacy/emai", Some("privacy/email")),
            ("near-duplicat", Some("docs/near-duplicate")),
            ("query/near-cpy", Some("query/near-duplicate")),
            ("zzz", None),
        ] {
            assert_eq!(closest(name, known), expected, "{name}");
        }
    }
}
