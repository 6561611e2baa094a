//! Opens a benchmark by the names that users give: files, folders, and public sets.

use std::path::Path;

use serde_json::Value;

use super::benchmark::formats::format_named;
use super::benchmark::{
    BenchColumns, Benchmark, Category, OpenedFiles, Reading, Source, Thresholds, sources,
};
use super::item::{Item, ItemCall};
use super::rows::Fallback;
use super::{AuditError, Result};
use callsieve_engine::fingerprint::{Fingerprint, hex};
use callsieve_ingest::any_row::{self, RowsRead, push_rows};
use callsieve_ingest::fate::LineFate;
use callsieve_ingest::log_formats::Columns;
use callsieve_ingest::read::Position;
use callsieve_public_sets::catalogue::{Catalogue, SAMPLE};
use callsieve_public_sets::store::{SAMPLE_RECORDS, files};
use callsieve_text::content_hash::content_hash;

/// What a benchmark is read from, by the names that users give.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// Files, folders, or ids of public sets; a path that exists goes first.
    pub names: &'a [String],
    /// The folder of public sets.
    pub sets: &'a Path,
    /// Keys of texts of rows that are in no known form.
    pub text_fields: &'a [String],
    /// The name of the format of all files; empty: that of their signs.
    pub format: &'a str,
    /// The columns of the format `columns`.
    pub columns: &'a BenchColumns,
}

/// A name, resolved.
enum Named {
    /// A file or folder.
    Path(std::path::PathBuf),
    /// A public set on disk: its files.
    Set(Vec<std::path::PathBuf>),
    /// The set that is built into the program.
    BuiltIn,
}

/// A part of the benchmark.
enum BenchmarkPart {
    /// Files.
    Sources(Vec<Source>),
    /// The set that is built into the program.
    BuiltIn,
}

impl Names<'_> {
    /// Reads and indexes the benchmark. A file that is given twice, under any name, counts once.
    ///
    /// # Errors
    /// A name is neither a path nor a public set on disk, a file cannot be read, or there is no entry.
    pub fn open(&self, thresholds: Thresholds) -> Result<Benchmark> {
        let mut benchmark = Benchmark::empty(thresholds);
        let (columns, fallback) = (Columns::default(), Fallback { fields: self.text_fields.to_vec() });
        let reading = Reading { columns: &columns, fallback: &fallback, named: self.columns };
        for part in self.parts()? {
            match part {
                BenchmarkPart::Sources(sources) => benchmark.add_sources(&sources, &reading)?,
                BenchmarkPart::BuiltIn => add_built_in(&mut benchmark, &columns),
            }
        }
        if benchmark.entries.is_empty() {
            return Err(AuditError::NoEntry { paths: self.names.join(", ") });
        }
        benchmark.weigh();
        Ok(benchmark)
    }

    /// Adds what is read to a resume key: the files of the benchmark and those that are read with them, such as answers and
    /// docs, and nothing else that is in their folders.
    ///
    /// # Errors
    /// As [`Names::open`].
    pub fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        for part in self.parts()? {
            match part {
                BenchmarkPart::Sources(sources) => {
                    sources.iter().try_for_each(|source| source.fingerprint(fingerprint))?;
                }
                BenchmarkPart::BuiltIn => fingerprint.add_part("built-in", SAMPLE_RECORDS.as_bytes()),
            }
        }
        Ok(())
    }

    /// Returns the files of the names, in the order of the names and each file once.
    fn parts(&self) -> Result<Vec<BenchmarkPart>> {
        let format = if self.format.is_empty() { None } else { Some(format_named(self.format)?) };
        let mut seen = OpenedFiles::default();
        let mut parts: Vec<BenchmarkPart> = Vec::new();
        for name in self.names {
            let paths = match self.resolved(name)? {
                Named::BuiltIn => {
                    if !parts.iter().any(|part| matches!(part, BenchmarkPart::BuiltIn)) {
                        parts.push(BenchmarkPart::BuiltIn);
                    }
                    continue;
                }
                Named::Path(path) => vec![path],
                Named::Set(paths) => paths,
            };
            for path in paths {
                parts.push(BenchmarkPart::Sources(seen.new_of(sources(&path, format)?)));
            }
        }
        Ok(parts)
    }

    fn resolved(&self, name: &str) -> Result<Named> {
        let path = Path::new(name);
        if path.exists() {
            return Ok(Named::Path(path.to_owned()));
        }
        if name == SAMPLE {
            return Ok(Named::BuiltIn);
        }
        // A name with a separator or an ending can only be a path.
        let looks_like_path = name.contains(['/', '\\', '.']);
        let catalogue = Catalogue::open(self.sets).map_err(AuditError::Sets)?;
        match catalogue.set(name) {
            Ok(set) if !looks_like_path => {
                let paths = files(&catalogue, set).map_err(AuditError::Sets)?;
                if paths.is_empty() {
                    return Err(AuditError::NotOnDisk { set: name.to_owned() });
                }
                Ok(Named::Set(paths))
            }
            _ => Err(AuditError::NoBenchmark { name: name.to_owned() }),
        }
    }
}

/// Adds the records of the built-in set.
fn add_built_in(benchmark: &mut Benchmark, columns: &Columns) {
    let sha256 = hex(&<sha2::Sha256 as sha2::Digest>::digest(SAMPLE_RECORDS));
    let category = benchmark.push_category(Category { name: SAMPLE.to_owned(), path: SAMPLE.into(), sha256 });
    let reading = any_row::Reading { columns, rows: RowsRead::All, text_fields: &[], known_lists: None };
    for (record, line) in (1..).zip(SAMPLE_RECORDS.lines()) {
        let value: Value = serde_json::from_str(line).expect("the built-in set is JSON");
        let answer = value["ground_truth"].as_array().into_iter().flatten();
        let calls: Vec<ItemCall> = answer.filter_map(ItemCall::of_ground_truth).collect();
        let mut lines = Vec::new();
        push_rows(Position::same(record), content_hash(line), value, &reading, &mut lines);
        for line in lines {
            if let LineFate::Record(record) = line.fate {
                let id = record.external_id.clone().unwrap_or_default();
                let item = Item { calls: calls.clone(), ..Item::of_record(*record) };
                benchmark.add_item(id, category, line.record, item);
            }
        }
    }
}
