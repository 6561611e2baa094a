//! Prices of models, and what outputs cost.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{Result, unfit, unreadable};

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
}

/// What the outputs of a system cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// Outputs with tokens and a price.
    pub n: usize,
    /// Where the prices are from, with their date.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    source: String,
    as_of: String,
    models: HashMap<String, (f64, f64)>,
}

impl Price {
    /// Returns the dollars for these tokens.
    #[allow(clippy::cast_precision_loss)]
    pub fn cost(self, input_tokens: u64, output_tokens: u64) -> f64 {
        (input_tokens as f64 * self.input + output_tokens as f64 * self.output) / MILLION
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
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|cause| unreadable(path, cause))?;
        let hint = "expected TOML as in configs/prices.toml (source, as_of, [models] \"name\" = [input, output] in US dollars for a \
                    million tokens), or the JSON registry of LiteLLM";
        if text.trim_start().starts_with('{') {
            let registry: HashMap<String, Value> =
                serde_json::from_str(&text).map_err(|fault| unfit(path, fault.to_string(), hint))?;
            return Ok(Self::of_litellm(&registry, path));
        }
        Self::parse(&text).map_err(|fault| unfit(path, fault, hint))
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let table: Table = toml::from_str(text).map_err(|fault| fault.to_string())?;
        let models = table.models.into_iter().map(|(name, (input, output))| (name, Price { input, output }));
        Ok(Self { source: format!("{}, {}", table.source, table.as_of), models: models.collect() })
    }

    fn of_litellm(registry: &HashMap<String, Value>, path: &Path) -> Self {
        let price = |(name, model): (&String, &Value)| {
            let per_token = |key: &str| model.get(key).and_then(Value::as_f64).map(|price| price * MILLION);
            let price = Price {
                input: per_token("input_cost_per_token")?,
                output: per_token("output_cost_per_token")?,
            };
            Some((name.clone(), price))
        };
        Self { source: path.display().to_string(), models: registry.iter().filter_map(price).collect() }
    }

    /// Returns the price of a model, by its name or by the part after the name of a provider.
    pub fn of(&self, model: &str) -> Option<Price> {
        let short = model.split_once('/').map(|(_, name)| name);
        self.models.get(model).or_else(|| self.models.get(short?)).copied()
    }

    /// Returns the cost of outputs: the model of each, its tokens of prompt and output. `None` if no output has a price.
    pub(super) fn cost<'m>(
        &self,
        outputs: impl Iterator<Item = (&'m str, Option<f64>, Option<f64>)>,
    ) -> Option<Cost> {
        let (mut usd, mut n) = (0.0, 0);
        for (model, input, output) in outputs {
            if let (Some(price), Some(input), Some(output)) = (self.of(model), input, output) {
                usd += (input * price.input + output * price.output) / MILLION;
                n += 1;
            }
        }
        (n > 0).then(|| Cost { usd, n, source: self.source.clone() })
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
        let prices =
            Prices::parse("source = \"s\"\nas_of = \"2026-01-02\"\n[models]\n\"a\" = [2.0, 10.0]\n").unwrap();
        let outputs = [("a", Some(1000.0), Some(100.0)), ("b", Some(1.0), Some(1.0)), ("a", None, Some(1.0))];
        let cost = prices.cost(outputs.into_iter()).unwrap();
        assert!((cost.usd - 0.003).abs() < 1e-12);
        assert_eq!((cost.n, cost.source.as_str()), (1, "s, 2026-01-02"));
        assert_eq!(prices.cost([("b", Some(1.0), Some(1.0))].into_iter()), None);
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
        assert_eq!(prices.of("m"), Some(Price { input: 1.0, output: 2.0 }));
        std::fs::write(&path, "models = 3").unwrap();
        assert!(Prices::read(&path).unwrap_err().to_string().contains("hint: expected TOML"));
    }
}
