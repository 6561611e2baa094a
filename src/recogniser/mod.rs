//! Recognisers of personal names and street addresses: a local model, or a language model.
//!
//! A recogniser marks places in texts; `privacy::people` decides what follows. `local` runs a token-classification model on
//! this machine; the language model is asked by `prompts::recognising`. Both see only what the rules of `privacy` left.

mod chosen;
mod decode;
mod labels;
pub mod local;
pub mod name;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiny;
mod windows;

pub use chosen::ChosenRecogniser;
pub use name::RecogniserName;
