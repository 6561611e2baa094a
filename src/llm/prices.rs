//! Prices of models, and what outputs cost.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::os_error::{cause_of, hint_of};

/// The prices that the program knows, with their date.
const KNOWN: &str = include_str!("../../configs/prices.toml");

/// Dollars for a million tokens.
const MILLION: f64 = 1e6;

/// The prices of models.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    source: String,
    models: HashMap<String, Price>,
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

/// A file of prices that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
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
        "{}: {what}\nhint: expected TOML as in configs/prices.toml (source, as_of, [models] \"name\" = [input, output] or [input, output, \
         cached input] in US dollars for a million tokens), or the JSON registry of LiteLLM",
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
pub(crate) struct Usage<'m> {
    pub(crate) model: &'m str,
    /// The row has the name of the model; otherwise it is that of the system.
    pub(crate) is_named: bool,
    pub(crate) input: Option<f64>,
    pub(crate) cached: Option<f64>,
    pub(crate) output: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    source: String,
    as_of: String,
    models: HashMap<String, Vec<f64>>,
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

impl Prices {
    /// Returns the prices that the program has.
    ///
    /// # Panics
    /// If the file of the program is invalid; a test reads it.
    #[allow(clippy::expect_used)]
    pub fn known() -> Self {
        Self::parse(KNOWN).expect("the program's own prices are read by a test")
    }

    /// Reads prices from a file: TOML as `configs/prices.toml`, or the JSON registry of LiteLLM.
    ///
    /// # Errors
    /// If the file cannot be read, or has neither form.
    pub fn read(path: &Path) -> Result<Self, PricesError> {
        let unreadable = |cause| PricesError::Unreadable { path: path.to_owned(), cause };
        let form = |what: String| PricesError::Form { path: path.to_owned(), what };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        if text.trim_start().starts_with('{') {
            let registry: HashMap<String, Value> =
                serde_json::from_str(&text).map_err(|fault| form(fault.to_string()))?;
            return Ok(Self::of_litellm(&registry, path));
        }
        Self::parse(&text).map_err(form)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: Table = toml::from_str(text).map_err(|fault| fault.to_string())?;
        let price = |(name, prices): (String, Vec<f64>)| {
            let (input, output, cached) = match prices[..] {
                [input, output] => (input, output, None),
                [input, output, cached] => (input, output, Some(cached)),
                _ => return Err(format!("{name:?}: expected 2 or 3 prices, found {}", prices.len())),
            };
            if let Some(wrong) = prices.iter().find(|price| !price.is_finite() || **price < 0.0) {
                return Err(format!("{name:?}: expected prices of at least 0, found {wrong}"));
            }
            Ok((name, Price { input, output, cached }))
        };
        let models = table.models.into_iter().map(price).collect::<Result<_, _>>()?;
        Ok(Self { source: format!("{}, {}", table.source, table.as_of), models })
    }

    fn of_litellm(registry: &HashMap<String, Value>, path: &Path) -> Self {
        let price = |(name, model): (&String, &Value)| {
            let per_token = |key: &str| model.get(key).and_then(Value::as_f64).map(|price| price * MILLION);
            let price = Price {
                input: per_token("input_cost_per_token")?,
                output: per_token("output_cost_per_token")?,
                cached: per_token("cache_read_input_token_cost"),
            };
            Some((name.clone(), price))
        };
        Self { source: path.display().to_string(), models: registry.iter().filter_map(price).collect() }
    }

    /// Returns where the prices are from, with their date.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the price of a model, by its name or by the part after the name of a provider.
    pub fn of(&self, model: &str) -> Option<Price> {
        let short = model.split_once('/').map(|(_, name)| name);
        self.models.get(model).or_else(|| self.models.get(short?)).copied()
    }

    /// Returns the cost of outputs. `None` if nothing is known of it: no price of a model, and no row that names its model.
    pub(crate) fn cost<'m>(&self, outputs: impl Iterator<Item = Usage<'m>>) -> Option<Cost> {
        let mut cost = Cost {
            usd: 0.0,
            n: 0,
            without_tokens: 0,
            without_price: BTreeSet::new(),
            source: self.source.clone(),
        };
        for usage in outputs {
            match (self.of(usage.model), usage.input.zip(usage.output)) {
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
        let prices = Prices::known();
        assert!(prices.models.len() > 100 && prices.models.values().all(|price| price.output >= 0.0));
        assert_eq!(prices.of("openai/gpt-4.1"), prices.of("gpt-4.1"));
        assert_eq!(prices.of("no-such-model"), None);
    }

    #[test]
    fn outputs_cost_their_tokens() {
        let prices = "source = \"s\"\nas_of = \"2026-01-02\"\n[models]\n\"a\" = [2.0, 10.0]\n\"c\" = [2.0, 10.0, 0.5]\n";
        let prices = Prices::parse(prices).unwrap();
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
        for (prices, expected) in [
            ("[1.0]", "expected 2 or 3 prices, found 1"),
            ("[1.0, -2.0]", "expected prices of at least 0, found -2"),
            ("[1.0, nan]", "expected prices of at least 0, found NaN"),
        ] {
            let text = format!("source = \"s\"\nas_of = \"d\"\n[models]\n\"a\" = {prices}\n");
            let error = Prices::parse(&text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_registry_of_litellm_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.json");
        std::fs::write(
            &path,
            r#"{"m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}, "x": {"mode": "image"}}"#,
        )
        .unwrap();
        let prices = Prices::read(&path).unwrap();
        assert_eq!(prices.of("m"), Some(Price { input: 1.0, output: 2.0, cached: None }));
        std::fs::write(&path, "models = 3").unwrap();
        assert!(Prices::read(&path).unwrap_err().to_string().contains("hint: expected TOML"));
    }
}
