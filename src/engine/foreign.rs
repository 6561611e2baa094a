//! Reads selected columns of Parquet files of other programs, row by row as JSON.
//!
//! Other programs write types that polars cannot decode, or decodes into values that panic when they are formatted. So
//! polars decodes only numbers and bytes: all annotations of leaves are removed from the schema, and this module
//! interprets them (text, times, decimals, 16-bit numbers) cell by cell. Columns that are not selected are never
//! decoded. A cell stays encoded until its row is read, and the size of a row is known before it is built, so a caller
//! can skip rows that are too long.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use half::f16;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, civil};
use polars::prelude::{
    BinaryChunked, BooleanChunked, DataType, Float32Chunked, Float64Chunked, Int32Chunked, Int64Chunked,
    ListChunked, ParquetReader, SerReader, Series,
};
use polars_parquet::parquet::metadata::{FileMetadata, SchemaDescriptor};
use polars_parquet::parquet::schema::types::{
    GroupConvertedType, GroupLogicalType, IntegerType, ParquetType, PhysicalType, PrimitiveConvertedType,
    PrimitiveLogicalType, PrimitiveType, TimeUnit,
};
use serde_json::{Map, Number, Value};

use super::error::{At, Error, Result};

/// The maximum number of rows that are decoded at a time.
const STRETCH_ROWS: usize = 16_384;
/// The maximum bytes that are decoded at a time, according to the footer.
const STRETCH_BYTES: usize = 64 << 20;
/// The bytes in memory of a value that takes none in the file: nulls and repeated values.
const VALUE_BYTES: usize = 16;
/// The maximum levels of lists and structs in a decoded column. The cost of decoding grows with the cube of the levels.
const MAX_LEVELS: usize = 64;
/// The maximum bytes of a decimal number that is formatted.
const MAX_DECIMAL_BYTES: usize = 64;

/// How a caller uses a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It is read; an unreadable cell is a fault of its row.
    Read,
    /// It is shown if possible.
    Shown,
    /// It is not decoded and is null in every row.
    No,
}

/// A Parquet file of another program; the footer is read once.
#[derive(Debug, Clone)]
pub struct ForeignFile {
    path: PathBuf,
    metadata: Arc<FileMetadata>,
    columns: Vec<Column>,
    height: usize,
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    /// The types of its leaves, in the order of the file; or the reason that it cannot be decoded.
    leaves: Result<Arc<[Leaf]>, String>,
}

/// The columns that are decoded.
#[derive(Debug, Clone)]
pub struct Selection(Vec<Need>);

impl ForeignFile {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// The file cannot be read, or is not a Parquet file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).at("reading", path)?;
        let metadata = ParquetReader::new(file).get_metadata().at("reading", path)?.clone();
        let mut columns: Vec<Column> = Vec::new();
        let mut fields = Vec::new();
        for field in metadata.schema_descr.fields() {
            let name = field.name().to_owned();
            let is_twice = columns.iter().any(|column| column.name == name);
            let leaves = if is_twice { Err("two columns of one name".to_owned()) } else { leaves_of(field) };
            if is_twice {
                let first = columns.iter_mut().find(|column| column.name == name);
                if let Some(first) = first {
                    first.leaves.clone_from(&leaves);
                }
                fields.retain(|field: &ParquetType| field.name() != name);
                continue;
            }
            if leaves.is_ok() {
                fields.push(bare(field));
            }
            columns.push(Column { name, leaves });
        }
        #[allow(clippy::redundant_closure_for_method_calls)] // The method's type is of a crate below polars.
        let height =
            metadata.row_groups.iter().try_fold(0_usize, |sum, group| sum.checked_add(group.num_rows()));
        let height = height.filter(|&height| height == metadata.num_rows).ok_or_else(|| {
            Error::Input(format!("{}: the footer counts rows that do not exist", path.display()))
        })?;
        let name = metadata.schema_descr.name().into();
        let metadata = FileMetadata {
            schema_descr: SchemaDescriptor::new(name, fields),
            // It holds the Arrow schema, with the types that are removed here.
            key_value_metadata: None,
            ..(*metadata).clone()
        };
        Ok(Self { path: path.to_owned(), metadata: Arc::new(metadata), columns, height })
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Selects columns by name.
    ///
    /// # Errors
    /// A column that is read cannot be decoded.
    pub fn select(&self, need: impl Fn(&str) -> Need) -> Result<Selection> {
        let need = |column: &Column| match (need(&column.name), &column.leaves) {
            (Need::Read, Err(why)) => Err(Error::Input(format!(
                "{}: column {:?} cannot be read: {why}\nhint: write the file again without it, or with its values as JSON text",
                self.path.display(),
                column.name
            ))),
            (_, Err(_)) => Ok(Need::No),
            (need, Ok(_)) => Ok(need),
        };
        self.columns.iter().map(need).collect::<Result<_>>().map(Selection)
    }

    /// Returns ranges of rows that can each be decoded in bounded memory, in order.
    pub fn stretches(&self, selection: &Selection) -> Vec<Range<usize>> {
        let mut stretches = Vec::new();
        let mut first = 0;
        for group in &self.metadata.row_groups {
            let n_rows = group.num_rows();
            let bytes = |column: &Column| {
                let chunks = group.columns_under_root_iter(&column.name).into_iter().flatten();
                let size = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
                chunks
                    .map(|chunk| {
                        size(chunk.uncompressed_size())
                            .max(size(chunk.num_values()).saturating_mul(VALUE_BYTES))
                    })
                    .fold(0, usize::saturating_add)
            };
            let bytes = self.selected(selection).map(bytes).fold(0, usize::saturating_add);
            let row_bytes = (bytes / n_rows.max(1)).max(1);
            let step = (STRETCH_BYTES / row_bytes).clamp(1, STRETCH_ROWS);
            stretches.extend((0..n_rows).step_by(step).map(|start| {
                let end = (start + step).min(n_rows);
                first + start..first + end
            }));
            first += n_rows;
        }
        stretches
    }

    fn selected(&self, selection: &Selection) -> impl Iterator<Item = &Column> {
        let needed = self.columns.iter().zip(&selection.0).filter(|(_, need)| **need != Need::No);
        needed.map(|(column, _)| column)
    }

    /// Decodes rows.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn read(&self, selection: &Selection, rows: Range<usize>) -> Result<ForeignRows> {
        let names: Vec<String> = self.selected(selection).map(|column| column.name.clone()).collect();
        let mut decoded = Vec::new();
        if !names.is_empty() && !rows.is_empty() {
            let file = File::open(&self.path).at("reading", &self.path)?;
            let mut reader =
                ParquetReader::new(file).with_slice(Some((rows.start, rows.len()))).with_columns(Some(names));
            reader.set_metadata(Arc::clone(&self.metadata));
            let frame = reader.finish().at("reading", &self.path)?;
            if frame.height() != rows.len() {
                let (got, wanted) = (frame.height(), rows.len());
                let what = format!("{}: expected {wanted} rows, found {got}", self.path.display());
                return Err(Error::Input(what));
            }
            decoded = frame.into_columns();
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut decoded = decoded.into_iter();
        for (column, &need) in self.columns.iter().zip(&selection.0) {
            let series = if need == Need::No { None } else { decoded.next() };
            let cells = match (series, &column.leaves) {
                (Some(series), Ok(leaves)) => Cells::of(series.as_materialized_series(), &mut &**leaves),
                _ => Cells::Nothing,
            };
            columns.push((column.name.clone(), need, cells));
        }
        Ok(ForeignRows { height: rows.len(), columns })
    }
}

/// The logical type of a leaf of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaf {
    /// As stored: a number, or text if the bytes are UTF-8.
    Plain,
    Unsigned,
    Float16,
    Uuid,
    Decimal {
        scale: usize,
    },
    Date,
    /// A time of day.
    Time {
        a_second: i64,
    },
    Timestamp {
        a_second: i64,
        is_utc: bool,
    },
    /// Bytes that are not text.
    Opaque(&'static str),
}

const MILLIS: i64 = 1_000;
const MICROS: i64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;

/// Returns the leaves of a column in the order of decoding, or the reason that it cannot be decoded.
fn leaves_of(field: &ParquetType) -> Result<Arc<[Leaf]>, String> {
    let mut leaves = Vec::new();
    add_leaves(field, 0, &mut leaves)?;
    if leaves.is_empty() { Err("a struct without members".to_owned()) } else { Ok(leaves.into()) }
}

fn add_leaves(field: &ParquetType, level: usize, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    if level > MAX_LEVELS {
        return Err(format!("lists and structs nested more than {MAX_LEVELS} levels deep"));
    }
    match field {
        ParquetType::PrimitiveType(primitive) => leaves.push(Leaf::of(primitive)),
        ParquetType::GroupType { fields, .. } if fields.is_empty() => {
            return Err("a struct without members".to_owned());
        }
        ParquetType::GroupType { fields, .. } => {
            fields.iter().try_for_each(|field| add_leaves(field, level + 1, leaves))?;
        }
    }
    Ok(())
}

/// Returns the type without annotations, as numbers and bytes; lists stay lists.
fn bare(field: &ParquetType) -> ParquetType {
    match field {
        ParquetType::PrimitiveType(primitive) => ParquetType::PrimitiveType(PrimitiveType {
            logical_type: None,
            converted_type: None,
            ..primitive.clone()
        }),
        ParquetType::GroupType { field_info, logical_type, converted_type, fields } => {
            let listed = match (logical_type, converted_type) {
                (None, Some(GroupConvertedType::List)) | (Some(GroupLogicalType::List), _) => {
                    Some(GroupLogicalType::List)
                }
                // A map is read as the list of its entries.
                (None, Some(_)) | (Some(GroupLogicalType::Map), _) => Some(GroupLogicalType::Map),
                _ => None,
            };
            ParquetType::GroupType {
                field_info: field_info.clone(),
                logical_type: listed,
                converted_type: None,
                fields: fields.iter().map(bare).collect(),
            }
        }
    }
}

impl Leaf {
    fn of(leaf: &PrimitiveType) -> Self {
        let is_fixed = matches!(leaf.physical_type, PhysicalType::FixedLenByteArray(_));
        let a_second = |unit: TimeUnit| match unit {
            TimeUnit::Milliseconds => MILLIS,
            TimeUnit::Microseconds => MICROS,
            TimeUnit::Nanoseconds => NANOS,
        };
        if leaf.physical_type == PhysicalType::Int96 {
            return Self::Timestamp { a_second: NANOS, is_utc: false };
        }
        match leaf.logical_type {
            Some(PrimitiveLogicalType::Float16) if is_fixed => Self::Float16,
            Some(PrimitiveLogicalType::Uuid) if is_fixed => Self::Uuid,
            Some(PrimitiveLogicalType::Bson) => Self::Opaque("BSON"),
            Some(PrimitiveLogicalType::Decimal(_, scale)) => Self::Decimal { scale },
            Some(PrimitiveLogicalType::Date) => Self::Date,
            Some(PrimitiveLogicalType::Time { unit, .. }) => Self::Time { a_second: a_second(unit) },
            Some(PrimitiveLogicalType::Timestamp { unit, is_adjusted_to_utc: is_utc }) => {
                Self::Timestamp { a_second: a_second(unit), is_utc }
            }
            Some(PrimitiveLogicalType::Integer(
                IntegerType::UInt8 | IntegerType::UInt16 | IntegerType::UInt32 | IntegerType::UInt64,
            )) => Self::Unsigned,
            Some(_) => Self::Plain,
            None => match leaf.converted_type {
                Some(PrimitiveConvertedType::Decimal(_, scale)) => Self::Decimal { scale },
                Some(PrimitiveConvertedType::Date) => Self::Date,
                Some(PrimitiveConvertedType::TimeMillis) => Self::Time { a_second: MILLIS },
                Some(PrimitiveConvertedType::TimeMicros) => Self::Time { a_second: MICROS },
                Some(PrimitiveConvertedType::TimestampMillis) => {
                    Self::Timestamp { a_second: MILLIS, is_utc: true }
                }
                Some(PrimitiveConvertedType::TimestampMicros) => {
                    Self::Timestamp { a_second: MICROS, is_utc: true }
                }
                Some(
                    PrimitiveConvertedType::Uint8
                    | PrimitiveConvertedType::Uint16
                    | PrimitiveConvertedType::Uint32
                    | PrimitiveConvertedType::Uint64,
                ) => Self::Unsigned,
                Some(PrimitiveConvertedType::Bson) => Self::Opaque("BSON"),
                Some(PrimitiveConvertedType::Interval) => Self::Opaque("an interval"),
                _ => Self::Plain,
            },
        }
    }

    /// Returns the value of a whole number; a time outside the calendar stays the stored number.
    fn of_int(self, stored: i64, n_bits: u32) -> Value {
        match self {
            Self::Unsigned if n_bits == i32::BITS => (stored & i64::from(u32::MAX)).into(),
            Self::Unsigned => stored.cast_unsigned().into(),
            Self::Decimal { scale } => decimal(&stored.to_be_bytes(), scale).unwrap_or_else(|| stored.into()),
            Self::Date | Self::Time { .. } | Self::Timestamp { .. } => {
                self.time(stored).map_or_else(|| stored.into(), Value::String)
            }
            _ => stored.into(),
        }
    }

    fn time(self, stored: i64) -> Option<String> {
        let since = |a_second: i64| {
            let nanos = stored.rem_euclid(a_second) * (NANOS / a_second);
            SignedDuration::new(stored.div_euclid(a_second), i32::try_from(nanos).unwrap_or_default())
        };
        match self {
            Self::Date => {
                let days = Span::new().try_days(stored).ok()?;
                civil::date(1970, 1, 1).checked_add(days).ok().map(|date| date.to_string())
            }
            Self::Time { a_second } => {
                civil::Time::midnight().checked_add(since(a_second)).ok().map(|time| time.to_string())
            }
            Self::Timestamp { a_second, is_utc } => {
                let time = Timestamp::from_duration(since(a_second)).ok()?;
                // Without a zone it is local time.
                Some(if is_utc { time.to_string() } else { TimeZone::UTC.to_datetime(time).to_string() })
            }
            _ => None,
        }
    }

    /// Returns the value of bytes, or a description of bytes without a readable value.
    fn of_bytes(self, bytes: &[u8]) -> Result<Value, String> {
        match (self, bytes) {
            (Self::Float16, &[low, high]) => Ok(f16::from_le_bytes([low, high]).to_f32().into()),
            (Self::Uuid, bytes) if bytes.len() == 16 => Ok(uuid(bytes).into()),
            (Self::Decimal { scale }, bytes) => {
                decimal(bytes, scale).ok_or_else(|| format!("a decimal number of {} bytes", bytes.len()))
            }
            (Self::Opaque(what), _) => Err(format!("{what}, not text")),
            (_, bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.into()),
                Err(error) => Err(format!(
                    "{} bytes that are not UTF-8, from byte {} on",
                    bytes.len(),
                    error.valid_up_to()
                )),
            },
        }
    }
}

fn uuid(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Returns a big-endian number in two's complement as a decimal with `scale` digits after the point.
fn decimal(bytes: &[u8], scale: usize) -> Option<Value> {
    if bytes.len() > MAX_DECIMAL_BYTES || scale > MAX_DECIMAL_BYTES * 3 {
        return None;
    }
    let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let mut magnitude: Vec<u8> = bytes.iter().map(|byte| if is_negative { !byte } else { *byte }).collect();
    if is_negative {
        for byte in magnitude.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
    // The last digit comes first.
    let mut digits = Vec::new();
    while digits.len() <= scale || magnitude.iter().any(|byte| *byte != 0) {
        let rest = magnitude.iter_mut().fold(0_u32, |rest, byte| {
            let part = rest << 8 | u32::from(*byte);
            *byte = u8::try_from(part / 10).expect("the rest is less than 10");
            part % 10
        });
        digits.push(char::from_digit(rest, 10).expect("the rest is less than 10"));
    }
    while digits.len() > scale + 1 && digits.last() == Some(&'0') {
        digits.pop();
    }
    let whole: String = digits[scale..].iter().rev().collect();
    let part: String = digits[..scale].iter().rev().collect();
    let sign = if is_negative { "-" } else { "" };
    let text = if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") };
    text.parse::<Number>().ok().map(Value::Number)
}

/// Decoded rows; a cell is converted on access.
#[derive(Debug)]
pub struct ForeignRows {
    height: usize,
    columns: Vec<(String, Need, Cells)>,
}

/// A row as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignRow {
    /// Its cells, in the order of the columns.
    pub object: Map<String, Value>,
    /// The first read column with an unreadable cell, and a description of the cell.
    pub fault: Option<(String, String)>,
}

impl ForeignRows {
    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the approximate size of the row as text, in bytes.
    pub fn row_bytes(&self, row: usize) -> usize {
        self.columns.iter().map(|(name, _, cells)| name.len() + cells.bytes(row)).sum()
    }

    /// Returns a row; a cell that cannot be read is null.
    pub fn row(&self, row: usize) -> ForeignRow {
        let mut fault = None;
        let mut object = Map::with_capacity(self.columns.len());
        for (name, need, cells) in &self.columns {
            let mut unreadable = None;
            let value = cells.json(row, &mut unreadable);
            if let Some(what) = unreadable.filter(|_| *need == Need::Read && fault.is_none()) {
                fault = Some((name.clone(), what));
            }
            object.insert(name.clone(), value);
        }
        ForeignRow { object, fault }
    }

    /// Returns `true` if a column holds text, according to its type.
    pub fn is_text(&self, column: &str) -> bool {
        matches!(self.cells(column), Some(Cells::Bytes(_, Leaf::Plain)))
    }

    /// Returns a text cell; `None` if it is null or has another type.
    pub fn text(&self, column: &str, row: usize) -> Option<&str> {
        let Some(Cells::Bytes(cells, Leaf::Plain)) = self.cells(column) else { return None };
        std::str::from_utf8(cells.get(row)?).ok()
    }

    fn cells(&self, column: &str) -> Option<&Cells> {
        self.columns.iter().find(|(name, _, _)| name == column).map(|(_, _, cells)| cells)
    }

    /// Returns a cell with a list of numbers; `None` if it is null, has another type or contains other values.
    pub fn floats(&self, column: &str, row: usize) -> Option<Vec<f32>> {
        let Some(Cells::List(list, leaves)) = self.cells(column) else { return None };
        let inner = list.get_as_series(row)?;
        let numbers = Cells::of(&inner, &mut &**leaves);
        (0..inner.len()).map(|at| numbers.float(at)).collect()
    }
}

/// The cells of a column, or of a level inside it.
#[derive(Debug)]
enum Cells {
    Nothing,
    Flags(BooleanChunked),
    Short(Int32Chunked, Leaf),
    Long(Int64Chunked, Leaf),
    Single(Float32Chunked),
    Double(Float64Chunked),
    Bytes(BinaryChunked, Leaf),
    List(ListChunked, Arc<[Leaf]>),
    Struct { is_there: BooleanChunked, members: Vec<(String, Cells)> },
}

impl Cells {
    /// Returns the cells of a series, and takes its leaves from the front of `leaves`.
    fn of(series: &Series, leaves: &mut &[Leaf]) -> Self {
        if let DataType::List(_) = series.dtype() {
            let n_leaves = n_leaves(series.dtype());
            let (own, rest) = leaves.split_at(n_leaves.min(leaves.len()));
            *leaves = rest;
            return series.list().map_or(Self::Nothing, |list| Self::List(list.clone(), own.into()));
        }
        if let Ok(structs) = series.struct_() {
            let members = structs.fields_as_series();
            let members =
                members.iter().map(|member| (member.name().to_string(), Self::of(member, leaves))).collect();
            return Self::Struct { is_there: series.is_not_null(), members };
        }
        let leaf = leaves.split_first().map_or(Leaf::Plain, |(leaf, rest)| {
            *leaves = rest;
            *leaf
        });
        let series = series.to_physical_repr();
        match series.dtype() {
            DataType::Boolean => series.bool().cloned().map(Self::Flags),
            DataType::Int32 => series.i32().cloned().map(|cells| Self::Short(cells, leaf)),
            DataType::Int64 => series.i64().cloned().map(|cells| Self::Long(cells, leaf)),
            DataType::Float32 => series.f32().cloned().map(Self::Single),
            DataType::Float64 => series.f64().cloned().map(Self::Double),
            DataType::Binary => series.binary().cloned().map(|cells| Self::Bytes(cells, leaf)),
            _ => Ok(Self::Nothing),
        }
        .unwrap_or(Self::Nothing)
    }

    /// Returns the approximate size of a cell as text, in bytes.
    fn bytes(&self, row: usize) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Bytes(cells, _) => cells.get(row).map_or(0, <[u8]>::len),
            Self::List(cells, leaves) => cells.get_as_series(row).map_or(0, |inner| {
                let cells = Self::of(&inner, &mut &**leaves);
                (0..inner.len()).map(|at| cells.bytes(at)).sum()
            }),
            Self::Struct { members, .. } => {
                members.iter().map(|(name, cells)| name.len() + cells.bytes(row)).sum()
            }
            Self::Flags(_) | Self::Short(..) | Self::Long(..) | Self::Single(_) | Self::Double(_) => {
                VALUE_BYTES
            }
        }
    }

    /// Returns a cell as JSON; the first unreadable one is described in `unreadable`.
    fn json(&self, row: usize, unreadable: &mut Option<String>) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Flags(cells) => cells.get(row).into(),
            Self::Short(cells, leaf) => {
                cells.get(row).map_or(Value::Null, |n| leaf.of_int(n.into(), i32::BITS))
            }
            Self::Long(cells, leaf) => cells.get(row).map_or(Value::Null, |n| leaf.of_int(n, i64::BITS)),
            Self::Single(cells) => cells.get(row).into(),
            Self::Double(cells) => cells.get(row).into(),
            Self::Bytes(cells, leaf) => match cells.get(row).map(|bytes| leaf.of_bytes(bytes)) {
                None => Value::Null,
                Some(Ok(value)) => value,
                Some(Err(what)) => {
                    unreadable.get_or_insert(what);
                    Value::Null
                }
            },
            Self::List(cells, leaves) => cells.get_as_series(row).map_or(Value::Null, |inner| {
                let cells = Self::of(&inner, &mut &**leaves);
                (0..inner.len()).map(|at| cells.json(at, unreadable)).collect()
            }),
            Self::Struct { is_there, .. } if is_there.get(row) != Some(true) => Value::Null,
            // All structs of a column have the same members in Parquet, so a member that a row lacks is null there.
            Self::Struct { members, .. } => Value::Object(
                members
                    .iter()
                    .map(|(name, cells)| (name.clone(), cells.json(row, unreadable)))
                    .filter(|(_, value)| !value.is_null())
                    .collect(),
            ),
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // Vectors are single precision.
    fn float(&self, row: usize) -> Option<f32> {
        match self {
            Self::Short(cells, _) => cells.get(row).map(|n| n as f32),
            Self::Long(cells, _) => cells.get(row).map(|n| n as f32),
            Self::Single(cells) => cells.get(row),
            Self::Double(cells) => cells.get(row).map(|n| n as f32),
            Self::Bytes(cells, Leaf::Float16) => {
                let bytes: [u8; 2] = cells.get(row)?.try_into().ok()?;
                Some(f16::from_le_bytes(bytes).to_f32())
            }
            _ => None,
        }
    }
}

fn n_leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::List(inner) => n_leaves(inner),
        DataType::Struct(members) => members.iter().map(|member| n_leaves(member.dtype())).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(name: &str) -> ForeignFile {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet");
        ForeignFile::open(&folder.join(name).with_extension("parquet")).unwrap()
    }

    /// Returns the rows of a file, with what is wrong with them.
    fn rows(name: &str, need: impl Fn(&str) -> Need) -> Vec<ForeignRow> {
        let file = open(name);
        let selection = file.select(need).unwrap();
        let stretches = file.stretches(&selection).into_iter();
        let read = stretches.map(|stretch| file.read(&selection, stretch).unwrap());
        let rows: Vec<ForeignRow> =
            read.flat_map(|rows| (0..rows.height()).map(|row| rows.row(row)).collect::<Vec<_>>()).collect();
        assert_eq!(rows.len(), file.height());
        rows
    }

    #[test]
    fn bytes_without_an_annotation_are_text_and_other_bytes_a_fault_where_they_are_read() {
        let text = rows("binary", |_| Need::Read);
        assert!(
            text[1].object["prompt"]
                .as_str()
                .unwrap()
                .ends_with("is any of the other days of that week a better one?")
        );
        let nested = rows("binary_nested", |_| Need::Read);
        assert_eq!(nested[0].object["messages"][0]["role"], "user");
        let other = rows("not_text", |_| Need::Read);
        let what = "12 bytes that are not UTF-8, from byte 0 on".to_owned();
        assert_eq!((&other[0].fault, &other[1].fault), (&None, &Some(("prompt".to_owned(), what))));
        assert_eq!(rows("not_text", |_| Need::Shown)[1].fault, None);
    }

    #[test]
    fn unread_columns_of_any_type_cause_no_error_and_every_type_can_be_shown() {
        let is_read = |name: &str| if ["prompt", "function"].contains(&name) { Need::Read } else { Need::No };
        let unread = rows("unread", is_read);
        assert!(unread[0].object["prompt"].is_string() && unread[0].object["embedding"].is_null());
        let shown = rows("unread", |_| Need::Shown);
        let object = &shown[0].object;
        assert_eq!(object["embedding"], json!([1.5, -2.0]));
        assert_eq!(object["embedding_of_fixed_size"], json!([1.5, -2.0]));
        assert_eq!((&object["half"], &object["half_in_struct"]), (&json!(1.5), &json!({"x": 1.5})));
        assert_eq!(object["large_decimal"].to_string(), "1.50");
        assert_eq!(
            (&object["at_offset"], &object["at_z"]),
            (&json!("1970-01-01T00:00:00Z"), &json!("1970-01-01T00:00:00Z"))
        );
        assert_eq!(object["millis_that_are_nanos"], json!(1_718_000_000_000_000_000_i64));
        assert_eq!((&object["day_out_of_range"], &object["thumbnail"]), (&json!(i32::MAX), &Value::Null));
        assert_eq!(shown[0].fault, None);
    }

    #[test]
    fn times_decimals_and_ids_are_converted() {
        let rows = rows("read_types", |_| Need::Read);
        let object = &rows[1].object;
        assert_eq!(object["ts"], "2024-06-10T06:13:20.005Z");
        assert_eq!(object["user"].to_string(), "-12345678901234567890123456789012345678901234.50");
        assert_eq!(object["session"], "00010203-0405-0607-0809-0a0b0c0d0e0f");
        assert_eq!(object["status"], 404);
    }

    #[test]
    fn a_column_of_many_levels_is_skipped_and_refused_by_name_if_it_is_read() {
        let is_read = |name: &str| if name == "prompt" { Need::Read } else { Need::Shown };
        assert!(rows("deep", is_read)[0].object["prompt"].is_string());
        let error = open("deep_and_read").select(is_read).unwrap_err().to_string();
        assert!(
            error.contains(
                "deep_and_read.parquet: column \"prompt\" cannot be read: lists and structs nested"
            ),
            "{error}"
        );
    }

    #[test]
    fn a_dictionary_takes_memory_once_and_each_row_knows_its_size() {
        let file = open("dictionary");
        let selection = file.select(|_| Need::Read).unwrap();
        let n_rows: usize = file.stretches(&selection).iter().map(ExactSizeIterator::len).sum();
        assert_eq!(n_rows, 300);
        let rows = file.read(&selection, 0..300).unwrap();
        assert!((0..300).all(|row| rows.row_bytes(row) > 1_000_000));
        assert_eq!(rows.row(299).object["prompt"].as_str().unwrap().len(), 1_000_000);
    }

    #[test]
    fn a_file_without_rows_has_names_and_vectors_of_halves_are_numbers() {
        let file = open("empty");
        assert_eq!((file.height(), file.names().collect::<Vec<_>>()), (0, vec!["prompt", "function"]));
        let file = open("vectors");
        let selection = file.select(|name| if name == "at" { Need::No } else { Need::Read }).unwrap();
        let rows = file.read(&selection, 0..2).unwrap();
        assert_eq!(rows.floats("vector", 0), Some(vec![0.5, 0.25]));
        assert_eq!(
            (rows.floats("text", 0), rows.is_text("text"), rows.is_text("vector")),
            (None, true, false)
        );
        assert!(rows.text("text", 1).unwrap().starts_with("Will it rain"));
    }

    #[test]
    fn decimals_of_any_sign_and_scale_are_written_out() {
        for (bytes, scale, text) in [
            (&[0_u8][..], 0, "0"),
            (&[0x7f], 0, "127"),
            (&[0xff], 0, "-1"),
            (&[0x80], 2, "-1.28"),
            (&[0x05], 3, "0.005"),
            (&[0x01, 0x00], 1, "25.6"),
            (&[], 1, "0.0"),
        ] {
            assert_eq!(decimal(bytes, scale).unwrap().to_string(), text);
        }
        assert_eq!(decimal(&[1; MAX_DECIMAL_BYTES + 1], 0), None);
    }
}
