//! A doc list, preprocessed once for all queries that were sent with it.

use serde_json::Value;

use super::SPACE;
use super::query::PreparedQuery;
use super::script::{Script, scripts_of};
use super::topics::Topics;
use super::words::{content_set, count_held, cut_names, distinct};
use callsieve_docs::signature::{Signature, signatures};
use callsieve_text::normal::{loose_name, normalise};

/// A preprocessed doc list, ready for the comparison with queries.
pub struct PreparedDocs {
    /// Its functions, in order.
    pub(super) functions: Vec<PreparedFunction>,
    /// The content words of all of it, sorted.
    pub(super) words: Vec<String>,
    /// The scripts of its descriptions.
    pub(super) scripts: Vec<Script>,
}

/// A preprocessed function. All words are content words, sorted.
pub(super) struct PreparedFunction {
    pub(super) signature: Signature,
    /// Its name without signs and case.
    pub(super) loose_name: String,
    pub(super) name_words: Vec<String>,
    pub(super) description_words: Vec<String>,
    /// Words of the names and descriptions of its parameters, also nested ones.
    pub(super) parameter_words: Vec<String>,
    /// Words of the allowed values of its parameters.
    pub(super) choice_words: Vec<String>,
    /// All of the above.
    pub(super) words: Vec<String>,
    /// For each parameter, the words of its name.
    pub(super) name_words_of: Vec<Vec<String>>,
    /// For each parameter, its allowed values, normalised like queries.
    pub(super) choices_of: Vec<Vec<String>>,
    /// The topics of its name and description.
    pub(super) head_topics: Topics,
    /// The topics of all of its text.
    pub(super) topics: Topics,
    /// The vector of its name.
    pub(super) name_vector: Vec<f32>,
    /// The vector of all its text.
    pub(super) text_vector: Vec<f32>,
}

impl PreparedDocs {
    /// Preprocesses a doc list in any form.
    pub fn new(functions: &[Value]) -> Self {
        let functions: Vec<PreparedFunction> =
            signatures(functions).into_iter().map(PreparedFunction::new).collect();
        let words = distinct(functions.iter().flat_map(|function| function.words.iter().cloned()).collect());
        let scripts = scripts_of(functions.iter().map(|function| function.signature.description.as_str()));
        Self { functions, words, scripts }
    }

    /// Returns whether a query contains every word in the name of a function.
    pub fn is_named_in(&self, query: &PreparedQuery) -> bool {
        let is_named = |function: &PreparedFunction| {
            let words = &function.name_words;
            !words.is_empty() && count_held(words, &query.words) == words.len()
        };
        self.functions.iter().any(is_named)
    }

    /// Returns the names of its functions, as sent.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.signature.name.as_str())
    }
}

impl PreparedFunction {
    pub(super) fn new(signature: Signature) -> Self {
        let name = cut_names(&signature.name).replace('.', " ");
        let (mut about_parameters, mut choices) = (String::new(), String::new());
        for parameter in &signature.parameters {
            about_parameters +=
                &format!("{} {} {} ", parameter.name, parameter.description, parameter.inside);
            choices += &parameter.choices.join(" ");
            choices.push(' ');
        }
        let text = format!("{name} {} {about_parameters} {choices}", signature.description);
        let vectors = SPACE.vectors(&[&name, &text]);
        let as_asked = |choice: &String| normalise(&choice.replace('_', " "));
        let parts =
            [&name, &signature.description, &about_parameters, &choices].map(|part| content_set(part));
        let words = distinct(parts.concat());
        let [name_words, description_words, parameter_words, choice_words] = parts;
        Self {
            loose_name: loose_name(&signature.name),
            head_topics: Topics::of(&format!("{name} {}", signature.description)),
            topics: Topics::of(&text),
            name_words,
            description_words,
            parameter_words,
            choice_words,
            words,
            name_words_of: signature
                .parameters
                .iter()
                .map(|parameter| content_set(&parameter.name))
                .collect(),
            choices_of: signature
                .parameters
                .iter()
                .map(|parameter| {
                    parameter.choices.iter().map(as_asked).filter(|choice| !choice.is_empty()).collect()
                })
                .collect(),
            name_vector: vectors.get(0).to_vec(),
            text_vector: vectors.get(1).to_vec(),
            signature,
        }
    }
}
