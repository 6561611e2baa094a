//! The form of a Parquet file: how its columns are compressed and encoded, and what else it has besides its rows.
//!
//! A file that is written again gets the form of the old one as far as its footer shows it. The footer has no levels of
//! compression and no sizes of pages; those are the writer's.

use parquet::basic::{Encoding, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Whether a file has an index of the pages of its columns.
pub(super) fn has_page_index(file: &ParquetMetaData) -> bool {
    let mut chunks = file.row_groups().iter().flat_map(RowGroupMetaData::columns);
    chunks.any(|chunk| chunk.offset_index_offset().is_some() || chunk.column_index_offset().is_some())
}

/// Returns the properties of a file with the form of another.
pub(super) fn properties(file: &ParquetMetaData) -> WriterProperties {
    let has_page_index = has_page_index(file);
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(file.file_metadata().key_value_metadata().cloned())
        .set_offset_index_disabled(!has_page_index);
    // Columns differ in form; row groups of one file rarely do.
    let Some(group) = file.row_groups().iter().find(|group| group.num_rows() > 0) else {
        return properties.build();
    };
    properties = properties.set_sorting_columns(group.sorting_columns().cloned());
    for chunk in group.columns() {
        let path = chunk.column_path();
        let statistics = match chunk.statistics() {
            None => EnabledStatistics::None,
            Some(_) if has_page_index => EnabledStatistics::Page,
            Some(_) => EnabledStatistics::Chunk,
        };
        properties = properties
            .set_column_compression(path.clone(), chunk.compression())
            .set_column_dictionary_enabled(path.clone(), chunk.encodings().any(is_dictionary))
            .set_column_statistics_enabled(path.clone(), statistics)
            .set_column_bloom_filter_enabled(path.clone(), chunk.bloom_filter_offset().is_some());
        // Two columns of one name have one setting, which must suit both.
        let is_one = group.columns().iter().filter(|chunk| chunk.column_path() == path).count() == 1;
        if let Some(encoding) = encoding_of(chunk).filter(|_| is_one) {
            properties = properties.set_column_encoding(path.clone(), encoding);
        }
    }
    properties.build()
}

fn is_dictionary(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

/// The encodings besides dictionaries and plain values, and the types that they are defined for.
const ENCODINGS: [(Encoding, &[Type]); 4] = [
    (Encoding::DELTA_BINARY_PACKED, &[Type::INT32, Type::INT64]),
    (Encoding::DELTA_LENGTH_BYTE_ARRAY, &[Type::BYTE_ARRAY]),
    (Encoding::DELTA_BYTE_ARRAY, &[Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY]),
    (
        Encoding::BYTE_STREAM_SPLIT,
        &[Type::FLOAT, Type::DOUBLE, Type::INT32, Type::INT64, Type::FIXED_LEN_BYTE_ARRAY],
    ),
];

/// Returns the encoding of values that are not in a dictionary, if it is a special one.
fn encoding_of(chunk: &ColumnChunkMetaData) -> Option<Encoding> {
    let fits = |(encoding, types): &&(Encoding, &[Type])| {
        types.contains(&chunk.column_type()) && chunk.encodings().any(|found| found == *encoding)
    };
    ENCODINGS.iter().find(fits).map(|(encoding, _)| *encoding)
}
