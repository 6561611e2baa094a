//! The list of stages with their metadata: settings, reasons, examples and texts.
//!
//! A stage file holds its settings (the stage is its settings), its reasons with one example
//! each, and a thin judgement that calls the modules that do the work. Help, `plan`, `explain`,
//! the JSON Schema of a pipeline and the tests in `laws` are generated from this list.

pub mod annotate;
pub mod asking;
pub mod cap_templates;
pub mod check_instructions;
pub mod check_provenance;
pub mod check_solutions;
pub mod collapse_conversations;
pub mod compress_results;
pub mod draft_answers;
pub mod drop_baseline_overlap;
pub mod drop_benchmark_overlap;
pub mod drop_public_overlap;
pub mod drop_public_queries;
pub mod drop_spam;
pub mod drop_unneeded_calls;
pub mod enhance_prompts;
pub mod execute_calls;
mod executing;
pub mod fix_docs;
pub mod flag_answers;
pub mod hold_surplus;
pub mod judge_docs;
pub mod judge_queries;
pub mod judge_solutions;
#[cfg(test)]
mod laws;
mod made;
pub mod merge_exact_docs;
pub mod merge_near_docs;
pub mod merge_near_queries;
pub(crate) mod near_queries;
mod offered;
pub mod parse_docs;
pub(crate) mod personal;
pub mod redact;
pub mod redact_docs;
mod registry;
pub mod sample;
pub mod split;
pub mod translate_back;
mod translating;
pub mod verify_answers;
pub mod word_instructions;
pub mod write_instructions;
pub mod yields;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize};
use serde_json::Value;

use crate::engine::contract::Role;
use crate::engine::example::Example;
use crate::engine::kind::schema;
use crate::engine::stage::{RowStage, Rows, Stage};
use crate::engine::vocabulary::{Reason, TableId};
use crate::environment::Environment;
pub use registry::Registry;

/// The notes of a stage about a whole run, by name.
pub type Notes = BTreeMap<String, Value>;

/// The settings of a stage (the stage is its settings), with its name, texts and examples.
pub trait Settings: Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name of the stage kind in a pipeline.
    const NAME: &'static str;
    /// One sentence that describes the stage, for help texts.
    const SUMMARY: &'static str;
    /// The description of the remaining rows in the funnel, such as "docs that can be read".
    const FUNNEL_LABEL: &'static str;

    /// Returns the funnel description after a run with these notes: [`FUNNEL_LABEL`](Self::FUNNEL_LABEL), unless the
    /// run did less than that label claims.
    fn funnel_label(&self, _notes: &Notes) -> Cow<'static, str> {
        Self::FUNNEL_LABEL.into()
    }

    /// Returns the sentence of one of the stage's reasons under these settings.
    fn sentence(&self, reason: &'static Reason) -> Cow<'static, str> {
        reason.sentence.into()
    }

    /// Returns one example for each reason of the stage.
    fn examples() -> Vec<Example>;

    /// Returns the stage that the examples apply to: default settings, with a small built-in file where the stage
    /// needs one from the user.
    fn for_examples() -> Self {
        Self::default()
    }

    /// Fills in folders and servers that the settings do not name. Called before [`check`](Self::check).
    fn set_environment(&mut self, _environment: &Environment) {}

    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// `key must be …, not …`.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A stage, and its settings with all defaults filled in.
pub type BuiltStage = (Box<dyn Stage>, Value);

/// A kind of stage: an entry of [`KINDS`] or one that a program adds to a [`Registry`].
#[derive(Clone, Copy)]
pub struct StageKind {
    /// The name in a pipeline.
    pub name: &'static str,
    /// One sentence that describes the stage, for help texts.
    pub summary: &'static str,
    /// Returns the funnel description of a run, from the settings and notes of its manifest.
    pub funnel_label: fn(&Value, &Notes) -> Cow<'static, str>,
    /// Returns the sentence of a reason, from the settings of a manifest.
    pub sentence: fn(&Value, &'static Reason) -> Cow<'static, str>,
    /// Returns one example for each reason.
    pub examples: fn() -> Vec<Example>,
    /// Returns the stage that the examples apply to.
    pub for_examples: fn() -> Box<dyn Stage>,
    /// Builds the stage from a TOML table of settings.
    pub build: fn(toml::de::ValueDeserializer<'_>, &Environment) -> Result<BuiltStage, toml::de::Error>,
    /// Builds the stage from the settings in a manifest.
    pub rebuild: fn(Value, &Environment) -> Result<BuiltStage, serde_json::Error>,
    /// Returns the JSON Schema of the settings.
    pub schema: fn() -> Value,
}

impl StageKind {
    /// Describes a stage that judges its whole table at once.
    pub const fn of<S: Settings + Stage>() -> Self {
        Self {
            name: S::NAME,
            summary: S::SUMMARY,
            funnel_label: funnel_label::<S>,
            sentence: sentence::<S>,
            examples: S::examples,
            for_examples: || Box::new(S::for_examples()),
            build: |table, environment| build(table, environment, |stage: S| Box::new(stage)),
            rebuild: |settings, environment| {
                Ok((Box::new(with_environment::<S, _>(&settings, environment)?), settings))
            },
            schema: schema::<S>,
        }
    }

    /// Describes a stage that judges each row on its own.
    pub const fn of_rows<S: Settings + RowStage>() -> Self {
        Self {
            name: S::NAME,
            summary: S::SUMMARY,
            funnel_label: funnel_label::<S>,
            sentence: sentence::<S>,
            examples: S::examples,
            for_examples: || Box::new(Rows(S::for_examples())),
            build: |table, environment| build(table, environment, |stage: S| Box::new(Rows(stage))),
            rebuild: |settings, environment| {
                Ok((Box::new(Rows(with_environment::<S, _>(&settings, environment)?)), settings))
            },
            schema: schema::<S>,
        }
    }

    /// Returns the stage with default settings.
    ///
    /// # Panics
    /// If the defaults do not pass the stage's own check. The tests in `laws` build every kind of this crate.
    pub fn with_defaults(&self) -> Box<dyn Stage> {
        self.with_settings("")
    }

    /// Returns the stage with the settings of an example.
    ///
    /// # Panics
    /// If the settings are not TOML or do not pass the check. The tests in `laws` build every example of this crate.
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
) -> Result<BuiltStage, toml::de::Error> {
    use serde::de::Error as _;
    let settings: S = with_environment(table, environment)?;
    settings.check().map_err(toml::de::Error::custom)?;
    let resolved = serde_json::to_value(&settings).map_err(toml::de::Error::custom)?;
    Ok((boxed(settings), resolved))
}

/// Reads settings and fills in folders and servers from the environment.
fn with_environment<'d, S: Settings, D: Deserializer<'d>>(
    settings: D,
    environment: &Environment,
) -> Result<S, D::Error> {
    let mut settings = S::deserialize(settings)?;
    settings.set_environment(environment);
    Ok(settings)
}

fn funnel_label<S: Settings>(settings: &Value, notes: &Notes) -> Cow<'static, str> {
    S::deserialize(settings).map_or_else(|_| S::FUNNEL_LABEL.into(), |stage| stage.funnel_label(notes))
}

fn sentence<S: Settings>(settings: &Value, reason: &'static Reason) -> Cow<'static, str> {
    S::deserialize(settings).map_or_else(|_| reason.sentence.into(), |stage| stage.sentence(reason))
}

/// All kinds of stages, in the order of the live recipe.
pub static KINDS: [StageKind; 34] = [
    StageKind::of::<redact::Redact>(),
    StageKind::of::<redact_docs::RedactDocs>(),
    StageKind::of::<collapse_conversations::CollapseConversations>(),
    StageKind::of_rows::<drop_spam::DropSpam>(),
    StageKind::of_rows::<parse_docs::ParseDocs>(),
    StageKind::of::<merge_exact_docs::MergeExactDocs>(),
    StageKind::of::<drop_public_overlap::DropPublicOverlap>(),
    StageKind::of::<merge_near_docs::MergeNearDocs>(),
    StageKind::of::<cap_templates::CapTemplates>(),
    StageKind::of::<merge_near_queries::MergeNearQueries>(),
    StageKind::of::<drop_public_queries::DropPublicQueries>(),
    StageKind::of::<judge_docs::JudgeDocs>(),
    StageKind::of::<judge_queries::JudgeQueries>(),
    StageKind::of_rows::<fix_docs::FixDocs>(),
    StageKind::of::<draft_answers::DraftAnswers>(),
    StageKind::of_rows::<verify_answers::VerifyAnswers>(),
    StageKind::of_rows::<flag_answers::FlagAnswers>(),
    StageKind::of::<enhance_prompts::EnhancePrompts>(),
    StageKind::of::<drop_baseline_overlap::DropBaselineOverlap>(),
    StageKind::of::<drop_benchmark_overlap::DropBenchmarkOverlap>(),
    StageKind::of::<split::Split>(),
    StageKind::of::<sample::Sample>(),
    StageKind::of_rows::<check_provenance::CheckProvenance>(),
    StageKind::of_rows::<check_instructions::CheckInstructions>(),
    StageKind::of::<write_instructions::WriteInstructions>(),
    StageKind::of::<execute_calls::ExecuteCalls>(),
    StageKind::of::<drop_unneeded_calls::DropUnneededCalls>(),
    StageKind::of::<translate_back::TranslateBack>(),
    StageKind::of::<word_instructions::WordInstructions>(),
    StageKind::of::<annotate::Annotate>(),
    StageKind::of::<check_solutions::CheckSolutions>(),
    StageKind::of::<judge_solutions::JudgeSolutions>(),
    StageKind::of::<compress_results::CompressResults>(),
    StageKind::of::<hold_surplus::HoldSurplus>(),
];

/// Returns the kind that has a role for a table.
pub fn kind_of(role: Role, table: TableId) -> Option<&'static StageKind> {
    let has_role = |kind: &&StageKind| {
        let contract = kind.with_defaults().contract();
        (contract.role, contract.table) == (role, table)
    };
    KINDS.iter().find(has_role)
}

/// Returns the kind with this name.
pub fn kind(name: &str) -> Option<&'static StageKind> {
    KINDS.iter().find(|kind| kind.name == name)
}
