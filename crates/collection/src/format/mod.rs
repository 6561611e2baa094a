//! The formats of API collections, one row each. A format recognises its documents by their content, reads them, and
//! counts them without its reader.
//!
//! Formats are tried in order, the most specific first; the last one takes what has definitions of functions in any form
//! that `docs` knows. A new format is a file and a row.

mod api_bank;
mod definitions;
mod description;
mod description_census;
mod mcp;
mod nestful;
mod parameters;
mod postman;
mod postman_census;
mod python;
mod rapidapi;
mod rapidapi_queries;
mod rapidapi_responses;
mod record;
mod seal_tools;
mod template;

use crate::census::Census;
use crate::document::Document;
use crate::reading::Reading;

/// A format of collections.
#[derive(Debug)]
pub struct CollectionFormat {
    /// The name, for reports.
    pub name: &'static str,
    /// What has this format, in one sentence.
    pub what: &'static str,
    pub(crate) recognises: fn(&Document) -> bool,
    pub(crate) read: fn(&Document, &mut Reading),
    /// Counts a document; `None` if that is not possible without reading it.
    pub(crate) census: fn(&Document) -> Option<Census>,
}

/// All formats, in the order they are tried.
pub static FORMATS: [CollectionFormat; 12] = [
    rapidapi_queries::FORMAT,
    rapidapi::FORMAT,
    rapidapi_responses::FORMAT,
    description::OPENAPI,
    description::SWAGGER,
    postman::FORMAT,
    mcp::FORMAT,
    seal_tools::FORMAT,
    nestful::FORMAT,
    api_bank::FORMAT,
    python::FORMAT,
    definitions::FORMAT,
];

/// Returns the format of a document; the last one if no other recognises it.
pub(crate) fn of(document: &Document) -> &'static CollectionFormat {
    let last = &FORMATS[FORMATS.len() - 1];
    FORMATS.iter().find(|format| (format.recognises)(document)).unwrap_or(last)
}

#[cfg(test)]
mod tests;
