//! What it takes to make a dataset again: version, seed, inputs by their hashes, the pipeline as it ran.
//!
//! Inputs are named by SHA-256 alone. Names of files do not describe the rows, may name people, and are not what
//! a dataset depends on. For the same reason a setting that holds an absolute path keeps only its last part.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::engine::manifest::RunFile;
use crate::text::figures::counted;
use crate::text::visible::visible_quoted;

/// How to make the dataset again.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Rebuild {
    /// Version of the program.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// The command, with the pipeline below in `pipeline.toml`.
    pub command: String,
    /// The inputs, by hash.
    pub inputs: Vec<Input>,
    /// Settings that name a file which is part of neither the log nor the pipeline: `decisions`, `ingest.key` or `stage.key`.
    pub files: Vec<String>,
    /// Decisions of reviewers that were in the run folder.
    #[serde(skip_serializing_if = "is_zero")]
    pub reviewed: u64,
    /// The pipeline as it ran, as TOML, without its inputs.
    pub pipeline: String,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Rebuild {
    /// What reviewers decided; nothing if they did not.
    pub(super) fn reviewed_sentence(&self) -> Option<String> {
        (self.reviewed > 0).then(|| {
            format!(
                "It also read {} that reviewers made on rows of the run folder. `callsieve review RUN --export FILE` writes them to a file for --decisions.",
                counted(self.reviewed, "decision", "decisions")
            )
        })
    }
}

/// An input file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Input {
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// How to make the dataset of a run again.
pub(super) fn rebuild(run: &RunFile) -> Rebuild {
    let mut inputs: Vec<Input> =
        run.inputs.iter().map(|input| Input { sha256: input.sha256.clone(), bytes: input.bytes }).collect();
    inputs.sort();
    let name = run.pipeline["name"].as_str().unwrap_or("run");
    // Rows that are made are made of files that the settings name.
    let files = match (run.pipeline["ingest"].get("inputs"), inputs.len()) {
        (None, _) => "",
        (_, 1) => "--input FILE ",
        _ => "--input FILE… ",
    };
    Rebuild {
        version: run.version.clone(),
        seed: run.seed,
        command: format!("callsieve run pipeline.toml {files}--out out/{name}"),
        inputs,
        files: files_named(&run.pipeline),
        reviewed: run.reviewed,
        pipeline: pipeline_toml(&run.pipeline),
    }
}

/// The pipeline as TOML; a setting that is not set has no line.
fn pipeline_toml(pipeline: &Value) -> String {
    let mut text = String::new();
    for key in ["name", "about", "seed", "max_fault_share", "decisions"] {
        text += &line(key, &pipeline[key]);
    }
    let section = |header: &str, settings: &Value, leave_out: &[&str]| {
        let lines: String = settings
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !leave_out.contains(&key.as_str()))
            .map(|(key, value)| line(key, value))
            .collect();
        format!("\n{header}\n{lines}")
    };
    text += &section("[ingest]", &pipeline["ingest"], &["inputs"]);
    for stage in pipeline["stages"].as_array().into_iter().flatten() {
        let names = line("kind", &stage["kind"]) + &line("id", &stage["id"]);
        text += &section(&format!("[[stages]]\n{}", names.trim_end()), &stage["settings"], &[]);
    }
    if !pipeline["export"].is_null() {
        text += &section("[export]", &pipeline["export"], &[]);
    }
    text
}

fn line(key: &str, value: &Value) -> String {
    let shown = |value: toml::Value| format!("{key} = {}\n", visible_quoted(&value.to_string()));
    to_toml(value).map(shown).unwrap_or_default()
}

/// A JSON value as TOML; `None` for null, which TOML does not know.
fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => toml::Value::Boolean(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(number.as_f64()?),
        },
        Value::String(text) => toml::Value::String(without_folders(text)),
        Value::Array(items) => toml::Value::Array(items.iter().filter_map(to_toml).collect()),
        Value::Object(members) => toml::Value::Table(
            members.iter().filter_map(|(key, value)| Some((key.clone(), to_toml(value)?))).collect(),
        ),
    })
}

/// An absolute path by its last part; any other text as it is.
pub(super) fn without_folders(text: &str) -> String {
    let path = Path::new(text);
    match path.file_name() {
        Some(name) if path.is_absolute() => name.to_string_lossy().into_owned(),
        _ => text.to_owned(),
    }
}

/// The file of decisions, and settings of the source and the stages that look like the path of a file.
fn files_named(pipeline: &Value) -> Vec<String> {
    let is_file = |text: &str| {
        let path = Path::new(text);
        path.is_absolute() || (path.extension().is_some() && !text.contains(char::is_whitespace))
    };
    let mut files: Vec<String> =
        (!pipeline["decisions"].is_null()).then(|| "decisions".to_owned()).into_iter().collect();
    for (key, value) in pipeline["ingest"].as_object().into_iter().flatten() {
        if value.as_str().is_some_and(is_file) {
            files.push(format!("ingest.{key}"));
        }
    }
    for stage in pipeline["stages"].as_array().into_iter().flatten() {
        for (key, value) in stage["settings"].as_object().into_iter().flatten() {
            if value.as_str().is_some_and(is_file) {
                files.push(format!("{}.{key}", stage["id"].as_str().unwrap_or_default()));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pipeline::{LIVE, Pipeline};
    use crate::stages::Registry;

    #[test]
    fn the_pipeline_written_is_the_pipeline_that_ran() {
        let set = |text: &str| text.parse().unwrap();
        let overrides = [
            set("merge-near-queries.cosine=off"),
            set("export.card.title=\"Tides \\\"and\\\" ferries\""),
            set("ingest.limit=7"),
        ];
        let pipeline = Pipeline::parse(LIVE, "live.toml", &overrides, &Registry::standard()).unwrap();
        let text = pipeline_toml(&pipeline.resolved());
        assert!(!text.contains("inputs"), "{text}");
        let mut again = Pipeline::parse(&text, "again.toml", &[], &Registry::standard()).unwrap();
        again.set_inputs(pipeline.inputs().to_vec()).unwrap();
        assert_eq!(again.resolved(), pipeline.resolved());
    }

    #[test]
    fn of_an_absolute_path_only_the_last_part_is_named() {
        let settings =
            json!({"answers": "/home/somebody/answers.jsonl", "threshold": 0.8, "words": ["a.b", "c"]});
        let pipeline = json!({"stages": [{"id": "s", "kind": "k", "settings": settings}]});
        let text = pipeline_toml(&pipeline);
        assert!(text.contains("answers = \"answers.jsonl\"") && !text.contains("somebody"), "{text}");
        assert_eq!(files_named(&pipeline), ["s.answers"]);
        let decided = json!({"decisions": "/home/somebody/decided.jsonl"});
        let text = pipeline_toml(&decided);
        assert!(text.starts_with("decisions = \"decided.jsonl\"\n"), "{text}");
        assert_eq!(files_named(&decided), ["decisions"]);
    }
}
