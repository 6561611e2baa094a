//! The list of stages, and what each brings besides its judgement.
//!
//! A stage file holds its settings (which are the stage), its reasons with an example
//! each, and its judgement, thin over the rooms that do the work. Help, `plan`, `explain`,
//! the JSON Schema of a pipeline and the laws in `laws` are all made from this list.

pub mod collapse_conversations;
pub mod draft_answers;
pub mod drop_baseline_overlap;
pub mod drop_public_overlap;
pub mod drop_public_queries;
pub mod drop_spam;
pub mod fix_docs;
pub mod judge_docs;
pub mod judge_queries;
#[cfg(test)]
mod laws;
pub mod merge_exact_docs;
pub mod merge_near_docs;
pub mod merge_near_queries;
pub mod parse_docs;
pub(crate) mod personal;
pub mod redact;
pub mod redact_docs;
mod registry;
pub mod sample;
pub mod split;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize};
use serde_json::Value;

use crate::engine::contract::Role;
use crate::engine::example::Example;
use crate::engine::stage::{RowStage, Rows, Stage};
use crate::engine::vocabulary::{Reason, TableId};
use crate::environment::Environment;
pub use registry::Registry;

/// What a stage noted about a whole run, by name.
pub type Notes = BTreeMap<String, Value>;

/// The settings of a stage, which are the stage, and what is told about it.
pub trait Settings: Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The kind's name in a pipeline.
    const NAME: &'static str;
    /// One sentence for people.
    const SUMMARY: &'static str;
    /// What is left after it, in the recipe's words.
    const LEFT: &'static str;

    /// What is left after a run of it that noted this: [`LEFT`](Self::LEFT), unless that says more than was done.
    fn left(&self, _notes: &Notes) -> Cow<'static, str> {
        Self::LEFT.into()
    }

    /// The sentence of one of its reasons under these settings.
    fn sentence(&self, reason: &'static Reason) -> Cow<'static, str> {
        reason.sentence.into()
    }

    /// One example for each of its reasons.
    fn examples() -> Vec<Example>;

    /// The stage on which its examples hold: with its defaults and, where it works by a file of the user's, with a
    /// small one of its own in that place.
    fn for_examples() -> Self {
        Self::default()
    }

    /// Takes folders and servers that the settings do not name from there. It is called before they are checked.
    fn set_environment(&mut self, _environment: &Environment) {}

    /// Checks ranges.
    ///
    /// # Errors
    /// `key must be …, not …`.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A stage built from its settings, and the settings with all defaults filled in.
pub type Built = (Box<dyn Stage>, Value);

/// One entry of the list.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The kind's name in a pipeline.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// What is left after a run of it, by the settings and the notes of its manifest.
    pub left: fn(&Value, &Notes) -> Cow<'static, str>,
    /// The sentence of a reason that a run of it named, by the settings of its manifest.
    pub sentence: fn(&Value, &'static Reason) -> Cow<'static, str>,
    /// One example for each of its reasons.
    pub examples: fn() -> Vec<Example>,
    /// The stage on which its examples hold.
    pub for_examples: fn() -> Box<dyn Stage>,
    /// Builds it from a table of settings.
    pub build: fn(toml::de::ValueDeserializer<'_>, &Environment) -> Result<Built, toml::de::Error>,
    /// Builds it from settings as a manifest holds them.
    pub rebuild: fn(Value, &Environment) -> Result<Built, serde_json::Error>,
    /// The JSON Schema of its settings.
    pub schema: fn() -> Value,
}

impl Kind {
    /// A kind of stage that sees its whole table.
    pub const fn of<S: Settings + Stage>() -> Self {
        Self {
            name: S::NAME,
            summary: S::SUMMARY,
            left: left::<S>,
            sentence: sentence::<S>,
            examples: S::examples,
            for_examples: || Box::new(S::for_examples()),
            build: |table, environment| build(table, environment, |stage: S| Box::new(stage)),
            rebuild: |settings, environment| {
                Ok((Box::new(settled::<S, _>(&settings, environment)?), settings))
            },
            schema: schema::<S>,
        }
    }

    /// A kind of stage that judges each row on its own.
    pub const fn of_rows<S: Settings + RowStage>() -> Self {
        Self {
            name: S::NAME,
            summary: S::SUMMARY,
            left: left::<S>,
            sentence: sentence::<S>,
            examples: S::examples,
            for_examples: || Box::new(Rows(S::for_examples())),
            build: |table, environment| build(table, environment, |stage: S| Box::new(Rows(stage))),
            rebuild: |settings, environment| {
                Ok((Box::new(Rows(settled::<S, _>(&settings, environment)?)), settings))
            },
            schema: schema::<S>,
        }
    }

    /// The stage with default settings.
    ///
    /// # Panics
    /// Its defaults do not pass its own check. The laws build every kind of this crate.
    pub fn with_defaults(&self) -> Box<dyn Stage> {
        self.with_settings("")
    }

    /// The stage with the settings of an example.
    ///
    /// # Panics
    /// The settings are no TOML or do not pass its check. The laws build every example of this crate.
    pub fn with_settings(&self, settings: &str) -> Box<dyn Stage> {
        let table = format!("{{ {settings} }}");
        let table = toml::de::ValueDeserializer::parse(&table).expect("settings of examples are TOML");
        (self.build)(table, &Environment::default()).expect("they are in range").0
    }
}

fn build<S: Settings>(
    table: toml::de::ValueDeserializer<'_>,
    environment: &Environment,
    boxed: fn(S) -> Box<dyn Stage>,
) -> Result<Built, toml::de::Error> {
    use serde::de::Error as _;
    let settings: S = settled(table, environment)?;
    settings.check().map_err(toml::de::Error::custom)?;
    let resolved = serde_json::to_value(&settings).map_err(toml::de::Error::custom)?;
    Ok((boxed(settings), resolved))
}

/// Settings as they were read, in their environment.
fn settled<'d, S: Settings, D: Deserializer<'d>>(
    settings: D,
    environment: &Environment,
) -> Result<S, D::Error> {
    let mut settings = S::deserialize(settings)?;
    settings.set_environment(environment);
    Ok(settings)
}

fn left<S: Settings>(settings: &Value, notes: &Notes) -> Cow<'static, str> {
    S::deserialize(settings).map_or_else(|_| S::LEFT.into(), |stage| stage.left(notes))
}

fn sentence<S: Settings>(settings: &Value, reason: &'static Reason) -> Cow<'static, str> {
    S::deserialize(settings).map_or_else(|_| reason.sentence.into(), |stage| stage.sentence(reason))
}

/// The JSON Schema of some settings, without references.
pub fn schema<S: JsonSchema>() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<S>().to_value()
}

/// Every kind of stage, in the order of the live recipe.
pub static KINDS: [Kind; 17] = [
    Kind::of::<redact::Redact>(),
    Kind::of::<redact_docs::RedactDocs>(),
    Kind::of::<collapse_conversations::CollapseConversations>(),
    Kind::of_rows::<drop_spam::DropSpam>(),
    Kind::of_rows::<parse_docs::ParseDocs>(),
    Kind::of::<merge_exact_docs::MergeExactDocs>(),
    Kind::of::<drop_public_overlap::DropPublicOverlap>(),
    Kind::of::<merge_near_docs::MergeNearDocs>(),
    Kind::of::<merge_near_queries::MergeNearQueries>(),
    Kind::of::<drop_public_queries::DropPublicQueries>(),
    Kind::of_rows::<judge_docs::JudgeDocs>(),
    Kind::of::<judge_queries::JudgeQueries>(),
    Kind::of_rows::<fix_docs::FixDocs>(),
    Kind::of::<draft_answers::DraftAnswers>(),
    Kind::of::<drop_baseline_overlap::DropBaselineOverlap>(),
    Kind::of_rows::<split::Split>(),
    Kind::of::<sample::Sample>(),
];

/// The kind that has a role for a table.
pub fn kind_of(role: Role, table: TableId) -> Option<&'static Kind> {
    let has_it = |kind: &&Kind| {
        let contract = kind.with_defaults().contract();
        (contract.role, contract.table) == (role, table)
    };
    KINDS.iter().find(has_it)
}

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The reasons of the kinds of this crate.
#[cfg(test)]
fn reasons() -> Vec<(Option<&'static Kind>, &'static Reason)> {
    registry::reasons_of(&KINDS)
}
