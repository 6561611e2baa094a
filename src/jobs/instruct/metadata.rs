//! What `croissant.json` says of an instruction set.

use std::path::Path;

use serde_json::{Value, json};

use super::figures::{Figures, figures};
use crate::engine::error::Result;
use crate::engine::frame::FrameFile;
use crate::engine::kind::KindSettings as _;
use crate::instruct::sink::{COLUMNS, FOLDERS, InstructionSet, TABLE};
use crate::report::croissant::{Croissant, Field, File, licence, steps_of};
use crate::report::model::Report;
use crate::text::figures::{count, counted, share_of};

/// Returns the metadata of the instruction set of a run.
///
/// # Errors
/// A file of the run cannot be read.
pub(super) fn metadata(folder: &Path, report: &Report) -> Result<Croissant> {
    let figures = figures(folder)?;
    let (files, n) = tables(&folder.join("dataset"))?;
    let name = report.pipeline.clone();
    let made = match figures.models.is_empty() {
        true => "made by programs and templates",
        false if figures.is_written => "written by language models",
        false => "made by programs and worded by language models",
    };
    Ok(Croissant {
        description: format!(
            "Instructions for function calling with their calls{}, {made}: {}.",
            if figures.n_unexecuted == figures.n { "" } else { " and results" },
            counted(n, "instruction", "instructions")
        ),
        version: report.version.clone(),
        keywords: vec!["function calling", "tool use", "instruction tuning", "synthetic"],
        languages: Vec::new(),
        licence: licence(report),
        files,
        responsible: responsible_ai(&name, &figures, report),
        name,
    })
}

/// Returns the tables that have instructions, and how many they have.
fn tables(dataset: &Path) -> Result<(Vec<File>, u64)> {
    let (mut tables, mut n_all) = (Vec::new(), 0);
    for set in [InstructionSet::NAME].into_iter().chain(FOLDERS) {
        let path = if set == InstructionSet::NAME { TABLE.to_owned() } else { format!("{set}/{TABLE}") };
        let file = dataset.join(&path);
        let n = if file.is_file() { FrameFile::open(&file)?.height() as u64 } else { 0 };
        n_all += n;
        if n > 0 {
            tables.push(File {
                set: set.to_owned(),
                description: format!("The {} of {path}.", counted(n, "instruction", "instructions")),
                path,
                fields: COLUMNS.map(|(name, what)| Field { name, kind: "sc:Text", what }).into(),
                has_key: true,
            });
        }
    }
    Ok((tables, n_all))
}

/// The terms of responsible AI.
fn responsible_ai(name: &str, figures: &Figures, report: &Report) -> Value {
    let proof = if figures.n_unexecuted == 0 {
        "Every call was executed twice with the same result.".to_owned()
    } else {
        format!(
            "{} of the instructions were executed; of the others nothing proves that their calls are right.",
            count(figures.n - figures.n_unexecuted)
        )
    };
    let mut limits = vec![proof];
    if figures.n_unexecuted < figures.n {
        limits.push("Results are those of the environment, which is named on every instruction.".to_owned());
    }
    let words = if figures.models.is_empty() {
        "The words are those of templates.".to_owned()
    } else {
        let models: Vec<&str> = figures.models.keys().map(String::as_str).collect();
        format!("The words are those of {}.", models.join(", "))
    };
    let mut biases = vec![
        "Functions, values and tasks are those of the environments; what people ask most is not known."
            .to_owned(),
        words,
    ];
    if let Some((stratum, n)) = figures.strata.iter().max_by_key(|(_, n)| **n) {
        biases.push(format!("Most frequent kind: {stratum} ({}).", share_of(*n, figures.n)));
    }
    let sources: Vec<Value> = figures
        .environments
        .keys()
        .map(|environment| {
            json!({"@type": "sc:Dataset", "name": environment,
                "description": "Functions and, where calls were executed, their results and state."})
        })
        .collect();
    json!({
        "rai:dataCollection": format!("No requests of people: callsieve {} made {name} from the docs and the state of environments.", report.version),
        "rai:dataPreprocessingProtocol": report.funnel.iter().map(|step| &step.step).collect::<Vec<_>>(),
        "rai:dataLimitations": limits,
        "rai:dataBiases": biases,
        "rai:personalSensitiveInformation": ["The values are those of the environments and of lists. They were not searched for personal data of people."],
        "rai:dataUseCases": ["Training and evaluation of function calling.",
            "Not as an estimate of what people ask: no person asked for it."],
        "rai:dataSocialImpact": "A model that learns from it learns to act on words alone; whether a person may have an action done is not part of it.",
        "rai:hasSyntheticData": true,
        "prov:wasDerivedFrom": sources,
        "prov:wasGeneratedBy": steps_of(report),
    })
}
