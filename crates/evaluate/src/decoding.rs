//! How the outputs of each system are decoded: as the official handler of its model does, as the official default does, or, on
//! request and not official, in the notations of logs.
//!
//! A handler is chosen by the user, or by the folder of a result tree if it has the official name of a model. A file chooses
//! none: its name is the user's. A warning says so if another handler reads what is not read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::category::Scoring;
use super::dataset::{Dataset, Entry};
use super::results::{Output, System};
use super::{Row, score};
use callsieve_answers::recorded::RecordedAnswer;
use callsieve_checker::decode::{
    DecodeError, OutputFormat, decode_calls, decode_text, decode_text_strict, is_empty_output,
};
use callsieve_checker::handler::{Decoder, RawOutput};
use callsieve_checker::{Handler, Mode, PyValue};

/// Outputs that are read with other handlers for a warning.
const MAX_TRIED: usize = 200;

/// What the user asks for.
#[derive(Debug, Clone, Default)]
pub struct Decoding {
    /// The handlers of systems, by name; `None` is the default, also for the folder of a model.
    pub handlers: BTreeMap<String, Option<&'static Handler>>,
    /// Outputs that the official decoder does not read may be in any notation of logs.
    pub is_lenient: bool,
    /// What is before the last `</think>` of a text is removed.
    pub strips_thinking: bool,
}

/// How the outputs of one system are decoded.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDecoding {
    /// The handler, if it is not the default.
    pub handler: Option<&'static Handler>,
    /// The handler is that of the name of the folder.
    pub is_by_folder: bool,
    /// See [`Decoding::is_lenient`].
    pub is_lenient: bool,
    /// See [`Decoding::strips_thinking`].
    pub strips_thinking: bool,
}

impl Decoding {
    /// Returns how the outputs of a system are decoded.
    pub(super) fn of(&self, system: &System) -> SystemDecoding {
        let chosen = self.handlers.get(&system.name);
        let by_folder = system.folder.as_deref().and_then(Handler::of);
        SystemDecoding {
            handler: chosen.copied().unwrap_or(by_folder),
            is_by_folder: chosen.is_none() && by_folder.is_some(),
            is_lenient: self.is_lenient,
            strips_thinking: self.strips_thinking,
        }
    }
}

impl SystemDecoding {
    /// Decodes an output.
    pub(super) fn decode(
        self,
        mode: Mode,
        entry: &Entry,
        output: &Output,
        (format, has_tag): (OutputFormat, bool),
    ) -> Result<PyValue, DecodeError> {
        let output = self.without_thinking(output);
        let decoded = match (self.handler, raw(&output)) {
            (Some(handler), Some(raw)) => handler.decoder.decode(mode, raw, format, has_tag),
            _ => by_default(mode, &output, format, has_tag),
        };
        if !self.is_lenient || decoded.as_ref().is_ok_and(|decoded| !is_empty_output(decoded)) {
            return decoded;
        }
        logged_calls(entry, &output).map_or(decoded, Ok)
    }

    fn without_thinking(self, output: &Output) -> Cow<'_, Output> {
        let shortened = |text: &str| {
            text.rsplit_once("</think>").map(|(_, rest)| rest.trim_start_matches('\n').to_owned())
        };
        let shorter = match output {
            Output::Text(text) if self.strips_thinking => shortened(text).map(Output::Text),
            Output::Words(text) if self.strips_thinking => shortened(text).map(Output::Words),
            _ => None,
        };
        shorter.map_or(Cow::Borrowed(output), Cow::Owned)
    }
}

fn by_default(
    mode: Mode,
    output: &Output,
    format: OutputFormat,
    has_tag: bool,
) -> Result<PyValue, DecodeError> {
    match output {
        Output::Text(text) if mode == Mode::Strict => decode_text_strict(text, format, has_tag),
        Output::Text(text) => decode_text(text, format, has_tag),
        Output::Calls(calls) | Output::Turns(calls) => decode_calls(calls),
        Output::Words(text) => decode_calls(&Value::String(text.clone())),
        Output::Failed(reason) => Err(DecodeError::new("RuntimeError", reason.clone())),
    }
}

/// Returns an output as its result file has it; `None` if the request failed.
fn raw(output: &Output) -> Option<RawOutput<'_>> {
    match output {
        Output::Text(text) | Output::Words(text) => Some(RawOutput::Text(text)),
        Output::Calls(value) | Output::Turns(value) => Some(RawOutput::Json(value)),
        Output::Failed(_) => None,
    }
}

/// Returns the calls of an output in any notation of logs.
fn logged_calls(entry: &Entry, output: &Output) -> Option<PyValue> {
    let written;
    let text = match output {
        Output::Text(text) | Output::Words(text) => text,
        Output::Calls(calls) => {
            written = calls.to_string();
            &written
        }
        Output::Turns(_) | Output::Failed(_) => return None,
    };
    let RecordedAnswer::Calls(calls) = score::logged_answer(entry, text) else { return None };
    let of_call = |call: callsieve_bfcl::conversation::Call| {
        let arguments = PyValue::from_json(&call.arguments);
        PyValue::Dict([(PyValue::Str(call.name), arguments)].into_iter().collect())
    };
    Some(PyValue::List(calls.into_iter().map(of_call).collect()))
}

/// Warns of a system of which most outputs are not read, if a handler or the notations of logs read most of these.
pub(super) fn warning(
    dataset: &Dataset,
    system: &System,
    decoding: SystemDecoding,
    rows: &[Row<'_>],
) -> Option<String> {
    let is_counted = |row: &&Row<'_>| {
        let scoring = dataset.categories[row.scored.place.0].scoring;
        matches!(scoring, Scoring::Calls(..) | Scoring::Relevance(_))
            && matches!(row.result.output, Output::Text(_) | Output::Calls(_))
    };
    let n = rows.iter().filter(is_counted).count();
    let unread: Vec<&Row<'_>> =
        rows.iter().filter(is_counted).filter(|row| !is_read(&row.scored.decoded)).collect();
    if unread.len() * 2 <= n {
        return None;
    }
    let tried = &unread[..unread.len().min(MAX_TRIED)];
    let place = |row: &Row<'_>| {
        let category = &dataset.categories[row.scored.place.0];
        (category, &category.entries[row.scored.place.1])
    };
    let read_by = |decoder: Decoder| {
        let finds = |row: &&&Row<'_>| {
            let (category, entry) = place(row);
            let output = decoding.without_thinking(&row.result.output);
            let (format, has_tag) = category.format_of(entry);
            let decoded = raw(&output).map(|raw| decoder.decode(Mode::Official, raw, format, has_tag));
            decoded.and_then(Result::ok).is_some_and(|decoded| has_named_calls(&decoded))
        };
        tried.iter().filter(finds).count()
    };
    let own = Handler::of(&system.name);
    let all = own.map(|own| own.decoder).into_iter().chain(Decoder::ALL);
    // The first of those that read the most.
    let best = all.map(|decoder| (read_by(decoder), decoder)).reduce(|a, b| if b.0 > a.0 { b } else { a });
    let most = |n: usize| n > 0 && n * 2 >= tried.len();
    let outputs = format!("{}: {} of {n} outputs do not decode", system.name, unread.len());
    let of_tried = if tried.len() < unread.len() {
        format!("of the first {} of these", tried.len())
    } else {
        "of these".to_owned()
    };
    if let Some((read, decoder)) = best.filter(|(read, _)| most(*read)) {
        let has_it = |handler: &&Handler| handler.decoder == decoder;
        let handler = own.filter(has_it).or_else(|| most_common(decoder))?;
        return Some(format!(
            "{outputs}; the official handler of {} reads calls in {read} {of_tried}: give --handler {}={}, or the \
             name of a model with that form",
            handler.name, system.name, handler.name
        ));
    }
    let is_logged = |row: &&&Row<'_>| {
        let output = decoding.without_thinking(&row.result.output);
        logged_calls(place(row).1, &output).is_some()
    };
    let read = tried.iter().filter(is_logged).count();
    let lenient = || {
        format!(
            "{outputs}; --decode lenient reads calls in {read} {of_tried}, but its scores are not official"
        )
    };
    (!decoding.is_lenient && most(read)).then(lenient)
}

/// Returns the first model of the class that has the most models with a decoder.
fn most_common(decoder: Decoder) -> Option<&'static Handler> {
    let of_class = |class: &str| Handler::all().iter().filter(|handler| handler.class == class).count();
    let have_it = Handler::all().iter().filter(|handler| handler.decoder == decoder);
    have_it
        .map(|handler| (of_class(handler.class), handler))
        .reduce(|a, b| if b.0 > a.0 { b } else { a })
        .map(|(_, handler)| handler)
}

/// Returns whether a decoded output is calls whose names could be those of functions. They need not be on offer: a model may make
/// them up.
fn has_named_calls(decoded: &PyValue) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|char: char| char.is_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_alphanumeric() || "_.-/:".contains(char))
    };
    let has_name = |call: &PyValue| {
        call.as_dict().is_some_and(|call| call.iter().all(|(name, _)| name.as_str().is_some_and(is_name)))
    };
    !is_empty_output(decoded) && decoded.as_list().is_some_and(|calls| calls.iter().all(has_name))
}

/// Returns whether a decoded output has calls.
fn is_read(decoded: &Value) -> bool {
    let is_call = |call: &Value| {
        call.as_object().is_some_and(|call| call.len() == 1 && call.values().all(Value::is_object))
    };
    decoded.as_array().is_some_and(|calls| !calls.is_empty() && calls.iter().all(is_call))
}
