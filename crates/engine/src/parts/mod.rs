//! Parts of a step that separate processes do, and their files.
//!
//! Processes with one run folder divide a step among themselves: each does its part, and a last one joins them. A part is written to
//! `parts/<step>/<I>-of-<N>/` and sealed like a step, so one that was interrupted or damaged counts as missing. The steps that can be
//! divided are the reading of inputs ([`Source::read_part`](crate::source::Source::read_part)), and stages that judge rows
//! apart ([`Partition`](crate::contract::Partition)). Parts hold raw text of the log: only their owner may read them, and they are removed
//! once they are joined.

mod delta;

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use delta::{StoredDelta, read_delta};

use super::disk::{is_link, owner_only, remove};
use super::error::{At, Error, Result};
use super::folder::Step;
use super::layout::PARTS;
use super::manifest::sealed_manifest;
use super::seal::Sealed;

/// The file of what a part read or judged.
pub const CONTENT: &str = "content.bin";

/// The most parts of a step.
pub const MOST_PARTS: u32 = 10_000;

/// One of the equal parts into which processes divide a step, such as `3/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunPart {
    of: u32,
    number: u32,
}

impl RunPart {
    /// Returns part `number`, from 1, of `of`; `None` if there is no such part, or more than [`MOST_PARTS`].
    pub fn new(number: u32, of: u32) -> Option<Self> {
        ((1..=of).contains(&number) && of <= MOST_PARTS).then_some(Self { of, number })
    }

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// The number of all parts.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether it is the last of them.
    pub fn is_last(self) -> bool {
        self.number == self.of
    }

    /// Returns its range of so many things, which are divided equally.
    pub fn range(self, total: u64) -> Range<u64> {
        let end = |number: u32| {
            let end = u128::from(total) * u128::from(number) / u128::from(self.of);
            u64::try_from(end).unwrap_or(total)
        };
        end(self.number - 1)..end(self.number)
    }

    fn folder_name(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }

    fn of_folder_name(name: &str) -> Option<Self> {
        let (number, of) = name.split_once("-of-")?;
        Self::new(number.parse().ok()?, of.parse().ok()?)
    }
}

impl fmt::Display for RunPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for RunPart {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        let part = match numbers {
            Some((Ok(number), Ok(of))) => Self::new(number, of),
            _ => None,
        };
        part.ok_or_else(|| {
            format!(
                "found {text:?}, expected a number and the number of all parts, such as 3/8: from 1/N to N/N, with N up to {MOST_PARTS}"
            )
        })
    }
}

/// What the manifest of a part holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PartManifest {
    /// A hash of everything that its content depends on, except the bytes of the inputs.
    pub(super) key: String,
    pub(super) part: RunPart,
    /// What the source tells about what it read.
    #[serde(default)]
    pub(super) facts: Value,
}

/// A part that is finished and whole.
#[derive(Debug, Clone)]
pub struct FinishedPart {
    /// Which one.
    pub part: RunPart,
    /// What it read or judged.
    pub content: PathBuf,
    /// What the source told about it; null for a part of a stage.
    pub facts: Value,
}

/// The folder of the parts of a step; `step` is `ingest`, or the name of the folder of a stage.
fn parts_of(run: &Path, step: &str) -> PathBuf {
    run.join(PARTS).join(step)
}

/// Makes the folder of all parts, which only its owner may enter.
///
/// # Errors
/// It cannot be made, or is a link.
pub fn make_folder(run: &Path) -> Result<PathBuf> {
    let parts = run.join(PARTS);
    fs::create_dir_all(&parts).at("making", &parts)?;
    if is_link(&parts) {
        return Err(Error::Link(parts));
    }
    owner_only(&parts, 0o700).at("making", &parts)?;
    Ok(parts)
}

/// Whether a part of any step was begun.
///
/// # Errors
/// The folder cannot be read.
pub fn are_begun(run: &Path) -> Result<bool> {
    let parts = run.join(PARTS);
    if !parts.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(&parts).at("reading", &parts)? {
        let name = entry.at("reading", &parts)?.file_name();
        if are_begun_of(run, &name.to_string_lossy())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a part of a step was begun.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn are_begun_of(run: &Path, step: &str) -> Result<bool> {
    let folder = parts_of(run, step);
    Ok(folder.is_dir() && fs::read_dir(&folder).at("reading", &folder)?.next().is_some())
}

/// Starts a part: an empty folder that only its owner may enter. Another process may write the same part at the same time.
///
/// # Errors
/// The folder cannot be created, or is reached by a link.
pub(super) fn begin(run: &Path, step: &str, part: RunPart) -> Result<Step> {
    make_folder(run)?;
    let folder = parts_of(run, step);
    fs::create_dir_all(&folder).at("making", &folder)?;
    if is_link(&folder) {
        return Err(Error::Link(folder));
    }
    let done = folder.join(part.folder_name());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let partial = folder.join(format!("{}.{}-{now:x}.partial", part.folder_name(), std::process::id()));
    fs::create_dir(&partial).at("making", &partial)?;
    Ok(Step::new(partial, done))
}

/// Ends a part. Another process may have ended the same part before: then its files are kept.
///
/// # Errors
/// A file cannot be written or renamed.
pub(super) fn finish(run: &Path, step: &str, files: Step, manifest: &PartManifest) -> Result<()> {
    files.seal(manifest)?;
    if files.done().exists() && finished(run, step, manifest.part, &manifest.key)?.is_some() {
        return files.discard();
    }
    match files.rename() {
        // It ended between the two.
        Err(_) if finished(run, step, manifest.part, &manifest.key)?.is_some() => Ok(()),
        renamed => renamed,
    }
}

/// Returns a finished part with this key; `None` where it is missing, damaged, or has another key.
///
/// # Errors
/// Its manifest cannot be read for a reason outside it.
pub(super) fn finished(run: &Path, step: &str, part: RunPart, key: &str) -> Result<Option<FinishedPart>> {
    Ok(look(run, step, part, key)?.ok())
}

/// Why a part cannot be used.
enum Lacking {
    Missing,
    Damaged(String),
    Other,
}

fn look(
    run: &Path,
    step: &str,
    part: RunPart,
    key: &str,
) -> Result<std::result::Result<FinishedPart, Lacking>> {
    let name = format!("{PARTS}/{step}/{}", part.folder_name());
    if is_link(&parts_of(run, step)) || is_link(&run.join(&name)) {
        return Err(Error::Link(run.join(name)));
    }
    let Sealed { value, files, .. } = match sealed_manifest::<PartManifest>(run, &name) {
        Ok(None) => return Ok(Err(Lacking::Missing)),
        Ok(Some(sealed)) => sealed,
        Err(Error::Damaged { what, .. }) => return Ok(Err(Lacking::Damaged(what))),
        Err(error) => return Err(error),
    };
    let folder = run.join(name);
    if value.part != part || value.key != key {
        return Ok(Err(Lacking::Other));
    }
    match files.faults(&folder).into_iter().next() {
        Some(fault) => Ok(Err(Lacking::Damaged(format!("{}: {}", fault.file, fault.detail)))),
        None => Ok(Ok(FinishedPart { part, content: folder.join(CONTENT), facts: value.facts })),
    }
}

/// Returns all parts of a step in order; `None` if no process has begun one.
///
/// # Errors
/// Some are missing, damaged or of something else. The message names them.
pub(super) fn all(run: &Path, step: &str, key: &str) -> Result<Option<Vec<FinishedPart>>> {
    let folder = parts_of(run, step);
    if is_link(&folder) {
        return Err(Error::Link(folder));
    }
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut counts: Vec<u32> = Vec::new();
    for entry in fs::read_dir(&folder).at("reading", &folder)? {
        let name = entry.at("reading", &folder)?.file_name();
        let name = name.to_string_lossy();
        // One that is being written, or that was interrupted, shows how many there are to be.
        let name = name.split_once('.').map_or(&*name, |(name, _)| name);
        counts.extend(RunPart::of_folder_name(name).map(|part| part.of));
    }
    counts.sort_unstable();
    counts.dedup();
    let mut best: Option<(u32, Vec<(RunPart, Lacking)>)> = None;
    for &of in &counts {
        let (mut found, mut lacking) = (Vec::new(), Vec::new());
        for part in (1..=of).filter_map(|number| RunPart::new(number, of)) {
            match look(run, step, part, key)? {
                Ok(finished) => found.push(finished),
                Err(why) => lacking.push((part, why)),
            }
        }
        if lacking.is_empty() {
            return Ok(Some(found));
        }
        if best.as_ref().is_none_or(|(_, fewest)| lacking.len() < fewest.len()) {
            best = Some((of, lacking));
        }
    }
    let Some((of, lacking)) = best else { return Ok(None) };
    let others: Vec<String> = counts.iter().filter(|other| **other != of).map(ToString::to_string).collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!("; there are also parts of {}", others.join(" and of "))
    };
    Err(Error::Setting(refusal(run, step, of, &lacking, &others)))
}

/// The most parts that a message names.
const MOST_NAMED: usize = 10;

fn refusal(run: &Path, step: &str, of: u32, lacking: &[(RunPart, Lacking)], others: &str) -> String {
    let names = |is_meant: &dyn Fn(&Lacking) -> bool| -> Option<String> {
        let all: Vec<String> = lacking
            .iter()
            .filter(|(_, why)| is_meant(why))
            .map(|(part, why)| match why {
                Lacking::Damaged(what) => format!("{part} ({what})"),
                Lacking::Missing | Lacking::Other => part.to_string(),
            })
            .collect();
        let more = all.len().saturating_sub(MOST_NAMED);
        let shown = all.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!all.is_empty()).then(|| format!("{shown}{more}"))
    };
    let kinds = [
        ("not finished", names(&|why| matches!(why, Lacking::Missing))),
        ("damaged", names(&|why| matches!(why, Lacking::Damaged(_)))),
        ("of other inputs, settings or another build", names(&|why| matches!(why, Lacking::Other))),
    ];
    let found: Vec<String> =
        kinds.into_iter().filter_map(|(what, names)| Some(format!("{what}: {}", names?))).collect();
    let first = lacking.first().map_or_else(String::new, |(part, _)| part.to_string());
    format!(
        "{}: {} of {of} parts of {step} cannot be joined; {}{others}\nhint: do each of them again, such as `--part {first}`; parts that are finished are kept",
        run.display(),
        lacking.len(),
        found.join("; ")
    )
}

/// Removes the parts of one step.
///
/// # Errors
/// They cannot be removed.
pub(super) fn remove_of(run: &Path, step: &str) -> Result<()> {
    if is_link(&run.join(PARTS)) {
        return Err(Error::Link(run.join(PARTS)));
    }
    remove(&parts_of(run, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::RunFolder;

    #[test]
    fn parts_divide_everything_and_overlap_nowhere() {
        for total in [0, 1, 7, 8, 1_000_003, u64::MAX] {
            for of in [1, 2, 7, 64] {
                let ranges: Vec<Range<u64>> =
                    (1..=of).map(|number| RunPart::new(number, of).unwrap().range(total)).collect();
                assert_eq!((ranges[0].start, ranges.last().unwrap().end), (0, total));
                assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{total} in {of}");
            }
        }
    }

    #[test]
    fn a_part_is_read_from_its_text_and_anything_else_is_refused() {
        assert_eq!("3/8".parse(), Ok(RunPart::new(3, 8).unwrap()));
        assert_eq!(RunPart::new(3, 8).unwrap().to_string(), "3/8");
        for text in ["", "3", "0/8", "9/8", "3/0", "-1/2", "1/99999", "1/2/3", "a/b", "1 / 2"] {
            assert!(text.parse::<RunPart>().is_err(), "{text}");
        }
    }

    /// Writes a part with this content.
    fn write(run: &Path, part: &str, key: &str) {
        let part: RunPart = part.parse().unwrap();
        let step = begin(run, "ingest", part).unwrap();
        fs::write(step.file(CONTENT), part.to_string()).unwrap();
        step.finish(&PartManifest { key: key.to_owned(), part, facts: Value::Null }).unwrap();
    }

    #[test]
    fn parts_are_joined_only_when_all_of_them_are_finished_whole_and_of_the_same() {
        let home = tempfile::tempdir().unwrap();
        drop(RunFolder::take(home.path()).unwrap());
        let run = home.path();
        let joined = || all(run, "ingest", "k");
        let why = || joined().unwrap_err().to_string();
        assert!(joined().unwrap().is_none());
        write(run, "1/3", "k");
        assert!(why().contains("not finished: 2/3, 3/3"), "{}", why());
        write(run, "3/3", "other");
        assert!(
            why().contains("not finished: 2/3; of other inputs, settings or another build: 3/3"),
            "{}",
            why()
        );
        write(run, "2/3", "k");
        write(run, "3/3", "k");
        let contents: Vec<String> = joined()
            .unwrap()
            .unwrap()
            .iter()
            .map(|part| fs::read_to_string(&part.content).unwrap())
            .collect();
        assert_eq!(contents, ["1/3", "2/3", "3/3"]);
        fs::write(run.join("parts/ingest/2-of-3").join(CONTENT), "2/4").unwrap();
        assert!(why().contains("damaged: 2/3 (content.bin"), "{}", why());
        // One that is being written is not finished, and shows how many there are to be.
        remove_of(run, "ingest").unwrap();
        let begun = begin(run, "ingest", "2/2".parse().unwrap()).unwrap();
        assert!(why().contains("not finished: 1/2, 2/2"), "{}", why());
        drop(begun);
    }

    #[test]
    fn of_two_divisions_the_complete_one_is_joined() {
        let home = tempfile::tempdir().unwrap();
        drop(RunFolder::take(home.path()).unwrap());
        for part in ["1/5", "1/2"] {
            write(home.path(), part, "k");
        }
        let why = all(home.path(), "ingest", "k").unwrap_err().to_string();
        assert!(why.contains("not finished: 2/2; there are also parts of 5"), "{why}");
        for part in ["2/2", "2/5"] {
            write(home.path(), part, "k");
        }
        assert_eq!(all(home.path(), "ingest", "k").unwrap().unwrap().len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn parts_are_private_and_never_written_through_a_link() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let home = tempfile::tempdir().unwrap();
        let (run, other) = (home.path().join("run"), home.path().join("other"));
        drop(RunFolder::take(&run).unwrap());
        write(&run, "1/1", "k");
        assert_eq!(fs::metadata(run.join(PARTS)).unwrap().permissions().mode() & 0o777, 0o700);
        fs::remove_dir_all(run.join(PARTS)).unwrap();
        fs::create_dir(&other).unwrap();
        symlink(&other, run.join(PARTS)).unwrap();
        assert!(matches!(begin(&run, "ingest", "1/1".parse().unwrap()), Err(Error::Link(_))));
        assert!(matches!(remove_of(&run, "ingest"), Err(Error::Link(_))));
        assert!(matches!(RunFolder::take(&run), Err(Error::Link(_))));
    }
}
