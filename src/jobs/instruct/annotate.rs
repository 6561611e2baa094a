//! Solution paths for a finished instruction set: its pipeline, with a stage that has a model do the instructions.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::engine::manifest::RunFile;
use crate::pipeline::{Override, Pipeline, PipelineError};
use crate::stages::Registry;
use crate::stages::Settings as _;
use crate::stages::annotate::Annotate;
use crate::stages::hold_surplus::HoldSurplus;

/// What does the instructions, and how.
#[derive(Debug, Clone, Default)]
pub struct AnnotateOptions {
    /// The language model.
    pub model: String,
    /// The environment that executes the calls; `None` for that of the run.
    pub environment: Option<PathBuf>,
    /// The language model that stands in for functions that the environment cannot execute.
    pub simulator: Option<String>,
    /// `react`, `react-at-n` or `dfsdt`; `None` for that of the pipeline.
    pub method: Option<String>,
    /// Attempts at each instruction; `None` for that of the pipeline.
    pub attempts: Option<u32>,
    /// Other settings of the pipeline; they win.
    pub settings: Vec<Override>,
}

impl AnnotateOptions {
    /// Returns the pipeline of a run with its solution paths. Its steps before are those of the run, and are not done again.
    ///
    /// # Errors
    /// A setting is wrong.
    pub fn pipeline(
        &self,
        folder: &Path,
        run: &RunFile,
        registry: &Registry,
    ) -> Result<Pipeline, PipelineError> {
        let mut resolved = run.pipeline.clone();
        let id = with_stage(&mut resolved);
        let file = format!("{} (its pipeline)", folder.display());
        Pipeline::from_resolved(&resolved, &file, &self.overrides(&id, &resolved), registry)
    }

    fn overrides(&self, id: &str, resolved: &Value) -> Vec<Override> {
        let text = |text: &str| toml::Value::from(text).to_string();
        let set = |key: &str, value: String| Override { id: id.to_owned(), key: key.to_owned(), value };
        let ingest = &resolved["ingest"];
        let own = ["environment", "collection"]
            .into_iter()
            .filter_map(|key| ingest[key].as_str())
            .find(|path| !path.is_empty())
            .map(PathBuf::from);
        let mut all = vec![set("model", text(&self.model))];
        let environment = self.environment.clone().or(own);
        all.extend(environment.map(|path| set("environment", text(&path.to_string_lossy()))));
        all.extend(self.simulator.iter().map(|model| set("simulator", text(model))));
        all.extend(self.method.iter().map(|method| set("method", text(method))));
        all.extend(self.attempts.map(|attempts| set("attempts", attempts.to_string())));
        all.extend(self.settings.iter().cloned());
        all
    }
}

/// Adds the stage to a resolved pipeline that has none, before surplus instructions are held. Returns its id.
fn with_stage(resolved: &mut Value) -> String {
    let Some(stages) = resolved["stages"].as_array_mut() else { return Annotate::NAME.to_owned() };
    let place = |kind: &str| stages.iter().position(|stage| stage["kind"] == kind);
    if let Some(at) = place(Annotate::NAME) {
        return stages[at]["id"].as_str().unwrap_or(Annotate::NAME).to_owned();
    }
    let at = place(HoldSurplus::NAME).unwrap_or(stages.len());
    stages.insert(at, json!({"id": Annotate::NAME, "kind": Annotate::NAME, "settings": {}}));
    Annotate::NAME.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stage_is_added_before_surplus_is_held_and_only_once() {
        let mut resolved =
            json!({"stages": [{"id": "a", "kind": "parse-docs"}, {"id": "b", "kind": "hold-surplus"}]});
        assert_eq!(with_stage(&mut resolved), "annotate");
        assert_eq!(resolved["stages"][1]["kind"], "annotate");
        resolved["stages"][1]["id"] = "mine".into();
        assert_eq!(with_stage(&mut resolved), "mine");
        assert_eq!(resolved["stages"].as_array().unwrap().len(), 3);
    }
}
