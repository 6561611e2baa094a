//! What `croissant.json` says of an API collection.

use serde_json::json;

use crate::instruct::collection::sink::{FUNCTIONS, NAMES, TOOLS};
use crate::report::croissant::{Croissant, Field, File, licence, steps_of};
use crate::report::model::Report;
use crate::text::figures::counted;

/// Returns the metadata of the collection of a run.
pub(super) fn metadata(report: &Report) -> Croissant {
    let n_tools = report.funnel.last().map_or(0, |step| step.doc_lists);
    let text = |name, what| Field { name, kind: "sc:Text", what };
    let files = if n_tools == 0 {
        Vec::new()
    } else {
        vec![
            File {
                set: "tools".to_owned(),
                path: TOOLS.to_owned(),
                description: "The tools. Their functions, hosts and licences are further keys.".to_owned(),
                fields: vec![text("name", "name of the tool")],
                has_key: false,
            },
            File {
                set: "functions".to_owned(),
                path: FUNCTIONS.to_owned(),
                description: "The functions as tools of OpenAI.".to_owned(),
                fields: vec![text(
                    "type",
                    "always function; its name, description and parameters are in the key function",
                )],
                has_key: false,
            },
            File {
                set: "names".to_owned(),
                path: NAMES.to_owned(),
                description: "The legal name of each function.".to_owned(),
                fields: vec![
                    text("name", "legal name of the function"),
                    text("tool", "its tool"),
                    text("original_name", "its own name"),
                ],
                has_key: true,
            },
        ]
    };
    Croissant {
        name: report.pipeline.clone(),
        description: format!(
            "Docs of APIs as functions for language models: {}.",
            counted(n_tools, "tool", "tools")
        ),
        version: report.version.clone(),
        keywords: vec!["function calling", "tool use", "API docs"],
        languages: Vec::new(),
        licence: licence(report),
        files,
        responsible: json!({
            "rai:dataCollection": format!("Read from API descriptions by callsieve {}.", report.version),
            "rai:dataPreprocessingProtocol": report.funnel.iter().map(|step| &step.step).collect::<Vec<_>>(),
            "rai:dataLimitations": ["Docs are as their owners wrote them; no function was called."],
            "rai:dataBiases": ["The APIs are those of the sources that were read."],
            "rai:personalSensitiveInformation": ["Examples in docs can have personal data; they were not searched."],
            "rai:dataUseCases": ["Functions to offer to a model, and the source of instruction sets."],
            "rai:dataSocialImpact": "Licences of APIs are those of their owners.",
            "rai:hasSyntheticData": false,
            "prov:wasDerivedFrom": [{"@type": "sc:Dataset", "name": "API descriptions",
                "description": "Files and servers that describe APIs; run.json of the run names them."}],
            "prov:wasGeneratedBy": steps_of(report),
        }),
    }
}
