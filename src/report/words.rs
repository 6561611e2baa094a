//! Words and figures that the card and the page share, so that the two agree.

use super::model::{FateReport, INTO_LEFT, Report, StageReport};
use super::published::Unit;
use super::recipe::{self, Status};
use crate::bfcl::category::Category;
use crate::engine::decisions::DECIDE;
use crate::engine::vocabulary::TableId;
use crate::export::tier::{AGREED, JUDGED};
use crate::stages::Settings as _;
use crate::stages::cap_templates::{Found, Part};
use crate::stages::draft_answers::DraftAnswers;
use crate::stages::merge_near_queries::N_GRAMS;
use crate::text::figures::{count, counted, share_of};

/// Where the recipe is described, with its published figures.
pub(super) const RECIPE_URL: &str = "https://gorilla.cs.berkeley.edu/blogs/12_bfcl_v2_live.html";

/// What may be compared between the two funnels.
pub(super) const COMPARABLE: &str = "The two logs differ, and steps are matched by name, so compare shares, not counts. \
BFCL's figures count pairs, then docs, then entries. BFCL's description has no step for spam or agent loops, and removes \
docs of public sets before it merges similar docs.";

/// What the two columns of entries mean.
pub(super) const SCORED: &str = "Scored: the answer is verified; or the category needs no answer, and the log, a person \
or a reliable rule gives the label. Unverified: nobody checked the answer or label. Its tier is recorded (the answer of \
the logged model), agreed (language models agree on the answer) or judged (the label comes from the text, or from a call or a declined answer that nothing confirms).";

/// The number of frozen entries and what they are; nothing if there are none.
pub(super) fn frozen_sentence(report: &Report) -> Option<String> {
    let n = report.all_frozen();
    (n > 0).then(|| {
        format!(
            "{} copied unchanged from an earlier dataset (frozen). No request of this run produced them, so the counts of \
             steps, tiers, languages and edits do not include them.",
            counted(n, "entry is", "entries are")
        )
    })
}

/// What was found of templates.
pub(super) fn templates_sentence(found: &Found) -> String {
    let share = |part: &Part| {
        let n = counted(part.templates, "template", "templates");
        format!("{n} with {} of the requests at this step", share_of(part.requests, found.requests))
    };
    let (machines, people) = (found.of_machines, found.of_all);
    let capped = match machines.templates {
        0 => "No template was sent in the rhythm of a machine.".to_owned(),
        _ => format!(
            "Sent in the rhythm of a machine, such as a load test: {}, of which {} were dropped.",
            share(&machines),
            count(found.dropped)
        ),
    };
    let kept = match people.templates {
        0 => String::new(),
        _ => format!(" Without such a rhythm, so nothing was dropped: {}.", share(&people)),
    };
    format!(
        "A template is a query whose words many requests share; `{{}}` stands for their values. {capped}{kept}"
    )
}

/// The sections of fates: action, heading, what it means in this run.
pub(super) fn fate_sections(report: &Report) -> [(&'static str, &'static str, String); 4] {
    let held = "Rows that need a decision by a person. They are not in the dataset.";
    [
        ("merge", "Merged", report.merges_sentence()),
        ("drop", "Dropped", "Rows that the recipe excludes.".to_owned()),
        ("hold", "Held", held.to_owned()),
        (
            DECIDE,
            "Decided by people",
            format!("Rows that a person decided on.{}", not_applied_sentence(report)),
        ),
    ]
}

/// The number of decisions that were not applied, by kind; empty if all were applied.
fn not_applied_sentence(report: &Report) -> String {
    let kinds = report.decisions_not_applied();
    let n_all: u64 = kinds.iter().map(|(_, n)| n).sum();
    if n_all == 0 {
        return String::new();
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{} {kind}", count(*n))).collect();
    format!(
        " {} not applied ({}). The file report.json of the run lists each with its line and the reason.",
        counted(n_all, "decision was", "decisions were"),
        kinds.join(", ")
    )
}

/// The merged rows of a reason whose leader is not kept; nothing if all leaders are.
pub(super) fn merge_targets(fate: &FateReport) -> Option<String> {
    (fate.merged_into_not_exported > 0)
        .then(|| format!("{} {INTO_LEFT}", count(fate.merged_into_not_exported)))
}

/// The dataset's title.
pub(super) fn title(report: &Report) -> &str {
    if report.card.title.is_empty() { &report.pipeline } else { &report.card.title }
}

/// The text, or `otherwise` if it is blank.
pub(super) fn or_unknown<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.trim().is_empty() { otherwise } else { text }
}

/// What a published figure counts, for people.
pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "pairs",
        Unit::DocLists => "docs",
        Unit::Entries => "entries",
    }
}

/// Redaction of requests and of docs ran.
pub(super) fn is_redacted(report: &Report) -> bool {
    let redacts: Vec<Option<TableId>> = report.stages.iter().map(|stage| stage.redacts).collect();
    recipe::is_redacted(&redacts)
}

impl Report {
    /// Whether personal values were replaced, but names of people were not looked for.
    pub fn keeps_names(&self) -> bool {
        let finds_names = |stage: &StageReport| stage.redacts.is_none() || stage.finds_names;
        is_redacted(self) && !self.stages.iter().all(finds_names)
    }
}

/// What a reader should not expect of the dataset.
pub(super) fn known_limits(report: &Report) -> Vec<String> {
    let mut limits = report.dominance();
    for step in report.recipe.iter().filter(|step| !step.status.has_run()) {
        let status = step.status.name().replacen(": ", " (", 1);
        limits.push(format!("The recipe step “{}” was {status}).", step.step));
    }
    if report.recipe.iter().any(|step| step.status == Status::RanByRule) {
        limits.push(
            "In the original recipe, people or a model did the steps marked “ran by rule”. Rules are repeatable, but miss \
             cases that a person would see."
                .to_owned(),
        );
    }
    let is_recorded = |category: &Category| {
        category.has_answers() && report.entries("unverified", Some(category.name())) > 0
    };
    if Category::ALL.iter().any(is_recorded) {
        limits.push("Unverified answers are outputs of one model; some are wrong.".to_owned());
    }
    let agreed = report.entries.tier.get(AGREED).copied().unwrap_or_default();
    if agreed > 0 {
        limits.push(format!(
            "Answers of the tier agreed ({}) were drafted by language models, which can agree on a wrong call.",
            count(agreed)
        ));
    }
    let judged = report.entries.tier.get(JUDGED).copied().unwrap_or_default();
    if judged > 0 {
        limits.push(format!(
            "Labels of the tier judged ({}) come from the text, or from an answer of the logged model that nothing confirms. These entries are unverified, and some labels are wrong.",
            count(judged)
        ));
    }
    let scored = report.exported("scored", Some(Category::Irrelevance.name()));
    if scored > 0 {
        limits.push(format!(
            "This run made {} of the category irrelevance. Where no person decided, a rule judged that no function \
             fits, based on the answers in the log or on the form of the query. Some labels can be wrong.",
            counted(scored, "scored entry", "scored entries")
        ));
    }
    if report.edits.iter().any(|edit| edit.safety == "unsafe") {
        limits.push("Unsafe edits fill gaps in the docs with guesses.".to_owned());
    }
    let ran = |start: &str| report.stages.iter().any(|stage| stage.kind.starts_with(start));
    if ran(DraftAnswers::NAME) {
        limits.push(
            "A drafted answer accepts one value per parameter, and the omission of optional parameters. Other values can be \
             correct, too."
                .to_owned(),
        );
    }
    let models: Vec<&str> =
        report.query_vectors.values().filter(|vectors| *vectors != N_GRAMS).map(String::as_str).collect();
    if !models.is_empty() {
        limits.push(format!(
            "Similar docs are found by their words, similar queries by their words and by {}. Paraphrases that these measures \
             do not find remain in the dataset.",
            models.join(", ")
        ));
    } else if ran("merge-near-") {
        limits.push(
            "Similar docs and queries are found by words and spelling. Paraphrases in other words remain in the dataset."
                .to_owned(),
        );
    }
    limits
}
