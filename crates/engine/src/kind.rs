//! Kinds of sources and sinks: what `kind` in `[ingest]` and `[export]` of a pipeline names.
//!
//! A source or a sink is its settings, as a stage is. A program adds kinds of its own to the registry.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use callsieve_system::environment::Environment;

use super::instance::{SinkInstance, SourceInstance};
use super::sink::Sink;
use super::source::Source;

/// The settings of a source or a sink (it is its settings), with its name and text.
pub trait KindSettings: Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name of the kind in a pipeline.
    const NAME: &'static str;
    /// What it reads or writes, in a few words, for people.
    const SUMMARY: &'static str;

    /// Fills in folders, servers and commands that the settings do not name. Called before [`check`](Self::check).
    fn set_environment(&mut self, _environment: &Environment) {}

    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// `key must be …, not …`.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A kind of source or sink. `I` is what it builds.
pub struct Kind<I> {
    /// The name in a pipeline.
    pub name: &'static str,
    /// What it reads or writes, in a few words.
    pub summary: &'static str,
    /// Builds the source or the sink from a TOML table of settings.
    pub build: fn(toml::de::ValueDeserializer<'_>, &Environment) -> Result<I, toml::de::Error>,
    /// Returns the JSON Schema of the settings.
    pub schema: fn() -> Value,
}

// A derived copy would need an `I` that can be copied.
impl<I> Clone for Kind<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Kind<I> {}

/// A kind of source.
pub type SourceKind = Kind<SourceInstance>;

/// A kind of sink.
pub type SinkKind = Kind<SinkInstance>;

impl SourceKind {
    /// Describes a source.
    pub const fn of<S: KindSettings + Source>() -> Self {
        Self {
            name: S::NAME,
            summary: S::SUMMARY,
            build: |table, environment| {
                let (source, settings) = read::<S>(table, environment)?;
                Ok(SourceInstance { kind: S::NAME, settings, source: Arc::new(source) })
            },
            schema: schema::<S>,
        }
    }
}

impl SinkKind {
    /// Describes a sink.
    pub const fn of<S: KindSettings + Sink>() -> Self {
        Self {
            name: S::NAME,
            summary: S::SUMMARY,
            build: |table, environment| {
                let (sink, settings) = read::<S>(table, environment)?;
                Ok(SinkInstance { kind: S::NAME, summary: S::SUMMARY, settings, sink: Arc::new(sink) })
            },
            schema: schema::<S>,
        }
    }
}

/// Reads and checks settings, and returns them with all defaults as well.
fn read<S: KindSettings>(
    table: toml::de::ValueDeserializer<'_>,
    environment: &Environment,
) -> Result<(S, Value), toml::de::Error> {
    use serde::de::Error as _;
    let mut settings = S::deserialize(table)?;
    settings.set_environment(environment);
    settings.check().map_err(toml::de::Error::custom)?;
    let resolved = serde_json::to_value(&settings).map_err(toml::de::Error::custom)?;
    Ok((settings, resolved))
}

/// Returns the JSON Schema of some settings, without references.
pub fn schema<S: JsonSchema>() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<S>().to_value()
}
