//! The names of all columns that ingest reads, collected from the tables. Other columns of a wide file are not decoded.
//!
//! A column of another name never becomes part of a request. Tests check this for every line that they read: without
//! its other keys it has the same result.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::bodies::{BODIES, BODY_FACTS};
use super::envelopes::ENVELOPES;
use super::traces::TRACES;
use super::{Columns, Fact, FieldPlace, Sign};
use crate::path::Path;
use crate::record::CALLS_COLUMN;
use crate::{attributes, batch, explain, response, span_events, stream, transcripts, unpack};

/// Returns `true` if a log format or a setting reads a column of this name.
pub fn is_read(name: &str, columns: &Columns) -> bool {
    // Attributes of spans are columns with dots in their names.
    let first = name.split('.').next().unwrap_or(name);
    KNOWN.contains(first)
        || attributes::is_loose(name)
        || columns.all().any(|column| {
            // A column of objects, of which a fact is read.
            column == name || column.split_once('.').is_some_and(|(first, _)| first == name)
        })
}

/// Returns the names of a table's columns as the log formats write them: programs that export tables change the case of names.
/// `None` if they are. A name of a column that exists is never given to another.
pub(crate) fn in_known_case(names: &[String], columns: &Columns) -> Option<Vec<String>> {
    let known = |name: &str| {
        let is_same = |known: &&str| known.eq_ignore_ascii_case(name);
        let mut set = columns.all().map(String::as_str);
        set.find(is_same).or_else(|| KNOWN.iter().copied().find(is_same))
    };
    let mut written = names.to_vec();
    for at in 0..written.len() {
        if !is_read(&written[at], columns)
            && let Some(known) = known(&written[at]).filter(|known| !written.iter().any(|name| name == known))
        {
            known.clone_into(&mut written[at]);
        }
    }
    (written != names).then_some(written)
}

static KNOWN: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let mut known = BTreeSet::new();
    let mut add_paths = |paths: &mut dyn Iterator<Item = Path>| {
        known.extend(paths.filter_map(|path| path.first().copied()));
    };
    for envelope in ENVELOPES {
        let facts = envelope.facts.iter().map(|(_, path)| *path);
        add_paths(&mut [envelope.body].into_iter().chain(envelope.response.iter().copied()).chain(facts));
    }
    for body in BODIES.iter().chain(TRACES) {
        let paths = [body.opened, body.system, body.response, body.elsewhere];
        add_paths(&mut paths.into_iter().flatten().copied());
        add_paths(&mut body.facts.iter().map(|(_, path): &(Fact, Path)| *path));
        add_paths(&mut body.signs.iter().map(|sign| match *sign {
            Sign::Has(path) | Sign::List(path) | Sign::SomeHas(path, _) | Sign::NoneHas(path, _) => path,
        }));
        add_paths(&mut body.messages.iter().chain(body.functions).flat_map(|place| match place {
            FieldPlace::At(path)
            | FieldPlace::Each(path)
            | FieldPlace::Named(path)
            | FieldPlace::ToolMessages(path) => std::slice::from_ref(path).iter().copied(),
            FieldPlace::EachOf(paths) => paths.iter().copied(),
            FieldPlace::Query | FieldPlace::Functions => [].iter().copied(),
        }));
    }
    add_paths(&mut BODY_FACTS.iter().map(|(_, path)| *path));
    add_paths(&mut [CALLS_COLUMN].into_iter());
    for names in [
        attributes::names(),
        batch::names(),
        explain::names(),
        response::names(),
        span_events::names(),
        stream::names(),
        transcripts::names(),
        unpack::names(),
    ] {
        known.extend(names);
    }
    known
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_requests_are_read_and_an_embedding_is_not() {
        let columns = Columns { query: vec!["wunsch".to_owned()], ..Columns::default() };
        for name in
            ["messages", "tools", "wunsch", "gen_ai.prompt.0.role", "attributes.llm.tools", "log", "ts"]
        {
            assert!(is_read(name, &columns), "{name}");
        }
        for name in ["embedding", "vector", "thumbnail", "prompt_embedding", ""] {
            assert!(!is_read(name, &columns), "{name}");
        }
    }

    #[test]
    fn names_in_another_case_are_known_unless_the_name_itself_is_there() {
        let columns = Columns { query: vec!["Wunsch".to_owned(), "query".to_owned()], ..Columns::default() };
        let known = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            in_known_case(&names, &columns).map(|known| known.join(" "))
        };
        assert_eq!(
            known(&["ID", "Query", "FUNCTIONS", "Embedding"]).unwrap(),
            "id query functions Embedding"
        );
        assert_eq!(known(&["QUERY", "Query"]).unwrap(), "query Query");
        assert_eq!(known(&["wunsch", "SYSTEMINSTRUCTION"]).unwrap(), "Wunsch systemInstruction");
        for names in [&["query", "functions"][..], &["Query", "query"], &["Embedding", ""]] {
            assert_eq!(known(names), None, "{names:?}");
        }
    }
}
