//! What a doc list offers, prepared once for all queries that were sent with it.

use serde_json::Value;

use super::SPACE;
use super::asked::Asked;
use super::topics::Topics;
use super::words::{content_set, count_held, cut_names, distinct};
use crate::docs::signature::{Signature, signatures};
use crate::text::normal::normalise;

/// A doc list, ready to be held against queries.
pub struct Offer {
    /// Its functions, in order.
    pub(super) functions: Vec<Offered>,
    /// The content words of all of it, sorted.
    pub(super) words: Vec<String>,
}

/// One function of a doc list. Words are content words, sorted.
pub(super) struct Offered {
    pub(super) signature: Signature,
    pub(super) name_words: Vec<String>,
    pub(super) description_words: Vec<String>,
    /// Words of the names and descriptions of its parameters, and of what is inside them.
    pub(super) parameter_words: Vec<String>,
    /// Words of the values that its parameters may have.
    pub(super) choice_words: Vec<String>,
    /// All of the above.
    pub(super) words: Vec<String>,
    /// For each parameter its own words.
    pub(super) name_words_of: Vec<Vec<String>>,
    /// For each parameter the values it may have, in the normal form of queries.
    pub(super) choices_of: Vec<Vec<String>>,
    /// What its name and its description are about.
    pub(super) head_topics: Topics,
    /// What all of its text is about.
    pub(super) topics: Topics,
    /// The vector of its name.
    pub(super) name_vector: Vec<f32>,
    /// The vector of all its text.
    pub(super) text_vector: Vec<f32>,
}

impl Offer {
    /// Reads a doc list, whatever form its functions have.
    pub fn new(functions: &[Value]) -> Self {
        let functions: Vec<Offered> = signatures(functions).into_iter().map(Offered::new).collect();
        let words = distinct(functions.iter().flat_map(|function| function.words.iter().cloned()).collect());
        Self { functions, words }
    }

    /// Whether a query holds every word of the name of a function.
    pub fn is_named_in(&self, asked: &Asked) -> bool {
        let is_named = |function: &Offered| {
            let words = &function.name_words;
            !words.is_empty() && count_held(words, &asked.words) == words.len()
        };
        self.functions.iter().any(is_named)
    }

    /// The names of its functions, as sent.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.signature.name.as_str())
    }
}

impl Offered {
    fn new(signature: Signature) -> Self {
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
