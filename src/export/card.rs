//! What only people can say about a dataset: its title, its licences, whom to ask.
//!
//! Settings of the export, taken over into the dataset card and the report. What is left
//! empty is said to be unknown there; nothing is guessed from the data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Words of the dataset card that are not counted but said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Card {
    /// The dataset's title [default: the pipeline's name].
    pub title: String,
    /// Licence of the dataset, by its SPDX identifier, e.g. `apache-2.0`; empty is said as unknown.
    pub licence: String,
    /// Licence or terms of the log that the dataset was made from; empty is said as unknown.
    pub source_licence: String,
    /// Whom to write to about the dataset, e.g. for taking an entry out; empty is said as nobody.
    pub contact: String,
}
