//! `callsieve check`: checks functions or a dataset against the rules of BFCL.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::Ending;
use crate::cli::console::{self, Paint, Painted, Screen, count, counted};
use crate::cli::layout::{Cell, Column, Table, paragraph, words};
use crate::docs::check::rules::{Level, Rule};
use crate::lint::input::InputFile;
use crate::lint::tally::Count;
use crate::lint::{CheckOptions, Checked, LintFinding, RuleSet, check_path, rules};
use crate::text::visible::visible_line;

/// Raised when a key of the JSON lines changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve check out/mylog                            the dataset of a run
  callsieve check docs.jsonl --rule schema/enum-type   lines of {\"id\": …, \"function\": […]}
  callsieve check out/mylog --json | jq 'select(.kind == \"finding\")'

A finding is one line: file:line id function pointer: found …, expected … [code]. \
Levels: an error breaks the official evaluator or the recipe; a note is a fault that the official \
data has too; a fact is only counted. `callsieve explain CODE` explains a rule.

With --json each line is an object: {\"kind\": \"finding\", \"file\", \"line\", \"id\", \"function\", \"at\", \
\"reason\", \"level\", \"by\", \"found\", \"expected\"}; then {\"kind\": \"rule\", \"reason\", \"type\", \"level\", \
\"what\", \"findings\", \"docs\", \"distinct\", \"entries\", \"files\"} for each rule; then one \
{\"kind\": \"summary\", \"schema_version\", \"files\", \"entries\", \"functions\", \"errors\", \"notes\", \
\"official_linter\"}.

Exit codes: 0 no error; 1 errors, of the selected rules; 2 could not start.")]
pub(super) struct CheckArgs {
    /// File of functions or BFCL questions, folder of such files, or run folder; `-` is standard input.
    path: PathBuf,

    /// The rules to apply.
    #[arg(long, value_enum, default_value_t = Rules::Bfcl)]
    rules: Rules,

    /// Applies this rule only. May be repeated.
    #[arg(long, value_name = "CODE")]
    rule: Vec<String>,

    /// Lowest level of the findings to show; the tables count all.
    #[arg(long, value_enum, default_value_t = Shown::Note)]
    level: Shown,

    /// Shows at most N findings of each rule.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Prints one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rules {
    /// Rules of the recipe and the evaluator, and what all official docs have in common.
    Bfcl,
    /// Rules of the official format script: the first fault of each function, always an error.
    OfficialLinter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// Errors only.
    Error,
    /// Errors and notes.
    Note,
    /// Errors, notes and facts.
    Fact,
}

pub(super) fn check(args: &CheckArgs) -> anyhow::Result<Ending> {
    let mut options = CheckOptions::new(args.path.clone());
    options.codes.clone_from(&args.rule);
    if args.rules == Rules::OfficialLinter {
        options.rules = RuleSet::OfficialLinter;
    }
    let checked = check_path(&options)?;
    let shown = Output { args, checked: &checked };
    let printed = if args.json {
        console::write_json(&shown.lines_of_json())
    } else {
        console::print_painted(&shown.text(Screen::of_stdout()))
    };
    let ending = if checked.n_of(Level::Error) > 0 { Ending::GateFailed } else { Ending::Done };
    Ok(ending.after(printed)?)
}

/// What is to be written.
struct Output<'a> {
    args: &'a CheckArgs,
    checked: &'a Checked,
}

impl Output<'_> {
    /// What is shown line by line, within the requested limits.
    fn shown(&self) -> Vec<&LintFinding> {
        let lowest = match self.args.level {
            Shown::Error => Level::Error,
            Shown::Note => Level::Note,
            Shown::Fact => Level::Fact,
        };
        // Who asks for one fact by name wants to see it.
        let wanted =
            |finding: &&LintFinding| !self.args.rule.is_empty() || self.checked.level(finding.rule) <= lowest;
        let mut shown_of: BTreeMap<&str, usize> = BTreeMap::new();
        let limit = self.args.limit.unwrap_or(usize::MAX);
        let within = |finding: &&LintFinding| {
            let n = shown_of.entry(finding.rule.code).or_default();
            *n += 1;
            *n <= limit
        };
        self.checked.findings.iter().filter(wanted).filter(within).collect()
    }

    fn text(&self, screen: Screen) -> Painted {
        let mut text = Painted::default();
        self.shown().into_iter().for_each(|finding| self.line(finding, &mut text));
        let counts = self.checked.tally();
        if !counts.is_empty() {
            text.add(Paint::Plain, if self.shown().is_empty() { "" } else { "\n" });
            text.append(self.table(&counts, screen));
            text.add(Paint::Plain, "\n");
        }
        text.append(self.closing(counts.len(), screen));
        text
    }

    /// A finding on one line of any length, as programs read it too.
    fn line(&self, finding: &LintFinding, text: &mut Painted) {
        let words = [
            finding.id.as_str(),
            finding.function.as_ref().map_or("", |function| function.name.as_str()),
            &finding.at,
        ];
        let words: String =
            words.into_iter().filter(|word| !word.is_empty()).map(|word| format!(" {word}")).collect();
        let place = format!("{}:{}{words}", self.checked.path_of(finding).display(), finding.line);
        let expected = if finding.expected.is_empty() {
            String::new()
        } else {
            format!(", expected {}", finding.expected)
        };
        text.add(Paint::Title, &visible_line(&place));
        text.add(Paint::Plain, &visible_line(&format!(": found {}{expected} ", finding.found)));
        text.add(paint(self.checked.level(finding.rule)), &format!("[{}]", finding.rule.code));
        text.add(Paint::Plain, "\n");
    }

    /// The rules with findings. Counts of each file are shown if the screen is wide enough.
    fn table(&self, counts: &[(&'static Rule, &'static str, Count)], screen: Screen) -> Painted {
        let labels: Vec<String> = self.checked.files.iter().map(InputFile::label).collect();
        let labels: Vec<&str> = if labels.len() > 1 { without_common_start(&labels) } else { Vec::new() };
        let whole = self.table_of(counts, &labels);
        if labels.is_empty() || whole.fits(screen) {
            return whole.fitted(screen);
        }
        let mut text = self.table_of(counts, &[]).fitted(screen);
        let note = "--json lists the counts of each file, and so does this table on a wider terminal";
        text.append(paragraph("", 0, &words(note), screen));
        text
    }

    fn table_of(&self, counts: &[(&'static Rule, &'static str, Count)], labels: &[&str]) -> Table {
        let mut columns = vec![Column::text("level"), Column::text("rule")];
        columns.extend(["docs", "distinct", "entries"].iter().chain(labels).map(|name| Column::number(name)));
        let mut table = Table::new(columns);
        for (rule, kind, found) in counts {
            let code = if kind.is_empty() { rule.code.to_owned() } else { format!("{} ({kind})", rule.code) };
            let level = self.checked.level(rule);
            let numbers = [found.docs, found.distinct, found.entries];
            let numbers = numbers.into_iter().chain(found.by_file.iter().copied().take(labels.len()));
            let start = [Cell::new(paint(level), level.name()), code.into()];
            table.row(start.into_iter().chain(numbers.map(|number| count(number as u64).into())));
        }
        table
    }

    fn closing(&self, n_broken: usize, screen: Screen) -> Painted {
        let line = |text: &str| paragraph("", 0, &words(text), screen);
        let mut text = line(&format!(
            "{} in {} of {}: {}, {}",
            counted(self.checked.report.n_functions as u64, "function", "functions"),
            counted(self.checked.report.n_entries as u64, "entry", "entries"),
            counted(self.checked.files.len() as u64, "file", "files"),
            counted(self.checked.n_of(Level::Error) as u64, "error", "errors"),
            counted(self.checked.n_of(Level::Note) as u64, "note", "notes"),
        ));
        if self.args.rules == Rules::Bfcl && self.args.rule.is_empty() {
            text.append(line(&format!(
                "{} no findings (--json lists them)",
                counted((rules::all().count() - n_broken) as u64, "other rule has", "other rules have")
            )));
            text.append(line(&format!(
                "the official format script would refuse {} (--rules official-linter)",
                counted(self.checked.report.linter.len() as u64, "function", "functions")
            )));
        }
        text
    }

    fn lines_of_json(&self) -> String {
        let findings = self.shown().into_iter().map(|finding| self.finding(finding));
        let counts = self.checked.tally();
        let counted = counts.iter().map(|(rule, kind, found)| self.rule(rule, kind, found));
        let none = Count { by_file: vec![0; self.checked.files.len()], ..Count::default() };
        let asked =
            |rule: &&Rule| self.args.rule.is_empty() || self.args.rule.iter().any(|code| code == rule.code);
        let quiet = rules::all()
            .filter(|rule| {
                self.args.rules == Rules::Bfcl && counts.iter().all(|(of, ..)| of.code != rule.code)
            })
            .filter(asked)
            .map(|rule| self.rule(rule, "", &none));
        let lines = findings.chain(counted).chain(quiet).chain([self.summary()]);
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn finding(&self, finding: &LintFinding) -> Value {
        let by: Vec<&str> = finding.rule.by.iter().map(|by| by.name()).collect();
        json!({
            "kind": "finding", "file": self.checked.path_of(finding), "line": finding.line, "id": finding.id,
            "function": finding.function.as_ref().map(|function| &function.name), "at": finding.at,
            "reason": finding.rule.code, "level": self.checked.level(finding.rule).name(), "by": by,
            "found": finding.found, "expected": finding.expected,
        })
    }

    fn rule(&self, rule: &Rule, kind: &str, found: &Count) -> Value {
        let files: serde_json::Map<String, Value> =
            self.checked.files.iter().zip(&found.by_file).map(|(file, n)| (file.label(), json!(n))).collect();
        json!({
            "kind": "rule", "reason": rule.code, "type": Some(kind).filter(|kind| !kind.is_empty()),
            "level": self.checked.level(rule).name(), "what": rule.what(), "findings": found.findings,
            "docs": found.docs, "distinct": found.distinct, "entries": found.entries, "files": files,
        })
    }

    fn summary(&self) -> Value {
        json!({
            "kind": "summary", "schema_version": SCHEMA_VERSION, "files": self.checked.files.len(),
            "entries": self.checked.report.n_entries, "functions": self.checked.report.n_functions,
            "errors": self.checked.n_of(Level::Error), "notes": self.checked.n_of(Level::Note), "official_linter": self.checked.report.linter.len(),
        })
    }
}

/// The look of a level.
fn paint(level: Level) -> Paint {
    match level {
        Level::Error => Paint::Error,
        Level::Note => Paint::Warning,
        Level::Fact => Paint::Heading,
    }
}

/// The labels without what all of them begin with, up to an underscore.
fn without_common_start(labels: &[String]) -> Vec<&str> {
    let first = labels.first().map_or("", String::as_str);
    let start = first
        .rmatch_indices('_')
        .map(|(at, _)| at + 1)
        .find(|at| labels.iter().all(|label| label.len() > *at && label.starts_with(&first[..*at])));
    labels.iter().map(|label| &label[start.unwrap_or(0)..]).collect()
}
