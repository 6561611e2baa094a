//! Tables of Arrow, to and from Python by the `PyCapsule` interface.
//!
//! [`NativeTable`] is a table in memory or a Parquet file, which is read while its stream is. [`reader_of`] reads a table
//! of another library.

// The one place of this crate with unsafe code: a capsule holds a pointer, whose type only its name says.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::failure::Failure;

/// The name of a capsule with a stream.
const STREAM: &CStr = c"arrow_array_stream";
/// The name of a capsule with a schema.
const SCHEMA: &CStr = c"arrow_schema";

/// A table in memory, or in a Parquet file.
#[pyclass(frozen, module = "callsieve._native")]
pub(crate) struct NativeTable {
    schema: SchemaRef,
    n_rows: usize,
    source: Source,
}

enum Source {
    Memory(Vec<RecordBatch>),
    File(PathBuf),
}

impl NativeTable {
    /// Returns a table in memory.
    pub(crate) fn of(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), n_rows: batch.num_rows(), source: Source::Memory(vec![batch]) }
    }

    fn reader(&self) -> Result<Box<dyn RecordBatchReader + Send>, Failure> {
        match &self.source {
            Source::Memory(batches) => {
                let batches = batches.clone().into_iter().map(Ok::<_, ArrowError>);
                Ok(Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema))))
            }
            Source::File(path) => Ok(Box::new(opened(path)?.build()?)),
        }
    }
}

fn opened(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, Failure> {
    let named = |error: &dyn std::fmt::Display| Failure::new(&format!("reading {}: {error}", path.display()));
    let file = File::open(path).map_err(|error| named(&error))?;
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| named(&error))
}

#[pymethods]
impl NativeTable {
    /// Opens a Parquet file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let builder = opened(&path).map_err(|failure| failure.exception(py))?;
        let n_rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or_default();
        Ok(Self { schema: Arc::clone(builder.schema()), n_rows, source: Source::File(path) })
    }

    /// Reads a table of another library into memory.
    #[staticmethod]
    fn of_table(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let reader = reader_of(table)?;
        let schema = reader.schema();
        let batches: Result<Vec<_>, _> = py.detach(|| reader.collect());
        let batches = batches.map_err(|error| Failure::from(error).exception(py))?;
        let n_rows = batches.iter().map(RecordBatch::num_rows).sum();
        Ok(Self { schema, n_rows, source: Source::Memory(batches) })
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.n_rows
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Exports the table, by the Arrow `PyCapsule` interface. The requested schema is a wish, which is not fulfilled.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let reader = self.reader().map_err(|failure| failure.exception(py))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
    }

    /// Exports the schema, by the Arrow `PyCapsule` interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| Failure::from(error).exception(py))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// Returns the first rows as dictionaries; all of them without a limit.
    #[pyo3(signature = (limit = None))]
    fn to_pylist<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        let limit = limit.unwrap_or(usize::MAX);
        let reader = self.reader().map_err(|failure| failure.exception(py))?;
        for batch in reader {
            let batch = batch.map_err(|error| Failure::from(error).exception(py))?;
            for at in 0..batch.num_rows().min(limit - rows.len()) {
                let row = PyDict::new(py);
                for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                    row.set_item(field.name(), cell(py, column, at)?)?;
                }
                rows.append(row)?;
            }
        }
        Ok(rows)
    }
}

/// A cell as a value of Python.
fn cell<'py>(py: Python<'py>, column: &dyn Array, at: usize) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! number {
        ($kind:ty) => {
            column.as_primitive::<$kind>().value(at).into_pyobject(py)?.into_any()
        };
    }
    if column.is_null(at) || column.data_type() == &DataType::Null {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(at).into_pyobject(py)?.into_any(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(at).into_pyobject(py)?.into_any(),
        DataType::Utf8View => column.as_string_view().value(at).into_pyobject(py)?.into_any(),
        DataType::Boolean => column.as_boolean().value(at).into_pyobject(py)?.to_owned().into_any(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::List(_) => list(py, &column.as_list::<i32>().value(at))?,
        DataType::LargeList(_) => list(py, &column.as_list::<i64>().value(at))?,
        DataType::Struct(fields) => {
            let row = PyDict::new(py);
            for (field, column) in fields.iter().zip(column.as_struct().columns()) {
                row.set_item(field.name(), cell(py, column, at)?)?;
            }
            row.into_any()
        }
        other => {
            let what =
                format!("a column of type {other} has no plain values\nhint: pyarrow.table(table) reads it");
            return Err(Failure::new(&what).exception(py));
        }
    })
}

fn list<'py>(py: Python<'py>, values: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    let all: PyResult<Vec<_>> = (0..values.len()).map(|at| cell(py, values, at)).collect();
    Ok(PyList::new(py, all?)?.into_any())
}

/// Reads a table of another library, which exports it by the Arrow `PyCapsule` interface.
fn reader_of(table: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the name of the capsule says that it holds a stream of the C interface, which is valid while `capsule` lives.
    // The stream is moved out and leaves a released one, which the destructor of the capsule does not release again.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(|error| Failure::new(&format!("the table cannot be read: {error}")).exception(table.py()))
}

/// Writes a table of another library as Parquet.
#[pyfunction]
pub(crate) fn write_parquet(py: Python<'_>, table: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<()> {
    let reader = reader_of(table)?;
    py.detach(move || written(reader, &path)).map_err(|failure| failure.exception(py))
}

fn written(reader: ArrowArrayStreamReader, path: &Path) -> Result<(), Failure> {
    let file = File::create(path)?;
    // The types of Parquet are enough to read it.
    let options = ArrowWriterOptions::new().with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(file, reader.schema(), options)?;
    for batch in reader {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}
