//! What a question for a missing value names: a thing ("Which telescope do you mean?") or a choice ("whether it is active").
//!
//! Names of parameters are made for programs: `from_currency`, `max_results`, `sort_by`, `n`. Tables of first and last words make English of
//! them. A name of which that is not certain gives way to the description, if it begins as the name of a thing does, and else is
//! quoted: `value of "sort by"` is right for any name.

use serde_json::Value;

use crate::words::{singular, things, words};

/// What a question asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A noun without an article, after "which" or "the".
    Thing(String),
    /// A clause that begins with "whether", after "tell me".
    Choice(String),
}

/// Last words of names that only say how a thing is named.
const ID_WORDS: [&str; 4] = ["id", "identifier", "key", "uuid"];
/// First words of names, and the adjective that says the same of a thing.
const ADJECTIVES: [(&str, &str); 8] = [
    ("from", "starting"),
    ("to", "target"),
    ("since", "earliest"),
    ("after", "earliest"),
    ("until", "latest"),
    ("before", "latest"),
    ("max", "maximum"),
    ("min", "minimum"),
];
/// The same of a time.
const OF_TIMES: [(&str, &str); 2] = [("from", "first"), ("to", "last")];
/// Nouns of times.
const TIMES: [&str; 7] = ["day", "date", "time", "month", "year", "week", "hour"];
/// First words of names of numbers of things.
const COUNTS: [&str; 5] = ["num", "n", "nb", "no", "count"];
/// Words before a thing that add nothing to it.
const BEFORE: [&str; 7] = ["at", "by", "for", "in", "of", "on", "with"];
/// Last words of names that need something after them.
const OPEN: [&str; 12] = ["at", "by", "for", "from", "in", "is", "of", "on", "per", "than", "to", "with"];
/// First words of names of choices, and how a clause goes on.
const CHOICES: [(&str, &str); 8] = [
    ("is", "whether it is"),
    ("are", "whether they are"),
    ("was", "whether it was"),
    ("has", "whether it has"),
    ("have", "whether they have"),
    ("can", "whether it can"),
    ("should", "whether it should"),
    ("needs", "whether it needs"),
];
/// First words of choices that are something to do.
const TO_DO: [&str; 18] = [
    "add",
    "allow",
    "apply",
    "create",
    "disable",
    "enable",
    "exclude",
    "force",
    "include",
    "keep",
    "overwrite",
    "remove",
    "return",
    "send",
    "show",
    "skip",
    "sort",
    "use",
];
/// Words of which a description is no name of a thing.
const OF_CLAUSES: [&str; 11] =
    ["is", "are", "was", "if", "whether", "that", "which", "who", "must", "should", "will"];
/// Most words of a thing in a description.
const MOST_WORDS: usize = 10;

/// Returns what a question for a parameter of a function names. `schema` is that of the parameter.
pub fn wanted(function: &str, parameter: &str, schema: &Value) -> Wanted {
    let name = words(parameter);
    let description = schema["description"].as_str().unwrap_or_default();
    if let Some(choice) = choice(&name, description, schema["type"] == "boolean") {
        return Wanted::Choice(choice);
    }
    let is_number = ["integer", "number", "float"].iter().any(|kind| schema["type"] == *kind);
    let plain = plain(&name, function, is_number);
    let thing = plain.or_else(|| described(description)).or_else(|| qualified(&name, is_number));
    Wanted::Thing(thing.unwrap_or_else(|| format!("value of \"{}\"", name.join(" "))))
}

/// The clause of a choice; `None` of another value.
fn choice(name: &[String], description: &str, is_boolean: bool) -> Option<String> {
    let (first, rest) = name.split_first()?;
    let rest = rest.join(" ");
    let clause = CHOICES.iter().find(|(word, _)| *word == first).filter(|_| !rest.is_empty());
    if !is_boolean {
        return None;
    }
    if let Some(clause) = head(description).and_then(|head| {
        let rest = head.strip_prefix("Whether ").or_else(|| head.strip_prefix("whether "))?;
        Some(format!("whether {rest}"))
    }) {
        return Some(clause);
    }
    Some(match clause {
        Some((_, clause)) => format!("{clause} {rest}"),
        None if TO_DO.contains(&first.as_str()) && !rest.is_empty() => format!("whether to {first} {rest}"),
        None => format!("whether to set \"{}\"", name.join(" ")),
    })
}

/// The thing that a name is, if the name says no more: `telescope_id`, `price`, `tags`.
fn plain(name: &[String], function: &str, is_number: bool) -> Option<String> {
    let (last, before) = name.split_last()?;
    let is_id = ID_WORDS.contains(&last.as_str());
    let name = match before {
        [] if is_id => {
            return Some(things(function).last().map_or_else(|| last.clone(), |thing| singular(thing)));
        }
        before if is_id => before,
        _ => name,
    };
    let (first, last) = (name.first()?.as_str(), name.last()?.as_str());
    let is_qualified = is_adjective(first) || COUNTS.contains(&first) || BEFORE.contains(&first);
    let is_verb =
        name.len() > 1 && (TO_DO.contains(&first) || CHOICES.iter().any(|(word, _)| *word == first));
    // Letters and digits such as "n" or "x1" are no words.
    let is_sign = |word: &String| {
        let n_chars = word.chars().count();
        n_chars == 1 || n_chars == 2 && name.len() == 1 || word.contains(|sign: char| sign.is_ascii_digit())
    };
    if is_qualified || is_verb || OPEN.contains(&last) || name.iter().any(is_sign) {
        return None;
    }
    Some(numbered(name, is_number))
}

/// A name with a first word that qualifies the thing: `from_currency`, `max_results`, `per_page`.
fn qualified(name: &[String], is_number: bool) -> Option<String> {
    let (first, rest) = name.split_first()?;
    let is_word = |word: &String| word.chars().count() > 2;
    let rest = match rest.split_last() {
        Some((last, before)) if !before.is_empty() && ID_WORDS.contains(&last.as_str()) => before,
        _ => rest,
    };
    let thing = rest.last()?;
    if !rest.iter().all(is_word) || OPEN.contains(&thing.as_str()) {
        return None;
    }
    if COUNTS.contains(&first.as_str()) {
        return Some(format!("number of {}", rest.join(" ")));
    }
    if BEFORE.contains(&first.as_str()) {
        return Some(numbered(rest, is_number));
    }
    let of_time = OF_TIMES.iter().filter(|_| TIMES.contains(&thing.as_str()));
    let (_, adjective) = of_time.chain(&ADJECTIVES).find(|(word, _)| word == first)?;
    Some(format!("{adjective} {}", numbered(rest, is_number)))
}

fn is_adjective(word: &str) -> bool {
    ADJECTIVES.iter().any(|(own, _)| *own == word)
}

/// The words of a thing, of which there is one: a number or a list of several.
fn numbered(name: &[String], is_number: bool) -> String {
    let text = name.join(" ");
    match name.last().is_some_and(|last| singular(last) != *last) {
        true if is_number => format!("number of {text}"),
        true => format!("list of {text}"),
        false => text,
    }
}

/// The first clause of a description.
fn head(description: &str) -> Option<&str> {
    let end = description.find(['.', ',', ';', ':', '(', '\n', '"']).unwrap_or(description.len());
    let head = description[..end].trim();
    (!head.is_empty() && head.split_whitespace().count() <= MOST_WORDS + 1).then_some(head)
}

/// The thing that a description begins with, without its article: "currency to convert from".
fn described(description: &str) -> Option<String> {
    let head = head(description)?;
    let rest = ["The ", "A ", "An "].iter().find_map(|article| {
        let start = head.get(..article.len())?;
        start.eq_ignore_ascii_case(article).then(|| head[article.len()..].trim())
    })?;
    let is_thing = !rest.is_empty()
        && !rest.split_whitespace().any(|word| OF_CLAUSES.contains(&word.to_lowercase().as_str()));
    is_thing.then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(parameter: &str, schema: &Value) -> String {
        match wanted("find_telescopes", parameter, schema) {
            Wanted::Thing(thing) => format!("Which {thing} do you mean?"),
            Wanted::Choice(choice) => format!("Please tell me {choice}."),
        }
    }

    #[test]
    fn a_name_is_a_phrase_of_english() {
        let text = json!({"type": "string"});
        for (parameter, schema, expected) in [
            ("telescope_id", &text, "Which telescope do you mean?"),
            ("id", &text, "Which telescope do you mean?"),
            ("totalPrice", &text, "Which total price do you mean?"),
            ("from_currency", &text, "Which starting currency do you mean?"),
            ("to_account_id", &text, "Which target account do you mean?"),
            ("from_date", &text, "Which first date do you mean?"),
            ("for_user", &text, "Which user do you mean?"),
            ("sort_by", &text, "Which value of \"sort by\" do you mean?"),
            ("to", &text, "Which value of \"to\" do you mean?"),
            ("n", &json!({"type": "integer"}), "Which value of \"n\" do you mean?"),
            ("x1", &text, "Which value of \"x1\" do you mean?"),
            ("max_results", &json!({"type": "integer"}), "Which maximum number of results do you mean?"),
            ("num_nights", &json!({"type": "integer"}), "Which number of nights do you mean?"),
            ("days", &json!({"type": "integer"}), "Which number of days do you mean?"),
            ("tags", &json!({"type": "array"}), "Which list of tags do you mean?"),
            ("status", &text, "Which status do you mean?"),
            ("place_of_birth", &text, "Which place of birth do you mean?"),
            ("phone_number", &text, "Which phone number do you mean?"),
            ("is_active", &json!({"type": "boolean"}), "Please tell me whether it is active."),
            ("include_deleted", &json!({"type": "boolean"}), "Please tell me whether to include deleted."),
            ("verbose", &json!({"type": "boolean"}), "Please tell me whether to set \"verbose\"."),
        ] {
            assert_eq!(of(parameter, schema), expected, "{parameter}");
        }
    }

    #[test]
    fn a_description_says_what_a_name_does_not() {
        for (parameter, description, expected) in [
            (
                "from_currency",
                "The currency to convert from, such as EUR.",
                "Which currency to convert from do you mean?",
            ),
            ("n", "A number of prime factors", "Which number of prime factors do you mean?"),
            ("n", "How often it rings.", "Which value of \"n\" do you mean?"),
            ("n", "The page that is shown first.", "Which value of \"n\" do you mean?"),
            ("telescope_id", "The id of the telescope.", "Which telescope do you mean?"),
        ] {
            assert_eq!(of(parameter, &json!({"type": "string", "description": description})), expected);
        }
        let schema = json!({"type": "boolean", "description": "Whether the user is active."});
        assert_eq!(of("is_active", &schema), "Please tell me whether the user is active.");
    }
}
