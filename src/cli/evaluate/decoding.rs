//! Options for how outputs are decoded, and what the output says about it.

use clap::ValueEnum;

use crate::checker::Handler;
use crate::evaluate::decoding::{Decoding, SystemDecoding};

/// The name that stands for the default decoder.
const DEFAULT: &str = "default";

/// Models that an error names.
const MAX_NAMED: usize = 5;

/// Arguments of decoding.
#[derive(Debug, clap::Args)]
pub(super) struct DecodingArgs {
    /// Decodes the outputs of a system as the official handler of a model does; `default` is the default decoder. Can be
    /// repeated. A folder with the official name of a model needs none.
    #[arg(long, value_name = "SYSTEM=NAME", value_parser = handler)]
    handler: Vec<(String, Option<&'static Handler>)>,

    /// Decoder of outputs: the official one, or also the notations that logs have, which is not official.
    #[arg(long, value_enum, default_value_t = Decode::Official)]
    decode: Decode,

    /// Removes from texts what is before the last `</think>`.
    #[arg(long)]
    strip_thinking: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Decode {
    /// As the official evaluator.
    Official,
    /// Also the notations that logs have.
    Lenient,
}

impl DecodingArgs {
    /// Returns the settings.
    pub(super) fn settings(&self) -> Decoding {
        Decoding {
            handlers: self.handler.iter().cloned().collect(),
            is_lenient: self.decode == Decode::Lenient,
            strips_thinking: self.strip_thinking,
        }
    }

    /// Returns the first option that the official package does not have.
    pub(super) fn not_of_package(&self) -> Option<&'static str> {
        let retired = |(_, handler): &(String, Option<&'static Handler>)| {
            handler.is_some_and(|handler| !handler.is_current())
        };
        [
            (self.decode == Decode::Lenient, "--decode lenient"),
            (self.strip_thinking, "--strip-thinking"),
            (self.handler.iter().any(retired), "--handler with a model that the package no longer has"),
        ]
        .into_iter()
        .find_map(|(is_given, option)| is_given.then_some(option))
    }
}

fn handler(text: &str) -> Result<(String, Option<&'static Handler>), String> {
    let (system, name) = text
        .rsplit_once('=')
        .filter(|(system, name)| !system.is_empty() && !name.is_empty())
        .ok_or_else(|| "expected SYSTEM=NAME, such as my-model=Qwen/Qwen3-8B-FC".to_owned())?;
    if name == DEFAULT {
        return Ok((system.to_owned(), None));
    }
    if let Some(handler) = Handler::of(name) {
        return Ok((system.to_owned(), Some(handler)));
    }
    let wanted = name.to_lowercase();
    let near = Handler::all().iter().map(|handler| handler.name);
    let near: Vec<&str> = near.filter(|name| name.to_lowercase().contains(&wanted)).take(MAX_NAMED).collect();
    let hint = if near.is_empty() {
        "docs/evaluate.md lists a model of each form".to_owned()
    } else {
        format!("names with it: {}", near.join(", "))
    };
    Err(format!("the official package has no model {name:?}; {hint}"))
}

/// Returns what is said about the decoding of a system, in sentences.
pub(super) fn notes(decoding: SystemDecoding) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(handler) = decoding.handler {
        let why = if decoding.is_by_folder { ", by the name of the folder" } else { "" };
        let names = if handler.underscore_to_dot { "; names of functions have _ for ." } else { "" };
        notes.push(format!("Decoded as the handler of {} does{why}{names}.", handler.name));
    }
    if decoding.is_lenient {
        notes.push(
            "--decode lenient: also notations of logs count as calls, so these scores are not official."
                .to_owned(),
        );
    }
    if decoding.strips_thinking {
        notes.push("--strip-thinking: texts count from the last </think>.".to_owned());
    }
    notes
}
