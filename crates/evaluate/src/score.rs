//! Scores one output: decodes it and checks it by the rules of its category.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::category::Scoring;
use super::dataset::{Category, Entry};
use super::decoding::SystemDecoding;
use super::recorded::{self, Recorded};
use super::results::{Output, ResultRow};
use callsieve_answers::recorded::{RecordedAnswer, recorded_answer};
use callsieve_bfcl::conversation::{Message, Role};
use callsieve_checker::decode::{DecodeError, OutputFormat, is_empty_output};
use callsieve_checker::{Case, Checker, ErrorType, Kind, Language, PyValue, Verdict};

/// The error type of an output at which the official evaluator stops with an exception.
pub const ABORT: &str = "evaluator:abort";
/// The error type of a failed request.
pub const NO_OUTPUT: &str = "results:no_output";

/// The verdict on one output.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Independent facts of an output.
pub struct Scored {
    /// The place of the entry: category and index in the dataset.
    pub place: (usize, usize),
    /// Whether the output is correct.
    pub valid: bool,
    /// The error type of a wrong output.
    pub error_type: Option<Cow<'static, str>>,
    /// The messages of the evaluator.
    pub error: Vec<Value>,
    /// The decoded calls, as JSON; null if the output could not be decoded.
    pub decoded: Value,
    /// The output would be correct if `.` and `_` in names of functions were the same.
    pub only_dots_differ: bool,
    /// A correct abstention whose text looks like a call that cannot be decoded.
    pub is_unparsed_call: bool,
    /// A correct abstention whose text is the error of a failed request.
    pub is_error_text: bool,
}

/// Scores an output.
pub(super) fn score(
    checker: Checker,
    decoding: SystemDecoding,
    place: (usize, usize),
    category: &Category,
    entry: &Entry,
    row: &ResultRow,
    recorded: Option<&Recorded>,
) -> Scored {
    let mut scored = Scored {
        place,
        valid: false,
        error_type: None,
        error: Vec::new(),
        decoded: Value::Null,
        only_dots_differ: false,
        is_unparsed_call: false,
        is_error_text: false,
    };
    if let Output::Failed(reason) = &row.output {
        scored.error_type = Some(NO_OUTPUT.into());
        scored.error = vec![json!(format!("The request failed: {reason}"))];
        return scored;
    }
    let decode = |format| decoding.decode(checker.mode, entry, &row.output, format);
    match category.scoring {
        Scoring::Calls(kind, language) => {
            let case = Case::new(&entry.functions, &entry.ground_truth, kind, language);
            calls(checker, &case, &decode(category.format_of(entry)), &mut scored);
        }
        Scoring::Formats => {
            // The official evaluator searches the id of the entry for the rule.
            let kind = Kind::of_category(entry.id.rsplit(':').next().unwrap_or_default());
            let case = Case::new(&entry.functions, &entry.ground_truth, kind, Language::Python);
            calls(checker, &case, &decode(category.format_of(entry)), &mut scored);
        }
        Scoring::Relevance(expects_call) => {
            // The official evaluator decodes these categories as Python.
            let decoded = decode((OutputFormat::Python, false));
            relevance(checker, expects_call, entry, (&row.output, decoded), &mut scored);
        }
        Scoring::Executable | Scoring::Rest | Scoring::Official(_) | Scoring::NotScored(_) => {
            let failure =
                recorded.and_then(|recorded| recorded::check(category.scoring, entry, recorded).err());
            scored.valid = failure.is_none();
            if let Some((error_type, message)) = failure {
                scored.error_type = Some(error_type.into());
                scored.error = vec![Value::String(message)];
            }
        }
    }
    scored
}

fn calls(checker: Checker, case: &Case<'_>, decoded: &Result<PyValue, DecodeError>, scored: &mut Scored) {
    let decoded = match decoded {
        Ok(decoded) => decoded,
        Err(fault) => {
            scored.error_type = Some(ErrorType::DecoderFailed.name().into());
            scored.error = vec![json!(format!("Invalid syntax. Failed to decode AST. {}", fault.detail))];
            return;
        }
    };
    scored.decoded = decoded.to_json();
    match checker.check(case, decoded) {
        Ok(Verdict::Valid) => scored.valid = true,
        Ok(Verdict::Invalid(failure)) => {
            scored.error_type = Some(failure.error_type.name().into());
            scored.error = failure.errors;
            let other = Checker { underscore_to_dot: !checker.underscore_to_dot, ..checker };
            scored.only_dots_differ = other.check(case, decoded).is_ok_and(|verdict| verdict.is_valid());
        }
        Err(fault) => {
            scored.error_type = Some(ABORT.into());
            scored.error = vec![json!(fault.to_string())];
        }
    }
}

fn relevance(
    checker: Checker,
    expects_call: bool,
    entry: &Entry,
    (output, decoded): (&Output, Result<PyValue, DecodeError>),
    scored: &mut Scored,
) {
    if let Ok(decoded) = &decoded {
        scored.decoded = decoded.to_json();
    }
    match checker.check_relevance(&entry.functions, decoded.as_ref().ok(), expects_call) {
        Verdict::Valid => {
            scored.valid = true;
            let is_read = decoded.as_ref().is_ok_and(|decoded| !is_empty_output(decoded));
            if !expects_call && !is_read {
                let answer = match output {
                    Output::Text(text) | Output::Words(text) => Some(logged_answer(entry, text)),
                    _ => None,
                };
                let is_call = matches!(
                    answer,
                    Some(
                        RecordedAnswer::Calls(_) | RecordedAnswer::Unreadable(_) | RecordedAnswer::Truncated
                    )
                );
                scored.is_unparsed_call = is_call || has_tag_of_calls(output);
                scored.is_error_text = answer == Some(RecordedAnswer::Failed);
            }
        }
        Verdict::Invalid(failure) => {
            scored.error_type = Some(failure.error_type.name().into());
            scored.error = failure.errors;
        }
    }
}

/// Tags that a model writes only before a call.
const TAGS: [&str; 6] = [
    "<tool_call>",
    "<function_call>",
    "<start_function_call>",
    "<|tool_call_start|>",
    "<|python_tag|>",
    "<TOOLCALL>",
];

/// Returns whether a text has a tag of calls. Prose before one, or a fault in the call, makes it no answer of a log.
fn has_tag_of_calls(output: &Output) -> bool {
    let (Output::Text(text) | Output::Words(text)) = output else { return false };
    text.contains('<') && TAGS.iter().any(|tag| text.contains(tag))
}

/// Returns the docs of an entry.
fn functions(entry: &Entry) -> &[Value] {
    match &*entry.functions {
        Value::Array(functions) => functions.as_slice(),
        function => std::slice::from_ref(function),
    }
}

/// What a text would be in a log: a call in any notation, the error of a server, or prose.
pub(super) fn logged_answer(entry: &Entry, text: &str) -> RecordedAnswer {
    let is_offered = |name: &str| functions(entry).iter().any(|function| function["name"] == name);
    recorded_answer(Some(&Message::text(Role::Assistant, text.to_owned())), None, None, is_offered)
}
