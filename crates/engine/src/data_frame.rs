//! Tables of a run as data frames of polars, in a build with the feature `polars`.
//!
//! A table is a Parquet file; [`tables`] lists those of a run folder and [`read`] reads one. Cells have the types of the
//! file: text, 64-bit numbers, row numbers, yes and no. The version of polars is re-exported, because a data frame of another
//! version is another type.

use std::path::{Path, PathBuf};

pub use polars;
use polars::prelude::{Column, DataFrame, NamedFrom as _, Series};

use super::error::{At, Result};
use super::frame::{FrameFile, Values};

/// Returns the tables of a run folder, as paths in it with `/`, in alphabetical order. The raw tables of `ingest/`, which
/// have personal data, are among them.
///
/// # Errors
/// A folder cannot be read.
pub fn tables(run: &Path) -> Result<Vec<String>> {
    let (mut tables, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let path = run.join(&folder);
        for entry in std::fs::read_dir(&path).at("reading", &path)? {
            let entry = entry.at("reading", &path)?;
            let name = folder.join(entry.file_name());
            if entry.file_type().at("reading", &path)?.is_dir() {
                folders.push(name);
            } else if name.extension().is_some_and(|ending| ending == "parquet") {
                let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
                tables.push(parts.join("/"));
            }
        }
    }
    tables.sort_unstable();
    Ok(tables)
}

/// Reads a table as a data frame.
///
/// # Errors
/// The file cannot be read, is no Parquet file, or has a column of a type that no table of a run has.
pub fn read(table: &Path) -> Result<DataFrame> {
    let frame = FrameFile::open(table)?.read_all()?;
    let columns = frame.columns(table)?.into_iter().map(|(name, values)| column(name, values)).collect();
    DataFrame::new(frame.height(), columns).map_err(|error| super::error::damaged(table, error))
}

fn column(name: &str, values: Values<'_>) -> Column {
    let name = name.into();
    match values {
        Values::Text(values) => Series::new(name, values),
        Values::Int(values) => Series::new(name, values),
        Values::Float(values) => Series::new(name, values),
        Values::U32(values) => Series::new(name, values),
        Values::Bool(values) => Series::new(name, values),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use polars::prelude::{AnyValue, DataType};

    use super::*;
    use crate::frame::write_frame;

    #[test]
    fn a_data_frame_has_the_names_types_nulls_and_values_of_its_table() {
        let run = tempfile::tempdir().unwrap();
        std::fs::create_dir(run.path().join("ingest")).unwrap();
        let table = run.path().join("ingest/requests.parquet");
        let columns = vec![
            ("query", Values::Text(vec![Some("a text of more than twelve bytes"), None, Some("")])),
            ("n_turns", Values::Int(vec![Some(-1), None, Some(i64::MAX)])),
            ("score", Values::Float(vec![Some(0.5), None, Some(-0.0)])),
            ("row", Values::U32(vec![0, 1, u32::MAX])),
            ("frozen", Values::Bool(vec![true, false, true])),
        ];
        write_frame(&table, columns).unwrap();
        write_frame(&run.path().join("rows.parquet"), vec![("row", Values::U32(vec![]))]).unwrap();
        std::fs::write(run.path().join("report.json"), "{}").unwrap();
        assert_eq!(tables(run.path()).unwrap(), ["ingest/requests.parquet", "rows.parquet"]);
        let frame = read(&table).unwrap();
        let types =
            [DataType::String, DataType::Int64, DataType::Float64, DataType::UInt32, DataType::Boolean];
        let names = ["query", "n_turns", "score", "row", "frozen"];
        assert_eq!(frame.dtypes(), types);
        let found: Vec<&str> =
            frame.get_column_names().into_iter().map(polars::prelude::PlSmallStr::as_str).collect();
        assert_eq!(found, names);
        let cell = |name: &str, row: usize| frame.column(name).unwrap().get(row).unwrap().into_static();
        assert_eq!(cell("query", 0), AnyValue::from("a text of more than twelve bytes").into_static());
        assert!(names[..3].iter().all(|name| cell(name, 1) == AnyValue::Null));
        assert_eq!(
            (cell("n_turns", 2), cell("row", 2)),
            (AnyValue::Int64(i64::MAX), AnyValue::UInt32(u32::MAX))
        );
        assert_eq!(read(&run.path().join("rows.parquet")).unwrap().shape(), (0, 1));
        assert!(read(&run.path().join("report.json")).is_err());
    }
}
