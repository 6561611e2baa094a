//! Labelled requests from the questions of BFCL: irrelevance is irrelevant, all other categories are relevant.

use std::collections::BTreeSet;

use super::background::{Background, BackgroundSample};
use super::bar::is_barred;
use super::calibrate::LabelledExample;
use super::docs::PreparedDocs;
use super::evidence::LogEvidence;
use super::features::features;
use super::low_quality;
use super::query::PreparedQuery;
use callsieve_bfcl::conversation::Role;
use callsieve_bfcl::entry::Entry;

/// Returns the functions of some questions, as those of a log.
pub fn background_of<'e>(entries: impl Iterator<Item = &'e Entry<'e>>) -> Background {
    let mut sample = BackgroundSample::default();
    for entry in entries {
        sample.add(entry.functions());
    }
    Background::new(sample)
}

/// Returns what the first turn of a question asks, of which functions.
///
/// # Errors
/// If a rule finds the query of low quality; the error is whether the question is labelled relevant.
pub fn example(entry: &Entry<'_>, category: &str, background: &Background) -> Result<LabelledExample, bool> {
    let is_relevant = !category.contains("irrelevance");
    let first = entry.turns.first().map_or(&[][..], Vec::as_slice);
    let users = first.iter().filter(|message| message.role == Role::User);
    let queries: Vec<&str> = users.map(|message| message.content.as_str()).collect();
    let docs = PreparedDocs::new(entry.functions());
    let has_context = first.iter().any(|message| message.role != Role::User);
    let query = PreparedQuery::new(&queries).with_context(has_context);
    if low_quality::fault(&query, &docs).is_some() {
        return Err(is_relevant);
    }
    Ok(LabelledExample {
        features: features(&query, &docs, background),
        evidence: LogEvidence::default(),
        is_relevant,
        group: group(docs.names()),
        category: category.to_owned(),
        languages: query.languages(),
        is_barred: is_barred(&query, &docs),
    })
}

/// Returns the group of a list: lists with the same function names are one group.
pub fn group<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<BTreeSet<&str>>().into_iter().collect::<Vec<_>>().join("\n")
}
