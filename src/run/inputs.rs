//! Checks the inputs of a pipeline, and copies those that can be read only once.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::Error;
use super::error::refuse;
use super::paths::expand;
use crate::engine;
use crate::engine::disk::create_private;
use crate::engine::error::At as _;
use crate::engine::folder::RunFolder;
use crate::engine::foreign::ForeignFile;
use crate::engine::instance::SourceInstance;
use crate::engine::layout::INGEST;
use crate::engine::manifest::{InputFile, read_run_file};
use crate::engine::raw::IngestManifest;
use crate::engine::seal::SealFault;
use crate::engine::source::Source;
use crate::engine::verify::fault_of_outcome;
use crate::export::earlier::Earlier;
use crate::ingest::archive::Archive;
use crate::ingest::compression::Compression;
use crate::ingest::kind::compression_of_parquet;
use crate::ingest::read::FileFormat;
use crate::ingest::source::Reading;
use crate::pipeline::Pipeline;
use crate::side_file;
use crate::text::os_error::{cause_of, hint_of};

/// Whether an input can be read only once: standard input, or a pipe that has a name.
pub(super) fn is_pipe(input: &Path) -> bool {
    let is_special = || input.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    input.as_os_str() == "-" || is_special()
}

/// Returns what is read, with folders and patterns expanded, and what was skipped in folders. There is something to read, and every input is a file that
/// can be opened, or a pipe, once.
///
/// A pipe is not opened: the process that writes into it may wait for that, and then for a reader.
pub(super) fn checked_source(given: &SourceInstance) -> Result<(SourceInstance, Option<String>), Error> {
    let (source, skipped) = if given.source.reads_files() {
        let (files, skipped) = checked_files(given.source.files())?;
        (given.with_files(files).expect("it reads files"), skipped)
    } else {
        (given.clone(), None)
    };
    source.source.check().or_else(|error| refuse(error.to_string()))?;
    Ok((source, skipped))
}

/// Returns the files of some paths, and what was skipped in folders.
fn checked_files(given: &[PathBuf]) -> Result<(Vec<PathBuf>, Option<String>), Error> {
    if given.is_empty() {
        return refuse(
            "nothing to read: the pipeline names no inputs\nhint: name a log, e.g. `callsieve run mylog.jsonl`, or `inputs` under [ingest] in the pipeline",
        );
    }
    let found = expand(given)?;
    let skipped = found.skipped();
    let files = found.files;
    // Copying a device to the disk would never end.
    for input in files.iter().filter(|input| is_pipe(input)) {
        side_file::refuse_device(input).or_else(|error| refuse(unopened(input, &error)))?;
    }
    let pipes: Vec<&PathBuf> = files.iter().filter(|input| is_pipe(input)).collect();
    if let [one, other, ..] = pipes[..] {
        return refuse(format!(
            "inputs {} and {} are both pipes, but only one can be read\nhint: write them to files, or join them with `cat`",
            one.display(),
            other.display()
        ));
    }
    if let [pipe] = pipes[..]
        && !matches!(
            Reading::of(pipe),
            Reading::Text(FileFormat::Json | FileFormat::Jsonl | FileFormat::Text)
        )
    {
        return refuse(format!(
            "input {}: pipes are read as JSON only\nhint: write it to a file first",
            pipe.display()
        ));
    }
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    for input in &files {
        let place = input.canonicalize().unwrap_or_else(|_| input.clone());
        if !seen.insert(place) {
            return refuse(format!("input {} is given twice\nhint: give each input once", input.display()));
        }
        if !is_pipe(input) {
            check_file(input)?;
        }
    }
    Ok((files, skipped))
}

/// Extensions of source code: it may hold functions, but no log.
const CODE: [&str; 4] = ["py", "pyi", "ts", "js"];

/// Checks that an input is no source code and no archive, and can be opened.
///
/// # Errors
/// It is source code, an archive or a damaged Parquet file, or cannot be opened.
pub fn check_file(input: &Path) -> Result<(), Error> {
    let shown = input.display();
    if let Some(extension) = input.extension().and_then(|found| found.to_str())
        && CODE.iter().any(|known| extension.eq_ignore_ascii_case(known))
    {
        return refuse(format!(
            "input {shown}: source code is not a log of requests\nhint: `callsieve fix {shown}` reads the functions in it"
        ));
    }
    match side_file::open(input) {
        Err(error) => refuse(unopened(input, &error)),
        Ok(file) => check_content(input, file),
    }
}

fn unopened(input: &Path, error: &io::Error) -> String {
    format!("input {}: cannot be opened: {}{}", input.display(), cause_of(error), hint_of(error, input))
}

/// Checks that a file is no archive, that a Parquet file has a footer that can be read, and that no other file is one.
fn check_content(input: &Path, file: std::fs::File) -> Result<(), Error> {
    let shown = input.display();
    if let Some(archive) = Archive::of(file) {
        return refuse(format!(
            "input {shown}: this is {}, not a log\nhint: {}",
            archive.name(),
            archive.hint()
        ));
    }
    let Reading::Parquet = Reading::of(input) else {
        let (what, hint) = match compression_of_parquet(input) {
            None => return Ok(()),
            Some(Compression::Plain) => {
                ("this is Parquet under another name", "rename it to end in .parquet")
            }
            Some(Compression::Gzip) => {
                ("this is Parquet in gzip, which is not read", "unpack it with `gunzip -k`")
            }
            Some(Compression::Zstd) => {
                ("this is Parquet in Zstandard, which is not read", "unpack it with `zstd -d`")
            }
        };
        return refuse(format!("input {shown}: {what}\nhint: {hint}"));
    };
    ForeignFile::open(input).map(|_| ()).map_err(|error| {
        Error::Request(format!(
            "input {shown}: the file cannot be read as Parquet: {error}\nhint: write the file again, or rename it if it holds something else"
        ))
    })
}

/// Checks that the sink can write the rows of these inputs.
///
/// # Errors
/// The sink refuses them.
pub(super) fn check_sink(pipeline: &Pipeline, source: &SourceInstance) -> Result<(), Error> {
    Ok(pipeline.export.as_ref().map_or(Ok(()), |export| export.sink.check(source.source.files()))?)
}

/// Checks that a run folder can be at this path: neither it nor a part of the path is a file.
pub(super) fn check_out(out: &Path) -> Result<(), Error> {
    let Some(file) = out.ancestors().find(|part| part.is_file()) else { return Ok(()) };
    let (out, file) = (out.display().to_string(), file.display().to_string());
    let what = if out == file { "it is a file".to_owned() } else { format!("{file} is a file") };
    refuse(format!(
        "run folder {out}: {what}, not a folder\nhint: give a new or empty folder with --out, such as --out out/march"
    ))
}

/// Checks that every earlier dataset can be read to its end, and is not the one that the run would replace. One of ours
/// is as its run wrote it: what lacks there would be taken for new, or be frozen without it.
pub(super) fn check_baselines(pipeline: &Pipeline, out: Option<&Path>) -> Result<(), Error> {
    for path in pipeline.baselines() {
        let same = |out: &Path| Some(path.canonicalize().ok()? == out.canonicalize().ok()?);
        if out.and_then(same) == Some(true) {
            return refuse(format!(
                "baseline {} is the folder this run writes into\nhint: give another folder with --out",
                path.display()
            ));
        }
        if let Some(SealFault { file, detail, .. }) = fault_of_outcome(&path, Earlier::reads)? {
            let run = path.display();
            return refuse(format!(
                "baseline {run}: {file}: {detail}; expected it as the run wrote it\nhint: `callsieve verify {run}` lists what is wrong there; question files that were changed on purpose can be given in a folder of their own"
            ));
        }
        let earlier = Earlier::open(&path)?;
        earlier.for_each(|_, _| Ok(()))?;
        earlier.entries_of_records(true)?;
    }
    Ok(())
}

/// The inputs as they are read. Standard input, or a pipe that has a name, is copied into the run folder, so that it is
/// read like a file and can be read again.
///
/// Nothing of the run is written yet, and a pipe may never end.
///
/// # Errors
/// A pipe cannot be copied, or the folder holds a run of other inputs.
pub(super) fn take_inputs(
    given: &SourceInstance,
    folder: &RunFolder,
    cancelled: &dyn Fn() -> bool,
) -> Result<SourceInstance, Error> {
    let files = given.source.files();
    let Some(at) = files.iter().position(|input| is_pipe(input)) else {
        check_same_inputs(files, &*given.source, folder)?;
        return Ok(given.clone());
    };
    let with_copy = |copy: PathBuf| {
        let mut files = files.to_vec();
        files[at] = copy;
        given.with_files(files).expect("it reads files")
    };
    // The copy of an earlier run stays until this one is known to be of the same content.
    let begun = with_copy(folder.spool_begun());
    let copied = copy_pipe(&files[at], &folder.spool_begun(), cancelled)
        .and_then(|()| check_same_inputs(files, &*begun.source, folder));
    if let Err(error) = copied {
        folder.remove_spool_begun()?;
        return Err(error);
    }
    folder.finish_spool()?;
    Ok(with_copy(folder.spool()))
}

/// Copies a pipe, unless the user asks to stop. A read from a pipe may never return, so another thread waits for it.
fn copy_pipe(input: &Path, copy: &Path, cancelled: &dyn Fn() -> bool) -> Result<(), Error> {
    let file = create_private(copy)?;
    let is_stopped = Arc::new(AtomicBool::new(false));
    let (done_in, done) = sync_channel(1);
    std::thread::spawn({
        let (input, copy, is_stopped) = (input.to_owned(), copy.to_owned(), Arc::clone(&is_stopped));
        // The receiver has ended if the run was cancelled.
        move || drop(done_in.send(copied(&input, file, &copy, &is_stopped)))
    });
    loop {
        match done.recv_timeout(BETWEEN_LOOKS) {
            Ok(copied) => return Ok(copied?),
            Err(RecvTimeoutError::Timeout) if !cancelled() => {}
            Err(RecvTimeoutError::Timeout) => {
                is_stopped.store(true, Ordering::Relaxed);
                return Err(Error::Halfway(engine::error::Error::Interrupted));
            }
            Err(RecvTimeoutError::Disconnected) => panic!("the thread that copies a pipe has panicked"),
        }
    }
}

/// The time between two checks for cancellation.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

fn copied(
    input: &Path,
    mut file: std::fs::File,
    copy: &Path,
    is_stopped: &AtomicBool,
) -> engine::error::Result<()> {
    let is_standard = input == Path::new("-");
    let mut pipe: Box<dyn io::Read> = if is_standard {
        Box::new(io::stdin().lock())
    } else {
        Box::new(side_file::open(input).at("reading", input)?)
    };
    let (action, place) = if is_standard { ("copying standard input to", copy) } else { ("reading", input) };
    let mut buffer = vec![0; 1 << 20];
    while !is_stopped.load(Ordering::Relaxed) {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => file.write_all(&buffer[..n]).at(action, place)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).at(action, place),
        }
    }
    Ok(())
}

/// Refuses to replace a run, finished or not, by one of other inputs: files of other names and other content. A file
/// that has changed under its name is the same input; a pipe has no name that identifies its content.
pub(super) fn check_same_inputs(
    given: &[PathBuf],
    copied: &dyn Source,
    folder: &RunFolder,
) -> Result<(), Error> {
    let before = inputs_before(folder);
    if before.is_empty() {
        return Ok(());
    }
    // A source that makes rows knows its files by itself.
    let own: Vec<PathBuf> = if copied.reads_files() {
        Vec::new()
    } else {
        copied.inputs()?.into_iter().map(|input| PathBuf::from(input.path)).collect()
    };
    let (read, given) = if copied.reads_files() { (copied.files(), given) } else { (&own[..], &own[..]) };
    if has_names_of(read, &before) || has_content_of(read, copied, &before)? {
        return Ok(());
    }
    // The copy of standard input is no name that a person gave.
    let as_given = |path: &str| if Path::new(path) == folder.spool() { "-" } else { path }.into();
    let had: Vec<PathBuf> = before.iter().map(|input| as_given(&input.path)).collect();
    let is_pipe = |paths: &[PathBuf]| paths.iter().all(|path| path.as_os_str() == "-");
    let (go_on, what) = if is_pipe(&had) && is_pipe(given) {
        ("", "standard input has other content".to_owned())
    } else {
        let what = format!("it read {}, but this run reads {}", named(&had), named(given));
        ("to continue that run, pass its inputs with --input; else ", what)
    };
    refuse(format!(
        "{} contains a run of other inputs: {what}\nhint: {go_on}choose another folder with --out, or replace the run with --fresh",
        folder.path().display()
    ))
}

/// The inputs of the run in a folder, as they were last named; none if no input was read or its files are unreadable.
fn inputs_before(folder: &RunFolder) -> Vec<InputFile> {
    if let Ok(file) = read_run_file(folder.path()) {
        return file.inputs;
    }
    let ingest = folder.manifest::<IngestManifest>(INGEST);
    ingest.ok().flatten().map(|ingest| ingest.inputs).unwrap_or_default()
}

fn has_names_of(files: &[PathBuf], before: &[InputFile]) -> bool {
    // As text, because a name that is not UTF-8 was recorded as text.
    let place = |path: &Path| {
        let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
        whole.as_deref().unwrap_or(path).to_string_lossy().into_owned()
    };
    let given: BTreeSet<String> = files.iter().map(|input| place(input)).collect();
    given == before.iter().map(|input| place(Path::new(&input.path))).collect()
}

fn has_content_of(files: &[PathBuf], source: &dyn Source, before: &[InputFile]) -> Result<bool, Error> {
    let in_order = |mut all: Vec<u64>| {
        all.sort_unstable();
        all
    };
    let sizes = files.iter().map(|input| input.metadata().map_or(0, |facts| facts.len()));
    // Hashes take a while, sizes do not.
    if in_order(sizes.collect()) != in_order(before.iter().map(|input| input.bytes).collect()) {
        return Ok(false);
    }
    let now = source.inputs()?;
    let hashes = |inputs: &[InputFile]| -> Vec<String> {
        let mut hashes: Vec<String> = inputs.iter().map(|input| input.sha256.clone()).collect();
        hashes.sort_unstable();
        hashes
    };
    Ok(hashes(&now) == hashes(before))
}

/// Returns the first of some files, and the number of the others.
fn named(files: &[PathBuf]) -> String {
    let first = files.first().map_or_else(|| "nothing".to_owned(), |file| file.display().to_string());
    let first = if first == "-" { "standard input".to_owned() } else { first };
    match files.len().saturating_sub(1) {
        0 => first,
        n => format!("{first} and {n} more"),
    }
}
