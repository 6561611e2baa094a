//! `toolsieve why`: one row's story, from the line it was read from to its fate.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::Value;

use super::diff::changes;
use super::open::{OpenRun, open};
use crate::console;
use crate::conversation::Message;
use crate::engine::columns::{
    self, ANSWER, CATEGORY, CATEGORY_BASIS, FUNCTIONS, OUTCOME, PARSE_STEPS, RELEVANCE, RELEVANCE_BASIS,
    TEXT, TIER,
};
use crate::engine::corpus::{BatchCells, Corpus, RowId};
use crate::engine::forgotten::{FORGOTTEN, Forgotten};
use crate::engine::frame::FrameFile;
use crate::engine::ledger::{fate_word, for_each_event, forgotten_events};
use crate::engine::payload::{LineStory, read_lines};
use crate::engine::stage::{RowIx, TableId};
use crate::export::ids::Set;
use crate::stages;
use crate::text::short::shortened;

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

/// The id of the request that an entry of the dataset was made of.
fn request_of_entry(run: &Path, entry: &str) -> anyhow::Result<Option<String>> {
    for set in Set::ALL.iter().filter(|_| entry.starts_with("live_")) {
        let path = set.table(&run.join("dataset"));
        if !path.is_file() {
            continue;
        }
        let file = FrameFile::open(&path)?;
        let frame = file.read(0, file.height(), Some(&["id", "request_id"]))?;
        let (Some(ids), Some(requests)) = (frame.texts("id"), frame.texts("request_id")) else { continue };
        if let Some(row) = (0..frame.height()).find(|&row| ids.get(row) == Some(entry)) {
            return Ok(requests.get(row).map(str::to_owned));
        }
    }
    Ok(None)
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
    Ok(read_lines(folder)?
        .into_iter()
        .find(|story| story.line == line && files.contains(&i64::from(story.file))))
}

fn tell_line(run: &OpenRun, line: &LineStory, wanted: &str) -> String {
    let found = if line.detail.is_empty() { String::new() } else { format!("  found     {}\n", line.detail) };
    let into =
        line.into.map(|(file, line)| format!("  into      {}\n", path_and_line(run, Some(file), line)));
    let into = into.unwrap_or_default();
    format!("line {wanted}\n  fate      {}: {}\n{found}{into}", line.fate, line.reason)
}

/// A place as `FILE:LINE`.
fn path_and_line(run: &OpenRun, file: Option<i64>, line: i64) -> String {
    let file = file.and_then(|file| run.file.inputs.get(usize::try_from(file).ok()?));
    format!("{}:{line}", file.map_or("?", |input| &input.path))
}

/// How a request was judged, and what for: by a person, by a rule, or by text and the answers of the log.
fn judged(relevance: Option<&str>, basis: Option<&str>) -> String {
    let Some(basis) = basis.and_then(|basis| serde_json::from_str::<Value>(basis).ok()) else {
        return String::new();
    };
    let number = |key: &str| basis[key].as_f64().unwrap_or_default();
    let why = if let Some(rule) = basis["low_quality"].as_str() {
        format!("by the rule {rule}")
    } else if let Some(who) = basis["answered_by"].as_str() {
        format!("answered by {who}")
    } else {
        let heard: Vec<String> = basis["evidence"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, n)| n.as_u64() != Some(0))
            .map(|(kind, n)| format!("{n} {kind}"))
            .collect();
        let heard = if heard.is_empty() { "nothing".to_owned() } else { heard.join(", ") };
        format!(
            "a function fits with probability {:.3}; by the text alone {:.3}, the log's answers: {heard}",
            number("probability"),
            number("by_text")
        )
    };
    format!("judged    {}: {why}\n", relevance.unwrap_or("unsure"))
}

struct Story<'a> {
    run: &'a OpenRun,
    folder: &'a Path,
    row: RowIx,
    max_chars: usize,
}

impl Story<'_> {
    fn corpus(&self) -> &Corpus {
        &self.run.corpus
    }

    fn shown(&self, text: &str) -> String {
        shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), self.max_chars)
    }

    fn tell(&self) -> anyhow::Result<String> {
        let requests = &self.corpus().requests;
        let asked = [
            columns::PAYLOAD,
            &[OUTCOME, ANSWER, TIER, CATEGORY, CATEGORY_BASIS, RELEVANCE, RELEVANCE_BASIS],
        ]
        .concat();
        let asked: Vec<_> = asked.into_iter().filter(|column| column.table == requests.id()).collect();
        let batch = requests.batch_of(self.row);
        let cells = requests.read_batch(batch, &asked)?;
        let at = self.row as usize - requests.batch(batch).start;
        let is_place = requests.fate(self.row).is_some_and(|fate| fate.reason.code == FORGOTTEN.code);
        let mut text = self.sent(&cells, at, is_place);
        text += &self.joined(&cells, at)?;
        if !is_place {
            text += &self.docs()?;
        }
        text += "story\n";
        for nth in 0..self.run.stages.len() {
            text += &self.stage(nth)?;
        }
        for event in forgotten_events(self.folder, self.corpus())? {
            if event.table == "requests" && event.row_id == requests.row_id(self.row).to_string() {
                text += &format!("     {:24} {}: {}\n", event.stage, event.action, event.reason);
            }
        }
        text += &judged(cells.text(RELEVANCE, at), cells.text(RELEVANCE_BASIS, at));
        text += &self.fate(&cells, at);
        Ok(text)
    }

    fn sent(&self, cells: &BatchCells, at: usize, is_place: bool) -> String {
        let (file, line) = (cells.int(columns::FILE, at), cells.int(columns::LINE, at).unwrap_or_default());
        let place = path_and_line(self.run, file, line);
        let mut text = format!("request {}\n", self.corpus().requests.row_id(self.row));
        if is_place {
            text += &format!("  read      {place}; nothing of it is kept\n");
            return text;
        }
        let own_id =
            cells.text(columns::EXTERNAL_ID, at).map(|id| format!(", its id there {id}")).unwrap_or_default();
        text +=
            &format!("  read      {place}{own_id}, as {}\n", cells.text(columns::SHAPE, at).unwrap_or("?"));
        let words =
            [columns::MODEL, columns::USER, columns::SESSION, columns::TOOL_CHOICE, columns::FINISH_REASON];
        let mut facts: Vec<String> = words
            .iter()
            .filter_map(|&fact| Some(format!("{} {}", fact.name, cells.text(fact, at)?)))
            .collect();
        let parallel = cells.int(columns::PARALLEL_TOOL_CALLS, at);
        facts.extend(parallel.map(|allowed| format!("parallel_tool_calls {}", allowed != 0)));
        facts.extend(cells.int(columns::STATUS, at).map(|status| format!("status {status}")));
        if let Some(time) =
            cells.int(columns::TIME_MS, at).and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        {
            facts.insert(0, time.to_string());
        }
        if !facts.is_empty() {
            text += &format!("  facts     {}\n", facts.join(", "));
        }
        let messages: Vec<Message> = cells
            .text(columns::MESSAGES, at)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        for message in &messages {
            text += &format!(
                "  {:9} {}\n",
                format!("{:?}", message.role).to_lowercase(),
                self.shown(&said(message))
            );
        }
        let response: Option<Message> =
            cells.text(columns::RESPONSE, at).and_then(|text| serde_json::from_str(text).ok());
        // No request is without a message, so here they were taken out.
        if messages.is_empty() && self.run.ingest.purged {
            return text + "  said      taken out by purge\n";
        }
        text += &format!(
            "  answered  {}\n",
            response.map_or("nothing on record".to_owned(), |response| self.shown(&said(&response)))
        );
        let afterwards: Vec<Message> = cells
            .text(columns::AFTERWARDS, at)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        for message in &afterwards {
            let word = format!("{:?}", message.role).to_lowercase();
            text += &format!("  later     {word}: {}\n", self.shown(&said(message)));
        }
        text
    }

    /// The line the answer stood in, where that is another one.
    fn joined(&self, cells: &BatchCells, at: usize) -> anyhow::Result<String> {
        let own = cells.int(columns::FILE, at).zip(cells.int(columns::LINE, at));
        if self.run.ingest.counts.joined == 0 {
            return Ok(String::new());
        }
        let line = read_lines(self.folder)?.into_iter().find(|line| line.into.is_some() && line.into == own);
        Ok(line.map_or(String::new(), |line| {
            let place = path_and_line(self.run, Some(i64::from(line.file)), line.line);
            format!("  joined    its response was joined from {place}\n")
        }))
    }

    /// The list as sent and the lists that stood for it later.
    fn lists(&self) -> Vec<RowIx> {
        let mut lists = vec![self.corpus().origin[self.row as usize]];
        while let Some(into) = lists.last().and_then(|&list| self.corpus().lists.fate(list)?.into) {
            lists.push(into);
        }
        lists
    }

    fn docs(&self) -> anyhow::Result<String> {
        let lists = &self.corpus().lists;
        let origin = self.corpus().origin[self.row as usize];
        let batch = lists.batch_of(origin);
        let cells = lists.read_batch(batch, &[TEXT, PARSE_STEPS, FUNCTIONS])?;
        let at = origin as usize - lists.batch(batch).start;
        let steps = cells
            .text(PARSE_STEPS, at)
            .map(|steps| format!(", read by {}", steps.replace(',', ", ")))
            .unwrap_or_default();
        Ok(format!(
            "  docs      list {}{steps}\n            {}\n",
            short(&lists.row_id(origin).to_string()),
            self.shown(cells.text(TEXT, at).unwrap_or(if self.run.ingest.purged {
                "taken out by purge"
            } else {
                ""
            }))
        ))
    }

    fn stage(&self, nth: usize) -> anyhow::Result<String> {
        let stage = &self.run.stages[nth];
        let id = &stage.id;
        let lists = self.lists();
        let is_ours = |table, row| match table {
            TableId::Requests => row == self.row,
            TableId::DocLists => lists.contains(&row),
        };
        let mut events = Vec::new();
        for_each_event(self.folder, nth, stage, self.corpus(), is_ours, |group| {
            events.extend(group);
            Ok(())
        })?;
        let mut text = String::new();
        for event in &events {
            let who = if event.table == "requests" {
                String::new()
            } else {
                format!("list {} ", short(&event.row_id))
            };
            let into = event.into.as_ref().map(|into| format!(" into {}", short(into))).unwrap_or_default();
            let score = event
                .score
                .map(|score| format!(", {} {score:.3}", event.metric.unwrap_or("score")))
                .unwrap_or_default();
            let followed = if event.cascaded { " (followed)" } else { "" };
            let word = if event.safety.as_deref() == Some("suggest") { "suggest" } else { event.action };
            let found = event
                .evidence
                .as_ref()
                .map(|evidence| format!("\n      {}", self.shown(evidence)))
                .unwrap_or_default();
            text += &format!(
                "  {:2} {id:24} {who}{}{into}: {}{score}{followed}{found}\n",
                nth + 1,
                word,
                event.reason
            );
            if let Some(patch) = &event.patch {
                text += &changes(event.column.as_deref(), patch);
            }
        }
        Ok(text)
    }

    fn fate(&self, cells: &BatchCells, at: usize) -> String {
        let requests = &self.corpus().requests;
        let has_dataset = self.folder.join("dataset").is_dir();
        let mut text = format!("fate      {}", fate_word(requests, self.row, has_dataset));
        let Some(fate) = requests.fate(self.row) else {
            let category = cells.text(CATEGORY, at).unwrap_or("no category");
            let basis = cells.text(CATEGORY_BASIS, at);
            text += &match basis {
                Some(basis) => format!(" as {category}: {basis}\n"),
                None => {
                    format!(" as {category}, answer of tier {}\n", cells.text(TIER, at).unwrap_or("none"))
                }
            };
            if let (None, Some(answer)) = (basis, cells.text(ANSWER, at)) {
                text += &format!("answer    {}\n", self.shown(answer));
            }
            let stands_for = requests
                .in_order()
                .iter()
                .filter(|&&row| requests.fate(row).is_some_and(|fate| fate.into == Some(self.row)));
            let n_merged = stands_for.count();
            if n_merged > 0 {
                text += &format!("stands for {n_merged} merged requests\n");
            }
            return text;
        };
        let reasons = stages::reasons();
        let sentence = reasons.iter().find(|(_, reason)| reason.code == fate.reason.code);
        let sentence = sentence.map_or("", |(_, reason)| reason.sentence);
        text += &format!(": {}\n          {sentence}\n", fate.reason.code);
        let mut end = fate.into;
        while let Some(into) = end {
            let (id, word) = (requests.row_id(into).to_string(), fate_word(requests, into, has_dataset));
            text += &format!("          {} stands for it: {word}\n", short(&id));
            end = requests.fate(into).and_then(|fate| fate.into);
        }
        text
    }
}

fn short(id: &str) -> &str {
    &id[..12.min(id.len())]
}

/// A message as one text: what was said, then what was called.
fn said(message: &Message) -> String {
    let calls = message.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
    std::iter::once(message.content.clone())
        .filter(|content| !content.is_empty())
        .chain(calls)
        .collect::<Vec<_>>()
        .join(" ")
}
