//! Finds faults in a dataset or in single functions before they are published.
//!
//! `input` reads question files with their answer files, a folder or run of them, or lines of
//! functions. `docs::check` checks the functions, `questions` and `answers` apply the other rules
//! of the official package and its evaluator, `satisfy` asks the checker which outputs pass,
//! `domain` compares answers with the enums and keys of their docs, `duplicates` finds equal
//! entries, and `tally` counts by rule and file. Nothing is changed or written. Deliberately
//! absent: whether an answer is correct.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod answers;
mod checked;
mod domain;
mod duplicates;
pub mod input;
mod questions;
pub mod rules;
mod satisfy;
pub mod tally;

use std::borrow::Cow;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use callsieve_docs::canonical;
use callsieve_docs::check::linter;
use callsieve_docs::check::rules::Rule;
use callsieve_docs::check::{self as functions, function_of};
pub use checked::{CheckError, CheckOptions, Checked, RuleSet, check_path};
use input::{InputFile, Line};

/// A fault in a line.
#[derive(Debug, Clone)]
pub struct LintFinding {
    /// The rule.
    pub rule: &'static Rule,
    /// The index of the file.
    pub file: usize,
    /// Whether the line is in the answer file.
    pub in_answers: bool,
    /// The line number, from 1.
    pub line: usize,
    /// The entry's id; empty if it has none.
    pub id: String,
    /// The function, if the finding is about one.
    pub function: Option<Function>,
    /// The JSON pointer into the line.
    pub at: String,
    /// The declared type, if the official linter found a value of another one.
    pub kind: &'static str,
    /// What was found.
    pub found: Cow<'static, str>,
    /// What was expected.
    pub expected: Cow<'static, str>,
}

/// The function that a finding is about.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its index in the entry.
    pub index: usize,
    /// The hash of its canonical form: equal functions have equal keys.
    pub key: u128,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// The findings, in the order of files and lines.
    pub findings: Vec<LintFinding>,
    /// The first fault of each function that the official format script would refuse.
    pub linter: Vec<LintFinding>,
    /// Number of entries, or of lines of functions.
    pub n_entries: usize,
    /// Number of functions, counted once per entry.
    pub n_functions: usize,
}

/// Rules about Python's names and values, which do not apply to docs of Java and JavaScript.
const PYTHON_ONLY: [&str; 6] = [
    "schema/type-synonym",
    "schema/unknown-type",
    "schema/python-keyword",
    "schema/parameter-name",
    "schema/default-type",
    "schema/enum-type",
];

/// Checks files.
pub fn check(files: &[InputFile]) -> Report {
    let mut report = Report::default();
    for (n, (file, duplicates)) in files.iter().zip(duplicates::check(files)).enumerate() {
        let judged: Vec<(Vec<LintFinding>, Vec<LintFinding>)> =
            file.lines.par_iter().map(|line| of_functions(n, line, file.is_python())).collect();
        let mut findings: Vec<LintFinding> = Vec::new();
        for (found, linted) in judged {
            findings.extend(found);
            report.linter.extend(linted);
        }
        findings.extend(questions::check(n, file));
        findings.extend(answers::check(n, file));
        findings.extend(duplicates);
        findings.sort_by_key(|finding| finding.line);
        report.findings.extend(findings);
        report.n_entries += file.lines.len();
        report.n_functions += file.lines.iter().map(|line| line.functions().len()).sum::<usize>();
    }
    report
}

/// Returns the findings in the functions of a line, and those of the official script.
fn of_functions(file: usize, line: &Line, is_python: bool) -> (Vec<LintFinding>, Vec<LintFinding>) {
    let list = line.functions();
    let one = !line.value.get("function").is_some_and(Value::is_array);
    // A function can have thousands of findings, and its key is made of all of it.
    let mut known: FxHashMap<usize, Option<Function>> = FxHashMap::default();
    let mut of_index = |index: usize| known.entry(index).or_insert_with(|| function(list, index)).clone();
    let mut lint_finding = |at: &str, index: Option<usize>, finding: &functions::Finding, kind| LintFinding {
        rule: finding.rule,
        file,
        in_answers: false,
        line: line.number,
        id: line.id(),
        function: index.and_then(&mut of_index),
        at: format!("/function{at}"),
        kind,
        found: finding.found.clone(),
        expected: finding.expected.clone(),
    };
    let findings = functions::check(list);
    let applies = |finding: &&functions::Finding| is_python || !PYTHON_ONLY.contains(&finding.rule.code);
    let found = findings.iter().filter(applies).map(|finding| {
        // A single function outside a list has no index in the pointer.
        let at = if one { finding.at.strip_prefix("/0").unwrap_or(&finding.at) } else { &finding.at };
        lint_finding(at, function_of(&finding.at), finding, "")
    });
    let found = found.collect();
    let linted = list.iter().enumerate().filter_map(|(n, function)| {
        let fault = linter::fault(function).filter(|_| is_python)?;
        let place = if one { String::new() } else { format!("/{n}") };
        Some(lint_finding(&format!("{place}{}", fault.finding.at), Some(n), &fault.finding, fault.kind))
    });
    (found, linted.collect())
}

fn function(list: &[Value], index: usize) -> Option<Function> {
    let function = list.get(index)?;
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Function { name, index, key: canonical::key(std::slice::from_ref(function)) })
}

/// Collects the findings in one file.
struct Collector {
    file: usize,
    in_answers: bool,
    findings: Vec<LintFinding>,
}

impl Collector {
    fn new(file: usize) -> Self {
        Self { file, in_answers: false, findings: Vec::new() }
    }

    fn add(
        &mut self,
        code: &str,
        line: usize,
        id: &str,
        at: impl Into<String>,
        found: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) {
        let rule = rules::of(code).expect("every code is in the table of rules, as the tests check");
        let (at, found, expected) = (at.into(), found.into(), expected.into());
        let (file, in_answers, id) = (self.file, self.in_answers, id.to_owned());
        self.findings.push(LintFinding {
            rule,
            file,
            in_answers,
            line,
            id,
            function: None,
            at,
            kind: "",
            found,
            expected,
        });
    }
}

#[cfg(test)]
mod tests;
