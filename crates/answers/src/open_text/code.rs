//! Queries in query languages: the same question has many right ones.

/// Words that begin a statement, each with words of which one must follow.
#[rustfmt::skip] // A statement is one line.
const STATEMENTS: &[(&str, &[&str])] = &[
    ("select", &["from", "count", "sum", "distinct"]),
    ("with", &["select"]),
    ("insert", &["into"]),
    ("update", &["set"]),
    ("delete", &["from"]),
    ("create", &["table", "view", "index"]),
    ("alter", &["table"]),
    ("match", &["return", "where"]),
    ("find", &["where"]),
];
/// Signs of which statements have one: names and words do not.
const OF_STATEMENTS: &[char] = &['*', '=', '<', '>', '(', ';', ','];
/// Signs of expressions over time series and documents, in pairs with what must follow.
const OF_EXPRESSIONS: &[(&str, &str)] = &[("{", "=\""), ("{", "=~\""), ("(", "["), ("{", "\"$"), ("{", "$")];

/// Returns whether a text is a statement or an expression of a query language.
pub(super) fn is_code(text: &str) -> bool {
    is_statement(text) || is_expression(text)
}

fn is_statement(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    let rest: Vec<&str> = words.collect();
    let follows = |needed: &&[&str]| rest.iter().any(|word| needed.contains(word));
    rest.len() >= 3
        && text.contains(OF_STATEMENTS)
        && STATEMENTS.iter().any(|(begin, needed)| *begin == first && follows(needed))
}

/// `sum(rate(requests_total{code="500"}[5m]))`, `{"age": {"$gt": 30}}`.
fn is_expression(text: &str) -> bool {
    let has_pair = |(open, inside): &(&str, &str)| {
        text.find(open).is_some_and(|at| text[at + open.len()..].contains(inside))
    };
    let is_range = |text: &str| {
        text.split('[').skip(1).any(|part| {
            let unit = part.trim_start_matches(|c: char| c.is_ascii_digit());
            unit.len() < part.len()
                && unit.starts_with(['s', 'm', 'h', 'd', 'w'])
                && unit[1..].starts_with(']')
        })
    };
    OF_EXPRESSIONS.iter().any(|pair| match pair {
        ("(", "[") => text.contains('(') && is_range(text),
        pair => has_pair(pair),
    })
}
