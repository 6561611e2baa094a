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
pub mod redact;
pub mod redact_docs;
pub mod sample;
pub mod split;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::engine::cascade::NO_REQUEST_LEFT;
use crate::engine::decisions;
use crate::engine::example::Example;
use crate::engine::forgotten::{ANSWER_FORGOTTEN, FORGOTTEN};
use crate::engine::payload::JOINED;
use crate::engine::stage::{Reason, RowStage, Rows, Stage};

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
    pub build: fn(toml::de::ValueDeserializer<'_>) -> Result<Built, toml::de::Error>,
    /// Builds it from settings as a manifest holds them.
    pub rebuild: fn(Value) -> Result<Built, serde_json::Error>,
    /// The JSON Schema of its settings.
    pub schema: fn() -> Value,
}

impl Kind {
    /// The stage with default settings.
    ///
    /// # Panics
    /// Never: the laws build every kind.
    pub fn with_defaults(&self) -> Box<dyn Stage> {
        self.with_settings("")
    }

    /// The stage with the settings of an example.
    ///
    /// # Panics
    /// Never: the laws build every example.
    pub fn with_settings(&self, settings: &str) -> Box<dyn Stage> {
        let table = format!("{{ {settings} }}");
        let table = toml::de::ValueDeserializer::parse(&table).expect("settings of examples are TOML");
        (self.build)(table).expect("they are in range").0
    }
}

const fn whole<S: Settings + Stage>() -> Kind {
    Kind {
        name: S::NAME,
        summary: S::SUMMARY,
        left: left::<S>,
        sentence: sentence::<S>,
        examples: S::examples,
        for_examples: || Box::new(S::for_examples()),
        build: |table| build(table, |stage: S| Box::new(stage)),
        rebuild: |settings| Ok((Box::new(S::deserialize(&settings)?), settings)),
        schema: schema::<S>,
    }
}

const fn rows<S: Settings + RowStage>() -> Kind {
    Kind {
        name: S::NAME,
        summary: S::SUMMARY,
        left: left::<S>,
        sentence: sentence::<S>,
        examples: S::examples,
        for_examples: || Box::new(Rows(S::for_examples())),
        build: |table| build(table, |stage: S| Box::new(Rows(stage))),
        rebuild: |settings| Ok((Box::new(Rows(S::deserialize(&settings)?)), settings)),
        schema: schema::<S>,
    }
}

fn build<S: Settings>(
    table: toml::de::ValueDeserializer<'_>,
    boxed: fn(S) -> Box<dyn Stage>,
) -> Result<Built, toml::de::Error> {
    use serde::de::Error as _;
    let settings = S::deserialize(table)?;
    settings.check().map_err(toml::de::Error::custom)?;
    let resolved = serde_json::to_value(&settings).map_err(toml::de::Error::custom)?;
    Ok((boxed(settings), resolved))
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
    whole::<redact::Redact>(),
    whole::<redact_docs::RedactDocs>(),
    whole::<collapse_conversations::CollapseConversations>(),
    rows::<drop_spam::DropSpam>(),
    rows::<parse_docs::ParseDocs>(),
    whole::<merge_exact_docs::MergeExactDocs>(),
    whole::<drop_public_overlap::DropPublicOverlap>(),
    whole::<merge_near_docs::MergeNearDocs>(),
    whole::<merge_near_queries::MergeNearQueries>(),
    whole::<drop_public_queries::DropPublicQueries>(),
    rows::<judge_docs::JudgeDocs>(),
    whole::<judge_queries::JudgeQueries>(),
    rows::<fix_docs::FixDocs>(),
    whole::<draft_answers::DraftAnswers>(),
    whole::<drop_baseline_overlap::DropBaselineOverlap>(),
    whole::<split::Split>(),
    whole::<sample::Sample>(),
];

/// The kinds that take personal data out of what the log said.
pub const REDACTION: [&str; 2] = [redact::Redact::NAME, redact_docs::RedactDocs::NAME];

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Every reason a stage may name, with the kind that names it (`None`: the runner), in the order of the recipe. One
/// that two kinds name stands with the first.
pub fn reasons() -> Vec<(Option<&'static Kind>, &'static Reason)> {
    let mut reasons: Vec<(Option<&'static Kind>, &'static Reason)> = Vec::new();
    for kind in &KINDS {
        for reason in kind.with_defaults().contract().reasons {
            if !reasons.iter().any(|(_, known)| std::ptr::eq(*known, reason)) {
                reasons.push((Some(kind), reason));
            }
        }
    }
    reasons.extend(decisions::reasons().map(|reason| (None, reason)));
    reasons.extend([&NO_REQUEST_LEFT, &FORGOTTEN, &ANSWER_FORGOTTEN, &JOINED].map(|reason| (None, reason)));
    reasons
}
