//! The forms in which an instruction set is written, one line an instruction.
//!
//! A form is a function from a record and its tools to a line. `openai` and `sharegpt` hold whole conversations; `xlam` and
//! `bfcl` only what a single turn with its calls can say, so they leave out instructions of another kind.

mod bfcl;
mod compressed;
mod conversations;
mod masked;
mod multi_turn;
mod openai;
mod xlam;

use serde_json::{Value, json};

pub use bfcl::{answer, category};
pub use compressed::{Compression, without_useless_keys};
pub use masked::{Masked, masked};
pub use multi_turn::{MultiTurn, MultiTurnEntry, entry as multi_turn_entry};
pub use openai::{openai_messages, tools as openai_tools};

use crate::record::Record;

/// An instruction with its id and the functions on offer, as JSON Schema.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The id.
    pub id: &'a str,
    /// The record.
    pub record: &'a Record,
    /// The functions: `name`, `description`, `parameters`.
    pub functions: &'a [Value],
}

/// A form of a line.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The name of its file.
    pub file: &'static str,
    /// What reads it.
    pub read_by: &'static str,
    /// It is for training a model, so the names of functions may be masked in it.
    pub is_for_training: bool,
    /// Makes the line; `None` where the form cannot hold the instruction.
    pub line: fn(&Sample<'_>) -> Option<Value>,
}

/// All forms of lines.
pub static FORMS: [Form; 6] = [
    Form {
        file: "programs.jsonl",
        read_by: "reinforcement learning, evaluation, other programs",
        is_for_training: false,
        line: program,
    },
    Form {
        file: "openai.jsonl",
        read_by: "TRL, Axolotl, OpenAI fine-tuning",
        is_for_training: true,
        line: openai::line,
    },
    Form {
        file: "sharegpt.jsonl",
        read_by: "LLaMA-Factory",
        is_for_training: true,
        line: conversations::sharegpt,
    },
    Form {
        file: "hermes.jsonl",
        read_by: "Hermes and Qwen chat templates",
        is_for_training: true,
        line: conversations::hermes,
    },
    Form {
        file: "toolllama.jsonl",
        read_by: "ToolLLaMA",
        is_for_training: true,
        line: conversations::toolllama,
    },
    Form { file: "xlam.jsonl", read_by: "xLAM", is_for_training: true, line: xlam::line },
];

/// The record with its id first.
#[allow(clippy::unnecessary_wraps)] // The type of a form.
fn program(sample: &Sample<'_>) -> Option<Value> {
    let mut line = serde_json::Map::from_iter([("id".to_owned(), json!(sample.id))]);
    if let Value::Object(record) = json!(sample.record) {
        line.extend(record);
    }
    Some(line.into())
}
