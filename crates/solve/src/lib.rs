//! Solution paths: searches for the calls that answer an instruction (`ReACT`, `ReACT@N`, `DFSDT`).
//!
//! [`Search`] is a state machine without input and output: it returns the messages of the next request to a model or the
//! call to execute, and the caller brings back the reply or the observation. `tree` keeps every reply of a search, `paths`
//! reads paths and preference pairs from it, `training` the messages of `ToolLLaMA`, which `toolllama` writes as its
//! training file, and `draw` shows it as text. `react_text` reads and writes the Thought / Action / Action Input form.
//! The same replies and observations give the same tree.
//!
//! The method is DFSDT of "ToolLLM: Facilitating Large Language Models to Master 16000+ Real-world APIs" (Qin et al., ICLR
//! 2024). Depth-first search with a filter, which ranks the children of a node in pairs with further requests, is
//! deliberately absent: the paper replaces it with the pre-order search here.

pub mod diversity;
pub mod draw;
pub mod ending;
pub mod finish;
pub mod paths;
pub mod react_text;
pub mod reply;
pub mod search;
pub mod settings;
pub mod toolllama;
pub mod training;
pub mod tree;

pub use search::{Search, Wants};
pub use settings::Settings;
pub use tree::Tree;

#[cfg(test)]
mod tests;
