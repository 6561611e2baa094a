//! `toolsieve why`: one row's story, from the line it was read from to its fate.

mod story;

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::open::{OpenRun, open};
use crate::console;
use crate::engine::columns;
use crate::engine::corpus::RowId;
use crate::engine::entries::{self, EntryOrigin};
use crate::engine::forgotten::{FORGOTTEN, Forgotten};

use crate::engine::payload::{LineStory, read_lines};
use crate::engine::stage::RowIx;
use crate::text::visible::visible_line;
use story::Story;

/// Texts longer than this are shortened for the eye; --full shows them whole.
const MAX_CHARS: usize = 200;

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve why out/live r0042                    by the log's own id
  toolsieve why out/live 9f3c22                   by the start of the request id
  toolsieve why out/live raw/hosted.jsonl:17      by file and line")]
pub(super) struct WhyArgs {
    /// Run folder.
    run: PathBuf,

    /// The row: the log's own id, the start of a request id, `FILE:LINE`, or the id of an entry of the dataset.
    row: String,

    /// Shows texts whole.
    #[arg(long)]
    full: bool,
}

pub(super) fn why(args: &WhyArgs) -> anyhow::Result<()> {
    let run = open(&args.run)?;
    let max_chars = if args.full { usize::MAX } else { MAX_CHARS };
    let entry = request_of_entry(&args.run, &args.row)?;
    let found = find(&run, entry.as_deref().unwrap_or(&args.row))?;
    let mut text = String::new();
    for (nth, row) in found.iter().enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        text += &Story { run: &run, folder: &args.run, row: *row, max_chars }.tell()?;
    }
    if found.is_empty() {
        match find_line(&run, &args.run, &args.row)? {
            Some(line) => text = tell_line(&run, &line, &args.row),
            None if is_forgotten(&args.run, &args.row)? => {
                text = format!("request {}\nfate      forgotten: {}\n", args.row, FORGOTTEN.code);
            }
            None => bail!(
                "no row {} in {}\nhint: give the log's own id, the start of a request id (4 digits or more), FILE:LINE, or an entry's id",
                args.row,
                args.run.display()
            ),
        }
    }
    Ok(console::give(&text)?)
}

/// The id of the request that an entry of the dataset was made of, by the entry's id or by the id that its request has there.
fn request_of_entry(run: &Path, entry: &str) -> anyhow::Result<Option<String>> {
    let is_meant = |origin: &EntryOrigin| origin.id == entry || origin.published_id.as_deref() == Some(entry);
    Ok(entries::read(run)?.into_iter().find(is_meant).and_then(|origin| origin.request_id))
}

/// The place a `FILE:LINE` names: the numbers of the files whose path ends like that, and the line.
fn place(run: &OpenRun, wanted: &str) -> Option<(Vec<i64>, i64)> {
    let (file, line) = wanted.rsplit_once(':')?;
    let file = file.trim_start_matches("./");
    let files = (0..)
        .zip(&run.file.inputs)
        .filter(|(_, input)| Path::new(&input.path).ends_with(file))
        .map(|(at, _)| at)
        .collect();
    Some((files, line.parse().ok()?))
}

fn find(run: &OpenRun, wanted: &str) -> anyhow::Result<Vec<RowIx>> {
    const SHORTEST_PREFIX: usize = 4;
    let requests = &run.corpus.requests;
    let place = place(run, wanted);
    let is_hex = wanted.len() >= SHORTEST_PREFIX && wanted.chars().all(|c| c.is_ascii_hexdigit());
    let mut found = Vec::new();
    for batch in 0..requests.batches() {
        let range = requests.batch(batch);
        let cells = requests.read_batch(batch, &[columns::EXTERNAL_ID, columns::FILE, columns::LINE])?;
        for row in requests.rows_of_batch(batch) {
            let at = row as usize - range.start;
            let is_there = place.as_ref().is_some_and(|(files, line)| {
                cells.int(columns::LINE, at) == Some(*line)
                    && cells.int(columns::FILE, at).is_some_and(|file| files.contains(&file))
            });
            let has_id = cells.text(columns::EXTERNAL_ID, at) == Some(wanted);
            if is_there
                || has_id
                || (is_hex && requests.row_id(row).to_string().starts_with(&wanted.to_ascii_lowercase()))
            {
                found.push(row);
            }
        }
    }
    Ok(found)
}

/// Whether this is the whole id of a request that was forgotten: its row is called otherwise now, or there is none.
pub(super) fn is_forgotten(run: &Path, wanted: &str) -> anyhow::Result<bool> {
    let whole = RowId::number(wanted).filter(|_| wanted.len() == 32);
    let list = Forgotten::read(run)?;
    Ok(whole.is_some_and(|id| list.holds(id) || list.is_tombstone(RowId(id))))
}

fn find_line(run: &OpenRun, folder: &Path, wanted: &str) -> anyhow::Result<Option<LineStory>> {
    let Some((files, line)) = place(run, wanted) else { return Ok(None) };
    Ok(read_lines(folder)?.into_iter().find(|story| {
        (story.line..story.line + story.n_lines).contains(&line) && files.contains(&i64::from(story.file))
    }))
}

fn tell_line(run: &OpenRun, line: &LineStory, wanted: &str) -> String {
    let detail = visible_line(&line.detail);
    let found = if detail.is_empty() { String::new() } else { format!("  found     {detail}\n") };
    let into =
        line.into.map(|(file, line)| format!("  into      {}\n", path_and_line(run, Some(file), line)));
    let into = into.unwrap_or_default();
    format!("line {}\n  fate      {}: {}\n{found}{into}", visible_line(wanted), line.fate, line.reason)
}

/// A place as `FILE:LINE`.
fn path_and_line(run: &OpenRun, file: Option<i64>, line: i64) -> String {
    let file = file.and_then(|file| run.file.inputs.get(usize::try_from(file).ok()?));
    format!("{}:{line}", visible_line(file.map_or("?", |input| &input.path)))
}
