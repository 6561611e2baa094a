//! Writes the dataset folder: official question and answer files, and the same entries as Parquet.
//!
//! Entries with a verified answer (`human`, `outcome`) are in the folder itself, where the official
//! evaluator looks, and so are entries of the categories without answers (irrelevance, relevance)
//! with a verified label. The other entries are in the same format under `unverified/`: answers
//! that are only `recorded`, on which the logged model would score 100 %, and labels that are only
//! `judged`. Frozen entries of an earlier dataset come first, byte for byte; see `frozen`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::card::Card;
use super::frozen::{FrozenDataset, FrozenFile};
use super::row::{EntryCells, OWN, columns_of};
use super::set::Set;
use super::tier::{HUMAN, JUDGED};
use crate::bfcl::category::Category;
use crate::bfcl::ids::{Ids, check_prefix};
use crate::bfcl::writer::{LINES_AT_A_TIME, NewEntry, write_category};
use crate::cells::TypedCells as _;
use crate::columns::{ANSWER, ANSWER_FROM, CATEGORY, EXTERNAL_ID, FUNCTIONS, MESSAGES, TIER, passed_on};
use crate::content_hash::content_hash;
use crate::conversation::Message;
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::corpus::RowId;
use crate::engine::disk::create as create_file;
use crate::engine::entries::EntryOrigin;
use crate::engine::error::{At, Error, Result};
use crate::engine::frame::FrameWriter;
use crate::engine::kind::KindSettings;
use crate::engine::raw::id_of_repeat;
use crate::engine::sink::{Exported, FinishedTables, Sink};
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{ColumnSpec, RowIx, TableId};

/// Tiers of answers in the scored files.
const VERIFIED: &[&str] = &[HUMAN, "outcome"];
/// The source of an answer in the tables: the entry's own record.
const OWN_RECORD: &str = "own-record";
/// The source of an answer in the tables: the record of an equal request.
const EQUAL_RECORD: &str = "equal-record";
/// Number of entries in a Parquet row group.
const GROUP_ROWS: usize = 4096;

/// The sink and its settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BfclDataset {
    /// Letters before the doc list's number in each id, as in `live_simple_0-ts0-0`, so that the ids differ from
    /// those of the leaderboard; use another prefix for each dataset. At most 16 ASCII letters and digits with a
    /// letter at both ends; "" makes ids like those of the leaderboard.
    pub id_prefix: String,
    /// The folder of a finished run, or of files `BFCL_v4_live_<category>.json`: its entries come first in each file of
    /// the new dataset, byte for byte, and the ids of new entries continue after theirs. `[baseline]` sets it.
    pub freeze: Option<PathBuf>,
    /// Facts about the dataset for its card: title, licences, contact.
    pub card: Card,
}

impl Default for BfclDataset {
    fn default() -> Self {
        Self { id_prefix: "ts".to_owned(), freeze: None, card: Card::default() }
    }
}

impl KindSettings for BfclDataset {
    const NAME: &'static str = "bfcl";
    const SUMMARY: &'static str = "BFCL files and Parquet";

    fn check(&self) -> std::result::Result<(), String> {
        check_prefix(&self.id_prefix)
    }
}

impl Sink for BfclDataset {
    fn reads(&self) -> Vec<ColumnSpec> {
        vec![MESSAGES, EXTERNAL_ID, ANSWER, TIER, ANSWER_FROM, CATEGORY, FUNCTIONS]
    }

    fn baselines(&self) -> Vec<PathBuf> {
        self.freeze.iter().cloned().collect()
    }

    /// Checks that the evaluator could read the files of the earlier dataset.
    fn check(&self, _inputs: &[PathBuf]) -> Result<()> {
        let Some(path) = &self.freeze else { return Ok(()) };
        let frozen = FrozenDataset::open(path)?;
        for set in Set::ALL {
            for category in Category::ALL {
                frozen
                    .file(set, category)?
                    .number(category, &mut Ids::new(&self.id_prefix, set.id_mark()))?;
            }
        }
        Ok(())
    }

    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported> {
        let contract = Contract::of(TableId::Requests).reads(self.reads()).reads_if_there(passed_on());
        let view = View::new(from.corpus, &contract);
        let functions = view.parents(cx, |list| list.functions())?;
        let mut drafts = read_drafts(&view, cx)?;
        let lists = view.parent();
        drafts.sort_by_key(|draft| (lists.position(draft.list), view.position(draft.row)));
        assign_published_ids(&mut drafts, &functions, cx)?;
        let mut exported = Exported::default();
        let (scored, unverified): (Vec<Draft>, Vec<Draft>) = drafts.into_iter().partition(Draft::is_scored);
        let frozen = self.freeze.as_deref().map(FrozenDataset::open).transpose()?;
        let data = into.join("data");
        std::fs::create_dir_all(&data).at("making", &data)?;
        for (set, drafts) in [(Set::Scored, scored), (Set::Unverified, unverified)] {
            let folder = set.folder(into);
            let mut table = FrameWriter::create(&set.table(into));
            table.write(columns_of(&[], false))?;
            for category in Category::ALL {
                let of_category: Vec<&Draft> =
                    drafts.iter().filter(|draft| draft.category == category).collect();
                let frozen = match &frozen {
                    Some(frozen) => frozen.file(set, category)?,
                    None => FrozenFile::default(),
                };
                if of_category.is_empty() && frozen.is_empty() {
                    continue;
                }
                for group in frozen.rows.chunks(GROUP_ROWS) {
                    check_cancelled(cx)?;
                    table.write(columns_of(group, true))?;
                }
                exported.origins.extend(frozen.origins.iter().cloned());
                let mut ids = Ids::new(&self.id_prefix, set.id_mark());
                let entries: Vec<NewEntry<'_>> =
                    of_category.iter().map(|draft| draft.entry(&functions)).collect();
                let ids = write_files(&folder, category, &frozen, &mut ids, &entries, cx)?;
                exported.rows.extend(of_category.iter().map(|draft| draft.row));
                let heading = format!("{}/{}", set.name(), category.name());
                if !frozen.is_empty() {
                    exported.frozen.push((heading.clone(), frozen.rows.len() as u64));
                }
                if !ids.is_empty() {
                    exported.counts.push((heading, ids.len() as u64));
                }
                let origin = |(id, draft): (&String, &&Draft)| draft.origin(set, id, &view);
                exported.origins.extend(ids.iter().zip(&of_category).map(origin));
                let rows: Vec<(String, &Draft)> = ids.into_iter().zip(of_category).collect();
                for group in rows.chunks(GROUP_ROWS) {
                    check_cancelled(cx)?;
                    let cells = |(id, draft): &(String, &Draft)| {
                        check_cancelled(cx).map(|()| draft.cells(id, &functions))
                    };
                    let rows = group.par_iter().map(cells).collect::<Result<Vec<_>>>()?;
                    table.write(columns_of(&rows, false))?;
                }
            }
            table.finish()?;
        }
        Ok(exported)
    }
}

/// The functions of the kept lists.
type Functions<'a> = Parents<'a, Vec<Value>>;

/// Returns the functions of the list of a kept request.
fn functions_of<'a>(functions: &'a Functions<'_>, list: RowIx) -> &'a [Value] {
    functions.of_list(list).expect("the list of a kept request is kept")
}

/// A kept request with everything that the export writes.
struct Draft {
    row: RowIx,
    list: RowIx,
    request_id: String,
    published: PublishedIds,
    external_id: Option<String>,
    messages: Vec<Message>,
    category: Category,
    /// The answer; `None` in a category without answers.
    answer: Option<Vec<Value>>,
    tier: Option<String>,
    answer_from: Option<String>,
    /// The cells of the columns that are copied from the stages.
    passed_on: EntryCells,
}

impl Draft {
    /// Returns whether the entry can be scored: its answer is verified, or its category has no answers and its label is
    /// verified.
    fn is_scored(&self) -> bool {
        let tier = self.tier.as_deref();
        if self.category.has_answers() {
            tier.is_some_and(|tier| VERIFIED.contains(&tier))
        } else {
            // A judged label is based on the text alone.
            tier.is_none_or(|tier| tier == HUMAN)
        }
    }

    fn entry<'a>(&'a self, functions: &'a Functions<'_>) -> NewEntry<'a> {
        NewEntry {
            request_id: &self.request_id,
            messages: &self.messages,
            functions: functions_of(functions, self.list),
            ground_truth: self.answer.as_deref(),
            list: self.list,
        }
    }

    fn question(&self) -> String {
        let plain = |message: &Message| json!({"role": message.role, "content": message.content});
        json!([self.messages.iter().map(plain).collect::<Vec<_>>()]).to_string()
    }

    fn origin(&self, set: Set, id: &str, view: &View<'_>) -> EntryOrigin {
        EntryOrigin {
            set: set.name().to_owned(),
            id: id.to_owned(),
            published_id: Some(self.published.request_id.to_string()),
            request_id: Some(self.request_id.clone()),
            list_id: Some(view.parent().row_id(self.list).to_string()),
            answer_from: self.answer_from.clone(),
        }
    }

    fn cells(&self, id: &str, functions: &Functions<'_>) -> EntryCells {
        let question = self.question();
        let from = |request: &String| if *request == self.request_id { OWN_RECORD } else { EQUAL_RECORD };
        let own: [Option<String>; OWN.len()] = [
            Some(id.to_owned()),
            Some(self.category.name().to_owned()),
            Some(question),
            Some(json!(functions_of(functions, self.list)).to_string()),
            self.answer.as_ref().map(|answer| json!(answer).to_string()),
            self.tier.clone(),
            Some(self.published.request_id.to_string()),
            self.external_id.clone(),
            self.answer_from.as_ref().map(|request| from(request).to_owned()),
            Some(self.published.list_id.to_string()),
        ];
        own.into_iter().chain(self.passed_on.iter().cloned()).collect()
    }
}

/// The ids of a request and its doc list in the tables of the dataset.
#[derive(Debug, Clone, Copy)]
struct PublishedIds {
    request_id: RowId,
    list_id: RowId,
}

/// Assigns the published ids of every draft: hashes of the question and the functions in the dataset, not of the logged
/// text. Equal requests are numbered in their order.
///
/// # Errors
/// If the run is cancelled.
fn assign_published_ids(drafts: &mut [Draft], functions: &Functions<'_>, cx: &Context<'_>) -> Result<()> {
    let list_id = |(list, functions): (RowIx, &Vec<Value>)| {
        check_cancelled(cx).map(|()| (list, content_hash(json!(functions).to_string())))
    };
    let lists: Vec<(RowIx, &Vec<Value>)> = functions.iter().collect();
    let list_ids: FxHashMap<RowIx, u128> = lists.into_par_iter().map(list_id).collect::<Result<_>>()?;
    drafts.par_iter_mut().try_for_each(|draft| -> Result<()> {
        check_cancelled(cx)?;
        let list_id = list_ids[&draft.list];
        let mut text = draft.question();
        text.push_str(&RowId(list_id).to_string());
        draft.published = PublishedIds { request_id: RowId(content_hash(text)), list_id: RowId(list_id) };
        Ok(())
    })?;
    let mut occurrences: FxHashMap<RowId, u64> = FxHashMap::default();
    for draft in drafts {
        let id = draft.published.request_id;
        let occurrence = occurrences.entry(id).or_default();
        if *occurrence > 0 {
            draft.published.request_id = RowId(id_of_repeat(id.0, *occurrence));
        }
        *occurrence += 1;
    }
    Ok(())
}

/// Returns an error if the run is cancelled.
fn check_cancelled(cx: &Context<'_>) -> Result<()> {
    if cx.cancelled() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Reads the kept requests from both tables.
fn read_drafts(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<Draft>> {
    let passed_on = passed_on();
    let mut drafts = Vec::new();
    view.for_each_batch(cx, |batch| {
        for draft in batch.map_rows(|row| draft(row, view, &passed_on))? {
            drafts.push(draft.map_err(|request| {
                let what = format!("request {request} is kept but has no category or no answer");
                Error::Conservation { at: "export".to_owned(), what }
            })?);
        }
        Ok(())
    })?;
    Ok(drafts)
}

/// Reads one request. The error is the id of a request without a value that its category needs.
fn draft(row: Row<'_>, view: &View<'_>, passed_on: &[ColumnSpec]) -> std::result::Result<Draft, RowId> {
    let id = view.row_id(row.ix());
    let text = |column| row.text(column).map(str::to_owned);
    let category = row.text(CATEGORY).and_then(Category::from_name).ok_or(id)?;
    let has_answers = category.has_answers();
    let answer = row.answer().filter(|_| has_answers);
    let tier = text(TIER);
    if row.text(MESSAGES).is_none() || has_answers && (answer.is_none() || tier.is_none()) {
        return Err(id);
    }
    Ok(Draft {
        row: row.ix(),
        list: view.list_of(row.ix()),
        request_id: id.to_string(),
        published: PublishedIds { request_id: RowId(0), list_id: RowId(0) },
        external_id: text(EXTERNAL_ID),
        messages: row.messages(),
        category,
        answer,
        // Without an answer, only the label can have a tier.
        tier: tier.filter(|tier| has_answers || [HUMAN, JUDGED].contains(&tier.as_str())),
        answer_from: text(ANSWER_FROM).filter(|_| has_answers),
        passed_on: passed_on.iter().map(|&column| text(column)).collect(),
    })
}

/// Writes the files of one category: frozen lines unchanged, then the new entries. Returns the ids of the new entries.
fn write_files(
    folder: &Path,
    category: Category,
    frozen: &FrozenFile,
    ids: &mut Ids<'_>,
    entries: &[NewEntry<'_>],
    cx: &Context<'_>,
) -> Result<Vec<String>> {
    let create = |path: &Path| -> Result<BufWriter<File>> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).at("making", parent)?;
        }
        Ok(BufWriter::new(create_file(path)?))
    };
    let question_path = folder.join(category.file_name());
    let answer_path = category.answer_path().map(|path| folder.join(path));
    let mut questions = create(&question_path)?;
    let mut answers: Box<dyn std::io::Write> = match &answer_path {
        Some(path) => Box::new(create(path)?),
        None => Box::new(std::io::sink()),
    };
    frozen.number(category, ids)?;
    frozen.write(&mut questions, &mut *answers, !entries.is_empty()).at("writing", &question_path)?;
    let mut names = Vec::with_capacity(entries.len());
    for group in entries.chunks(LINES_AT_A_TIME) {
        check_cancelled(cx)?;
        let written = write_category(category, ids, group, &mut questions, &mut *answers);
        names.extend(written.at("writing", &question_path)?);
    }
    questions.flush().at("writing", &question_path)?;
    answers.flush().at("writing", answer_path.as_ref().unwrap_or(&question_path))?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::engine::context::Quiet;
    use crate::engine::frame::FrameFile;
    use crate::fixture;

    fn export(tables: &Value, into: &Path) -> Result<Exported> {
        let cancel = AtomicBool::new(false);
        let corpus = fixture::corpus(tables);
        let from = FinishedTables { run: into, inputs: &[], corpus: &corpus };
        BfclDataset::default().write(&from, into, &Context::new(1, &cancel, &Quiet))
    }

    fn request(list: usize, category: &str, rest: &Value) -> Value {
        let mut request =
            json!({"list": list, "category": category, "messages": [{"role": "user", "content": "Ring."}]});
        request.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        request
    }

    fn ids(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn entries_without_answers_are_scored_and_have_no_answer_file() {
        let folder = tempfile::tempdir().unwrap();
        let answered = |tier: &str| json!({"answer": [{"ring": {}}], "tier": tier, "language": "en"});
        let function = json!({"name": "ring", "description": "Rings.", "parameters": {}});
        let tables = json!({
            "doc_lists": [{"functions": [function]}, {"functions": []}],
            "requests": [
                request(0, "irrelevance", &json!({"category_basis": "low-quality", "relevance": "low-quality"})),
                request(1, "irrelevance", &json!({"category_basis": "judged-irrelevant", "answer": [{"ring": {}}], "tier": "recorded"})),
                request(0, "relevance", &json!({"category_basis": "open-text", "answer": [{"ring": {}}], "tier": "recorded"})),
                request(0, "simple", &answered("human")),
                request(0, "simple", &answered("recorded")),
            ],
        });
        let exported = export(&tables, folder.path()).unwrap();
        let count = |set: &str| exported.counts.iter().find(|(name, _)| name == set).map(|(_, n)| *n);
        assert_eq!(count("scored/irrelevance"), Some(2));
        assert_eq!(
            [count("scored/relevance"), count("scored/simple"), count("unverified/simple")],
            [Some(1); 3]
        );
        assert_eq!(exported.counts.len(), 4);
        let file = |category: Category| folder.path().join(category.file_name());
        assert_eq!(
            ids(&file(Category::Irrelevance)),
            ["live_irrelevance_0-ts0-0", "live_irrelevance_1-ts1-0"]
        );
        assert_eq!(ids(&file(Category::Relevance)), ["live_relevance_0-ts0-0"]);
        let answers = std::fs::read_dir(folder.path().join("possible_answer")).unwrap();
        let names: Vec<_> = answers.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["BFCL_v4_live_simple.json"]);
        let table =
            FrameFile::open(&folder.path().join("data/scored.parquet")).unwrap().read(0, 4, None).unwrap();
        let cell = |column: &str, at| table.texts(column).and_then(|texts| texts.get(at).map(str::to_owned));
        assert_eq!(cell("category", 0).as_deref(), Some("simple"));
        assert_eq!(cell("language", 0).as_deref(), Some("en"));
        assert_eq!(cell("category_basis", 2).as_deref(), Some("judged-irrelevant"));
        assert_eq!([cell("ground_truth", 2), cell("tier", 2)], [None, None]);
        assert_eq!(
            [cell("relevance", 1).as_deref(), cell("weight", 1).as_deref()],
            [Some("low-quality"), None]
        );
    }

    #[test]
    fn entries_with_judged_labels_are_unverified() {
        let folder = tempfile::tempdir().unwrap();
        let judged = json!({"category_basis": "judged-irrelevant", "tier": "judged"});
        let shown = json!({"category_basis": "judged-irrelevant"});
        let tables = json!({"requests": [
            request(0, "irrelevance", &judged),
            request(0, "irrelevance", &shown),
            request(0, "relevance", &json!({"category_basis": "open-text", "tier": "judged"})),
        ]});
        let exported = export(&tables, folder.path()).unwrap();
        let expected =
            [("scored/irrelevance", 1), ("unverified/irrelevance", 1), ("unverified/relevance", 1)];
        assert_eq!(exported.counts, expected.map(|(heading, n)| (heading.to_owned(), n)));
        let name = Category::Irrelevance.file_name();
        assert_eq!(ids(&folder.path().join(&name)), ["live_irrelevance_0-ts0-0"]);
        assert_eq!(ids(&folder.path().join("unverified").join(&name)), ["live_irrelevance_0-ts0-u0"]);
        assert!(!folder.path().join("unverified/possible_answer").exists());
        let table =
            FrameFile::open(&folder.path().join("data/unverified.parquet")).unwrap().read_all().unwrap();
        let tiers: Vec<_> = (0..2).map(|row| table.texts("tier").unwrap().get(row)).collect();
        assert_eq!(tiers, [Some("judged"), Some("judged")]);
    }

    #[test]
    fn the_export_checks_for_cancellation_at_every_row_and_stops_at_any_check() {
        const N_ROWS: u64 = 700;
        let request = |at: u64| {
            let rest = json!({"answer": [{"ring": {"times": [at]}}], "tier": if at.is_multiple_of(3) { "human" } else { "recorded" }});
            request(usize::from(at.is_multiple_of(2)), "simple", &rest)
        };
        let functions = json!([{"name": "ring", "description": "Rings.", "parameters": {}}]);
        let tables = json!({"doc_lists": [{"functions": functions}, {"functions": functions}],
            "requests": (0..N_ROWS).map(request).collect::<Vec<_>>()});
        let corpus = fixture::corpus(&tables);
        // With one thread, the number of checks is the same each time.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        fixture::assert_stops_wherever_it_is_asked_to("export", 3 * N_ROWS, |cancel| {
            let folder = tempfile::tempdir().unwrap();
            let cx = Context::new(1, cancel, &Quiet);
            let from = FinishedTables { run: folder.path(), inputs: &[], corpus: &corpus };
            pool.install(|| BfclDataset::default().write(&from, folder.path(), &cx).map(drop))
        });
    }

    #[test]
    fn a_missing_category_or_answer_is_an_error_that_names_the_request() {
        for rest in [json!({"tier": "human"}), json!({"answer": [{"ring": {}}]})] {
            let folder = tempfile::tempdir().unwrap();
            let tables = json!({"requests": [request(0, "simple", &rest)]});
            let error = export(&tables, folder.path()).unwrap_err().to_string();
            assert!(error.contains("is kept but has no category or no answer"), "{error}");
        }
    }
}
