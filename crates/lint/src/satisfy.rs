//! Whether the evaluator accepts any output of an entry, and each of its alternatives.
//!
//! The checker decides; this module only gives its result the codes and places of findings.

use serde_json::Value;

use super::Collector;
use super::input::Line;
use callsieve_bfcl::files::QuestionFile;
use callsieve_checker::{Kind, Problem, ProblemKind, acceptance};
use callsieve_docs::patch::token;

/// Checks one entry with its answer.
pub(super) fn of_entry(file: &QuestionFile, line: &Line, answer: &Line, collector: &mut Collector) {
    let nothing = Value::Null;
    let functions = line.value.get("function").unwrap_or(&nothing);
    let ground_truth = answer.value.get("ground_truth").unwrap_or(&nothing);
    let accepted = acceptance(functions, ground_truth, Kind::of_category(&file.category), file.language());
    for problem in accepted.problems {
        let (code, expected) = match problem.kind {
            ProblemKind::Unsatisfiable => ("answer/unsatisfiable", "an output that passes"),
            ProblemKind::OnlyEmpty => ("answer/only-empty-value", "a value that is not empty"),
            ProblemKind::DeadAlternative => {
                ("answer/dead-alternative", "an alternative that an output can match")
            }
            // `answers` reports it, in all languages.
            ProblemKind::UselessOmission => continue,
        };
        collector.add(code, answer.number, &answer.id(), place(&problem), problem.detail, expected);
    }
}

/// Returns the JSON pointer to a problem.
fn place(problem: &Problem) -> String {
    let mut at = "/ground_truth".to_owned();
    let Some(call) = problem.call else { return at };
    at += &format!("/{call}/{}", token(&problem.function));
    if let Some(parameter) = &problem.parameter {
        at += &format!("/{}", token(parameter));
    }
    if let Some(alternative) = problem.alternative {
        at += &format!("/{alternative}");
    }
    at
}
