//! Cleaned sets of `callsieve audit` in Parquet: the training file without the removed rows, in its own form.

use std::fmt::Debug;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use crate::support::{callsieve, shown};
use callsieve::jobs::audit::RECIPE;
use callsieve::pipeline::Override;
use callsieve::run::{Observer, Options, execute};
use callsieve::{Pipeline, Registry};
use parquet::basic::{
    BrotliLevel, Compression, CompressionCodec, Encoding, GzipLevel, LogicalType, Repetition, ZstdLevel,
};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::file::metadata::{KeyValue, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};
use serde_json::json;
use tempfile::TempDir;

const TIDE: &str = "What time is high tide in Leith on Friday, and how high will the water be?";

/// A column of every kind that Arrow, pandas or `datasets` writes, and of older writers.
const COLUMNS: &str = "
    optional binary text (STRING);
    optional binary bytes;
    required binary always (STRING);
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    optional group nested (LIST) { repeated group list {
        required group element { optional int32 n; optional group words (LIST) { repeated group list { required binary element (STRING); } } } } }
    required group counts (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }
    optional group old_list (LIST) { repeated int32 array; }
    optional int32 nulls (UNKNOWN);
    optional group null_list (LIST) { repeated group list { optional int32 element (UNKNOWN); } }
    optional int32 small_decimal (DECIMAL(9, 2));
    optional int64 decimal (DECIMAL(18, 4));
    optional fixed_len_byte_array (16) decimal128 (DECIMAL(38, 6));
    optional fixed_len_byte_array (32) decimal256 (DECIMAL(76, 6));
    optional int32 date (DATE);
    optional int32 time_millis (TIME(MILLIS, true));
    optional int64 time_micros (TIME(MICROS, false));
    optional int64 stamp (TIMESTAMP(NANOS, true));
    optional int64 local_stamp (TIMESTAMP(MILLIS, false));
    optional int96 old_stamp;
    optional int64 duration;
    optional fixed_len_byte_array (5) fixed;
    optional fixed_len_byte_array (16) id (UUID);
    optional fixed_len_byte_array (2) half (FLOAT16);
    optional fixed_len_byte_array (12) interval (INTERVAL);
    optional int32 tiny (INTEGER(8, false));
    optional int64 large (INTEGER(64, false));
    optional boolean flag;
    optional float single;
    required double double;
    optional binary json (JSON);
    optional binary choice (ENUM);
    required int32 twin;
    required int64 twin;
";

/// The sizes of the row groups. The rows in `REMOVED` are two of the first, none of the second and all of the third.
const GROUPS: [usize; 3] = [9, 7, 2];
const REMOVED: [usize; 4] = [1, 4, 16, 17];

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bench.jsonl"), format!("{}\n", json!({"id": "tide", "query": TIDE})))
            .unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn audit(&self, train: &str, out: &str) -> Output {
        let arguments =
            ["audit", "--field", "query", "--bench", "bench.jsonl", "--train", train, "--out", out];
        callsieve().current_dir(self.folder.path()).args(arguments).output().unwrap()
    }

    /// Audits a file and returns the path of its cleaned set.
    fn cleaned(&self, train: &str) -> PathBuf {
        let done = self.audit(train, "out");
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
        self.path("out/dataset").join(train)
    }
}

fn query(row: usize) -> String {
    if REMOVED.contains(&row) {
        TIDE.to_owned()
    } else {
        format!("Water the ferns of bay {row}, twice a week.")
    }
}

/// The levels of a row of a column: definition and repetition of each value.
fn levels(column: &ColumnDescriptor, row: usize) -> Vec<(i16, i16)> {
    let leaf = column.self_type().get_basic_info();
    let is_null = leaf.logical_type_ref() == Some(&LogicalType::Unknown);
    let is_optional = leaf.repetition() == Repetition::OPTIONAL;
    let max = if is_null { column.max_def_level() - 1 } else { column.max_def_level() };
    if column.max_rep_level() == 0 {
        return vec![(if is_optional && row.is_multiple_of(3) { 0 } else { max }, 0)];
    }
    // No entry, or some, of which every other is null where that is allowed.
    let entry = |at: usize| {
        let definition = if is_optional && !is_null && at % 2 == 1 { max - 1 } else { max };
        (definition, i16::from(at > 0))
    };
    if row.is_multiple_of(3) { vec![(0, 0)] } else { (0..=row % 3).map(entry).collect() }
}

/// The writer's properties: every compression, and the encodings of a plain file, a dictionary and others.
fn properties(schema: &Type, metadata: &[(&str, &str)]) -> WriterProperties {
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let metadata = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(Some(metadata.collect()))
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_data_page_row_count_limit(4)
        .set_write_batch_size(2);
    let schema = parquet::schema::types::SchemaDescriptor::new(Arc::new(schema.clone()));
    for (at, column) in schema.columns().iter().enumerate() {
        properties = properties
            .set_column_compression(column.path().clone(), compressions[at % compressions.len()])
            .set_column_dictionary_enabled(column.path().clone(), at % 2 == 0);
    }
    properties
        .set_column_dictionary_enabled(ColumnPath::from("duration"), false)
        .set_column_encoding(ColumnPath::from("duration"), Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(ColumnPath::from("double"), false)
        .set_column_encoding(ColumnPath::from("double"), Encoding::BYTE_STREAM_SPLIT)
        .build()
}

/// Writes a file of the query and `columns`; every value tells its row and place.
fn write(path: &Path, columns: &str, metadata: &[(&str, &str)], groups: &[usize]) {
    let schema =
        parse_message_type(&format!("message spark_schema {{ required binary query (STRING); {columns} }}"))
            .unwrap();
    let properties = properties(&schema, metadata);
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut first = 0;
    for n_rows in groups {
        let rows = first..first + n_rows;
        let mut group = writer.next_row_group().unwrap();
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            write_column(column.untyped(), at, rows.clone());
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
        first = rows.end;
    }
    writer.close().unwrap();
}

fn write_column(writer: &mut ColumnWriter<'_>, at: usize, rows: std::ops::Range<usize>) {
    macro_rules! write {
        ($writer:expr, $value:expr) => {{
            let descriptor = $writer.get_descriptor().clone();
            let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
            for row in rows {
                for (nth, (definition, repetition)) in levels(&descriptor, row).into_iter().enumerate() {
                    if definition == descriptor.max_def_level() {
                        values.push($value(row, nth, &descriptor));
                    }
                    definitions.push(definition);
                    repetitions.push(repetition);
                }
            }
            $writer.write_batch(&values, Some(&definitions), Some(&repetitions)).unwrap();
        }};
    }
    let number = |row: usize, nth: usize| i32::try_from(row * 10 + nth + at).unwrap();
    match writer {
        ColumnWriter::BoolColumnWriter(w) => write!(w, |row: usize, _, _: &_| row % 2 == 1),
        ColumnWriter::Int32ColumnWriter(w) => write!(w, |row, nth, _: &_| number(row, nth)),
        ColumnWriter::Int64ColumnWriter(w) => {
            write!(w, |row, nth, _: &_| i64::from(number(row, nth)) * -7_000_000_001);
        }
        ColumnWriter::Int96ColumnWriter(w) => write!(w, |row: usize, _, _: &_| {
            let mut value = Int96::new();
            value.set_data(u32::try_from(row).unwrap(), 5, 2_451_545);
            value
        }),
        ColumnWriter::FloatColumnWriter(w) => write!(w, |row: usize, nth, _: &_| {
            if row % 5 == 1 { f32::NAN } else { f32::from(i16::try_from(number(row, nth)).unwrap()) / 3.0 }
        }),
        ColumnWriter::DoubleColumnWriter(w) => {
            write!(w, |row: usize, nth, _: &_| if row == 2 {
                -0.0
            } else {
                f64::from(number(row, nth)) / 3.0
            });
        }
        ColumnWriter::ByteArrayColumnWriter(w) => write!(w, |row, nth, of: &ColumnDescriptor| {
            let is_text = of.self_type().get_basic_info().logical_type_ref().is_some();
            let text = format!("row {row}.{nth} of {at} ");
            match of.name() {
                "query" => ByteArray::from(query(row).into_bytes()),
                // One longer than a page.
                "text" if row == 3 => ByteArray::from(text.repeat(1 << 17).into_bytes()),
                _ if is_text => ByteArray::from(text.into_bytes()),
                _ => ByteArray::from(vec![0xff, 0, u8::try_from(row).unwrap()]),
            }
        }),
        ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
            write!(w, |row: usize, _, of: &ColumnDescriptor| {
                let byte = u8::try_from(row + 1).unwrap();
                FixedLenByteArray::from(vec![byte; usize::try_from(of.type_length()).unwrap()])
            });
        }
    }
}

/// The rows of a column as they are stored: definition, repetition and value.
type Rows = Vec<Vec<(i16, i16, Option<String>)>>;

fn rows_of<T: DataType>(mut reader: ColumnReaderImpl<T>, of: &ColumnDescriptor) -> Rows
where
    T::T: Debug,
{
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    reader.read_records(usize::MAX, Some(&mut definitions), Some(&mut repetitions), &mut values).unwrap();
    let n_levels = definitions.len().max(repetitions.len()).max(values.len());
    let (mut values, mut rows) = (values.iter(), Rows::new());
    for level in 0..n_levels {
        let definition = definitions.get(level).copied().unwrap_or(of.max_def_level());
        let repetition = repetitions.get(level).copied().unwrap_or_default();
        let value = (definition == of.max_def_level()).then(|| format!("{:?}", values.next().unwrap()));
        if repetition == 0 {
            rows.push(Vec::new());
        }
        rows.last_mut().unwrap().push((definition, repetition, value));
    }
    rows
}

/// A file as it is stored: all rows of each column, and the footer.
fn stored(path: &Path) -> (Vec<Rows>, ParquetMetaData) {
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let metadata = file.metadata().clone();
    let mut columns = vec![Rows::new(); metadata.file_metadata().schema_descr().num_columns()];
    for group in 0..metadata.num_row_groups() {
        let group = file.get_row_group(group).unwrap();
        for (at, column) in columns.iter_mut().enumerate() {
            let of = metadata.file_metadata().schema_descr().column(at);
            column.extend(match group.get_column_reader(at).unwrap() {
                ColumnReader::BoolColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::Int32ColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::Int64ColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::Int96ColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::FloatColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::DoubleColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::ByteArrayColumnReader(reader) => rows_of(reader, &of),
                ColumnReader::FixedLenByteArrayColumnReader(reader) => rows_of(reader, &of),
            });
        }
    }
    (columns, metadata)
}

const METADATA: [(&str, &str); 3] =
    [("ARROW:schema", "/////an opaque text"), ("huggingface", "{\"info\": {}}"), ("mine", "é")];

#[test]
fn every_type_stays_as_it_is_stored_and_only_the_removed_rows_are_gone() {
    let bench = Bench::new();
    write(&bench.path("train.parquet"), COLUMNS, &METADATA, &GROUPS);
    let cleaned = bench.cleaned("train.parquet");
    let ((before, source), (after, copy)) = (stored(&bench.path("train.parquet")), stored(&cleaned));
    let (source_file, copy_file) = (source.file_metadata(), copy.file_metadata());
    assert_eq!(source_file.schema(), copy_file.schema());
    assert_eq!(source_file.key_value_metadata(), copy_file.key_value_metadata());
    assert_eq!(copy.row_groups().iter().map(RowGroupMetaData::num_rows).collect::<Vec<_>>(), [7, 7]);
    for (at, column) in source_file.schema_descr().columns().iter().enumerate() {
        let name = format!("{} ({at})", column.path().string());
        assert_eq!(before[at].len(), 18, "{name}");
        let kept = (0..18).filter(|row| !REMOVED.contains(row)).map(|row| before[at][row].clone());
        assert_eq!(after[at], kept.collect::<Vec<_>>(), "{name}");
        for group in 0..2 {
            let (source, copy) = (source.row_group(group).column(at), copy.row_group(group).column(at));
            assert_eq!(source.compression_codec(), copy.compression_codec(), "{name}");
            assert_eq!(source.statistics().is_some(), copy.statistics().is_some(), "{name}");
            if !name.starts_with("twin") {
                assert_eq!(source.encodings_mask(), copy.encodings_mask(), "{name}");
            }
        }
        // The second row group loses no row, and has the same bytes.
        let bytes = |path: &Path, of: &ParquetMetaData| {
            let (start, length) = of.row_group(1).column(at).byte_range();
            let start = usize::try_from(start).unwrap();
            fs::read(path).unwrap()[start..start + usize::try_from(length).unwrap()].to_vec()
        };
        assert_eq!(bytes(&bench.path("train.parquet"), &source), bytes(&cleaned, &copy), "{name}");
    }
    // It has types of nulls and lists of nulls, and values of every other type.
    let n_values = |rows: &Rows| rows.iter().flatten().filter(|(.., value)| value.is_some()).count();
    let without: Vec<String> = (0..after.len())
        .filter(|&at| n_values(&after[at]) == 0)
        .map(|at| source_file.schema_descr().column(at).path().string())
        .collect();
    assert_eq!(without, ["nulls", "null_list.list.element"]);
}

#[test]
fn a_file_of_the_index_and_filters_of_a_query_engine_keeps_them() {
    let bench = Bench::new();
    let schema = Arc::new(parse_message_type("message m { required binary query (STRING); }").unwrap());
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_bloom_filter_enabled(true)
        .build();
    let file = File::create(bench.path("train.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for rows in [0..9, 9..16] {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        write_column(column.untyped(), 0, rows);
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    let (rows, copy) = stored(&bench.cleaned("train.parquet"));
    assert_eq!(rows[0].len(), 14);
    for group in copy.row_groups() {
        let column = group.column(0);
        assert!(column.bloom_filter_offset().is_some() && column.column_index_offset().is_some());
        assert!(column.offset_index_offset().is_some());
    }
}

#[test]
fn a_set_that_loses_no_row_has_the_same_bytes() {
    let bench = Bench::new();
    write(&bench.path("clean.parquet"), COLUMNS, &METADATA, &[1, 0]);
    let text = "\u{feff}{\"query\": \"Water the ferns of the bay.\"}\r\n\r\n{\"query\" : \"Mow the lawn in stripes.\"}";
    fs::write(bench.path("clean.jsonl"), text).unwrap();
    // Two members, as `cat` of two archives makes them.
    let mut packed = Vec::new();
    for part in text.split_inclusive("\r\n") {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, part.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    fs::write(bench.path("clean.jsonl.gz"), packed).unwrap();
    fs::write(bench.path("clean.jsonl.zst"), zstd::encode_all(text.as_bytes(), 19).unwrap()).unwrap();
    fs::write(bench.path("clean.csv"), "query;n\r\n\"Water the ferns\";1\r\nMow the lawn;2").unwrap();
    fs::write(bench.path("clean.json"), "[ {\"query\": \"Water the ferns.\"} ,\n {\"query\": \"Mow.\"}]")
        .unwrap();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(bench.path("utf16.jsonl"), utf16).unwrap();
    let names = [
        "clean.parquet",
        "clean.jsonl",
        "clean.jsonl.gz",
        "clean.jsonl.zst",
        "clean.csv",
        "clean.json",
        "utf16.jsonl",
    ];
    for name in names {
        let out = format!("out-{name}");
        let done = bench.audit(name, &out);
        assert_eq!(done.status.code(), Some(0), "{name}: {}", shown(&done));
        let cleaned = fs::read(bench.path(&out).join("dataset").join(name)).unwrap();
        assert!(cleaned == fs::read(bench.path(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_set_that_loses_all_rows_keeps_its_columns() {
    let bench = Bench::new();
    write(&bench.path("train.parquet"), "optional int32 n;", &METADATA, &[9, 7]);
    // All messages of the set are in the benchmark.
    let all: String =
        (0..16).map(|row| format!("{}\n", json!({"id": row.to_string(), "query": query(row)}))).collect();
    fs::write(bench.path("bench.jsonl"), all).unwrap();
    let (rows, copy) = stored(&bench.cleaned("train.parquet"));
    assert_eq!(rows, [Rows::new(), Rows::new()]);
    let (_, source) = stored(&bench.path("train.parquet"));
    assert_eq!(source.file_metadata().schema(), copy.file_metadata().schema());
    assert_eq!(source.file_metadata().key_value_metadata(), copy.file_metadata().key_value_metadata());
}

/// Writes a file again, with another compression in its footer.
fn relabel(from: &Path, to: &Path, codec: CompressionCodec) {
    let source = File::open(from).unwrap();
    let (_, metadata) = stored(from);
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let mut writer =
        SerializedFileWriter::new(File::create(to).unwrap(), schema, Arc::new(WriterProperties::default()))
            .unwrap();
    for group in metadata.row_groups() {
        let mut written = writer.next_row_group().unwrap();
        for (at, chunk) in group.columns().iter().enumerate() {
            let builder = chunk.clone().into_builder();
            let metadata =
                if at == 0 { builder } else { builder.set_compression_codec(codec) }.build().unwrap();
            let close = ColumnCloseResult {
                bytes_written: 0,
                rows_written: u64::try_from(group.num_rows()).unwrap(),
                metadata,
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            written.append_column(&source, close).unwrap();
        }
        written.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn columns_that_cannot_be_copied_are_listed_before_anything_is_compared() {
    let bench = Bench::new();
    write(&bench.path("train.parquet"), "optional int32 n; optional double x;", &METADATA, &GROUPS);
    relabel(&bench.path("train.parquet"), &bench.path("packed.parquet"), CompressionCodec::LZO);
    let refused = bench.audit("packed.parquet", "out");
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(
        text,
        "error: Parquet files that cannot be written again without some of their rows:\n\
         packed.parquet: column \"n\": the compression LZO is not supported\n\
         packed.parquet: column \"x\": the compression LZO is not supported\n\
         hint: write them again without these columns, or as JSON lines\n"
    );
    assert!(!bench.path("out").exists());
}

/// Replaces a file when a step begins.
struct Replacing {
    from: PathBuf,
    to: PathBuf,
}

impl Observer for Replacing {
    fn begin(&self, step: &str, _rows: Option<u64>) {
        if step == "export" {
            fs::copy(&self.from, &self.to).unwrap();
        }
    }
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused() {
    let bench = Bench::new();
    let audit = |train: &str, other: &str| {
        let set =
            |id: &str, key: &str, value: String| Override { id: id.to_owned(), key: key.to_owned(), value };
        let bench_file = format!("[{:?}]", bench.path("bench.jsonl").to_str().unwrap());
        let overrides = [
            set("drop-benchmark-overlap", "benchmarks", bench_file),
            set("ingest", "text_fields", "[\"query\"]".to_owned()),
            set("drop-benchmark-overlap", "text_fields", "[\"query\"]".to_owned()),
        ];
        let registry = Registry::standard();
        let mut pipeline = Pipeline::parse(RECIPE, "audit.toml", &overrides, &registry).unwrap();
        pipeline.set_inputs(vec![bench.path(train)]).unwrap();
        let replacing = Replacing { from: bench.path(other), to: bench.path(train) };
        let out = bench.path(&format!("out-{train}"));
        let done = execute(&pipeline, &out, &Options::default(), &replacing);
        done.map(|_| ()).map_err(|error| error.to_string())
    };
    let changed = |path: &str| {
        format!(
            "{}: the file was changed while the run was reading it\nhint: run the same command again when nothing writes to it",
            bench.path(path).display()
        )
    };
    // One row less than before; the same rows in other groups; no Parquet file; the same file.
    write(&bench.path("shorter.parquet"), "optional int32 n;", &METADATA, &[9, 7, 1]);
    write(&bench.path("other.parquet"), "optional int32 n;", &METADATA, &[18]);
    fs::write(bench.path("damaged.parquet"), "PAR1PAR1").unwrap();
    write(&bench.path("same.parquet"), "optional int32 n;", &METADATA, &GROUPS);
    for other in ["shorter.parquet", "other.parquet", "damaged.parquet"] {
        let train = format!("train-{other}");
        write(&bench.path(&train), "optional int32 n;", &METADATA, &GROUPS);
        assert_eq!(audit(&train, other), Err(changed(&train)), "{other}");
    }
    write(&bench.path("train.parquet"), "optional int32 n;", &METADATA, &GROUPS);
    assert_eq!(audit("train.parquet", "same.parquet"), Ok(()));
    // A set that loses no row.
    write(&bench.path("clean.parquet"), "optional int32 n;", &METADATA, &[1]);
    assert_eq!(audit("clean.parquet", "same.parquet"), Err(changed("clean.parquet")));
}
