//! The solution paths of an instruction set, as its card and its page show them: who made and judged them, how many pass, some trees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use crate::engine::error::{At as _, Result};
use crate::instruct::solutions::{FOLDER, RATES, TREES};
use crate::page::table::{self, Column};
use crate::page::{code, number};
use crate::side_file;
use crate::text::figures::{count, counted, share_of};
use crate::text::visible::visible_line;

/// Where a dataset has solutions.
const PLACES: [&str; 4] = ["", "validation", "both", "unverified"];
/// The most trees that the page draws, of instructions that no attempt solves and of the others.
const MOST_TREES: usize = 5;

/// A line of the file of pass rates.
#[derive(Deserialize)]
struct Line {
    id: String,
    stratum: String,
    attempts: u64,
    passed: u64,
    judged_by: String,
    faults: BTreeSet<String>,
    suspicions: BTreeSet<String>,
    origins: BTreeSet<String>,
    requests: u64,
    tokens: u64,
}

/// The sums of a stratum.
#[derive(Default)]
struct Sums {
    instructions: u64,
    solved: u64,
    attempts: u64,
    passed: u64,
    requests: u64,
    tokens: u64,
}

/// The solution paths of a set.
#[derive(Default)]
pub(super) struct Solutions {
    strata: BTreeMap<String, Sums>,
    /// How many instructions have a fault of this code in an attempt.
    faults: BTreeMap<String, u64>,
    /// How many have a suspicion of it.
    suspicions: BTreeMap<String, u64>,
    ids: Vec<String>,
    origins: BTreeSet<String>,
    judged_by: BTreeSet<String>,
    /// Drawn trees: those of instructions without a path that passes, and others.
    unsolved: Vec<String>,
    solved: Vec<String>,
}

impl Solutions {
    /// Reads the solutions of a run; none if it has none.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn of(run: &Path) -> Result<Self> {
        let mut this = Self::default();
        for folder in PLACES.map(|place| run.join("dataset").join(place).join(FOLDER)) {
            let rates = folder.join(RATES);
            if !rates.is_file() {
                continue;
            }
            let rates = side_file::read_text(&rates).at("reading", &rates)?;
            let trees = folder.join(TREES);
            let trees = side_file::read_text(&trees).at("reading", &trees)?;
            let lines = rates.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
            // Both files have the instructions in one order.
            for (line, tree) in lines.zip(trees.split("\n\n")) {
                this.add(line, tree);
            }
        }
        Ok(this)
    }

    fn add(&mut self, line: Line, tree: &str) {
        let trees = if line.passed > 0 { &mut self.solved } else { &mut self.unsolved };
        if trees.len() < MOST_TREES {
            trees.push(tree.to_owned());
        }
        let sums = self.strata.entry(line.stratum).or_default();
        sums.instructions += 1;
        sums.solved += u64::from(line.passed > 0);
        sums.attempts += line.attempts;
        sums.passed += line.passed;
        sums.requests += line.requests;
        sums.tokens += line.tokens;
        for (counts, codes) in [(&mut self.faults, line.faults), (&mut self.suspicions, line.suspicions)] {
            for code in codes {
                *counts.entry(code).or_default() += 1;
            }
        }
        self.ids.push(line.id);
        self.origins.extend(line.origins);
        self.judged_by.insert(line.judged_by);
    }

    /// Returns the ids of the instructions.
    pub(super) fn into_ids(self) -> Vec<String> {
        self.ids
    }

    /// Returns how many instructions have an attempt that passes.
    pub(super) fn n_solved(&self) -> u64 {
        self.strata.values().map(|sums| sums.solved).sum()
    }

    fn is_empty(&self) -> bool {
        self.strata.is_empty()
    }

    /// What is known of the paths, a sentence each: how many pass by what, where results come from, what checks found, what judges say.
    fn sentences(&self, report: &Value) -> Vec<String> {
        let sum = |of: fn(&Sums) -> u64| self.strata.values().map(of).sum::<u64>();
        let (all, solved) = (sum(|sums| sums.instructions), self.n_solved());
        let by: Vec<&str> = self.judged_by.iter().map(String::as_str).collect();
        let by = match by.iter().find(|by| by.contains("judges")) {
            Some(by) => format!("{by} say"),
            None => format!("{} says", by.join(" or ")),
        };
        let mut sentences = vec![format!(
            "{} of {} have a path that passes, as {by}; {} of {}",
            share_of(solved, all),
            counted(all, "instruction", "instructions"),
            count(sum(|sums| sums.passed)),
            counted(sum(|sums| sums.attempts), "attempt", "attempts"),
        )];
        let models = |of: &str| {
            let usages = report["language_models"].as_object().into_iter().flatten();
            let of_stage = usages.filter(|(stage, _)| stage.as_str() == of);
            of_stage.filter_map(|(_, usage)| usage["model"].as_str()).map(visible_line).collect::<Vec<_>>()
        };
        let annotators = models("annotate");
        if !annotators.is_empty() {
            sentences.push(format!("searched by {}", annotators.join(", ")));
        }
        if !self.origins.is_empty() {
            let origins: Vec<&str> = self.origins.iter().map(String::as_str).collect();
            sentences.push(format!("results are {}", origins.join(" and ")));
        }
        for (level, counts) in [("fault", &self.faults), ("suspicion", &self.suspicions)] {
            sentences
                .extend(counts.iter().map(|(code, n)| format!("{level} {code} in {} of them", count(*n))));
        }
        for figures in report["notes"].as_object().into_iter().flatten().map(|(_, notes)| &notes["judged"]) {
            if let Some(n) = figures["n"].as_u64() {
                sentences.push(of_judges(figures, n, &models("judge-solutions").join(", ")));
            }
        }
        sentences
    }

    /// The section of the card; empty if there are no paths.
    pub(super) fn card(&self, report: &Value) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut text = "\n## Solution paths\n\n".to_owned();
        for sentence in self.sentences(report) {
            let _ = writeln!(text, "- {sentence}");
        }
        let _ = write!(
            text,
            "\n| stratum | instructions | with a path | attempts | requests | tokens |\n|---|---:|---:|---:|---:|---:|\n"
        );
        for (stratum, sums) in &self.strata {
            let of = [sums.instructions, sums.solved, sums.attempts, sums.requests, sums.tokens].map(count);
            let _ = writeln!(text, "| {stratum} | {} |", of.join(" | "));
        }
        text
    }

    /// The section of the page; nothing if there are no paths.
    pub(super) fn section(&self, report: &Value) -> Markup {
        let columns = [
            Column::key("stratum"),
            Column::number("instructions"),
            Column::number("with a path"),
            Column::number("attempts"),
            Column::number("requests"),
            Column::number("tokens"),
        ];
        let rows = self.strata.iter().map(|(stratum, sums)| {
            let of = [sums.instructions, sums.solved, sums.attempts, sums.requests, sums.tokens];
            std::iter::once(code(stratum)).chain(of.map(number)).collect()
        });
        html! {
            @if !self.is_empty() {
                h2 #solutions { "Solution paths" }
                ul { @for sentence in self.sentences(report) { li { (sentence) } } }
                (table::wide(&columns, rows))
                (trees("No attempt passes", &self.unsolved))
                (trees("An attempt passes", &self.solved))
            }
        }
    }
}

/// What judges say of so many answers.
fn of_judges(figures: &Value, n: u64, models: &str) -> String {
    let rate = &figures["pass_rate"];
    let whole = &rate["if_undecided_fails"];
    let percent = |value: &Value| format!("{:.1}", value.as_f64().unwrap_or_default() * 100.0);
    let mut sentence = format!(
        "judged by {models}: {} % of {} pass (95 %: {} to {})",
        percent(&whole["share"]),
        counted(n, "answer", "answers"),
        percent(&whole["from"]),
        percent(&whole["to"])
    );
    let n_undecided: u64 =
        ["unsure", "tied", "without_votes"].iter().filter_map(|key| rate[*key].as_u64()).sum();
    if n_undecided > 0 {
        let _ = write!(sentence, ", {n_undecided} of them undecided");
    }
    for (key, whom) in [("agreement_with_execution", "execution"), ("agreement_with_people", "people")] {
        for (model, one) in figures[key].as_object().into_iter().flatten() {
            let share = percent(&one["agreement"]["share"]);
            let n = one["agreement"]["whole"].as_u64().unwrap_or_default();
            let _ = write!(sentence, "; {} agrees with {whom} on {share} % of {n}", visible_line(model));
            if let Some(kappa) = one["kappa"]["value"].as_f64() {
                let _ = write!(sentence, " (kappa {:.2})", (kappa * 100.0).round() / 100.0 + 0.0);
            }
        }
    }
    sentence
}

/// Drawn trees, folded.
fn trees(title: &str, trees: &[String]) -> Markup {
    html! {
        @if !trees.is_empty() {
            h3 { (title) }
            @for tree in trees {
                details {
                    summary { (visible_line(tree.lines().next().unwrap_or_default())) }
                    pre { @for line in tree.lines().skip(1) { (visible_line(line)) "\n" } }
                }
            }
        }
    }
}
