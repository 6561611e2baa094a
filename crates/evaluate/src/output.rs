//! Writes verdicts: JSON lines, the score files of the official package, Parquet.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::category::{FORMAT_SENSITIVITY, current_name, folder};
use super::dataset::Dataset;
use super::decoding::SystemDecoding;
use super::error::{EvaluateError, Result, unfit, unwritable};
use super::figures::float;
use super::groups::FormatSensitivity;
use super::leaderboard;
use super::results::Output;
use super::{Evaluation, Row, Settings, SystemScore};
use callsieve_engine::disk::{put_in_place, write_output};
use callsieve_engine::frame::{Values, write_frame};
use callsieve_engine::layout::temporary_output;

/// Raised when a key of the JSON output changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// Returns all figures as one object.
pub fn figures(scores: &Evaluation<'_>) -> Value {
    let system = |system: &SystemScore<'_>| {
        let (correct, n) = system.total();
        json!({
            "name": system.name, "n": n, "correct": correct, "accuracy": system.accuracy(),
            "categories": system.categories, "groups": system.groups, "format_sensitivity": system.formats, "latency": system.latency,
            "package": system.package, "cost": system.cost, "input_tokens": system.input_tokens, "output_tokens": system.output_tokens,
            "decoding": decoding(system.decoding),
        })
    };
    let not_scored: Vec<Value> = scores
        .not_scored
        .iter()
        .map(|(category, reason)| json!({"category": category, "reason": reason}))
        .collect();
    json!({
        "schema_version": SCHEMA_VERSION,
        "systems": scores.systems.iter().map(system).collect::<Vec<_>>(),
        "pairs": scores.pairs,
        "not_scored": not_scored,
        "warnings": scores.warnings,
    })
}

fn decoding(decoding: SystemDecoding) -> Value {
    let handler = decoding.handler;
    json!({
        "handler": handler.map(|handler| handler.name), "decoder": handler.map_or("default", |handler| handler.decoder.name()),
        "by_folder": decoding.is_by_folder, "is_official": !decoding.is_lenient, "strips_thinking": decoding.strips_thinking,
    })
}

/// Returns the verdict on an output: `id`, `valid`, `error_type`, `error`, `decoded`, and the other fields of its row.
pub fn verdict(system: Option<&str>, row: &Row<'_>) -> Map<String, Value> {
    let scored = &row.scored;
    let mut verdict = Map::new();
    if let Some(system) = system {
        verdict.insert("system".to_owned(), json!(system));
    }
    verdict.insert("id".to_owned(), json!(row.result.id));
    verdict.insert("valid".to_owned(), json!(scored.valid));
    verdict.insert("error_type".to_owned(), json!(scored.error_type));
    verdict.insert("error".to_owned(), json!(scored.error));
    verdict.insert("decoded".to_owned(), scored.decoded.clone());
    for (key, value) in &row.result.fields {
        if !verdict.contains_key(key) {
            verdict.insert(key.clone(), value.clone());
        }
    }
    verdict
}

/// Returns the verdicts on all outputs, one on each line. With several systems each line has the name of its system.
pub fn verdict_lines(systems: &[SystemScore<'_>]) -> String {
    let mut text = String::new();
    for system in systems {
        let name = Some(system.name).filter(|_| systems.len() > 1);
        for row in &system.rows {
            text += &format!("{}\n", Value::Object(verdict(name, row)));
        }
    }
    text
}

/// Writes a file.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        std::fs::create_dir_all(parent).map_err(|cause| unwritable(parent, cause))?;
    }
    write_output(path, text.as_bytes()).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: callsieve_engine::error::Error) -> EvaluateError {
    match error {
        callsieve_engine::error::Error::File { cause, .. } => unwritable(path, cause),
        other => unwritable(path, std::io::Error::other(other.to_string())),
    }
}

/// Writes the score files of the official package: `<system>/<live or non_live>/BFCL_v4_<category>_score.json`, a line
/// with the figures and one for each wrong output; and the table of its leaderboard.
///
/// # Errors
/// If a file cannot be written.
pub fn write_scores(directory: &Path, dataset: &Dataset, systems: &[SystemScore<'_>]) -> Result<()> {
    for system in systems {
        for figures in &system.categories {
            let name = current_name(&figures.category);
            let mut header = shares(figures.correct, figures.n);
            if let Some(formats) = system.formats.as_ref().filter(|_| name == FORMAT_SENSITIVITY) {
                header.extend(of_formats(formats));
            }
            let header = Value::Object(header);
            let mut text = format!("{header}\n");
            let of_category =
                |row: &&Row<'_>| dataset.categories[row.scored.place.0].name == figures.category;
            for row in system.rows.iter().filter(of_category).filter(|row| !row.scored.valid) {
                text += &format!("{}\n", failing(dataset, system.name, name, row));
            }
            write(&score_path(directory, system.name, name), &text)?;
        }
    }
    write(&directory.join(leaderboard::FILE), &leaderboard::table(systems, dataset))
}

/// Returns the paths of the score files.
pub fn score_paths(directory: &Path, systems: &[SystemScore<'_>]) -> Vec<PathBuf> {
    let of_system = |system: &SystemScore<'_>| -> Vec<PathBuf> {
        let names = system.categories.iter().map(|figures| current_name(&figures.category));
        names.map(|name| score_path(directory, system.name, name)).collect()
    };
    systems.iter().flat_map(of_system).chain([directory.join(leaderboard::FILE)]).collect()
}

/// Returns the path of the score file of a category. The folder of a system is always below the directory.
fn score_path(directory: &Path, system: &str, category: &str) -> PathBuf {
    let mut model = system.replace('/', "_");
    if model.chars().all(|c| c == '.') {
        model = model.replace('.', "_");
    }
    directory.join(model).join(folder(category)).join(format!("BFCL_v4_{category}_score.json"))
}

fn shares(correct: usize, n: usize) -> Map<String, Value> {
    let shares = [
        ("accuracy", json!(float(correct) / float(n))),
        ("correct_count", json!(correct)),
        ("total_count", json!(n)),
    ];
    shares.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Returns the figures of format sensitivity with the names of the official package, in percent, and those of each prompt
/// configuration.
fn of_formats(formats: &FormatSensitivity) -> Map<String, Value> {
    let percent = |figure: f64| json!(format!("{figure:.2}").parse().unwrap_or(figure));
    let all = [
        ("accuracy_max_delta", percent(formats.max_delta * 100.0)),
        ("accuracy_variance", percent((formats.sd * 100.0).powi(2))),
        ("accuracy_std", percent(formats.sd * 100.0)),
    ];
    let all = all.into_iter().map(|(key, value)| (key.to_owned(), value));
    let each = formats.configurations.iter();
    let each = each.map(|of| (of.configuration.clone(), Value::Object(shares(of.correct, of.n))));
    all.chain(each).collect()
}

/// Returns a wrong output in the form of score files.
fn failing(dataset: &Dataset, system: &str, category: &str, row: &Row<'_>) -> Value {
    let (at, index) = row.scored.place;
    let entry = &dataset.categories[at].entries[index];
    json!({
        "id": entry.id,
        "model_name": system,
        "test_category": category,
        "valid": false,
        "error": row.scored.error,
        "error_type": row.scored.error_type,
        "prompt": {"id": entry.id, "question": *entry.question, "function": *entry.functions},
        "model_result_raw": raw(&row.result.output),
        "model_result_decoded": row.scored.decoded,
        "possible_answer": *entry.ground_truth,
    })
}

/// Returns an output in the form of result files.
pub fn raw(output: &Output) -> Value {
    match output {
        Output::Text(text) | Output::Words(text) => json!(text),
        Output::Calls(calls) | Output::Turns(calls) => calls.clone(),
        Output::Failed(_) => Value::Null,
    }
}

/// Writes the verdicts to Parquet, one row for each output; values that are no text are JSON.
///
/// # Errors
/// If the file cannot be written.
pub fn write_parquet(path: &Path, dataset: &Dataset, systems: &[SystemScore<'_>]) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(unfit(
            path,
            "this is no regular file",
            "name a file for the table, such as verdicts.parquet",
        ));
    }
    let rows: Vec<(&str, &Row<'_>)> =
        systems.iter().flat_map(|system| system.rows.iter().map(|row| (system.name, row))).collect();
    let json_of = |value: &Value| Some(value).filter(|value| !value.is_null()).map(ToString::to_string);
    let errors: Vec<Option<String>> = rows
        .iter()
        .map(|(_, row)| Some(json!(row.scored.error).to_string()).filter(|_| !row.scored.error.is_empty()))
        .collect();
    let decoded: Vec<Option<String>> = rows.iter().map(|(_, row)| json_of(&row.scored.decoded)).collect();
    let samples: Vec<Option<String>> =
        rows.iter().map(|(_, row)| row.result.sample.as_ref().and_then(json_of)).collect();
    let fields: Vec<String> =
        rows.iter().map(|(_, row)| Value::Object(row.result.fields.clone()).to_string()).collect();
    let text = |of: &'static str| -> Values<'_> {
        Values::Text(
            rows.iter()
                .map(|(system, row)| match of {
                    "system" => Some(*system),
                    "category" => Some(dataset.categories[row.scored.place.0].name.as_str()),
                    "id" => Some(row.result.id.as_str()),
                    _ => row.scored.error_type.as_deref(),
                })
                .collect(),
        )
    };
    let float_of =
        |get: fn(&Row<'_>) -> Option<f64>| Values::Float(rows.iter().map(|(_, row)| get(row)).collect());
    let columns = vec![
        ("system", text("system")),
        ("category", text("category")),
        ("id", text("id")),
        ("sample", Values::Text(samples.iter().map(Option::as_deref).collect())),
        ("valid", Values::Int(rows.iter().map(|(_, row)| Some(i64::from(row.scored.valid))).collect())),
        ("error_type", text("error_type")),
        ("error", Values::Text(errors.iter().map(Option::as_deref).collect())),
        ("decoded", Values::Text(decoded.iter().map(Option::as_deref).collect())),
        ("latency", float_of(|row| row.result.latency.sum())),
        ("input_tokens", float_of(|row| row.result.input_tokens.sum())),
        ("output_tokens", float_of(|row| row.result.output_tokens.sum())),
        ("fields", Values::Text(fields.iter().map(|fields| Some(fields.as_str())).collect())),
    ];
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = temporary_output(&target);
    let written = write_frame(&temporary, columns).and_then(|()| put_in_place(&temporary, &target));
    if written.is_err() {
        // It may not be there.
        let _ = std::fs::remove_file(&temporary);
    }
    written.map_err(|error| failed(path, error))
}

/// Refuses outputs that are a file of the inputs, or the same file. `save` is where outputs of a model are stored.
///
/// # Errors
/// If there is such an output.
pub fn check_targets(settings: &Settings, save: Option<&Path>, outputs: &[PathBuf]) -> Result<()> {
    let results = settings.results.iter().chain(&settings.recorded).chain(&settings.prices_file);
    let results: Vec<PathBuf> = results.map(PathBuf::as_path).chain(save).map(real).collect();
    let dataset = real(&settings.dataset);
    let mut known: Vec<PathBuf> = Vec::new();
    for output in outputs {
        let real = real(output);
        // In a folder of a dataset these are its files, in one of results these and others.
        let is_file_of = |input: &PathBuf, kinds: &[&str]| {
            let is_kind = |kind: &&str| real.extension().is_some_and(|extension| extension == *kind);
            real == *input || real.starts_with(input) && real.is_file() && kinds.iter().any(is_kind)
        };
        if is_file_of(&dataset, &["json"])
            || results.iter().any(|input| is_file_of(input, &["json", "jsonl"]))
        {
            let what = "this file is one of the inputs, and would be replaced";
            return Err(unfit(output, what, "name another file for the output"));
        }
        // Devices and pipes can take several outputs.
        if known.contains(&real) && !std::fs::metadata(&real).is_ok_and(|found| !found.is_file()) {
            return Err(unfit(output, "two outputs have this name", "name a file for each"));
        }
        known.push(real);
    }
    Ok(())
}

/// Returns a path without links and dots; of a file that is not there yet, that of the nearest folder that is.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = std::fs::canonicalize(path) {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match path.file_name() {
        Some(name) if folder != path => real(folder).join(name),
        _ => path.to_owned(),
    }
}
