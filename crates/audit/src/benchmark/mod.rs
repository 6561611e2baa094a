//! Reads benchmarks, and indexes what can be found of their entries.
//!
//! [`formats`] is the table of readers, with a file for each format; `read` reads records, `entry` is what they become.

mod api_bank;
mod bfcl;
mod columns;
mod entry;
pub mod formats;
mod nestful;
mod read;
mod rows;
mod seal_tools;
mod tau_bench;
mod toolbench;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr3;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::answers::AnswerIndex;
use super::duplicates::Asked;
use super::everyday::is_example_name;
use super::frequent::BenchMessage;
use super::functions::{DocIndex, Sought};
use super::hit::{Hit, Method, Object, Verdict};
use super::item::{Docs, Item, ItemCall, calls_of};
use super::known::KnownFunctions;
use super::queries::{Message, QueryIndex};
use super::rows::Fallback;
use super::scope::Scope;
use super::seen_functions::{Like, SeenFunctions};
pub use super::thresholds::Thresholds;
use super::{AuditError, Result};
use callsieve_docs::canonical;
use callsieve_docs::parse::parse;
use callsieve_docs::signature::{Signature, signatures};
use callsieve_engine::context::Cancelled;
use callsieve_ingest::log_formats::Columns;
use callsieve_text::content_hash::content_hash;
use entry::ReadEntry;
pub(crate) use formats::{OpenedFiles, Source, sources};
pub(crate) use read::Reading;

pub use columns::{BenchColumn, BenchColumns};
pub use entry::BenchError;

/// One entry of a benchmark, as hits name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchEntry {
    /// Its id.
    pub id: String,
    /// The number of its category in [`Benchmark::categories`].
    pub category: u32,
    /// Its number among the items of its file; the first is 1.
    pub record: u64,
}

/// A category of a benchmark: a question file, or another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The SHA-256 of the file.
    pub sha256: String,
}

/// An indexed benchmark.
#[derive(Debug, Default)]
pub struct Benchmark {
    /// Its categories, in the order of their files.
    pub categories: Vec<Category>,
    /// Its entries, in the order of the files.
    pub entries: Vec<BenchEntry>,
    /// What is found of each entry: nothing of an unscorable one.
    pub scorable: Vec<Scorable>,
    pub(super) queries: QueryIndex,
    pub(super) docs: DocIndex,
    /// The functions of the environments that it declares.
    pub(super) environments: DocIndex,
    pub(super) answers: AnswerIndex,
    pub(super) known: KnownFunctions,
    pub(super) asked: Vec<Asked>,
    /// By category and id while entries are added: how many entries have the id.
    ids: FxHashMap<(u32, String), u32>,
    thresholds: Thresholds,
    /// What is like the functions that were looked for.
    seen: SeenFunctions,
}

/// Characters of a message that are shown to a person.
const MOST_SHOWN: usize = 500;
/// The surprise of a function that any set of examples has.
const EXAMPLE_SURPRISE: f64 = 0.05;
/// The surprise of one that has the parameters of another, by their names and kinds alone: small functions of one subject often do.
const STRUCTURE_SURPRISE: f64 = 0.1;

/// What of an entry can be found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scorable {
    /// It has a message with words.
    pub query: bool,
    /// It has a function with a name.
    pub functions: bool,
    /// Its answer has enough arguments.
    pub call: bool,
}

/// An entry as it is indexed: what takes long to read of it is read.
struct Prepared {
    id: String,
    record: u64,
    queries: Vec<String>,
    functions: Vec<Signature>,
    has_environment: bool,
    calls: Vec<ItemCall>,
    turns: Vec<usize>,
    /// The hash of its messages and functions.
    request: u128,
}

impl Prepared {
    fn of(entry: ReadEntry) -> Self {
        let ReadEntry { id, record, item } = entry;
        let functions = match &item.functions {
            Docs::None => Vec::new(),
            Docs::Text(text) => parse(text).map(|parsed| parsed.functions).unwrap_or_default(),
            Docs::Read(functions) => functions.clone(),
        };
        let request = format!("{}\n{:032x}", serde_json::json!(item.queries), canonical::key(&functions));
        let functions = signatures(&functions);
        let request = content_hash(request);
        let Item { queries, calls, turns, has_environment, .. } = item;
        Self { id, record, queries, functions, has_environment, calls, turns, request }
    }
}

impl Benchmark {
    /// Reads and indexes files and folders, each in the format whose signs it has (see [`formats`]).
    ///
    /// # Errors
    /// A path cannot be read, or no entry is in it.
    pub fn read(
        paths: &[PathBuf],
        columns: &Columns,
        thresholds: Thresholds,
        fallback: &Fallback,
    ) -> Result<Self> {
        let mut benchmark = Self::empty(thresholds);
        let reading = Reading { columns, fallback, named: &BenchColumns::default() };
        let mut seen = OpenedFiles::default();
        for path in paths {
            benchmark.add_sources(&seen.new_of(sources(path, None)?), &reading)?;
        }
        if benchmark.entries.is_empty() {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(AuditError::NoEntry { paths: names.join(", ") });
        }
        benchmark.weigh();
        Ok(benchmark)
    }

    /// Adds the entries of files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn add_sources(&mut self, sources: &[Source], reading: &Reading<'_>) -> Result<()> {
        let read = |source: &Source| -> Result<Vec<Prepared>> {
            Ok(source.read(reading)?.into_par_iter().map(Prepared::of).collect())
        };
        let read: Vec<Result<Vec<Prepared>>> = sources.par_iter().map(read).collect();
        for (source, entries) in sources.iter().zip(read) {
            let category = self.add_category(source)?;
            entries?.into_iter().for_each(|entry| self.add_entry(category, entry));
        }
        Ok(())
    }

    /// Returns a benchmark without entries.
    pub(super) fn empty(thresholds: Thresholds) -> Self {
        Self { thresholds, ..Self::default() }
    }

    /// Weighs words and indexes what is looked for, after the last entry was added.
    pub(super) fn weigh(&mut self) {
        self.queries.weigh(&self.thresholds.query);
        self.docs.index_lists();
        self.environments.index_lists();
        self.answers.index();
        self.ids = FxHashMap::default();
        self.seen = SeenFunctions::default();
    }

    fn add_category(&mut self, source: &Source) -> Result<u32> {
        let Source { name, path, .. } = source;
        Ok(self.push_category(Category { name: name.clone(), path: path.clone(), sha256: source.sha256()? }))
    }

    /// Adds a category, and returns its number. Of two with the same name, the later is numbered.
    pub(super) fn push_category(&mut self, category: Category) -> u32 {
        let is_taken = |name: &str| self.categories.iter().any(|known| known.name == name);
        let numbered = (2..).map(|n| format!("{}#{n}", category.name));
        let mut names = std::iter::once(category.name.clone()).chain(numbered);
        let name = names.find(|name| !is_taken(name)).expect("there is a number for each category");
        self.categories.push(Category { name, ..category });
        u32::try_from(self.categories.len() - 1).expect("fewer than 2^32 files")
    }

    /// Returns the id by which hits name an entry. Of entries of a category with the same id, which would count as one, the later are
    /// numbered.
    fn own_id(&mut self, category: u32, id: String) -> String {
        let n_known = self.ids.get(&(category, id.clone())).copied().unwrap_or_default();
        let numbered = |n: u32| (n, format!("{id}#{n}"));
        let mut names =
            (n_known == 0).then(|| (1, id.clone())).into_iter().chain((n_known.max(1) + 1..).map(numbered));
        let is_free = |(_, name): &(u32, String)| !self.ids.contains_key(&(category, name.clone()));
        let (n, own) = names.find(is_free).expect("there is a number for each entry");
        self.ids.insert((category, own.clone()), 1);
        self.ids.insert((category, id), n);
        own
    }

    /// Adds an item as an entry.
    pub(super) fn add_item(&mut self, id: String, category: u32, record: u64, item: Item) {
        self.add_entry(category, Prepared::of(ReadEntry { id, record, item }));
    }

    fn add_entry(&mut self, category: u32, prepared: Prepared) {
        let Prepared { id, record, queries, functions, has_environment, calls, turns, request } = prepared;
        let entry = u32::try_from(self.entries.len()).expect("fewer than 2^32 entries");
        let id = self.own_id(category, id);
        self.entries.push(BenchEntry { id, category, record });
        let has_words = |text: &String| text.contains(char::is_alphanumeric);
        let mut scorable = Scorable { query: queries.iter().any(has_words), ..Scorable::default() };
        for (turn, text) in (0..).zip(&queries) {
            self.queries.add(entry, turn, text);
        }
        let label = self.label(&calls, category);
        self.asked.push(Asked { last: queries.last().cloned().unwrap_or_default(), request, label });
        for function in &functions {
            self.known.add(function);
        }
        for call in &calls {
            self.known.add_called(call);
        }
        if !functions.is_empty() {
            let index = if has_environment { &mut self.environments } else { &mut self.docs };
            index.add_functions(entry, &functions);
            scorable.functions = !has_environment;
        }
        scorable.call = self.answers.add(entry, &calls, &turns);
        self.scorable.push(scorable);
    }

    /// Returns the hash of what a right answer to an entry is: its calls, or its category.
    fn label(&self, calls: &[ItemCall], category: u32) -> u128 {
        let label = if calls.is_empty() {
            self.categories[category as usize].name.clone()
        } else {
            format!("{calls:?}")
        };
        content_hash(label)
    }

    /// Returns the messages of users that have words: number of the entry, of the message, and the text.
    pub fn messages(&self) -> impl Iterator<Item = (u32, u32, &str)> {
        self.queries.messages()
    }

    /// Returns the messages that may be phrases of a training set: entry and number of the message.
    pub(super) fn short_messages(&self) -> BTreeSet<BenchMessage> {
        self.queries.short_messages(&self.thresholds.query)
    }

    /// Returns for each file the category that was read from it; a copy under another path is another file.
    pub fn categories_of<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> Vec<Option<u32>> {
        let mut own: BTreeMap<PathBuf, u32> = BTreeMap::new();
        for (at, category) in (0..).zip(&self.categories) {
            if let Ok(path) = category.path.canonicalize() {
                own.entry(path).or_insert(at);
            }
        }
        paths.map(|path| own.get(&path.canonicalize().ok()?).copied()).collect()
    }

    /// Returns whether an entry is this item of the file of a category, or a later one of the file.
    pub fn is_at_or_after(&self, entry: u32, category: u32, record: u64) -> bool {
        let entry = &self.entries[entry as usize];
        entry.category == category && entry.record >= record
    }

    /// Returns the name of an entry's category, and the entry's id.
    pub fn place_of(&self, entry: u32) -> (&str, &str) {
        let entry = &self.entries[entry as usize];
        (&self.categories[entry.category as usize].name, &entry.id)
    }

    /// Returns what a hit overlaps, for a person who decides on it: the message, or the name of the function; and how much it would
    /// surprise to find that by chance, from 0 to 1.
    pub fn told(&self, hit: &Hit) -> (Option<String>, f64) {
        let (number, score) = (hit.in_entry.0, hit.score);
        match hit.object {
            Object::Query | Object::Text => match self.queries.told(hit.entry, number) {
                Some((text, says)) => (Some(text.chars().take(MOST_SHOWN).collect()), score * says.min(1.0)),
                None => (None, score),
            },
            Object::Function | Object::Functions => {
                let index = if hit.method == Method::Environment { &self.environments } else { &self.docs };
                let name = index.name_of(hit.entry, number);
                let is_example = name.is_some_and(is_example_name);
                let surprise = match hit.method {
                    _ if is_example => EXAMPLE_SURPRISE,
                    Method::Structure => STRUCTURE_SURPRISE,
                    _ => score / 2.0,
                };
                (name.map(str::to_owned), surprise)
            }
            Object::Call => (None, score),
        }
    }

    /// Returns the rule's thresholds.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// The number of different words of messages, of functions, and of answers that can be found.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.queries.n_words(), self.docs.len(), self.answers.len())
    }

    /// Finds the functions that overlap a list. Lists repeat, so a caller may keep the result.
    pub fn hits_of_functions(&self, functions: &[Value]) -> Vec<Hit> {
        let seen = self.seen.of_list(functions, |signature| self.like(signature));
        let like = seen.unwrap_or_else(|| {
            signatures(functions).iter().map(|signature| Arc::new(self.like(signature))).collect()
        });
        self.hits_of_like(&like)
    }

    /// Finds the functions that overlap a list as it was sent; `None` if no function can be read from it.
    pub fn hits_of_doc_list(&self, list: &str) -> Option<Vec<Hit>> {
        if let Some(like) = self.seen.of_text(list, |signature| self.like(signature)) {
            return Some(self.hits_of_like(&like));
        }
        let functions = parse(list).map(|parsed| parsed.functions).unwrap_or_default();
        (!functions.is_empty()).then(|| self.hits_of_functions(&functions))
    }

    /// Returns the hits of a list, by what is like each of its functions.
    fn hits_of_like(&self, like: &[Arc<Like>]) -> Vec<Hit> {
        let mut hits = self.docs.find_functions(like.iter().map(|like| &like.docs[..]));
        hits.extend(self.environments.shared(like.iter().map(|like| &like.environments[..])));
        hits
    }

    /// Returns what is like a function.
    fn like(&self, signature: &Signature) -> Like {
        let sought = Sought::of(signature, &self.known);
        let by = &self.thresholds.docs;
        Like { docs: self.docs.like(&sought, by), environments: self.environments.like(&sought, by) }
    }

    /// Returns the calls of a model's message: those of its API, else those that it writes, wherever they stand in its text.
    pub(super) fn calls_of(&self, message: &callsieve_bfcl::conversation::Message) -> Vec<ItemCall> {
        let mut calls = calls_of(message);
        if message.calls.is_empty() {
            let written = self.known.calls_in(&message.content);
            let new: Vec<ItemCall> = written.into_iter().filter(|call| !calls.contains(call)).collect();
            calls.extend(new);
        }
        calls
    }

    /// Returns the calls in a text of somebody else, of functions that an answer calls. The docs of a function are none.
    pub(super) fn answers_in(&self, text: &str) -> Vec<ItemCall> {
        // Every notation of a call has one of these signs, and most prose has none.
        if self.answers.is_empty() || memchr3(b'(', b'{', b'<', text.as_bytes()).is_none() {
            return Vec::new();
        }
        let is_schema = |call: &ItemCall| call.arguments.iter().any(|(name, _)| name == "properties");
        let is_of_answer = |call: &ItemCall| self.answers.has_name(&call.name, &self.known);
        let written = self.known.calls_in(text).into_iter();
        written.filter(|call| is_of_answer(call) && !is_schema(call)).collect()
    }

    /// Finds the messages and answers that overlap those of a row.
    pub fn hits_of_messages(&self, item: &Item) -> Vec<Hit> {
        self.hits_of(item, &|| false)
    }

    /// Finds the same, until the user asks to stop.
    pub fn hits_of(&self, item: &Item, cancelled: Cancelled<'_>) -> Vec<Hit> {
        self.hits_in(item, Scope::all(cancelled))
    }

    /// Finds the messages and answers of some entries.
    pub(super) fn hits_in(&self, item: &Item, scope: Scope<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let is_conversation = item.queries.len() > 1;
        for (turn, text) in (0..).zip(&item.queries) {
            if (scope.cancelled)() {
                break;
            }
            let message = Message { turn, text, is_conversation, scope };
            self.queries.find(&message, &self.thresholds.query, &mut hits);
        }
        for (number, text) in (0..).zip(&item.texts) {
            if (scope.cancelled)() {
                break;
            }
            self.queries.find_verbatim(number, text, scope, &self.thresholds.query, &mut hits);
        }
        self.answers.find(&item.calls, &self.known, &self.thresholds.docs, scope, &mut hits);
        hits
    }
}

/// Returns the verdict on a row: the surest of its hits.
pub fn verdict(hits: &[Hit], is_scorable: bool) -> Verdict {
    let found = hits.iter().map(|hit| hit.verdict).max();
    found.unwrap_or(if is_scorable { Verdict::Clean } else { Verdict::Unscorable })
}

#[cfg(test)]
pub(super) mod tests {
    use super::formats::AnyFormat;
    use super::*;

    /// A benchmark of messages.
    pub(crate) fn benchmark_of(messages: &[&str]) -> Benchmark {
        let mut benchmark = Benchmark::default();
        benchmark.push_category(Category {
            name: "messages".to_owned(),
            path: PathBuf::new(),
            sha256: String::new(),
        });
        for (record, message) in (1..).zip(messages) {
            let item = Item { queries: vec![(*message).to_owned()], ..Item::default() };
            benchmark.add_item(record.to_string(), 0, record, item);
        }
        benchmark.weigh();
        benchmark
    }

    /// Writes files into a folder, and returns its categories with their entries.
    pub(super) fn read_files(files: &[(&str, &str)]) -> Result<Vec<(String, Vec<entry::ReadEntry>)>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[allow(clippy::disallowed_methods)] // Files of a test.
            std::fs::write(path, text).unwrap();
        }
        let (columns, fallback, named) = (Columns::default(), Fallback::default(), BenchColumns::default());
        let reading = Reading { columns: &columns, fallback: &fallback, named: &named };
        let sources = sources(folder.path(), None)?;
        sources.iter().map(|source| Ok((source.name.clone(), source.read(&reading)?))).collect()
    }

    #[test]
    fn entries_with_one_id_are_numbered_within_their_category() {
        let mut benchmark = benchmark_of(&[]);
        let category = benchmark.categories[0].clone();
        benchmark.push_category(category);
        for (record, (category, id)) in
            (1..).zip([(0, "t1"), (0, "t1"), (0, "t1#2"), (0, "t1"), (1, "t1"), (0, "t2"), (0, "t1#2")])
        {
            benchmark.add_item(id.to_owned(), category, record, Item::default());
        }
        benchmark.weigh();
        let ids: Vec<&str> = benchmark.entries.iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(ids, ["t1", "t1#2", "t1#2#2", "t1#3", "t1", "t2", "t1#2#3"]);
    }

    #[test]
    fn calls_of_answers_are_read_in_texts_of_others_and_docs_are_none() {
        let mut benchmark = benchmark_of(&["Ring the great bell."]);
        assert_eq!(benchmark.answers_in("ring_bell(tower='north')"), []);
        let arguments = vec![
            ("tower".to_owned(), vec![Value::from("north")]),
            ("times".to_owned(), vec![Value::from(3)]),
        ];
        let item = Item {
            calls: vec![ItemCall { name: "ring_bell".to_owned(), arguments: arguments.clone() }],
            ..Item::default()
        };
        benchmark.add_item("call".to_owned(), 0, 2, item);
        benchmark.weigh();
        for (text, expected) in [
            ("### Instruction:\nAs always.\n\n### Response:\n[ring_bell(tower='north', times=3)]", true),
            ("Answer: {\"name\": \"ring_bell\", \"arguments\": {\"tower\": \"north\", \"times\": 3}}", true),
            (
                "{\"name\": \"ring_bell\", \"parameters\": {\"type\": \"object\", \"properties\": {\"tower\": {\"type\": \"string\"}}}}",
                false,
            ),
            ("Use ring_bell (of the tower).", false),
            ("toll_bell(tower='north', times=3)", false),
            ("Ring it.", false),
        ] {
            let found: Vec<_> = benchmark.answers_in(text).into_iter().map(|call| call.arguments).collect();
            let expected: Vec<_> = expected.then(|| arguments.clone()).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn every_format_has_its_own_name() {
        let names = AnyFormat::names();
        assert!(names.iter().all(|name| AnyFormat::of(name).is_some()), "{names:?}");
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len(), "{names:?}");
        let message = formats::format_named("toolbenc").unwrap_err().to_string();
        assert!(
            message.starts_with("--bench-format: found \"toolbenc\", expected one of bfcl, toolbench, "),
            "{message}"
        );
    }

    #[test]
    fn functions_with_the_parameters_of_others_surprise_little_and_examples_least() {
        let mut benchmark = benchmark_of(&["Ring the great bell."]);
        let function = |name: &str, parameters: &[&str]| {
            let properties: serde_json::Map<String, Value> = parameters
                .iter()
                .map(|name| ((*name).to_owned(), serde_json::json!({"type": "string"})))
                .collect();
            serde_json::json!({"name": name, "parameters": {"type": "object", "properties": properties}})
        };
        let functions = vec![
            function("ring_bell", &["tower", "times", "hour", "reason"]),
            function("get_weather", &["city", "unit", "day", "language"]),
        ];
        let item = Item { functions: Docs::Read(functions), ..Item::default() };
        benchmark.add_item("functions".to_owned(), 0, 2, item);
        benchmark.weigh();
        let surprise = |method, number| {
            let (object, score, verdict) = (Object::Function, 0.9, Verdict::Suspect);
            let (in_row, in_entry) = ((0, 0..0), (number, 0..0));
            benchmark
                .told(&Hit {
                    entry: 1,
                    object,
                    method,
                    score,
                    verdict,
                    in_row,
                    in_entry,
                    run: 0,
                    group: None,
                })
                .1
        };
        let names = surprise(Method::NameParameters, 0);
        let structure = surprise(Method::Structure, 0);
        let example = surprise(Method::Structure, 1);
        assert!(names > structure && structure > example, "{names} {structure} {example}");
    }

    #[test]
    fn a_folder_without_signs_is_read_as_rows_and_hidden_folders_are_passed_over() {
        let row = "{\"messages\": [{\"role\": \"user\", \"content\": \"Ring.\"}]}";
        let read = read_files(&[("a.jsonl", row), ("b.jsonl", row), (".git/tasks.json", "[]")]).unwrap();
        assert_eq!(
            read.iter().map(|(name, entries)| (name.as_str(), entries.len())).collect::<Vec<_>>(),
            [("a.jsonl", 1), ("b.jsonl", 1)]
        );
    }
}
