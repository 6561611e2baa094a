//! The history of one request: as sent, the events of each stage for it and its docs, how it was judged, its fate.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::audit::hit::Verdict;
use crate::columns::{
    self, ANSWER, CATEGORY, CATEGORY_BASIS, FUNCTIONS, OUTCOME, PARSE_STEPS, RELEVANCE, RELEVANCE_BASIS,
    TEXT, TIER,
};
use crate::conversation::Message;
use crate::engine::corpus::{BatchCells, Corpus, RowId};
use crate::engine::decision::digest;
use crate::engine::error::Error;
use crate::engine::fate::Fate;
use crate::engine::forgotten::FORGOTTEN;
use crate::engine::ledger::{Event, fate_word, for_each_event, for_each_forgotten};
use crate::engine::link::Span;
use crate::engine::links::{self, StoredLink};
use crate::engine::raw::read_lines;
use crate::engine::vocabulary::{ColumnSpec, RowIx, Safety, TableId};
use crate::export::tier::JUDGED;
use crate::report::end_of_merges;
use crate::run::place::{name_and_line, of_request};
use crate::run::{OpenRun, patch_in_words};
use crate::text::figures::count;
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Digits of a digest that are shown: those that a decision needs and some more.
const DIGITS_SHOWN: usize = 16;

/// Records near to a row that are shown for each stage.
const MOST_RECORDS: usize = 12;

/// One request, and how its history is written.
pub(super) struct Story<'a> {
    pub(super) run: &'a OpenRun,
    pub(super) row: RowIx,
    /// Longer texts are shortened.
    pub(super) max_chars: usize,
}

impl Story<'_> {
    fn corpus(&self) -> &Corpus {
        &self.run.corpus
    }

    pub(super) fn shown(&self, text: &str) -> String {
        shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), self.max_chars)
    }

    pub(super) fn text(&self) -> Result<String, Error> {
        let requests = &self.corpus().requests;
        let asked = [
            columns::from_ingest(),
            vec![OUTCOME, ANSWER, TIER, CATEGORY, CATEGORY_BASIS, RELEVANCE, RELEVANCE_BASIS],
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
        for_each_forgotten(&self.run.folder, self.corpus(), |events| {
            for event in events {
                if event.table == TableId::Requests && event.row_id == requests.row_id(self.row) {
                    text += &format!("     {:24} {}: {}\n", event.stage, event.action, event.reason);
                }
            }
            Ok(())
        })?;
        text += &judged(cells.text(RELEVANCE, at), cells.text(RELEVANCE_BASIS, at));
        text += &self.fate(&cells, at);
        Ok(text)
    }

    /// The request as sent, with its facts in the log.
    fn sent(&self, cells: &BatchCells, at: usize, is_place: bool) -> String {
        let place = name_and_line(self.run, of_request(cells, at));
        let text = format!("request {}\n", self.corpus().requests.row_id(self.row));
        if is_place {
            return text + &format!("  read      {place}; only this place is kept\n");
        }
        let own_id = cells
            .text(columns::EXTERNAL_ID, at)
            .map(|id| format!(", id {}", visible_line(id)))
            .unwrap_or_default();
        let shape = cells.text(columns::LOG_FORMAT, at).unwrap_or("?");
        text + &format!("  read      {place}{own_id}, format {shape}\n")
            + &facts(cells, at)
            + &self.conversation(cells, at)
            + &self.digest(cells.text(columns::MESSAGES, at))
    }

    /// The digest by which a decision names the content; shown with whole texts only.
    pub(super) fn digest(&self, content: Option<&str>) -> String {
        let content = content.filter(|_| self.max_chars == usize::MAX);
        content
            .map_or_else(String::new, |content| format!("  digest    {}\n", &digest(content)[..DIGITS_SHOWN]))
    }

    /// The messages before the answer, the answer, and the messages after it.
    fn conversation(&self, cells: &BatchCells, at: usize) -> String {
        let messages: Vec<Message> = json(cells, columns::MESSAGES, at).unwrap_or_default();
        // Every request has a message, so here they were purged.
        if messages.is_empty() && self.run.ingest.purged {
            return "  messages  removed by purge\n".to_owned();
        }
        let response: Option<Message> = json(cells, columns::RESPONSE, at);
        let response = response
            .map_or("nothing recorded".to_owned(), |response| self.shown(&content_and_calls(&response)));
        let following_messages: Vec<Message> =
            json(cells, columns::FOLLOWING_MESSAGES, at).unwrap_or_default();
        let mut text = String::new();
        for message in &messages {
            text += &format!("  {:9} {}\n", speaker(message), self.shown(&content_and_calls(message)));
        }
        text += &format!("  answered  {response}\n");
        for message in &following_messages {
            text +=
                &format!("  later     {}: {}\n", speaker(message), self.shown(&content_and_calls(message)));
        }
        text
    }

    /// The line of the answer, if it is another one.
    fn joined(&self, cells: &BatchCells, at: usize) -> Result<String, Error> {
        let own = of_request(cells, at);
        if self.run.ingest.counts.joined == 0 {
            return Ok(String::new());
        }
        let line =
            read_lines(&self.run.folder)?.into_iter().find(|line| line.into.is_some() && line.into == own);
        Ok(line.map_or(String::new(), |line| {
            let place = name_and_line(self.run, Some(line.place()));
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

    fn docs(&self) -> Result<String, Error> {
        let lists = &self.corpus().lists;
        let origin = self.corpus().origin[self.row as usize];
        let batch = lists.batch_of(origin);
        let cells = lists.read_batch(batch, &[TEXT, PARSE_STEPS, FUNCTIONS])?;
        let at = origin as usize - lists.batch(batch).start;
        let steps = cells
            .text(PARSE_STEPS, at)
            .map(|steps| format!(", read by {}", steps.replace(',', ", ")))
            .unwrap_or_default();
        let text = format!(
            "  docs      list {}{steps}\n            {}\n",
            RowId::short(&lists.row_id(origin).to_string()),
            self.shown(cells.text(TEXT, at).unwrap_or(if self.run.ingest.purged {
                "removed by purge"
            } else {
                ""
            }))
        );
        Ok(text + &self.digest(cells.text(TEXT, at)))
    }

    fn stage(&self, nth: usize) -> Result<String, Error> {
        let stage = &self.run.stages[nth];
        let lists = self.lists();
        let is_ours = |table, row| match table {
            TableId::Requests => row == self.row,
            TableId::DocLists => lists.contains(&row),
        };
        let mut text = String::new();
        for_each_event(&self.run.folder, nth, stage, self.corpus(), is_ours, |events| {
            text.extend(events.iter().map(|event| self.event(nth, event)));
            Ok(())
        })?;
        let links = links::of_stage(&self.run.folder, nth, stage, self.corpus(), is_ours)?;
        text += &self.links(nth, &links);
        Ok(text)
    }

    /// What a stage found near to the row, or to a list that it was sent with, in public sets and benchmarks: a line for each
    /// object and record, or group of records, the surest first.
    pub(super) fn links(&self, nth: usize, links: &[StoredLink]) -> String {
        // The links of a group may each name another of its records.
        let key = |link: &StoredLink| match &link.examples {
            Some(examples) => (link.object.clone(), examples.clone(), places(link).join(" "), link.n_records),
            None => (link.object.clone(), link.set.clone(), link.record.to_string(), 1),
        };
        let mut of_records: Vec<Vec<&StoredLink>> = Vec::new();
        let mut known: BTreeMap<_, usize> = BTreeMap::new();
        for link in links {
            let at = *known.entry((link.table, link.row, key(link))).or_insert(of_records.len());
            match of_records.get_mut(at) {
                Some(of_record) => of_record.push(link),
                None => of_records.push(vec![link]),
            }
        }
        let surest = |links: &Vec<&StoredLink>| {
            let verdicts = links.iter().filter_map(|link| Verdict::from_name(link.verdict.as_deref()?));
            verdicts.max()
        };
        of_records.sort_by_key(|links| std::cmp::Reverse(surest(links)));
        let mut text: String =
            of_records.iter().take(MOST_RECORDS).map(|links| self.link(nth, links, surest(links))).collect();
        if let Some(more) = of_records.len().checked_sub(MOST_RECORDS).filter(|more| *more > 0) {
            text += &format!(
                "  {:2} {:24} link: {} more; links.parquet has all\n",
                nth + 1,
                self.run.stages[nth].id,
                count(more as u64)
            );
        }
        text
    }

    /// The links of one object to one record.
    fn link(&self, nth: usize, links: &[&StoredLink], verdict: Option<Verdict>) -> String {
        let link = links[0];
        let list = match link.table {
            TableId::Requests => String::new(),
            TableId::DocLists => {
                let id = self.corpus().lists.row_id(link.row).to_string();
                format!("list {} ", RowId::short(&id))
            }
        };
        let methods: Vec<String> =
            links.iter().map(|link| format!("{} {:.3}", link.method, link.score)).collect();
        format!(
            "  {:2} {:24} {list}link: {} {} is near {} {}{}, {}{}\n",
            nth + 1,
            self.run.stages[nth].id,
            link.object,
            places(link).join(", "),
            link.set,
            visible_line(&link.record),
            match link.n_records.saturating_sub(1) {
                0 => String::new(),
                more => format!(" and {} more", count(more.into())),
            },
            methods.join(", "),
            verdict.map(|verdict| format!(": {}", verdict.name())).unwrap_or_default()
        )
    }

    /// An event of a stage for the row, or for a list that it was sent with.
    pub(super) fn event(&self, nth: usize, event: &Event<'_>) -> String {
        let short = |id: RowId| RowId::short(id.digits().as_str()).to_owned();
        let list = match event.table {
            TableId::Requests => String::new(),
            TableId::DocLists => format!("list {} ", short(event.row_id)),
        };
        let into = event.into.map(|into| format!(" into {}", short(into))).unwrap_or_default();
        let score = event.score.map(|(metric, score)| format!(", {metric} {score:.3}"));
        let followed = match (event.cascaded, event.table) {
            (false, _) => "",
            (true, TableId::Requests) => " (because of its doc list)",
            (true, TableId::DocLists) => " (because of its requests)",
        };
        let is_shown = event.edit.is_some_and(|edit| edit.safety == Safety::Suggest.name());
        let word = if is_shown { "suggest" } else { event.action };
        let found = event.evidence.map(|evidence| format!("\n      {}", self.shown(evidence)));
        let changes = event.edit.map(|edit| {
            let lists = BTreeSet::from([event.row_id]);
            let names =
                self.run.function_names(&lists).ok().and_then(|mut names| names.remove(&event.row_id));
            let names = names.filter(|names| names.len() > 1).unwrap_or_default();
            patch_in_words(edit.column, edit.patch, &names)
        });
        format!(
            "  {:2} {:24} {list}{word}{into}: {}{}{followed}{}\n{}",
            nth + 1,
            event.stage,
            event.reason,
            score.unwrap_or_default(),
            found.unwrap_or_default(),
            changes.unwrap_or_default()
        )
    }

    fn fate(&self, cells: &BatchCells, at: usize) -> String {
        let requests = &self.corpus().requests;
        let has_dataset = self.run.folder.join("dataset").is_dir();
        let text = format!("fate      {}", fate_word(requests, self.row, has_dataset));
        match requests.fate(self.row) {
            None => text + &self.kept(cells, at),
            Some(fate) => text + &self.not_kept(fate, has_dataset),
        }
    }

    /// The category of a kept row in the dataset, and how many rows were merged into it.
    fn kept(&self, cells: &BatchCells, at: usize) -> String {
        let category = cells.text(CATEGORY, at).unwrap_or("no category");
        let basis = cells.text(CATEGORY_BASIS, at);
        let mut text = match basis {
            // Rows of an audit have no category.
            None if cells.text(CATEGORY, at).is_none() && cells.text(TIER, at).is_none() => "\n".to_owned(),
            Some(basis) => {
                let tier = cells.text(TIER, at).filter(|tier| *tier == JUDGED);
                let apart = tier.map_or("", |_| " (judged from the text alone, so unverified)");
                format!(" as {category}: {basis}{apart}\n")
            }
            None => {
                format!(" as {category}, tier of the answer: {}\n", cells.text(TIER, at).unwrap_or("none"))
            }
        };
        if let (None, Some(answer)) = (basis, cells.text(ANSWER, at)) {
            text += &format!("answer    {}\n", self.shown(answer));
        }
        let requests = &self.corpus().requests;
        let went_here = |&&row: &&RowIx| row != self.row && end_of_merges(requests, row) == self.row;
        let n_merged = requests.in_order().iter().filter(went_here).count();
        if n_merged > 0 {
            let noun = if n_merged == 1 { "request" } else { "requests" };
            text += &format!("merged    {n_merged} {noun} merged into it\n");
        }
        text
    }

    /// Why a row was not kept, and the rows it was merged into.
    fn not_kept(&self, fate: Fate, has_dataset: bool) -> String {
        let requests = &self.corpus().requests;
        let manifest = self.run.manifests.get(usize::from(fate.stage));
        let of_kind = manifest.and_then(|manifest| {
            Some((self.run.registry.kind(&manifest.kind)?.sentence)(&manifest.settings, fate.reason))
        });
        let sentence = of_kind.unwrap_or(fate.reason.sentence.into());
        let mut text = format!(": {}\n          {sentence}\n", fate.reason.code);
        let mut end = fate.into;
        while let Some(into) = end {
            let (id, word) = (requests.row_id(into).to_string(), fate_word(requests, into, has_dataset));
            let (id, fate) = (RowId::short(&id), requests.fate(into));
            text += &match fate.filter(|fate| fate.into.is_none()) {
                Some(fate) => format!("          merged into {id}, which is {word}: {}\n", fate.reason.code),
                None => format!("          merged into {id}, which is {word}\n"),
            };
            end = fate.and_then(|fate| fate.into);
        }
        text
    }
}

/// Returns the places of a link in the row.
fn places(link: &StoredLink) -> Vec<String> {
    let spans: Vec<Span> = serde_json::from_str(&link.spans).unwrap_or_default();
    spans.iter().map(|span| format!("{}{}", span.column, span.path)).collect()
}

/// How a request was judged: by a person, by a rule, or by its text and the answers of the log.
fn judged(relevance: Option<&str>, basis: Option<&str>) -> String {
    let Some(basis) = basis.and_then(|basis| serde_json::from_str::<Value>(basis).ok()) else {
        return String::new();
    };
    let number = |key: &str| basis[key].as_f64().unwrap_or_default();
    let why = if let Some(rule) = basis["low_quality"].as_str() {
        format!("by the rule {rule}")
    } else if let Some(who) = basis["answered_by"].as_str() {
        format!("answered by {who}")
    } else if let Some(who) = basis["labelled_by"].as_str() {
        format!("labelled by {who}")
    } else {
        let evidence: Vec<String> = basis["evidence"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, n)| n.as_u64() != Some(0))
            .map(|(kind, n)| format!("{n} {kind}"))
            .collect();
        let mut evidence = if evidence.is_empty() { "none".to_owned() } else { evidence.join(", ") };
        if basis["grounded_call"] == true {
            evidence += ", and the values of the call are in the request";
        }
        format!(
            "a function fits with probability {:.3} ({:.3} from the text alone; evidence from answers: {evidence})",
            number("probability"),
            number("by_text")
        )
    };
    format!("judged    {}: {why}\n", relevance.unwrap_or("unsure"))
}

/// The facts of the log about a request besides the conversation, on one line.
fn facts(cells: &BatchCells, at: usize) -> String {
    let words =
        [columns::MODEL, columns::USER, columns::SESSION, columns::TOOL_CHOICE, columns::FINISH_REASON];
    let time = cells.int(columns::TIME_MS, at).and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let parallel = cells.int(columns::PARALLEL_TOOL_CALLS, at);
    let mut facts: Vec<String> = time.map(|time| time.to_string()).into_iter().collect();
    facts.extend(words.iter().filter_map(|&fact| Some(format!("{} {}", fact.name, cells.text(fact, at)?))));
    facts.extend(parallel.map(|allowed| format!("parallel_tool_calls {}", allowed != 0)));
    facts.extend(cells.int(columns::STATUS, at).map(|status| format!("status {status}")));
    if facts.is_empty() {
        String::new()
    } else {
        format!("  facts     {}\n", visible_line(&facts.join(", ")))
    }
}

fn json<T: DeserializeOwned>(cells: &BatchCells, column: ColumnSpec, at: usize) -> Option<T> {
    serde_json::from_str(cells.text(column, at)?).ok()
}

/// The role of a message.
fn speaker(message: &Message) -> String {
    format!("{:?}", message.role).to_lowercase()
}

/// A message as one text: its content, then its calls.
fn content_and_calls(message: &Message) -> String {
    let calls = message.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
    std::iter::once(message.content.clone())
        .filter(|content| !content.is_empty())
        .chain(calls)
        .collect::<Vec<_>>()
        .join(" ")
}
