//! Recognisers of personal names and street addresses: a local model, or a language model.
//!
//! A recogniser marks places in texts; `privacy::people` decides what follows. `local` runs a token-classification model on
//! this machine; the language model is asked by `prompts::recognising`. Both see only what the rules of `privacy` left.

mod chosen;
#[cfg(feature = "models")]
mod decode;
#[cfg(feature = "models")]
mod labels;
#[cfg_attr(not(feature = "models"), path = "without_models.rs")]
pub mod local;
pub mod name;
#[cfg(test)]
#[cfg(feature = "models")]
mod tests;
#[cfg(feature = "models")]
mod windows;

pub use chosen::ChosenRecogniser;
pub use name::RecogniserName;
