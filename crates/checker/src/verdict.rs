//! The verdict on an output: valid, or invalid with the official error type.

use serde_json::{Value, json};

use super::value::PyValue;

/// The verdict on an output.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The output is correct.
    Valid,
    /// The output is wrong.
    Invalid(Failure),
}

/// Why an output is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The official error type.
    pub error_type: ErrorType,
    /// The messages of the evaluator: texts, or objects for the outputs that do not match a call of a parallel entry.
    pub errors: Vec<Value>,
}

/// The official evaluator would stop here with an exception, which ends the whole evaluation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the official evaluator stops with {exception}: {detail}")]
pub struct EvaluatorException {
    /// The class of the exception in Python, such as `KeyError`.
    pub exception: &'static str,
    /// What causes it.
    pub detail: String,
}

impl EvaluatorException {
    /// Returns the exception of this class.
    pub fn new(exception: &'static str, detail: impl Into<String>) -> Self {
        Self { exception, detail: detail.into() }
    }
}

/// The error types of the official evaluator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorType {
    /// The output is not in the syntax of a call.
    DecoderFailed,
    /// The output is decoded to something other than a list of calls.
    DecoderWrongOutputFormat,
    /// A call where no function fits.
    IrrelevanceDecoderSuccess,
    /// No call where some function fits.
    RelevanceDecoderFailed,
    /// Another number of calls than one.
    SimpleWrongCount,
    /// Another number of calls than the ground truth has.
    MultipleWrongCount,
    /// Another number of calls than the ground truth has.
    ParallelWrongCount,
    /// A call of the ground truth that no output matches.
    ParallelCannotFindMatch,
    /// The call names another function.
    WrongFunctionName,
    /// A required parameter is missing.
    MissingRequired,
    /// A parameter that the doc or the ground truth does not have.
    UnexpectedParam,
    /// A parameter of the ground truth is missing and may not be omitted.
    MissingOptional,
    /// A value of the wrong type.
    TypeSimple,
    /// An element of the wrong type.
    TypeNested,
    /// A value in Java that is no text.
    TypeJava,
    /// A value in JavaScript that is no text.
    TypeJs,
    /// A text that equals no alternative.
    ValueString,
    /// A list that equals no alternative.
    ValueList,
    /// A key that is unexpected or missing.
    ValueDictKey,
    /// A member of a dict that equals no alternative.
    ValueDictValue,
    /// Another number of dicts than the alternative has.
    ValueListDictCount,
    /// Any other value that equals no alternative.
    ValueOthers,
    /// A dict where all alternatives are `""`.
    DictUnclear,
    /// A list of dicts without alternatives.
    ListDictUnclear,
    /// The call cannot be checked, because the entry itself has a fault. Only in strict mode: no official name.
    StrictEntry,
}

impl ErrorType {
    /// All error types.
    pub const ALL: [Self; 25] = [
        Self::DecoderFailed,
        Self::DecoderWrongOutputFormat,
        Self::IrrelevanceDecoderSuccess,
        Self::RelevanceDecoderFailed,
        Self::SimpleWrongCount,
        Self::MultipleWrongCount,
        Self::ParallelWrongCount,
        Self::ParallelCannotFindMatch,
        Self::WrongFunctionName,
        Self::MissingRequired,
        Self::UnexpectedParam,
        Self::MissingOptional,
        Self::TypeSimple,
        Self::TypeNested,
        Self::TypeJava,
        Self::TypeJs,
        Self::ValueString,
        Self::ValueList,
        Self::ValueDictKey,
        Self::ValueDictValue,
        Self::ValueListDictCount,
        Self::ValueOthers,
        Self::DictUnclear,
        Self::ListDictUnclear,
        Self::StrictEntry,
    ];

    /// Returns the official name.
    pub fn name(self) -> &'static str {
        match self {
            Self::DecoderFailed => "ast_decoder:decoder_failed",
            Self::DecoderWrongOutputFormat => "ast_decoder:decoder_wrong_output_format",
            Self::IrrelevanceDecoderSuccess => "irrelevance_error:decoder_success",
            Self::RelevanceDecoderFailed => "relevance_error:decoder_failed",
            Self::SimpleWrongCount => "simple_function_checker:wrong_count",
            Self::MultipleWrongCount => "multiple_function_checker:wrong_count",
            Self::ParallelWrongCount => "parallel_function_checker_no_order:wrong_count",
            Self::ParallelCannotFindMatch => "parallel_function_checker_no_order:cannot_find_match",
            Self::WrongFunctionName => "simple_function_checker:wrong_func_name",
            Self::MissingRequired => "simple_function_checker:missing_required",
            Self::UnexpectedParam => "simple_function_checker:unexpected_param",
            Self::MissingOptional => "simple_function_checker:missing_optional",
            Self::TypeSimple => "type_error:simple",
            Self::TypeNested => "type_error:nested",
            Self::TypeJava => "type_error:java",
            Self::TypeJs => "type_error:js",
            Self::ValueString => "value_error:string",
            Self::ValueList => "value_error:list/tuple",
            Self::ValueDictKey => "value_error:dict_key",
            Self::ValueDictValue => "value_error:dict_value",
            Self::ValueListDictCount => "value_error:list_dict_count",
            Self::ValueOthers => "value_error:others",
            Self::DictUnclear => "dict_checker:unclear",
            Self::ListDictUnclear => "list_dict_checker:unclear",
            Self::StrictEntry => "strict:entry",
        }
    }

    /// Returns the type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Verdict {
    /// Returns whether the output is correct.
    pub fn is_valid(&self) -> bool {
        *self == Self::Valid
    }

    /// Returns the failure of a wrong output.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Valid => None,
            Self::Invalid(failure) => Some(failure),
        }
    }

    /// Returns an invalid verdict with one message.
    pub fn invalid(error_type: ErrorType, message: impl Into<String>) -> Self {
        Self::Invalid(Failure { error_type, errors: vec![Value::String(message.into())] })
    }
}

/// Returns the object for an output that does not match a call of a parallel entry.
pub(super) fn unmatched(index: usize, failure: &Failure, output: &PyValue, answer: &PyValue) -> Value {
    json!({ format!("Model Result Index {index}"): {
        "sub_error": failure.errors,
        "sub_error_type": failure.error_type.name(),
        "model_output_item": output.to_json(),
        "possible_answer_item": answer.to_json(),
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_type_is_found_by_its_name() {
        for kind in ErrorType::ALL {
            assert_eq!(ErrorType::from_name(kind.name()), Some(kind));
        }
    }
}
