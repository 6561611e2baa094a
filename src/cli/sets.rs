//! `callsieve sets`: lists the public sets, and adds or removes their files.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::{Value, json};

use crate::cli::console::{self, Paint, Painted, Screen, count, counted, table};
use crate::cli::layout::{paragraph, words};
use crate::public_sets::SetError;
use crate::public_sets::catalogue::{BrokenSet, Catalogue, PublicSet, SAMPLE};
use crate::public_sets::formats::FORMATS;
use crate::public_sets::intake::{self, Described, Removed};
use crate::public_sets::store::{self, Loaded, Summary};
use crate::stages::Registry;
use crate::text::short::shortened;
use crate::text::visible::visible_line;

pub(super) const DIR_HELP: &str =
    "Folder of the public sets [default: $CALLSIEVE_SETS, or ~/.cache/callsieve/sets]";

/// Arguments of `sets`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve sets list nexusraven                     where a set belongs, and the command that gets it
  callsieve sets add nexusraven downloads/           adds the data files in a folder
  callsieve sets add own tools.jsonl --format columns --licence MIT
                                                     adds a set of your own")]
pub(super) struct SetsArgs {
    #[command(subcommand)]
    command: SetsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SetsCommand {
    /// Lists all sets: licence, format, path, and the command that gets the set.
    List(Shown),
    /// Shows which sets are on disk, and counts their records.
    Status(Shown),
    /// Adds files to a set: reads them and copies them into its folder.
    Add(AddArgs),
    /// Removes the files that `sets add` copied, and no others.
    Remove(RemoveArgs),
}

#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Id of the set.
    id: String,

    #[arg(long, value_name = "DIR", help = DIR_HELP)]
    dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Shown {
    /// Ids of sets [default: all]
    id: Vec<String>,

    #[arg(long, value_name = "DIR", help = DIR_HELP)]
    dir: Option<PathBuf>,

    /// Prints one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Id of the set; a new id makes a set of your own.
    id: String,

    /// Files, or a folder of files: JSON lines, JSON, CSV, TSV, Parquet, Python definitions (.py); also with .gz or .zst.
    #[arg(required = true)]
    file: Vec<PathBuf>,

    #[arg(long, value_name = "DIR", help = DIR_HELP)]
    dir: Option<PathBuf>,

    /// For a new set: format of its records.
    #[arg(long, value_parser = formats())]
    format: Option<String>,

    /// For a new set: licence, as an SPDX expression or `unknown`.
    #[arg(long)]
    licence: Option<String>,

    /// For a new set: title.
    #[arg(long)]
    title: Option<String>,

    /// For a new set: the licence forbids commercial use.
    #[arg(long)]
    non_commercial: bool,

    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// The formats, with what each is.
fn formats() -> PossibleValuesParser {
    FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.what)).collect::<Vec<_>>().into()
}

pub(super) fn sets(args: SetsArgs, registry: &Registry) -> anyhow::Result<()> {
    match args.command {
        SetsCommand::List(shown) => list(&shown, registry),
        SetsCommand::Status(shown) => status(&shown, registry),
        SetsCommand::Add(args) => add(args, registry),
        SetsCommand::Remove(args) => remove(&args, registry),
    }
}

/// The sets in a folder, by default the one of the environment.
fn open(dir: Option<&Path>, registry: &Registry) -> Result<Catalogue, SetError> {
    Catalogue::open(dir.unwrap_or(registry.environment().sets()))
}

/// The requested sets: all, or some by id.
fn wanted<'a>(catalogue: &'a Catalogue, ids: &[String]) -> anyhow::Result<Vec<&'a PublicSet>> {
    if ids.is_empty() {
        return Ok(catalogue.sets.iter().collect());
    }
    let is_broken = |id: &&String| catalogue.broken_set(id).is_some();
    Ok(ids.iter().filter(|id| !is_broken(id)).map(|id| catalogue.set(id)).collect::<Result<_, _>>()?)
}

/// The folders among them whose description is broken.
fn wanted_broken<'a>(catalogue: &'a Catalogue, ids: &'a [String]) -> impl Iterator<Item = &'a BrokenSet> {
    catalogue.broken.iter().filter(move |broken| ids.is_empty() || ids.contains(&broken.id))
}

fn broken_json(broken: &BrokenSet) -> String {
    format!("{}\n", json!({"id": broken.id, "broken": broken.what, "place": broken.place}))
}

/// What is wrong with each of them, a paragraph each.
fn broken_text<'a>(broken: impl Iterator<Item = &'a BrokenSet>) -> String {
    broken.map(|set| format!("\n{} is broken: {}: {}\n", set.id, set.place.display(), set.what)).collect()
}

fn list(shown: &Shown, registry: &Registry) -> anyhow::Result<()> {
    let catalogue = open(shown.dir.as_deref(), registry)?;
    let sets = wanted(&catalogue, &shown.id)?;
    if shown.json {
        let mut lines = String::new();
        for set in sets {
            let mut line = json!(set);
            line["path"] = json!(catalogue.folder(&set.id));
            line["on_disk"] = json!(store::is_there(&catalogue, set)?);
            line["command"] = json!(command(set, shown.dir.as_deref()));
            lines += &format!("{line}\n");
        }
        let broken: String = wanted_broken(&catalogue, &shown.id).map(broken_json).collect();
        return Ok(console::write_json(&(lines + &broken))?);
    }
    let screen = Screen::of_stdout();
    let mut text = Painted::default();
    for (nth, set) in sets.into_iter().enumerate() {
        text.add(Paint::Plain, if nth == 0 { "" } else { "\n" });
        let is_there = store::is_there(&catalogue, set)?;
        text.append(listed(set, is_there, &catalogue.folder(&set.id), shown.dir.as_deref(), screen));
    }
    text.add(Paint::Plain, &broken_text(wanted_broken(&catalogue, &shown.id)));
    Ok(console::print_painted(&text)?)
}

/// Width of the labels of a set's lines.
const LABEL: usize = 11;

/// A set as `sets list` shows it. The command is on one line of any length, so that it can be copied.
fn listed(set: &PublicSet, is_there: bool, folder: &Path, dir: Option<&Path>, screen: Screen) -> Painted {
    let line = |name: &str, text: &str| paragraph(name, LABEL, &words(&visible_line(text)), screen);
    let mut text = Painted::default();
    text.add(Paint::Title, &visible_line(&set.id));
    let (paint, state) = match (set.id == SAMPLE, is_there) {
        (true, _) => (Paint::Kept, "built in"),
        (_, true) => (Paint::Kept, "on disk"),
        _ => (Paint::Heading, "not on disk"),
    };
    text.add(Paint::Plain, "  ");
    text.add(paint, state);
    text.add(Paint::Plain, if set.recipe { "; the recipe compares with it\n" } else { "\n" });
    text.append(line("  title", &set.title));
    let licence = if set.non_commercial { "; not for commercial use" } else { "" };
    text.append(line("  licence", &format!("{}{licence}", set.licence)));
    text.append(line("  format", &set.format));
    if set.id != SAMPLE {
        text.append(line("  path", &folder.display().to_string()));
        text.add(Paint::Plain, &format!("  {:<1$}", if is_there { "add" } else { "get" }, LABEL - 2));
        text.add(Paint::Hint, &visible_line(&command(set, dir)));
        text.add(Paint::Plain, "\n");
    }
    text
}

/// The one command that gets a set. The files of a set that a user added are known only to the user.
fn command(set: &PublicSet, dir: Option<&Path>) -> String {
    let dir = dir.map(|dir| format!(" --dir {}", dir.display())).unwrap_or_default();
    if set.id == SAMPLE {
        return String::new();
    }
    if set.get.is_empty() {
        return format!("callsieve sets add {} FILE…{dir}", set.id);
    }
    format!("{}{dir}", set.get)
}

fn status(shown: &Shown, registry: &Registry) -> anyhow::Result<()> {
    let catalogue = open(shown.dir.as_deref(), registry)?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut lines = String::new();
    let mut troubles: Vec<String> = Vec::new();
    for set in wanted(&catalogue, &shown.id)? {
        let loaded = store::load(&catalogue, set)?;
        let summary = loaded.as_ref().map(|loaded| &loaded.summary);
        lines += &format!("{}\n", as_json(set, summary));
        rows.push(as_row(set, summary));
        troubles.extend(summary.iter().flat_map(|summary| trouble(set, summary)));
    }
    let broken = || wanted_broken(&catalogue, &shown.id);
    if shown.json {
        return Ok(console::write_json(&(lines + &broken().map(broken_json).collect::<String>()))?);
    }
    rows.extend(broken().map(|set| [&set.id, "broken", "", "", "", "", "", ""].map(str::to_owned).into()));
    let header = ["set", "disk", "files", "records", "functions", "queries", "unreadable", "sha256"];
    let text = format!("sets in {}\n\n{}", catalogue.dir.display(), table(&header, &rows, &[2, 3, 4, 5, 6]));
    let troubles: String = troubles.iter().map(|line| format!("{line}\n")).collect();
    let gap = if troubles.is_empty() { "" } else { "\n" };
    Ok(console::print_data(&format!("{text}{gap}{troubles}{}", broken_text(broken())))?)
}

/// Digits of a hash that people need to see that two files differ; `--json` has all.
const HASH_DIGITS: usize = 8;

fn as_row(set: &PublicSet, summary: Option<&Summary>) -> Vec<String> {
    let Some(summary) = summary else {
        return [&set.id, "no", "", "", "", "", "", ""].map(str::to_owned).into();
    };
    let hashes: Vec<&str> = summary.files.iter().map(|file| &file.sha256[..HASH_DIGITS]).collect();
    let mut row = vec![set.id.clone(), "yes".to_owned()];
    let counts = [summary.files.len(), usize::try_from(summary.records).unwrap_or(usize::MAX)];
    let counts = counts.into_iter().chain([summary.functions, summary.queries]);
    row.extend(counts.map(|number| count(number as u64)));
    row.push(count(summary.unreadable));
    row.push(hashes.join(" "));
    row
}

fn as_json(set: &PublicSet, summary: Option<&Summary>) -> Value {
    let Some(summary) = summary else { return json!({ "id": set.id, "on_disk": false, "url": set.url }) };
    let mut set_json = json!({ "id": set.id, "on_disk": true });
    summary.describe(&mut set_json);
    set_json
}

/// The first records that cannot be read, a line each.
fn trouble(set: &PublicSet, summary: &Summary) -> Vec<String> {
    let line = |unread: &store::Unread| {
        format!("{} {}: {}", set.id, unread.record, visible_line(&shortened(&unread.why, 160)))
    };
    let mut lines: Vec<String> = summary.unread.iter().map(line).collect();
    let rest = summary.unreadable - summary.unread.len() as u64;
    if rest > 0 {
        lines.push(format!("{} and {} more", set.id, count(rest)));
    }
    lines
}

fn remove(args: &RemoveArgs, registry: &Registry) -> anyhow::Result<()> {
    let catalogue = open(args.dir.as_deref(), registry)?;
    let Removed { files, left } = intake::remove(&catalogue, &args.id)?;
    let names = if files.is_empty() { String::new() } else { format!(": {}", files.join(", ")) };
    let number = counted(files.len() as u64, "file", "files");
    let folder = catalogue.folder(&args.id);
    let mut text = format!("{}: {number} removed from {}{names}\n", args.id, folder.display());
    if !left.is_empty() {
        text += &format!(
            "not removed, because `sets add` did not write them or they have changed: {}\n",
            left.join(", ")
        );
    }
    Ok(console::print_data(&text)?)
}

fn add(args: AddArgs, registry: &Registry) -> anyhow::Result<()> {
    let catalogue = open(args.dir.as_deref(), registry)?;
    let described = Described {
        format: args.format,
        licence: args.licence,
        title: args.title,
        non_commercial: args.non_commercial,
    };
    let (set, Loaded { summary, skipped, .. }) = intake::add(&catalogue, &args.id, &args.file, &described)?;
    let whole = store::load(&catalogue, &set)?.unwrap_or_default().summary;
    if args.json {
        let mut set_json = as_json(&set, Some(&summary));
        set_json["holds"] = json!({ "files": whole.files.len(), "records": whole.records });
        let skipped = skipped.iter().map(|(path, reason)| json!({ "path": path, "reason": reason }));
        set_json["skipped"] = skipped.collect();
        return Ok(console::write_json(&format!("{set_json}\n"))?);
    }
    let text = format!(
        "{}: {} of {} records read, {} functions, {} queries; in {}\nthe set now has {}, {}\n",
        set.id,
        count(summary.records - summary.unreadable),
        count(summary.records),
        count(summary.functions as u64),
        count(summary.queries as u64),
        catalogue.folder(&set.id).display(),
        counted(whole.files.len() as u64, "file", "files"),
        counted(whole.records, "record", "records"),
    );
    let troubles: String = trouble(&set, &summary).iter().map(|line| format!("{line}\n")).collect();
    let skipped = skipped.iter().map(|(path, reason)| {
        format!(
            "skipped {}: {}\n",
            visible_line(&path.display().to_string()),
            visible_line(&shortened(reason, 160))
        )
    });
    let skipped: String = skipped.collect();
    Ok(console::print_data(&(text + &troubles + &skipped))?)
}
