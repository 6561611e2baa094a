//! The hint for a path at which there is no finished run: where the meant run may be.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::folder::run_around;
use super::layout::{MARKER, RUN_FILE};

/// Most runs that a hint names.
const MOST_NAMED: usize = 5;

/// Returns what is at the path instead of a run, and how to go on.
pub(super) fn hint(path: &Path) -> String {
    let shown = path.display();
    let around = path.ancestors().skip(1).find(|folder| folder.join(MARKER).is_file());
    let around = around.map(Path::to_owned).or_else(|| run_around(path));
    if path.exists()
        && let Some(run) = around
    {
        return format!("it is inside the run folder {}; name that", run.display());
    }
    if path.is_file() {
        let what = if path.extension().is_some_and(|is| is == "toml") { "the pipeline" } else { "this log" };
        return format!(
            "it is a file, and a run is a folder; `callsieve run {shown}` runs {what}, and prints the folder"
        );
    }
    let folder = if path.is_dir() { path } else { parent(path) };
    match named(&runs_in(folder)) {
        Some(runs) if folder == path => format!("it holds the runs {runs}; name one of them"),
        Some(runs) => format!("{} holds the runs {runs}", folder.display()),
        None => match named(&runs_in(Path::new("out"))) {
            Some(runs) => format!("out holds the runs {runs}"),
            None => format!("`callsieve run FILE… --out {shown}` creates one"),
        },
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// The finished runs in a folder, in the order of their names.
fn runs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join(RUN_FILE).is_file()).collect();
    runs.sort();
    runs
}

fn named(runs: &[PathBuf]) -> Option<String> {
    let (first, rest) = runs.split_first()?;
    let mut text = first.display().to_string();
    for run in rest.iter().take(MOST_NAMED - 1) {
        let _ = write!(text, ", {}", run.display());
    }
    if runs.len() > MOST_NAMED {
        let _ = write!(text, " and {} more", runs.len() - MOST_NAMED);
    }
    Some(text)
}
