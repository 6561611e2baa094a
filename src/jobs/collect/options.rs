//! The options of a collection, and its pipeline.

use std::path::PathBuf;

use crate::pipeline::{Override, Pipeline, PipelineError};
use crate::stages::Registry;

/// The recipe. It names no files.
pub const RECIPE: &str = include_str!("../../../pipelines/collection.toml");
/// Its name in messages.
const RECIPE_NAME: &str = "pipelines/collection.toml (built in)";

/// What is collected.
#[derive(Debug, Clone, Default)]
pub struct CollectOptions {
    /// Files of tools, and folders of them.
    pub inputs: Vec<PathBuf>,
    /// Commands of MCP servers: each a program with its arguments.
    pub mcp: Vec<Vec<String>>,
    /// Logs of recorded calls, by which functions that do not answer are left out.
    pub calls: Vec<PathBuf>,
    /// A file of rules for recorded calls; `None` for the built-in ones.
    pub probe_rules: Option<PathBuf>,
    /// Other settings of the pipeline; they win.
    pub settings: Vec<Override>,
}

impl CollectOptions {
    /// Returns the pipeline that collects.
    ///
    /// # Errors
    /// A setting is wrong.
    pub fn pipeline(&self, registry: &Registry) -> Result<Pipeline, PipelineError> {
        let of_ingest = |key: &str, value: toml::Value| Override {
            id: "ingest".to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
        };
        let names = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
        };
        let mut overrides = vec![
            of_ingest("inputs", names(&self.inputs).into()),
            of_ingest("mcp", self.mcp.clone().into()),
            of_ingest("calls", names(&self.calls).into()),
        ];
        let rules = self.probe_rules.as_ref().map(|path| path.to_string_lossy().into_owned());
        overrides.extend(rules.map(|path| of_ingest("probe_rules", path.into())));
        overrides.extend(self.settings.iter().cloned());
        Pipeline::parse(RECIPE, RECIPE_NAME, &overrides, registry)
    }
}
