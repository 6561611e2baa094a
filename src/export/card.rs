//! Facts about a dataset that only people know: its title, licences and contact.
//!
//! These settings of the export appear in the dataset card and the report. Empty ones appear as
//! unknown; nothing is guessed from the data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts in the dataset card that people provide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Card {
    /// The dataset's title [default: the pipeline's name].
    pub title: String,
    /// SPDX identifier of the dataset's licence, such as `apache-2.0` [default: unknown].
    pub licence: String,
    /// Licence or terms of the log that the dataset was made from [default: unknown].
    pub source_licence: String,
    /// Contact for questions about the dataset, such as the removal of an entry [default: nobody].
    pub contact: String,
}
