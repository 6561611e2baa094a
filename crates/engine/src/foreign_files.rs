//! Finds files in a run folder that callsieve did not write, in the folders that a run replaces.

use std::collections::BTreeSet;
use std::path::Path;

use super::disk::is_link;
use super::error::{Error, Result};
use super::layout::{DATASET, EARLIER, INGEST, MANIFEST, RUN_FILE, STAGES};
use super::manifest::{sealed_manifest, sealed_run_file, sealed_run_file_in, step_folders};
use super::seal::{Files, names_below};

/// Endings of the files that steps write. They are used for a step whose own list of files is lost.
const ENDINGS: [&str; 7] = ["parquet", "json", "jsonl", "md", "toml", "html", "partial"];
/// The maximum number of files that the message names.
const MOST_NAMED: usize = 3;

/// Refuses a run folder that holds a foreign file in `ingest/`, `stages/`, `dataset/` or `earlier/`, which a run replaces.
///
/// # Errors
/// It holds one, or cannot be read.
pub(super) fn refuse_foreign_files(run: &Path) -> Result<()> {
    let mut others = of_dataset(run)?;
    others.extend(of_earlier(run)?);
    others.extend(of_step(run, INGEST)?);
    let steps = step_folders(run)?;
    for step in &steps {
        others.extend(of_step(run, &format!("{STAGES}/{step}"))?);
    }
    let is_of_step = |name: &String| {
        name.split_once('/').is_some_and(|(folder, _)| steps.iter().any(|step| step == folder))
    };
    let unnamed = names_in(&run.join(STAGES))?.into_iter().filter(|name| !is_of_step(name));
    others.extend(unnamed.map(|name| format!("{STAGES}/{name}")));
    if others.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = others.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = match others.len() - named.len() {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    Err(Error::Setting(format!(
        "{} holds files that callsieve did not write: {}{more}\nhint: a run replaces ingest/, stages/ and dataset/; move \
         these files elsewhere",
        run.display(),
        named.join(", ")
    )))
}

fn of_step(run: &Path, step: &str) -> Result<Vec<String>> {
    let folder = run.join(step);
    // A manifest that cannot be read lists nothing; the step runs again.
    let others = match sealed_manifest::<serde_json::Value>(run, step) {
        Ok(Some(sealed)) => not_listed(&sealed.files, &folder, "")?,
        Ok(None) | Err(Error::Damaged { .. }) => unlike_ours(&folder)?,
        Err(error) => return Err(error),
    };
    Ok(others.into_iter().map(|name| format!("{step}/{name}")).collect())
}

fn of_dataset(run: &Path) -> Result<Vec<String>> {
    let folder = run.join(DATASET);
    let others = match sealed_run_file(run) {
        Ok(sealed) => not_listed(&sealed.files, &folder, &format!("{DATASET}/"))?,
        Err(_) => unlike_ours(&folder)?,
    };
    Ok(others.into_iter().map(|name| format!("{DATASET}/{name}")).collect())
}

/// The outcome of a finished run that was moved aside.
fn of_earlier(run: &Path) -> Result<Vec<String>> {
    let folder = run.join(EARLIER);
    let others = match sealed_run_file_in(run, &folder) {
        Ok(sealed) => not_listed(&sealed.files, &folder, "")?,
        Err(_) => unlike_ours(&folder)?,
    };
    let others = others.into_iter().filter(|name| name != RUN_FILE);
    Ok(others.map(|name| format!("{EARLIER}/{name}")).collect())
}

/// Returns the files of a folder that are not in its list, except those of interrupted commands.
fn not_listed(files: &Files, folder: &Path, below: &str) -> Result<Vec<String>> {
    let listed: BTreeSet<&str> = files.names().filter_map(|name| name.strip_prefix(below)).collect();
    let is_other =
        |name: &String| !listed.contains(&**name) && name != MANIFEST && !has_ending(name, &["partial"]);
    Ok(names_in(folder)?.into_iter().filter(is_other).collect())
}

/// Returns the files of a folder without a list that have a foreign ending.
fn unlike_ours(folder: &Path) -> Result<Vec<String>> {
    Ok(names_in(folder)?.into_iter().filter(|name| !has_ending(name, &ENDINGS)).collect())
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    if folder.is_dir() && !is_link(folder) { Ok(names_below(folder)?.0) } else { Ok(Vec::new()) }
}

/// Returns `true` if the file, or a folder in its path, has one of these endings.
fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.split('/').any(|part| part.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending)))
}
