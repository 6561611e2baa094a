//! Errors of the library as the exception `callsieve.Error`.
//!
//! A message of the library may end with hints on lines of their own, and some errors know the file and the line. The
//! exception has them as attributes.

use std::error::Error as StdError;
use std::fmt;

use callsieve::engine::error::Error as EngineError;
use callsieve::evaluate::EvaluateError;
use callsieve::pipeline::PipelineError;
use callsieve::run::Error as RunError;
use pyo3::prelude::*;

/// The start of a line with a hint.
const HINT: &str = "\nhint: ";

/// Why a call failed.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<usize>,
    is_bug: bool,
}

impl Failure {
    /// Returns a failure with this message, which may end with a hint.
    pub(crate) fn new(text: &str) -> Self {
        match text.split_once(HINT) {
            Some((message, hint)) => {
                let hint = Some(hint.replace(HINT, "\n"));
                Self { message: message.to_owned(), hint, ..Self::default() }
            }
            None => Self { message: text.to_owned(), ..Self::default() },
        }
    }

    /// Returns the failure of code that panicked.
    pub(crate) fn of_panic(panic: &(dyn std::any::Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let what =
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
        let message = format!("internal error in callsieve: {what}");
        let hint = Some("please report it, with the lines on standard error".to_owned());
        Self { message, hint, is_bug: true, ..Self::default() }
    }

    /// Adds the place that an error knows.
    fn with_place_of(mut self, error: &(dyn StdError + 'static)) -> Self {
        if let Some(error) = error.downcast_ref::<PipelineError>() {
            self.file = self.file.or_else(|| error.file().map(str::to_owned));
            self.line = self.line.or(error.line());
        }
        if let Some(error) = error.downcast_ref::<EngineError>() {
            self.is_bug |= error.is_bug();
            self.file = self.file.or_else(|| file_of(error));
        }
        match error.downcast_ref::<RunError>() {
            Some(RunError::Halfway(error) | RunError::Engine(error)) => self = self.with_place_of(error),
            Some(RunError::Pipeline(error)) => self = self.with_place_of(error),
            _ => {}
        }
        match error.downcast_ref::<EvaluateError>() {
            Some(EvaluateError::File { path, .. }) => self.file = Some(path.display().to_string()),
            Some(EvaluateError::Line { path, line, .. }) => {
                self.file = Some(path.display().to_string());
                self.line = Some(*line);
            }
            _ => {}
        }
        self
    }

    /// Makes the exception.
    pub(crate) fn exception(self, py: Python<'_>) -> PyErr {
        let Self { message, hint, file, line, is_bug } = self;
        let raised = py
            .import("callsieve._errors")
            .and_then(|errors| errors.getattr(if is_bug { "InternalError" } else { "Error" }))
            .and_then(|class| class.call1((message, hint, file, line)));
        raised.map_or_else(|error| error, PyErr::from_value)
    }
}

/// The file that an error is about.
fn file_of(error: &EngineError) -> Option<String> {
    let (EngineError::File { path, .. }
    | EngineError::Table { path, .. }
    | EngineError::Damaged { path, .. }
    | EngineError::Locked { path, .. }
    | EngineError::Unfinished { path, .. }
    | EngineError::NotARun(path)
    | EngineError::Unmarked(path)
    | EngineError::FormerName(path)
    | EngineError::Link(path)
    | EngineError::NoRun(path)) = error
    else {
        return None;
    };
    Some(path.display().to_string())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: StdError + 'static> From<E> for Failure {
    /// The message of an error with those of its causes that it does not repeat, and its place.
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            let what = inner.to_string();
            if !text.contains(what.split(HINT).next().unwrap_or_default()) {
                let at = text.find(HINT).unwrap_or(text.len());
                text.insert_str(at, &format!(": {}", what.split(HINT).next().unwrap_or_default()));
            }
            cause = inner.source();
        }
        let mut failure = Self::new(&text).with_place_of(&error);
        let mut cause = error.source();
        while let Some(inner) = cause {
            failure = failure.with_place_of(inner);
            cause = inner.source();
        }
        failure
    }
}
