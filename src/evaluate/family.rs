//! Whether a judged model is of the family of a model that answered the log of the dataset.

use std::collections::BTreeSet;
use std::path::Path;

use super::results::System;
use crate::columns::MODEL;
use crate::engine::frame::FrameFile;

/// Shorter starts of names are no family.
const MIN_LETTERS: usize = 3;

/// Returns the models that the log of a run was sent to; none if the path is no run folder.
pub(super) fn of_log(run: &Path) -> BTreeSet<String> {
    let table = run.join("ingest").join("requests.parquet");
    if !table.is_file() {
        return BTreeSet::new();
    }
    let frame = FrameFile::open(&table).and_then(|file| file.read_columns(&[MODEL.name]));
    let Ok(frame) = frame else { return BTreeSet::new() };
    let Some(models) = frame.texts(MODEL.name) else { return BTreeSet::new() };
    (0..frame.height()).filter_map(|row| models.get(row)).map(str::to_owned).collect()
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
