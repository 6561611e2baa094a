//! The models that the official package knows, each with the way in which its handler decodes outputs.
//!
//! The table `models.tsv` is written by `scripts/checker/models.py` from the package; `decoder` has what the handlers do with
//! an output. Handlers of models that the package no longer has are at the end of the table.
//!
//! A handler also asks its model and cleans its replies. That is done before results are written, and not here.

mod decoder;
mod function_gemma;
mod listed;
mod tagged;
mod wrapped;

use std::sync::LazyLock;

pub use decoder::{Decoder, RawOutput};

/// A model of the official package and how its outputs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// The name of the model in the package.
    pub name: &'static str,
    /// The class that handles it, with its module: `local_inference.qwen_fc.QwenFCHandler`.
    pub class: &'static str,
    /// Whether the package lists it as a model with function calling.
    pub is_function_calling: bool,
    /// Whether its names of functions have `_` for `.`.
    pub underscore_to_dot: bool,
    /// How its outputs become calls.
    pub decoder: Decoder,
}

static HANDLERS: LazyLock<Vec<Handler>> = LazyLock::new(|| {
    let lines = include_str!("models.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(of_line).collect()
});

fn of_line(line: &'static str) -> Option<Handler> {
    let mut cells = line.split('\t');
    let (name, class, kind, names) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    let is_function_calling = kind == "fc";
    Some(Handler {
        name,
        class,
        is_function_calling,
        underscore_to_dot: names == "underscores",
        decoder: Decoder::of_class(class, is_function_calling)?,
    })
}

impl Handler {
    /// Returns all models, in the order of the package.
    pub fn all() -> &'static [Self] {
        &HANDLERS
    }

    /// Returns the handler of a model by its name, or by the folder of its results, which has `_` for `/`.
    pub fn of(name: &str) -> Option<&'static Self> {
        let is_it = |handler: &&Self| handler.name == name || handler.folder() == name;
        HANDLERS.iter().find(is_it)
    }

    /// Returns the name of the folder that the package writes results to.
    pub fn folder(&self) -> String {
        self.name.replace('/', "_")
    }

    /// Returns whether the package still has the model.
    pub fn is_current(&self) -> bool {
        !self.class.starts_with("retired.")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_line_of_the_table_has_a_decoder() {
        let lines = include_str!("models.tsv").lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(of_line(line).is_some(), "{line}");
        }
        assert_eq!(Handler::all().iter().filter(|handler| handler.is_current()).count(), 175);
        assert_eq!(Handler::all().iter().filter(|of| of.is_current() && of.underscore_to_dot).count(), 55);
    }

    #[test]
    fn models_are_found_by_name_and_by_folder() {
        let qwen = Handler::of("Qwen/Qwen3-8B-FC").unwrap();
        assert_eq!(Handler::of("Qwen_Qwen3-8B-FC"), Some(qwen));
        assert_eq!((qwen.decoder, qwen.underscore_to_dot), (Decoder::ToolCalls, false));
        let claude = Handler::of("claude-opus-4-5-20251101-FC").unwrap();
        assert_eq!((claude.decoder, claude.underscore_to_dot), (Decoder::Calls, true));
        assert_eq!(Handler::of("qwen"), None);
        let mut folders: Vec<String> = Handler::all().iter().map(Handler::folder).collect();
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), Handler::all().len());
    }

    #[test]
    fn decoders_have_these_numbers_of_models() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for handler in Handler::all().iter().filter(|handler| handler.is_current()) {
            *counts.entry(handler.decoder.name()).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let expected = "TOOLCALL 1, after-thinking 1, any 4, bare 1, calls 45, fenced 2, fenced-json-list 4, first-tool-call 4, \
                        function-call-tags 1, json-list 1, json-or-semicolons 5, list 4, list-of-objects 7, name-line 1, \
                        named-calls 3, prompting 68, python-tag 2, start-function-call 1, tool-call-start 1, tool-calls 12, \
                        tool-code 4, tool-names 3";
        assert_eq!(counts.join(", "), expected);
    }
}
