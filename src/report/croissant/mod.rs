//! `dataset/croissant.json`: metadata of a dataset for machines, in version 1.0 of the Croissant format with its terms of responsible
//! AI (RAI 1.0). It names the tables with their checksums and columns, and has the eight terms that conferences ask for.
//!
//! [`of_log`] describes a dataset made from logs; other jobs describe theirs.

mod of_log;

use std::path::Path;

use serde_json::{Map, Value, json};

use super::model::Report;
use crate::engine::error::{At, Result};
use crate::engine::fingerprint::sha256_until;
use crate::text::figures::counted;

pub use of_log::of_log;

/// The name of the file in the dataset.
pub const CROISSANT: &str = "croissant.json";

/// What the metadata says.
#[derive(Debug)]
pub struct Croissant {
    /// The title of the dataset.
    pub name: String,
    /// What it is, in a sentence or two.
    pub description: String,
    /// The version of callsieve.
    pub version: String,
    /// Words to find it by.
    pub keywords: Vec<&'static str>,
    /// Codes of its languages.
    pub languages: Vec<String>,
    /// Its licence, if it is known.
    pub licence: Option<String>,
    /// The files that are described.
    pub files: Vec<File>,
    /// The terms of responsible AI, and where the data is from.
    pub responsible: Value,
}

/// A file of a dataset: a Parquet table, or JSON lines.
#[derive(Debug)]
pub struct File {
    /// The name of its set of records.
    pub set: String,
    /// Its path in the dataset, with slashes.
    pub path: String,
    /// What its records are.
    pub description: String,
    /// Its columns or keys.
    pub fields: Vec<Field>,
    /// No two records have the same first field.
    pub has_key: bool,
}

/// A column of a table, or a key of a JSON line.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type, in the vocabulary of schema.org.
    pub kind: &'static str,
    /// What it holds.
    pub what: &'static str,
}

impl Croissant {
    /// Returns the content of `croissant.json`; `dataset` is the folder of the dataset.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn text(&self, dataset: &Path) -> Result<String> {
        let files = self.files.iter().map(|file| file.object(dataset)).collect::<Result<Vec<Value>>>()?;
        let mut metadata = object(json!({
            "@context": context(),
            "@type": "sc:Dataset",
            "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
            "name": self.name,
            "description": self.description,
            "citeAs": format!("{}, made with callsieve {}", self.name, self.version),
            "version": "1.0.0",
            "keywords": self.keywords,
            "inLanguage": self.languages,
            "distribution": files,
            "recordSet": self.files.iter().map(File::records).collect::<Vec<Value>>(),
        }));
        if let Some(licence) = &self.licence {
            metadata.insert("license".to_owned(), json!(licence));
        }
        metadata.extend(object(self.responsible.clone()));
        Ok(format!("{:#}\n", Value::Object(metadata)))
    }
}

impl File {
    fn is_table(&self) -> bool {
        self.path.ends_with(".parquet")
    }

    fn id(&self) -> String {
        format!("{}.{}", self.set, if self.is_table() { "parquet" } else { "jsonl" })
    }

    /// The file to download.
    fn object(&self, dataset: &Path) -> Result<Value> {
        let path = dataset.join(&self.path);
        let size = path.metadata().at("reading", &path)?.len();
        Ok(json!({
            "@type": "cr:FileObject",
            "@id": self.id(),
            "name": self.id(),
            "contentUrl": self.path,
            "contentSize": format!("{size} B"),
            "encodingFormat": if self.is_table() { "application/x-parquet" } else { "application/jsonlines" },
            "sha256": sha256_until(&path, &|| false)?,
        }))
    }

    fn records(&self) -> Value {
        let field = |Field { name, kind, what }: &Field| {
            json!({
                "@type": "cr:Field",
                "@id": format!("{}/{name}", self.set),
                "name": format!("{}/{name}", self.set),
                "description": what,
                "dataType": kind,
                "source": {
                    "fileObject": {"@id": self.id()},
                    "extract": {"column": name},
                },
            })
        };
        let mut records = json!({
            "@type": "cr:RecordSet",
            "@id": self.set,
            "name": self.set,
            "description": self.description,
            "field": self.fields.iter().map(field).collect::<Vec<_>>(),
        });
        if let Some(key) = self.fields.first().filter(|_| self.has_key) {
            records["key"] = json!({"@id": format!("{}/{}", self.set, key.name)});
        }
        records
    }
}

/// The licence of a dataset, if it is known.
pub fn licence(report: &Report) -> Option<String> {
    let licence = report.card.licence.trim();
    (!licence.is_empty()).then(|| licence.to_owned())
}

/// The steps of a run, for `prov:wasGeneratedBy`.
pub fn steps_of(report: &Report) -> Vec<Value> {
    let steps = report.funnel.iter().map(|step| {
        json!({
            "@type": "prov:Activity",
            "name": step.step,
            "description": format!(
                "{}: {} and {} after this step",
                step.description,
                counted(step.requests, "request", "requests"),
                counted(step.doc_lists, "doc list", "doc lists")
            ),
        })
    });
    steps.collect()
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

/// The terms of the vocabularies, as the specification lists them.
fn context() -> Value {
    json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "citeAs": "cr:citeAs",
        "column": "cr:column",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "equivalentProperty": "cr:equivalentProperty",
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "extract": "cr:extract",
        "field": "cr:field",
        "fileObject": "cr:fileObject",
        "fileProperty": "cr:fileProperty",
        "fileSet": "cr:fileSet",
        "format": "cr:format",
        "includes": "cr:includes",
        "isLiveDataset": "cr:isLiveDataset",
        "jsonPath": "cr:jsonPath",
        "key": "cr:key",
        "md5": "cr:md5",
        "parentField": "cr:parentField",
        "path": "cr:path",
        "prov": "http://www.w3.org/ns/prov#",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "recordSet": "cr:recordSet",
        "references": "cr:references",
        "regex": "cr:regex",
        "repeated": "cr:repeated",
        "replace": "cr:replace",
        "samplingRate": "cr:samplingRate",
        "sc": "https://schema.org/",
        "separator": "cr:separator",
        "source": "cr:source",
        "subField": "cr:subField",
        "transform": "cr:transform"
    })
}
