//! Links: findings of a stage about a row that are neither a fate nor a cell.
//!
//! A link names a record of a collection outside the run (a public set, a benchmark) that an object of the row is near
//! to, with method and score. It never quotes that record: the licence of a set may forbid it, and the row's own text
//! is in its cell. Kept rows have links just as dropped ones do.
//!
//! A stage whose contract allows links writes `links.parquet` in its delta, by row number. Links decide nothing, so no
//! run reads them back: the ledger's writer collects them in one `links.parquet` of the run, by id.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::context::Cancelled;
use super::corpus::{Corpus, IdDigits, RowId};
use super::delta::{GROUP_ROWS, table_of};
use super::error::{Error, Result, damaged};
use super::frame::{Columns, Frame, FrameFile, FrameWriter, Values};
use super::instance::StageInstance;
use super::layout::{LINKS, step_name};
use super::link::{Link, Span};
use super::vocabulary::{RowIx, TableId};

/// A link as stored in a run folder. Equal texts of many links are in memory once.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredLink {
    /// The row's table.
    pub table: TableId,
    /// The row.
    pub row: RowIx,
    /// See [`Link::object`].
    pub object: Arc<str>,
    /// See [`Link::set`].
    pub set: Arc<str>,
    /// See [`Link::record`].
    pub record: Arc<str>,
    /// See [`Link::method`].
    pub method: Arc<str>,
    /// See [`Link::score`].
    pub score: f64,
    /// See [`Link::verdict`].
    pub verdict: Option<Arc<str>>,
    /// JSON list of [`Span`]: places in the row's own cells.
    pub spans: Arc<str>,
    /// The same: places in the record.
    pub record_spans: Arc<str>,
    /// The number of records that the link stands for; 1 without a group.
    pub n_records: u32,
    /// JSON list of [`RecordName`](super::link::RecordName): some of them; `None` without a group.
    pub examples: Option<Arc<str>>,
}

/// Texts of links; equal ones are in memory once.
#[derive(Debug, Default)]
pub(super) struct LinkTexts(FxHashSet<Arc<str>>);

impl LinkTexts {
    pub(super) fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }

    /// Returns a link of a row in the form in which it is stored.
    pub(super) fn stored(&mut self, table: TableId, row: RowIx, link: &Link) -> StoredLink {
        let mut spans = |spans: &[Span]| {
            let text = serde_json::to_string(spans).expect("places are texts and numbers");
            self.shared(&text)
        };
        let (own, of_record) = (spans(&link.spans), spans(&link.record_spans));
        let examples = link.group.as_ref().map(|group| {
            let text = serde_json::to_string(&*group.examples).expect("names are texts");
            self.shared(&text)
        });
        StoredLink {
            table,
            row,
            object: self.shared(link.object),
            set: self.shared(&link.set),
            record: self.shared(&link.record),
            method: self.shared(&link.method),
            score: link.score,
            verdict: link.verdict.map(|verdict| self.shared(verdict)),
            spans: own,
            record_spans: of_record,
            n_records: link.group.as_ref().map_or(1, |group| group.n_records),
            examples,
        }
    }
}

/// Writes the links of a stage.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_links(path: &Path, links: &[StoredLink]) -> Result<()> {
    let mut writer = FrameWriter::create(path);
    if links.is_empty() {
        write_group(&mut writer, links)?;
    }
    for group in links.chunks(GROUP_ROWS) {
        write_group(&mut writer, group)?;
    }
    writer.finish().map(drop)
}

fn write_group(writer: &mut FrameWriter, links: &[StoredLink]) -> Result<()> {
    let mut columns = vec![
        ("table", texts(links, |link| link.table.name())),
        ("row", Values::U32(links.iter().map(|link| link.row).collect())),
    ];
    columns.extend(of_records(links));
    writer.write(columns)
}

/// Returns a column of texts.
fn texts(links: &[StoredLink], get: fn(&StoredLink) -> &str) -> Values<'_> {
    Values::Text(links.iter().map(|link| Some(get(link))).collect())
}

/// Returns the columns about the records that rows are near to.
fn of_records(links: &[StoredLink]) -> Columns<'_> {
    vec![
        ("object", texts(links, |link| &link.object)),
        ("set", texts(links, |link| &link.set)),
        ("record", texts(links, |link| &link.record)),
        ("method", texts(links, |link| &link.method)),
        ("score", Values::Float(links.iter().map(|link| Some(link.score)).collect())),
        ("verdict", Values::Text(links.iter().map(|link| link.verdict.as_deref()).collect())),
        ("spans", texts(links, |link| &link.spans)),
        ("record_spans", texts(links, |link| &link.record_spans)),
        ("n_records", Values::U32(links.iter().map(|link| link.n_records).collect())),
        ("examples", Values::Text(links.iter().map(|link| link.examples.as_deref()).collect())),
    ]
}

/// Reads the links of a stage, in the order of its file: by row.
///
/// # Errors
/// The file is damaged.
#[cfg(test)]
fn read_links(path: &Path) -> Result<Vec<StoredLink>> {
    read_links_unless(path, &|| false)
}

fn read_links_unless(path: &Path, cancelled: Cancelled<'_>) -> Result<Vec<StoredLink>> {
    let file = FrameFile::open(path)?;
    let (mut known, mut links) = (LinkTexts::default(), Vec::new());
    for start in (0..file.height()).step_by(GROUP_ROWS) {
        if cancelled() {
            return Err(Error::Interrupted);
        }
        let frame = file.read(start, GROUP_ROWS.min(file.height() - start), None)?;
        read_group(&frame, path, &mut known, &mut links)?;
    }
    Ok(links)
}

fn read_group(frame: &Frame, path: &Path, known: &mut LinkTexts, links: &mut Vec<StoredLink>) -> Result<()> {
    let mut text = |name: &str, at: usize| Some(known.shared(frame.texts(name)?.get(at)?));
    let n_records = frame.u32s("n_records");
    let mut read = |at: usize| {
        Some(StoredLink {
            table: table_of(&text("table", at)?)?,
            row: frame.u32s("row")?.get(at)?,
            object: text("object", at)?,
            set: text("set", at)?,
            record: text("record", at)?,
            method: text("method", at)?,
            score: frame.float("score", at)?,
            verdict: text("verdict", at),
            spans: text("spans", at)?,
            record_spans: text("record_spans", at)?,
            // A build without groups wrote neither.
            n_records: n_records.as_ref().and_then(|numbers| numbers.get(at)).unwrap_or(1),
            examples: text("examples", at),
        })
    };
    for at in 0..frame.height() {
        links.push(read(at).ok_or_else(|| damaged(path, format!("row {at} is not a link")))?);
    }
    Ok(())
}

/// Returns the links of one stage for the `wanted` rows, in canonical order; none if its contract allows none, or if a
/// build without links ran it.
///
/// # Errors
/// The run folder is damaged.
pub fn of_stage(
    run: &Path,
    at: usize,
    stage: &StageInstance,
    corpus: &Corpus,
    wanted: impl Fn(TableId, RowIx) -> bool,
) -> Result<Vec<StoredLink>> {
    of_stage_unless(run, at, stage, corpus, wanted, &|| false)
}

/// Returns the same, unless the user asks to stop.
///
/// # Errors
/// As [`of_stage`].
pub fn of_stage_unless(
    run: &Path,
    at: usize,
    stage: &StageInstance,
    corpus: &Corpus,
    wanted: impl Fn(TableId, RowIx) -> bool,
    cancelled: Cancelled<'_>,
) -> Result<Vec<StoredLink>> {
    let path = run.join("stages").join(step_name(at, &stage.id)).join(LINKS);
    if !stage.stage.contract().links || !path.exists() {
        return Ok(Vec::new());
    }
    let mut links = read_links_unless(&path, cancelled)?;
    if let Some(stray) = links.iter().find(|link| link.row as usize >= corpus.table(link.table).len()) {
        return Err(damaged(&path, format!("a link of row {}, which does not exist", stray.row)));
    }
    links.retain(|link| wanted(link.table, link.row));
    links.sort_by_key(|link| (link.table, corpus.table(link.table).position(link.row)));
    Ok(links)
}

/// Writes the links of all stages into one table: by stage, then in canonical order of the rows.
pub(super) fn fold(
    run: &Path,
    stages: &[StageInstance],
    corpus: &Corpus,
    writer: &mut FrameWriter,
    cancelled: Cancelled<'_>,
) -> Result<()> {
    write_fold(writer, "", corpus, &[])?;
    for (at, stage) in stages.iter().enumerate() {
        let links = of_stage_unless(run, at, stage, corpus, |_, _| true, cancelled)?;
        for group in links.chunks(GROUP_ROWS) {
            if cancelled() {
                return Err(Error::Interrupted);
            }
            write_fold(writer, &stage.id, corpus, group)?;
        }
    }
    Ok(())
}

fn write_fold(writer: &mut FrameWriter, stage: &str, corpus: &Corpus, links: &[StoredLink]) -> Result<()> {
    let id = |link: &StoredLink| RowId::digits(corpus.table(link.table).row_id(link.row));
    let ids: Vec<IdDigits> = links.iter().map(id).collect();
    let mut columns = vec![
        ("table_name", texts(links, |link| link.table.name())),
        ("row_id", Values::Text(ids.iter().map(|id| Some(id.as_str())).collect())),
        ("stage", Values::Text(vec![Some(stage); links.len()])),
    ];
    columns.extend(of_records(links));
    writer.write(columns)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::background_writer::BackgroundWriter;
    use super::super::contract::Contract;
    use super::super::verdict::{Delta, Verdict};
    use super::*;
    use crate::columns::FUNCTIONS;
    use crate::fixture;

    fn link(record: &str, score: f64) -> Link {
        let (object, set, method) = ("function", "a-set".to_owned(), "rouge-l-f1".to_owned());
        let spans = vec![
            Span::value(FUNCTIONS, "/0"),
            Span { bytes: Some((3, 9)), ..Span::value(FUNCTIONS, "/1/name") },
        ];
        let record_spans = vec![Span { bytes: Some((0, 4)), ..Span::value(FUNCTIONS, "/2") }];
        Link {
            object,
            set,
            record: record.to_owned(),
            method,
            score,
            verdict: Some("suspect"),
            spans,
            record_spans,
            group: None,
        }
    }

    /// Returns the delta of a verdict on two doc lists.
    fn verdict(links: bool, say: impl FnOnce(&mut Verdict<'_>) -> Result<()>) -> Result<Delta> {
        let folder = tempfile::tempdir().unwrap();
        let corpus = fixture::corpus(&json!({"doc_lists": [{"functions": []}, {"functions": []}]}));
        let contract = Contract { links, ..Contract::of(TableId::DocLists) };
        let background_writer = BackgroundWriter::new(usize::MAX);
        let mut verdict = Verdict::new(
            "test",
            &contract,
            &corpus.lists,
            &folder.path().join("columns.parquet"),
            &background_writer,
        );
        say(&mut verdict)?;
        verdict.finish()
    }

    #[test]
    fn links_read_back_by_row_and_in_the_order_in_which_they_were_made() {
        let delta = verdict(true, |out| {
            out.link(1, &link("b", 0.5))?;
            out.link(0, &link("c", 1.0))?;
            out.link(1, &link("a", 0.9))
        });
        let links = delta.unwrap().links;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LINKS);
        write_links(&path, &links).unwrap();
        let read = read_links(&path).unwrap();
        let found: Vec<(RowIx, &str, f64)> =
            read.iter().map(|link| (link.row, &*link.record, link.score)).collect();
        assert_eq!(found, [(0, "c", 1.0), (1, "b", 0.5), (1, "a", 0.9)]);
        assert!(read.iter().all(|link| link.table == TableId::DocLists && &*link.set == "a-set"));
        let spans =
            r#"[{"column":"functions","path":"/0"},{"column":"functions","path":"/1/name","bytes":[3,9]}]"#;
        assert_eq!(&*read[0].spans, spans);
        assert_eq!(read[0].verdict.as_deref(), Some("suspect"));
        assert_eq!(&*read[0].record_spans, r#"[{"column":"functions","path":"/2","bytes":[0,4]}]"#);
        write_links(&path, &[]).unwrap();
        assert_eq!(read_links(&path).unwrap(), []);
    }

    #[test]
    fn a_link_that_the_contract_or_the_table_does_not_allow_is_refused() {
        let refused = |links, row, score| {
            let error = verdict(links, |out| out.link(row, &link("a", score))).unwrap_err();
            assert!(matches!(error, Error::Verdict { .. }) && error.is_bug());
            error.to_string()
        };
        assert_eq!(refused(false, 0, 0.9), "stage test: a link is not in its contract");
        assert_eq!(refused(true, 2, 0.9), "stage test: row 2 does not exist");
        assert_eq!(refused(true, 0, f64::NAN), "stage test: a link of row 0 with the score NaN");
        assert!(verdict(true, |out| out.link(1, &link("a", 0.9))).is_ok());
    }
}
