//! The three hubs of `APIBench` and the names of their published files.

use serde::{Deserialize, Serialize};

/// A hub of models. Each has its own database, questions and evaluation script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hub {
    /// Hugging Face: `ast_eval_hf.py`.
    HuggingFace,
    /// `PyTorch` Hub: `ast_eval_th.py`.
    TorchHub,
    /// TensorFlow Hub: `ast_eval_tf.py`.
    TensorFlowHub,
}

impl Hub {
    /// All hubs, in the order of the paper's tables.
    pub const ALL: [Self; 3] = [Self::TorchHub, Self::HuggingFace, Self::TensorFlowHub];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "hugging-face",
            Self::TorchHub => "torch-hub",
            Self::TensorFlowHub => "tensor-flow-hub",
        }
    }

    /// Returns the path of the API database in the published repository.
    pub fn database_path(self) -> &'static str {
        match self {
            Self::HuggingFace => "data/api/huggingface_api.jsonl",
            Self::TorchHub => "data/api/torchhub_api.jsonl",
            Self::TensorFlowHub => "data/api/tensorflowhub_api.jsonl",
        }
    }

    /// Returns the path of the evaluation questions in the published repository: JSON lines, despite the name.
    pub fn questions_path(self) -> &'static str {
        match self {
            Self::HuggingFace => "data/apibench/huggingface_eval.json",
            Self::TorchHub => "data/apibench/torchhub_eval.json",
            Self::TensorFlowHub => "data/apibench/tensorflow_eval.json",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_hub_is_its_serialised_form() {
        for hub in Hub::ALL {
            assert_eq!(serde_json::to_string(&hub).unwrap(), format!("\"{}\"", hub.name()));
        }
    }

    #[test]
    fn no_two_hubs_share_a_file() {
        for (at, hub) in Hub::ALL.into_iter().enumerate() {
            for other in Hub::ALL.into_iter().skip(at + 1) {
                assert_ne!(hub.database_path(), other.database_path());
                assert_ne!(hub.questions_path(), other.questions_path());
            }
        }
    }
}
