//! Thresholds that can be off.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::embed::name::ChosenEmbedder;
use crate::text::rouge::Threshold;

/// A threshold, or `"off"`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number from 0 to 1 or \"off\"")]
pub enum Gate {
    /// The comparison is off.
    Word(Off),
    /// The threshold.
    At(f64),
}

/// The word `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Off {
    /// Off.
    Off,
}

impl Gate {
    pub(in crate::stages) fn threshold(self) -> Option<f64> {
        match self {
            Self::Word(Off::Off) => None,
            Self::At(threshold) => Some(threshold),
        }
    }
}

/// Returns whether vectors can find queries with the same meaning in other words.
pub(in crate::stages) fn finds_paraphrases(cosine: Gate, embedder: &ChosenEmbedder) -> bool {
    cosine.threshold().is_some() && embedder.name().is_semantic()
}

/// Checks that each threshold is in range; the error names the key.
pub(in crate::stages) fn check_gates(gates: &[(&str, Gate)]) -> Result<(), String> {
    for (key, gate) in gates {
        if let Some(threshold) = gate.threshold().filter(|threshold| Threshold::try_from(*threshold).is_err())
        {
            return Err(format!("{key} must be from 0 to 1 or \"off\", not {threshold}"));
        }
    }
    Ok(())
}
