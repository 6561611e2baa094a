//! Runs in parts: several processes each do a part of a step, and one joins them.
//!
//! A process that does a part locks the run folder only for a moment, to mark it and to record its command line; then it writes nothing
//! but the folder of its part. The process that joins parts is a run like any other, which takes over what they read and judged.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::containment::check_apart;
use super::error::refuse;
use super::execute::reviewed;
use super::inputs::{check_baselines, check_out, check_same_inputs, check_sink, checked_source, is_pipe};
use super::observer::{Observer, Watched};
use super::options::quoted;
use super::{Error, Options};
use crate::decisions::{Reviewed, with_reviews};
use crate::engine::context::Context;
use crate::engine::disk::create_private;
use crate::engine::error::{At as _, Error as EngineError};
use crate::engine::folder::RunFolder;
use crate::engine::instance::SourceInstance;
use crate::engine::layout::PARTS;
use crate::engine::manifest::read_run_file;
use crate::engine::parts::{RunPart, are_begun, make_folder};
use crate::engine::run_parts::{PartDone, run_part};
use crate::engine::services::Services;
use crate::pipeline::Pipeline;

/// The file of the command line of the processes that did parts.
const COMMAND: &str = "command.json";

/// How long a process waits while another one marks the folder.
const WAITS_AT_MOST: Duration = Duration::from_secs(20);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// The command line of the processes that did parts of a run, without `--part`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsCommand {
    /// The words, beginning with the name of the program.
    pub arguments: Vec<String>,
    /// The working folder: relative paths of the command line begin there.
    pub folder: PathBuf,
}

/// Does one part of the next step of a run: reads a part of the inputs or, where they were read, judges a part of the rows of a stage.
/// Other processes do the other parts, at the same time or not; a run with [`Options::joins`] joins them.
///
/// # Errors
/// The inputs cannot be divided, such as standard input; the folder holds a finished run, or a run of other inputs.
/// [`Error::Halfway`] once the part has begun.
pub fn execute_part(
    pipeline: &Pipeline,
    out: &Path,
    part: RunPart,
    options: &Options,
    observer: &dyn Observer,
) -> Result<PartDone, Error> {
    if options.fresh {
        return refuse(
            "a part of a run cannot begin it anew: the other parts would be removed\nhint: leave out --fresh, and give a new folder with --out",
        );
    }
    let (source, skipped) = checked_source(&pipeline.source)?;
    let is_text = |path: &PathBuf| path.to_str().is_some();
    if let Some(named) = pipeline.source.source.files().iter().find(|path| !is_text(path)) {
        return refuse(format!(
            "{}: its name is not UTF-8, and parts are joined by their command line\nhint: name the folder that it is in, or rename it",
            named.display()
        ));
    }
    if let Some(pipe) = source.source.files().iter().find(|input| is_pipe(input)) {
        let pipe =
            if pipe.as_os_str() == "-" { "standard input".to_owned() } else { pipe.display().to_string() };
        return refuse(format!(
            "{pipe} can be read only once, and not in parts\nhint: write it to a file first"
        ));
    }
    check_out(out)?;
    check_apart(pipeline, &source, out)?;
    check_baselines(pipeline, Some(out))?;
    check_sink(pipeline, &source)?;
    for instance in &pipeline.stages {
        instance.stage.check_ready()?;
    }
    let Reviewed { decisions, .. } = marked(pipeline, &source, out, options)?;
    for warning in skipped.iter().chain(&pipeline.warnings) {
        observer.warn(warning);
    }
    let decisions =
        with_reviews(&pipeline.decisions, decisions).or_else(|error| refuse(error.to_string()))?;
    let watched = Watched(observer);
    let services = Services::default().with_decisions(std::sync::Arc::new(decisions));
    let cx = Context::new(pipeline.seed, &watched, &watched).with_services(services);
    let done = || run_part(out, &*source.source, &pipeline.stages, part, &cx);
    let done = match &options.pool {
        Some(pool) => pool.install(done),
        None => done(),
    };
    let done = done.map_err(|error| match error {
        EngineError::NoRequest(what) => Error::NoRequest(what),
        EngineError::Decisions(what) => Error::Request(what),
        error => Error::Halfway(error),
    })?;
    if let PartDone::Done { folder, .. } = &done {
        clean_up(out, folder, options)?;
    }
    Ok(done)
}

/// Removes the part again if its step was joined, or done without parts, before it ended. While another process holds the folder, that one
/// removes it.
fn clean_up(out: &Path, step: &str, options: &Options) -> Result<(), Error> {
    match taken(out, options) {
        Ok(folder) => Ok(folder.remove_late_parts(step).map_err(Error::Halfway)?),
        Err(Error::Engine(EngineError::Locked { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Marks the folder as that of a run, records the command line, and returns what reviewers decided there. The lock is held for
/// this time only.
fn marked(
    pipeline: &Pipeline,
    source: &SourceInstance,
    out: &Path,
    options: &Options,
) -> Result<Reviewed, Error> {
    let folder = taken(out, options)?;
    if folder.has_finished() {
        return refuse(format!(
            "{} contains a finished run\nhint: choose another folder with --out, or remove this one",
            out.display()
        ));
    }
    check_same_inputs(source.source.files(), &*source.source, &folder)?;
    record_command(&folder, options)?;
    reviewed(pipeline, &folder, options)
}

/// Takes the folder, and waits while another process that does a part holds it.
fn taken(out: &Path, options: &Options) -> Result<RunFolder, Error> {
    let since = Instant::now();
    loop {
        match RunFolder::take_as(out, &options.command_line()) {
            Err(EngineError::Locked { .. }) if since.elapsed() < WAITS_AT_MOST => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            // Another process makes the folder at this moment, and has not marked it yet.
            Err(EngineError::NotARun(_)) if since.elapsed() < BETWEEN_TRIES * 4 => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            taken => return Ok(taken?),
        }
    }
}

fn record_command(folder: &RunFolder, options: &Options) -> Result<(), Error> {
    let parts = make_folder(folder.path())?;
    if options.command.is_empty() {
        return Ok(());
    }
    let working = std::path::absolute(".").at("looking for", Path::new("."))?;
    if working.to_str().is_none() {
        return refuse(format!(
            "{}: the name of the working folder is not UTF-8, and the command line of parts is recorded with it\nhint: work in another folder",
            working.display()
        ));
    }
    let command = PartsCommand { arguments: of_all_parts(&options.command), folder: working };
    let path = parts.join(COMMAND);
    if let Ok(earlier) = read_command(&path)
        && earlier.is_other(&command)
        && are_begun(folder.path())?
    {
        return refuse(format!(
            "{}: other parts of it were begun by another command: `{}`, and this is `{}`\nhint: give all parts the same words in the same order (only --part, --quiet and --threads may differ), or begin again in another folder (--out)",
            folder.path().display(),
            earlier.shown(),
            command.shown()
        ));
    }
    let text = serde_json::to_string_pretty(&command).expect("a command line is texts");
    create_private(&path)?.write_all(text.as_bytes()).at("writing", &path)?;
    Ok(())
}

/// A command line without what may differ between parts: which one it is, how much is printed, the number of threads.
fn of_all_parts(command: &[String]) -> Vec<String> {
    let mut words = without(command, &["--part", "--threads"]);
    let n_options = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut at = 0..words.len();
    words.retain(|word| {
        at.next().is_some_and(|at| at >= n_options) || !["--quiet", "-q"].contains(&word.as_str())
    });
    words
}

/// A command line without these options and their values; what follows `--` is no option.
fn without(command: &[String], options: &[&str]) -> Vec<String> {
    let mut words = command.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(words.by_ref().cloned());
        } else if options.contains(&word.as_str()) {
            words.next();
        } else if !options
            .iter()
            .any(|option| word.strip_prefix(option).is_some_and(|it| it.starts_with('=')))
        {
            kept.push(word.clone());
        }
    }
    kept
}

impl PartsCommand {
    /// The words after the program, quoted for a shell.
    fn shown(&self) -> String {
        self.arguments.iter().skip(1).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// Whether it has other options. The program may be named by another path.
    fn is_other(&self, other: &Self) -> bool {
        self.arguments.iter().skip(1).ne(other.arguments.iter().skip(1))
    }
}

/// Returns the command line by which processes did parts of the run in a folder; `None` if the run is finished, so that there is nothing to
/// join.
///
/// # Errors
/// No process has done any, or the file of it cannot be read.
pub fn parts_command(run: &Path) -> Result<Option<PartsCommand>, Error> {
    let path = run.join(PARTS).join(COMMAND);
    if path.is_file() {
        return read_command(&path).map(Some);
    }
    let shown = run.display();
    if !run.is_dir() {
        return refuse(format!(
            "{shown}: there is no such folder\nhint: name the run folder of the parts (--out)"
        ));
    }
    match read_run_file(run) {
        Ok(_) => Ok(None),
        Err(_) => refuse(format!(
            "{shown}: there are no parts of a run to join\nhint: `callsieve run LOG --out {shown} --part 1/2` does the first of two"
        )),
    }
}

fn read_command(path: &Path) -> Result<PartsCommand, Error> {
    let text = fs::read_to_string(path).at("reading", path)?;
    serde_json::from_str(&text).or_else(|error| {
        refuse(format!(
            "{}: this is not the command line of parts: {error}\nhint: remove it, and do any part again: that writes it",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_command_line_is_the_same_for_all_parts() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for text in [
            "a run --part 3/8 x.jsonl",
            "a run x.jsonl --part=1/8 -q",
            "a run --threads=2 x.jsonl --quiet",
            "a run --threads 2 x.jsonl",
        ] {
            assert_eq!(of_all_parts(&words(text)), words("a run x.jsonl"), "{text}");
        }
        let after = "a run -- --part=x --part y -q";
        assert_eq!(of_all_parts(&words("a run --part 1/2 -q -- --part=x --part y -q")), words(after));
    }

    #[test]
    fn commands_are_the_same_if_their_results_are() {
        let command = |text: &str| PartsCommand {
            arguments: text.split(' ').map(str::to_owned).collect(),
            folder: PathBuf::new(),
        };
        let is_other = |text: &str| command("a run x --set seed=1").is_other(&command(text));
        assert!(!is_other("/bin/a run x --set seed=1"));
        assert!(is_other("a run x --set seed=2") && is_other("a run x") && is_other("a run y --set seed=1"));
    }
}
