//! Reads selected columns of Parquet files of other programs, row by row as JSON.
//!
//! Other programs write types that a reader does not know, or that have no value where they are out of range. So only
//! numbers and bytes are decoded: all annotations of leaves are removed from the schema, and this module interprets them
//! (text, times, decimals, 16-bit numbers) cell by cell. Columns that are not selected are never decoded. A cell stays
//! encoded until its row is read, and the size of a row is known before it is built, so a caller can skip rows that are
//! too long.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, TimestampNanosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, ListArray, StructArray,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use half::f16;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, civil};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::schema::types::{SchemaDescriptor, Type};
use serde_json::{Map, Number, Value};

use super::error::{At, Error, Result, unless_damaged};
use super::parquet_rows;

/// The maximum number of rows that are decoded at a time.
const STRETCH_ROWS: usize = 16_384;
/// The maximum bytes that are decoded at a time, according to the footer.
const STRETCH_BYTES: usize = 64 << 20;
/// The bytes in memory of a value that takes none in the file: nulls and repeated values.
const VALUE_BYTES: usize = 16;
/// The maximum levels of lists and structs in a decoded column.
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
    /// The footer with the columns that can be decoded, without annotations.
    metadata: ArrowReaderMetadata,
    columns: Vec<Column>,
    height: usize,
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    /// Where it is in the file and what it holds; or the reason that it cannot be decoded.
    decoded: Result<Decoded, String>,
}

#[derive(Debug, Clone)]
struct Decoded {
    /// Its place among the columns that can be decoded.
    place: usize,
    /// Its leaves among those of the columns that can be decoded.
    chunks: Range<usize>,
    /// The types of its leaves, in the order of the file.
    leaves: Vec<Leaf>,
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
        unless_damaged(path, || {
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).at("reading", path)?;
            Self::of(path, &metadata)
        })
    }

    fn of(path: &Path, metadata: &ParquetMetaData) -> Result<Self> {
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let mut columns: Vec<Column> = Vec::new();
        let (mut bare_fields, mut chunks, mut first) = (Vec::new(), Vec::new(), 0);
        for field in fields {
            let of_field = first..first + n_leaves(field);
            first = of_field.end;
            let name = field.name().to_owned();
            let is_twice = fields.iter().filter(|other| other.name() == name).count() > 1;
            if is_twice {
                if columns.iter().all(|column| column.name != name) {
                    columns.push(Column { name, decoded: Err("two columns of one name".to_owned()) });
                }
                continue;
            }
            let decoded = leaves_of(field).and_then(|leaves| {
                let place = bare_fields.len();
                bare_fields.push(Arc::new(bare(field).map_err(|error| error.to_string())?));
                let start = chunks.len();
                chunks.extend(of_field);
                Ok(Decoded { place, chunks: start..chunks.len(), leaves })
            });
            columns.push(Column { name, decoded });
        }
        let root = Type::group_type_builder(schema.name()).with_fields(bare_fields).build();
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(root.at("reading", path)?)));
        let groups = metadata.row_groups().iter().map(|group| {
            let chunks = chunks.iter().filter_map(|&at| group.columns().get(at).cloned());
            RowGroupMetaData::builder(Arc::clone(&schema))
                .set_num_rows(group.num_rows())
                .set_total_byte_size(group.total_byte_size())
                .set_column_metadata(chunks.collect())
                .build()
                .at("reading", path)
        });
        let groups = groups.collect::<Result<Vec<_>>>()?;
        let height = groups
            .iter()
            .try_fold(0_i64, |sum, group| sum.checked_add(group.num_rows()).filter(|sum| *sum >= 0));
        let n_rows = metadata.file_metadata().num_rows();
        let height =
            height.filter(|&height| height == n_rows).and_then(|height| usize::try_from(height).ok());
        let height = height.ok_or_else(|| {
            Error::Input(format!("{}: the footer counts rows that do not exist", path.display()))
        })?;
        // Without its metadata: it holds the Arrow schema, with the types that are removed here.
        let facts = FileMetaData::new(metadata.file_metadata().version(), n_rows, None, None, schema, None);
        let metadata = with_views(Arc::new(ParquetMetaData::new(facts, groups))).at("reading", path)?;
        Ok(Self { path: path.to_owned(), metadata, columns, height })
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
        let need = |column: &Column| match (need(&column.name), &column.decoded) {
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
        for group in self.metadata.metadata().row_groups() {
            let size = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
            let n_rows = size(group.num_rows());
            let chunks = self.selected(selection).flat_map(|column| &group.columns()[column.chunks.clone()]);
            let bytes = chunks
                .map(|chunk| {
                    size(chunk.uncompressed_size()).max(size(chunk.num_values()).saturating_mul(VALUE_BYTES))
                })
                .fold(0, usize::saturating_add);
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

    fn selected(&self, selection: &Selection) -> impl Iterator<Item = &Decoded> {
        let needed = self.columns.iter().zip(&selection.0).filter(|(_, need)| **need != Need::No);
        needed.filter_map(|(column, _)| column.decoded.as_ref().ok())
    }

    /// Decodes rows.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn read(&self, selection: &Selection, rows: Range<usize>) -> Result<ForeignRows> {
        let places: Vec<usize> = self.selected(selection).map(|column| column.place).collect();
        let arrays =
            if places.is_empty() || rows.is_empty() { Vec::new() } else { self.arrays(places, &rows)? };
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut arrays = arrays.iter();
        for (column, &need) in self.columns.iter().zip(&selection.0) {
            let cells = match &column.decoded {
                Ok(decoded) if need != Need::No => {
                    arrays.next().map_or(Cells::Nothing, |array| Cells::of(array, &mut &*decoded.leaves))
                }
                _ => Cells::Nothing,
            };
            columns.push((column.name.clone(), need, cells));
        }
        Ok(ForeignRows { height: rows.len(), columns })
    }

    fn arrays(&self, places: Vec<usize>, rows: &Range<usize>) -> Result<Vec<ArrayRef>> {
        let projection = ProjectionMask::roots(self.metadata.parquet_schema(), places);
        let batch = parquet_rows::read(&self.path, &self.metadata, projection, rows)?;
        if batch.num_rows() == rows.len() {
            return Ok(batch.columns().to_vec());
        }
        let (got, wanted) = (batch.num_rows(), rows.len());
        Err(Error::Input(format!("{}: expected {wanted} rows, found {got}", self.path.display())))
    }
}

/// Returns a footer whose bytes are decoded as views: rows that share a value of a dictionary share its memory.
fn with_views(metadata: Arc<ParquetMetaData>) -> parquet::errors::Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options.clone())?;
    let views = Schema::new(plain.schema().fields().iter().map(viewed).collect::<Fields>());
    ArrowReaderMetadata::try_new(metadata, options.with_schema(Arc::new(views)))
}

fn viewed(field: &Arc<Field>) -> Arc<Field> {
    let data_type = match field.data_type() {
        DataType::Binary => DataType::BinaryView,
        DataType::List(element) => DataType::List(viewed(element)),
        DataType::Struct(members) => DataType::Struct(members.iter().map(viewed).collect()),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
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
fn leaves_of(field: &Type) -> Result<Vec<Leaf>, String> {
    let mut leaves = Vec::new();
    add_leaves(field, 0, &mut leaves)?;
    Ok(leaves)
}

fn add_leaves(field: &Type, level: usize, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    if level > MAX_LEVELS {
        return Err(format!("lists and structs nested more than {MAX_LEVELS} levels deep"));
    }
    match field {
        Type::PrimitiveType { physical_type: PhysicalType::FIXED_LEN_BYTE_ARRAY, type_length, .. }
            if *type_length < 1 =>
        {
            return Err("values of no bytes".to_owned());
        }
        Type::PrimitiveType { .. } => leaves.push(Leaf::of(field)),
        Type::GroupType { fields, .. } if fields.is_empty() => {
            return Err("a struct without members".to_owned());
        }
        Type::GroupType { fields, .. } => {
            fields.iter().try_for_each(|field| add_leaves(field, level + 1, leaves))?;
        }
    }
    Ok(())
}

fn n_leaves(field: &Type) -> usize {
    match field {
        Type::PrimitiveType { .. } => 1,
        Type::GroupType { fields, .. } => fields.iter().map(|field| n_leaves(field)).sum(),
    }
}

/// Returns the type without annotations, as numbers and bytes; lists stay lists.
fn bare(field: &Type) -> parquet::errors::Result<Type> {
    let repetition = repetition(field);
    match field {
        Type::PrimitiveType { physical_type, type_length, .. } => {
            Type::primitive_type_builder(field.name(), *physical_type)
                .with_repetition(repetition)
                .with_length(*type_length)
                .build()
        }
        Type::GroupType { fields, .. } => {
            let bare_fields: Result<Vec<_>, _> =
                fields.iter().map(|field| bare(field).map(Arc::new)).collect();
            Type::group_type_builder(field.name())
                .with_repetition(repetition)
                .with_logical_type(is_list(field).then_some(LogicalType::List))
                .with_fields(bare_fields?)
                .build()
        }
    }
}

fn repetition(field: &Type) -> Repetition {
    let info = field.get_basic_info();
    if info.has_repetition() { info.repetition() } else { Repetition::REQUIRED }
}

/// Returns `true` for a group that is annotated as a list or a map, and has the form of one. A map is read as the list of
/// its entries.
fn is_list(group: &Type) -> bool {
    let info = group.get_basic_info();
    let is_annotated = match info.logical_type_ref() {
        Some(logical) => matches!(logical, LogicalType::List | LogicalType::Map),
        None => matches!(
            info.converted_type(),
            ConvertedType::LIST | ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE
        ),
    };
    let has_the_form = match group.get_fields() {
        [element] => repetition(element) == Repetition::REPEATED,
        _ => false,
    };
    is_annotated && has_the_form && repetition(group) != Repetition::REPEATED
}

impl Leaf {
    fn of(leaf: &Type) -> Self {
        let physical = leaf.get_physical_type();
        let is_fixed = physical == PhysicalType::FIXED_LEN_BYTE_ARRAY;
        let a_second = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => MILLIS,
            TimeUnit::MICROS => MICROS,
            TimeUnit::NANOS => NANOS,
        };
        if physical == PhysicalType::INT96 {
            return Self::Timestamp { a_second: NANOS, is_utc: false };
        }
        match leaf.get_basic_info().logical_type_ref() {
            Some(LogicalType::Float16) if is_fixed => Self::Float16,
            Some(LogicalType::Uuid) if is_fixed => Self::Uuid,
            Some(LogicalType::Bson) => Self::Opaque("BSON"),
            Some(LogicalType::Decimal(decimal)) => Self::decimal(decimal.scale),
            Some(LogicalType::Date) => Self::Date,
            Some(LogicalType::Time(time)) => Self::Time { a_second: a_second(&time.unit) },
            Some(LogicalType::Timestamp(time)) => {
                Self::Timestamp { a_second: a_second(&time.unit), is_utc: time.is_adjusted_to_u_t_c }
            }
            Some(LogicalType::Integer(integer)) if !integer.is_signed => Self::Unsigned,
            Some(_) => Self::Plain,
            None => match leaf.get_basic_info().converted_type() {
                ConvertedType::DECIMAL => Self::decimal(leaf.get_scale()),
                ConvertedType::DATE => Self::Date,
                ConvertedType::TIME_MILLIS => Self::Time { a_second: MILLIS },
                ConvertedType::TIME_MICROS => Self::Time { a_second: MICROS },
                ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp { a_second: MILLIS, is_utc: true },
                ConvertedType::TIMESTAMP_MICROS => Self::Timestamp { a_second: MICROS, is_utc: true },
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Self::Unsigned,
                ConvertedType::BSON => Self::Opaque("BSON"),
                ConvertedType::INTERVAL => Self::Opaque("an interval"),
                _ => Self::Plain,
            },
        }
    }

    fn decimal(scale: i32) -> Self {
        Self::Decimal { scale: usize::try_from(scale).unwrap_or(usize::MAX) }
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
        matches!(self.cells(column), Some(Cells::Bytes(_, Leaf::Plain) | Cells::Fixed(_, Leaf::Plain)))
    }

    /// Returns a text cell; `None` if it is null or has another type.
    pub fn text(&self, column: &str, row: usize) -> Option<&str> {
        let (bytes, leaf) = self.cells(column)?.stored(row)?;
        if leaf == Leaf::Plain { std::str::from_utf8(bytes).ok() } else { None }
    }

    fn cells(&self, column: &str) -> Option<&Cells> {
        self.columns.iter().find(|(name, _, _)| name == column).map(|(_, _, cells)| cells)
    }

    /// Returns a cell with a list of numbers; `None` if it is null, has another type or contains other values.
    pub fn floats(&self, column: &str, row: usize) -> Option<Vec<f32>> {
        let Some(Cells::List(list, inner)) = self.cells(column) else { return None };
        elements(list, row)?.map(|at| inner.float(at)).collect()
    }
}

/// Returns the places of the elements of a list; `None` if it is null.
fn elements(list: &ListArray, row: usize) -> Option<Range<usize>> {
    if list.is_null(row) {
        return None;
    }
    let offset = |at: usize| usize::try_from(list.value_offsets()[at]).ok();
    Some(offset(row)?..offset(row + 1)?)
}

/// The cells of a column, or of a level inside it.
#[derive(Debug)]
enum Cells {
    Nothing,
    Flags(BooleanArray),
    Short(Int32Array, Leaf),
    Long(Int64Array, Leaf),
    Single(Float32Array),
    Double(Float64Array),
    Bytes(BinaryViewArray, Leaf),
    Fixed(FixedSizeBinaryArray, Leaf),
    List(ListArray, Box<Self>),
    Struct(StructArray, Vec<(String, Self)>),
}

impl Cells {
    /// Returns the cells of an array, and takes its leaves from the front of `leaves`.
    fn of(array: &ArrayRef, leaves: &mut &[Leaf]) -> Self {
        if let Some(list) = array.as_list_opt::<i32>() {
            return Self::List(list.clone(), Box::new(Self::of(list.values(), leaves)));
        }
        if let Some(structs) = array.as_struct_opt() {
            let members = structs.fields().iter().zip(structs.columns());
            let members = members.map(|(field, member)| (field.name().clone(), Self::of(member, leaves)));
            let members = members.collect();
            return Self::Struct(structs.clone(), members);
        }
        let leaf = leaves.split_first().map_or(Leaf::Plain, |(leaf, rest)| {
            *leaves = rest;
            *leaf
        });
        match array.data_type() {
            DataType::Boolean => Self::Flags(array.as_boolean().clone()),
            DataType::Int32 => Self::Short(array.as_primitive().clone(), leaf),
            DataType::Int64 => Self::Long(array.as_primitive().clone(), leaf),
            DataType::Timestamp(..) => {
                let times = array.as_primitive_opt::<TimestampNanosecondType>();
                times.map_or(Self::Nothing, |times| Self::Long(times.reinterpret_cast::<Int64Type>(), leaf))
            }
            DataType::Float32 => Self::Single(array.as_primitive().clone()),
            DataType::Float64 => Self::Double(array.as_primitive().clone()),
            DataType::BinaryView => Self::Bytes(array.as_binary_view().clone(), leaf),
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone(), leaf),
            _ => Self::Nothing,
        }
    }

    /// Returns the bytes of a cell; `None` if it is null or has none.
    fn stored(&self, row: usize) -> Option<(&[u8], Leaf)> {
        match self {
            Self::Bytes(cells, leaf) if cells.is_valid(row) => Some((cells.value(row), *leaf)),
            Self::Fixed(cells, leaf) if cells.is_valid(row) => Some((cells.value(row), *leaf)),
            _ => None,
        }
    }

    /// Returns the approximate size of a cell as text, in bytes.
    fn bytes(&self, row: usize) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Bytes(..) | Self::Fixed(..) => self.stored(row).map_or(0, |(bytes, _)| bytes.len()),
            Self::List(list, inner) => {
                elements(list, row).unwrap_or_default().map(|at| inner.bytes(at)).sum()
            }
            Self::Struct(_, members) => {
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
            Self::Flags(cells) => cells.is_valid(row).then(|| cells.value(row)).into(),
            Self::Short(cells, leaf) => {
                valid(cells, row).map_or(Value::Null, |()| leaf.of_int(cells.value(row).into(), i32::BITS))
            }
            Self::Long(cells, leaf) => {
                valid(cells, row).map_or(Value::Null, |()| leaf.of_int(cells.value(row), i64::BITS))
            }
            Self::Single(cells) => valid(cells, row).map(|()| cells.value(row)).into(),
            Self::Double(cells) => valid(cells, row).map(|()| cells.value(row)).into(),
            Self::Bytes(..) | Self::Fixed(..) => {
                match self.stored(row).map(|(bytes, leaf)| leaf.of_bytes(bytes)) {
                    None => Value::Null,
                    Some(Ok(value)) => value,
                    Some(Err(what)) => {
                        unreadable.get_or_insert(what);
                        Value::Null
                    }
                }
            }
            Self::List(list, inner) => elements(list, row)
                .map_or(Value::Null, |elements| elements.map(|at| inner.json(at, unreadable)).collect()),
            Self::Struct(structs, _) if structs.is_null(row) => Value::Null,
            // All structs of a column have the same members in Parquet, so a member that a row lacks is null there.
            Self::Struct(_, members) => Value::Object(
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
            Self::Short(cells, _) => valid(cells, row).map(|()| cells.value(row) as f32),
            Self::Long(cells, _) => valid(cells, row).map(|()| cells.value(row) as f32),
            Self::Single(cells) => valid(cells, row).map(|()| cells.value(row)),
            Self::Double(cells) => valid(cells, row).map(|()| cells.value(row) as f32),
            Self::Bytes(..) | Self::Fixed(..) => match self.stored(row)? {
                (&[low, high], Leaf::Float16) => Some(f16::from_le_bytes([low, high]).to_f32()),
                _ => None,
            },
            _ => None,
        }
    }
}

fn valid(array: &dyn Array, row: usize) -> Option<()> {
    array.is_valid(row).then_some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(name: &str) -> ForeignFile {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/parquet");
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
