//! The figures of a run: one model, which `report.json`, the dataset card, the page and the screen are written from.
//!
//! Everything here is counted from the run folder. No text of the log is in it but what an [`Example`] quotes, and
//! that is quoted only after redaction. Wall times are separate, under `timing`; all else is the same for
//! equal runs. Deliberately absent: paths of inputs, command lines, clock times.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::composition::{Composition, Entries};
use super::distributions::Distributions;
use super::examples::Shown;
use super::funnel::{EXPORT, FunnelRow};
use super::rebuild::Rebuild;
use super::recipe::{PublicSet, StepReport};
use super::senders::Senders;
use super::strata::StratumShare;
use crate::engine::decision::DecisionKind;
use crate::engine::decisions::{NOT_APPLIED_NOTE, Note};
use crate::engine::delta::FateCount;
use crate::engine::language_model::ModelUsage;
use crate::engine::raw::IngestCounts;
use crate::engine::vocabulary::{Action, ReasonKind, TableId};
use crate::export::card::Card;
use crate::relevance::operating::OperatingPoint;
use crate::text::figures::{count, counted};

/// The sets of a dataset, with the folder of their BFCL files.
pub(super) const SETS: [(&str, &str); 2] = [("scored", ""), ("unverified", "unverified/")];

/// Raised when a key of `report.json` changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// The whole report, as written to `report.json`.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// Facts about the dataset that people provide.
    pub card: Card,
    /// Lines in, requests and doc lists out.
    pub ingest: IngestCounts,
    /// Lines without a request, by reason.
    pub line_reasons: BTreeMap<String, u64>,
    /// Requests by log format.
    pub log_formats: BTreeMap<String, u64>,
    /// The counts after each step, next to what BFCL published.
    pub funnel: Vec<FunnelRow>,
    /// The steps of the recipe: which ran, which did not, and why.
    pub recipe: Vec<StepReport>,
    /// Stages that are no step of the recipe.
    pub other_stages: Vec<String>,
    /// The public sets that stages compared with.
    pub public_sets: Vec<PublicSet>,
    /// How queries were compared in addition to words, by stage: hashed n-grams, or embeddings of a model.
    pub query_vectors: BTreeMap<String, String>,
    /// The lines by which stages judged relevance, and what other target precisions would decide; by stage.
    pub operating_points: BTreeMap<String, OperatingPoint>,
    /// What stages asked language models, and what it cost; by stage.
    pub language_models: BTreeMap<String, ModelUsage>,
    /// What each stage did.
    pub stages: Vec<StageReport>,
    /// Every request, by its last fate.
    pub requests: Fates,
    /// Every doc list, by its last fate.
    pub doc_lists: Fates,
    /// Every fate that was given, by stage and reason, with one example each.
    pub fates: Vec<FateReport>,
    /// Every edit, by stage, reason and safety, with one example each.
    pub edits: Vec<EditReport>,
    /// Redacted places by reason; empty if nothing was redacted or no stage redacts.
    pub redacted: BTreeMap<String, u64>,
    /// What the kept requests are made of.
    pub composition: Composition,
    /// How large the things of the dataset are, and when requests were sent.
    pub distributions: Distributions,
    /// Who sent the requests, if the log names anybody.
    #[serde(skip_serializing_if = "Senders::is_empty")]
    pub senders: Senders,
    /// The kept requests by tier, language and the like.
    pub entries: Entries,
    /// The kinds of instructions of a set that was made, with the shares that were asked for; empty for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<StratumShare>,
    /// Entries written, by set and category.
    pub exported: BTreeMap<String, u64>,
    /// Entries of an earlier dataset kept as they are, by set and category; no rows of this run.
    pub frozen: BTreeMap<String, u64>,
    /// Share of requests and lines that left because something went wrong.
    pub fault_share: f64,
    /// What stages noted, by stage.
    pub notes: BTreeMap<String, BTreeMap<String, Value>>,
    /// What it takes to make the dataset again.
    pub rebuild: Rebuild,
    /// Wall time and disk by step.
    pub timing: Vec<Timing>,
}

impl Report {
    /// Entries written to a set (`scored`, `unverified`), of one category or, for `None`, of all.
    pub fn exported(&self, set: &str, category: Option<&str>) -> u64 {
        under(&self.exported, set, category)
    }

    /// Entries of a set, of one category or, for `None`, of all: those of this run and frozen ones.
    pub fn entries(&self, set: &str, category: Option<&str>) -> u64 {
        self.exported(set, category) + under(&self.frozen, set, category)
    }

    /// Frozen entries of a category, in all sets.
    pub fn frozen(&self, category: &str) -> u64 {
        SETS.iter().map(|(set, _)| under(&self.frozen, set, Some(category))).sum()
    }

    /// All frozen entries.
    pub fn all_frozen(&self) -> u64 {
        self.frozen.values().sum()
    }

    /// All entries of the dataset.
    pub fn all_entries(&self) -> u64 {
        self.exported.values().sum::<u64>() + self.all_frozen()
    }

    /// The decisions of people that were not applied: kind and number.
    pub fn decisions_not_applied(&self) -> Vec<(&'static str, u64)> {
        let noted = self.notes.values().filter_map(|notes| notes.get(NOT_APPLIED_NOTE));
        let notes: Vec<Note> = noted.flat_map(|note| Note::all(Some(note))).collect();
        let of_kind = |kind: DecisionKind| notes.iter().filter(|note| note.decision == kind).count() as u64;
        let counted = DecisionKind::ALL.map(|kind| (kind.name(), of_kind(kind)));
        counted.into_iter().filter(|(_, n)| *n > 0).collect()
    }

    /// What the lines held. Rare kinds are listed only if there are any.
    pub fn lines_sum(&self) -> Sum {
        let ingest = &self.ingest;
        let mut parts = vec![
            (ingest.records, if ingest.records == 1 { "request" } else { "requests" }),
            (ingest.no_request, "without a request"),
            (ingest.unreadable, "unreadable"),
        ];
        let rare = [
            (ingest.joined, "joined into a request"),
            (ingest.not_sampled, "not selected"),
            (ingest.forgotten, "forgotten"),
        ];
        parts.extend(rare.into_iter().filter(|(n, _)| *n > 0));
        Sum { whole: ingest.lines, parts }
    }

    /// What happened to the requests.
    pub fn requests_sum(&self) -> Sum {
        let requests = &self.requests;
        let has_dataset = has_dataset(&self.funnel);
        let mut parts = vec![
            (requests.kept, if has_dataset { "exported" } else { "kept" }),
            (requests.merged, "merged"),
            (requests.held, "held"),
            (requests.dropped, "dropped"),
        ];
        parts.extend([(requests.forgotten, "forgotten")].into_iter().filter(|(n, _)| *n > 0));
        Sum { whole: requests.rows, parts }
    }

    /// What happened to the requests that others were merged into, if any of those is not kept itself.
    pub fn merged_sum(&self) -> Option<Sum> {
        let merged = self.requests.merges();
        (merged.merged_into_not_exported > 0).then(|| merged.sum(has_dataset(&self.funnel)))
    }

    /// What merging means for the figures, and where the merged rows ended.
    pub fn merges_sentence(&self) -> String {
        let tables = [("Requests", self.requests.merges()), ("Doc lists", self.doc_lists.merges())];
        if tables.iter().all(|(_, merged)| merged.merged_into_not_exported == 0) {
            return "Duplicates: an equal or similar row represents each of them.".to_owned();
        }
        let has_dataset = has_dataset(&self.funnel);
        let stays = if has_dataset { "exported" } else { "kept" };
        let mut text = format!(
            "Duplicates: an equal or similar row represents each of them. If that row is {stays}, only the copy was \
             removed. If it is held or dropped, the duplicate is not in the dataset either."
        );
        for (what, merged) in tables.iter().filter(|(_, merged)| merged.merged > 0) {
            let _ = write!(text, " {what}: {}.", merged.sum(has_dataset));
        }
        text
    }

    /// The fates of an action for people: rows that followed from a row of the other table for the same reason are
    /// not listed, but counted with it.
    pub fn shown_fates<'r>(&'r self, action: &'r str) -> impl Iterator<Item = (&'r FateReport, u64)> + 'r {
        let goes_with = |follower: &FateReport, fate: &FateReport| {
            follower.cascaded
                && !fate.cascaded
                && (&follower.stage, &follower.action, &follower.reason)
                    == (&fate.stage, &fate.action, &fate.reason)
        };
        let of_action = move || self.fates.iter().filter(move |fate| fate.action == action);
        of_action().filter(move |fate| !of_action().any(|other| goes_with(fate, other))).map(move |fate| {
            (fate, of_action().filter(|other| goes_with(other, fate)).map(|other| other.rows).sum())
        })
    }

    /// What a step did, in one line: rows merged, dropped and held, and edits; empty for a step that is no stage.
    pub fn actions_of(&self, step: &str) -> String {
        let Some(stage) = self.stages.iter().find(|stage| stage.id == step) else { return String::new() };
        let mut parts = Vec::new();
        for (action, verb) in [(Action::Merge, "merged"), (Action::Drop, "dropped"), (Action::Hold, "held")] {
            for table in [TableId::DocLists, TableId::Requests] {
                let is_meant =
                    |fate: &&FateCount| fate.table == table && fate.action == action && !fate.cascaded;
                let n: u64 = stage.fates.iter().filter(is_meant).map(|fate| fate.rows).sum();
                if n > 0 {
                    parts.push(format!("{} {verb}", rows_of(n, table.name())));
                }
            }
        }
        let n_edits: u64 = stage.edits.values().sum();
        if n_edits > 0 {
            parts.push(counted(n_edits, "edit", "edits"));
        }
        parts.join(", ")
    }

    /// What BFCL published for the pairs that it began with.
    pub fn published_pairs(&self) -> Option<u64> {
        Some(self.funnel.first()?.bfcl?.count)
    }
}

/// A run of this funnel wrote a dataset.
pub(super) fn has_dataset(funnel: &[FunnelRow]) -> bool {
    funnel.last().is_some_and(|row| row.step == EXPORT)
}

/// Counts of a set, of one category or of all.
fn under(counts: &BTreeMap<String, u64>, set: &str, category: Option<&str>) -> u64 {
    let is_asked = |heading: &str| {
        heading
            .split_once('/')
            .is_some_and(|(of_set, name)| of_set == set && category.is_none_or(|category| category == name))
    };
    counts.iter().filter(|(heading, _)| is_asked(heading)).map(|(_, n)| n).sum()
}

/// A whole and the parts that add up to it: `436 = 232 exported + 118 merged + 59 held + 27 dropped`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// The whole.
    pub whole: u64,
    /// The parts, each with what it counts.
    pub parts: Vec<(u64, &'static str)>,
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts.iter().map(|(n, what)| format!("{} {what}", count(*n))).collect();
        write!(f, "{} = {}", count(self.whole), parts.join(" + "))
    }
}

/// A number of rows of a table, in words.
pub(super) fn rows_of(n: u64, table: &str) -> String {
    if table == TableId::Requests.name() {
        counted(n, "request", "requests")
    } else {
        counted(n, "doc list", "doc lists")
    }
}

/// What one stage did.
#[derive(Debug, Serialize, Deserialize)]
pub struct StageReport {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// The table from which it removed personal values.
    #[serde(skip)]
    pub redacts: Option<TableId>,
    /// It also replaced names of people, by a list or a recogniser.
    #[serde(skip)]
    pub finds_names: bool,
    /// Fates it gave.
    pub fates: Vec<FateCount>,
    /// Edits it made, by reason.
    pub edits: BTreeMap<String, u64>,
    /// What it only showed, by reason.
    pub suggestions: BTreeMap<String, u64>,
}

/// Rows by their last fate; they add up to `rows`.
#[derive(Debug, Default, Serialize)]
pub struct Fates {
    /// All rows.
    pub rows: u64,
    /// Kept to the end; for requests of a pipeline that exports, written.
    pub kept: u64,
    /// Stood for by another.
    pub merged: u64,
    /// Of the merged: those that end in a row which is not kept itself.
    pub merged_into_not_exported: u64,
    /// Out, for review.
    pub held: u64,
    /// Out.
    pub dropped: u64,
    /// Removed on request; only the place is known.
    pub forgotten: u64,
    /// Rows that are not kept, by reason.
    pub reasons: BTreeMap<&'static str, u64>,
}

impl Fates {
    /// The merged rows among them.
    fn merges(&self) -> Merges {
        Merges { merged: self.merged, merged_into_not_exported: self.merged_into_not_exported }
    }
}

/// Merged rows, and where they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merges {
    /// Stood for by another.
    pub merged: u64,
    /// Of these: those that end in a row which is not kept itself.
    pub merged_into_not_exported: u64,
}

/// Merged rows that no kept row represents.
pub(super) const INTO_LEFT: &str = "into held or dropped";

impl Merges {
    /// Where they ended; the parts add up to the whole.
    pub fn sum(self, has_dataset: bool) -> Sum {
        let kept = if has_dataset { "into exported" } else { "into kept" };
        let parts = vec![
            (self.merged - self.merged_into_not_exported, kept),
            (self.merged_into_not_exported, INTO_LEFT),
        ];
        Sum { whole: self.merged, parts }
    }
}

/// Rows that one stage gave one fate for one reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FateReport {
    /// The stage's id.
    pub stage: String,
    /// `requests` or `doc_lists`.
    pub table: String,
    /// `drop`, `merge` or `hold`.
    pub action: String,
    /// Reason code.
    pub reason: String,
    /// What the reason means.
    pub description: String,
    /// Decision of the recipe, or something that went wrong.
    pub kind: Option<ReasonKind>,
    /// It followed from the fate of the other table's rows.
    pub cascaded: bool,
    /// How many rows.
    pub rows: u64,
    /// Of a merge: those that end in a row which is not kept itself.
    pub merged_into_not_exported: u64,
    /// The earliest of them.
    pub example: Example,
    /// Some of them, drawn by the seed; on the page only.
    #[serde(skip)]
    pub examples: Vec<Shown>,
}

impl FateReport {
    /// The other of the two tables.
    pub(super) fn other_table(&self) -> &'static str {
        if self.table == TableId::Requests.name() {
            TableId::DocLists.name()
        } else {
            TableId::Requests.name()
        }
    }
}

/// Edits that one stage made for one reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EditReport {
    /// The stage's id.
    pub stage: String,
    /// `requests` or `doc_lists`.
    pub table: String,
    /// Reason code.
    pub reason: String,
    /// What the reason means.
    pub description: String,
    /// `safe`, `unsafe` or `suggest`; what is only suggested was not changed.
    pub safety: String,
    /// How many edits.
    pub edits: u64,
    /// The earliest of them.
    pub example: Example,
    /// Some of them, drawn by the seed; on the page only.
    #[serde(skip)]
    pub examples: Vec<Shown>,
}

/// One row that a reason was named for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Example {
    /// The row's id in its table.
    pub row_id: String,
    /// A request to ask `callsieve why` about: the row itself, or the earliest that was sent with the list.
    pub request_id: Option<String>,
    /// For a merge: the row that represents it.
    pub merged_into: Option<String>,
    /// What was measured.
    pub metric: Option<String>,
    /// The measured number.
    pub score: Option<f64>,
    /// What was found or changed, shortened; only after redaction.
    pub text: Option<String>,
}

/// What a step cost.
#[derive(Debug, Serialize)]
pub struct Timing {
    /// The step.
    pub step: String,
    /// Wall time.
    pub seconds: f64,
    /// Bytes of memory of the process when the step ended, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The most that the process had until then, with the steps before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// Bytes on disk.
    pub bytes: u64,
}
