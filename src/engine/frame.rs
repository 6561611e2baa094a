//! Writes and reads Parquet files with polars. Only `engine` uses polars directly.
//!
//! Each batch passed to [`FrameWriter`] becomes one row group, so a reader of the same range decodes nothing else.
//! Batches that a [`BackgroundWriter`] writes may stay in memory and are then not read back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polars::io::parquet::write::{BatchedWriter, KeyValueMetadata};
use polars::prelude::{
    AnyValue, ArrowDataType, ArrowField, Column, DataFrame, DataType, Field, Float64Chunked, Int64Chunked,
    NamedFrom, ParquetCompression, ParquetReader, ParquetWriter, PlSmallStr, Schema, SerReader, Series,
    StatisticsOptions, StringChunked, UInt32Chunked,
};

use polars_parquet::write::{ZstdLevel, schema_to_metadata_key};

use super::background_writer::BackgroundWriter;
use super::disk::{create, create_private};
use super::error::{At, Result, damaged};

/// Values of one column, to be written.
#[derive(Debug)]
pub enum Values<'a> {
    /// Text; `None` is null.
    Text(Vec<Option<&'a str>>),
    /// Whole numbers; `None` is null.
    Int(Vec<Option<i64>>),
    /// Numbers; `None` is null.
    Float(Vec<Option<f64>>),
    /// Row numbers and counts.
    U32(Vec<u32>),
}

impl Values<'_> {
    fn data_type(&self) -> DataType {
        match self {
            Self::Text(_) => DataType::String,
            Self::Int(_) => DataType::Int64,
            Self::Float(_) => DataType::Float64,
            Self::U32(_) => DataType::UInt32,
        }
    }

    /// Returns the Arrow type of the column for readers of the file.
    fn arrow_type(&self) -> ArrowDataType {
        match self {
            Self::Text(_) => ArrowDataType::Utf8,
            Self::Int(_) => ArrowDataType::Int64,
            Self::Float(_) => ArrowDataType::Float64,
            Self::U32(_) => ArrowDataType::UInt32,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::U32(values) => values.len(),
        }
    }

    fn into_column(self, name: &str) -> Column {
        let name = name.into();
        match self {
            Self::Text(values) => Series::new(name, values),
            Self::Int(values) => Series::new(name, values),
            Self::Float(values) => Series::new(name, values),
            Self::U32(values) => Series::new(name, values),
        }
        .into()
    }
}

/// Named columns of equal length.
pub type Columns<'a> = Vec<(&'a str, Values<'a>)>;

fn data_frame(columns: Columns<'_>) -> polars::error::PolarsResult<DataFrame> {
    let height = columns.first().map_or(0, |(_, values)| values.len());
    DataFrame::new(height, columns.into_iter().map(|(name, values)| values.into_column(name)).collect())
}

/// Returns the Arrow schema of the footer, with plain `string` for text. Polars would write `string_view`, which
/// pyarrow before 15 and `datasets` before 4 refuse. The data pages are the same for both.
fn arrow_schema(columns: &Columns<'_>) -> KeyValueMetadata {
    let field = |(name, values): &(&str, Values<'_>)| {
        let name = PlSmallStr::from(*name);
        (name.clone(), ArrowField::new(name, values.arrow_type(), true))
    };
    KeyValueMetadata::Static(vec![schema_to_metadata_key(&columns.iter().map(field).collect())])
}

/// A writer of batches of columns into one Parquet file, one row group each.
pub struct FrameWriter {
    path: PathBuf,
    is_private: bool,
    is_held: bool,
    background_writer: Option<BackgroundWriter>,
    writer: Option<Arc<Mutex<BatchedWriter<BufWriter<File>>>>>,
    height: usize,
    held: BTreeMap<usize, Frame>,
}

impl FrameWriter {
    /// Starts a file; the first batch determines its columns.
    pub fn create(path: &Path) -> Self {
        let path = path.to_owned();
        let (is_private, is_held, background_writer, writer) = (false, false, None, None);
        Self { path, is_private, is_held, background_writer, writer, height: 0, held: BTreeMap::new() }
    }

    /// Starts a file that only its owner may read.
    pub fn create_private(path: &Path) -> Self {
        Self { is_private: true, ..Self::create(path) }
    }

    /// Writes with a background writer.
    #[must_use]
    pub fn by(mut self, background_writer: &BackgroundWriter) -> Self {
        self.background_writer = Some(background_writer.clone());
        self
    }

    /// Writes with a background writer, which keeps batches in memory up to its limit.
    #[must_use]
    pub fn held_by(self, background_writer: &BackgroundWriter) -> Self {
        Self { is_held: true, ..self.by(background_writer) }
    }

    /// Writes one row group. An empty batch only determines the columns.
    ///
    /// # Errors
    /// The file cannot be written; with a background writer, this batch or an earlier one.
    pub fn write(&mut self, columns: Columns<'_>) -> Result<()> {
        let writer = match &self.writer {
            Some(writer) => Arc::clone(writer),
            None => Arc::clone(self.writer.insert(Arc::new(Mutex::new(self.started(&columns)?)))),
        };
        let frame = data_frame(columns).at(WRITING, &self.path)?;
        let start = self.height;
        self.height += frame.height();
        let Some(background_writer) = &self.background_writer else {
            return write_batch(&writer, &frame, &self.path);
        };
        if self.is_held && background_writer.takes(frame.estimated_size()) {
            self.held.insert(start, Frame(frame.clone()));
        }
        let path = self.path.clone();
        background_writer.push(move || write_batch(&writer, &frame, &path))
    }

    fn started(&self, columns: &Columns<'_>) -> Result<BatchedWriter<BufWriter<File>>> {
        let fields = columns.iter().map(|(name, values)| Field::new((*name).into(), values.data_type()));
        let file = if self.is_private { create_private(&self.path)? } else { create(&self.path)? };
        let level = ZstdLevel::try_new(ZSTD_LEVEL).at(WRITING, &self.path)?;
        ParquetWriter::new(BufWriter::new(file))
            .with_compression(ParquetCompression::Zstd(Some(level)))
            .with_statistics(StatisticsOptions::empty())
            .with_key_value_metadata(Some(arrow_schema(columns)))
            .batched(&fields.collect::<Schema>())
            .at(WRITING, &self.path)
    }

    /// Ends the file. Returns the batches that are still in memory. With a background writer, the file is complete when
    /// the writer has finished.
    ///
    /// # Errors
    /// As [`FrameWriter::write`].
    pub fn finish(self) -> Result<Held> {
        let Self { path, background_writer, writer, height, held, .. } = self;
        if let Some(writer) = writer {
            let finish = move || locked(&writer).finish().at(WRITING, &path).map(drop);
            match background_writer {
                Some(background_writer) => background_writer.push(finish)?,
                None => finish()?,
            }
        }
        Ok(Held { height, frames: Arc::new(held) })
    }
}

const WRITING: &str = "writing";
/// The compression level of zstd. A run folder is a tenth larger than at the usual level 3, and a run a few percent
/// faster.
const ZSTD_LEVEL: i32 = 1;

fn write_batch(writer: &Mutex<BatchedWriter<BufWriter<File>>>, frame: &DataFrame, path: &Path) -> Result<()> {
    locked(writer).write_batch(frame).at(WRITING, path)
}

fn locked<T>(writer: &Mutex<T>) -> MutexGuard<'_, T> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The batches of a file that are still in memory, by their first row.
#[derive(Debug, Clone, Default)]
pub struct Held {
    height: usize,
    frames: Arc<BTreeMap<usize, Frame>>,
}

impl Held {
    /// Returns one batch in memory.
    pub fn of(frame: Frame) -> Self {
        Self { height: frame.height(), frames: Arc::new(BTreeMap::from([(0, frame)])) }
    }

    /// Returns `true` if all batches of the file are in memory.
    pub fn is_whole(&self) -> bool {
        self.height == self.frames.values().map(Frame::height).sum::<usize>()
    }

    /// Returns the batch of these rows.
    pub(super) fn batch(&self, start: usize, length: usize) -> Option<&Frame> {
        self.frames.get(&start).filter(|frame| frame.height() == length)
    }
}

/// Writes one batch as a whole file.
///
/// # Errors
/// The file cannot be written.
pub fn write_frame(path: &Path, columns: Columns<'_>) -> Result<()> {
    let mut writer = FrameWriter::create(path);
    writer.write(columns)?;
    writer.finish().map(drop)
}

/// Columns of a batch; cells are accessed by row number within the frame.
#[derive(Debug, Clone)]
pub struct Frame(DataFrame);

impl Frame {
    /// Returns a frame of these columns.
    ///
    /// # Errors
    /// The columns differ in length.
    pub fn from_columns(columns: Columns<'_>) -> Result<Self> {
        data_frame(columns).at("building", Path::new("memory")).map(Self)
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.0.height()
    }

    /// Returns a column of text; `None` if there is no such column or it has another type.
    pub fn texts(&self, name: &str) -> Option<Texts<'_>> {
        self.0.column(name).ok()?.str().ok().map(Texts)
    }

    /// Returns an owned column; `None` if there is no such column or it has a type that [`Values`] does not support.
    pub(super) fn cells(&self, name: &str) -> Option<ColumnCells> {
        let column = self.0.column(name).ok()?;
        match column.dtype() {
            DataType::String => column.str().ok().cloned().map(ColumnCells::Text),
            DataType::Int64 => column.i64().ok().cloned().map(ColumnCells::Int),
            DataType::Float64 => column.f64().ok().cloned().map(ColumnCells::Float),
            DataType::UInt32 => column.u32().ok().cloned().map(ColumnCells::U32),
            _ => None,
        }
    }

    /// Returns a column of whole numbers.
    pub fn ints(&self, name: &str) -> Option<Ints<'_>> {
        self.0.column(name).ok()?.i64().ok().map(Ints)
    }

    /// Returns a cell of a column of numbers.
    pub fn float(&self, name: &str, row: usize) -> Option<f64> {
        self.0.column(name).ok()?.f64().ok()?.get(row)
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.columns().iter().map(|column| column.name().as_str())
    }

    /// Returns a column of row numbers.
    pub fn u32s(&self, name: &str) -> Option<U32s<'_>> {
        self.0.column(name).ok()?.u32().ok().map(U32s)
    }

    /// Returns all columns with their cells, in the order of the file; only types of [`Values`] are supported.
    pub(crate) fn columns(&self, path: &Path) -> Result<Columns<'_>> {
        let mut columns = Vec::new();
        for column in self.0.columns() {
            let Some(values) = values_of(column).at("reading", path)? else {
                let what = format!("column {} has a type that toolsieve does not write", column.name());
                return Err(damaged(path, what));
            };
            columns.push((column.name().as_str(), values));
        }
        Ok(columns)
    }

    /// Returns a row as JSON; only types of [`Values`] are supported. Use `foreign` for files of other programs.
    pub fn row_json(&self, row: usize) -> serde_json::Map<String, serde_json::Value> {
        self.0.columns().iter().map(|column| (column.name().to_string(), cell_json(column, row))).collect()
    }
}

fn cell_json(column: &Column, row: usize) -> serde_json::Value {
    match column.get(row) {
        Ok(AnyValue::String(text)) => text.into(),
        // Polars returns a scalar column if all values are equal.
        Ok(AnyValue::StringOwned(text)) => text.as_str().into(),
        Ok(AnyValue::Int64(n)) => n.into(),
        Ok(AnyValue::Float64(n)) => n.into(),
        Ok(AnyValue::UInt32(n)) => n.into(),
        _ => serde_json::Value::Null,
    }
}

/// Returns the cells of a column; `None` if [`Values`] does not support its type.
fn values_of(column: &Column) -> polars::error::PolarsResult<Option<Values<'_>>> {
    Ok(Some(match column.dtype() {
        DataType::String => Values::Text(column.str()?.iter().collect()),
        DataType::Int64 => Values::Int(column.i64()?.iter().collect()),
        DataType::Float64 => Values::Float(column.f64()?.iter().collect()),
        DataType::UInt32 => Values::U32(column.u32()?.iter().flatten().collect()),
        _ => return Ok(None),
    }))
}

/// The cells of one column, independent of the frame.
#[derive(Debug, Clone)]
pub(super) enum ColumnCells {
    /// Text.
    Text(StringChunked),
    /// Whole numbers.
    Int(Int64Chunked),
    /// Numbers.
    Float(Float64Chunked),
    /// Row numbers.
    U32(UInt32Chunked),
}

impl ColumnCells {
    /// Returns the text of a row; `None` is null.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        if let Self::Text(cells) = self { cells.get(row) } else { None }
    }

    /// Returns the number of a row; `None` is null.
    pub(super) fn int(&self, row: usize) -> Option<i64> {
        if let Self::Int(cells) = self { cells.get(row) } else { None }
    }

    /// Returns the floating-point number of a row; `None` is null.
    pub(super) fn float(&self, row: usize) -> Option<f64> {
        if let Self::Float(cells) = self { cells.get(row) } else { None }
    }

    /// Returns the row number of a row; `None` is null.
    pub(super) fn u32(&self, row: usize) -> Option<u32> {
        if let Self::U32(cells) = self { cells.get(row) } else { None }
    }
}

/// Cells of a text column.
#[derive(Clone, Copy)]
pub struct Texts<'a>(&'a StringChunked);

impl<'a> Texts<'a> {
    /// Returns the cell of a row; `None` is null.
    pub fn get(&self, row: usize) -> Option<&'a str> {
        self.0.get(row)
    }
}

/// Cells of a whole-number column.
#[derive(Clone, Copy)]
pub struct Ints<'a>(&'a Int64Chunked);

impl Ints<'_> {
    /// Returns the cell of a row; `None` is null.
    pub fn get(&self, row: usize) -> Option<i64> {
        self.0.get(row)
    }
}

/// Cells of a row-number column.
#[derive(Clone, Copy)]
pub struct U32s<'a>(&'a UInt32Chunked);

impl U32s<'_> {
    /// Returns the cell of a row; `None` is null.
    pub fn get(&self, row: usize) -> Option<u32> {
        self.0.get(row)
    }
}

/// A Parquet file that is read by row ranges; the footer is read once.
#[derive(Debug, Clone)]
pub struct FrameFile {
    path: PathBuf,
    metadata: polars::io::parquet::metadata::FileMetadataRef,
}

impl FrameFile {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// The file cannot be read, or is not a Parquet file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).at("reading", path)?;
        let mut reader = ParquetReader::new(file);
        let metadata = reader.get_metadata().at("reading", path)?.clone();
        Ok(Self { path: path.to_owned(), metadata })
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.metadata.num_rows
    }

    /// Returns the names of its columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.metadata
            .schema_descr
            .fields()
            .iter()
            .map(polars_parquet::parquet::schema::types::ParquetType::name)
    }

    /// Returns the number of rows of each row group. A file without rows has one empty group, so that its columns can
    /// be read.
    pub(crate) fn groups(&self) -> Vec<usize> {
        #[allow(clippy::redundant_closure_for_method_calls)] // The method's type is of a crate below polars.
        let lengths = self.metadata.row_groups.iter().map(|group| group.num_rows());
        let mut groups: Vec<usize> = lengths.filter(|&rows| rows > 0).collect();
        if groups.is_empty() {
            groups.push(0);
        }
        groups
    }

    /// Reads `length` rows from `start`; `columns` of `None` reads all columns.
    ///
    /// # Errors
    /// The file cannot be read, or a column is missing.
    pub fn read(&self, start: usize, length: usize, columns: Option<&[&str]>) -> Result<Frame> {
        let file = File::open(&self.path).at("reading", &self.path)?;
        let mut reader = ParquetReader::new(file)
            .with_slice(Some((start, length)))
            .with_columns(columns.map(|columns| columns.iter().map(|&name| name.to_owned()).collect()));
        reader.set_metadata(Arc::clone(&self.metadata));
        reader.set_rechunk(true).finish().at("reading", &self.path).map(Frame)
    }

    /// Reads some columns of the whole file.
    ///
    /// # Errors
    /// As [`FrameFile::read`].
    pub fn read_columns(&self, columns: &[&str]) -> Result<Frame> {
        self.read(0, self.height(), Some(columns))
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// As [`FrameFile::read`].
    pub fn read_all(&self) -> Result<Frame> {
        self.read(0, self.height(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::corpus::Cells;

    #[test]
    fn batches_in_memory_and_on_disk_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, room: usize| {
            let path = folder.path().join(name);
            let background_writer = BackgroundWriter::new(room);
            let mut writer = FrameWriter::create(&path).held_by(&background_writer);
            for start in [0, 3, 6] {
                let texts: Vec<String> = (start..start + 3).map(|n| "long enough ".repeat(n)).collect();
                let cells = texts.iter().map(|text| (text.len() != 12).then_some(text.as_str())).collect();
                writer.write(vec![("text", Values::Text(cells)), ("n", Values::U32(vec![7; 3]))]).unwrap();
            }
            let held = writer.finish().unwrap();
            let n_held = held.frames.len();
            let cells = Cells::written(held, &path, &background_writer).unwrap();
            background_writer.wait().unwrap();
            let cells = [0, 3, 6].map(|start| {
                let frame = cells.read(&(start..start + 3), &["text"]).unwrap();
                [0, 1, 2].map(|row| frame.texts("text").unwrap().get(row).map(str::to_owned))
            });
            (n_held, cells, std::fs::read(&path).unwrap())
        };
        let (none, from_file, bytes) = read("none", 0);
        let (some, mixed, same) = read("some", 400);
        let (all, from_memory, again) = read("all", 1 << 20);
        assert!(none == 0 && (1..3).contains(&some) && all == 3, "{some}");
        assert_eq!((&mixed, &from_memory), (&from_file, &from_file));
        assert!(same == bytes && again == bytes);
    }

    #[test]
    fn text_is_plain_text_for_every_reader() {
        use polars::prelude::{ArrowSchema, CompatLevel, SchemaExt as _};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_frame(&path, vec![("text", Values::Text(vec![Some("a")])), ("n", Values::Int(vec![None]))])
            .unwrap();
        let found = FrameFile::open(&path).unwrap().metadata.key_value_metadata.clone().unwrap();
        let fields = [("text", ArrowDataType::Utf8), ("n", ArrowDataType::Int64)];
        let plain: ArrowSchema = fields
            .map(|(name, kind)| (name.into(), ArrowField::new(name.into(), kind, true)))
            .into_iter()
            .collect();
        assert_eq!(found, [schema_to_metadata_key(&plain)]);
        let schema: Schema =
            [Field::new("text".into(), DataType::String), Field::new("n".into(), DataType::Int64)]
                .into_iter()
                .collect();
        assert_ne!(found, [schema_to_metadata_key(&schema.to_arrow(CompatLevel::newest()))]);
    }

    #[test]
    fn a_range_reads_back_what_was_written_across_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut writer = FrameWriter::create(&path);
        for start in [0_i64, 3] {
            let texts: Vec<String> = (start..start + 3).map(|n| format!("row {n}")).collect();
            let texts = texts.iter().map(|text| Some(text.as_str())).collect();
            let ints = (start..start + 3).map(|n| (n % 2 == 0).then_some(n)).collect();
            writer.write(vec![("text", Values::Text(texts)), ("n", Values::Int(ints))]).unwrap();
        }
        writer.finish().unwrap();
        let file = FrameFile::open(&path).unwrap();
        assert_eq!(file.height(), 6);
        let frame = file.read(2, 3, Some(&["n", "text"])).unwrap();
        let texts = frame.texts("text").unwrap();
        let ints = frame.ints("n").unwrap();
        let cells: Vec<_> = (0..frame.height()).map(|row| (texts.get(row), ints.get(row))).collect();
        assert_eq!(cells, [(Some("row 2"), Some(2)), (Some("row 3"), None), (Some("row 4"), Some(4))]);
    }
}
