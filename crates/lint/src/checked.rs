//! A check of a path by some of the rules: what `callsieve check` does.

use std::path::PathBuf;

use callsieve_docs::check::rules::{Level, Rule};
use callsieve_text::suggestion::did_you_mean;

use crate::input::{InputError, InputFile, read};
use crate::tally::{Count, tally};
use crate::{LintFinding, Report, check, rules};

/// What is checked, by which rules.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckOptions {
    /// A file of functions or BFCL questions, a folder of such files, or a run folder; `-` is standard input.
    pub path: PathBuf,
    /// The set of rules.
    pub rules: RuleSet,
    /// The codes of the rules that are applied; none for all of the set.
    pub codes: Vec<String>,
}

impl CheckOptions {
    /// Returns the options that apply all rules of BFCL.
    pub fn new(path: PathBuf) -> Self {
        Self { path, rules: RuleSet::Bfcl, codes: Vec::new() }
    }
}

/// A set of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSet {
    /// Rules of the recipe and the evaluator, and what all official docs have in common.
    Bfcl,
    /// Rules of the official format script: the first fault of each function, always an error.
    OfficialLinter,
}

/// Why nothing is checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// There is no such rule.
    #[error("there is no rule \"{code}\"\nhint: {hint}`callsieve explain` lists all")]
    UnknownRule {
        /// The code.
        code: String,
        /// The nearest one.
        hint: String,
    },
    /// The files cannot be checked.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// The result of a check.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The files.
    pub files: Vec<InputFile>,
    /// What all rules find.
    pub report: Report,
    /// The findings of the rules that were asked for.
    pub findings: Vec<LintFinding>,
    /// The set of rules.
    pub rules: RuleSet,
}

/// Checks the files at a path.
///
/// # Errors
/// There is no rule of a code, a file cannot be read, or a line is not a JSON object with functions.
pub fn check_path(options: &CheckOptions) -> Result<Checked, CheckError> {
    let CheckOptions { path, rules, codes } = options;
    if let Some(code) = codes.iter().find(|code| rules::of(code).is_none()) {
        let hint = did_you_mean(code, rules::all().map(|rule| rule.code));
        return Err(CheckError::UnknownRule { code: code.clone(), hint });
    }
    let files = read(path)?;
    let report = check(&files);
    let findings = match rules {
        RuleSet::Bfcl => &report.findings,
        RuleSet::OfficialLinter => &report.linter,
    };
    let asked =
        |finding: &&LintFinding| codes.is_empty() || codes.iter().any(|code| code == finding.rule.code);
    let findings = findings.iter().filter(asked).cloned().collect();
    Ok(Checked { files, report, findings, rules: *rules })
}

impl Checked {
    /// Returns the level of the findings of a rule. To the official script any fault is an error.
    pub fn level(&self, rule: &Rule) -> Level {
        if self.rules == RuleSet::OfficialLinter { Level::Error } else { rule.level }
    }

    /// Returns the number of findings of a level.
    pub fn n_of(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| self.level(finding.rule) == level).count()
    }

    /// Returns the counts by rule and declared type.
    pub fn tally(&self) -> Vec<(&'static Rule, &'static str, Count)> {
        tally(&self.findings, self.files.len())
    }

    /// Returns the file that the line of a finding is in.
    pub fn path_of(&self, finding: &LintFinding) -> PathBuf {
        let file = &self.files[finding.file];
        file.answers_path().filter(|_| finding.in_answers).unwrap_or_else(|| file.path.clone())
    }
}
