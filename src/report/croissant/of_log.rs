//! The metadata of a dataset made from logs: its tables, and the eight terms of responsible AI.
//!
//! Like the card, it says what the run knows: no clock, no path, no name of an input. What only people know, such as the date of
//! publication and the address, they add.

use serde_json::{Value, json};

use super::super::metadata::configs;
use super::super::model::Report;
use super::super::words::{RECIPE_URL, SCORED, is_redacted, known_limits, or_unknown, title};
use super::{Croissant, Field, File, licence, steps_of};
use crate::export::row::{CellType, TableColumn, table_columns};
use crate::export::tier::AGREED;
use crate::text::figures::{count, counted};

/// Returns the metadata of a dataset made from logs.
pub fn of_log(report: &Report) -> Croissant {
    Croissant {
        name: title(report).to_owned(),
        description: description(report),
        version: report.version.clone(),
        keywords: vec!["function calling", "tool use", "evaluation", "BFCL"],
        languages: report.entries.language.keys().filter(|code| *code != "und").cloned().collect(),
        licence: licence(report),
        files: configs(report).into_iter().map(|(set, path)| table(report, set, path)).collect(),
        responsible: responsible_ai(report),
    }
}

fn description(report: &Report) -> String {
    format!(
        "An evaluation set for function calling in the format of the Berkeley Function Calling Leaderboard: {} from a log of {}. {SCORED}",
        counted(report.all_entries(), "entry", "entries"),
        counted(report.ingest.records, "request", "requests"),
    )
}

/// A table of entries.
fn table(report: &Report, set: &'static str, path: String) -> File {
    let entries = counted(report.entries(set, None), "entry", "entries");
    let field = |TableColumn { name, kind, what }: TableColumn| Field {
        name,
        kind: match kind {
            CellType::Text => "sc:Text",
            CellType::Number => "sc:Float",
            CellType::Bool => "sc:Boolean",
        },
        what,
    };
    File {
        set: set.to_owned(),
        description: format!("The {entries} of {path}."),
        path,
        fields: table_columns().into_iter().map(field).collect(),
        has_key: true,
    }
}

/// The responsible-AI terms.
fn responsible_ai(report: &Report) -> Value {
    let has_answers_of_models = report.entries.tier.get(AGREED).is_some_and(|n| *n > 0);
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
        "prov:wasGeneratedBy": steps_of(report),
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
