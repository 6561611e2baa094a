//! Copies a Parquet file of another program without some of its rows.
//!
//! Values are read and written as they are stored: numbers, bytes and levels, never as text, times or lists. So the copy
//! has the schema and the metadata of the source whatever its types are, and no type has to be known here. Every row
//! group of the source gives one of the copy, and one that loses no row is copied as it is; a group that loses all its
//! rows is left out. Arrow decodes values into its own types and writes those, which is not the same; it is not used here.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{CompressionCodec, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::disk::create;
use super::error::{At, Error, Result, unless_damaged};
use super::parquet_form::{has_page_index, properties};
use super::parquet_rows::n_rows;

/// The maximum number of rows that are in memory at a time.
const BATCH_ROWS: usize = 16_384;
/// The maximum bytes of one column that are in memory at a time, according to the footer.
const BATCH_BYTES: usize = 8 << 20;
/// The bytes in memory of a value that takes none in the file: two levels, and a pointer to bytes.
const VALUE_BYTES: usize = 40;

const READING: &str = "reading";
const WRITING: &str = "writing";

/// A file that is copied; the footer is read once.
pub struct ParquetCopy {
    path: PathBuf,
    file: File,
    reader: SerializedFileReader<File>,
}

/// Where the copy is written.
struct Copy<'a> {
    from: &'a ParquetCopy,
    to: &'a Path,
    cancelled: &'a dyn Fn() -> bool,
}

impl ParquetCopy {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// The file cannot be read, or its footer is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).at(READING, path)?;
        let second = file.try_clone().at(READING, path)?;
        let reader = unless_damaged(path, || SerializedFileReader::new(second).at(READING, path))?;
        Ok(Self { path: path.to_owned(), file, reader })
    }

    /// Returns the open file. It has the content that is copied, even if another file takes its place meanwhile.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.groups().iter().map(n_rows).sum()
    }

    fn groups(&self) -> &[RowGroupMetaData] {
        self.reader.metadata().row_groups()
    }

    /// Returns the columns that cannot be copied, each with the reason.
    pub fn uncopied(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema();
        let mut uncopied = Vec::new();
        add_unknown_types(schema, &mut Vec::new(), &mut uncopied);
        let n_bytes = self.file.metadata().map_or(u64::MAX, |facts| facts.len());
        let mut seen: Vec<String> = Vec::new();
        for chunk in self.groups().iter().flat_map(RowGroupMetaData::columns) {
            let name = chunk.column_path().string();
            if let Some(why) = why_uncopied(chunk, n_bytes).filter(|_| !seen.contains(&name)) {
                uncopied.push(format!("column {name:?}: {why}"));
                seen.push(name);
            }
        }
        uncopied
    }

    /// Writes the rows for which `keep` is true, in their order.
    ///
    /// # Errors
    /// A file cannot be read or written, the source is damaged, or the user asked to stop.
    pub fn write(&self, to: &Path, keep: &[bool], cancelled: &dyn Fn() -> bool) -> Result<()> {
        unless_damaged(&self.path, || self.write_rows(to, keep, cancelled))
    }

    fn write_rows(&self, to: &Path, keep: &[bool], cancelled: &dyn Fn() -> bool) -> Result<()> {
        let metadata = self.reader.metadata();
        let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
        let file = BufWriter::with_capacity(1 << 20, create(to)?);
        let properties = Arc::new(properties(metadata));
        let mut writer = SerializedFileWriter::new(file, schema, properties).at(WRITING, to)?;
        let copy = Copy { from: self, to, cancelled };
        let mut rest = keep;
        for (at, group) in self.groups().iter().enumerate() {
            let (keep, further) = rest.split_at_checked(n_rows(group)).unwrap_or((rest, &[]));
            rest = further;
            if !keep.contains(&true) {
                continue;
            }
            let mut written = writer.next_row_group().at(WRITING, to)?;
            if !keep.contains(&false) && !has_page_index(metadata) && group.columns().iter().all(is_plain) {
                copy.whole_group(group, &mut written)?;
            } else {
                copy.group(
                    self.reader.get_row_group(at).at(READING, &self.path)?.as_ref(),
                    keep,
                    &mut written,
                )?;
            }
            written.close().at(WRITING, to)?;
        }
        writer.into_inner().at(WRITING, to)?.flush().at(WRITING, to)
    }
}

/// Adds the columns with an annotation that cannot be written, because it is newer than the writer.
fn add_unknown_types<'a>(field: &'a Type, path: &mut Vec<&'a str>, uncopied: &mut Vec<String>) {
    if let Some(LogicalType::_Unknown { field_id }) = field.get_basic_info().logical_type_ref() {
        uncopied.push(format!("column {:?}: the logical type {field_id} is unknown", path.join(".")));
    }
    if let Type::GroupType { fields, .. } = field {
        for field in fields {
            path.push(field.name());
            add_unknown_types(field, path, uncopied);
            path.pop();
        }
    }
}

/// Returns the reason that a column cannot be copied.
fn why_uncopied(chunk: &ColumnChunkMetaData, n_bytes: u64) -> Option<String> {
    if chunk.compression_codec() == CompressionCodec::LZO {
        return Some("the compression LZO is not supported".to_owned());
    }
    if chunk.file_path().is_some() {
        return Some("its values are in another file".to_owned());
    }
    let is_inside = bytes_of(chunk).is_some_and(|bytes| bytes.end <= n_bytes);
    (!is_inside).then(|| "the footer places it outside the file".to_owned())
}

/// Returns the place of a column in the file.
fn bytes_of(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let (start, length) = (u64::try_from(start).ok()?, u64::try_from(chunk.compressed_size()).ok()?);
    Some(start..start.checked_add(length)?)
}

/// Whether a column has all its bytes in one place.
fn is_plain(chunk: &ColumnChunkMetaData) -> bool {
    // Some writers count from 0 when there is no dictionary.
    chunk.bloom_filter_offset().is_none() && chunk.dictionary_page_offset() != Some(0)
}

type GroupWriter<'a> = SerializedRowGroupWriter<'a, BufWriter<File>>;

impl Copy<'_> {
    /// Copies a row group that loses no row, as it is stored.
    fn whole_group(&self, group: &RowGroupMetaData, written: &mut GroupWriter<'_>) -> Result<()> {
        for chunk in group.columns() {
            self.go_on()?;
            let close = ColumnCloseResult {
                bytes_written: u64::try_from(chunk.compressed_size()).unwrap_or_default(),
                rows_written: n_rows(group) as u64,
                metadata: chunk.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            written.append_column(&self.from.file, close).at(WRITING, self.to)?;
        }
        Ok(())
    }

    /// Copies the rows of a row group that are kept.
    fn group(&self, group: &dyn RowGroupReader, keep: &[bool], written: &mut GroupWriter<'_>) -> Result<()> {
        for at in 0..group.num_columns() {
            let step = rows_at_a_time(group.metadata().column(at), keep.len());
            let reader = group.get_column_reader(at).at(READING, &self.from.path)?;
            let Some(mut writer) = written.next_column().at(WRITING, self.to)? else { break };
            self.column(reader, &mut writer, keep, step)?;
            writer.close().at(WRITING, self.to)?;
        }
        Ok(())
    }

    fn column(
        &self,
        reader: ColumnReader,
        writer: &mut SerializedColumnWriter<'_>,
        keep: &[bool],
        step: usize,
    ) -> Result<()> {
        match reader {
            ColumnReader::BoolColumnReader(reader) => {
                self.values(reader, writer.typed::<BoolType>(), keep, step)
            }
            ColumnReader::Int32ColumnReader(reader) => {
                self.values(reader, writer.typed::<Int32Type>(), keep, step)
            }
            ColumnReader::Int64ColumnReader(reader) => {
                self.values(reader, writer.typed::<Int64Type>(), keep, step)
            }
            ColumnReader::Int96ColumnReader(reader) => {
                self.values(reader, writer.typed::<Int96Type>(), keep, step)
            }
            ColumnReader::FloatColumnReader(reader) => {
                self.values(reader, writer.typed::<FloatType>(), keep, step)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.values(reader, writer.typed::<DoubleType>(), keep, step)
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.values(reader, writer.typed::<ByteArrayType>(), keep, step)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.values(reader, writer.typed::<FixedLenByteArrayType>(), keep, step)
            }
        }
    }

    fn values<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        writer: &mut ColumnWriterImpl<'_, T>,
        keep: &[bool],
        step: usize,
    ) -> Result<()> {
        let descriptor = writer.get_descriptor();
        let (max_definition, max_repetition) = (descriptor.max_def_level(), descriptor.max_rep_level());
        let mut batch = Batch::<T::T>::default();
        for keep in keep.chunks(step) {
            self.go_on()?;
            batch.clear();
            let Batch { values, definitions, repetitions } = &mut batch;
            let read = reader.read_records(keep.len(), Some(definitions), Some(repetitions), values);
            let (n_read, ..) = read.at(READING, &self.from.path)?;
            if n_read != keep.len() {
                return Err(Error::Input(format!(
                    "{}: column {:?} has fewer rows than the footer counts",
                    self.from.path.display(),
                    writer.get_descriptor().path().string()
                )));
            }
            batch.retain(keep, max_definition);
            let levels = |max: i16, levels| (max > 0).then_some(levels);
            let definitions = levels(max_definition, batch.definitions.as_slice());
            let repetitions = levels(max_repetition, batch.repetitions.as_slice());
            writer.write_batch(&batch.values, definitions, repetitions).at(WRITING, self.to)?;
        }
        Ok(())
    }

    /// Returns an error if the user asked to stop.
    fn go_on(&self) -> Result<()> {
        if (self.cancelled)() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Returns how many rows of a column are read at a time.
fn rows_at_a_time(chunk: &ColumnChunkMetaData, n_rows: usize) -> usize {
    let size = |n: i64| usize::try_from(n).unwrap_or_default();
    let bytes = size(chunk.uncompressed_size()).max(size(chunk.num_values()).saturating_mul(VALUE_BYTES));
    (BATCH_BYTES / (bytes / n_rows.max(1)).max(1)).clamp(1, BATCH_ROWS)
}

/// Some rows of one column.
#[derive(Default)]
struct Batch<T> {
    /// The values that are not null.
    values: Vec<T>,
    /// One of each value or null; none if the column has no null and no list.
    definitions: Vec<i16>,
    /// One of each value or null, 0 for the first of a row; none if the column has no list.
    repetitions: Vec<i16>,
}

impl<T> Batch<T> {
    fn clear(&mut self) {
        self.values.clear();
        self.definitions.clear();
        self.repetitions.clear();
    }

    /// Removes the rows for which `keep` is false.
    fn retain(&mut self, keep: &[bool], max_definition: i16) {
        let n_levels = self.definitions.len().max(self.repetitions.len()).max(self.values.len());
        let (mut rows, mut is_kept) = (keep.iter(), false);
        let (mut n_kept, mut from, mut to) = (0, 0, 0);
        for level in 0..n_levels {
            if self.repetitions.get(level).is_none_or(|&repetition| repetition == 0) {
                is_kept = rows.next() == Some(&true);
            }
            let has_value =
                self.definitions.get(level).is_none_or(|&definition| definition == max_definition);
            if is_kept {
                for levels in [&mut self.definitions, &mut self.repetitions] {
                    if !levels.is_empty() {
                        levels[n_kept] = levels[level];
                    }
                }
                n_kept += 1;
                if has_value {
                    self.values.swap(to, from);
                    to += 1;
                }
            }
            from += usize::from(has_value);
        }
        self.values.truncate(to);
        self.definitions.truncate(n_kept);
        self.repetitions.truncate(n_kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_an_error_or_is_copied_and_never_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from.parquet"), folder.path().join("to.parquet"));
        for (name, step) in [("read_types", 7), ("binary_nested", 2)] {
            let source = format!("{}/../../tests/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
            let bytes = std::fs::read(source).unwrap();
            let (mut n_failed, mut n_tried) = (0, 0);
            for at in (0..bytes.len()).step_by(step) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x55;
                std::fs::write(&from, &damaged).unwrap();
                let copied = ParquetCopy::open(&from).and_then(|copy| {
                    let keep: Vec<bool> = (0..copy.height().min(100)).map(|row| row != 1).collect();
                    copy.write(&to, &keep, &|| false).map(|()| copy.uncopied())
                });
                n_failed += usize::from(copied.is_err());
                n_tried += 1;
            }
            assert!(n_failed > n_tried / 4, "{name}: {n_failed} of {n_tried}");
        }
    }

    #[test]
    fn a_batch_keeps_whole_rows_with_their_nulls_and_empty_lists() {
        // [1, 2], null, [], [null, 3], [4] of an optional list of optional numbers.
        let mut batch = Batch {
            values: vec![1, 2, 3, 4],
            definitions: vec![3, 3, 0, 1, 2, 3, 3],
            repetitions: vec![0, 1, 0, 0, 0, 1, 0],
        };
        batch.retain(&[false, true, true, true, false], 3);
        assert_eq!(
            (batch.values, batch.definitions, batch.repetitions),
            (vec![3], vec![0, 1, 2, 3], vec![0, 0, 0, 1])
        );
        let mut required = Batch { values: vec![5, 6, 7], definitions: Vec::new(), repetitions: Vec::new() };
        required.retain(&[true, false, true], 0);
        assert_eq!(required.values, [5, 7]);
    }
}
