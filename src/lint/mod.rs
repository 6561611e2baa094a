//! What is wrong with a dataset, or with functions on their own, before it is published.
//!
//! `input` reads what is named: question files with the answers beside them, a folder or
//! run of them, or lines of functions. `docs::check` judges the functions, `questions`
//! and `answers` what the official package and its evaluator ask of an entry beyond
//! them, and `tally` counts by rule and file. Nothing is changed and nothing written.
//! Deliberately absent: whether an answer is right, which only its asker knows.

mod answers;
pub mod input;
mod questions;
pub mod rules;
pub mod tally;

use std::borrow::Cow;

use rayon::prelude::*;
use serde_json::Value;

use crate::docs::canonical;
use crate::docs::check::linter;
use crate::docs::check::rules::Rule;
use crate::docs::check::{self as functions, function_of};
use input::{InputFile, Line};

/// Something found in a line.
#[derive(Debug, Clone)]
pub struct Told {
    /// Which rule.
    pub rule: &'static Rule,
    /// The index of the file.
    pub file: usize,
    /// Whether the line is one of the file's answers.
    pub in_answers: bool,
    /// The line, from 1.
    pub line: usize,
    /// The entry's id, empty where it has none.
    pub id: String,
    /// The function, where it is about one.
    pub function: Option<Function>,
    /// The pointer into the line.
    pub at: String,
    /// The declared type, where the linter found a value of another one.
    pub kind: &'static str,
    /// What stands there.
    pub found: Cow<'static, str>,
    /// What should.
    pub expected: Cow<'static, str>,
}

/// The function that a finding is about.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its place in the entry.
    pub index: usize,
    /// The hash of its canonical form: equal functions have equal keys.
    pub key: u128,
}

/// Everything that was looked at and found.
#[derive(Debug, Default)]
pub struct Report {
    /// What was found, in the order of files and lines.
    pub told: Vec<Told>,
    /// The first fault of each function that the official format script would refuse.
    pub linter: Vec<Told>,
    /// Entries, or lines of functions.
    pub n_entries: usize,
    /// Functions, each time they stand in an entry.
    pub n_functions: usize,
}

/// Rules about Python's names and values; docs of Java and JavaScript have those of their languages.
const PYTHON_ONLY: [&str; 6] = [
    "schema/type-synonym",
    "schema/unknown-type",
    "schema/python-keyword",
    "schema/parameter-name",
    "schema/default-type",
    "schema/enum-type",
];

/// Checks files that are read.
pub fn check(files: &[InputFile]) -> Report {
    let mut report = Report::default();
    for (n, file) in files.iter().enumerate() {
        let judged: Vec<(Vec<Told>, Vec<Told>)> =
            file.lines.par_iter().map(|line| of_functions(n, line, file.is_python())).collect();
        let mut told: Vec<Told> = Vec::new();
        for (found, linted) in judged {
            told.extend(found);
            report.linter.extend(linted);
        }
        told.extend(questions::check(n, file));
        told.extend(answers::check(n, file));
        told.sort_by_key(|told| told.line);
        report.told.extend(told);
        report.n_entries += file.lines.len();
        report.n_functions += file.lines.iter().map(|line| line.functions().len()).sum::<usize>();
    }
    report
}

/// What is wrong with the functions of a line, and what the official script says of each.
fn of_functions(file: usize, line: &Line, is_python: bool) -> (Vec<Told>, Vec<Told>) {
    let list = line.functions();
    let one = !line.value.get("function").is_some_and(Value::is_array);
    let told = |at: &str, index: Option<usize>, finding: &functions::Finding, kind| Told {
        rule: finding.rule,
        file,
        in_answers: false,
        line: line.number,
        id: line.id(),
        function: index.and_then(|index| function(list, index)),
        at: format!("/function{at}"),
        kind,
        found: finding.found.clone(),
        expected: finding.expected.clone(),
    };
    let findings = functions::check(list);
    let applies = |finding: &&functions::Finding| is_python || !PYTHON_ONLY.contains(&finding.rule.code);
    let found = findings.iter().filter(applies).map(|finding| {
        // One function that stands in no list has no index to point through.
        let at = if one { finding.at.strip_prefix("/0").unwrap_or(&finding.at) } else { &finding.at };
        told(at, function_of(&finding.at), finding, "")
    });
    let found = found.collect();
    let linted = list.iter().enumerate().filter_map(|(n, function)| {
        let fault = linter::fault(function).filter(|_| is_python)?;
        let place = if one { String::new() } else { format!("/{n}") };
        Some(told(&format!("{place}{}", fault.finding.at), Some(n), &fault.finding, fault.kind))
    });
    (found, linted.collect())
}

fn function(list: &[Value], index: usize) -> Option<Function> {
    let function = list.get(index)?;
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Function { name, index, key: canonical::key(std::slice::from_ref(function)) })
}

/// Where the laws of one file put what they find.
struct Laws {
    file: usize,
    in_answers: bool,
    told: Vec<Told>,
}

impl Laws {
    fn new(file: usize) -> Self {
        Self { file, in_answers: false, told: Vec::new() }
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
        let rule =
            rules::of(code).expect("the code of a law is in the table: the tests go through all of them");
        let (at, found, expected) = (at.into(), found.into(), expected.into());
        let (file, in_answers, id) = (self.file, self.in_answers, id.to_owned());
        self.told.push(Told {
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
