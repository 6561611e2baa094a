//! Reads statements in descriptions: that a parameter is optional or required.
//!
//! Only a separate statement counts: `Optional. A page.`, `A page (optional)`, `This parameter is optional.` An
//! adjective inside a sentence (`the optional suffix of a name`) describes something else. `default` reads stated
//! defaults, `kind` stated types, and `sentence` appends sentences.

pub(super) mod default;
pub(super) mod kind;
pub(super) mod sentence;

/// Words after "optional" that make it a statement about the whole parameter.
const NOUNS: [&str; 5] = ["parameter", "param", "field", "argument", "arg"];

/// Words after "optional" that introduce a condition or purpose.
const LINKS: [&str; 7] = ["if", "unless", "when", "for", "and", "but", "only"];

/// Subjects of a sentence that ends with "optional".
const SUBJECTS: [&str; 12] = [
    "this is",
    "it is",
    "this is an",
    "it is an",
    "this parameter is",
    "the parameter is",
    "parameter is",
    "this field is",
    "the field is",
    "this argument is",
    "the argument is",
    "this value is",
];

/// Returns true if a description states that the parameter is optional.
pub(super) fn says_optional(description: &str) -> bool {
    states(description, "optional", &LINKS)
}

/// Returns true if a description states that the parameter is required, without a condition.
pub(super) fn says_required(description: &str) -> bool {
    states(description, "required", &[]) && !description.to_ascii_lowercase().contains("optional")
}

/// Returns true if a mark at the start or the end of a description makes the parameter required: `[REQUIRED] A page`,
/// `A page (required)`. A sentence about it is no mark.
pub(super) fn is_marked_required(description: &str) -> bool {
    is_marked(description, "required") && says_required(description)
}

/// Returns true if a mark at the start or the end of a description makes the parameter optional.
pub(super) fn is_marked_optional(description: &str) -> bool {
    is_marked(description, "optional") && says_optional(description)
}

/// Returns true if a text begins or ends with a word, alone or in brackets.
fn is_marked(description: &str, word: &str) -> bool {
    const FRAME: [char; 9] = [' ', '(', ')', '[', ']', '*', '_', '`', '.'];
    let lower = description.trim().to_ascii_lowercase();
    let after = lower.trim_start_matches(FRAME).strip_prefix(word);
    let begins = after.is_some_and(|after| after.starts_with([')', ']', '*']) || ends_statement(after));
    let before = lower.trim_end_matches(FRAME).strip_suffix(word);
    begins
        || before.is_some_and(|before| {
            let before = before.trim_end_matches([' ', '*', '_', '`']);
            before.is_empty() || before.ends_with(['(', '[', '.', ',', ';', ':', '-', '–', '\n'])
        })
}

/// Returns true if a description calls the parameter optional, also as its first adjective: `Optional page`, `An
/// optional page`. Sufficient without any list of required parameters, but not against one.
pub(super) fn calls_optional(description: &str) -> bool {
    let text = description.trim_start().to_ascii_lowercase();
    let after = text.strip_prefix("an ").unwrap_or(&text).strip_prefix("optional");
    says_optional(description)
        || after.is_some_and(|after| after.starts_with(' ') && next_word(after) != "or")
}

/// Returns true if a word is a separate statement in a text.
fn states(description: &str, word: &str, links: &[&str]) -> bool {
    // ASCII lower case keeps the length of every character, so offsets are valid in both texts.
    let lower = description.to_ascii_lowercase();
    let mut found = lower.match_indices(word);
    found.any(|(at, _)| {
        let (before, after) = (&lower[..at], &lower[at + word.len()..]);
        is_statement(before, after, &description[at + word.len()..], links)
    })
}

fn is_statement(before: &str, after: &str, written: &str, links: &[&str]) -> bool {
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-') {
        return false;
    }
    let bare = before.trim_end_matches([' ', '\n', '\t', '*', '_', '`']);
    if let Some(outside) = bare.strip_suffix(['(', '[']) {
        return closes(outside, after, written, links);
    }
    let begins =
        bare.is_empty() || bare.ends_with(['.', '!', '?', ';']) || before[bare.len()..].contains('\n');
    begins && (ends_statement(after) || leads_on(after, links)) && !is_choice(after)
        || ends_clause(bare, after)
        || has_subject(before, after, links)
}

/// Returns true for `A page (optional)`, `(optional, default 10)`: the brackets are at an end of the text or a
/// sentence.
fn closes(outside: &str, after: &str, written: &str, links: &[&str]) -> bool {
    if !(after.starts_with([')', ']', ',', ';', ':', '.'])
        || leads_on(after, links)
        || after.starts_with(" default"))
    {
        return false;
    }
    let Some(close) = written.find([')', ']']) else { return false };
    let rest = written[close + 1..].trim_start_matches([' ', '\t', '*', '_', '`']);
    let ends = |c: char| c.is_uppercase() || ['.', '\n', '\r', ';', ':', '-', '(', '['].contains(&c);
    outside.trim().is_empty() || rest.is_empty() || rest.starts_with(ends)
}

/// Returns true if a sentence or a mark ends after the word.
fn ends_statement(after: &str) -> bool {
    let after = after.trim_start_matches(['*', '_', '`', ')', ']']);
    let dash = after.trim_start();
    after.trim().is_empty()
        || after.starts_with(['.', ',', ';', ':', '!', '\n', '\r'])
        || dash.len() < after.len() && dash.starts_with(['-', '–', '—'])
}

/// Returns true for `optional, required`, which lists the values of a parameter.
fn is_choice(after: &str) -> bool {
    let rest = after.trim_start_matches([',', ';', ' ']);
    ["required", "mandatory", "and required", "and mandatory"].iter().any(|word| rest.starts_with(word))
}

/// Returns true for `Optional parameter`, `Optional if …`.
fn leads_on(after: &str, links: &[&str]) -> bool {
    let word = next_word(after);
    after.starts_with(' ') && (NOUNS.contains(&word) || links.contains(&word))
}

/// Returns true for `The page, optional.`: the last word of a sentence, after a comma or a dash.
fn ends_clause(bare: &str, after: &str) -> bool {
    let after = after.trim_start();
    let is_over = after.is_empty() || after.starts_with(['.', ';', '(']);
    is_over && (bare.ends_with(',') || bare.ends_with(" -") || bare.ends_with(" –"))
}

/// Returns true for `This parameter is optional.`
fn has_subject(before: &str, after: &str, links: &[&str]) -> bool {
    let sentence = before.rsplit(['.', '!', '?', ';', '\n', '(']).next().unwrap_or_default();
    SUBJECTS.contains(&sentence.trim()) && (ends_statement(after) || leads_on(after, links))
}

fn next_word(text: &str) -> &str {
    text.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separate_statement_makes_a_parameter_optional() {
        for text in [
            "Optional",
            "optional",
            "Optional. Which bell.",
            "Optional: which bell.",
            "Optional - which bell.",
            "**Optional.** Which bell.",
            "(Optional) which bell",
            "[Optional] Which bell.",
            "Which bell (optional)",
            "Which bell. (optional)",
            "Which bell (optional). Default is the first.",
            "Which bell (optional, default 7)",
            "Which bell (optional parameter, 'north' by default).",
            "Which bell. Optional.",
            "Which bell. Optional, and if none is given, all ring.",
            "Which bell. Optional if a tower is given.",
            "Optional unless a tower is given. Which bell.",
            "Optional parameter for the bell.",
            "Which bell. Optional field.",
            "Which bell, optional.",
            "Which bell. This is optional and only used at noon.",
            "Which bell. This parameter is optional.",
            "It is an optional parameter to ring less.",
            "Which bell\nOptional",
        ] {
            assert!(says_optional(text), "{text}");
        }
    }

    #[test]
    fn an_adjective_does_not_make_a_parameter_optional() {
        for text in [
            "The optional suffix of the name.",
            "Optional headers to send.",
            "An optional note.",
            "First name (optional) and last name.",
            "First name, middle name (optional), last name.",
            "All keys are optional, but one must be given.",
            "The field 'north' is optional.",
            "Optionally, the tower.",
            "Whether it is non-optional.",
            "Not optional",
            "Optional or required.",
            "Optional, required or forbidden.",
            "One of: optional, required.",
            "The page. Optional filters may follow.",
        ] {
            assert!(!says_optional(text), "{text}");
        }
        assert!(calls_optional("Optional headers to send.") && calls_optional("An optional note."));
        assert!(
            !calls_optional("The optional suffix of the name.") && !calls_optional("Optional or required.")
        );
    }

    #[test]
    fn only_a_statement_without_a_condition_makes_a_parameter_required() {
        for (text, expected) in [
            ("Required. Which bell.", true),
            ("[Required] Which bell.", true),
            ("Which bell (required)", true),
            ("Which bell. This parameter is required.", true),
            ("Required if no tower is given.", false),
            ("Required fields of the bell.", false),
            ("Optional. Required if no tower is given.", false),
            ("One of: optional, required.", false),
            ("The time required", false),
        ] {
            assert_eq!(says_required(text), expected, "{text}");
        }
    }
}
