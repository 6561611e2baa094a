//! Examples of reasons on a few rows. Tests run them, and `explain` shows them.

use serde_json::{Value, json};

/// An example of a reason: the stage reports it on `fires` and not on `quiet`.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The reason's code.
    pub reason: &'static str,
    /// Settings that are not the default, as TOML: `key = value, …`. For a stage that does nothing by default.
    pub settings: &'static str,
    /// Rows with the reason.
    pub fires: Sample,
    /// Similar rows without it.
    pub quiet: Sample,
}

/// The rows of an example.
#[derive(Debug, Clone, Copy)]
pub enum Sample {
    /// JSON: `{"doc_lists": [{column: value, …}], "requests": [{"list": 0, column: value, …}]}`; either may be left
    /// out.
    Tables(&'static str),
    /// One request whose only message is this.
    Query(&'static str),
    /// One doc list that was sent as this text.
    Text(&'static str),
    /// One doc list of this function, or these; JSON.
    Functions(&'static str),
}

impl Example {
    /// Returns an example of whole tables.
    pub const fn tables(reason: &'static str, fires: &'static str, quiet: &'static str) -> Self {
        Self { reason, settings: "", fires: Sample::Tables(fires), quiet: Sample::Tables(quiet) }
    }

    /// Returns an example of one query each.
    pub const fn query(reason: &'static str, fires: &'static str, quiet: &'static str) -> Self {
        Self { reason, settings: "", fires: Sample::Query(fires), quiet: Sample::Query(quiet) }
    }

    /// Returns an example of one doc list's text each.
    pub const fn text(reason: &'static str, fires: &'static str, quiet: &'static str) -> Self {
        Self { reason, settings: "", fires: Sample::Text(fires), quiet: Sample::Text(quiet) }
    }

    /// Returns an example of one function each, or a list of them.
    pub const fn functions(reason: &'static str, fires: &'static str, quiet: &'static str) -> Self {
        Self { reason, settings: "", fires: Sample::Functions(fires), quiet: Sample::Functions(quiet) }
    }

    /// Sets settings that are not the default.
    #[must_use]
    pub const fn with_settings(self, settings: &'static str) -> Self {
        Self { settings, ..self }
    }
}

impl Sample {
    /// Returns the rows as the two tables.
    ///
    /// # Panics
    /// The example is not valid JSON. A test runs every example.
    pub fn to_tables(self) -> Value {
        let parsed = |text: &str| -> Value { serde_json::from_str(text).expect("examples are JSON") };
        match self {
            Self::Tables(tables) => parsed(tables),
            Self::Query(query) => json!({"requests": [{"messages": [{"role": "user", "content": query}]}]}),
            Self::Text(text) => json!({"doc_lists": [{"text": text}]}),
            Self::Functions(functions) => match parsed(functions) {
                Value::Array(functions) => json!({"doc_lists": [{"functions": functions}]}),
                function => json!({"doc_lists": [{"functions": [function]}]}),
            },
        }
    }
}
