//! Review files: a table of rows to decide on as JSON lines, CSV or Parquet.
//!
//! The columns are [`FIELDS`]. A table holds nested values as JSON text. A cell of a CSV file that a spreadsheet would take for
//! a formula is guarded; `decisions` removes the guard when it reads the file back.

use std::path::Path;

use serde_json::Value;

use super::row::WAS;
use super::{FIELDS, ReviewRow, ReviewTable};
use crate::decisions::is_blank_review;
use crate::engine::disk::{put_in_place, write_atomic};
use crate::engine::frame::{FrameWriter, Values};
use crate::engine::layout::temporary_path;
use crate::engine::vocabulary::TableId;
use crate::run::error::refuse;
use crate::run::{Error, check_output};
use crate::text::short::shortened;
use crate::text::spreadsheet::guarded;

/// Without this mark Excel reads a CSV file in the encoding of the system.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A format of a review file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReviewFormat {
    /// One JSON object per line.
    Jsonl,
    /// A table with a header; nested values are JSON text.
    Csv,
    /// The same table as Parquet.
    Parquet,
}

impl ReviewFormat {
    /// Returns the format that the extension of a file gives.
    ///
    /// # Errors
    /// The name has another extension, or none.
    pub fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().unwrap_or_default().to_ascii_lowercase().to_str() {
            Some("jsonl" | "json" | "ndjson") => Ok(Self::Jsonl),
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => refuse(format!(
                "{}: found a name that gives no format, expected .csv, .jsonl or .parquet\nhint: spreadsheets open .csv, e.g. --out {}; --format gives a format for any name",
                path.display(),
                path.with_extension("csv").display()
            )),
        }
    }
}

/// Checks that a review file can be written here: nothing is replaced except a review file in which no decision is filled
/// in, and no file of a run folder is written. [`ReviewTable::write`] checks it as well; call it first to fail early.
///
/// # Errors
/// The file is a folder, a device, another file, a review file with decisions, or in a run folder.
pub fn check_review_file(out: &Path) -> Result<(), Error> {
    check_output("--out", out, &[])?;
    let shown = out.display();
    let Ok(found) = std::fs::metadata(out) else { return Ok(()) };
    if found.is_dir() {
        return refuse(format!(
            "{shown}: this is a folder\nhint: name a file, e.g. --out {}",
            out.join("held.csv").display()
        ));
    }
    if !found.is_file() {
        return refuse(format!(
            "{shown}: this is no regular file\nhint: without --out the rows go to standard output"
        ));
    }
    match is_blank_review(out) {
        Ok(true) => Ok(()),
        Ok(false) => refuse(format!(
            "{shown}: the file exists and is not an unfilled review file\nhint: name a new file; `held` replaces only a review file in which no decision is filled in"
        )),
        Err(error) => refuse(format!("{shown}: the file exists and cannot be read: {error}")),
    }
}

impl ReviewTable {
    /// Returns the rows as JSON lines.
    pub fn jsonl(&self) -> String {
        self.rows.iter().map(json_line).collect()
    }

    /// Returns the rows as CSV with a header, without a byte order mark. The functions of a request are a line each: no
    /// decision reads them, and their JSON would be most of a file that people scroll through.
    pub fn csv(&self) -> String {
        let was = self.rows.iter().any(|row| row.was.is_some()).then_some(WAS);
        let rows = self.rows.iter().map(|row| {
            let in_short =
                (row.table == TableId::Requests.name()).then(|| in_short(&row.functions)).flatten();
            let cells = cells(row).zip(FIELDS).map(|(cell, field)| match &in_short {
                Some(lines) if field == "functions" => guarded(lines).into_owned(),
                _ => guarded(&cell.unwrap_or_default()).into_owned(),
            });
            cells.chain(was.map(|_| row.was.clone().unwrap_or_default())).collect::<Vec<_>>()
        });
        let header = FIELDS.into_iter().chain(was).map(str::to_owned).collect();
        csv_of(std::iter::once(header).chain(rows))
    }

    /// Returns the rows as a CSV file: [`csv`](Self::csv) with the mark that spreadsheets need.
    pub fn csv_file(&self) -> String {
        format!("{BYTE_ORDER_MARK}{}", self.csv())
    }

    /// Writes the rows to a review file; see [`check_review_file`] for the files that are replaced.
    ///
    /// # Errors
    /// The file would replace another one, or cannot be written.
    pub fn write(&self, out: &Path, format: ReviewFormat) -> Result<(), Error> {
        check_review_file(out)?;
        match format {
            ReviewFormat::Jsonl => write_atomic(out, self.jsonl().as_bytes())?,
            ReviewFormat::Csv => write_atomic(out, self.csv_file().as_bytes())?,
            ReviewFormat::Parquet => self.write_parquet(out)?,
        }
        Ok(())
    }

    fn write_parquet(&self, out: &Path) -> Result<(), Error> {
        let rows: Vec<Vec<Option<String>>> = self.rows.iter().map(|row| cells(row).collect()).collect();
        let temporary = temporary_path(out);
        let mut writer = FrameWriter::create(&temporary);
        let columns = FIELDS
            .iter()
            .enumerate()
            .map(|(at, &field)| (field, Values::Text(rows.iter().map(|row| row[at].as_deref()).collect())));
        writer.write(columns.collect())?;
        writer.finish()?;
        Ok(put_in_place(&temporary, out)?)
    }
}

/// The most characters of the description of a function in CSV.
const DESCRIPTION_CHARS: usize = 160;
/// The most values of an enum in CSV.
const MOST_VALUES: usize = 12;

/// Returns functions as a line each: `name(required*: type, other: type [value, value]): description`. `None` if they are
/// no list.
fn in_short(functions: &Value) -> Option<String> {
    let parameter = |(name, schema): (&String, &Value), required: &Value| {
        let is_required = required.as_array().is_some_and(|names| names.iter().any(|it| it == name));
        let star = if is_required { "*" } else { "" };
        let values: Vec<String> =
            schema["enum"].as_array().into_iter().flatten().map(Value::to_string).collect();
        let more = if values.len() > MOST_VALUES { ", …" } else { "" };
        let values = match &values[..values.len().min(MOST_VALUES)] {
            [] => String::new(),
            values => format!(" [{}{more}]", values.join(", ")),
        };
        format!("{name}{star}: {}{values}", schema["type"].as_str().unwrap_or_default())
    };
    let line = |function: &Value| {
        let (properties, required) =
            (&function["parameters"]["properties"], &function["parameters"]["required"]);
        let parameters = properties.as_object().into_iter().flatten();
        let parameters: Vec<String> = parameters.map(|it| parameter(it, required)).collect();
        let description = function["description"].as_str().unwrap_or_default();
        format!(
            "{}({}): {}",
            function["name"].as_str().unwrap_or_default(),
            parameters.join(", "),
            shortened(&description.split_whitespace().collect::<Vec<_>>().join(" "), DESCRIPTION_CHARS)
        )
    };
    Some(functions.as_array()?.iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn json_line(row: &ReviewRow) -> String {
    serde_json::to_string(row).expect("a row has texts, numbers and JSON") + "\n"
}

fn csv_of(rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cells in rows {
        writer.write_record(cells).expect("all rows have the same columns, and memory takes any bytes");
    }
    let bytes = writer.into_inner().expect("memory takes any bytes");
    String::from_utf8(bytes).expect("cells are text")
}

/// The cells of a row as text, in the order of [`FIELDS`]; a null is no text.
fn cells(row: &ReviewRow) -> impl Iterator<Item = Option<String>> + use<> {
    let object = serde_json::to_value(row).expect("a row has texts, numbers and JSON");
    FIELDS.into_iter().map(move |field| match &object[field] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decisions::read;

    fn table(decision: &str) -> ReviewTable {
        let row = |id: &str| ReviewRow {
            decision: decision.to_owned(),
            id: id.repeat(32),
            table: "requests",
            question: Some("=Ring \"noon\", twice".to_owned()),
            functions: json!([{"name": "ring"}]),
            ..ReviewRow::default()
        };
        ReviewTable { rows: vec![row("a"), row("b")], waiting_lists: 0 }
    }

    #[test]
    fn every_format_has_all_rows_and_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.csv", "a.parquet"] {
            let path = folder.path().join(name);
            table("keep").write(&path, ReviewFormat::of(&path).unwrap()).unwrap();
            assert_eq!(read(&path).unwrap().all.len(), 2, "{name}");
        }
        let csv = table("").csv();
        let row = csv.lines().nth(1).unwrap();
        assert!(row.contains(r#","'=Ring ""noon"", twice",ring(): ,"#), "{row}");
    }

    #[test]
    fn functions_are_a_line_each_in_csv_and_the_text_of_a_list_is_kept() {
        let ring = json!({"name": "ring", "description": "Rings\na bell.", "parameters": {"type": "dict", "required": ["bell"],
            "properties": {"bell": {"type": "string", "enum": ["noon", "dusk"]}, "times": {"type": "integer"}}}});
        let lines = in_short(&json!([ring, {"name": "now"}])).unwrap();
        assert_eq!(lines, "ring(bell*: string [\"noon\", \"dusk\"], times: integer): Rings a bell.\nnow(): ");
        assert_eq!(in_short(&json!("no list")), None);
        let row =
            ReviewRow { table: "doc_lists", functions: json!([{"name": "now"}]), ..ReviewRow::default() };
        let table = ReviewTable { rows: vec![row], waiting_lists: 0 };
        assert!(table.csv().contains(r#""[{""name"":""now""}]""#), "an edit reads the functions of a list");
    }

    #[test]
    fn only_a_file_without_decisions_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        table("").write(&path, ReviewFormat::Csv).unwrap();
        table("keep").write(&path, ReviewFormat::Csv).unwrap();
        let refused = table("").write(&path, ReviewFormat::Csv).unwrap_err().to_string();
        assert!(refused.contains("not an unfilled review file"), "{refused}");
        let refused = table("").write(folder.path(), ReviewFormat::Csv).unwrap_err().to_string();
        assert!(refused.contains("this is a folder"), "{refused}");
    }
}
