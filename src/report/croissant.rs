//! `dataset/croissant.json`: metadata of the dataset for machines, in version 1.0 of the Croissant format with its terms of responsible
//! AI (RAI 1.0). It names the tables with their checksums and columns, and has the eight terms that conferences ask for.
//!
//! Like the card, it says what the run knows: no clock, no path, no name of an input. What only people know, such as the date of
//! publication and the address, they add.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::metadata::configs;
use super::model::Report;
use super::words::{RECIPE_URL, SCORED, is_redacted, known_limits, or_unknown, title};
use crate::engine::error::{At, Result};
use crate::engine::fingerprint::sha256_until;
use crate::export::row::{CellType, TableColumn, table_columns};
use crate::export::tier::AGREED;
use crate::text::figures::{count, counted};

/// The name of the file in the dataset.
pub const CROISSANT: &str = "croissant.json";

/// Returns the file's content; `dataset` is the folder of the dataset.
///
/// # Errors
/// A table cannot be read.
pub fn croissant(report: &Report, dataset: &Path) -> Result<String> {
    let configs = configs(report);
    let distribution =
        configs.iter().map(|(set, path)| file(set, path, dataset)).collect::<Result<Vec<_>>>()?;
    let records: Vec<Value> = configs.iter().map(|(set, path)| records(report, set, path)).collect();
    let mut metadata = object(json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": title(report),
        "description": description(report),
        "citeAs": format!("{}, made with callsieve {}", title(report), report.version),
        "version": "1.0.0",
        "keywords": ["function calling", "tool use", "evaluation", "BFCL"],
        "inLanguage": report.entries.language.keys().filter(|code| *code != "und").collect::<Vec<_>>(),
        "distribution": distribution,
        "recordSet": records,
    }));
    if let Some(licence) = Some(report.card.licence.trim()).filter(|licence| !licence.is_empty()) {
        metadata.insert("license".to_owned(), json!(licence));
    }
    metadata.extend(object(responsible_ai(report)));
    Ok(format!("{:#}\n", Value::Object(metadata)))
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

fn description(report: &Report) -> String {
    format!(
        "An evaluation set for function calling in the format of the Berkeley Function Calling Leaderboard: {} from a log of {}. {SCORED}",
        counted(report.all_entries(), "entry", "entries"),
        counted(report.ingest.records, "request", "requests"),
    )
}

/// A table as a file to download.
fn file(set: &str, path: &str, dataset: &Path) -> Result<Value> {
    let table = dataset.join(path);
    let size = table.metadata().at("reading", &table)?.len();
    Ok(json!({
        "@type": "cr:FileObject",
        "@id": format!("{set}.parquet"),
        "name": format!("{set}.parquet"),
        "contentUrl": path,
        "contentSize": format!("{size} B"),
        "encodingFormat": "application/x-parquet",
        "sha256": sha256_until(&table, &|| false)?,
    }))
}

/// The records of a table.
fn records(report: &Report, set: &str, path: &str) -> Value {
    let entries = counted(report.entries(set, None), "entry", "entries");
    let field = |TableColumn { name, kind, what }: TableColumn| {
        json!({
            "@type": "cr:Field",
            "@id": format!("{set}/{name}"),
            "name": format!("{set}/{name}"),
            "description": what,
            "dataType": schema_org(kind),
            "source": {
                "fileObject": {"@id": format!("{set}.parquet")},
                "extract": {"column": name},
            },
        })
    };
    json!({
        "@type": "cr:RecordSet",
        "@id": set,
        "name": set,
        "description": format!("The {entries} of {path}."),
        "key": {"@id": format!("{set}/id")},
        "field": table_columns().into_iter().map(field).collect::<Vec<_>>(),
    })
}

/// The type of cells in the vocabulary of schema.org.
fn schema_org(kind: CellType) -> &'static str {
    match kind {
        CellType::Text => "sc:Text",
        CellType::Number => "sc:Float",
        CellType::Bool => "sc:Boolean",
    }
}

/// The responsible-AI terms.
fn responsible_ai(report: &Report) -> Value {
    let has_answers_of_models = report.entries.tier.get(AGREED).is_some_and(|n| *n > 0);
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
    let log = json!({
        "@type": "sc:Dataset",
        "name": "the request log",
        "description": format!("A log of {} of a hosted model; it is not published with this dataset.",
            counted(report.ingest.records, "request", "requests")),
        "license": or_unknown(&report.card.source_licence, "unknown"),
    });
    json!({
        "rai:dataCollection": format!(
            "Requests were logged while people and programs used a hosted model, and curated by callsieve {} by the recipe of BFCL V2 Live ({RECIPE_URL}).",
            report.version
        ),
        "rai:dataPreprocessingProtocol": report.recipe.iter()
            .filter(|step| step.status.has_run())
            .map(|step| step.step)
            .collect::<Vec<_>>(),
        "rai:dataLimitations": known_limits(report),
        "rai:dataBiases": biases(report),
        "rai:personalSensitiveInformation": personal(report),
        "rai:dataUseCases": [
            "Evaluation of function calling: which function a model calls with which arguments, or that it calls none.",
            "Not for training: a model that was trained on the entries has no meaningful score.",
        ],
        "rai:dataSocialImpact": "Scores on requests of users show how well a model serves such users. Requests of a log are those of the users of one service, so a score says little about others; texts of users may offend.",
        "rai:hasSyntheticData": has_answers_of_models,
        "prov:wasDerivedFrom": [log],
        "prov:wasGeneratedBy": steps.collect::<Vec<_>>(),
    })
}

fn biases(report: &Report) -> Vec<String> {
    let entries = report.all_entries();
    let mut biases = vec![
        "The entries are requests of the users of one service. Topics, languages and functions are theirs."
            .to_owned(),
    ];
    let most =
        report.entries.language.iter().max_by_key(|(code, n)| (**n, std::cmp::Reverse((*code).clone())));
    if let Some((code, n)) = most {
        biases.push(format!(
            "Most frequent language of the last user message: {code} ({} of {}).",
            count(*n),
            count(entries)
        ));
    }
    if report.entries("unverified", None) > 0 {
        biases.push("Unverified answers and labels are those of the logged model or of a rule, and favour that model.".to_owned());
    }
    biases
}

fn personal(report: &Report) -> Vec<String> {
    if !is_redacted(report) {
        return vec!["Personal data was not redacted.".to_owned()];
    }
    let n: u64 = report.redacted.values().sum();
    vec![format!(
        "Rules put placeholders in {} where values of ten kinds stood: e-mail addresses, telephone numbers, numbers of cards, accounts and ids, keys, tokens, addresses of networks and devices. No rule finds names and street addresses, and none finds all values.",
        counted(n, "place", "places")
    )]
}
