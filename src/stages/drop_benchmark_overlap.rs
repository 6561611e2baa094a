//! Drops or holds the rows of a training set that overlap a benchmark; calls `audit`.
//!
//! The benchmark is indexed once, and rows stream past it. Every hit of every method is a link of its row, many entries that the row
//! overlaps in the same way are one; the surest hit decides the row's fate. A row without anything to compare is unscorable and
//! stays. An entry is not compared with itself: of a file that is training set and benchmark, a row is compared with the entries
//! before it, so the first copy stays. A copy of a benchmark's file under another path is contamination.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::asking::{self, Judge};
use super::{Notes, Settings};
use crate::audit::benchmark::{BenchColumns, Benchmark, Thresholds};
use crate::audit::coverage::{Coverage, GROUPED_NOTE, GroupedEntries};
use crate::audit::embedding::VectorIndex;
use crate::audit::facts::{BENCHMARK_NOTE, BenchmarkFacts, ITSELF_NOTE, JUDGED_NOTE};
use crate::audit::frequent::{BenchMessage, FREQUENT_NOTE, Frequent};
use crate::audit::hit::{Compared as ComparedObject, Hit, Object, Objects, Verdict as Contamination};
use crate::audit::item::Item;
use crate::audit::judge::{self, Judgement, MessagePair};
use crate::audit::open::Names;
use crate::audit::read_rows::{READ_NOTE, ReadOfFile, SHARED_NOTE, SharedText};
use crate::audit::row::{AuditedRow, ComparedWith, FinishedRow};
use crate::audit::shuffle::{CleanShuffle, MAX_MESSAGES, SHUFFLE_NOTE};
use crate::cells::TypedCells as _;
use crate::columns::{CONTAMINATION, FILE, FOLLOWING_MESSAGES, FUNCTIONS, MESSAGES, RECORD, RESPONSE, TEXT};
use crate::conversation::Role as Author;
use crate::embed::Embedder;
use crate::embed::name::ChosenEmbedder;
use crate::engine::context::{Cancelled, Context};
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::{Stage, equal_notes};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Batch, Parents, Row, View};
use crate::engine::vocabulary::{Evidence, Reason, RowIx, TableId};
use crate::environment::Environment;
use crate::prompts::judging::OVERLAP;
use crate::public_sets::catalogue::SAMPLE;
use crate::text::figures::count;

static QUERY: Reason =
    Reason::policy("overlap/benchmark-query", "A user message overlaps one of the benchmark.");
static FUNCTION: Reason =
    Reason::policy("overlap/benchmark-function", "A function doc overlaps one of the benchmark.");
static CALL: Reason =
    Reason::policy("overlap/benchmark-call", "The calls are those of an answer of the benchmark.");
static TEXT_OF_OTHERS: Reason = Reason::policy(
    "overlap/benchmark-text",
    "A prompt, an answer or a result holds a user message of the benchmark.",
);
static SUSPECT: Reason = Reason::policy(
    "overlap/benchmark-suspect",
    "The row resembles an entry of the benchmark, in a way that also happens by chance.",
);

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropBenchmarkOverlap {
    /// The benchmarks: BFCL question files, folders of them, other files, or ids of public sets, as `callsieve sets list`
    /// shows them.
    pub benchmarks: Vec<String>,
    /// The folder of sets [default: `$CALLSIEVE_SETS` or `~/.cache/callsieve/sets`].
    pub dir: Option<PathBuf>,
    /// Keys of the texts of entries that are in no known form, with dots into objects. Empty: the usual keys.
    pub text_fields: Vec<String>,
    /// The format of all files: bfcl, toolbench, api-bank, seal-tools, nestful, tau-bench, columns, rows, or one of
    /// `callsieve sets add`. Empty: each file has that of its signs.
    pub format: String,
    /// The columns of the format "columns".
    pub columns: BenchColumns,
    /// What to do with a contaminated row: "drop" it, "hold" it for a person, or "keep" it, with its links only.
    pub contaminated: OnOverlap,
    /// What to do with a suspect row, in the same words.
    pub suspect: OnOverlap,
    /// What of a row is compared: "query", "docs", "calls", "texts" (prompts, answers and results, word by word).
    pub objects: Vec<ComparedObject>,
    /// When what overlaps.
    pub thresholds: Thresholds,
    /// Whether messages are also compared by the cosine of their vectors.
    pub cosine: bool,
    /// The embedder for it: `hashed`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]`, `endpoint:MODEL` (sends the messages to a
    /// server) or `file:PATH.parquet`.
    pub embedder: ChosenEmbedder,
    /// The name of a language model that judges suspect pairs of messages; without it they stay suspect.
    pub model: Option<String>,
    /// Answers of the model for each pair, an odd number; more than half decide.
    pub samples: u32,
    #[serde(skip)]
    environment: Environment,
    /// The benchmark, indexed while the inputs are read.
    #[serde(skip)]
    opened: Opened,
}

/// The action for a row that overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnOverlap {
    /// Drop the row.
    Drop,
    /// Hold the row for a person.
    Hold,
    /// Keep the row.
    Keep,
}

/// The benchmark, once it was opened.
#[derive(Debug, Default)]
struct Opened(Mutex<Option<Arc<Benchmark>>>);

impl Default for DropBenchmarkOverlap {
    fn default() -> Self {
        Self {
            benchmarks: vec![SAMPLE.to_owned()],
            dir: None,
            text_fields: Vec::new(),
            format: String::new(),
            columns: BenchColumns::default(),
            contaminated: OnOverlap::Drop,
            suspect: OnOverlap::Keep,
            objects: ComparedObject::ALL.to_vec(),
            thresholds: Thresholds::default(),
            cosine: false,
            embedder: ChosenEmbedder::default(),
            model: None,
            samples: asking::SAMPLES,
            environment: Environment::default(),
            opened: Opened::default(),
        }
    }
}

impl Settings for DropBenchmarkOverlap {
    const NAME: &'static str = "drop-benchmark-overlap";
    const SUMMARY: &'static str = "Drops or holds training rows that overlap a benchmark.";
    const FUNNEL_LABEL: &'static str = "no overlap with the benchmark";

    fn funnel_label(&self, notes: &Notes) -> Cow<'static, str> {
        match BenchmarkFacts::of(notes.get(BENCHMARK_NOTE)) {
            Some(facts) => format!("no overlap with {} entries", count(facts.n_entries() as u64)).into(),
            None => Self::FUNNEL_LABEL.into(),
        }
    }

    fn examples() -> Vec<Example> {
        vec![
            Example::query(
                QUERY.code,
                "Please ring the great bell of the harbour tower three times at noon and log who asked for it!",
                "Ring the great bell of the harbour tower.",
            ),
            Example::tables(
                FUNCTION.code,
                r#"{"doc_lists": [{"text": "[{\"name\": \"list_pier_lamps\", \"parameters\": {\"type\": \"object\", \"properties\": {\"pier\": {\"type\": \"string\"}, \"min_hours\": {\"type\": \"integer\"}}}}]"}],
                    "requests": [{"messages": [{"role": "user", "content": "As always."}]}]}"#,
                r#"{"doc_lists": [{"functions": [{"name": "list_pier_lamps", "parameters": {"type": "dict", "properties": {
                    "colour": {"type": "string"}, "height": {"type": "integer"}}}}]}],
                    "requests": [{"messages": [{"role": "user", "content": "As always."}]}]}"#,
            ),
            Example::tables(
                CALL.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "As always."}], "response": {"role": "assistant", "content": "",
                    "calls": [{"name": "list_pier_lamps", "arguments": {"pier": "northern", "min_hours": 900}}]}}]}"#,
                r#"{"requests": [{"messages": [{"role": "user", "content": "As always."}], "response": {"role": "assistant", "content": "",
                    "calls": [{"name": "list_pier_lamps", "arguments": {"pier": "southern", "min_hours": 900}}]}}]}"#,
            ),
            Example::tables(
                TEXT_OF_OTHERS.code,
                r#"{"requests": [{"messages": [{"role": "system", "content": "Example: Ring the great bell of the harbour tower three times at noon and log who asked for it! Yes."}, {"role": "user", "content": "As always."}]}]}"#,
                r#"{"requests": [{"messages": [{"role": "system", "content": "Example: Ring the small bell of the chapel. Yes."}, {"role": "user", "content": "As always."}]}]}"#,
            ),
            Example::query(
                SUSPECT.code,
                "Which of the lamps on the northern pier have burnt for more?",
                "Which of the lamps are on?",
            )
            .with_settings(r#"suspect = "hold""#),
        ]
    }

    fn set_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
        self.embedder.set_environment(environment);
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.objects.is_empty() {
            return Err("objects must name at least one of query, docs, calls, texts".to_owned());
        }
        // Read here, so that a bad benchmark is reported before the training sets are read.
        self.thresholds.check()?;
        self.embedder.name().check_for_texts()?;
        let judge = if self.model.is_some() { Judge::RulesThenLlm } else { Judge::Rules };
        asking::check(judge, self.model.as_deref(), self.samples)?;
        if (self.format == "columns") == (self.columns == BenchColumns::default()) {
            return Err(
                "format = \"columns\" and columns belong together: found one without the other".to_owned()
            );
        }
        self.open().map(drop).map_err(|error| error.to_string())
    }
}

impl DropBenchmarkOverlap {
    fn names(&self) -> Names<'_> {
        let sets: &Path = self.dir.as_deref().unwrap_or(self.environment.sets());
        Names {
            names: &self.benchmarks,
            sets,
            text_fields: &self.text_fields,
            format: &self.format,
            columns: &self.columns,
        }
    }

    /// Returns what happens to a row with this verdict.
    fn action(&self, verdict: Contamination) -> OnOverlap {
        match verdict {
            Contamination::Contaminated => self.contaminated,
            Contamination::Suspect => self.suspect,
            Contamination::Environment | Contamination::Clean | Contamination::Unscorable => OnOverlap::Keep,
        }
    }

    /// Returns the benchmark; it is read by the first call.
    fn open(&self) -> Result<Arc<Benchmark>> {
        let mut opened = self.opened.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(benchmark) = &*opened {
            return Ok(Arc::clone(benchmark));
        }
        let read = self.names().open(self.thresholds).map_err(|error| Error::Input(error.to_string()))?;
        Ok(Arc::clone(opened.insert(Arc::new(read))))
    }
}

/// The hits of a doc list, and whether it has a function.
#[derive(Default)]
struct OfList {
    hits: Box<[Hit]>,
    has_function: bool,
}

impl OfList {
    fn of(list: Row<'_>, benchmark: &Benchmark, objects: Objects) -> Self {
        if !objects.has(Object::Function) {
            return Self::default();
        }
        let hits = match list.text(FUNCTIONS) {
            Some(_) => {
                let functions: Vec<Value> = list.json(FUNCTIONS).unwrap_or_default();
                (!functions.is_empty()).then(|| benchmark.hits_of_functions(&functions))
            }
            None => benchmark.hits_of_doc_list(list.text(TEXT).unwrap_or_default()),
        };
        let has_function = hits.is_some();
        Self { hits: hits.unwrap_or_default().into_boxed_slice(), has_function }
    }
}

impl Stage for DropBenchmarkOverlap {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([MESSAGES, RESPONSE, FOLLOWING_MESSAGES, FILE, RECORD, TEXT])
            .reads_if_there([FUNCTIONS])
            .writes([CONTAMINATION])
            .reasons([&QUERY, &FUNCTION, &CALL, &TEXT_OF_OTHERS, &SUSPECT])
            .partition(Partition::Rows)
            .links()
            .sends_rows_out(self.cosine && self.embedder.name().sends_texts_out())
            .asks(self.model.as_deref())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(9);
        if self.cosine {
            fingerprint.built_in("embedder", &self.embedder.open()?.id());
        }
        if self.model.is_some() {
            OVERLAP.task.fingerprint("prompt", fingerprint);
        }
        self.names().fingerprint(fingerprint).map_err(|error| Error::Input(error.to_string()))
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        match name {
            USAGE_NOTE => ModelUsage::joined(notes),
            READ_NOTE => ReadOfFile::joined(&notes),
            JUDGED_NOTE => Some(joined_counts(&notes)),
            GROUPED_NOTE => {
                let parts = notes.iter().map(|note| GroupedEntries::of_note(Some(note)));
                Some(json!(GroupedEntries::joined(parts)))
            }
            _ => equal_notes(notes),
        }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let benchmark = self.open()?;
        let facts =
            BenchmarkFacts { objects: self.objects.clone(), ..BenchmarkFacts::of_benchmark(&benchmark) };
        out.note(BENCHMARK_NOTE, facts.to_json());
        let FirstTexts { messages, shared, n_rows } = first_texts(&view.whole(), cx)?;
        if Objects::of(&self.objects).has(Object::Text) {
            let found = shared_texts(&shared, n_rows, &benchmark, &|| cx.cancelled());
            out.note(SHARED_NOTE, json!(found));
        }
        let boilerplate: FxHashSet<String> = shared.into_iter().map(|(text, _)| text).collect();
        let cancelled = || cx.cancelled();
        let shuffled = CleanShuffle::of(&messages, &benchmark, &cancelled).ok_or(Error::Interrupted)?;
        out.note(SHUFFLE_NOTE, json!(shuffled));
        let frequent = Frequent::of(&messages, &benchmark, &cancelled).ok_or(Error::Interrupted)?;
        out.note(FREQUENT_NOTE, json!(frequent.entries));
        let compared = Compared::new(self, &benchmark, frequent.messages, boilerplate, view, cx)?;
        let of_itself = compared.of_itself.iter().enumerate().filter(|(_, category)| category.is_some());
        out.note(ITSELF_NOTE, json!(of_itself.map(|(input, _)| input).collect::<Vec<_>>()));
        let judged = match &self.model {
            Some(model) => self.judgements(model, &compared, view, cx, out)?,
            None => BTreeMap::new(),
        };
        let coverage = Coverage::new(benchmark.entries.len());
        let finish = |row: RowIx, mut audited: AuditedRow| {
            let pairs = if judged.is_empty() { Vec::new() } else { audited.suspect_pairs() };
            for pair in pairs {
                if let Some(judgement) = judged.get(&(row, pair)) {
                    audited.judged(pair, judgement);
                }
            }
            audited.finish(row, &benchmark, &coverage)
        };
        let mut read: BTreeMap<i64, ReadOfFile> = BTreeMap::new();
        view.for_each_batch(cx, |batch| {
            compared.for_each_row(batch, cx, finish, |row, finished| {
                if let Some(file) = batch.row(row).int(FILE) {
                    read.entry(file).or_default().add(finished.read);
                }
                self.write(row, &finished, &benchmark, out)
            })?;
            out.flush(batch.index())
        })?;
        out.note(READ_NOTE, json!(read));
        let grouped = coverage.finish(&benchmark);
        if !grouped.is_empty() {
            out.note(GROUPED_NOTE, json!(grouped));
        }
        Ok(())
    }
}

/// A pair of messages of a row and an entry: see [`AuditedRow::suspect_pairs`].
type PairOfRow = (RowIx, (u32, u32, u32));

/// A benchmark that rows are compared with.
struct Compared<'a> {
    benchmark: &'a Benchmark,
    /// By the number of the input: the category that was read from the same file.
    of_itself: Vec<Option<u32>>,
    lists: Parents<'a, OfList>,
    vectors: Option<(VectorIndex, &'a dyn Embedder)>,
    /// Messages of the benchmark that are phrases of the training set.
    phrases: BTreeSet<BenchMessage>,
    /// Hashes of texts that many rows share.
    boilerplate: FxHashSet<String>,
    objects: Objects,
}

impl<'a> Compared<'a> {
    fn new(
        stage: &'a DropBenchmarkOverlap,
        benchmark: &'a Benchmark,
        phrases: BTreeSet<BenchMessage>,
        boilerplate: FxHashSet<String>,
        view: &View<'a>,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let of_itself = benchmark.categories_of(view.inputs().iter().map(|input| Path::new(&input.path)));
        let objects = Objects::of(&stage.objects);
        let lists = view.parents(cx, |list| OfList::of(list, benchmark, objects))?;
        let vectors = if stage.cosine {
            let embedder = stage.embedder.open()?;
            Some((VectorIndex::new(benchmark, embedder, &|| cx.cancelled())?, embedder))
        } else {
            None
        };
        Ok(Self { benchmark, of_itself, lists, vectors, phrases, boilerplate, objects })
    }

    /// Compares the rows of a batch, some at a time, and gives what is left of each to `take`, in their order.
    fn for_each_row<T: Send>(
        &self,
        batch: &Batch<'_>,
        cx: &Context<'_>,
        finish: impl Fn(RowIx, AuditedRow) -> T + Sync,
        mut take: impl FnMut(RowIx, T) -> Result<()>,
    ) -> Result<()> {
        let cancelled = || cx.cancelled();
        // A row may be near to each entry.
        let at_once = (MOST_PAIRS / self.benchmark.entries.len().max(1)).clamp(FEWEST_ROWS, MOST_ROWS);
        for rows in batch.rows().chunks(at_once) {
            let finished = match &self.vectors {
                None => batch.map_some(rows, |row| {
                    finish(row.ix(), AuditedRow::of(row, &self.compared_with(row, &cancelled)))
                })?,
                Some((vectors, embedder)) => {
                    let mut audited = batch
                        .map_some(rows, |row| AuditedRow::of(row, &self.compared_with(row, &cancelled)))?;
                    let compared = rows.iter().map(|row| self.compared_with(batch.row(*row), &cancelled));
                    let items: Vec<(&Item, ComparedWith<'_>)> =
                        audited.iter().map(AuditedRow::item).zip(compared).collect();
                    let hits = vectors.hits(&items, *embedder, &cancelled)?;
                    audited.iter_mut().zip(hits).for_each(|(row, hits)| row.add(hits));
                    let finished = rows.iter().zip(audited).map(|(row, audited)| finish(*row, audited));
                    finished.collect()
                }
            };
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            rows.iter().zip(finished).try_for_each(|(row, finished)| take(*row, finished))?;
        }
        Ok(())
    }

    /// Returns what a row is compared with.
    fn compared_with<'b>(&'b self, row: Row<'_>, cancelled: Cancelled<'b>) -> ComparedWith<'b> {
        let file = row.int(FILE).and_then(|file| usize::try_from(file).ok());
        let record = row.int(RECORD).and_then(|record| u64::try_from(record).ok());
        let category = file.and_then(|file| self.of_itself.get(file).copied().flatten());
        let of_list = self.lists.of(row.ix());
        ComparedWith {
            benchmark: self.benchmark,
            of_list: of_list.map_or(&[], |list| &list.hits),
            has_function: of_list.is_some_and(|list| list.has_function),
            own: category.zip(record),
            phrases: &self.phrases,
            boilerplate: &self.boilerplate,
            objects: self.objects,
            cancelled,
        }
    }
}

/// Rows that are compared at once, and their pairs with entries.
const FEWEST_ROWS: usize = 64;
const MOST_ROWS: usize = 1024;
const MOST_PAIRS: usize = 1 << 22;

impl DropBenchmarkOverlap {
    /// Has the language model judge the suspect pairs of all rows.
    fn judgements(
        &self,
        model: &str,
        compared: &Compared<'_>,
        view: &View<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<BTreeMap<PairOfRow, Judgement>> {
        let of_entries: BTreeMap<(u32, u32), &str> =
            compared.benchmark.messages().map(|(entry, turn, text)| ((entry, turn), text)).collect();
        let mut pairs: Vec<(PairOfRow, String)> = Vec::new();
        let suspects = |row: RowIx, audited: AuditedRow| -> Vec<(PairOfRow, String)> {
            let text = |at: u32| audited.item().queries.get(at as usize).cloned().unwrap_or_default();
            audited.suspect_pairs().into_iter().map(|pair| ((row, pair), text(pair.0))).collect()
        };
        view.for_each_batch(cx, |batch| {
            compared.for_each_row(batch, cx, suspects, |_, found| {
                pairs.extend(found);
                Ok(())
            })
        })?;
        let messages: Vec<MessagePair<'_>> = pairs
            .iter()
            .map(|((_, (_, entry, turn)), text)| MessagePair {
                train: text,
                bench: of_entries.get(&(*entry, *turn)).copied().unwrap_or_default(),
            })
            .collect();
        let asked = judge::Judge { model, samples: self.samples };
        let (judgements, usage) = judge::judge_pairs(&messages, asked, cx)?;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for judgement in &judgements {
            *counts.entry(judgement.name()).or_default() += 1;
        }
        out.note(USAGE_NOTE, json!(usage));
        out.note(JUDGED_NOTE, json!(counts));
        Ok(pairs.into_iter().map(|(pair, _)| pair).zip(judgements).collect())
    }

    /// Writes the verdict on a row, its fate and its links.
    fn write(
        &self,
        row: RowIx,
        finished: &FinishedRow,
        benchmark: &Benchmark,
        out: &mut Verdict<'_>,
    ) -> Result<()> {
        let FinishedRow { links, verdict, surest, n_entries, .. } = finished;
        out.set(row, CONTAMINATION, verdict.name())?;
        if let Some(surest) = surest {
            let reason = reason_of(surest);
            let evidence = || evidence(surest, *n_entries, benchmark);
            match self.action(*verdict) {
                OnOverlap::Drop => out.drop(row, reason, evidence())?,
                OnOverlap::Hold => out.hold(row, reason, evidence())?,
                OnOverlap::Keep => {}
            }
        }
        links.iter().try_for_each(|link| out.link(row, link))
    }
}

/// The first texts of a training set.
struct FirstTexts {
    /// Messages of users, for the measure of chance.
    messages: Vec<String>,
    /// Texts of others that many of the rows share, each with the number of these, the most frequent first.
    shared: Vec<(String, usize)>,
    n_rows: usize,
}

/// Returns which messages of the benchmark are in texts that many rows share.
fn shared_texts(
    shared: &[(String, usize)],
    n_rows: usize,
    benchmark: &Benchmark,
    cancelled: Cancelled<'_>,
) -> Vec<SharedText> {
    let mut found: Vec<SharedText> = Vec::new();
    for (text, rows) in shared {
        let item = Item { texts: vec![text.clone()], ..Item::default() };
        for hit in benchmark.hits_of(&item, cancelled) {
            let (category, id) = benchmark.place_of(hit.entry);
            if found.iter().any(|known| known.id == id && known.category == category) {
                continue;
            }
            found.push(SharedText {
                category: category.to_owned(),
                id: id.to_owned(),
                rows: *rows,
                of: n_rows,
                verdict: hit.verdict.name().to_owned(),
            });
        }
    }
    found
}

/// Fewest rows that share a text of somebody else for it to be boilerplate, and the same as one in so many.
const MIN_SHARING: usize = 20;
const SHARING_ONE_IN: usize = 50;

/// Returns the texts of the first rows.
fn first_texts(view: &View<'_>, cx: &Context<'_>) -> Result<FirstTexts> {
    let mut texts = Vec::new();
    let (mut n_rows, mut n_sharing): (usize, FxHashMap<String, usize>) = (0, FxHashMap::default());
    view.stream(
        cx,
        |row| view.is_kept(row) && view.position(row) < N_FIRST_ROWS,
        |batch| {
            for &row in batch.rows() {
                n_rows += 1;
                // A text that one row repeats is shared with no other row.
                let mut others = BTreeSet::new();
                for message in batch.row(row).messages() {
                    match message.role {
                        Author::User if message.content.len() <= MAX_MESSAGE_BYTES => {
                            texts.push(message.content);
                        }
                        Author::User => {}
                        _ => {
                            others.insert(message.content);
                        }
                    }
                }
                for text in others {
                    *n_sharing.entry(text).or_default() += 1;
                }
            }
            Ok(())
        },
    )?;
    texts.truncate(MAX_MESSAGES);
    let mut n_bytes = 0;
    texts.retain(|text: &String| {
        n_bytes += text.len();
        n_bytes <= MAX_FIRST_BYTES
    });
    n_sharing.retain(|_, n| *n >= MIN_SHARING.max(n_rows / SHARING_ONE_IN));
    let mut shared: Vec<(String, usize)> = n_sharing.into_iter().collect();
    shared.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Ok(FirstTexts { messages: texts, shared, n_rows })
}

/// Rows in canonical order whose messages are shuffled.
const N_FIRST_ROWS: u32 = 4_000;
/// Bytes of such a message; a document says nothing about phrases, and takes long.
const MAX_MESSAGE_BYTES: usize = 16 << 10;
/// Bytes of these messages; a set of documents has fewer of them.
const MAX_FIRST_BYTES: usize = 2 << 20;

/// Adds up the counts of several parts.
fn joined_counts(notes: &[Value]) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (name, n) in notes.iter().filter_map(Value::as_object).flatten() {
        *counts.entry(name.clone()).or_default() += n.as_u64().unwrap_or_default();
    }
    json!(counts)
}

fn reason_of(surest: &Hit) -> &'static Reason {
    match (surest.verdict, surest.object) {
        (Contamination::Contaminated, Object::Query) => &QUERY,
        (Contamination::Contaminated, Object::Text) => &TEXT_OF_OTHERS,
        (Contamination::Contaminated, Object::Call) => &CALL,
        (Contamination::Contaminated, Object::Function | Object::Functions) => &FUNCTION,
        _ => &SUSPECT,
    }
}

fn evidence(surest: &Hit, n_entries: u32, benchmark: &Benchmark) -> Evidence {
    let (set, record) = benchmark.place_of(surest.entry);
    let mut detail = json!({
        "object": surest.object.name(),
        "method": surest.method.name(),
        "score": surest.rounded_score(),
        "set": set,
        "record": record,
    });
    let (told, surprise) = benchmark.told(surest);
    detail["surprise"] = ((surprise * 100.0).round() / 100.0).into();
    if let Some(told) = told {
        detail["benchmark_text"] = told.into();
    }
    if n_entries > 1 {
        detail["entries"] = n_entries.into();
    }
    Evidence { score: None, detail: Some(Box::new(detail)) }
}
