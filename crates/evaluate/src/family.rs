//! Whether a judged model is of the family of a model that answered the log of the dataset.

use std::collections::BTreeSet;
use std::path::Path;

use super::results::System;
use callsieve_engine::columns::MODEL;
use callsieve_engine::frame::FrameFile;

/// Shorter starts of names are no family.
const MIN_LETTERS: usize = 3;

/// Returns the models that the log of a run was sent to; none if the path is no run folder.
///
/// # Errors
/// A warning: the table of the log is there and cannot be read, so nothing is known about them.
pub(super) fn of_log(run: &Path) -> Result<BTreeSet<String>, String> {
    let table = run.join("ingest").join("requests.parquet");
    if !table.is_file() {
        return Ok(BTreeSet::new());
    }
    let frame = FrameFile::open(&table).and_then(|file| file.read_columns(&[MODEL.name]));
    let frame = frame.map_err(|error| {
        let error = error.to_string();
        let what = error.split("\nhint: ").next().unwrap_or_default();
        format!("{what}; whether a system is of the family of a model of the log is unknown")
    })?;
    let models = frame.texts(MODEL.name);
    let name = |row| models.as_ref().and_then(|models| models.get(row)).map(str::to_owned);
    Ok((0..frame.height()).filter_map(name).collect())
}

/// Returns the family of a model: the letters at the start of its name, without the name of its provider.
fn family(model: &str) -> Option<String> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let letters: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
    (letters.len() >= MIN_LETTERS).then_some(letters)
}

/// Returns a warning if a system is of the family of a model of the log.
pub(super) fn warning(system: &System, of_log: &BTreeSet<String>) -> Option<String> {
    let judged: BTreeSet<&str> =
        system.rows.iter().filter_map(|row| row.model.as_deref()).chain([system.name.as_str()]).collect();
    judged.into_iter().find_map(|judged| {
        let family = family(judged)?;
        let logged = of_log.iter().find(|logged| self::family(logged).as_deref() == Some(&family))?;
        Some(format!(
            "{}: the log of this dataset has answers of {logged}, a model of the same family; answers drafted from them \
             favour this system",
            system.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_cannot_be_read_is_a_warning_and_not_a_log_without_models() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(of_log(run.path()), Ok(BTreeSet::new()));
        let ingest = run.path().join("ingest");
        std::fs::create_dir(&ingest).unwrap();
        callsieve_engine::disk::write_atomic(&ingest.join("requests.parquet"), b"PAR1").unwrap();
        let warning = of_log(run.path()).unwrap_err();
        assert!(warning.contains("requests.parquet") && warning.ends_with("is unknown"), "{warning}");
        assert!(!warning.contains('\n'), "{warning}");
    }

    #[test]
    fn a_family_is_the_start_of_the_name() {
        for (model, expected) in [
            ("gpt-4o-2024-08-06", Some("gpt")),
            ("openai/GPT-5", Some("gpt")),
            ("Qwen/Qwen2.5-7B-Instruct", Some("qwen")),
            ("o3", None),
        ] {
            assert_eq!(family(model).as_deref(), expected, "{model}");
        }
    }
}
