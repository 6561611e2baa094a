//! Models: their prices with date and source, what their requests need, and what outputs cost.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use callsieve_text::os_error::{cause_of, hint_of};

/// The models that the program knows, with the date of their prices.
const KNOWN: &str = include_str!("../../../configs/models.toml");

/// Dollars for a million tokens.
const MILLION: f64 = 1e6;

/// Tokens that a model with reasoning usually thinks before a short answer, for estimates.
const USUAL_THINKING: u64 = 500;

/// Tokens that a model with reasoning may think: they count for the limit of the output.
const MOST_THINKING: u64 = 4000;

/// Models by name.
#[derive(Debug, Clone, Default)]
pub struct Models {
    source: String,
    models: HashMap<String, Model>,
}

/// What is known of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Its price.
    pub price: Price,
    /// Its price in a batch, if the vendor has one.
    pub batch: Option<Price>,
    /// The longest prompt in tokens.
    pub context: Option<u64>,
    /// Thinks before it answers, and pays for what it thinks.
    pub is_reasoning: bool,
    /// Takes its limit of output as `max_completion_tokens`, and no temperature.
    pub wants_completion_limit: bool,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the output.
    pub output: f64,
    /// Of the part of the prompt that the server had in a cache; the price of the prompt if `None`.
    pub cached: Option<f64>,
}

impl Model {
    /// Returns the tokens of output that an answer with so many tokens usually takes, with what the model thinks.
    pub fn usual_output(&self, answer: u64) -> u64 {
        answer + if self.is_reasoning { USUAL_THINKING } else { 0 }
    }

    /// Returns the limit of output for an answer of at most so many tokens, with room to think.
    pub fn max_output(&self, answer: u64) -> u64 {
        answer + if self.is_reasoning { MOST_THINKING } else { 0 }
    }

    /// Returns a chat request as the model takes it: the limit of output under its name and with room to think, no
    /// temperature where it has its own.
    pub fn fitted(&self, mut body: Map<String, Value>) -> Map<String, Value> {
        if let Some(limit) = body.get("max_tokens").and_then(Value::as_u64) {
            body.insert("max_tokens".to_owned(), json!(self.max_output(limit)));
        }
        if self.wants_completion_limit {
            body.shift_remove("temperature");
            with_completion_limit(&mut body);
        }
        body
    }
}

/// Names the limit of output as newer models of OpenAI want it.
pub(crate) fn with_completion_limit(body: &mut Map<String, Value>) {
    if let Some(limit) = body.shift_remove("max_tokens") {
        body.insert("max_completion_tokens".to_owned(), limit);
    }
}

/// What the outputs of a system cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// Outputs with tokens and a price.
    pub n: usize,
    /// Outputs of a model with a price, without tokens.
    pub without_tokens: usize,
    /// Models of rows with tokens whose price is not known.
    pub without_price: BTreeSet<String>,
    /// Where the prices are from, with their date.
    pub source: String,
}

/// A file of models that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// The file cannot be read.
    #[error("reading {}: {}{}", path.display(), cause_of(cause), hint_of(cause, path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// The file has another form.
    #[error(
        "{}: {what}\nhint: expected TOML as in configs/models.toml (source, as_of, [models] \"name\" = {{ input = 0.4, output = 1.6 }} in US \
         dollars for a million tokens), or the JSON registry of LiteLLM",
        path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
}

/// What an output cost: its model, and its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'m> {
    /// The name of the model.
    pub model: &'m str,
    /// The row has the name of the model; otherwise it is that of the system.
    pub is_named: bool,
    /// Tokens of the request.
    pub input: Option<f64>,
    /// Tokens of the request that the server had in a cache.
    pub cached: Option<f64>,
    /// Tokens of the answer.
    pub output: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    source: String,
    as_of: String,
    models: HashMap<String, Entry>,
}

/// A model in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    input: f64,
    output: f64,
    cached: Option<f64>,
    batch_input: Option<f64>,
    batch_output: Option<f64>,
    context: Option<u64>,
    #[serde(default)]
    reasoning: bool,
    #[serde(default)]
    max_completion_tokens: bool,
}

/// The registry of LiteLLM, in which each model has one entry.
struct Registry(HashMap<String, Value>);

impl<'de> Deserialize<'de> for Registry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Models;

        impl<'de> Visitor<'de> for Models {
            type Value = Registry;

            fn expecting(&self, form: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                form.write_str("an object of models")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Registry, M::Error> {
                let mut models = HashMap::new();
                while let Some((name, model)) = map.next_entry::<String, Value>()? {
                    let earlier = models.get(&name);
                    if earlier.is_some_and(|earlier| *earlier != model) {
                        let what = format!("the model {name:?} is there twice, with different entries");
                        return Err(serde::de::Error::custom(what));
                    }
                    models.insert(name, model);
                }
                Ok(Registry(models))
            }
        }

        from.deserialize_map(Models)
    }
}

impl Entry {
    fn model(self) -> Result<Model, String> {
        let Self { input, output, cached, batch_input, batch_output, .. } = self;
        let prices = [Some(input), Some(output), cached, batch_input, batch_output];
        if let Some(wrong) = prices.into_iter().flatten().find(|price| !price.is_finite() || *price < 0.0) {
            return Err(format!("expected prices of at least 0, found {wrong}"));
        }
        let batch = batch_input.zip(batch_output);
        Ok(Model {
            price: Price { input, output, cached },
            // A prompt in a cache costs no less in a batch than any other, as far as the registry says.
            batch: batch.map(|(input, output)| Price { input, output, cached: None }),
            context: self.context,
            is_reasoning: self.reasoning,
            wants_completion_limit: self.max_completion_tokens,
        })
    }

    /// Reads a model of LiteLLM's registry; `None` for one without prices for tokens.
    fn of_litellm(model: &Value) -> Option<Self> {
        let price = |key: &str| model.get(key).and_then(Value::as_f64).map(|price| price * MILLION);
        let word = |key: &str| model.get(key).and_then(Value::as_str).unwrap_or_default();
        let thinks = model.get("supports_reasoning") == Some(&Value::Bool(true));
        let provider = word("litellm_provider");
        let can_be_off = model
            .get("reasoning_effort_levels")
            .and_then(Value::as_array)
            .is_some_and(|levels| levels.iter().any(|level| level == "none"));
        Some(Self {
            input: price("input_cost_per_token")?,
            output: price("output_cost_per_token")?,
            cached: price("cache_read_input_token_cost"),
            batch_input: price("input_cost_per_token_batches"),
            batch_output: price("output_cost_per_token_batches"),
            context: model.get("max_input_tokens").and_then(Value::as_u64),
            // Models of Anthropic think only if they are asked to, others unless their default is not to.
            reasoning: thinks
                && provider != "anthropic"
                && word("default_reasoning_effort") != "none"
                && !can_be_off,
            max_completion_tokens: thinks && ["openai", "azure"].contains(&provider),
        })
    }
}

impl Price {
    /// Returns the dollars for these tokens: of the prompt, of its part from a cache, of the output.
    #[allow(clippy::cast_precision_loss)]
    pub fn cost(self, input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> f64 {
        self.dollars(input_tokens as f64, cached_tokens as f64, output_tokens as f64)
    }

    fn dollars(self, input: f64, cached: f64, output: f64) -> f64 {
        let cached = cached.min(input);
        let prompt = (input - cached) * self.input + cached * self.cached.unwrap_or(self.input);
        (prompt + output * self.output) / MILLION
    }
}

impl Models {
    /// Returns the models that the program knows.
    ///
    /// # Panics
    /// If the file of the program is invalid; a test reads it.
    #[allow(clippy::expect_used)]
    pub fn known() -> Self {
        Self::parse(KNOWN).expect("the program's own models are read by a test")
    }

    /// Reads models from a file: TOML as `configs/models.toml`, or the JSON registry of LiteLLM.
    ///
    /// # Errors
    /// If the file cannot be read, or has neither form.
    pub fn read(path: &Path) -> Result<Self, ModelsError> {
        let unreadable = |cause| ModelsError::Unreadable { path: path.to_owned(), cause };
        let form = |what: String| ModelsError::Form { path: path.to_owned(), what };
        let text = callsieve_system::side_file::read_text(path).map_err(unreadable)?;
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[']) && !text.trim_start().starts_with("[models") {
            let registry: Registry = serde_json::from_str(text).map_err(|fault| form(fault.to_string()))?;
            return Self::of_litellm(&registry.0, path).map_err(form);
        }
        Self::parse(text).map_err(form)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: Table = toml::from_str(text).map_err(|fault| fault.to_string())?;
        let named = |(name, entry): (String, Entry)| match entry.model() {
            Ok(model) => Ok((name, model)),
            Err(what) => Err(format!("{name:?}: {what}")),
        };
        let models = table.models.into_iter().map(named).collect::<Result<_, _>>()?;
        Ok(Self { source: format!("{}, {}", table.source, table.as_of), models })
    }

    fn of_litellm(registry: &HashMap<String, Value>, path: &Path) -> Result<Self, String> {
        let named = |(name, model): (&String, &Value)| {
            Entry::of_litellm(model)?.model().ok().map(|model| (name.clone(), model))
        };
        let models: HashMap<String, Model> = registry.iter().filter_map(named).collect();
        if models.is_empty() {
            return Err("no model with input_cost_per_token and output_cost_per_token".to_owned());
        }
        Ok(Self { source: path.display().to_string(), models })
    }

    /// Returns where the prices are from, with their date.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns a model by its name, or by the part of the name after that of a provider.
    pub fn get(&self, model: &str) -> Option<Model> {
        let short = model.split_once('/').map(|(_, name)| name);
        self.models.get(model).or_else(|| self.models.get(short?)).copied()
    }

    /// Returns the price of a model.
    pub fn price(&self, model: &str) -> Option<Price> {
        self.get(model).map(|model| model.price)
    }

    /// Returns the cost of outputs. `None` if nothing is known of it: no price of a model, and no row that names its model.
    pub fn cost<'m>(&self, outputs: impl Iterator<Item = Usage<'m>>) -> Option<Cost> {
        let mut cost = Cost {
            usd: 0.0,
            n: 0,
            without_tokens: 0,
            without_price: BTreeSet::new(),
            source: self.source.clone(),
        };
        for usage in outputs {
            match (self.price(usage.model), usage.input.zip(usage.output)) {
                (Some(price), Some((input, output))) => {
                    cost.usd += price.dollars(input, usage.cached.unwrap_or(0.0), output);
                    cost.n += 1;
                }
                (Some(_), None) => cost.without_tokens += 1,
                (None, Some(_)) if usage.is_named => {
                    cost.without_price.insert(usage.model.to_owned());
                }
                (None, _) => {}
            }
        }
        let is_known = cost.n > 0 || cost.without_tokens > 0 || !cost.without_price.is_empty();
        is_known.then_some(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_found_with_and_without_a_provider() {
        let models = Models::known();
        assert!(models.models.len() > 100 && models.models.values().all(|model| model.price.output >= 0.0));
        assert_eq!(models.get("openai/gpt-4.1"), models.get("gpt-4.1"));
        assert_eq!(models.get("no-such-model"), None);
        let half = models.get("gpt-4.1-mini").unwrap();
        assert!((half.batch.unwrap().output - half.price.output / 2.0).abs() < 1e-9, "{half:?}");
        assert!(models.get("o3").is_some_and(|model| model.is_reasoning && model.wants_completion_limit));
    }

    #[test]
    fn outputs_cost_their_tokens() {
        let prices = "source = \"s\"\nas_of = \"2026-01-02\"\n[models]\n\"a\" = { input = 2.0, output = 10.0 }\n\
            \"c\" = { input = 2.0, output = 10.0, cached = 0.5 }\n";
        let prices = Models::parse(prices).unwrap();
        let usage =
            |model, input, output| Usage { model, is_named: true, input, cached: Some(400.0), output };
        let cost = |outputs: &[Usage<'_>]| prices.cost(outputs.iter().copied());
        let found = cost(&[
            usage("a", Some(1000.0), Some(100.0)),
            usage("c", Some(1000.0), Some(100.0)),
            usage("b", Some(1.0), Some(1.0)),
            usage("a", None, Some(1.0)),
        ])
        .unwrap();
        // a: 1000 * 2 + 100 * 10; c: 600 * 2 + 400 * 0.5 + 100 * 10, for a million.
        assert!((found.usd - 0.0054).abs() < 1e-12, "{found:?}");
        assert_eq!((found.n, found.without_tokens, found.source.as_str()), (2, 1, "s, 2026-01-02"));
        assert_eq!(found.without_price.into_iter().collect::<Vec<_>>(), ["b"]);
        // The name of a system that is no model says nothing.
        assert_eq!(cost(&[Usage { is_named: false, ..usage("b", Some(1.0), Some(1.0)) }]), None);
    }

    #[test]
    fn prices_that_are_none_are_refused() {
        for (entry, expected) in [
            ("{ input = 1.0 }", "missing field `output`"),
            ("[1.0, 2.0]", "\"a\" = [1.0, 2.0]"),
            ("{ input = 1.0, output = -2.0 }", "\"a\": expected prices of at least 0, found -2"),
            ("{ input = 1.0, output = nan }", "expected prices of at least 0, found NaN"),
            ("{ input = 1.0, output = 2.0, batch = 1.0 }", "unknown field `batch`"),
        ] {
            let text = format!("source = \"s\"\nas_of = \"d\"\n[models]\n\"a\" = {entry}\n");
            let error = Models::parse(&text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_request_is_fitted_to_the_model() {
        let body = json!({"model": "m", "max_tokens": 400, "temperature": 0});
        let fitted = |name: &str| {
            let model = Models::known().get(name).unwrap();
            Value::Object(model.fitted(body.as_object().unwrap().clone()))
        };
        assert_eq!(fitted("gpt-4.1-mini"), body);
        let room = 400 + MOST_THINKING;
        assert_eq!(fitted("o3"), json!({"model": "m", "max_completion_tokens": room}));
        assert_eq!(fitted("gemini-2.5-flash"), json!({"model": "m", "max_tokens": room, "temperature": 0}));
        assert_eq!(fitted("claude-sonnet-4-5"), body);
    }

    #[test]
    fn the_registry_of_litellm_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Models::read(&path)
        };
        let models = read(
            r#"{"sample_spec": {"input_cost_per_token": "words"}, "x": {"mode": "image"}, "y": 3,
            "m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "litellm_provider": "openai", "supports_reasoning": true,
                "max_input_tokens": 128000, "input_cost_per_token_batches": 5e-7, "output_cost_per_token_batches": 1e-6}}"#,
        )
        .unwrap();
        let price = |input, output| Price { input, output, cached: None };
        let m = Model {
            price: price(1.0, 2.0),
            batch: Some(price(0.5, 1.0)),
            context: Some(128_000),
            is_reasoning: true,
            wants_completion_limit: true,
        };
        assert_eq!((models.get("m"), models.get("x"), models.get("sample_spec")), (Some(m), None, None));
        for (text, expected) in [
            ("models = 3", "hint: expected TOML"),
            ("{}", "no model with input_cost_per_token"),
            ("[1, 2]", "invalid type: sequence"),
            ("{\"m\": ", "EOF while parsing"),
            ("", "missing field `source`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        std::fs::write(&path, [0xff, 0xfe, b'{']).unwrap();
        assert!(matches!(Models::read(&path), Err(ModelsError::Unreadable { .. })));
    }
}
