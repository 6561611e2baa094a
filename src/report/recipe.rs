//! The recipe step by step: which kinds of stage implement a step, and what a run did of it.
//!
//! The one place where steps, kinds and published figures are tied together. A step that has no stage is listed
//! as well, so that a report never looks more complete than the run was.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::published::{Published, Unit};
use crate::engine::delta::StageManifest;
use crate::engine::vocabulary::TableId;
use crate::public_sets::compared::{ComparedSet, SETS_NOTE};
use crate::public_sets::quotes::is_free;
use crate::stages::draft_answers::DraftAnswers;
use crate::stages::drop_public_overlap::DropPublicOverlap;
use crate::stages::merge_near_docs::MergeNearDocs;
use crate::stages::merge_near_queries::MergeNearQueries;
use crate::stages::redact::Redact;
use crate::stages::redact_docs::RedactDocs;
use crate::stages::{self, Settings as _};
use crate::text::figures::counted;

/// The kind that compares doc lists with public sets.
const OVERLAP: &str = DropPublicOverlap::NAME;
/// The kind that drafts answers.
const ANSWERS: &str = DraftAnswers::NAME;
/// The kind that merges similar queries.
const QUERIES: &str = MergeNearQueries::NAME;
/// The kind that merges similar docs.
const DOCS: &str = MergeNearDocs::NAME;
/// The ROUGE-L F1 above which docs are one in the recipe.
const DOCS_THRESHOLD: f64 = 0.8;
/// The public sets of the recipe, as it names them.
const RECIPE_SETS: &str = "NexusRaven, Firefunctions, Anyscale, Nous-Glaive";

/// How a stage does a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// As the recipe does.
    Same,
    /// By rule; the recipe used people or a model.
    ByRule,
}

/// One step of the recipe.
#[derive(Debug)]
struct Step {
    /// The step, for people.
    what: &'static str,
    /// The kinds that do it; none for what every run does.
    kinds: &'static [&'static str],
    how: How,
    /// What differs from the recipe, if anything.
    note: &'static str,
    /// What BFCL published for the rows left after it.
    published: Option<Published>,
}

const fn published(count: u64, unit: Unit) -> Published {
    Published { count, unit }
}

/// The recipe of BFCL V2 Live, in its order.
static RECIPE: &[Step] = &[
    Step {
        what: "collect doc–query pairs",
        kinds: &[],
        how: How::Same,
        note: "",
        published: Some(published(64_517, Unit::Requests)),
    },
    Step {
        what: "merge exactly equal docs",
        kinds: &["merge-exact-docs"],
        how: How::Same,
        note: "",
        published: Some(published(6_478, Unit::DocLists)),
    },
    Step {
        what: "remove docs of public test sets",
        kinds: &[OVERLAP, "drop-public-queries"],
        how: How::ByRule,
        note: "",
        published: Some(published(3_698, Unit::DocLists)),
    },
    Step {
        what: "merge similar docs (ROUGE-L above 0.8)",
        kinds: &[DOCS],
        how: How::Same,
        note: "",
        published: Some(published(1_692, Unit::DocLists)),
    },
    Step {
        what: "merge similar queries",
        kinds: &[QUERIES],
        how: How::ByRule,
        note: "the recipe compares embeddings of text-embedding-3-small",
        published: None,
    },
    Step {
        what: "drop low-quality docs",
        kinds: &["judge-docs"],
        how: How::ByRule,
        note: "",
        published: None,
    },
    Step {
        what: "find irrelevant and low-quality queries",
        kinds: &["judge-queries"],
        how: How::ByRule,
        note: "",
        published: None,
    },
    Step {
        what: "bring docs to the schema with the fewest edits",
        kinds: &["fix-docs"],
        how: How::ByRule,
        note: "",
        published: None,
    },
    Step {
        what: "enhance prompts",
        kinds: &["enhance-prompts"],
        how: How::Same,
        note: "a language model corrects messages; without allow_unsafe it only suggests edits",
        published: None,
    },
    Step {
        what: "replace sensitive information by placeholders",
        kinds: &[Redact::NAME, RedactDocs::NAME],
        how: How::ByRule,
        note: "",
        published: None,
    },
    Step { what: "write answers", kinds: &[ANSWERS], how: How::ByRule, note: "", published: None },
    Step {
        what: "put entries into categories",
        kinds: &["split"],
        how: How::ByRule,
        note: "",
        published: Some(published(2_251, Unit::Entries)),
    },
];

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Status {
    /// It ran as the recipe has it.
    #[serde(rename = "ran")]
    Ran,
    /// A rule did what people or a model did in the recipe.
    #[serde(rename = "ran by rule")]
    RanByRule,
    /// A part of it ran; the note has what did not.
    #[serde(rename = "ran in part")]
    RanInPart,
    /// This program has no stage for it.
    #[serde(rename = "not run: no stage")]
    NoStage,
    /// The pipeline leaves it out.
    #[serde(rename = "not run: not in the pipeline")]
    NotInPipeline,
    /// The stage ran, but had no set to compare with.
    #[serde(rename = "not checked: set not on disk")]
    NotChecked,
    /// The stage ran, and could read no set that is on disk.
    #[serde(rename = "not checked: set unreadable")]
    Unreadable,
}

impl Status {
    /// The words in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::RanByRule => "ran by rule",
            Self::RanInPart => "ran in part",
            Self::NoStage => "not run: no stage",
            Self::NotInPipeline => "not run: not in the pipeline",
            Self::NotChecked => "not checked: set not on disk",
            Self::Unreadable => "not checked: set unreadable",
        }
    }

    /// Some of it ran.
    pub fn has_run(self) -> bool {
        matches!(self, Self::Ran | Self::RanByRule | Self::RanInPart)
    }
}

/// A step of the recipe in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// The step.
    pub step: &'static str,
    /// What became of it.
    pub status: Status,
    /// Ids of the stages that did it.
    pub stages: Vec<String>,
    /// What differs from the recipe; empty if nothing is known to differ.
    pub note: String,
}

/// A public set that a stage was to compare with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PublicSet {
    /// The stage's id.
    pub stage: String,
    /// The set's id.
    pub set: String,
    /// Its licence, an SPDX expression or `unknown`.
    pub licence: String,
    /// Its licence is known, and allows to quote its texts for any use.
    #[serde(skip)]
    pub may_be_quoted: bool,
    /// It is the program's own, which shows how the comparison works and proves nothing.
    pub built_in: bool,
    /// It was read and compared with.
    pub checked: bool,
    /// `checked`, or what was not.
    pub status: String,
}

/// The steps of the recipe in a run of these stages.
pub(super) fn steps(stages: &[StageManifest], sets: &[PublicSet], n_human: u64) -> Vec<StepReport> {
    RECIPE
        .iter()
        .map(|step| {
            let ran: Vec<&StageManifest> =
                stages.iter().filter(|stage| step.kinds.contains(&stage.kind.as_str())).collect();
            let (status, note) = if step.kinds.contains(&OVERLAP) && !ran.is_empty() {
                overlap(sets)
            } else if step.kinds.contains(&ANSWERS) && !ran.is_empty() {
                (Status::RanByRule, answers(n_human))
            } else {
                (status(step, &ran), note(step, &ran))
            };
            let note = if !status.has_run() && step.kinds.contains(&OVERLAP) && note.is_empty() {
                format!("sets of the recipe: {RECIPE_SETS}")
            } else {
                note
            };
            StepReport {
                step: step.what,
                status,
                stages: ran.iter().map(|stage| stage.id.clone()).collect(),
                note,
            }
        })
        .collect()
}

fn status(step: &Step, ran: &[&StageManifest]) -> Status {
    let is_whole = |kind: &&str| ran.iter().any(|stage| stage.kind == **kind);
    if step.kinds.is_empty() {
        return Status::Ran;
    }
    if ran.is_empty() {
        let is_built = step.kinds.iter().any(|kind| stages::kind(kind).is_some());
        return if is_built { Status::NotInPipeline } else { Status::NoStage };
    }
    match step.how {
        // Redaction of the requests alone leaves the docs as they were sent.
        _ if ran.iter().any(|stage| stage.redacts().is_some()) && !step.kinds.iter().all(is_whole) => {
            Status::RanInPart
        }
        How::ByRule => Status::RanByRule,
        How::Same => Status::Ran,
    }
}

/// What differs from the recipe in this run.
fn note(step: &Step, ran: &[&StageManifest]) -> String {
    let Some(stage) = ran.first() else { return step.note.to_owned() };
    match stage.kind.as_str() {
        QUERIES => {
            let vectors = query_vectors(stage).map(|(_, vectors)| format!("words and {vectors}"));
            format!("{}; this run compares {}", step.note, vectors.unwrap_or_else(|| "words only".to_owned()))
        }
        DOCS => {
            let threshold = stage.settings["threshold"].as_f64().unwrap_or(DOCS_THRESHOLD);
            let is_other = (threshold - DOCS_THRESHOLD).abs() > f64::EPSILON;
            if is_other { format!("this run merges docs above {threshold}") } else { step.note.to_owned() }
        }
        _ => step.note.to_owned(),
    }
}

/// What a stage that merges similar queries compares in addition to words, shown next to its id.
pub(super) fn query_vectors(stage: &StageManifest) -> Option<(String, String)> {
    let settings = Some(&stage.settings).filter(|_| stage.kind == QUERIES)?;
    let vectors = MergeNearQueries::deserialize(settings).ok()?.vectors_description()?;
    Some((stage.id.clone(), vectors))
}

fn overlap(sets: &[PublicSet]) -> (Status, String) {
    let asked = || sets.iter().filter(|set| !set.built_in);
    let names = |checked: bool| -> Vec<String> {
        let named = |set: &PublicSet| {
            let why = if set.status == UNREADABLE { " (unreadable)" } else { "" };
            format!("{}{why}", set.set)
        };
        asked().filter(|set| set.checked == checked).map(named).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let (checked, missing) = (names(true), names(false));
    let note = [("checked: ", &checked), ("not checked: ", &missing)]
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word}{}", names.join(", ")))
        .collect::<Vec<_>>()
        .join("; ");
    match (checked.is_empty(), missing.is_empty()) {
        (true, true) => (Status::RanByRule, "the run has no record of the sets that were on disk".to_owned()),
        (true, false) if asked().all(|set| set.status == UNREADABLE) => (Status::Unreadable, note),
        (true, false) => (Status::NotChecked, note),
        (false, true) => (Status::RanByRule, note),
        (false, false) => (Status::RanInPart, note),
    }
}

fn answers(n_human: u64) -> String {
    if n_human == 0 {
        return "the recipe has answers written by people; this run drafts answers from the log, and got none by people"
            .to_owned();
    }
    format!(
        "the recipe has answers written by people; this run has {n_human} such answers, and drafts the others from the log"
    )
}

/// Ids of the stages that are no step of the recipe.
pub(super) fn stages_outside(stages: &[StageManifest]) -> Vec<String> {
    let is_step = |kind: &str| RECIPE.iter().any(|step| step.kinds.contains(&kind));
    stages.iter().filter(|stage| !is_step(&stage.kind)).map(|stage| stage.id.clone()).collect()
}

/// What BFCL published for the rows left after this stage; `None` if there is no comparable figure.
///
/// Of several stages of a step the last of the first run of them counts: a later one does what the recipe does not.
pub(super) fn published_after(stages: &[StageManifest], at: usize) -> Option<Published> {
    let step = RECIPE.iter().find(|step| step.kinds.contains(&stages[at].kind.as_str()))?;
    if step.kinds == ["split"] {
        return None;
    }
    let is_step = |stage: &StageManifest| step.kinds.contains(&stage.kind.as_str());
    let is_first_run = !stages[..at].iter().rev().skip_while(|stage| is_step(stage)).any(is_step);
    let is_last_of_it = !stages.get(at + 1).is_some_and(is_step);
    step.published.filter(|_| is_first_run && is_last_of_it)
}

/// What BFCL published for the pairs collected.
pub(super) fn published_pairs() -> Option<Published> {
    RECIPE.iter().find(|step| step.kinds.is_empty()).and_then(|step| step.published)
}

/// What BFCL published for the entries.
pub(super) fn published_entries() -> Option<Published> {
    RECIPE.iter().filter_map(|step| step.published).find(|published| published.unit == Unit::Entries)
}

/// The notes of a stage hold no personal values that redaction finds: it redacts, or both tables were redacted before it.
///
/// `redacts` holds the table that each stage redacts.
pub(super) fn is_redacted_at(redacts: &[Option<TableId>], at: usize) -> bool {
    redacts[at].is_some() || is_redacted(&redacts[..at])
}

/// Both tables are redacted after these stages.
pub(super) fn is_redacted(redacts: &[Option<TableId>]) -> bool {
    TableId::ALL.iter().all(|table| redacts.contains(&Some(*table)))
}

/// The status of a set that is on disk but unreadable.
const UNREADABLE: &str = "not checked: unreadable";

/// The public sets that a stage noted.
pub(super) fn public_sets(stage: &StageManifest) -> Vec<PublicSet> {
    let public_set = |note: ComparedSet| PublicSet {
        stage: stage.id.clone(),
        set: note.id.clone(),
        licence: note.licence.clone(),
        may_be_quoted: is_free(&note.licence) && !note.non_commercial,
        built_in: note.built_in,
        checked: note.is_compared(),
        status: match (note.on_disk, note.unreadable) {
            (false, _) => "not on disk".to_owned(),
            _ if note.is_empty() => UNREADABLE.to_owned(),
            (true, 0) => "checked".to_owned(),
            (true, unreadable) => {
                format!("checked, except {}", counted(unreadable, "unreadable record", "unreadable records"))
            }
        },
    };
    ComparedSet::all(stage.notes.get(SETS_NOTE)).into_iter().map(public_set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(set: &str, checked: bool) -> PublicSet {
        PublicSet {
            stage: "s".to_owned(),
            set: set.to_owned(),
            licence: "unknown".to_owned(),
            may_be_quoted: false,
            built_in: set == "own",
            checked,
            status: if checked { "checked" } else { "not on disk" }.to_owned(),
        }
    }

    #[test]
    fn overlap_is_as_complete_as_the_sets_on_disk() {
        let (own, here, absent) = (set("own", true), set("a", true), set("b", false));
        assert_eq!(overlap(std::slice::from_ref(&here)).0, Status::RanByRule);
        assert_eq!(overlap(&[own, absent.clone()]).0, Status::NotChecked);
        assert_eq!(overlap(&[here, absent]), (Status::RanInPart, "checked: a; not checked: b".to_owned()));
        let unreadable = PublicSet { status: UNREADABLE.to_owned(), ..set("c", false) };
        assert_eq!(overlap(&[unreadable]), (Status::Unreadable, "not checked: c (unreadable)".to_owned()));
    }

    #[test]
    fn nothing_counts_as_redacted_before_both_redactions() {
        let redacts = [None, Some(TableId::Requests), Some(TableId::DocLists), None];
        let redacted: Vec<bool> = (0..redacts.len()).map(|at| is_redacted_at(&redacts, at)).collect();
        assert_eq!(redacted, [false, true, true, true]);
        assert!(!is_redacted_at(&[Some(TableId::Requests), None], 1));
    }
}
