//! What servers refuse of a chat request, and the request without it.
//!
//! Models differ in what they allow: reasoning models want `max_completion_tokens` and their own temperature, small servers know
//! no JSON Schema and no seed. A refusal names what it is about, so the request is sent again without it, and the next ones at once.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};

use super::Error;
use super::models::with_completion_limit;

/// What a server refused so far.
#[derive(Debug, Default)]
pub(super) struct Refused {
    schema: AtomicBool,
    max_tokens: AtomicBool,
    temperature: AtomicBool,
    seed: AtomicBool,
    /// Nothing is left out, only the limit is renamed.
    only_limit: bool,
}

impl Refused {
    /// Returns a memory of refusals that only renames the limit of output.
    pub(super) fn only_limit() -> Self {
        Self { only_limit: true, ..Self::default() }
    }

    /// Takes note of a refusal; returns whether it is a new one about a part that a request can go without.
    pub(super) fn learn(&self, body: &Map<String, Value>, error: &Error) -> bool {
        let Error::Refused { status: 400 | 422, message, .. } = error else { return false };
        let parts = [
            (&self.max_tokens, "max_tokens", &["max_completion_tokens"][..]),
            (&self.schema, "response_format", &["response_format", "json_schema", "structured output"]),
            (&self.temperature, "temperature", &["temperature"]),
            (&self.seed, "seed", &["seed"]),
        ];
        let is_named = |names: &[&str]| names.iter().any(|name| message.to_lowercase().contains(name));
        let n_parts = if self.only_limit { 1 } else { parts.len() };
        let found =
            parts[..n_parts].iter().find(|(_, key, names)| body.contains_key(*key) && is_named(names));
        found.is_some_and(|(refused, ..)| {
            refused.store(true, Ordering::Relaxed);
            true
        })
    }

    /// Returns the request without what is refused.
    pub(super) fn adapted(&self, mut body: Map<String, Value>) -> Map<String, Value> {
        let is_set = |refused: &AtomicBool| refused.load(Ordering::Relaxed);
        if is_set(&self.schema) {
            body.shift_remove("response_format");
        }
        if is_set(&self.temperature) {
            body.shift_remove("temperature");
        }
        if is_set(&self.seed) {
            body.shift_remove("seed");
        }
        if is_set(&self.max_tokens) {
            with_completion_limit(&mut body);
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_goes_without_what_the_server_names_in_its_refusal() {
        let body = json!({"model": "m", "temperature": 0, "max_tokens": 9, "response_format": {"type": "json_schema"}});
        let body = body.as_object().unwrap().clone();
        for (message, expected) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                json!({"model": "m", "temperature": 0, "response_format": {"type": "json_schema"}, "max_completion_tokens": 9}),
            ),
            ("'response_format' is not supported", json!({"model": "m", "temperature": 0, "max_tokens": 9})),
            (
                "Unsupported value: 'temperature' does not support 0",
                json!({"model": "m", "max_tokens": 9, "response_format": {"type": "json_schema"}}),
            ),
        ] {
            let refused = Refused::default();
            let error = Error::Refused { url: String::new(), status: 400, message: message.to_owned() };
            assert!(refused.learn(&body, &error), "{message}");
            let adapted = refused.adapted(body.clone());
            assert_eq!(Value::Object(adapted.clone()), expected);
            // The same refusal of the adapted request is none that it could go without.
            assert!(!refused.learn(&adapted, &error), "{message}");
        }
        let (limit, error) = (Refused::only_limit(), |message: &str| Error::Refused {
            url: String::new(),
            status: 400,
            message: message.to_owned(),
        });
        assert!(!limit.learn(&body, &error("'temperature' does not support 0")));
        assert!(limit.learn(&body, &error("use 'max_completion_tokens'")));
        for (status, message) in
            [(400, "context_length_exceeded"), (500, "temperature of the server too high")]
        {
            let error = Error::Refused { url: String::new(), status, message: message.to_owned() };
            assert!(!Refused::default().learn(&body, &error), "{message}");
        }
    }
}
