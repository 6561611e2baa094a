//! Writes and reads Parquet files as Arrow arrays. Only `engine` uses `arrow` and `parquet` directly.
//!
//! Each batch passed to [`FrameWriter`] becomes one row group, so a reader of the same range decodes nothing else.
//! Batches that a [`BackgroundWriter`] writes may stay in memory and are then not read back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions,
    StringViewArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, ProjectionMask, encode_arrow_schema};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::background_writer::BackgroundWriter;
use super::columns::{FOLLOWING_MESSAGES, MESSAGES};
use super::disk::{create, create_private};
use super::error::{At, Error, Result, damaged, unless_damaged};
use super::parquet_rows::{self, n_rows};

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
    /// Yes and no.
    Bool(Vec<bool>),
}

impl Values<'_> {
    /// Returns the type of the column in memory.
    fn data_type(&self) -> DataType {
        match self {
            Self::Text(_) => DataType::Utf8View,
            Self::Int(_) => DataType::Int64,
            Self::Float(_) => DataType::Float64,
            Self::U32(_) => DataType::UInt32,
            Self::Bool(_) => DataType::Boolean,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::Bool(values) => values.len(),
        }
    }

    /// Returns the size in memory in bytes, which is the same on every machine.
    fn size(&self) -> usize {
        match self {
            Self::Text(values) => values.iter().map(|text| VIEW_BYTES + text.map_or(0, str::len)).sum(),
            Self::Int(values) => values.len() * size_of::<i64>(),
            Self::Float(values) => values.len() * size_of::<f64>(),
            Self::U32(values) => values.len() * size_of::<u32>(),
            Self::Bool(values) => values.len(),
        }
    }

    fn into_array(self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(texts(&values)),
            Self::Int(values) => Arc::new(Int64Array::from(values)),
            Self::Float(values) => Arc::new(Float64Array::from(values)),
            Self::U32(values) => Arc::new(UInt32Array::from(values)),
            Self::Bool(values) => Arc::new(BooleanArray::from(values)),
        }
    }
}

/// The bytes of a text in its column, besides a longer text itself.
const VIEW_BYTES: usize = 16;
/// The most bytes of texts in one block of memory.
const BLOCK_BYTES: usize = 1 << 30;

fn texts(values: &[Option<&str>]) -> StringViewArray {
    let bytes: usize = values.iter().flatten().map(|text| text.len()).sum();
    let block = u32::try_from(bytes.clamp(1, BLOCK_BYTES)).expect("a block is smaller than 4 GiB");
    let mut builder = StringViewBuilder::with_capacity(values.len()).with_fixed_block_size(block);
    for value in values {
        builder.append_option(*value);
    }
    builder.finish()
}

/// Named columns of equal length.
pub type Columns<'a> = Vec<(&'a str, Values<'a>)>;

fn record_batch(columns: Columns<'_>) -> std::result::Result<RecordBatch, ArrowError> {
    let options =
        RecordBatchOptions::new().with_row_count(Some(columns.first().map_or(0, |(_, values)| values.len())));
    let schema = schema(&columns);
    let arrays = columns.into_iter().map(|(_, values)| values.into_array()).collect();
    RecordBatch::try_new_with_options(schema, arrays, &options)
}

fn schema(columns: &Columns<'_>) -> SchemaRef {
    let field = |(name, values): &(&str, Values<'_>)| Field::new(*name, values.data_type(), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Fields>()))
}

/// Returns a schema with the type of text replaced. Texts are views in memory, which share the decoded pages of a file;
/// in a file they are plain, since pyarrow before 15 and `datasets` before 4 refuse views.
fn with_text(schema: &Schema, text: &DataType) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::Utf8View => Field::new(field.name(), text.clone(), field.is_nullable()),
        _ => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Fields>()))
}

/// Returns how a file with these columns is written.
fn writer_options(schema: &Schema, compression: Compression) -> ArrowWriterOptions {
    let plain = encode_arrow_schema(&with_text(schema, &DataType::Utf8));
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .set_key_value_metadata(Some(vec![KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), plain)]));
    // Hardly two rows have the same: looking each value up takes time, and the dictionary would be as large as the column.
    let properties = [MESSAGES, FOLLOWING_MESSAGES].iter().fold(properties, |properties, column| {
        properties.set_column_dictionary_enabled(ColumnPath::from(column.name), false)
    });
    let options = ArrowWriterOptions::new().with_properties(properties.build());
    options.with_skip_arrow_metadata(true).with_schema_root("root".to_owned())
}

/// A file that is being written.
type TableWriter = ArrowWriter<BufWriter<File>>;

/// A writer of batches of columns into one Parquet file, one row group each.
pub struct FrameWriter {
    path: PathBuf,
    is_private: bool,
    is_held: bool,
    background_writer: Option<BackgroundWriter>,
    writer: Option<Arc<Mutex<TableWriter>>>,
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
        let size = columns.iter().map(|(_, values)| values.size()).sum();
        let batch = record_batch(columns).at(WRITING, &self.path)?;
        let start = self.height;
        self.height += batch.num_rows();
        let Some(background_writer) = &self.background_writer else {
            return write_batch(&writer, &batch, &self.path);
        };
        if self.is_held && background_writer.takes(size) {
            self.held.insert(start, Frame(batch.clone()));
        }
        let path = self.path.clone();
        background_writer.push(move || write_batch(&writer, &batch, &path))
    }

    fn started(&self, columns: &Columns<'_>) -> Result<TableWriter> {
        let file = if self.is_private { create_private(&self.path)? } else { create(&self.path)? };
        let schema = schema(columns);
        // The next step reads them back.
        let compression = if self.is_held {
            Compression::LZ4_RAW
        } else {
            Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).at(WRITING, &self.path)?)
        };
        let options = writer_options(&schema, compression);
        ArrowWriter::try_new_with_options(BufWriter::new(file), schema, options).at(WRITING, &self.path)
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

const READING: &str = "reading";
const WRITING: &str = "writing";
/// The compression level of zstd, of the tables that a run leaves for people; those between its steps are compressed by LZ4, which
/// takes a third of the time and makes them half as large again. A run folder is a tenth larger than at the usual level 3, and a run a few percent
/// faster.
const ZSTD_LEVEL: i32 = 1;

fn write_batch(writer: &Mutex<TableWriter>, batch: &RecordBatch, path: &Path) -> Result<()> {
    let mut writer = locked(writer);
    writer.write(batch).at(WRITING, path)?;
    writer.flush().at(WRITING, path)
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
pub struct Frame(RecordBatch);

impl Frame {
    /// Returns a frame of these columns.
    ///
    /// # Errors
    /// The columns differ in length.
    pub fn from_columns(columns: Columns<'_>) -> Result<Self> {
        record_batch(columns).at("building", Path::new("memory")).map(Self)
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.0.num_rows()
    }

    /// Returns a column of text; `None` if there is no such column or it has another type.
    pub fn texts(&self, name: &str) -> Option<Texts<'_>> {
        self.0.column_by_name(name)?.as_string_view_opt().map(Texts)
    }

    /// Returns an owned column; `None` if there is no such column or it has a type that [`Values`] does not support.
    pub(super) fn cells(&self, name: &str) -> Option<ColumnCells> {
        ColumnCells::of(self.0.column_by_name(name)?)
    }

    /// Returns a column of whole numbers.
    pub fn ints(&self, name: &str) -> Option<Ints<'_>> {
        self.0.column_by_name(name)?.as_primitive_opt().map(Ints)
    }

    /// Returns a cell of a column of numbers.
    pub fn float(&self, name: &str, row: usize) -> Option<f64> {
        let column = self.0.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
        cell(column, row).then(|| column.value(row))
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.schema_ref().fields().iter().map(|field| field.name().as_str())
    }

    /// Returns the number of a row as `serde_json` writes it; `None` is null, or a column of another type.
    pub fn number_text(&self, name: &str, row: usize) -> Option<String> {
        let cells = ColumnCells::of(self.0.column_by_name(name)?)?;
        cells
            .int(row)
            .map(|number| number.to_string())
            .or_else(|| cells.float(row).map(|number| number.to_string()))
    }

    /// Returns `true` if a cell of yes and no is yes.
    pub fn is_true(&self, name: &str, row: usize) -> bool {
        let cells = self.0.column_by_name(name).and_then(ColumnCells::of);
        cells.and_then(|cells| cells.is_true(row)) == Some(true)
    }

    /// Returns a column of row numbers.
    pub fn u32s(&self, name: &str) -> Option<U32s<'_>> {
        self.0.column_by_name(name)?.as_primitive_opt().map(U32s)
    }

    /// Returns all columns with their cells, in the order of the file; only types of [`Values`] are supported.
    ///
    /// # Errors
    /// A column has a type that no table of a run has.
    pub fn columns(&self, path: &Path) -> Result<Columns<'_>> {
        let mut columns = Vec::new();
        for (name, column) in self.names().zip(self.0.columns()) {
            let Some(values) = values_of(column) else {
                let what = format!("column {name} has a type that callsieve does not write");
                return Err(damaged(path, what));
            };
            columns.push((name, values));
        }
        Ok(columns)
    }

    /// Returns a row as JSON; only types of [`Values`] are supported. Use `foreign` for files of other programs.
    pub fn row_json(&self, row: usize) -> serde_json::Map<String, serde_json::Value> {
        let columns = self.names().zip(self.0.columns());
        columns.map(|(name, column)| (name.to_owned(), cell_json(column, row))).collect()
    }
}

fn cell_json(column: &ArrayRef, row: usize) -> serde_json::Value {
    match ColumnCells::of(column) {
        Some(ColumnCells::Text(_)) => {
            column.as_string_view_opt().and_then(|cells| Texts(cells).get(row)).into()
        }
        Some(cells @ ColumnCells::Int(_)) => cells.int(row).into(),
        Some(cells @ ColumnCells::Float(_)) => cells.float(row).into(),
        Some(cells @ ColumnCells::U32(_)) => cells.u32(row).into(),
        Some(cells @ ColumnCells::Bool(_)) => cells.is_true(row).into(),
        None => serde_json::Value::Null,
    }
}

/// Returns the cells of a column; `None` if [`Values`] does not support its type.
fn values_of(column: &ArrayRef) -> Option<Values<'_>> {
    Some(match column.data_type() {
        DataType::Utf8View => Values::Text(column.as_string_view().iter().collect()),
        DataType::Int64 => Values::Int(column.as_primitive::<Int64Type>().iter().collect()),
        DataType::Float64 => Values::Float(column.as_primitive::<Float64Type>().iter().collect()),
        DataType::UInt32 => Values::U32(column.as_primitive::<UInt32Type>().iter().flatten().collect()),
        DataType::Boolean => Values::Bool(column.as_boolean().iter().flatten().collect()),
        _ => return None,
    })
}

/// Returns `true` if an array has a cell in this row that is not null.
fn cell(array: &dyn Array, row: usize) -> bool {
    row < array.len() && array.is_valid(row)
}

/// The cells of one column, independent of the frame.
#[derive(Debug, Clone)]
pub(super) enum ColumnCells {
    /// Text.
    Text(StringViewArray),
    /// Whole numbers.
    Int(Int64Array),
    /// Numbers.
    Float(Float64Array),
    /// Row numbers.
    U32(UInt32Array),
    /// Yes and no.
    Bool(BooleanArray),
}

impl ColumnCells {
    fn of(column: &ArrayRef) -> Option<Self> {
        Some(match column.data_type() {
            DataType::Utf8View => Self::Text(column.as_string_view().clone()),
            DataType::Int64 => Self::Int(column.as_primitive().clone()),
            DataType::Float64 => Self::Float(column.as_primitive().clone()),
            DataType::UInt32 => Self::U32(column.as_primitive().clone()),
            DataType::Boolean => Self::Bool(column.as_boolean().clone()),
            _ => return None,
        })
    }

    /// Returns the text of a row; `None` is null.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        if let Self::Text(cells) = self { Texts(cells).get(row) } else { None }
    }

    /// Returns the number of a row; `None` is null.
    pub(super) fn int(&self, row: usize) -> Option<i64> {
        if let Self::Int(cells) = self { Ints(cells).get(row) } else { None }
    }

    /// Returns the floating-point number of a row; `None` is null.
    pub(super) fn float(&self, row: usize) -> Option<f64> {
        if let Self::Float(cells) = self { cell(cells, row).then(|| cells.value(row)) } else { None }
    }

    /// Returns the answer of a row; `None` is null.
    fn is_true(&self, row: usize) -> Option<bool> {
        if let Self::Bool(cells) = self { cell(cells, row).then(|| cells.value(row)) } else { None }
    }

    /// Returns the row number of a row; `None` is null.
    pub(super) fn u32(&self, row: usize) -> Option<u32> {
        if let Self::U32(cells) = self { U32s(cells).get(row) } else { None }
    }
}

/// Cells of a text column.
#[derive(Clone, Copy)]
pub struct Texts<'a>(&'a StringViewArray);

impl<'a> Texts<'a> {
    /// Returns the cell of a row; `None` is null.
    pub fn get(&self, row: usize) -> Option<&'a str> {
        cell(self.0, row).then(|| self.0.value(row))
    }
}

/// Cells of a whole-number column.
#[derive(Clone, Copy)]
pub struct Ints<'a>(&'a Int64Array);

impl Ints<'_> {
    /// Returns the cell of a row; `None` is null.
    pub fn get(&self, row: usize) -> Option<i64> {
        cell(self.0, row).then(|| self.0.value(row))
    }
}

/// Cells of a row-number column.
#[derive(Clone, Copy)]
pub struct U32s<'a>(&'a UInt32Array);

impl U32s<'_> {
    /// Returns the cell of a row; `None` is null.
    pub fn get(&self, row: usize) -> Option<u32> {
        cell(self.0, row).then(|| self.0.value(row))
    }
}

/// A Parquet file that is read by row ranges; the footer is read once.
#[derive(Debug, Clone)]
pub struct FrameFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
}

impl FrameFile {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// The file cannot be read, or is not a Parquet file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).at(READING, path)?;
        let metadata = unless_damaged(path, || {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let plain = ArrowReaderMetadata::load(&file, options.clone()).at(READING, path)?;
            let views = with_text(plain.schema(), &DataType::Utf8View);
            ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options.with_schema(views))
                .at(READING, path)
        })?;
        Ok(Self { path: path.to_owned(), metadata })
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.metadata.metadata().row_groups().iter().map(n_rows).sum()
    }

    /// Returns the names of its columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.metadata.schema().fields().iter().map(|field| field.name().as_str())
    }

    /// Returns the number of rows of each row group. A file without rows has one empty group, so that its columns can
    /// be read.
    pub fn groups(&self) -> Vec<usize> {
        let lengths = self.metadata.metadata().row_groups().iter().map(n_rows);
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
        let schema = self.metadata.parquet_schema();
        let projection = match columns {
            None => ProjectionMask::all(),
            Some(columns) => ProjectionMask::roots(schema, self.roots(columns)?),
        };
        let rows = start..start.saturating_add(length);
        parquet_rows::read(&self.path, &self.metadata, projection, &rows).map(Frame)
    }

    /// Returns the places of columns.
    fn roots(&self, columns: &[&str]) -> Result<Vec<usize>> {
        let place = |column: &&str| {
            let place = self.names().position(|name| name == *column);
            place.ok_or_else(|| {
                let cause = format!("column {column:?} is missing");
                Error::Table { doing: READING, path: self.path.clone(), cause }
            })
        };
        columns.iter().map(place).collect()
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
    use crate::corpus::Cells;

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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_frame(&path, vec![("text", Values::Text(vec![Some("a")])), ("n", Values::Int(vec![None]))])
            .unwrap();
        let metadata = ArrowReaderMetadata::load(&File::open(&path).unwrap(), ArrowReaderOptions::new());
        let metadata = metadata.unwrap();
        let types = [("text", DataType::Utf8), ("n", DataType::Int64)];
        let plain = Schema::new(types.map(|(name, kind)| Field::new(name, kind, true)).to_vec());
        assert_eq!(*metadata.schema().as_ref(), plain);
        let found = metadata.metadata().file_metadata().key_value_metadata().unwrap();
        let expected = KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), encode_arrow_schema(&plain));
        assert_eq!(*found, [expected]);
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
