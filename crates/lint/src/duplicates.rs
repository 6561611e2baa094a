//! Entries with the same messages and functions, across all files of a dataset.
//!
//! Two such entries of one category count the same question twice. In two categories their labels contradict each other,
//! because no output passes both, except that any call passes in `relevance`; so do two ground truths of which no output
//! passes both. Equal means the same JSON in any order of
//! keys; near duplicates are found by `callsieve pairs`. Entries with the same id have a fault of their own.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::input::{InputFile, Line};
use super::{Collector, LintFinding};
use callsieve_bfcl::files::QuestionFile;
use callsieve_checker::same;
use callsieve_docs::canonical;

/// An entry of a question file, with its ground truth.
#[derive(Clone, Copy)]
struct Labelled<'a> {
    file: &'a QuestionFile,
    line: &'a Line,
    ground_truth: Option<&'a Value>,
}

/// Checks all files; the findings of a file are at its place.
pub(super) fn check(files: &[InputFile]) -> Vec<Vec<LintFinding>> {
    let mut seen: FxHashMap<String, Vec<Labelled<'_>>> = FxHashMap::default();
    let mut findings = Vec::with_capacity(files.len());
    for (n, file) in files.iter().enumerate() {
        let mut collector = Collector::new(n);
        if let Some(questions) = &file.questions {
            for (at, line) in file.lines.iter().enumerate() {
                let earlier = seen.entry(content(line)).or_default();
                let answer = file.answers.as_ref().and_then(|answers| answers.get(at));
                let answer = answer.filter(|answer| answer.id() == line.id());
                let ground_truth = answer.and_then(|answer| answer.value.get("ground_truth"));
                let this = Labelled { file: questions, line, ground_truth };
                for before in earlier.iter().filter(|before| before.line.id() != line.id()) {
                    compare(before, &this, &mut collector);
                }
                earlier.push(this);
            }
        }
        findings.push(collector.findings);
    }
    findings
}

/// Returns the messages and the functions as one text.
fn content(line: &Line) -> String {
    let question = line.value.get("question").unwrap_or(&Value::Null);
    canonical::value_text(question) + &canonical::text(line.functions())
}

fn compare(before: &Labelled<'_>, this: &Labelled<'_>, collector: &mut Collector) {
    let (one, two) = (Label::of(&before.file.category), Label::of(&this.file.category));
    let agrees = one == two || [one, two].contains(&Label::AnyCall) && ![one, two].contains(&Label::NoCall);
    let found = format!("the question and functions of {}", before.line.id());
    let mut add = |code, found, expected| {
        collector.add(code, this.line.number, &this.line.id(), "", found, expected);
    };
    if !agrees {
        let expected = format!("the category {}, or another question", before.file.category);
        add("dataset/contradicting-labels", found, expected);
        return;
    }
    if let (Some(one), Some(two)) = (before.ground_truth, this.ground_truth)
        && let Some(difference) = contradiction(one, two, this.file.is_typed())
    {
        let found = format!("{found}, and {difference}");
        add("dataset/contradicting-answers", found, "ground truths that one output can pass".to_owned());
        return;
    }
    add("dataset/duplicate-entry", found, "another question or other functions".to_owned());
}

/// Returns why no output passes both ground truths; `None` if one may. Values of Java and JavaScript are not compared.
fn contradiction(one: &Value, two: &Value, is_typed: bool) -> Option<String> {
    let calls = |truth: &Value| -> Option<Vec<(String, Value)>> {
        let call =
            |call: &Value| call.as_object()?.iter().next().map(|(name, of)| (name.clone(), of.clone()));
        truth.as_array()?.iter().map(call).collect()
    };
    let (one, two) = (calls(one)?, calls(two)?);
    let names = |calls: &[(String, Value)]| {
        let mut names: Vec<String> = calls.iter().map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    };
    if names(&one) != names(&two) {
        return Some("other calls".to_owned());
    }
    // Which calls of two lists belong together is open, unless there is one.
    let ([(_, one)], [(_, two)]) = (&one[..], &two[..]) else { return None };
    let (one, two) = (one.as_object()?, two.as_object()?);
    let clash = one.keys().chain(two.keys()).find(|name| {
        let alternatives = |of: &serde_json::Map<String, Value>| -> Option<Vec<Value>> {
            match of.get(*name) {
                // The parameter must be left out.
                None => Some(vec!["".into()]),
                Some(alternatives) => alternatives.as_array().cloned(),
            }
        };
        let (Some(one), Some(two)) = (alternatives(one), alternatives(two)) else { return false };
        let is_common = |value: &Value| {
            two.iter().any(|other| {
                (value == "") == (other == "")
                    && (same(value, other) || same(other, value) || !is_typed && value != "")
            })
        };
        !one.iter().any(is_common)
    });
    clash.map(|name| format!("other values of {name}"))
}

/// What a category expects of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    NoCall,
    AnyCall,
    OneCall,
    SeveralCalls,
}

impl Label {
    fn of(category: &str) -> Self {
        if category.contains("irrelevance") {
            Self::NoCall
        } else if category.contains("relevance") {
            Self::AnyCall
        } else if category.contains("parallel") {
            Self::SeveralCalls
        } else {
            Self::OneCall
        }
    }
}
