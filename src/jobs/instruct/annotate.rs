//! Solution paths for a finished instruction set: its pipeline, with stages that have models do the instructions and judge what came of it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::engine::manifest::RunFile;
use crate::pipeline::{Override, Pipeline, PipelineError};
use crate::stages::Registry;
use crate::stages::Settings as _;
use crate::stages::annotate::Annotate;
use crate::stages::check_solutions::CheckSolutions;
use crate::stages::hold_surplus::HoldSurplus;
use crate::stages::judge_solutions::JudgeSolutions;

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
        let id = with_stages(&mut resolved, Annotate::NAME);
        // What judges reject holds for their command.
        let of_judges = stage_of(&resolved, JudgeSolutions::NAME);
        forget(&mut resolved, &of_judges, "executed");
        pipeline(folder, &resolved, &self.overrides(&id, &resolved), registry)
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

/// Who judges the solution paths of a run, and how.
#[derive(Debug, Clone, Default)]
pub struct JudgeOptions {
    /// The language models.
    pub models: Vec<String>,
    /// Votes of each on each answer; `None` for that of the pipeline.
    pub votes: Option<u32>,
    /// A file of verdicts of people.
    pub human: Option<PathBuf>,
    /// The run folder of other solutions of the same instructions.
    pub against: Option<PathBuf>,
    /// Other settings of the pipeline; they win.
    pub settings: Vec<Override>,
}

impl JudgeOptions {
    /// Returns the pipeline of a run with verdicts on its solution paths. Its steps before are those of the run.
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
        let id = with_stages(&mut resolved, JudgeSolutions::NAME);
        // What was compared in an earlier run is not compared again unasked.
        for key in ["human", "against", "executed"] {
            forget(&mut resolved, &id, key);
        }
        let set = |key: &str, value: toml::Value| Override {
            id: id.clone(),
            key: key.to_owned(),
            value: value.to_string(),
        };
        let path = |path: &PathBuf| toml::Value::from(path.to_string_lossy().into_owned());
        let mut overrides = vec![set("models", self.models.clone().into())];
        overrides.extend(self.votes.map(|votes| set("votes", i64::from(votes).into())));
        overrides.extend(self.human.iter().map(|file| set("human", path(file))));
        overrides.extend(self.against.iter().map(|run| set("against", path(run))));
        overrides.extend(self.settings.iter().cloned());
        pipeline(folder, &resolved, &overrides, registry)
    }
}

fn pipeline(
    folder: &Path,
    resolved: &Value,
    overrides: &[Override],
    registry: &Registry,
) -> Result<Pipeline, PipelineError> {
    Pipeline::from_resolved(resolved, &format!("{} (its pipeline)", folder.display()), overrides, registry)
}

/// Removes a setting of a stage.
fn forget(resolved: &mut Value, id: &str, key: &str) {
    let stages = resolved["stages"].as_array_mut().into_iter().flatten();
    for stage in stages.filter(|stage| stage["id"] == id) {
        if let Some(settings) = stage["settings"].as_object_mut() {
            settings.remove(key);
        }
    }
}

/// The id of the stage of a kind; its kind if there is none.
fn stage_of(resolved: &Value, kind: &str) -> String {
    let mut stages = resolved["stages"].as_array().into_iter().flatten();
    let id = stages.find(|stage| stage["kind"] == kind).and_then(|stage| stage["id"].as_str());
    id.unwrap_or(kind).to_owned()
}

/// The stages of solution paths, in their order.
pub const SOLUTION_STAGES: [&str; 3] = [Annotate::NAME, CheckSolutions::NAME, JudgeSolutions::NAME];

/// Moves the [`SOLUTION_STAGES`] of a resolved pipeline after the one that holds surplus instructions, and adds those that it lacks: only instructions
/// of the set are asked about, and none takes the place of one that is dropped. Returns the id of one of them.
fn with_stages(resolved: &mut Value, wanted: &str) -> String {
    let Some(stages) = resolved["stages"].as_array_mut() else { return wanted.to_owned() };
    let place = |stages: &[Value], kind: &str| stages.iter().position(|stage| stage["kind"] == kind);
    let own = SOLUTION_STAGES.map(|kind| match place(stages, kind) {
        Some(at) => stages.remove(at),
        None => json!({"id": kind, "kind": kind, "settings": {}}),
    });
    let after = place(stages, HoldSurplus::NAME).map_or(stages.len(), |at| at + 1);
    stages.splice(after..after, own);
    stage_of(resolved, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_come_after_surplus_is_held_and_only_once() {
        let mut resolved =
            json!({"stages": [{"id": "a", "kind": "judge-solutions"}, {"id": "b", "kind": "hold-surplus"}]});
        assert_eq!(with_stages(&mut resolved, "annotate"), "annotate");
        let kinds = |resolved: &Value| -> Vec<String> {
            let stages = resolved["stages"].as_array().unwrap();
            stages.iter().map(|stage| stage["kind"].as_str().unwrap().to_owned()).collect()
        };
        let expected = ["hold-surplus", "annotate", "check-solutions", "judge-solutions"];
        assert_eq!(kinds(&resolved), expected);
        assert_eq!(with_stages(&mut resolved, "judge-solutions"), "a");
        assert_eq!(kinds(&resolved), expected);
    }
}
