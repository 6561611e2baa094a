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
use crate::ingest::path::Path;
use crate::ingest::record::CALLS_COLUMN;
use crate::ingest::{attributes, batch, explain, response, stream, transcripts, unpack};

/// Returns `true` if a log format or a setting reads a column of this name.
pub(crate) fn is_read(name: &str, columns: &Columns) -> bool {
    // Attributes of spans are columns with dots in their names.
    let first = name.split('.').next().unwrap_or(name);
    KNOWN.contains(first)
        || attributes::is_loose(name)
        || columns.all().into_iter().flatten().any(|column| column == name)
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
        add_paths(&mut body.messages.iter().chain(body.functions).filter_map(|place| match *place {
            FieldPlace::At(path)
            | FieldPlace::Each(path)
            | FieldPlace::Named(path)
            | FieldPlace::ToolMessages(path) => Some(path),
            FieldPlace::Query | FieldPlace::Functions => None,
        }));
    }
    add_paths(&mut BODY_FACTS.iter().map(|(_, path)| *path));
    add_paths(&mut [CALLS_COLUMN].into_iter());
    for names in [
        attributes::names(),
        batch::names(),
        explain::names(),
        response::names(),
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
}
