//! Entries with the same messages and functions, across all files of a dataset.
//!
//! Two such entries of one category count the same question twice. In two categories their labels contradict each other,
//! because no output passes both, except that any call passes in `relevance`. Equal means the same JSON in any order of
//! keys; near duplicates are found by `toolsieve pairs`. Entries with the same id have a fault of their own.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::input::{InputFile, Line};
use super::{Collector, LintFinding};
use crate::bfcl::files::QuestionFile;
use crate::docs::canonical;

/// Checks all files; the findings of a file are at its place.
pub(super) fn check(files: &[InputFile]) -> Vec<Vec<LintFinding>> {
    let mut seen: FxHashMap<String, Vec<(&QuestionFile, &Line)>> = FxHashMap::default();
    let mut findings = Vec::with_capacity(files.len());
    for (n, file) in files.iter().enumerate() {
        let mut collector = Collector::new(n);
        if let Some(questions) = &file.questions {
            for line in &file.lines {
                let earlier = seen.entry(content(line)).or_default();
                for (other, before) in earlier.iter().filter(|(_, before)| before.id() != line.id()) {
                    compare((other, before), (questions, line), &mut collector);
                }
                earlier.push((questions, line));
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

fn compare(
    (other, before): (&QuestionFile, &Line),
    (file, line): (&QuestionFile, &Line),
    collector: &mut Collector,
) {
    let (one, two) = (Label::of(&other.category), Label::of(&file.category));
    let agrees = one == two || [one, two].contains(&Label::AnyCall) && ![one, two].contains(&Label::NoCall);
    let (code, expected) = if agrees {
        ("dataset/duplicate-entry", "another question or other functions".to_owned())
    } else {
        ("dataset/contradicting-labels", format!("the category {}", other.category))
    };
    let found = format!("the question and functions of {}", before.id());
    collector.add(code, line.number, &line.id(), "", found, expected);
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
